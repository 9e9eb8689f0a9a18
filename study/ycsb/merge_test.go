package ycsb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/ycsb"
)

// aPoint returns a sample with times in ms, which began some time after a fixed one.
func aPoint(shard string, after time.Duration, times ...int) run.Sample {
	h := measure.NewHistogram()
	for _, t := range times {
		h.Record(time.Duration(t) * time.Millisecond)
	}
	m := &run.Measured{Start: after, Total: 2 * time.Second, Usage: &run.Usage{Client: measure.ClientLoad{User: time.Second, Wall: 2 * time.Second, Cores: 2}}}
	g := run.Group{Operation: "READ", Outcome: "OK", Count: h.Count(), Records: h.Count(), InTotal: true}
	if err := g.SetTimes(h, h); err != nil {
		panic(err)
	}
	m.Mix = &run.Mix{
		Place: "server", LoadMachines: 1, Operations: int64(len(times)), Throughput: float64(len(times)) / 2, Response: g.Response,
		Interval: time.Second, Series: []run.SeriesInterval{{Completed: int64(len(times)), Slowest: time.Second}, {Completed: 1}}, Groups: []run.Group{g},
	}
	s := run.Sample{Cell: run.MixCell("postgres", "columns", "workloada", 8, 0, shard), Rep: 1, Answers: &run.Answers{Succeeded: h.Count(), Found: h.Count()}}
	proof, failed := answer.CompareAll(*s.Answers, nil)
	return s.Judge(m, proof, failed)
}

func folder(t *testing.T, points ...run.Sample) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{
		ID: "r", Workload: run.MixWorkload, Started: time.Unix(1_700_000_000, 0).UTC(),
		Archives: []run.Archive{{Engine: "dry", Place: "memory"}},
	})
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

// TestMergeIsLossless: the merged histogram of two clients is that of all their operations, and so are its percentiles.
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
	_, points, err := ycsb.Merge([]string{folder(t, aPoint("1/2", 0, a...)), folder(t, aPoint("2/2", time.Second, b...))})
	if err != nil {
		t.Fatal(err)
	}
	if len(points) != 1 {
		t.Fatalf("%d points", len(points))
	}
	s := points[0]
	p := s.Measured()
	if got, want := p.Response, run.Summarize(all); got != want {
		t.Errorf("percentiles %+v, want %+v", got, want)
	}
	if p.Groups[0].Count != 1000 || p.Operations != 1000 || p.LoadMachines != 2 || s.Cell.Value("shard") != "" || p.Client.User != 2*time.Second {
		t.Errorf("%+v", p)
	}
	// The second began a second later: three seconds in all.
	if p.Total != 3*time.Second || p.Throughput != 1000.0/3 || len(s.Warnings) != 1 {
		t.Errorf("elapsed %s, %g/s, %q", p.Total, p.Throughput, s.Warnings)
	}
	if s := p.Series; len(s) != 3 || s[0].Completed != int64(len(a)) || s[1].Completed != int64(1+len(b)) || s[2].Completed != 1 {
		t.Errorf("series %+v", s)
	}
}

// TestMergeKeepsRunsApart: the samples of the client overhead from folders of successive measurements are repetitions, not
// those of clients that ran at the same time.
func TestMergeKeepsRunsApart(t *testing.T) {
	_, points, err := ycsb.Merge([]string{folder(t, aPoint("", 0, 1, 2, 3)), folder(t, aPoint("", time.Hour, 4, 5)), folder(t, aPoint("", 2*time.Hour, 6))})
	if err != nil || len(points) != 3 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	for i, p := range points {
		if p.Rep != i+1 || p.Measured().Throughput != float64(3-i)/2 || p.Measured().LoadMachines != 1 {
			t.Errorf("repetition %d: %g/s by %d clients", p.Rep, p.Measured().Throughput, p.Measured().LoadMachines)
		}
	}
	if dir := folder(t, points...); dir == "" {
		t.Error("the folder was not written")
	}
}

// TestMergeOfTwoEngines: two clients that measured two engines one after the other have measured the client overhead four
// times, independently.
func TestMergeOfTwoEngines(t *testing.T) {
	of := func(engine, shard string, after time.Duration) run.Sample {
		s := aPoint(shard, after, 1, 2)
		s.Cell = run.MixCell(engine, "columns", "workloada", 8, 0, shard)
		if engine == "dry" {
			s.Measured().Place = "memory"
		}
		return s
	}
	var dirs []string
	for i, engine := range []string{"postgres", "mariadb"} {
		for k, shard := range []string{"1/2", "2/2"} {
			after := time.Duration(i) * time.Hour
			dirs = append(dirs, folder(t, of(engine, shard, after), of("dry", shard, after+time.Duration(k)*time.Minute)))
		}
	}
	_, samples, err := ycsb.Merge(dirs)
	if err != nil || len(samples) != 6 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	reps := map[string]int{}
	for _, s := range samples {
		reps[s.Cell.Engine]++
		clients, rate := 2, 2.0
		if s.Cell.Engine == "dry" {
			clients, rate = 1, 1
		}
		if m := s.Measured(); m.LoadMachines != clients || m.Throughput != rate || s.Rep != reps[s.Cell.Engine] || s.Cell.Value("shard") != "" {
			t.Errorf("%s, repetition %d: %+v", s.Cell, s.Rep, m)
		}
	}
	if reps["dry"] != 4 || reps["postgres"] != 1 || reps["mariadb"] != 1 {
		t.Errorf("%v", reps)
	}
}

// TestMergeOfFailedOverhead: measurements of the client overhead that failed are not those of clients of one engine,
// either.
func TestMergeOfFailedOverhead(t *testing.T) {
	var dirs []string
	for _, shard := range []string{"1/2", "2/2"} {
		s := aPoint(shard, 0, 1, 2)
		s.Cell = run.MixCell("dry", "columns", "workloada", 8, 0, shard)
		dirs = append(dirs, folder(t, s.Judge(nil, answer.Proof{}, errors.New("the table is full"))))
	}
	_, samples, err := ycsb.Merge(dirs)
	if err != nil || len(samples) != 2 {
		t.Fatalf("%+v, %v", samples, err)
	}
	for i, s := range samples {
		if s.Rep != i+1 || s.Cell.Value("shard") != "" {
			t.Errorf("%s, repetition %d", s.Cell, s.Rep)
		}
	}
}

// TestMergeOfSomeShards: a merged sample names the clients whose folders are missing. Runs with different targets are
// different cells.
func TestMergeOfSomeShards(t *testing.T) {
	at := func(shard string, target float64) run.Sample {
		s := aPoint(shard, 0, 1, 2)
		s.Cell = run.MixCell("postgres", "columns", "workloada", 8, target, shard)
		return s
	}
	var dirs []string
	for _, s := range []run.Sample{at("1/3", 100), at("3/3", 100), at("1/3", 200), at("2/3", 200), at("3/3", 200)} {
		dirs = append(dirs, folder(t, s))
	}
	_, samples, err := ycsb.Merge(dirs)
	if err != nil || len(samples) != 2 {
		t.Fatalf("%+v, %v", samples, err)
	}
	for i, want := range []string{"[without the shards 2/3: operations and throughput are those of the other clients]", "[]"} {
		if s := samples[i]; fmt.Sprint(s.Warnings) != want || s.Cell.Number("target_ops_s") != float64(200+400*i) {
			t.Errorf("%s: %q", s.Cell, s.Warnings)
		}
	}
}

// TestMergeKeepsHistories: a history that breaks a promise makes the merged sample wrong, and is the one that it has.
// Its file is that of its folder. Findings of all folders are kept.
func TestMergeKeepsHistories(t *testing.T) {
	good, bad := aPoint("1/2", 0, 1, 2), aPoint("2/2", 0, 1, 2)
	good.History = &run.HistoryCheck{File: "histories/good"}
	bad.History = &run.HistoryCheck{File: "histories/bad", Promises: []run.PromiseResult{{Promised: true, Violations: 1}}}
	bad = bad.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "broken 1 times"})
	dirs := []string{folder(t, good), folder(t, bad)}
	for i, dir := range dirs {
		file := filepath.Join(dir, "run.json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		finding := fmt.Sprintf(`{"findings": ["finding %d"],`, i)
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), "{", finding, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, samples, err := ycsb.Merge(dirs)
	if err != nil || len(samples) != 1 {
		t.Fatalf("%+v, %v", samples, err)
	}
	if s := samples[0]; s.Verdict != run.Wrong || s.Problem != "broken 1 times" || s.History.File != filepath.Join(dirs[1], "histories/bad") {
		t.Errorf("%+v, %+v", s, s.History)
	}
	if fmt.Sprint(r.Findings) != "[finding 0 finding 1]" {
		t.Errorf("%q", r.Findings)
	}
}

// TestMergeKeepsWhatIsWrong: a result that one client found wrong is wrong, and has no times.
func TestMergeKeepsWhatIsWrong(t *testing.T) {
	bad := aPoint("2/2", 0, 1, 2)
	bad.Answers = &run.Answers{Succeeded: 1, Wrong: 1, Found: 1}
	proof, failed := answer.CompareAll(*bad.Answers, errors.New("a scan was out of order"))
	bad = bad.Judge(nil, proof, failed)
	_, points, err := ycsb.Merge([]string{folder(t, aPoint("1/2", 0, 3, 4)), folder(t, bad)})
	if err != nil {
		t.Fatal(err)
	}
	dir := folder(t, points...)
	_, again, err := run.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p := again[0]; p.Verdict != run.Wrong || p.Problem != bad.Problem || p.Measured() != nil || p.Answers.Found != 3 {
		t.Errorf("%+v", p)
	}
}

func TestMergeRefuses(t *testing.T) {
	one, other := folder(t, aPoint("1/2", 0, 1)), aPoint("2/2", 0, 1)
	other.Measured().Interval = time.Minute
	met := t.TempDir()
	if err := os.WriteFile(filepath.Join(met, "run.json"), []byte(`{"workload":"met"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cut := folder(t, aPoint("2/2", 0, 1, 2, 3)) // as a folder of an older version
	events := filepath.Join(cut, "events.jsonl")
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(events, regexp.MustCompile(`"service_times":"[^"]*"`).ReplaceAll(text, []byte(`"service_times":""`)), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, dir := range map[string]string{"twice": one, "interval": folder(t, other), "is a run of": met, "not a run folder": t.TempDir(), "lacks some of its times": cut} {
		if _, _, err := ycsb.Merge([]string{one, dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestMergeKeepsFaults: runs with faults stay separate samples.
func TestMergeKeepsFaults(t *testing.T) {
	var dirs []string
	for _, shard := range []string{"", ""} {
		s := aPoint(shard, 0, 1, 2, 3)
		s.Fault = &run.Fault{Lost: 5, History: &run.HistoryCheck{File: "histories/x"}}
		s.Measured().FaultCost = &run.FaultCost{RateBefore: 7}
		dirs = append(dirs, folder(t, s))
	}
	_, samples, err := ycsb.Merge(dirs)
	if err != nil || len(samples) != 2 || samples[0].Measured().FaultCost.RateBefore != 7 || samples[1].Fault.History.File != filepath.Join(dirs[1], "histories/x") {
		t.Errorf("%v, %+v", err, samples)
	}
}
