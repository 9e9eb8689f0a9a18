package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

func TestCountsInWords(t *testing.T) {
	for n, want := range map[int]string{
		-1234567: "−1,234,567 files", -1: "−1 files", 0: "0 files", 1: "1 file", 2: "2 files", 999: "999 files", 1000: "1,000 files", 123456: "123,456 files",
	} {
		if got := run.CountOf(n, "file"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// Every file of a run over own tables is in the account: those that were read, those of a skipped table, and those of no
// table.
func TestAccountOfOwnFiles(t *testing.T) {
	o := run.Own{
		Tables: []run.OwnTable{
			{
				Name: "sales", Files: []string{"a.csv", "b.parquet"}, Rows: 1501, Columns: []string{"id (bigint)", "price (decimal(9, 2))"},
				Sources: []run.OwnFile{{File: "a.csv", Rows: 1, Lines: 2, SHA256: "abc"}, {File: "b.parquet", Rows: 1500, SHA256: "def"}},
				Notes:   []string{"column note was skipped"},
			},
			{Name: "stock", Files: []string{"c1.csv", "c2.csv"}, Problem: "c2.csv has no header"},
			{Name: "empty", Files: []string{"d.csv"}, Sources: []run.OwnFile{{File: "d.csv", Lines: 1, SHA256: "ghi"}}, Columns: []string{"id (bigint)"}},
		},
		SkippedFiles: []run.SkippedFile{{File: "notes.txt", Reason: "no table format"}},
	}
	want := []string{
		"table sales: 2 files, 1,501 rows: id (bigint), price (decimal(9, 2))",
		"  a.csv: 1 row, 2 lines, SHA-256 abc",
		"  b.parquet: 1,500 rows",
		"  column note was skipped",
		"table stock was skipped: c2.csv has no header",
		"  c1.csv",
		"  c2.csv",
		"table empty: 1 file, 0 rows: id (bigint)",
		"  d.csv: 0 rows, 1 line, SHA-256 ghi",
		"skipped: notes.txt: no table format",
	}
	if got := o.Accounting(); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestProblemsOfTransfers(t *testing.T) {
	for _, c := range []struct {
		transfers *run.Transfers
		want      string
	}{
		{nil, ""},
		{&run.Transfers{Sum: 100, Expected: 100}, ""},
		{&run.Transfers{Isolation: "snapshot", Sum: 99, Expected: 100}, "at isolation snapshot the sum of all balances is 99, not 100"},
		{
			&run.Transfers{Isolation: "snapshot", Accounts: 10, Sum: 100, Expected: 100, Unexplained: 2, Example: "account 3"},
			"at isolation snapshot the sum of all balances is 100, which is correct; 2 of 10 accounts have a balance that no transfer explains, such as account 3",
		},
		{
			&run.Transfers{Isolation: "read committed", Accounts: 10, Sum: 101, Expected: 100, Unexplained: 1, Example: "account 7"},
			"at isolation read committed the sum of all balances is 101, not 100; 1 of 10 accounts have a balance that no transfer explains, such as account 7",
		},
	} {
		if got := c.transfers.Problem(); got != c.want {
			t.Errorf("%+v: %q", c.transfers, got)
		}
	}
}

func TestStoredHistory(t *testing.T) {
	type call struct{ N int }
	var none *run.Folder
	for _, f := range []*run.Folder{none, {}} {
		if name, err := run.StoreHistory(f, []call{{1}}, "a"); name != "" || err != nil {
			t.Errorf("in memory: %q, %v", name, err)
		}
	}
	f := &run.Folder{Dir: t.TempDir()}
	name, err := run.StoreHistory(f, []call{{1}, {2}}, "mix", "c 1")
	if err != nil || !strings.HasPrefix(name, "histories/") || !strings.HasSuffix(name, ".jsonl.gz") {
		t.Fatalf("%q, %v", name, err)
	}
	file, err := os.ReadFile(filepath.Join(f.Dir, name))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != "{\"N\":1}\n{\"N\":2}\n" {
		t.Errorf("%q, %v", text, err)
	}
	name, err = run.StoreHistory(f, []float64{1, math.NaN()}, "incomplete")
	if err == nil {
		t.Error("JSON has no NaN, but there is no error")
	}
	if _, err := os.Stat(filepath.Join(f.Dir, name)); !os.IsNotExist(err) {
		t.Errorf("an incomplete history was stored: %v", err)
	}
}

// The growth of a server's counters is reported; a counter that the server does not report, or that was reset, is not.
func TestGrowthOfServerCounters(t *testing.T) {
	for _, c := range []struct{ before, after, want run.ReportedLoad }{
		{run.ReportedLoad{CPU: 10, Read: 100}, run.ReportedLoad{CPU: 15, Read: 130}, run.ReportedLoad{CPU: 5, Read: 30}},
		{run.ReportedLoad{CPU: 10, Read: 100}, run.ReportedLoad{CPU: 10, Read: 100}, run.ReportedLoad{}},
		{run.ReportedLoad{CPU: 0, Read: 0}, run.ReportedLoad{CPU: 3, Read: 4}, run.ReportedLoad{CPU: 3, Read: 4}},
		{run.ReportedLoad{CPU: -1, Read: 100}, run.ReportedLoad{CPU: 15, Read: 130}, run.ReportedLoad{CPU: -1, Read: 30}},
		{run.ReportedLoad{CPU: 10, Read: -1}, run.ReportedLoad{CPU: 15, Read: -1}, run.ReportedLoad{CPU: 5, Read: -1}},
		{run.ReportedLoad{CPU: 10, Read: 100}, run.ReportedLoad{CPU: 4, Read: 40}, run.ReportedLoad{CPU: -1, Read: -1}},
	} {
		reports := []run.ReportedLoad{c.before, c.after}
		m := run.ServerMeter{Report: func(context.Context) (run.ReportedLoad, error) {
			r := reports[0]
			reports = reports[1:]
			return r, nil
		}}
		if err := m.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := m.Stop(t.Context())
		if err != nil || got.Local || got.Reported == nil || *got.Reported != c.want {
			t.Errorf("from %+v to %+v: %+v, %v", c.before, c.after, got, err)
		}
	}
}

func TestServerMeter(t *testing.T) {
	var none run.ServerMeter
	if err := none.Start(t.Context()); err != nil {
		t.Error(err)
	}
	if load, err := none.Stop(t.Context()); load != nil || err != nil {
		t.Errorf("without processes and counters: %+v, %v", load, err)
	}
	own := run.ServerMeter{PIDs: []int32{int32(os.Getpid())}}
	if err := own.Start(t.Context()); err != nil {
		t.Error(err)
	}
	if load, err := own.Stop(t.Context()); err != nil || load == nil || !load.Local || load.Reported != nil || load.Used.Processes != 1 {
		t.Errorf("a process without counters: %+v, %v", load, err)
	}
	down := errors.New("the server is down")
	failing := run.ServerMeter{Report: func(context.Context) (run.ReportedLoad, error) { return run.ReportedLoad{}, down }}
	if err := failing.Start(t.Context()); !errors.Is(err, down) {
		t.Error(err)
	}
	if _, err := failing.Stop(t.Context()); !errors.Is(err, down) {
		t.Error(err)
	}
	type spent struct {
		CPU  time.Duration
		Read int64
	}
	if run.ReportFunc[spent](nil) != nil {
		t.Error("an engine without counters has a report")
	}
	report := run.ReportFunc(func(context.Context) (spent, error) { return spent{3, 4}, down })
	if got, err := report(t.Context()); got != (run.ReportedLoad{CPU: 3, Read: 4}) || !errors.Is(err, down) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The processor time of an answer is that of the client and of the server. It is unknown if the server does not report it.
func TestProcessorTime(t *testing.T) {
	server := func(s *run.ServerLoad) *run.Measured { return &run.Measured{CPU: 10, Usage: &run.Usage{Server: s}} }
	remote := &run.Archive{Place: "server"}
	for name, c := range map[string]struct {
		archive *run.Archive
		m       *run.Measured
		spent   time.Duration
		known   bool
	}{
		"embedded":                  {&run.Archive{Place: "embedded"}, &run.Measured{CPU: 10}, 10, true},
		"embedded, with usage":      {&run.Archive{Place: "embedded"}, server(nil), 10, true},
		"a server":                  {remote, &run.Measured{CPU: 10}, 10, false},
		"a lab's server":            {&run.Archive{Place: "embedded", Server: &run.Server{}}, &run.Measured{CPU: 10}, 10, false},
		"a local server":            {remote, server(&run.ServerLoad{Local: true, Used: measure.ProcessLoad{CPU: 7}, Reported: &run.ReportedLoad{CPU: 3}}), 17, true},
		"a reporting server":        {remote, server(&run.ServerLoad{Reported: &run.ReportedLoad{CPU: 3}}), 13, true},
		"an idle server":            {remote, server(&run.ServerLoad{Reported: &run.ReportedLoad{CPU: 0}}), 10, true},
		"a server without counters": {remote, server(&run.ServerLoad{Reported: &run.ReportedLoad{CPU: -1}}), 10, false},
		"a silent server":           {remote, server(&run.ServerLoad{}), 10, false},
	} {
		if spent, known := c.archive.CPU(c.m); spent != c.spent || known != c.known {
			t.Errorf("%s: %d, known %v", name, spent, known)
		}
	}
}

func TestTimedQuery(t *testing.T) {
	f := &run.Folder{Run: run.Run{Started: time.Now().Add(-time.Hour)}}
	calls := 0
	m, err := f.TimeQuery(t.Context(), nil, &run.ServerMeter{}, func() error { calls++; return nil })
	if err != nil || calls != 1 || m.Total <= 0 || m.CPU < 0 || m.Start < time.Hour || m.Server != nil || m.AvailableMemory == 0 {
		t.Errorf("%d calls: %+v, %v", calls, m, err)
	}
	failed := errors.New("no answer")
	if m, err := f.TimeQuery(t.Context(), nil, &run.ServerMeter{}, func() error { return failed }); m != nil || !errors.Is(err, failed) {
		t.Errorf("%+v, %v", m, err)
	}
}

// worker alternates between two kinds of operations, and ends after some operations with an error.
type worker struct {
	operations int
	err        error
}

func (w *worker) Do(_ context.Context, r *pace.Recorder) error {
	if w.operations == 0 {
		return w.err
	}
	w.operations--
	r.Done(w.operations%2, 0, r.Began())
	return nil
}

// The sample of concurrent clients has the operations of each question and of all together, with the verdict of the proof.
func TestConcurrentClients(t *testing.T) {
	started := time.Now()
	clients := func(err error, down error) (run.Sample, answer.Tally) {
		f := &run.Folder{Run: run.Run{Started: started}}
		var seen answer.Tally
		c := run.ConcurrentClients{
			Workers: []pace.Worker{&worker{5, err}, &worker{3, pace.ErrDone}},
			Pace:    pace.Options{Kinds: []string{"q1", "q2", "never"}, Statuses: []string{"OK"}},
			Place:   "embedded",
			Prove: func(t answer.Tally, failed error) (answer.Proof, error) {
				seen = t
				p, err := answer.CompareAll(t, failed)
				return p, errors.Join(failed, err)
			},
		}
		if down != nil {
			c.Server.Report = func(context.Context) (run.ReportedLoad, error) { return run.ReportedLoad{}, down }
		}
		s, failed := f.RunClients(t.Context(), run.Sample{Cell: run.MetCell("x", "d", "all", "f"), Phase: run.Warm}, c)
		if failed != nil {
			t.Fatal(failed)
		}
		return s, seen
	}
	s, seen := clients(pace.ErrDone, nil)
	m := s.Measured()
	if m == nil || s.Verdict != run.Equal || seen.Succeeded != 8 || seen.Found != 8 || seen.Values != 8 || seen.Wrong != 0 {
		t.Fatalf("%+v, %+v", s, seen)
	}
	if m.Operations != 8 || m.LoadMachines != 1 || m.Place != "embedded" || m.Throughput <= 0 || len(m.Groups) != 2 {
		t.Errorf("%+v", m.Mix)
	}
	for i, want := range []run.Group{{Operation: "q1", Count: 5}, {Operation: "q2", Count: 3}} {
		if g := m.Groups[i]; g.Operation != want.Operation || g.Outcome != "OK" || g.Count != want.Count || g.Records != want.Count || !g.InTotal {
			t.Errorf("%+v", g)
		}
	}
	if s, seen := clients(&answer.Diff{Problem: "a row is missing"}, nil); s.Verdict != run.Wrong || s.Measured() != nil || seen.Wrong != 1 {
		t.Errorf("a wrong answer: %+v, %+v", s, seen)
	}
	if s, seen := clients(errors.New("no answer"), nil); s.Verdict != run.Failed || s.Measured() != nil || seen.Wrong != 0 {
		t.Errorf("an error: %+v, %+v", s, seen)
	}
	if s, _ := clients(pace.ErrDone, errors.New("the server is down")); s.Verdict != run.Failed || !strings.Contains(s.Problem, "the server is down") {
		t.Errorf("a server that is down: %+v", s)
	}
}

// An incomplete archive removes the times of a sample only if it has the engine and the design of the sample.
func TestIncompleteArchives(t *testing.T) {
	cell := run.MetCell("x", "d", "q", "f")
	for name, c := range map[string]struct {
		archive run.Archive
		cell    run.Cell
		timed   bool
	}{
		"incomplete":        {run.Archive{Engine: "x", Design: "d"}, cell, false},
		"complete":          {run.Archive{Engine: "x", Design: "d", Complete: true}, cell, true},
		"of another engine": {run.Archive{Engine: "y", Design: "d"}, cell, true},
		"of another design": {run.Archive{Engine: "x", Design: "e"}, cell, true},
		"without a design":  {run.Archive{Engine: "x"}, run.OwnCell("x", "q"), true},
	} {
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{Archives: []run.Archive{c.archive}})
		if err != nil {
			t.Fatal(err)
		}
		s := run.Sample{Cell: c.cell, Phase: run.Warm}.Judge(&run.Measured{Total: 5}, proof(t, 1), nil)
		if err := errors.Join(f.Add(s), f.Close()); err != nil {
			t.Fatal(err)
		}
		_, samples, err := run.Read(f.Dir)
		if err != nil || len(samples) != 1 || (samples[0].Measured() != nil) != c.timed {
			t.Errorf("%s: %+v, %v", name, samples, err)
		}
	}
}

// A scan's samples and models must be of a configuration that its description has.
func TestScanConfigurations(t *testing.T) {
	description := func() run.Run {
		return run.Run{
			Workload: run.ScanWorkload, Archives: []run.Archive{{Engine: "x"}},
			Scan: &run.Scan{Configs: []run.ScanConfig{{Paths: 1, Partitions: 2, Workers: 3}, {Paths: 2, Partitions: 4, Workers: 6}}},
		}
	}
	r := description()
	for i := range r.Scan.Configs {
		if got := r.ConfigIndex(r.ScanCell(i, "q1")); got != i {
			t.Errorf("configuration %d: %d", i, got)
		}
	}
	first, last := r.ScanCell(0, "q1"), r.ScanCell(1, "q1")
	unknown := run.NewCell(run.ScanWorkload, "x", "paths", 9, "query", "q1")
	if got := r.ConfigIndex(unknown); got != -1 {
		t.Errorf("an unknown configuration: %d", got)
	}
	model := func(config int) []run.ScanModel { return []run.ScanModel{{Fits: []run.ScanFit{{Config: config}}}} }
	for name, c := range map[string]struct {
		change func(r *run.Run)
		cell   run.Cell
		want   string
	}{
		"the first":         {func(r *run.Run) { r.Scan.Models = model(0) }, first, ""},
		"the last":          {func(r *run.Run) { r.Scan.Models = model(1) }, last, ""},
		"an unknown sample": {func(*run.Run) {}, unknown, "has a sample of a configuration"},
		"a model too high":  {func(r *run.Run) { r.Scan.Models = model(2) }, first, "has a model of a configuration"},
		"a model too low":   {func(r *run.Run) { r.Scan.Models = model(-1) }, first, "has a model of a configuration"},
		"no description":    {func(r *run.Run) { r.Scan = nil }, first, "without a description"},
		"two archives":      {func(r *run.Run) { r.Archives = append(r.Archives, run.Archive{}) }, first, "without a description"},
		"no archive":        {func(r *run.Run) { r.Archives = nil }, first, "without a description"},
	} {
		r := description()
		c.change(&r)
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), r)
		if err != nil {
			t.Fatal(err)
		}
		s := run.Sample{Cell: c.cell, Phase: run.Warm}.Judge(&run.Measured{Total: 5}, proof(t, 1), nil)
		if err := errors.Join(f.Add(s), f.Close()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := run.Read(f.Dir); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMixCells(t *testing.T) {
	for _, c := range []struct {
		cell run.Cell
		want string
	}{
		{run.MixCell("x", "rows", "A", 4, 0, ""), "rows A 4  "},
		{run.MixCell("x", "rows", "A", 4, 1, ""), "rows A 4 1 "},
		{run.MixCell("x", "rows", "A", 4, 0.5, "2/3"), "rows A 4 0.5 2/3"},
	} {
		var got []string
		for _, axis := range []string{"layout", "mix", "threads", "target_ops_s", "shard"} {
			got = append(got, c.cell.Value(axis))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if names, _ := run.MixCell("x", "rows", "A", 4, 0, "").Axes(); len(names) != 3 {
		t.Errorf("a closed loop has the axes %q", names)
	}
}

func TestRateOfPosting(t *testing.T) {
	for total, want := range map[time.Duration]float64{0: 0, -1: 0, 1: 5e9, 2 * time.Second: 2.5} {
		if got := (&run.Posting{Values: 5, Post: run.PostTimes{Total: total}}).Rate(); got != want {
			t.Errorf("%s: %g", total, got)
		}
	}
}

// Only the subfolders x1, x2 and so on that contain a run are sizes.
func TestSizeFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"x1", "x10", "x0", "x-1", "xa", "y2", "x3/x4"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, run.DescriptionFile), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "x7"), 0o700); err != nil {
		t.Fatal(err)
	}
	got := run.SizeFolders(dir)
	if len(got) != 2 || got[1] != filepath.Join(dir, "x1") || got[10] != filepath.Join(dir, "x10") {
		t.Errorf("%v", got)
	}
}

func TestFolderNames(t *testing.T) {
	at := time.Date(2026, 11, 30, 23, 4, 5, 0, time.FixedZone("EST", -5*3600))
	if got := run.FolderName(at, "met"); got != "20261201-040405-met" {
		t.Error(got)
	}
}

// TestHistogramsOfNames: latency.hlog has the times of operations whatever their names are; scan own names them after queries.
func TestHistogramsOfNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{ID: "r", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	h := measure.NewHistogram()
	h.Record(time.Millisecond)
	times, err := h.Pack()
	if err != nil {
		t.Fatal(err)
	}
	m := &run.Measured{Total: time.Second, Mix: &run.Mix{}}
	for _, name := range []string{"READ-MODIFY-WRITE", "top pages, by day", ".."} {
		m.Groups = append(m.Groups, run.Group{Operation: name, Outcome: "OK", Count: 1, ServiceTimes: times, ResponseTimes: times})
	}
	if err := f.Add(run.Sample{Cell: run.MetCell("x", "d", "q", "f"), Phase: run.Warm}.Judge(m, proof(t, 2), nil)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "latency.hlog"))
	for _, want := range []string{"flavour=f/READ-MODIFY-WRITE/OK/service,", "/top+pages%2C+by+day/OK/response,", "/../OK/service,"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is missing: %v\n%s", want, err, text)
		}
	}
}

// The table of samples has a column for each measured number. The name of a list element is part of the column's name.
func TestSamplesAsCSV(t *testing.T) {
	m := &run.Measured{
		Total: 1500, Bytes: 7,
		Usage: &run.Usage{
			AvailableMemory: 123456789,
			Server:          &run.ServerLoad{Local: true, Used: measure.ProcessLoad{Processes: 2, CPU: 9, PeakRSS: 4096}},
		},
		Mix: &run.Mix{Throughput: 0.1, Interval: time.Second, Groups: []run.Group{{Operation: "READ", Outcome: "OK", Count: 11}, {Operation: "READ", Outcome: "ERROR", Count: 12}}},
	}
	samples := []run.Sample{
		run.Sample{Cell: run.MetCell("x", "d", "q", "f"), Phase: run.Warm, Rep: 3}.Judge(m, proof(t, 2), nil),
		run.Sample{Cell: run.MetCell("y", "d", "q", "f"), Phase: run.Warm}.Judge(m, answer.Proof{}, errors.New("no answer")),
	}
	var b bytes.Buffer
	if err := run.WriteCSV(&b, samples); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 3 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	value := func(line int, column string) string {
		i := slices.Index(lines[0], column)
		if i < 0 {
			t.Errorf("no column %s in %q", column, lines[0])
			return ""
		}
		return lines[line][i]
	}
	for column, want := range map[string]string{
		"workload": "met", "engine": "x", "phase": "warm", "rep": "3", "rows": "2", "total_ns": "1500", "memory_available_bytes": "123456789", "server_used_peak_rss_bytes": "4096",
		"throughput_ops_s": "0.1", "groups_READ_OK_count": "11", "groups_READ_ERROR_count": "12", "problem": "",
		"verdict": "equal", "proof": "every value", "digest": answer.FormatDigest(proof(t, 2).Digest()), "case": "q", "bytes": "7",
	} {
		if got := value(1, column); got != want {
			t.Errorf("%s is %q, want %q", column, got, want)
		}
	}
	for _, column := range []string{"interval_ns", "unstarted", "first_row_ns", "place"} { // without a table, zero, or a text
		if slices.Contains(lines[0], column) {
			t.Errorf("there is a column %s", column)
		}
	}
	if value(2, "problem") != "no answer" || value(2, "total_ns") != "" || value(2, "engine") != "y" {
		t.Errorf("without a proof: %q", lines[2])
	}
}
