package scan_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
	generate "github.com/barograph/barograph/study/synth/tpcds"
)

const gigabyte = 1 << 30

// TestPartitionRule checks the rule with the examples of its authors.
func TestPartitionRule(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes []scan.Node
		want  int
		why   string
	}{
		{"8 cores, 8 GB", []scan.Node{{Cores: 8, Memory: 8 * gigabyte, Paths: 1}}, 8, "min(8 GB of memory, 16, 8 cores) = 8"},
		{"8 cores, 64 GB", []scan.Node{{Cores: 8, Memory: 64 * gigabyte, Paths: 1}}, 8, "one path"},
		{"32 cores, 16 GB", []scan.Node{{Cores: 32, Memory: 16 * gigabyte, Paths: 1}}, 16, "min(16 GB of memory, 16, 32 cores) = 16"},
		{"32 cores, 256 GB", []scan.Node{{Cores: 32, Memory: 256 * gigabyte}}, 16, "one path"},
		{"4 and 8 paths on two nodes", []scan.Node{{Cores: 32, Memory: 64 * gigabyte, Paths: 4}, {Cores: 32, Memory: 64 * gigabyte, Paths: 8}}, 12, "node 2: 8, one for each path; 12 in total"},
		{"16 cores, 4 GB", []scan.Node{{Cores: 16, Memory: 4 * gigabyte, Paths: 1}}, 4, "4 GB"},
		{"sold with 16 GB", []scan.Node{{Cores: 16, Memory: 16*gigabyte - 400<<20, Paths: 1}}, 16, "16 GB"},
		{"hardly anything", []scan.Node{{Cores: 1, Memory: 300 << 20, Paths: 1}}, 1, "16, 1 core) = 1"},
		{"two paths, one core", []scan.Node{{Cores: 1, Memory: gigabyte, Paths: 2}}, 2, "one for each path"},
	} {
		got, why := scan.AutoPartitions(c.nodes)
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %d (%s), want %d (… %s …)", c.name, got, why, c.want, c.why)
		}
	}
}

func TestPlacements(t *testing.T) {
	eight := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, c := range []struct {
		experiment scan.Experiment
		paths      []string
		partitions []int
		want       int // configurations; 0 = an error
	}{
		{scan.SinglePlacement, eight, []int{8}, 1},
		{scan.SinglePlacement, nil, []int{2}, 1},
		{scan.Experiment1, eight, nil, 4},
		{scan.Experiment1, nil, []int{2, 8}, 2},
		{scan.Experiment2, eight[:6], nil, 6},
		{scan.Experiment2, eight[:6], []int{8}, 7},
		{scan.Experiment2, eight[:6], []int{1}, 6},
		{scan.Experiment2, eight[:1], nil, 0},
		{scan.Experiment2, nil, []int{8}, 0},
		{scan.Sweep, eight, []int{1, 2, 4, 8, 16}, 1*5 + 1*4 + 2*3 + 4*2},
		{scan.Sweep, nil, nil, 0},
		{"experiment3", eight, nil, 0},
	} {
		got, err := scan.Placements(c.experiment, c.paths, c.partitions, 2)
		if len(got) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%q over %d paths: %d configurations, %v; want %d", c.experiment, len(c.paths), len(got), err, c.want)
		}
		for _, p := range got {
			if err := p.Check(); err != nil || p.Partitions < len(p.Paths) || p.Workers != 2 {
				t.Errorf("%+v: %v", p, err)
			}
		}
	}
}

// TestExperiment2First: the published first configuration, one path with the partitions of the rule for one path, comes
// first, so that the others are compared with it.
func TestExperiment2First(t *testing.T) {
	paths := []string{t.TempDir(), t.TempDir(), t.TempDir()}
	for _, c := range []struct {
		cores      int
		partitions []string
		first      int
		all        int
	}{{8, []string{"auto"}, 8, 4}, {8, nil, 8, 4}, {2, []string{"auto"}, 2, 4}, {1, []string{"auto"}, 1, 3}, {2, []string{"8", "8"}, 8, 4}} {
		p := scan.Program{
			Target:     scan.Target{Registry: all.Registry(), URL: "duckdb:x.db", New: run.Run{Machine: measure.Machine{UsableCPUs: c.cores, Memory: 64 * gigabyte}}},
			Experiment: scan.Experiment2, Paths: paths, Partitions: c.partitions,
		}
		plan, err := p.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first, last := plan.Placements[0], plan.Placements[len(plan.Placements)-1]
		if len(plan.Placements) != c.all || len(first.Paths) != 1 || first.Partitions != c.first || len(last.Paths) != 3 || last.Partitions != 3 {
			t.Errorf("%+v: %+v", c, plan.Placements)
		}
	}
}

// TestAutoOfServer: if the number of partitions was fixed at the start of the server, auto is this number.
func TestAutoOfServer(t *testing.T) {
	server := engine.Driver{
		Scheme: "settled", Offers: []any{tables.Offer{tables.StarOverDisks}}, Place: engine.Remote, Server: &launch.Server{SpreadsTables: true},
		Open: func(context.Context, *url.URL, engine.Options) (*engine.Engine, error) {
			about := func(context.Context) (engine.About, error) {
				return engine.About{Settings: map[string]string{"partitions": "7"}}, nil
			}
			return &engine.Engine{About: about, Close: func() error { return nil }}, nil
		},
	}
	p := scan.Program{Target: scan.Target{Registry: engine.Registry{server}, URL: "settled://h", Out: "none"}, Partitions: []string{"auto"}}
	plan, err := p.Plan(t.Context())
	if err != nil || len(plan.Placements) != 1 || plan.Placements[0].Partitions != 7 || !strings.Contains(plan.Rule, "fixed at the start of the server") {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestProfileOfServers: temporary servers have the engine's first profile, as those of `barograph lab up`.
func TestProfileOfServers(t *testing.T) {
	for given, want := range map[string]string{"": "default", "tuned": "tuned", "large": ""} {
		server := engine.Driver{
			Scheme: "settled", Offers: []any{tables.Offer{tables.StarOverDisks}}, Place: engine.Remote,
			Server: &launch.Server{Nodes: []int{1}, Profiles: []launch.Profile{{Name: "default"}, {Name: "tuned"}}},
		}
		p := scan.Program{Target: scan.Target{Registry: engine.Registry{server}, New: run.Run{Machine: measure.Machine{UsableCPUs: 1}}}}
		p.Servers = scan.Servers{Engine: "settled", Nodes: 1, Profile: given}
		if _, err := p.Plan(t.Context()); (err == nil) != (want != "") || err == nil && p.Servers.Profile != want {
			t.Errorf("%q: profile %q, want %q: %v", given, p.Servers.Profile, want, err)
		}
	}
}

// TestResumeOtherConfigurations: a run is not resumed if the rule gives other numbers of partitions, because its
// results would be those of other configurations.
func TestResumeOtherConfigurations(t *testing.T) {
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "run")
	if _, err := generate.Generate(t.Context(), data, generate.Options{Scale: 0.01, Files: 1}); err != nil {
		t.Fatal(err)
	}
	db, paths := "duckdb:"+filepath.Join(t.TempDir(), "star.db"), []string{t.TempDir(), t.TempDir()}
	start := func(cores int, stopAt string) error {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		p := scan.Program{
			Target: scan.Target{
				Registry: all.Registry(), URL: db, Out: out, New: run.Run{Workload: run.ScanWorkload, Started: time.Now(), Machine: measure.Machine{UsableCPUs: cores, Memory: 64 * gigabyte}},
				Progress: func(s string) {
					if strings.HasPrefix(s, stopAt) {
						stop()
					}
				},
			},
			Experiment: scan.Experiment2, Data: data, Paths: paths, Partitions: []string{"auto"}, Queries: []string{"scan"}, Reps: 1, Rounds: 1,
		}
		_, err := p.Run(ctx)
		return err
	}
	if err := start(8, "round 1"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run was not interrupted: %v", err)
	}
	if err := start(2, "never"); err == nil || !strings.Contains(err.Error(), "contains an interrupted run with other configurations") {
		t.Errorf("on a machine with two cores: %v", err)
	}
	if err := start(8, "never"); err != nil {
		t.Errorf("on the machine of before: %v", err)
	}
}
