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
		if got := moduleVersion(modules, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestVersions: the same version has the same text, whether a release or `go install` has built the program.
func TestVersions(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}
	for _, c := range []struct {
		release, module string
		settings        []debug.BuildSetting
		want            string
	}{
		{"1.2.0", "v9.9.9", vcs, "1.2.0"},
		{"v1.2.0", "", nil, "1.2.0"},
		{"", "v1.2.0", vcs, "1.2.0"},
		{"", "v0.0.0-20261201064500-abcdefabcdef+dirty", vcs, "0.0.0-20261201064500-abcdefabcdef+dirty"},
		{"", "(devel)", vcs, "abc"},
		{"", "", vcs, "abc"},
		{"", "(devel)", nil, "(devel)"},
	} {
		if got := versionOf(c.release, &debug.BuildInfo{Main: debug.Module{Version: c.module}, Settings: c.settings}); got != c.want {
			t.Errorf("release %q, module %q: %q, want %q", c.release, c.module, got, c.want)
		}
	}
	if got := versionOf("", nil); got != "unknown" {
		t.Errorf("without information: %q", got)
	}
}
