package scan_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/asterixdb"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/scan"
	generate "github.com/barograph/barograph/study/synth/tpcds"
)

// comparison compares an engine's times in a run with those of the engine's own client.
type comparison struct {
	driver engine.Driver
	times  int // how often the sales are loaded: more often into an engine that scans fast
	pairs  int
	memory int64                                  // of the server
	own    func(b *testing.B, url string) *client // started after the load
}

// BenchmarkOverhead sends the same query to the same database alternately from a run, as `barograph scan` does it, and
// from the engine's own client, whose session stays open. The caches are warm, and one worker executes the query. The
// benchmark reports:
//
//   - the medians of both, and their ratio with its interval
//   - the additional time of the run's query with its interval
//   - what the run does outside the time that it reports: it reads counters of processes, devices and the machine, and
//     checks the result
//
// It measures twice: with many sales, and with so few that the overhead of the run is visible. The result is always one
// row, so the overhead is the same.
//
//	go test -run '^$' -bench Overhead -benchtime 1x ./study/scan
func BenchmarkOverhead(b *testing.B) {
	many, few := generated(b, 0.1), generated(b, 0.01)
	for _, c := range []comparison{
		{postgres.Driver(), 10, 40, 4 << 30, psql},
		{mariadb.Driver(), 1, 60, 4 << 30, mariadbClient}, // its sales have a key
		{duckdb.Driver(), 50, 40, 0, libduckdb},
		{asterixdb.Driver(), 1, 30, 4 << 30, curl},
	} {
		b.Run("engine="+c.driver.Scheme, func(b *testing.B) {
			var server *lab.Lab
			if c.driver.Server != nil {
				server = enginetest.Lab(b, c.driver, lab.Options{Memory: c.memory, Profile: "tuned"})
			}
			b.Run("sales=few", func(b *testing.B) { c.measure(b, server, few, 200) })
			b.Run("sales=many", func(b *testing.B) {
				mine := many
				mine.Parquet = maps.Clone(many.Parquet)
				mine.Parquet[tables.StoreSales] = slices.Repeat(many.Parquet[tables.StoreSales], c.times)
				c.measure(b, server, mine, c.pairs)
			})
		})
	}
}

// generated generates tables.
func generated(b *testing.B, scale float64) tables.StarFiles {
	b.Helper()
	dir := b.TempDir()
	if _, err := generate.Generate(b.Context(), dir, generate.Options{Scale: scale, Documents: true}); err != nil {
		b.Fatal(err)
	}
	files, _, err := tables.OpenStarFiles(dir)
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// watched are tables that record when the last query began and ended. They cannot drop their caches, because the
// benchmark measures warm queries with the run's cold repetitions.
type watched struct {
	tables.Scans
	text            string
	asked, answered time.Time
}

func (w *watched) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	star, err := w.Scans.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	ask := star.Ask
	star.Ask = func(ctx context.Context, q tables.StarQuery) ([]tables.StarRow, error) {
		w.asked = time.Now()
		rows, err := ask(ctx, q)
		w.answered = time.Now()
		return rows, err
	}
	w.text, star.Cold = star.Text(tables.ScanAll), nil
	return star, nil
}

// untimed is the number of pairs at the start that are not counted.
const untimed = 3

// measure runs the scan. Before each cold repetition the run calls Drop to empty the caches. Here Drop sends the query
// of the engine's own client instead.
func (c *comparison) measure(b *testing.B, server *lab.Lab, files tables.StarFiles, pairs int) {
	ctx := b.Context()
	dir := b.TempDir()
	url := "duckdb:" + filepath.Join(dir, "star.db")
	o := scan.Options{Files: files, Queries: []tables.StarQuery{tables.ScanAll}, Configs: []tables.Placement{{Partitions: 1}}, Cold: pairs + untimed, Progress: func(string) {}}
	var pids []int32
	if server != nil {
		url = server.URL()
		for _, n := range server.State().Nodes {
			for _, p := range n.Processes {
				pids = append(pids, int32(p.PID))
			}
		}
	}
	db, err := engine.Registry{c.driver}.Open(ctx, url, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if o.Devices, err = measure.Devices(ctx, []string{dir}); err != nil {
		b.Fatal(err)
	}
	if o.Reference, err = tables.StarAnswers(ctx, files); err != nil {
		b.Fatal(err)
	}
	want := o.Reference.Answer(tables.ScanAll)[0].Cents
	var own *client
	var t turns
	var left time.Time
	w := &watched{Scans: tables.DatabasesOf(db).Star}
	o.Drop = func([]string) (string, error) {
		if own == nil { // the tables are loaded now
			if own = c.own(b, url); own == nil {
				return "", errors.New("there is no client")
			}
		} else {
			t.outside = append(t.outside, (time.Since(left) - w.answered.Sub(w.asked)).Seconds())
		}
		var meter *measure.ProcessMeter
		if server != nil {
			meter = measure.StartProcesses(ctx, pids)
		}
		spent := measure.CPUTime()
		took, err := own.checkSum(w.text, want)
		spent = measure.CPUTime() - spent
		if server != nil {
			spent = meter.Stop(ctx).CPU
		}
		t.theirs, t.theirCPU = append(t.theirs, took.Seconds()), append(t.theirCPU, spent.Seconds())
		if own.serverTime != nil {
			t.inside = append(t.inside, own.serverTime().Seconds())
		}
		left = time.Now()
		return "nothing was dropped", err
	}
	into, err := run.Create("", run.Run{Scan: &run.Scan{}, Archives: make([]run.Archive, 1)})
	if err != nil {
		b.Fatal(err)
	}
	if err := scan.Run(ctx, scan.OpenEngine(w, pids), o, into); err != nil {
		b.Fatal(err)
	}
	for _, s := range into.Samples() {
		m := s.Measured()
		cpu := m.CPU // an embedded engine's is in it
		if m.Server != nil {
			cpu += m.Server.Used.CPU
		}
		t.ours, t.ourCPU = append(t.ours, m.Total.Seconds()), append(t.ourCPU, cpu.Seconds())
	}
	t.report(b)
}

// turns has the seconds of the queries in the order of the pairs: theirs = the client's, ours = the run's.
type turns struct {
	theirs, ours     []float64
	theirCPU, ourCPU []float64 // of the server; ours includes the run, theirs does not include the client
	inside           []float64 // of the client's queries, as the server reports them
	outside          []float64 // of the run's work outside the query
}

// report reports the ratio of the medians, and the median of the ratios of the pairs, on which drift and other work of
// the machine have less effect. For the processor time, which the system counts in steps of 10 ms, it reports the mean
// of the ratios of the pairs.
func (t *turns) report(b *testing.B) {
	pairs := func(a, b []float64) (out []float64) {
		for i := untimed; i < len(a); i++ {
			if b[i] > 0 {
				out = append(out, a[i]/b[i])
			}
		}
		return out
	}
	metric := func(name string, low, value, high float64) {
		b.ReportMetric(value, name)
		b.ReportMetric(low, name+"-low")
		b.ReportMetric(high, name+"-high")
	}
	b.ReportMetric(0, "ns/op") // a load and all pairs
	b.ReportMetric(1e3*measure.Median(t.ours[untimed:]), "ms/answer")
	b.ReportMetric(1e3*measure.Median(t.theirs[untimed:]), "ms/client's")
	b.ReportMetric(1e3*measure.Median(t.outside[untimed:]), "ms-outside")
	all := measure.Compare(t.ours[untimed:], t.theirs[untimed:], 1)
	metric("ratio", all.Lo, all.Ratio, all.Hi)
	each := pairs(t.ours, t.theirs)
	ci := measure.MedianCI(each, measure.Confidence)
	metric("pairs", ci.Lo, measure.Median(each), ci.Hi)
	var longer []float64
	for i := untimed; i < len(t.ours); i++ {
		longer = append(longer, 1e3*(t.ours[i]-t.theirs[i]))
	}
	ci = measure.MedianCI(longer, measure.Confidence)
	metric("ms-added", ci.Lo, measure.Median(longer), ci.Hi)
	cpu := measure.Mean(pairs(t.ourCPU, t.theirCPU))
	metric("cpu", cpu.Low, cpu.Value, cpu.High)
	if t.inside != nil {
		b.ReportMetric(measure.Compare(t.ours[untimed:], t.inside[untimed:], 1).Ratio, "ratio-to-server's")
	}
}
