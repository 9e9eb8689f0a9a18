package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
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
	for _, arg := range args {
		if engine := e.engines.Recognize(arg); engine != "" {
			return nil, fault.Misuse(arg, "is an archive, not a file", "write "+flag+" "+engine+":"+arg)
		}
		if _, err := os.Stat(arg); err == nil {
			continue
		}
		if _, _, err := e.engines.Parse(arg); err == nil && strings.Contains(arg, ":") {
			return nil, fault.Misuse(arg, "is an archive, not a file", "write "+flag+" "+arg)
		}
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
	for _, arg := range args {
		if engine := e.engines.Recognize(arg); engine != "" {
			return nil, fault.Misuse(arg, "is an archive, not a file", "write "+engine+":"+arg)
		}
	}
	files, err := e.expand(args)
	if err == nil && len(files) == 0 {
		err = fault.Misuse(strings.Join(args, " "), "names neither an archive nor files that can be read",
			"name an archive's URL, such as duckdb:archive.db, or .vsdb or .stat files or a folder of them")
	}
	return files, err
}
