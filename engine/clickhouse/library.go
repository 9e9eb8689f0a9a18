package clickhouse

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// libraryName is the name and the release of the library.
const libraryName = "chDB 26.7.3"

// librarySHA256 is the SHA-256 of the library in the package.
const librarySHA256 = "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5"

// artifact describes the download of chDB's library: a package for Node.js, which does not need Node.js.
func artifact() launch.Artifact {
	return launch.Artifact{
		Name: "chdb-26.7.3", NPM: "@chdb/lib-linux-x64-gnu@26.7.3-stable.1",
		SHA256: "c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad",
	}
}

// checkInstalled returns an error if the library is not installed.
func checkInstalled() error {
	_, err := libraryPath()
	return err
}

// libraryPath returns the path of the library, which the process of an archive loads.
func libraryPath() (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		problem := "is not available for " + runtime.GOOS + " on " + runtime.GOARCH
		return "", &fault.Error{Setting: libraryName, Problem: problem, Err: engine.ErrUnreachable, Cure: "use Linux on amd64"}
	}
	dir, err := artifact().Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "package", "libchdb.so")
	if _, err := os.Stat(path); err != nil {
		cure := "run `barograph lab install --yes clickhouse`"
		return "", &fault.Error{Setting: libraryName, Problem: "is not installed", Err: engine.ErrUnreachable, Cure: cure}
	}
	return path, checkLibrary(path)
}

// checkLibrary compares the library with its checksum. Because that takes half a second, it does so once for a file of
// this size and time, and stores that in a file next to the library.
func checkLibrary(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	stamp := fmt.Sprintln(librarySHA256, info.Size(), info.ModTime().UnixNano())
	if text, err := os.ReadFile(path + ".checked"); err == nil && string(text) == stamp {
		return nil
	}
	got, err := launch.FileSum(path)
	if err != nil {
		return err
	}
	if got != librarySHA256 {
		return &fault.Error{
			File: path, Problem: "differs from the released library: SHA-256 " + got + ", not " + librarySHA256, Err: engine.ErrUnreachable,
			Cure: "remove " + filepath.Dir(filepath.Dir(path)) + " and install it again: `barograph lab install --yes clickhouse`",
		}
	}
	_ = os.WriteFile(path+".checked", []byte(stamp), 0o644) //nolint:gosec // not secret; if it fails, the next start compares again
	return nil
}
