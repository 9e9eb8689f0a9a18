package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barograph/measure"
	"barograph/run"
)

// aPoint made of times in ms, that began so long after a fixed instant.
func aPoint(shard string, after time.Duration, times ...int) *run.Point {
	h := measure.NewHistogram()
	for _, t := range times {
		h.Record(time.Duration(t) * time.Millisecond)
	}
	p := &run.Point{
		Mix: "workloada", Engine: "postgres", Layout: "columns", Place: "server", Threads: 8, Rep: 1, Shard: shard, Clients: 1, Verdict: run.Equal,
		Started: time.Unix(1_700_000_000, 0).UTC().Add(after), Elapsed: 2 * time.Second, Operations: int64(len(times)), Checked: int64(len(times)), Throughput: float64(len(times)) / 2,
		Interval: time.Second, Series: []run.Slice{{Ended: int64(len(times)), Slow: time.Second}, {Ended: 1}},
		Groups: []run.Group{{Operation: "READ", Outcome: "OK", Count: h.Count(), Records: h.Count(), Whole: true, ServiceTimes: h, ResponseTimes: h}},
		Client: measure.ClientLoad{User: time.Second, Wall: 2 * time.Second, Cores: 2},
	}
	p.Response = run.Short(h)
	return p
}

func folder(t *testing.T, points ...*run.Point) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.CreatePoints(dir, run.Run{ID: "r", Workload: run.Mixed, Started: time.Unix(1_700_000_000, 0).UTC()})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if err := f.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Merging loses no count: the histogram of two clients is that of all their
// operations, and so are its percentiles.
func TestMergeIsLossless(t *testing.T) {
	a, b, all := []int{}, []int{}, measure.NewHistogram()
	for i := range 1000 {
		d := 1 + i*i%977
		all.Record(time.Duration(d) * time.Millisecond)
		if i%3 == 0 {
			a = append(a, d)
		} else {
			b = append(b, d)
		}
	}
	_, points, err := run.MergePoints([]string{folder(t, aPoint("1/2", 0, a...)), folder(t, aPoint("2/2", time.Second, b...))})
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 1 {
		t.Fatalf("%d points", len(points))
	}
	p := points[0]
	if got, want := p.Response, run.Short(all); got != want {
		t.Errorf("percentiles %+v, want %+v", got, want)
	}
	if p.Groups[0].Count != 1000 || p.Operations != 1000 || p.Clients != 2 || p.Shard != "" || p.Client.User != 2*time.Second {
		t.Errorf("%+v", p)
	}
	// The second began a second later: three seconds in all.
	if p.Elapsed != 3*time.Second || p.Throughput != 1000.0/3 || len(p.Warnings) != 1 {
		t.Errorf("elapsed %s, %g/s, %q", p.Elapsed, p.Throughput, p.Warnings)
	}
	if s := p.Series; len(s) != 3 || s[0].Ended != int64(len(a)) || s[1].Ended != int64(1+len(b)) || s[2].Ended != 1 {
		t.Errorf("series %+v", s)
	}
}

// What one client found wrong is wrong, and has no times.
func TestMergeKeepsWhatIsWrong(t *testing.T) {
	bad := aPoint("2/2", 0, 1, 2)
	bad.Verdict, bad.Problem = run.Wrong, "a scan was out of order"
	_, points, err := run.MergePoints([]string{folder(t, aPoint("1/2", 0, 3, 4)), folder(t, bad)})
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, points...)
	_, again, err := run.ReadPoints(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if p := again[0]; p.Verdict != run.Wrong || p.Problem != bad.Problem || p.Throughput != 0 || p.Response.Max != 0 || p.Groups[0].Count != 4 {
		t.Errorf("%+v", p)
	}
}

func TestMergeRefuses(t *testing.T) {
	one, other := folder(t, aPoint("1/2", 0, 1)), aPoint("2/2", 0, 1)
	other.Interval = time.Minute
	met := t.TempDir()
	if err := os.WriteFile(filepath.Join(met, "run.json"), []byte(`{"workload":"met"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cut := folder(t, aPoint("2/2", 0, 1, 2, 3))
	if err := os.WriteFile(filepath.Join(cut, "latency.hlog"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, dir := range map[string]string{"twice": one, "interval": folder(t, other), "is a run of": met, "no run folder": t.TempDir(), "does not hold": cut} {
		if _, _, err := run.MergePoints([]string{one, dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestPointsCSV(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder(t, aPoint("", 0, 1, 1, 1, 1)), "results.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], "workloada,postgres,columns,8,0,1,,equal,ALL,,4,2,") || !strings.HasPrefix(lines[2], "workloada,postgres,columns,8,0,1,,equal,READ,OK,4,") {
		t.Errorf("%s", text)
	}
}
