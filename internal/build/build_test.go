package build

import (
	"runtime/debug"
	"testing"
)

// TestCommitOfAChangedTree: the commit of a program that was built from changed files ends in "+dirty".
func TestCommitOfAChangedTree(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026"}, {Key: "vcs.modified", Value: "false"}}
	if revision, date := commitOf(settings); revision != "abc" || date != "2026" {
		t.Errorf("%s of %s", revision, date)
	}
	settings[2].Value = "true"
	if revision, _ := commitOf(settings); revision != "abc+dirty" {
		t.Errorf("changed: %s", revision)
	}
}

// TestReplacedModule: the program contains the replacement of a module.
func TestReplacedModule(t *testing.T) {
	modules := []*debug.Module{{Path: "a", Version: "v1.0.0"}, {Path: "b", Version: "v1.0.0", Replace: &debug.Module{Path: "c", Version: "v2.0.0"}}}
	for path, want := range map[string]string{"a": "1.0.0", "b": "2.0.0", "none": ""} {
		if got := versionOf(modules, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
