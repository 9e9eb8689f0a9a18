package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/barograph/barograph/results/report/site"
	"github.com/barograph/barograph/results/run"
)

// renderSite returns the static page over the kept run folders of all pages. Each folder names the version that made
// it. The page itself names no version, so it changes only with the folders and with its own code.
func renderSite(dir string) (page []byte, err error) {
	expanded, err := os.MkdirTemp("", "barograph-pages-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(expanded)) }()
	if err := expand(filepath.Join(dir, "runs"), expanded); err != nil {
		return nil, err
	}
	// site.Read reads a folder and the folders in it. parents are the folders that contain a run folder.
	var parents []string
	err = filepath.WalkDir(expanded, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != run.DescriptionFile {
			return err
		}
		if parent := filepath.Dir(filepath.Dir(path)); !slices.Contains(parents, parent) {
			parents = append(parents, parent)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// A folder comes before the folders in it, because its name is the start of their names.
	slices.SortStableFunc(parents, func(a, b string) int { return len(a) - len(b) })
	s, err := site.Read(parents)
	if err != nil {
		return nil, err
	}
	s.Version = "from the run folders of docs/results/five"
	return s.Page()
}
