package met_test

import (
	"context"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/dry"
	"barograph/engine/pebble"
	"barograph/enginetest"
	"barograph/run"
	"barograph/workload/met"
)

// TestAskers asks by one and by three at once; an engine that begins to lose
// rows when it is asked often is found, and has no rate.
func TestAskers(t *testing.T) {
	files := day(t)
	tired := pebble.Driver()
	tired.Scheme = "tired"
	open := tired.Open
	tired.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Archives = tiring{e.Archives}
		}
		return e, err
	}
	reg := engine.Registry{dry.Driver(), pebble.Driver(), tired}
	dir := filepath.Join(t.TempDir(), "run")
	folder, err := run.Create(dir, run.Run{ID: "test", Workload: "met", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	out, err := met.Run(t.Context(), folder, met.Options{
		Registry: reg, Targets: []met.Target{target(&reg[0], at, design.Memory), target(&reg[1], at, design.KeyValue), target(&reg[2], at, design.KeyValue)},
		Cases: cases(t, "test_3", "test_6"), Files: files, Subset: "s", Reps: 1, Seed: 1,
		Askers: []int{1, 3}, AskFor: 300 * time.Millisecond, AskReps: 2,
		Points: func() (*run.Points, error) {
			return run.CreatePoints(filepath.Join(dir, "askers"), run.Run{ID: "askers", Workload: run.Mixed, Started: time.Now()})
		},
	})
	if err != nil || out.Err() != nil {
		t.Fatal(err, out)
	}
	r, points, err := run.ReadPoints(filepath.Join(dir, "askers"), true)
	if err != nil || r.Ended.IsZero() || r.Data.Records == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	seen := map[string]int{}
	for _, p := range points {
		seen[p.Engine]++
		switch p.Engine {
		case "pebble":
			if p.Verdict != run.Equal || p.Throughput <= 0 || p.Checked == 0 || p.Response.P95 <= 0 || p.Groups[0].ServiceTimes.Count() != p.Operations {
				t.Errorf("%+v", p)
			}
		case "tired":
			if p.Verdict != run.Wrong || p.Throughput != 0 || p.Problem == "" {
				t.Errorf("rows are lost, and the point is %+v", p)
			}
		}
	}
	if want := 2 * 2 * 2; seen["pebble"] != want || seen["tired"] != want || seen["dry"] != 0 { // numbers, repetitions, flavours
		t.Errorf("points by engine: %v", seen)
	}
}

// tiring archives answer rightly for as long as a study proves and times.
type tiring struct{ engine.Archives }

func (a tiring) Open(ctx context.Context, d design.Name) (engine.Archive, error) {
	archive, err := a.Archives.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return &tiredArchive{Archive: archive, faulty: enginetest.Faulty(archive, enginetest.LostRow)}, nil
}

type tiredArchive struct {
	engine.Archive
	faulty engine.Archive
	asked  atomic.Int64
}

func (a *tiredArchive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	if a.asked.Add(1) > 2*2*2 { // cases, flavours, proof and repetition
		return a.faulty.Ask(ctx, q, into)
	}
	return a.Archive.Ask(ctx, q, into)
}
