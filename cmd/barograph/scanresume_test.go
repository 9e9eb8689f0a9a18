package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"path/filepath"
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
	if status, _, said := barograph(t, append(args, "--seed", "2")...); status != fault.Failed || !strings.Contains(said, "of another command: scan experiment2") {
		t.Errorf("another command: status %d, %s", status, said)
	}
	status, _, said := barograph(t, args...)
	if status != 0 || !strings.Contains(said, "resuming "+out) {
		t.Fatalf("status %d, %s", status, said)
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
	if status, _, said := barograph(t, args...); status != fault.Failed || !strings.Contains(said, "already contains a run") {
		t.Errorf("a whole run: status %d, %s", status, said)
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
	whole := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := whole(ctx, u, o)
		if err == nil {
			d := tables.DatabasesOf(e)
			d.Star = mortal{d.Star, &left}
		}
		return e, err
	}
	out := filepath.Join(dir, "run")
	scan := func() (int, string) {
		var said strings.Builder
		args := []string{"scan", "experiment1", "--engine", "duckdb:" + filepath.Join(dir, "star.db"), "--data", starOf(t), "--paths", filepath.Join(dir, "a"), "--partitions", "1,2", "--reps", "1", "--query", "scan", "--out", out}
		return execute(t.Context(), &env{stdin: strings.NewReader(""), stdout: &said, stderr: &said, engines: engines, args: args}), said.String()
	}
	if status, said := scan(); status != fault.Unreachable || !strings.Contains(said, "INTERRUPTED") || !strings.Contains(said, "resume with the same command") {
		t.Fatalf("status %d\n%s", status, said)
	}
	left = 9
	if status, said := scan(); status != 0 || !strings.Contains(said, "resuming "+out+": 1 of 1 results are kept") {
		t.Errorf("status %d\n%s", status, said)
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
	if status, _, said := barograph(t, append(args, "--out", out, "--seed", "2")...); status != fault.Failed || !strings.Contains(said, "of another command: met ") {
		t.Errorf("another command: status %d, %s", status, said)
	}
	status, _, said := barograph(t, append(args, "--out="+out)...)
	if status != 0 || !strings.Contains(said, "resuming "+out) {
		t.Fatalf("status %d, %s", status, said)
	}
	r, samples, err := run.Read(out)
	if err != nil || r.Finished.IsZero() || r.Reps != 3 || r.Archives[1].Load != before.Archives[1].Load || len(samples)%3 != 0 {
		t.Errorf("%d samples, %+v, %v", len(samples), r, err)
	}
}
