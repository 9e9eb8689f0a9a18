package scan_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/study/scan"
)

const gigabyte = 1 << 30

// TestPartitionRule has the examples of the rule's authors.
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
		{"hardly anything", []scan.Node{{Cores: 1, Memory: 300 << 20, Paths: 1}}, 1, "= 1"},
		{"two paths, one core", []scan.Node{{Cores: 1, Memory: gigabyte, Paths: 2}}, 2, "one for each path"},
	} {
		got, why := scan.Auto(c.nodes)
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
		{scan.One, eight, []int{8}, 1},
		{scan.One, nil, []int{2}, 1},
		{scan.Experiment1, eight, nil, 4},
		{scan.Experiment1, nil, []int{2, 8}, 2},
		{scan.Experiment2, eight[:6], nil, 6},
		{scan.Experiment2, eight[:1], nil, 0},
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

// TestAutoOfServer: where a server's start settles the partitions, auto is their number.
func TestAutoOfServer(t *testing.T) {
	server := engine.Driver{
		Scheme: "settled", Abilities: []any{tables.Offer{tables.StarOverDisks}}, Place: engine.Remote, Server: &launch.Server{SpreadsTables: true},
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
