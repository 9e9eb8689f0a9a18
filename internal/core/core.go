// Package core lists which files of the module are in the core and which are satellites. The core
// loads, proves, measures and reports verification archives in the embedded engines, PostgreSQL and
// MariaDB. It has a limit of lines and imports no satellite (layout_test.go). internal/mutate tries
// its tests with planted faults.
package core

import (
	"regexp"
	"slices"
	"strings"
)

// folders are satellites with all their content.
var folders = []string{ //nolint:gochecknoglobals // a constant table
	"river", "lab", "serve", "archive/tablediff", "formats/shef", "formats/tpcds",
	"study/ycsb", "study/post", "study/scan", "study/own", "study/lake", "study/tables", "study/faults", "study/growth", "study/synth",
	"engine/kv", "engine/posts", "engine/tables", "engine/dry", "engine/asterixdb", "engine/bbolt", "engine/mongodb", "engine/couchbase", "engine/cassandra", "engine/valkey",
	"engine/oracle", "engine/trino", "engine/new", "engine/enginetest", "internal/core", "internal/fuzz", "internal/mutate", "internal/pages", "results/report/site", "results/report/sharing",
}

// files are satellites in folders of the core.
var files = []*regexp.Regexp{ //nolint:gochecknoglobals // a constant table
	regexp.MustCompile(`^engine/(\w+/)?(kv\w*|pipeline|posts?|post(driver|layout|plan|read|texts)|scan|own|lake|salvage|abilities|server|cluster)\.go$`),
	regexp.MustCompile(`^cmd/barograph/(agent|coldstart|diff|faults|growth|httpserver|lab|lake|metrics|mistakes|own|post|publish|salvage|scan|serve|shef\w*|synth|ycsb\w*)\.go$`),
	regexp.MustCompile(`^results/report/(bottleneck|checked|cost|days|faults|forms|lake|nodes|own|points\w*|post\w*|projection|ramp|repeats|scan|sessions|transfers)\.go$`),
	regexp.MustCompile(`^archive/load/salvage\.go$`),
	regexp.MustCompile(`^engine/docengine/(lease|locked)\.go$`), // of MongoDB and Couchbase only
	regexp.MustCompile(`^query/export/(read)?gauges\.go$`),
}

// Satellite reports whether a package or a file is outside the core. name is its slash path from
// the root of the module.
func Satellite(name string) bool {
	for _, f := range folders {
		if name == f || strings.HasPrefix(name, f+"/") {
			return true
		}
	}
	return slices.ContainsFunc(files, func(r *regexp.Regexp) bool { return r.MatchString(name) })
}
