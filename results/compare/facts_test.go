package compare

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Each property in which runs are compared is a fact of its own. With a different one, the runs are not comparable (void)
// or only different.
func TestFacts(t *testing.T) {
	archive := func(r *run.Run) *run.Archive { return &r.Archives[0] }
	for name, c := range map[string]struct {
		change func(r *run.Run)
		want   []Difference
	}{
		"nothing":             {func(*run.Run) {}, nil},
		"the load":            {func(r *run.Run) { archive(r).Load, archive(r).Bytes = 5, 6 }, nil},
		"one copy":            {func(r *run.Run) { r.Data.Copies = 1 }, nil}, // 0 means 1
		"workload":            {func(r *run.Run) { r.Workload = "own" }, []Difference{{"workload", "met", "own", true}}},
		"records":             {func(r *run.Run) { r.Data.Records = 6 }, []Difference{{"data", "d1 (5 records)", "d1 (6 records)", true}}},
		"copies":              {func(r *run.Run) { r.Data.Copies = 2 }, []Difference{{"number of copies", "1", "2", true}}},
		"policy":              {func(r *run.Run) { r.Policy = "new" }, []Difference{{"policy", "", "new", true}}},
		"usable threads":      {func(r *run.Run) { r.Machine.UsableCPUs = 3 }, []Difference{{"processor", "A1, 8 threads, 4 usable", "A1, 8 threads, 3 usable", true}}},
		"memory":              {func(r *run.Run) { r.Machine.Memory = 32.04e9 }, []Difference{{"memory", "16.0 GB", "32.0 GB", true}}},
		"disk":                {func(r *run.Run) { r.Machine.Disk.Type = "xfs" }, []Difference{{"disk", "ext4", "xfs", true}}},
		"kernel":              {func(r *run.Run) { r.Machine.Kernel = "6.2" }, []Difference{{"system", "debian 12 6.1", "debian 12 6.2", false}}},
		"go":                  {func(r *run.Run) { r.Machine.Go = "go1.27" }, []Difference{{"go", "go1.26", "go1.27", false}}},
		"repetitions, seed":   {func(r *run.Run) { r.Reps, r.Seed = 9, 2 }, []Difference{{"repetitions", "30", "9", false}, {"seed", "1", "2", false}}},
		"values":              {func(r *run.Run) { r.Data.Decoded = &run.DecodeCounts{Values: 8} }, []Difference{{"products", "files: 7 values", "files: 8 values", true}}},
		"no products":         {func(r *run.Run) { r.Data.Decoded = nil }, []Difference{{"products", "files: 7 values", "", false}}},
		"version":             {func(r *run.Run) { archive(r).Version = "17.2" }, []Difference{{"postgres wide: version", "PostgreSQL 17.1", "PostgreSQL 17.2", false}}},
		"place":               {func(r *run.Run) { archive(r).Place = "embedded" }, []Difference{{"postgres wide: place", "server", "embedded", true}}},
		"fewer records":       {func(r *run.Run) { archive(r).Digest = "d2" }, []Difference{{"postgres wide: records", "all of the data", "d2", true}}},
		"records not counted": {func(r *run.Run) { archive(r).Digest = "" }, []Difference{{"postgres wide: records", "all of the data", "", false}}},
		"settings": {
			func(r *run.Run) { archive(r).Settings = map[string]string{"a": "2", "c": "3"} },
			[]Difference{{"postgres wide: a", "1", "2", false}, {"postgres wide: b", "1", "", false}, {"postgres wide: c", "", "3", false}},
		},
		"table":            {func(r *run.Run) { archive(r).Table.Definition = "CREATE TABLE\n  t (b)" }, []Difference{{"postgres wide: table", "CREATE TABLE t (a)", "CREATE TABLE t (b)", false}}},
		"blanks":           {func(r *run.Run) { archive(r).Table.Definition = "CREATE  TABLE\tt\n(a)" }, nil},
		"nodes":            {func(r *run.Run) { archive(r).Server.Nodes = 1 }, []Difference{{"postgres wide: nodes", "3", "1", true}}},
		"profile":          {func(r *run.Run) { archive(r).Server.Profile = "x" }, []Difference{{"postgres wide: profile", "tuned", "x", false}}},
		"profile settings": {func(r *run.Run) { archive(r).Server.Settings = map[string]string{"cache": "2"} }, []Difference{{"postgres wide profile: cache", "1", "2", false}}},
		"isolation": {
			func(r *run.Run) { archive(r).Server.Isolation = nil },
			[]Difference{{"postgres wide: isolation", "{CPUs:2 Memory:0 Latency:0s}", "{CPUs:0 Memory:0 Latency:0s}", true}},
		},
		"void ones first": {
			func(r *run.Run) { r.Version, r.Reps, archive(r).Version, archive(r).Place = "v2", 9, "", "embedded" },
			[]Difference{
				{"postgres wide: place", "server", "embedded", true},
				{"barograph", "v1", "v2", false},
				{"repetitions", "30", "9", false},
				{"postgres wide: version", "PostgreSQL 17.1", "PostgreSQL", false},
			},
		},
	} {
		described := func() *run.Run {
			return &run.Run{
				Workload: "met", Version: "v1", Reps: 30, Seed: 1,
				Data: run.Data{Source: "files", Digest: "d1", Records: 5, Decoded: &run.DecodeCounts{Values: 7}},
				Machine: measure.Machine{
					CPU: "A1", Threads: 8, UsableCPUs: 4, Memory: 16e9, OS: "debian 12", Kernel: "6.1", Go: "go1.26", Disk: measure.Disk{Type: "ext4"},
				},
				Archives: []run.Archive{{
					Engine: "postgres", Design: "wide", Product: "PostgreSQL", Version: "17.1", Place: "server", Digest: "d1",
					Settings: map[string]string{"a": "1", "b": "1"}, Table: &run.Table{Definition: "CREATE TABLE t (a)"},
					Server: &run.Server{Nodes: 3, Profile: "tuned", Settings: map[string]string{"cache": "1"}, Isolation: &run.Isolation{CPUs: 2}},
				}},
			}
		}
		other := described()
		c.change(other)
		got := differences(described(), other)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		isVoid := len(c.want) > 0 && c.want[0].NotComparable
		if x := (RunComparison{Differences: got}); x.NotComparable() != isVoid {
			t.Errorf("%s: comparable %v", name, isVoid)
		}
	}
}
