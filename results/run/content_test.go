package run_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// The verdict of a proven answer follows from the degree of its proof. A sample without a digest of the answer has none.
func TestVerdictsOfProofs(t *testing.T) {
	rows := func(values ...float64) *answer.Loose {
		var l answer.Loose
		for _, v := range values {
			l.Add([]any{v})
		}
		return &l
	}
	compare := func(limit int, want, got *answer.Loose) answer.Proof {
		p, err := answer.CompareLoose(answer.Expect(want, answer.Shape{Width: 1, Limit: limit}), got, answer.Tolerance)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	tally, err := answer.CompareAll(answer.Tally{Succeeded: 2, Found: 2, Values: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		proof     answer.Proof
		want      run.Verdict
		rows      int
		hasDigest bool
	}{
		"every value":  {proof(t, 3), run.Equal, 3, true},
		"engines":      {compare(-1, rows(1, 2), rows(2, 1)), run.Equal, 2, true},
		"rounded":      {compare(-1, rows(0.3), rows(math.Nextafter(0.3, 1))), run.EqualToRounding, 1, true},
		"undetermined": {compare(1, rows(1, 2), rows(2)), run.Undetermined, 1, true},
		"many answers": {tally, run.Equal, 0, false},
	} {
		m := &run.Measured{Total: 5}
		s := run.Sample{Problem: "earlier"}.Judge(m, c.proof, nil)
		if s.Verdict != c.want || !s.Verdict.IsCorrect() || s.Measured() != m || s.Proof != c.proof.Degree() || s.Problem != "" || s.Rows != c.rows {
			t.Errorf("%s: %+v", name, s)
		}
		if (s.Digest != "") != c.hasDigest || (s.LargestDifference > 0) != (c.want == run.EqualToRounding) {
			t.Errorf("%s: digest %q, largest difference %v", name, s.Digest, s.LargestDifference)
		}
	}
	for _, v := range []run.Verdict{run.Wrong, run.Failed, "", "another"} {
		if v.IsCorrect() {
			t.Errorf("%q is correct", v)
		}
	}
}

// A cell has a key as text, from which it is read again. Values may contain any character.
func TestCellsAsText(t *testing.T) {
	layout := run.LakeLayout{Partition: "day", FileMB: 0.5}
	for want, c := range map[string]run.Cell{
		"met/x?case=q&design=d&flavour=f":                      run.MetCell("x", "d", "q", "f"),
		"own/a%2Fb?query=top+10%26more":                        run.OwnCell("a/b", "top 10&more"),
		"lake/x?partition=day&mb=0.5&case=q":                   run.LakeCell("x", &layout, "q"),
		"post/x?test=1&scenario=s&design=d&method=m&posters=2": run.PostCell("x", "1", "s", "d", "m", "posters", 2),
		"w/x?": run.NewCell("w", "x", "a name without a value"),
	} {
		text, err := c.MarshalText()
		if err != nil || string(text) != want {
			t.Errorf("%q, %v; want %q", text, err, want)
		}
		var again run.Cell
		if err := again.UnmarshalText(text); err != nil || again != c {
			t.Errorf("%q: %+v, %v", want, again, err)
		}
	}
	for _, text := range []string{"", "met", "met?case=q", "met/%zz?case=q"} {
		if err := new(run.Cell).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is a cell", text)
		}
	}
	c := run.LakeCell("x", &layout, "a=b&c")
	if c.Number("mb") != 0.5 || c.Number("partition") != 0 || c.Number("none") != 0 || c.Value("case") != "a=b&c" || c.Value("m") != "" {
		t.Errorf("%v %v %q", c.Number("mb"), c.Number("none"), c.Value("case"))
	}
	names, values := c.Axes()
	if !slices.Equal(names, []string{"partition", "mb", "case"}) || !slices.Equal(values, []string{"day", "0.5", "a=b&c"}) {
		t.Errorf("%q, %q", names, values)
	}
}

// A name of at most 200 bytes is used as it is. A longer one is shortened to 200 bytes.
func TestLengthOfFileNames(t *testing.T) {
	for n, want := range map[int]int{1: 1, 200: 200, 201: 200, 400: 200} {
		long := strings.Repeat("a", n)
		name := run.FileName(long)
		if len(name) != want || (name == long) != (n <= 200) || !strings.HasPrefix(long, name[:min(n, 160)]) {
			t.Errorf("of %d bytes: %d bytes, %s", n, len(name), name)
		}
	}
	for want, parts := range map[string][]string{
		"a b.c": {"a b", "c"}, "1.5.1%2E5": {"1.5", "1.5"}, "%2Ea": {".a"}, "a%2Fb": {"a/b"}, "%": {""}, "x_-~+=,@": {"x_-~+=,@"}, "%25": {"%"},
	} {
		if got := run.FileName(parts...); got != want {
			t.Errorf("%q: %q, want %q", parts, got, want)
		}
	}
}

// JSON has no NaN and no infinity: missing values are null. −0 is 0.
func TestValuesAsJSON(t *testing.T) {
	text, err := json.Marshal(run.Values{1.5, math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)})
	if err != nil || string(text) != "[1.5,null,null,null,0,0]" {
		t.Errorf("%s, %v", text, err)
	}
	var v run.Values
	if err := json.Unmarshal([]byte("[1.5,null,0]"), &v); err != nil || len(v) != 3 || v[0] != 1.5 || !math.IsNaN(v[1]) || v[2] != 0 {
		t.Errorf("%v, %v", v, err)
	}
	if err := json.Unmarshal([]byte(`["x"]`), &v); err == nil {
		t.Error("a text is a number")
	}
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.StoreVerificationPlot(&run.VerificationPlot{Case: "q", Series: []run.Series{{X: []float64{math.NaN()}}}}); err == nil {
		t.Error("a plot with a position that JSON lacks was stored")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// A file of quarantined lines has one header.
func TestQuarantine(t *testing.T) {
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{})
	if err = errors.Join(err, f.Reject("a.vsdb", 3, "no lead", `V01 "GFS", 2x`), f.Reject("b.vsdb", 70000, "too short", ""), f.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(f.Dir, "quarantine.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := csv.NewReader(file).ReadAll()
	want := [][]string{{"file", "line", "reason", "text"}, {"a.vsdb", "3", "no lead", `V01 "GFS", 2x`}, {"b.vsdb", "70000", "too short", ""}}
	if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("%q, %v", got, err)
	}
}

// All rows of an answer are stored if there are at most 1000, otherwise the first 10. An answer without a proof, or one that
// is stored already, is not written.
func TestStoredAnswers(t *testing.T) {
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for rows, kept := range map[int]int{2: 2, 1000: 1000, 1001: 10} {
		a, p := proven(t, rows)
		file := filepath.Join(f.Dir, "answers", answer.FormatDigest(p.Digest())+".json")
		if err := f.StoreAnswer(a, answer.Proof{}); err != nil {
			t.Error(err)
		}
		if entries, _ := os.ReadDir(filepath.Join(f.Dir, "answers")); slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == filepath.Base(file) }) {
			t.Error("an answer without a proof was stored")
		}
		if err := f.StoreAnswer(a, p); err != nil {
			t.Error(err)
		}
		var got struct {
			Digest, Proof string
			Rows          int
			Columns       []string
			Values        [][]string
		}
		text, err := os.ReadFile(file)
		if err = errors.Join(err, json.Unmarshal(text, &got)); err != nil {
			t.Fatal(err)
		}
		if got.Digest != answer.FormatDigest(p.Digest()) || got.Proof != "every value" || got.Rows != rows || !slices.Equal(got.Columns, []string{"total"}) || len(got.Values) != kept {
			t.Errorf("of %d rows: %+v", rows, got)
		}
		for i, row := range got.Values {
			if !slices.Equal(row, []string{fmt.Sprint(i)}) {
				t.Errorf("row %d: %q", i, row)
			}
		}
		if err := errors.Join(os.Remove(file), f.StoreAnswer(a, p)); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Error("an answer was stored again")
		}
	}
	if entries, err := os.ReadDir(filepath.Join(f.Dir, "answers")); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// latency.hlog has an interval for each phase of a cell, from its first repetition to the end of its last one. A mix has two
// intervals of each group, one of service times and one of response times. What has no time has no interval.
func TestIntervalsOfHistograms(t *testing.T) {
	started := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{ID: "the run", Workload: "met", Started: started})
	if err != nil {
		t.Fatal(err)
	}
	timed := func(name string, phase run.Phase, m run.Measured) run.Sample {
		return run.Sample{Cell: run.MetCell("x", "d", name, "f"), Phase: phase}.Judge(&m, proof(t, 1), nil)
	}
	packed := func(times ...time.Duration) measure.EncodedHistogram {
		h := measure.NewHistogram()
		for _, d := range times {
			h.Record(d)
		}
		out, err := h.Pack()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	mix := &run.Mix{Groups: []run.Group{{
		Operation: "READ", Outcome: "OK", ServiceTimes: packed(time.Millisecond), ResponseTimes: packed(time.Millisecond, 9*time.Millisecond),
	}}}
	if err := errors.Join(
		f.Add(timed("a", run.Warm, run.Measured{Start: time.Second, Total: 2 * time.Second})),
		f.Add(timed("a", run.Warm, run.Measured{Start: 5 * time.Second, Total: 4 * time.Second})),
		f.Add(timed("a", run.Cold, run.Measured{Start: 3 * time.Second, Total: time.Second})),
		f.Add(timed("b", run.Warm, run.Measured{Start: time.Second})),
		f.Add(timed("mix", run.Warm, run.Measured{Start: time.Second, Total: 2 * time.Second, Mix: mix})),
		f.Close(),
	); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(f.Dir, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := hdrhistogram.NewHistogramLogReader(file)
	var got []string
	for {
		h, err := in.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		from, to := h.StartTimeMs()-started.UnixMilli(), h.EndTimeMs()-started.UnixMilli()
		got = append(got, fmt.Sprintf("%s: %d from %d to %d ms", h.Tag(), h.TotalCount(), from, to))
	}
	want := []string{
		"cold/met/x?case=a&design=d&flavour=f: 1 from 3000 to 4000 ms",
		"warm/met/x?case=a&design=d&flavour=f: 2 from 1000 to 9000 ms",
		"warm/met/x?case=mix&design=d&flavour=f/READ/OK/response: 2 from 1000 to 3000 ms",
		"warm/met/x?case=mix&design=d&flavour=f/READ/OK/service: 1 from 1000 to 3000 ms",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	text, err := os.ReadFile(file.Name())
	if err != nil || !strings.HasPrefix(string(text), "#barograph met, run the run\n") {
		t.Errorf("%.80s, %v", text, err)
	}
}

// Damaged files are errors that name the file. A finished run whose events end early has a warning.
func TestDamagedFiles(t *testing.T) {
	for file, want := range map[string]string{
		"run.json": "run.json", "events.jsonl": "events.jsonl:1", "plans/q.x.d.f.json": "q.x.d.f.json", "plots/q.json": "q.json",
	} {
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{})
		if err = errors.Join(err, f.StorePlan(run.MetCell("x", "d", "q", "f"), "SELECT 1", "SCAN", access()),
			f.StoreVerificationPlot(&run.VerificationPlot{Case: "q"}), f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := everything(f.Dir); err != nil {
			t.Errorf("before: %v", err)
		}
		if err := os.WriteFile(filepath.Join(f.Dir, filepath.FromSlash(file)), []byte("{\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := everything(f.Dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
	for _, c := range []struct {
		finished time.Time
		lines    int
		warns    bool
	}{{time.Unix(1, 0), 2, false}, {time.Unix(1, 0), 1, true}, {time.Unix(1, 0), 0, true}, {time.Time{}, 2, false}, {time.Time{}, 0, false}} {
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{Finished: c.finished})
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		events := filepath.Join(f.Dir, "events.jsonl")
		text, err := os.ReadFile(events)
		lines := strings.SplitAfter(string(text), "\n")
		if err = errors.Join(err, os.WriteFile(events, []byte(strings.Join(lines[:c.lines], "")), 0o600)); err != nil {
			t.Fatal(err)
		}
		if r, _, err := run.Read(f.Dir); err != nil || (len(r.Warnings) > 0) != c.warns {
			t.Errorf("%+v: %q, %v", c, r.Warnings, err)
		}
	}
}
