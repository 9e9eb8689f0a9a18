package met_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"
)

// TestResume interrupts a study while it loads, times, reads, measures clients and measures cold starts. The same command
// resumes it: it keeps the load times and all finished measurements, and each is there once. Other data are refused and
// change nothing.
func TestResume(t *testing.T) {
	files, at := day(t), t.TempDir()
	reg := engine.Registry{dry.Driver(), pebble.Driver(), sqlite.Driver()}
	dir := filepath.Join(at, "run")
	described := run.Run{ID: "test", Workload: "met", Started: time.Now(), Args: []string{"met", "files"}}
	kept := func(s *run.Sample) bool { return s.Rep >= 0 && s.Measured() != nil }
	study := func(files []string, step string, done int64) error {
		t.Helper()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		again := described
		again.Args = []string{"met", "--out", dir, "files"}
		folder, err := run.Resume(dir, again, false, kept, func(string) {})
		if err != nil {
			return err
		}
		_, err = met.Run(ctx, folder, met.Options{
			Registry: reg, Targets: []met.Target{target(&reg[0], at, design.Memory), target(&reg[1], at, design.KeyValue), target(&reg[2], at, design.Normalized)},
			Files: files, Subset: "s", Cases: cases(t, "test_3", "test_5"), Reps: 4, Seed: 1, Clients: []int{1, 2}, Duration: 200 * time.Millisecond, ColdReps: 2,
			Cold: func(ctx context.Context, to met.Target, c run.Cell) (met.ColdResult, string, error) {
				r, err := met.AskOnce(ctx, reg, to.URL, to.Design, cases(t, c.Value("case"))[0].InSubset(to.Subset), flavour.Name(c.Value("flavour")))
				return r, "in this process", err
			},
			ClientsFolder: func() (*run.Folder, error) {
				r := folder.Run
				r.Workload = run.MixWorkload
				return run.Resume(filepath.Join(dir, "clients"), r, true, kept, func(string) {})
			},
			Progress: func(p met.Progress) {
				if p.Step == step && (p.Done == done || done < 0) {
					stop()
				}
			},
		})
		return errors.Join(err, folder.Close())
	}
	read := func(dir string) (*run.Run, map[string]run.Sample) {
		t.Helper()
		r, samples, err := run.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]run.Sample{}
		for _, s := range samples {
			key := s.Cell.String() + string(s.Phase) + string(rune('0'+s.Rep))
			if _, twice := out[key]; twice {
				t.Errorf("%s is there twice", key)
			}
			out[key] = s
		}
		return r, out
	}
	if err := study(files, "loading sqlite normalized", -1); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	loaded, _ := read(dir)
	if len(loaded.Archives) != 2 || loaded.Archives[1].Load == 0 || loaded.Archives[1].Complete || loaded.Archives[1].Problem != "its records were not compared with the data" {
		t.Fatalf("after an interruption during the last load: %+v", loaded.Archives)
	}
	if err := study(files, "timing", 40); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	first, before := read(dir)
	if a := first.Archives[1]; a.Load != loaded.Archives[1].Load || !a.Complete || a.Problem != "" {
		t.Fatalf("the archive that was loaded before the interruption: %+v", a)
	}
	if len(before) == 0 || !first.Finished.IsZero() || len(first.Archives) != 3 || first.Archives[2].Load == 0 {
		t.Fatalf("%d samples, %+v", len(before), first.Archives)
	}
	if err := study(day(t)[:1], "", 0); err == nil || !strings.Contains(err.Error(), "an interrupted run with other data") {
		t.Errorf("other data: %v", err)
	}
	for _, x := range []struct {
		step string
		done int64
	}{{"reading", first.Data.Bytes}, {"many clients", 2}} {
		if err := study(files, x.step, x.done); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", x.step, err)
		}
	}
	_, clients := read(filepath.Join(dir, "clients"))
	if err := study(files, "cold starts", 3); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	_, before = read(dir)
	if err := study(files, "", 0); err != nil {
		t.Fatal(err)
	}
	last, after := read(dir)
	for key, s := range before {
		if now := after[key]; now.Measured() == nil || now.Measured().Total != s.Measured().Total || now.Measured().Start != s.Measured().Start {
			t.Errorf("%s was measured again", key)
		}
	}
	cells := 2 * (len(archive.Flavours(&reg[0], design.Memory)) + len(archive.Flavours(&reg[1], design.KeyValue)) + len(archive.Flavours(&reg[2], design.Normalized)))
	timed := map[run.Phase]int{}
	for _, s := range after {
		if s.Measured() != nil {
			timed[s.Phase]++
		}
	}
	embedded := cells - 2*len(archive.Flavours(&reg[0], design.Memory))
	if timed[run.Warm] != 4*cells || timed[run.Cold] != 2*embedded || last.Reps != 4 || len(last.Cases) != 2 || last.Finished.IsZero() || last.Data.Digest != first.Data.Digest {
		t.Errorf("%v times, want %d; %d repetitions, %d cases, finished %s", timed, 4*cells, last.Reps, len(last.Cases), last.Finished)
	}
	for i, a := range last.Archives {
		if len(last.Archives) != 3 || a.Place != string(engine.Memory) && a.Load != first.Archives[i].Load || a.Commits != first.Archives[i].Commits {
			t.Errorf("the load of %s took %s, and before the interruption %s", a.Engine, a.Load, first.Archives[i].Load)
		}
	}
	_, points := read(filepath.Join(dir, "clients"))
	for key, p := range clients {
		if p.Measured() == nil { // no result within the duration
			continue
		}
		if now := points[key]; now.Measured() == nil || now.Measured().Throughput != p.Measured().Throughput {
			t.Errorf("%s was measured again", key)
		}
	}
	if len(clients) == 0 || len(points) != embedded { // two numbers of clients instead of two cases
		t.Errorf("%d points, then %d; want %d", len(clients), len(points), embedded)
	}
	if err := study(files, "", 0); err == nil || !strings.Contains(err.Error(), "already contains a run") {
		t.Errorf("a finished run: %v", err)
	}
}

// changeNumber changes a number of a subset in a SQLite archive.
func changeNumber(t *testing.T, file, subset string) {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	done, err := db.ExecContext(t.Context(), `UPDATE "`+subset+`/line_data_sal1l2" SET fabar = fabar + 1 WHERE rowid = 1`)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); n != 1 {
		t.Fatal(n, err)
	}
}

// TestColdStartsThatFail: a cell whose cold start failed has no further ones, and the run keeps the description of how
// the successful ones were made.
func TestColdStartsThatFail(t *testing.T) {
	reg := engine.Registry{pebble.Driver()}
	folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{ID: "test", Workload: "met", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	calls := map[run.Cell]int{}
	out, err := met.Run(t.Context(), folder, met.Options{
		Registry: reg, Targets: []met.Target{target(&reg[0], t.TempDir(), design.KeyValue)}, Files: day(t), Subset: "s",
		Cases: cases(t, "test_3", "test_5"), Reps: 1, Seed: 1, ColdReps: 3,
		Cold: func(ctx context.Context, to met.Target, c run.Cell) (met.ColdResult, string, error) {
			if calls[c]++; len(calls) > 1 {
				return met.ColdResult{}, "", errors.New("permission denied")
			}
			q := cases(t, c.Value("case"))[0].InSubset(to.Subset)
			r, err := met.AskOnce(ctx, reg, to.URL, to.Design, q, flavour.Name(c.Value("flavour")))
			return r, "in this process", err
		},
	})
	if err = errors.Join(err, folder.Close()); err != nil || out.Failed == 0 || folder.Run.ColdMethod != "in this process" {
		t.Errorf("%v, %+v, cold starts %q", err, out, folder.Run.ColdMethod)
	}
	all := 0
	for _, n := range calls {
		all += n
	}
	if len(calls) < 3 || all != len(calls)+1 { // one failure of each cell, after one success of the first
		t.Errorf("%d cold starts of %d cells", all, len(calls))
	}
}

// TestInterruptedAtTheEndOfALoad: an interruption just after the last load ends the study as any other.
func TestInterruptedAtTheEndOfALoad(t *testing.T) {
	reg := engine.Registry{pebble.Driver()}
	source := target(&reg[0], t.TempDir(), design.KeyValue)
	source.Subset = "s"
	runStudy(t, day(t)[:1], reg, []met.Target{source})
	folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{ID: "test", Workload: "met", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	_, err = met.Run(ctx, folder, met.Options{
		Registry: reg, Targets: []met.Target{source}, FirstIsSource: true, Subset: "s", Cases: cases(t, "test_3"), Reps: 1,
		Progress: func(p met.Progress) {
			if strings.HasPrefix(p.Step, "checking ") && p.Finished {
				stop()
			}
		},
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
}

// TestOneIncompleteArchive: the error counts archives in the singular, too.
func TestOneIncompleteArchive(t *testing.T) {
	if err := (met.Outcome{IncompleteArchives: 1}).Err(); err == nil || err.Error() != "1 archive incomplete or different from the data, and not timed" {
		t.Error(err)
	}
}

// TestCompletedLoadHasNoTime: a study that completes an interrupted load reports no load time, because it loaded
// only the rest.
func TestCompletedLoadHasNoTime(t *testing.T) {
	files, at := day(t), t.TempDir()
	reg := engine.Registry{sqlite.Driver()}
	to := target(&reg[0], at, design.Normalized)
	db, err := reg.Open(t.Context(), to.URL, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(db).Open(t.Context(), to.Design)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Run(t.Context(), a, "s", files[:1], load.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	_, r, _ := runStudy(t, files, reg, []met.Target{to})
	if i := slices.IndexFunc(r.Archives, func(a run.Archive) bool { return a.Engine == "sqlite" }); len(files) < 2 || r.Archives[i].Load != 0 || !r.Archives[i].Complete {
		t.Errorf("%d files, %+v", len(files), r.Archives)
	}
}

// TestInterruptedLoadOfCopiesHasNoTime: reports divide a load time by the number of copies that a study adds. If an
// interrupted load stored some of them, the resumed study reports no time, instead of the time of the other copies. It
// compares a complete copy of the interrupted load with the data, too: in the third case its records were changed. In
// the fourth case, a copy of an earlier study was changed after that study.
func TestInterruptedLoadOfCopiesHasNoTime(t *testing.T) {
	for _, c := range []struct {
		earlier              int // copies before the interrupted study
		interrupted, changed bool
	}{{1, false, false}, {1, true, false}, {1, true, true}, {2, false, true}} {
		files, at := day(t), t.TempDir()
		reg := engine.Registry{sqlite.Driver()}
		dir := filepath.Join(at, "run")
		study := func(copies, earlier int, stopped bool) (*run.Run, error) {
			t.Helper()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			described := run.Run{ID: "test", Workload: "met", Started: time.Now(), Args: []string{"met", "files"}}
			folder, err := run.Resume(dir+string(rune('0'+copies)), described, true, func(*run.Sample) bool { return true }, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			_, err = met.Run(ctx, folder, met.Options{
				Registry: reg, Targets: []met.Target{target(&reg[0], at, design.Normalized)}, Files: files, Subset: "s",
				Cases: cases(t, "test_3"), Reps: 1, Seed: 1, Copies: copies, EarlierCopies: earlier,
				Progress: func(p met.Progress) {
					if stopped && strings.HasPrefix(p.Step, "loading") && 3*p.Done > 2*p.Of { // copy 3 of 3
						stop()
					}
				},
			})
			return &folder.Run, errors.Join(err, folder.Close())
		}
		if r, err := study(1, 0, false); err != nil || r.Archives[0].Load == 0 {
			t.Fatal(r, err)
		}
		if c.earlier == 2 {
			if r, err := study(2, 1, false); err != nil || !r.Archives[0].Complete {
				t.Fatal(r, err)
			}
		}
		if c.interrupted {
			if _, err := study(3, c.earlier, true); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		if c.changed {
			changeNumber(t, strings.TrimPrefix(target(&reg[0], at, design.Normalized).URL, "sqlite:"), met.CopyName("s", 1))
		}
		r, err := study(3, c.earlier, false)
		if err != nil || len(r.Archives) != 1 || r.Archives[0].Complete == c.changed || (r.Archives[0].Load == 0) != (c.interrupted || c.changed) {
			t.Errorf("%+v: %+v, %v", c, r.Archives, err)
		}
	}
}
