package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
)

// TestScanGoesOn: the same command resumes a killed scan with the missing measurements. Another
// command, and the resumption of a finished scan, are refused.
func TestScanGoesOn(t *testing.T) {
	dir := t.TempDir()
	data, out := starOf(t), filepath.Join(dir, "run")
	args := []string{
		"scan", "experiment2", "--engine", "duckdb:" + filepath.Join(dir, "star.db"), "--data", data, "--paths", filepath.Join(dir, "a") + "," + filepath.Join(dir, "b") + "," + filepath.Join(dir, "c"),
		"--partitions", "1", "--reps", "2", "--rounds", "2", "--query", "scan,q3", "--out", out,
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &stopAt{text: "round 2", times: 2, stop: stop} // in the second configuration of the second round
	if status := execute(ctx, &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr, engines: all.Registry(), args: args}); status != fault.Interrupted {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	if want := ": barograph report " + out; !strings.Contains(stderr.String(), want) {
		t.Errorf("%q is not in %s", want, stderr)
	}
	_, before, err := run.Read(out)
	if err != nil || len(before) < 4*4 {
		t.Fatalf("%d samples, %v", len(before), err)
	}
	torn(t, filepath.Join(out, "events.jsonl"))
	if status, _, output := barograph(t, append(args, "--seed", "2")...); status != fault.Failed || !strings.Contains(output, "of another command: scan experiment2") {
		t.Errorf("another command: status %d, %s", status, output)
	}
	status, _, output := barograph(t, args...)
	if status != 0 || !strings.Contains(output, "resuming "+out) {
		t.Fatalf("status %d, %s", status, output)
	}
	r, samples, err := run.Read(out)
	if err != nil || r.Finished.IsZero() || len(samples) != 3*2*2*2 {
		t.Errorf("%d samples, %v", len(samples), err)
	}
	type rep struct {
		cell run.Cell
		n    int
	}
	seen := map[rep]run.Sample{}
	for _, s := range samples {
		if s.Measured() == nil || seen[rep{s.Cell, s.Rep}].Rep > 0 {
			t.Errorf("%+v", s)
		}
		seen[rep{s.Cell, s.Rep}] = s
	}
	for _, s := range before[:4*4] { // of finished rounds
		if now := seen[rep{s.Cell, s.Rep}]; now.Measured() == nil || now.Measured().Total != s.Measured().Total {
			t.Errorf("%s was measured again", s.Cell)
		}
	}
	for _, c := range r.Scan.Configs {
		if c.Rounds != 2 || len(c.Plans) != 2 {
			t.Errorf("%+v", c)
		}
	}
	if status, _, output := barograph(t, args...); status != fault.Failed || !strings.Contains(output, "already contains a run") {
		t.Errorf("a complete run: status %d, %s", status, output)
	}
}

// mortal are tables of an engine that is unreachable after the given number of calls of Open.
type mortal struct {
	tables.Scans
	left *int
}

func (m mortal) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	if *m.left--; *m.left < 0 {
		return nil, engine.ErrUnreachable
	}
	return m.Scans.Open(ctx, p)
}

// TestScanServerDies: if a server dies, the run is unfinished, and the same command resumes it.
func TestScanServerDies(t *testing.T) {
	dir, left := t.TempDir(), 1
	engines := slices.Clone(all.Registry())
	d, _ := engines.Find("duckdb")
	intact := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := intact(ctx, u, o)
		if err == nil {
			d := tables.DatabasesOf(e)
			d.Star = mortal{d.Star, &left}
		}
		return e, err
	}
	out := filepath.Join(dir, "run")
	scan := func() (int, string) {
		var output strings.Builder
		args := []string{"scan", "experiment1", "--engine", "duckdb:" + filepath.Join(dir, "star.db"), "--data", starOf(t), "--paths", filepath.Join(dir, "a"), "--partitions", "1,2", "--reps", "1", "--query", "scan", "--out", out}
		return execute(t.Context(), &env{stdin: strings.NewReader(""), stdout: &output, stderr: &output, engines: engines, args: args}), output.String()
	}
	if status, output := scan(); status != fault.Unreachable || !strings.Contains(output, "INTERRUPTED") || !strings.Contains(output, "resume with the same command") {
		t.Fatalf("status %d\n%s", status, output)
	}
	left = 9
	if status, output := scan(); status != 0 || !strings.Contains(output, "resuming "+out+": 1 of 1 results are kept") {
		t.Errorf("status %d\n%s", status, output)
	}
}

// torn cuts the last line of a journal, as a kill does.
func torn(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "{\"seq\":"...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestMetResumes: the same command resumes an interrupted study in the same folder, with the time of its load. Another
// command is refused.
func TestMetResumes(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	args := []string{"met", dayOfData(t), "--engine", "sqlite", "--design", "normalized", "--reps", "3"}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &stopAt{text: "results equal the reference", times: 1, stop: stop}
	status := execute(ctx, &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr, engines: all.Registry(), args: append(args, "--out", out)})
	if status != fault.Interrupted || !strings.Contains(stderr.String(), "to resume: the same command with --out "+out) {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	before, _, err := run.Read(out)
	if err != nil || len(before.Archives) != 2 || before.Archives[1].Load == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	if status, _, output := barograph(t, append(args, "--out", out, "--seed", "2")...); status != fault.Failed || !strings.Contains(output, "of another command: met ") {
		t.Errorf("another command: status %d, %s", status, output)
	}
	status, _, output := barograph(t, append(args, "--out="+out)...)
	if status != 0 || !strings.Contains(output, "resuming "+out) {
		t.Fatalf("status %d, %s", status, output)
	}
	r, samples, err := run.Read(out)
	if err != nil || r.Finished.IsZero() || r.Reps != 3 || r.Archives[1].Load != before.Archives[1].Load || len(samples)%3 != 0 {
		t.Errorf("%d samples, %+v, %v", len(samples), r, err)
	}
}

// TestMetSubsetsResume interrupts met --subsets after the first number of copies was finished and the second was
// loaded. The same command keeps the load and every timing of both. In the end the run folder has the same measurements
// as that of an uninterrupted run.
func TestMetSubsetsResume(t *testing.T) {
	dir, data := t.TempDir(), dayOfData(t)
	command := func(out string) []string {
		return []string{"met", data, "--engine", "sqlite", "--engine", "pebble", "--case", "test_3", "--subsets", "1,2,3", "--reps", "2", "--out", filepath.Join(dir, out)}
	}
	interrupt := func(text string, times int) string {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		stderr := &stopAt{text: text, times: times, stop: stop}
		status := execute(ctx, &env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: stderr, engines: all.Registry(), args: command("resumed")})
		if status != fault.Interrupted || !strings.Contains(stderr.String(), "to resume: the same command with --out "+filepath.Join(dir, "resumed")) {
			t.Fatalf("status %d\n%s", status, stderr)
		}
		return stderr.String()
	}
	type measurement struct {
		cell, phase string
		rep         int
	}
	read := func(out, size string) (*run.Run, map[measurement]run.Sample) {
		t.Helper()
		r, samples, err := run.Read(filepath.Join(dir, out, size))
		if err != nil {
			t.Fatal(err)
		}
		found := map[measurement]run.Sample{}
		for _, s := range samples {
			found[measurement{s.Cell.String(), string(s.Phase), s.Rep}] = s
		}
		if len(found) != len(samples) {
			t.Errorf("%s %s: %d samples of %d measurements", out, size, len(samples), len(found))
		}
		return r, found
	}
	interrupt("results equal the reference", 2) // of two copies: nothing is timed yet
	first, timed := read("resumed", "x1")
	second, _ := read("resumed", "x2")
	if first.Finished.IsZero() || len(timed) == 0 || !second.Finished.IsZero() || second.Archives[1].Load == 0 {
		t.Fatalf("%d samples, %+v", len(timed), second)
	}
	if output := interrupt("results equal the reference", 1); !strings.Contains(output, "resuming "+filepath.Join(dir, "resumed", "x1")) { // of one copy, once more
		t.Error(output)
	}
	must(t, command("resumed")...)
	must(t, command("uninterrupted")...)
	for size, before := range map[string]*run.Run{"x1": first, "x2": second, "x3": nil} {
		r, samples := read("resumed", size)
		want, wanted := read("uninterrupted", size)
		if r.Finished.IsZero() || r.Data.Digest != want.Data.Digest || r.Data.Copies != want.Data.Copies || r.Data.Records != want.Data.Records || len(r.Archives) != len(want.Archives) {
			t.Errorf("%s: %+v\nwant %+v", size, r, want)
			continue
		}
		for m, s := range wanted {
			if now, found := samples[m]; !found || now.Proof != s.Proof {
				t.Errorf("%s: %+v is missing", size, m)
			}
		}
		if len(samples) != len(wanted) {
			t.Errorf("%s: %d samples, want %d", size, len(samples), len(wanted))
		}
		for i, a := range r.Archives {
			w := want.Archives[i]
			if a.Digest != w.Digest || a.Objects != w.Objects || !a.Complete || a.Load == 0 != (w.Load == 0) || a.Commits != w.Commits {
				t.Errorf("%s: %+v\nwant %+v", size, a, w)
			}
			if before != nil && a.Place != string(engine.Memory) && (a.Load != before.Archives[i].Load || a.Bytes != before.Archives[i].Bytes) {
				t.Errorf("%s: %s %s was loaded again: %+v, before %+v", size, a.Engine, a.Design, a, before.Archives[i])
			}
		}
	}
	_, samples := read("resumed", "x1")
	for m, s := range timed {
		if now := samples[m]; s.Measured() != nil && (now.Measured() == nil || now.Measured().Start != s.Measured().Start || now.Measured().Total != s.Measured().Total) {
			t.Errorf("%+v was measured again", m)
		}
	}
	numbers := regexp.MustCompile(`-?[0-9][0-9.,]*`)
	rows := func(out string) []string { // of the table of exponents, without numbers: their order is that of the times
		text := must(t, "report", filepath.Join(dir, out))
		_, text, _ = strings.Cut(text, "\nExponents\n")
		text, _, _ = strings.Cut(text, "Exponent: time")
		lines := strings.Split(numbers.ReplaceAllString(text, "#"), "\n")
		for i, line := range lines {
			lines[i] = strings.Join(strings.Fields(line), " ")
		}
		slices.Sort(lines)
		return lines
	}
	if got, want := rows("resumed"), rows("uninterrupted"); len(want) < 10 || !slices.Equal(got, want) {
		t.Errorf("the report of the resumed study:\n%s\nof the uninterrupted one:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
