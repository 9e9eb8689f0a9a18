// Package build reports which program this is: its version, its commit, and the versions of
// the modules that it is linked from. It imports no package of this module.
package build

import (
	"runtime/debug"
	"strings"
)

// packaging/release sets these with -ldflags -X; a plain build leaves them empty. release is the version of the program,
// date that of the commit.
var release, commit, date string //nolint:gochecknoglobals // the linker sets only variables

// Commit reports the commit of the program and the date of that commit; both are empty if the build recorded none.
func Commit() (revision, committed string) {
	revision, committed = commit, date
	if info, ok := debug.ReadBuildInfo(); ok && revision == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				revision = s.Value
			case "vcs.time":
				committed = s.Value
			}
		}
	}
	return revision, committed
}

// Version returns the version of the program: its release, else the version of its module, else the commit it was built
// from.
func Version() string {
	if release != "" {
		return release
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && (v == "" || v == "(devel)") {
			v = s.Value
		}
	}
	if v == "" {
		v = "(devel)"
	}
	return v
}

// Module returns the version of a module that the program is linked from, without the leading v;
// "unknown" if the program does not contain it.
func Module(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return strings.TrimPrefix(m.Version, "v")
			}
		}
	}
	return "unknown"
}
