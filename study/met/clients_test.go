package met_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"
)

// TestClients measures one client and three concurrent clients. An engine that loses rows after some queries is detected,
// and has no rate.
func TestClients(t *testing.T) {
	files := day(t)
	tired := pebble.Driver()
	tired.Scheme = "tired"
	open := tired.Open
	tired.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(tiring{archive.DatabaseOf(e), 2 * 2 * 2})) // cases, flavours, proof and repetition
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
		Clients: []int{1, 3}, Duration: 600 * time.Millisecond, Rounds: 2,
		ClientsFolder: func() (*run.Folder, error) {
			return run.Create(filepath.Join(dir, "clients"), run.Run{ID: "clients", Workload: run.MixWorkload, Started: time.Now()})
		},
	})
	if err != nil || out.Err() != nil {
		t.Fatal(err, out)
	}
	r, points, err := run.Read(filepath.Join(dir, "clients"))
	if err != nil || r.Finished.IsZero() || r.Data.Records == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	seen := map[string]int{}
	for _, p := range points {
		seen[p.Cell.Engine]++
		switch m := p.Measured(); p.Cell.Engine {
		case "pebble":
			if m == nil || p.Verdict != run.Equal || p.Proof != answer.EveryValue || m.Throughput <= 0 || p.Answers.Values == 0 || m.Response.P95 <= 0 {
				t.Errorf("%+v", p)
				continue
			}
			if h, err := m.Groups[0].ServiceTimes.Histogram(); err != nil || h.Count() != m.Operations {
				t.Errorf("%+v, %v", h, err)
			}
		case "tired":
			if p.Verdict != run.Wrong || m != nil || p.Problem == "" {
				t.Errorf("rows are lost, and the point is %+v", p)
			}
		}
	}
	if want := 2 * 2 * 2; seen["pebble"] != want || seen["tired"] != want || seen["dry"] != 0 { // numbers, repetitions, flavours
		t.Errorf("points by engine: %v", seen)
	}
}

// TestARepetitionThatIsWrong: a proven cell that later loses a row counts as one wrong cell, and has no time in any file
// of its folder.
func TestARepetitionThatIsWrong(t *testing.T) {
	files := day(t)
	d := pebble.Driver()
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(tiring{archive.DatabaseOf(e), 3*2 + 3*2 + 1})) // cases, flavours: the proofs, the first repetitions and one more
		}
		return e, err
	}
	reg := engine.Registry{d}
	out, r, samples := runStudy(t, files, reg, []met.Target{target(&reg[0], t.TempDir(), design.KeyValue)})
	if unreported := slices.DeleteFunc(r.Warnings, func(w string) bool { return !strings.Contains(w, "reported no plan") }); len(unreported) != 2 { // flavours
		t.Errorf("of the plans that were not available %q is reported", unreported)
	}
	if out.Wrong != 5 || out.Equal != 1 || fault.Code(out.Err()) != fault.Differs {
		t.Errorf("%+v, %v; want one cell right of six", out, out.Err())
	}
	wrong := map[run.Cell]bool{}
	for _, s := range samples {
		wrong[s.Cell] = wrong[s.Cell] || s.Verdict == run.Wrong
	}
	timed := 0
	for _, s := range samples {
		if s.Measured() != nil {
			timed++
			if wrong[s.Cell] {
				t.Errorf("a cell with a wrong repetition has a time: %+v", s)
			}
		}
	}
	if timed != 2 {
		t.Errorf("%d times, want the two of the right cell", timed)
	}
}

// tiring opens archives that return correct results for a number of queries.
type tiring struct {
	archive.Database
	rights int64
}

func (a tiring) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	archive, err := a.Database.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return &tiredArchive{Archive: archive, rights: a.rights, faulty: enginetest.Faulty(archive, enginetest.LostRow)}, nil
}

type tiredArchive struct {
	archive.Archive
	faulty archive.Archive
	rights int64
	asked  atomic.Int64
}

func (a *tiredArchive) Explain(context.Context, *archive.Query) (archive.Plan, error) {
	return archive.Plan{}, errors.New("syntax error")
}

func (a *tiredArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	if a.asked.Add(1) > a.rights {
		return a.faulty.Ask(ctx, q, into)
	}
	return a.Archive.Ask(ctx, q, into)
}
