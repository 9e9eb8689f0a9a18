package run_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
)

// proof proves an answer of n rows.
func proof(t testing.TB, n int) answer.Proof {
	t.Helper()
	_, p := proven(t, n)
	return p
}

func proven(t testing.TB, n int) (*answer.Answer, answer.Proof) {
	t.Helper()
	var b answer.Builder
	b.Reset([]question.Column{{Name: "total", Role: question.Data, Kind: question.Number}})
	for i := range n {
		b.Num(0, float64(i))
		b.Row()
	}
	a := b.Take()
	p, err := answer.Compare(a, a)
	if err != nil {
		t.Fatal(err)
	}
	return a, p
}

func access() []run.Access {
	return []run.Access{{Object: "wide_sal1l2", Method: "pruned scan", Examined: 245760, Kept: 848, Counted: true}}
}

func TestFolderRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{ID: "r", Workload: "met", Seed: 7, Started: time.Now().UTC()})
	if err != nil {
		t.Fatal(err)
	}
	cell := run.MetCell("duckdb", "wide", "test_1", "sql")
	for rep := range 3 {
		m := &run.Measured{Start: time.Second, FirstRow: 2 * time.Millisecond, Total: time.Duration(3+rep) * time.Millisecond, Bytes: 24, Keys: 5}
		if err := f.Add(run.Sample{Cell: cell, Phase: run.Warm, Rep: rep}.Judge(m, proof(t, 3), nil)); err != nil {
			t.Fatal(err)
		}
	}
	other := run.MetCell("duck & db?", "wide", "test/2=3", "sql")
	wrong := run.Sample{Cell: other, Phase: run.Cold}.Judge(&run.Measured{Total: time.Hour}, answer.Proof{}, &answer.Diff{Problem: "1 rows are missing,\n\"quoted\"", GotRows: 2})
	if err := f.Add(wrong); err != nil {
		t.Fatal(err)
	}
	if err := f.StorePlan(cell, "SELECT 1", "SCAN", access()); err != nil {
		t.Fatal(err)
	}
	for rows, kept := range map[int]int{3: 3, 1001: 10} {
		a, p := proven(t, rows)
		if err := errors.Join(f.StoreAnswer(a, p), f.StoreAnswer(a, answer.Proof{})); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "answers", answer.FormatDigest(p.Digest())+".json"))
		var got struct {
			Rows   int
			Values [][]string
		}
		if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil || got.Rows != rows || len(got.Values) != kept || got.Values[2][0] != "2" {
			t.Errorf("of %d rows: %s, %v", rows, text, err)
		}
	}
	if err := f.Reject("a.vsdb", 3, "lead \"2x\" is not in hours", "V01 GFS 2x"); err != nil {
		t.Fatal(err)
	}
	c := &run.VerificationPlot{Case: "test_1", Stat: "ANOM_CORR", Axis: run.ByLead, Series: []run.Series{{Name: "G2", X: []float64{0, 24}, Y: run.Values{1, math.NaN()}, Low: run.Values{math.Inf(-1), math.Inf(1)}}}}
	if err := f.StoreVerificationPlot(c); err != nil {
		t.Fatal(err)
	}
	f.Run.Finished = time.Now()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	check(t, dir)
	events := filepath.Join(dir, "events.jsonl")
	text, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := os.WriteFile(events, bytes.Join(lines[:len(lines)-3], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, _, err := run.Read(dir); err != nil || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "is incomplete") }) {
		t.Errorf("incomplete events give no warning: %+v, %v", r, err)
	}
	if _, err := run.Create(dir, run.Run{}); err == nil {
		t.Error("Create accepts a folder that contains a run")
	}
}

// check reads every file of the folder back.
func check(t *testing.T, dir string) {
	t.Helper()
	r, samples, err := run.Read(dir)
	if err != nil || r.Seed != 7 || len(samples) != 4 {
		t.Fatalf("%+v, %d samples, %v", r, len(samples), err)
	}
	if s, m := samples[2], samples[2].Measured(); s.Verdict != run.Equal || s.Proof != answer.EveryValue || m.Total != 5*time.Millisecond || s.Rows != 3 || m.Keys != 5 || s.Digest == "" {
		t.Errorf("sample %+v, %+v", s, m)
	}
	if s := samples[3]; s.Verdict != run.Wrong || s.Measured() != nil || s.Cell.Engine != "duck & db?" || s.Cell.Value("case") != "test/2=3" || s.Cell == samples[2].Cell || !strings.Contains(s.Problem, "quoted") || s.Rows != 2 {
		t.Errorf("sample %+v", s)
	}
	rows, err := parquet.ReadFile[struct {
		Case  string `parquet:"case,optional"`
		Total *int64 `parquet:"total_ns,optional"`
	}](filepath.Join(dir, "samples.parquet"))
	if err != nil || len(rows) != 4 || *rows[2].Total != int64(5*time.Millisecond) || rows[0].Case != "test_1" || rows[3].Total != nil {
		t.Errorf("parquet %+v, %v", rows, err)
	}
	log, err := os.Open(filepath.Join(dir, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if iv, err := hdrhistogram.NewHistogramLogReader(log).NextIntervalHistogram(); err != nil || iv == nil || iv.TotalCount() != 3 || iv.Tag() != "warm/met/duckdb?case=test_1&design=wide&flavour=sql" {
		t.Errorf("interval %+v, %v", iv, err)
	}
	curves, err := run.ReadVerificationPlots(dir)
	if err != nil || len(curves) != 1 || !math.IsNaN(curves[0].Series[0].Y[1]) {
		t.Errorf("curves %+v, %v", curves, err)
	}
	plans, err := run.ReadPlans(dir)
	if err != nil || len(plans) != 1 || plans[0].Name != "test_1.duckdb.wide.sql" || plans[0].Cell != run.MetCell("duckdb", "wide", "test_1", "sql") || !strings.Contains(plans[0].Text, "SCAN") || !slices.Equal(plans[0].Access, access()) {
		t.Errorf("plans %+v, %v", plans, err)
	}
	if err := os.Remove(filepath.Join(dir, "plans", "test_1.duckdb.wide.sql.json")); err != nil { // as a folder of an earlier version
		t.Fatal(err)
	}
	if plans, err := run.ReadPlans(dir); err != nil || len(plans) != 1 || plans[0].Access != nil {
		t.Errorf("without its JSON: plans %+v, %v", plans, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "quarantine.csv")); err != nil || !strings.Contains(string(text), "a.vsdb,3,") {
		t.Errorf("quarantine %q, %v", text, err)
	}
}

// A run can be read while it is written and after a kill, up to its last complete line, and its state is known. An
// error names a damaged line.
func TestUnfinishedRuns(t *testing.T) {
	if _, _, err := run.Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "run folder") {
		t.Errorf("an empty folder: %v", err)
	}
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{ID: "r", Workload: "met"})
	if err != nil {
		t.Fatal(err)
	}
	state := func(after time.Duration) run.State {
		events, err := run.ReadEvents(f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		return run.StateOf(events, time.Now().Add(after))
	}
	if err := f.Add(run.Sample{Cell: run.MetCell("x", "wide", "test_1", "sql")}.Judge(&run.Measured{Total: 1}, proof(t, 1), nil)); err != nil {
		t.Fatal(err)
	}
	if now, later := state(0), state(time.Hour); now != run.Running || later != run.Interrupted {
		t.Errorf("it is %s, and silent %s", now, later)
	}
	path := filepath.Join(f.Dir, "events.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{1, 20} { // length of the incomplete last line
		if err := os.WriteFile(path, append(slices.Clone(text), text[:cut]...), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, samples, err := run.Read(f.Dir); err != nil || len(samples) != 1 || samples[0].Measured().Total != 1 {
			t.Errorf("after a line of %d bytes: %d samples, %v", cut, len(samples), err)
		}
	}
	if err := os.WriteFile(path, append(slices.Clone(text), "{}}\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.Read(f.Dir); err == nil || !strings.Contains(err.Error(), "events.jsonl:3") {
		t.Errorf("a damaged line: %v", err)
	}
	f.Run.Finished = time.Now()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, `{"seq":9,"kind":"end"}`+"\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if s := state(time.Hour); s != run.Done {
		t.Errorf("it is %s", s)
	}
}

// The error names a folder that is no run folder, or that is from a version before events.jsonl.
func TestNoRunFolder(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := run.Read(dir); err == nil || !strings.Contains(err.Error(), "run.json") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, run.DescriptionFile), []byte(`{"workload":"met"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.Read(dir); err == nil || !strings.Contains(err.Error(), "before the first release") {
		t.Error(err)
	}
}

// Discard leaves a folder as Create found it, so the next run can use it.
func TestDiscard(t *testing.T) {
	existing := t.TempDir()
	own := filepath.Join(existing, "notes.txt")
	if err := os.WriteFile(own, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{existing, filepath.Join(t.TempDir(), "new"), ""} {
		for range 2 {
			f, err := run.Create(dir, run.Run{Workload: run.MixWorkload, Started: time.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Discard(); err != nil {
				t.Error(err)
			}
		}
	}
	if all, err := os.ReadDir(existing); err != nil || len(all) != 1 || all[0].Name() != "notes.txt" {
		t.Errorf("the folder contains %v, %v", all, err)
	}
}
