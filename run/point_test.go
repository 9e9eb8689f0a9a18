package run_test

import (
	"errors"
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
		Mix: "workloada", Engine: "postgres", Layout: "columns", Place: "server", Threads: 8, Rep: 1, Shard: shard, Clients: 1,
		Started: time.Unix(1_700_000_000, 0).UTC().Add(after), Elapsed: 2 * time.Second, Operations: int64(len(times)), Throughput: float64(len(times)) / 2,
		Interval: time.Second, Series: []run.Slice{{Ended: int64(len(times)), Slow: time.Second}, {Ended: 1}},
		Groups: []run.Group{{Operation: "READ", Outcome: "OK", Count: h.Count(), Records: h.Count(), Whole: true, ServiceTimes: h, ResponseTimes: h}},
		Client: measure.ClientLoad{User: time.Second, Wall: 2 * time.Second, Cores: 2},
	}
	p.Response = run.Short(h)
	p.Judge(run.Answers{Succeeded: h.Count(), Found: h.Count()}, nil)
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
	bad.Judge(run.Answers{Succeeded: 1, Wrong: 1, Found: 1}, errors.New("a scan was out of order"))
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

// The verdict follows from the answers; what is not right has no time in any
// field or row, and a point that nobody judged does not enter a folder.
func TestVerdictFollowsFromTheAnswers(t *testing.T) {
	for want, x := range map[run.Verdict][]run.Answers{
		run.Equal:  {{Succeeded: 2, Found: 1}},
		run.Wrong:  {{Succeeded: 2, Found: 1, Wrong: 1}, {Wrong: 1, Failed: 1}},
		run.Failed: {{}, {Succeeded: 2, Found: 2, Missing: 1}, {Succeeded: 2, Found: 2, Failed: 1}, {Succeeded: 2, Written: 2}},
	} {
		for _, a := range x {
			p := aPoint("", 0, 700, 800)
			p.Operations, p.Server = 2, &run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: time.Hour}}
			p.Judge(a, nil)
			if p.Verdict != want || (p.Problem == "") != (want == run.Equal) {
				t.Errorf("%+v: %s, %q", a, p.Verdict, p.Problem)
			}
			var text strings.Builder
			if err := run.WritePointsCSV(&text, []*run.Point{p}); err != nil {
				t.Fatal(err)
			}
			json, err := os.ReadFile(filepath.Join(folder(t, p), "points.json"))
			if err != nil {
				t.Fatal(err)
			}
			if timed := strings.Contains(text.String(), "700") || strings.Contains(string(json), "70000"); timed != (want == run.Equal) {
				t.Errorf("%+v: times are there: %v\n%s%s", a, timed, text.String(), json)
			}
		}
	}
	f, err := run.CreatePoints(t.TempDir(), run.Run{ID: "r", Workload: run.Mixed})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(&run.Point{Verdict: run.Equal, Throughput: 1}); err == nil {
		t.Error("a point that was not judged is in the folder")
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
