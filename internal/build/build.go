// Package build reports which program this is: its version, its commit, and the versions of
// the modules that it is linked from. It imports no package of this module.
package build

import (
	"cmp"
	"runtime/debug"
	"strings"
)

// packaging/release sets the version, its commit and the date of the commit with -ldflags -X; a plain build leaves them
// empty.
var release, commit, date string //nolint:gochecknoglobals // the linker sets only variables

// Commit reports the commit of the program and the date of that commit; both are empty if the build recorded none. The
// commit ends in "+dirty" if files had changed since.
func Commit() (revision, committed string) {
	if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
		return commitOf(info.Settings)
	}
	return commit, date
}

func commitOf(settings []debug.BuildSetting) (revision, committed string) {
	value := map[string]string{}
	for _, s := range settings {
		value[s.Key] = s.Value
	}
	if revision = value["vcs.revision"]; value["vcs.modified"] == "true" {
		revision += "+dirty"
	}
	return revision, value["vcs.time"]
}

// Version returns the version of the program without a leading v: its release, else the version of its module, else the
// commit from which it was built. If the build recorded none of them, the version is "(devel)" or "unknown".
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return versionOf(release, info)
}

func versionOf(release string, info *debug.BuildInfo) string {
	if info == nil {
		info = &debug.BuildInfo{Main: debug.Module{Version: "unknown"}}
	}
	revision, _ := commitOf(info.Settings)
	module := info.Main.Version
	if module == "(devel)" {
		module = ""
	}
	return strings.TrimPrefix(cmp.Or(release, module, revision, "(devel)"), "v")
}

// Module returns the version of a module that the program is linked from, or of its replacement, without the leading v;
// "unknown" if the program does not contain it, or if a local folder replaces it.
func Module(path string) string {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = moduleVersion(info.Deps, path)
	}
	return cmp.Or(version, "unknown")
}

func moduleVersion(modules []*debug.Module, path string) string {
	for _, m := range modules {
		if m.Path == path {
			return strings.TrimPrefix(cmp.Or(m.Replace, m).Version, "v")
		}
	}
	return ""
}
