package ycsb

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

var update = flag.Bool("update", false, "rewrite the picture of docs/results/ycsb.md")

// TestPlacementTable: every number of the table of scans by placement is that of its run folder, and the picture is drawn
// from the folders.
func TestPlacementTable(t *testing.T) {
	const docs = "../../docs/results/"
	text, err := os.ReadFile(docs + "ycsb.md")
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(docs + "ycsb/placement/*/run.json")
	if err != nil || len(folders) == 0 {
		t.Fatal(len(folders), err)
	}
	picture := plot.Lines{
		Frame: plot.Frame{
			Title:    "Requests that a scan sends to each node",
			Subtitle: "YCSB's workload E on labs of one, two and three nodes, equal total of records; counted by the servers",
			XLabel:   "nodes", YLabel: "requests by operation and node", Caption: "local: placed by the hash of the key, each scan asks every part; global: in ranges of keys. A point is a run; both axes are logarithms.",
		},
		Coordinate: plot.Sizes,
	}
	shown := 0
	for _, file := range folders {
		p := placed(t, filepath.Dir(file))
		if !strings.Contains(string(text), p.String()) {
			t.Errorf("docs/results/ycsb.md has no row %s", p)
		}
		if shown++; strings.HasSuffix(p.name, "-total") {
			name := p.engine + ", " + p.placement
			i := slices.IndexFunc(picture.Curves, func(c plot.Curve) bool { return c.Name == name })
			if i < 0 {
				i = len(picture.Curves)
				picture.Curves = append(picture.Curves, plot.Curve{Name: name})
			}
			c := &picture.Curves[i]
			c.Positions, c.Value = append(c.Positions, float64(p.nodes)), append(c.Value, p.requests/float64(p.nodes))
		}
	}
	_, table, _ := strings.Cut(string(text), "| run | placement |")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows := strings.Count(table, "\n| `"); rows != shown {
		t.Errorf("the table has %d rows of %d folders", rows, shown)
	}
	svg, err := picture.Draw()
	if err != nil {
		t.Fatal(err)
	}
	image := docs + "../images/ycsb-placement.svg"
	if *update {
		if err := os.WriteFile(image, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(image); err != nil || string(kept) != string(svg) {
		t.Errorf("%s is not drawn from the folders, %v: run the test with -update", image, err)
	}
}

// placement has the measurements of a run of scans with a placement.
type placement struct {
	name, engine, placement string
	nodes                   int
	records                 int64
	requests                float64 // by operation, of all nodes
	least, most             float64 // of one node
	cpu, rate               float64 // µs of all servers by operation; operations/s
}

func (p placement) String() string {
	each := fmt.Sprintf("%.2f", p.requests)
	if p.nodes > 1 {
		each = fmt.Sprintf("%.2f – %.2f", p.least, p.most)
	}
	return fmt.Sprintf("| `%s` | %s | %d | %s | %.1f | %s | %s | %s |", p.name, p.placement, p.nodes, grouped(p.records), p.requests, each, grouped(int64(p.cpu+0.5)), grouped(int64(p.rate+0.5)))
}

// placed reads a folder. It takes the number of requests from the counters of the server.
func placed(t *testing.T, folder string) (p placement) {
	t.Helper()
	r, samples, err := run.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(samples, func(s run.Sample) bool { return s.Cell.Engine != "dry" })
	m := samples[i].Measured()
	if m == nil {
		t.Fatalf("%s has no times: %s", folder, samples[i].Problem)
	}
	p = placement{name: filepath.Base(folder), engine: samples[i].Cell.Engine, nodes: int(max(samples[i].Cell.Number("nodes"), 1)), records: r.Data.Records, rate: m.Throughput}
	p.placement = strings.Split(p.name, "-")[1]
	requests := map[string]string{"valkey": "total_reads_processed", "cassandra": "completed_tasks: Native-Transport-Requests"}[p.engine]
	by := func(v float64) float64 { return v / float64(m.Operations) }
	for _, c := range m.Server.Counters {
		if c.Name == requests {
			p.requests = by(c.Value)
		} else if strings.HasPrefix(c.Name, requests+" at ") {
			if v := by(c.Value); p.least == 0 || v < p.least {
				p.least = v
			}
			p.most = max(p.most, by(c.Value))
		}
	}
	p.cpu = by(float64(m.Server.Used.CPU.Nanoseconds())) / 1000
	return p
}
