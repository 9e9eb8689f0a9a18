package clickhouse

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
)

// libraryName is chDB's release with what it is made of.
const libraryName = "chDB 26.7.3"

// artifact is chDB's library, which comes as a package for Node.js and needs none.
func artifact() engine.Artifact {
	return engine.Artifact{
		Name: "chdb-26.7.3", NPM: "@chdb/lib-linux-x64-gnu@26.7.3-stable.1",
		SHA256: "c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad",
	}
}

// find looks for the library.
func find() error {
	_, err := library()
	return err
}

// library is the path of the library, which the process of an archive opens.
func library() (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", &fault.Error{Setting: libraryName, Problem: "is not offered for " + runtime.GOOS + " on " + runtime.GOARCH, Err: engine.ErrUnreachable, Cure: "use Linux on amd64"}
	}
	dir, err := artifact().Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "package", "libchdb.so")
	if _, err := os.Stat(path); err != nil {
		return "", &fault.Error{Setting: libraryName, Problem: "is not installed", Err: engine.ErrUnreachable, Cure: "`barograph lab install --yes clickhouse`"}
	}
	return path, nil
}
