package duckdb

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	asideMark = ".new-"     // between an archive's name and a random number: the folder it is made in
	asideLife = time.Minute // making takes some hundredths of a second; older folders were left by a kill
)

// create makes an empty database where there is no file yet. DuckDB writes a
// new file in several steps, and takes none that a kill left half done for a
// database; so it is made aside and appears under its name when it is whole.
func create(path string, settings map[string]string) error {
	sweep(path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	aside, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+asideMark)
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside) //nolint:errcheck // a later sweep removes it, too
	settings = maps.Clone(settings)
	settings["threads"] = "1" // the quickest to begin
	made := filepath.Join(aside, "made.db")
	db, err := openDatabase(made, settings)
	if err != nil {
		return err
	}
	db.close()
	// A link, as a rename would put it in place of one that another process has
	// made meanwhile: that one will do.
	if err := os.Link(made, path); !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return ignoreExisting(err)
	}
	return os.Rename(made, path) // file systems without links
}

func ignoreExisting(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// sweep removes what killed processes left of archives that they were making.
func sweep(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // a folder that cannot be read is told of by the open
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), filepath.Base(path)+asideMark) && time.Since(info.ModTime()) > asideLife {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(path), e.Name())) // the next sweep tries again
		}
	}
}
