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

	"barograph/answer"
	"barograph/run"
)

// TestNoTimeWithoutProof: a repetition that is not right takes the times of its
// whole cell, before it and after it, and of no other cell; nothing of them is
// left in any file.
func TestNoTimeWithoutProof(t *testing.T) {
	differs := &answer.Diff{Problem: "a row is missing"}
	const took = 123456789 * time.Nanosecond
	for name, c := range map[string]struct {
		phase      run.Phase
		err        error
		warm, cold bool // are left
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
		if err := f.Add(run.Sample{Total: took}, answer.Proof{}, nil); err == nil {
			t.Error("a time without a proof was taken")
		}
		sample := func(name string, phase run.Phase) run.Sample {
			return run.Sample{Cell: run.Cell{Case: name}, Phase: phase, First: took, Total: took, Server: took, Client: took, Derive: took}
		}
		right := func(name string) error {
			return errors.Join(f.Add(sample(name, run.Warm), proof(t, 1), nil), f.Add(sample(name, run.Cold), proof(t, 1), nil))
		}
		if err := errors.Join(right("bad"), right("good"), f.Add(sample("bad", c.phase), answer.Proof{}, c.err), right("bad"), f.Close()); err != nil {
			t.Fatal(err)
		}
		_, samples, err := run.Read(f.Dir)
		if err != nil || len(samples) != 7 {
			t.Fatalf("%s: %d samples, %v", name, len(samples), err)
		}
		left := 2 // of the good cell
		for i, s := range samples {
			want := s.Case == "good" || i != 4 && (s.Phase == run.Warm && c.warm || s.Phase == run.Cold && c.cold)
			if got := s.Total > 0 && s.First > 0; got != want || !want && (s.Server != 0 || s.Client != 0 || s.Derive != 0) {
				t.Errorf("%s: sample %d has times: %v, want %v", name, i, got, want)
			}
			if want && s.Case != "good" {
				left++
			}
		}
		text, err := os.ReadFile(filepath.Join(f.Dir, "results.csv"))
		if n := strings.Count(string(text), strconv.Itoa(int(took))); err != nil || n != 5*left {
			t.Errorf("%s: results.csv holds the time %d times, want %d; %v", name, n, 5*left, err)
		}
	}
}

// TestWhatDoesNotCompile: no time is made by hand.
func TestWhatDoesNotCompile(t *testing.T) {
	const file = "testdata/unproven/unproven.go"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command("go", "build", "-gcflags=-e", "./"+filepath.Dir(file)).CombinedOutput()
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
