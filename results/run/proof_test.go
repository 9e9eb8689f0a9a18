package run_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// TestNoTimeWithoutProof: an incorrect repetition removes the times of its complete cell, earlier and later ones, and
// of no other cell, from every file. Rate events count as warm.
func TestNoTimeWithoutProof(t *testing.T) {
	differs := &answer.Diff{Problem: "a row is missing"}
	const took = 123456789 * time.Nanosecond
	for name, c := range map[string]struct {
		phase      run.Phase
		err        error
		warm, cold bool // which times remain
	}{
		"a wrong answer":      {run.Warm, differs, false, false},
		"a wrong cold answer": {run.Cold, differs, false, false},
		"no answer":           {run.Warm, errors.New("x"), false, false},
		"no cold answer":      {run.Cold, errors.New("x"), true, false},
	} {
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{})
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Add(run.Sample{Verdict: "", Rows: 1}); err == nil {
			t.Error("Add accepts a sample without a verdict")
		}
		m := run.Measured{FirstRow: took, Total: took, ServerTime: took, CPU: took, Derive: took}
		if s := (run.Sample{}).Judge(&m, answer.Proof{}, nil); s.Verdict != run.Failed || s.Measured() != nil {
			t.Errorf("without a proof: %+v", s)
		}
		add := func(name string, phase run.Phase, p answer.Proof, err error) error {
			return f.Add(run.Sample{Cell: run.MetCell("x", "d", name, "f"), Phase: phase}.Judge(&m, p, err))
		}
		right := func(name string) error {
			return errors.Join(add(name, run.Warm, proof(t, 1), nil), add(name, run.Cold, proof(t, 1), nil))
		}
		rate := func() error {
			return f.AddEvent(run.Event{Kind: run.RateEvent, Cell: run.MetCell("x", "d", "bad", "f"), Done: int64(took)})
		}
		if err := errors.Join(rate(), right("bad"), right("good"), add("bad", c.phase, answer.Proof{}, c.err), rate(), right("bad"), f.Close()); err != nil {
			t.Fatal(err)
		}
		_, samples, err := run.Read(f.Dir)
		if err != nil || len(samples) != 7 {
			t.Fatalf("%s: %d samples, %v", name, len(samples), err)
		}
		left, rates := 2, map[bool]int{true: 2}[c.warm] // left: samples that keep their times, first the two of the good cell
		for i, s := range samples {
			want := s.Cell.Value("case") == "good" || i != 4 && (s.Phase == run.Warm && c.warm || s.Phase == run.Cold && c.cold)
			if got := s.Measured() != nil; got != want {
				t.Errorf("%s: sample %d has times: %v, want %v", name, i, got, want)
			}
			if want && s.Cell.Value("case") != "good" {
				left++
			}
		}
		for file, want := range map[string]int{"samples.csv": 5 * left, "events.jsonl": 5*left + rates} {
			text, err := os.ReadFile(filepath.Join(f.Dir, file))
			if n := strings.Count(string(text), strconv.Itoa(int(took))); err != nil || n != want {
				t.Errorf("%s: %s contains the time %d times, want %d; %v", name, file, n, want, err)
			}
		}
	}
}

// TestUnchangedJournal: Add replaces the journal only if it removes something, not for each incorrect repetition of a cell or
// each repetition on an incomplete archive.
func TestUnchangedJournal(t *testing.T) {
	cell := run.MetCell("x", "d", "bad", "f")
	for name, c := range map[string]struct {
		archives []run.Archive
		err      error
	}{
		"no answer":             {nil, errors.New("x")},
		"an incomplete archive": {[]run.Archive{{Engine: "x", Design: "d"}}, nil},
	} {
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{Archives: c.archives})
		if err != nil {
			t.Fatal(err)
		}
		add := func() (isReplaced bool) {
			journal := filepath.Join(f.Dir, "events.jsonl")
			before, e1 := os.Stat(journal)
			e2 := f.Add(run.Sample{Cell: cell, Phase: run.Warm}.Judge(&run.Measured{Total: 5}, proof(t, 1), c.err))
			after, e3 := os.Stat(journal)
			if err := errors.Join(e1, e2, e3); err != nil {
				t.Fatal(err)
			}
			return !os.SameFile(before, after)
		}
		if first, second := add(), add(); first || second {
			t.Errorf("%s: the journal was replaced without a reason", name)
		}
		if err := f.AddEvent(run.Event{Kind: run.RateEvent, Cell: cell}); err != nil || !add() || add() {
			t.Errorf("%s: a rate is not removed once: %v", name, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWhatDoesNotCompile: other packages cannot set a time.
func TestWhatDoesNotCompile(t *testing.T) {
	const file = "testdata/unproven/unproven.go"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "./"+filepath.Dir(file)).CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	for i, line := range strings.Split(string(text), "\n") {
		marked, refused := strings.Contains(line, "// refused"), strings.Contains(string(said), file+":"+strconv.Itoa(i+1)+":")
		if marked != refused {
			t.Errorf("line %d, %s: refused is %v\n%s", i+1, strings.TrimSpace(line), refused, said)
		}
	}
}
