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

// files are those that arguments name; an archive among them belongs behind a flag.
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

// expand finds the files that arguments name, and says how many of their folders
// are left aside.
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
		names := slices.SortedFunc(maps.Keys(suffixes), func(a, b string) int { return cmp.Or(suffixes[b]-suffixes[a], strings.Compare(a, b)) })
		if len(names) > 3 {
			names = append(names[:3], "…")
		}
		fmt.Fprintf(e.stderr, "ignored %s in these folders because of their names (%s), such as %s\n", run.Several(n, "file"), strings.Join(names, ", "), first)
	}
	return files, err
}

// filesOf are the files of a command that takes an archive, too.
func (e *env) filesOf(args []string) ([]string, error) {
	for _, arg := range args {
		if engine := e.engines.Recognize(arg); engine != "" {
			return nil, fault.Misuse(arg, "is an archive, not a file", "write "+engine+":"+arg)
		}
	}
	files, err := e.expand(args)
	if err == nil && len(files) == 0 {
		err = usage(&fault.Error{Setting: strings.Join(args, " "), Problem: "names neither an archive nor files that can be read", Cure: "name an archive's URL, such as duckdb:archive.db, or .vsdb or .stat files or a folder of them"})
	}
	return files, err
}
