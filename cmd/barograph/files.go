package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// files finds the files that arguments name. An archive among them is an error, whose cure
// names the flag for archives.
func (e *env) files(args []string, flag string) ([]string, error) {
	if err := e.refuseArchives(args, func(url string) string { return "write " + flag + " " + url }); err != nil {
		return nil, err
	}
	return e.expand(args)
}

// expand finds the files that arguments name, and prints how many files of folders it ignored.
func (e *env) expand(args []string) ([]string, error) {
	suffixes := map[string]int{}
	n, first := 0, ""
	files, err := formats.ExpandReporting(args, func(path string) {
		if n++; first == "" {
			first = path
		}
		suffixes["*"+filepath.Ext(path)]++
	})
	if err == nil && n > 0 {
		mostFirst := func(a, b string) int { return cmp.Or(suffixes[b]-suffixes[a], strings.Compare(a, b)) }
		names := slices.SortedFunc(maps.Keys(suffixes), mostFirst)
		if len(names) > 3 {
			names = append(names[:3], "…")
		}
		fmt.Fprintf(e.stderr, "ignored %s in these folders because of their names (%s), such as %s\n",
			run.CountOf(n, "file"), strings.Join(names, ", "), first)
	}
	return files, err
}

// filesOf finds the files of a command that also accepts an archive.
func (e *env) filesOf(args []string) ([]string, error) {
	if err := e.refuseArchives(args, func(url string) string { return "name only files, or only " + url }); err != nil {
		return nil, err
	}
	files, err := e.expand(args)
	if err == nil && len(files) == 0 {
		err = fault.Misuse(strings.Join(args, " "), "names neither an archive nor files that can be read",
			"name an archive's URL, such as duckdb:archive.db, or .vsdb or .stat files or a folder of them")
	}
	return files, err
}
