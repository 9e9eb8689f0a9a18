package run_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// sample returns a proven repetition of a case.
func sample(t *testing.T, name string) run.Sample {
	t.Helper()
	return run.Sample{Cell: run.MetCell("x", "d", name, "f"), Phase: run.Warm}.Judge(&run.Measured{Total: 5}, proof(t, 1), nil)
}

// Only the interrupted run of the same command is resumed, or a finished part of a study. A folder without a run becomes
// a new run. Every other folder is refused.
func TestWhatIsResumed(t *testing.T) {
	command := run.Run{Workload: "met", Args: []string{"met", "data"}}
	finished, other, scan := command, command, command
	finished.Finished, other.Args, scan.Workload = time.Unix(1, 0), []string{"met", "other data"}, "own"
	for name, c := range map[string]struct {
		before    *run.Run // nil = no run in the folder
		isRunning bool
		isPart    bool
		want      string // of the error
		kept      bool
	}{
		"no run":                  {nil, false, false, "", false},
		"interrupted":             {&command, false, false, "", true},
		"an interrupted part":     {&command, false, true, "", true},
		"finished":                {&finished, false, false, "already contains a run", false},
		"a finished part":         {&finished, false, true, "", true},
		"in progress":             {&command, true, false, "contains a run in progress", false},
		"another command":         {&other, false, true, "contains an interrupted run of another command: met other data", false},
		"another workload":        {&scan, false, true, "already contains a run", false},
		"a running other command": {&other, true, true, "contains a run in progress", false},
	} {
		dir := filepath.Join(t.TempDir(), "r")
		if c.before != nil {
			f, err := run.Create(dir, *c.before)
			if err = errors.Join(err, f.Add(sample(t, "q"))); err != nil {
				t.Fatal(err)
			}
			if !c.isRunning {
				err = f.Close()
			} else {
				defer f.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		f, err := run.Resume(dir, command, c.isPart, func(*run.Sample) bool { return true }, func(string) {})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil {
			continue
		}
		if kept := len(f.Samples()) == 1; kept != c.kept || !f.Run.Finished.IsZero() || !slices.Equal(f.Run.Args, command.Args) {
			t.Errorf("%s: %d samples of %+v", name, len(f.Samples()), f.Run)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A resumed run keeps the chosen samples and all other events except heartbeats, continues their numbers, and reports
// what it keeps.
func TestWhatAResumedRunKeeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	f, err := run.Create(dir, run.Run{ID: "r", Workload: "met"})
	if err = errors.Join(err, f.Add(sample(t, "a")), f.AddEvent(run.Event{Kind: run.HeartbeatEvent}), f.Add(sample(t, "b")),
		f.AddEvent(run.Event{Kind: run.StepEvent, Text: "a step"}), f.Add(sample(t, "c")), f.Close()); err != nil {
		t.Fatal(err)
	}
	var lines []string
	keep := func(s *run.Sample) bool { return s.Cell.Value("case") != "b" }
	f, err = run.Resume(dir, run.Run{Workload: "met"}, false, keep, func(line string) { lines = append(lines, line) })
	if err = errors.Join(err, f.Add(sample(t, "d"))); err != nil {
		t.Fatal(err)
	}
	f.Run.Finished = time.Unix(2, 0)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"resuming " + fault.Name(dir) + ": 2 of 3 results are kept"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	events, err := run.ReadEvents(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		text := e.Text
		if e.Sample != nil {
			text = e.Sample.Cell.Value("case")
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Sequence, e.Kind, text)))
	}
	want := []string{"1 begin r", "2 sample a", "5 step a step", "6 sample c", "7 stop", "8 begin r", "9 sample d", "10 end"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A run in progress writes an event at least every 3 seconds, and no heartbeat while other events occur.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := time.Now()
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + 500*time.Millisecond)
		if err := f.AddEvent(run.Event{Kind: run.StepEvent}); err != nil {
			t.Error(err)
		}
		time.Sleep(4 * time.Second)
		events, err := run.ReadEvents(f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range events {
			got = append(got, string(e.Kind)+" "+e.Time.Sub(started).String())
			if e.PID != os.Getpid() && e.Kind != run.StepEvent {
				t.Errorf("the process of %s is %d", e.Kind, e.PID)
			}
		}
		if want := []string{"begin 0s", "beat 3s", "beat 6s", "beat 9s", "step 10.5s", "beat 13s"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A run without an event for 9 seconds was interrupted.
func TestStateOfEvents(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		last  run.EventKind
		after time.Duration
		want  run.State
	}{
		{run.StartEvent, 0, run.Running},
		{run.SampleEvent, 9*time.Second - 1, run.Running},
		{run.SampleEvent, 9 * time.Second, run.Interrupted},
		{run.HeartbeatEvent, time.Hour, run.Interrupted},
		{run.StopEvent, 0, run.Interrupted},
		{run.FinishEvent, 0, run.Done},
		{run.FinishEvent, time.Hour, run.Done},
	} {
		if got := run.StateOf([]run.Event{{Kind: run.StopEvent, Time: at}, {Kind: c.last, Time: at}}, at.Add(c.after)); got != c.want {
			t.Errorf("%s after %s: %s, want %s", c.last, c.after, got, c.want)
		}
	}
	if got := run.StateOf(nil, at); got != run.Interrupted {
		t.Errorf("without events: %s", got)
	}
}

// A wrong answer decides the exit status, then a missing one.
func TestExitErrors(t *testing.T) {
	wrong, failed := errors.New("wrong"), errors.New("failed")
	differs := run.Sample{}.Judge(nil, answer.Proof{}, &answer.Diff{Problem: "one row more"})
	silent := run.Sample{}.Judge(nil, answer.Proof{}, errors.New("no answer"))
	for name, c := range map[string]struct {
		samples []run.Sample
		code    int
		want    error
	}{
		"none":    {nil, 0, nil},
		"correct": {[]run.Sample{sample(t, "a")}, 0, nil},
		"failed":  {[]run.Sample{sample(t, "a"), silent}, fault.Incomplete, failed},
		"wrong":   {[]run.Sample{differs, sample(t, "a")}, fault.Differs, wrong},
		"both":    {[]run.Sample{silent, differs}, fault.Differs, wrong},
	} {
		f, err := run.Create("", run.Run{})
		for _, s := range c.samples {
			err = errors.Join(err, f.Add(s))
		}
		if err != nil {
			t.Fatal(err)
		}
		err = f.ExitError(wrong, failed)
		if status, ok := errors.AsType[*fault.Status](err); ok != (c.want != nil) || ok && (status.Code != c.code || !errors.Is(err, c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Discard removes a folder that Create made, with all that is in it. A folder cannot be made in a file.
func TestDiscardRemovesItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	f, err := run.Create(dir, run.Run{})
	if err = errors.Join(err, f.StoreCases([]byte("cases: []")), f.Discard()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder exists: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Create(filepath.Join(file, "r"), run.Run{}); err == nil {
		t.Error("a folder was created in a file")
	}
}

// Only a run that was finished ends with the event of its end. A warning is written once.
func TestLastEvent(t *testing.T) {
	for finished, want := range map[time.Time][]run.EventKind{
		{}:              {run.StartEvent, run.WarningEvent, run.WarningEvent, run.StopEvent},
		time.Unix(1, 0): {run.StartEvent, run.WarningEvent, run.WarningEvent, run.FinishEvent},
	} {
		f, err := run.Create(filepath.Join(t.TempDir(), "r"), run.Run{Finished: finished, Warnings: []string{"known before"}})
		if err != nil {
			t.Fatal(err)
		}
		f.Warn("slow")
		f.Warn("slow")
		f.Warn("known before")
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		events, err := run.ReadEvents(f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []run.EventKind
		for _, e := range events {
			got = append(got, e.Kind)
		}
		if !slices.Equal(got, want) || !slices.Equal(f.Run.Warnings, []string{"known before", "slow"}) {
			t.Errorf("%q, warnings %q", got, f.Run.Warnings)
		}
		if r, err := run.ReadRun(f.Dir); err != nil || !slices.Equal(r.Warnings, f.Run.Warnings) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
