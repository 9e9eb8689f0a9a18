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

// renderSite returns the static page over the kept run folders of all pages. Each folder names the version that made it;
// the page itself names none, so that it changes only with the folders and with its own code.
func renderSite(dir string) (page []byte, err error) {
	expanded, err := os.MkdirTemp("", "barograph-pages-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(expanded)) }()
	if err := expand(filepath.Join(dir, "runs"), expanded); err != nil {
		return nil, err
	}
	// site.Read reads a folder and those in it. So it is given each folder that has a run folder in it.
	var parents []string
	err = filepath.WalkDir(expanded, func(path string, d fs.DirEntry, err error) error {
		if parent := filepath.Dir(filepath.Dir(path)); err == nil && d.Name() == run.DescriptionFile && !slices.Contains(parents, parent) {
			parents = append(parents, parent)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(parents, func(a, b string) int { return len(a) - len(b) }) // a folder before those in it: its name decides theirs
	s, err := site.Read(parents)
	if err != nil {
		return nil, err
	}
	s.Version = "from the run folders of docs/results/five"
	return s.Page()
}
