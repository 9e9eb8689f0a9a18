package faults_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/faults"
)

// scripted is a cluster whose calls do what a test says; a nil function does what an undisturbed cluster does.
type scripted struct {
	archive.Archive
	kill    func() error
	restart func(ctx context.Context) error
	commit  func(ctx context.Context) error // before each commit
	ask     func() error                    // in place of a query
	commits atomic.Int32
	files   atomic.Int32 // that the archive has acknowledged
}

func (c *scripted) Kill(int) error {
	if c.kill == nil {
		return nil
	}
	return c.kill()
}

func (c *scripted) Restart(ctx context.Context, _ int) error {
	if c.restart == nil {
		return nil
	}
	return c.restart(ctx)
}

func (c *scripted) Close() error                                               { return nil }
func (c *scripted) Open(context.Context, design.Name) (archive.Archive, error) { return c, nil }

func (c *scripted) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := c.Archive.Loader(ctx, subset)
	return &scriptedLoader{l, c}, err
}

func (c *scripted) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	if c.ask != nil {
		return c.ask()
	}
	return c.Archive.Ask(ctx, q, into)
}

type scriptedLoader struct {
	archive.Loader
	c *scripted
}

func (l *scriptedLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	if l.c.commit != nil {
		if err := l.c.commit(ctx); err != nil {
			return archive.CommitResult{}, err
		}
	}
	stored, err := l.Loader.Commit(ctx, c)
	l.c.commits.Add(1)
	l.c.files.Add(int32(len(c.Complete))) //nolint:gosec // few
	return stored, err
}

// study runs one kill of each kind on so many files.
func (c *scripted) study(ctx context.Context, t *testing.T, numFiles int, patience time.Duration) ([]run.Sample, error) {
	t.Helper()
	files, cases, a := dataInMemory(t, numFiles) //nolint:contextcheck // the data are made before the study
	c.Archive = a
	var samples []run.Sample
	_, err := faults.Run(ctx, faults.Options{
		Engine: "fake", Design: design.Memory, Flavours: []flavour.Name{flavour.Recall}, Nodes: 3, Cluster: c,
		Open: func(context.Context) (*engine.Engine, error) {
			return &engine.Engine{Abilities: []any{c}, Close: func() error { return nil }}, nil
		},
		Files: files, Subset: "a", Cases: cases, Kills: 1, Down: time.Millisecond, Settle: time.Millisecond,
		Patience: patience, Call: 20 * time.Second, Seed: 1,
		Progress: func(run.EventKind, string) {}, Add: func(s run.Sample) error { samples = append(samples, s); return nil },
	})
	return samples, err
}

// TestFewRecords: also a load of few records commits after the kill. An earlier version stored them in one commit, killed a
// node after it, and reported a kill during the load without an error.
func TestFewRecords(t *testing.T) {
	killed := make(chan struct{})
	var once sync.Once
	c, atKill, goesOn := &scripted{}, int32(0), false
	c.kill = func() error {
		once.Do(func() {
			atKill = c.commits.Load()
			close(killed)
			for until := time.Now().Add(2 * time.Second); !goesOn && time.Now().Before(until); time.Sleep(time.Millisecond) {
				goesOn = c.commits.Load() > atKill
			}
		})
		return nil
	}
	c.commit = func(ctx context.Context) error {
		if c.files.Load() > 0 {
			select {
			case <-killed:
			case <-ctx.Done():
			}
		}
		return nil
	}
	samples, err := c.study(t.Context(), t, 2, time.Minute)
	if !goesOn {
		t.Errorf("%v, no commit followed the kill after %d: %+v", err, atKill, samples)
	}
}

// TestKillAfterTheLastCommit: a node that dies after the last commit does not disturb the load.
func TestKillAfterTheLastCommit(t *testing.T) {
	c := &scripted{}
	c.kill = func() error {
		for last := int32(-1); last != c.commits.Load(); time.Sleep(300 * time.Millisecond) { // until the load has ended
			last = c.commits.Load()
		}
		return nil
	}
	samples, err := c.study(t.Context(), t, 12, time.Minute)
	if len(samples) > 0 || err == nil || !strings.Contains(err.Error(), "the load ended before a node was killed") {
		t.Errorf("%v, %+v", err, samples)
	}
}

// TestLoadNotResumed: records that nobody looked for are not lost.
func TestLoadNotResumed(t *testing.T) {
	var isDown atomic.Bool
	c := &scripted{kill: func() error { isDown.Store(true); return nil }}
	c.commit = func(context.Context) error {
		if isDown.Load() {
			return errDown
		}
		time.Sleep(2 * time.Millisecond)
		return nil
	}
	samples, _ := c.study(t.Context(), t, 12, time.Millisecond)
	if len(samples) == 0 || samples[0].Verdict != run.Failed || samples[0].Kill.Acknowledged != 0 || samples[0].Kill.Found != 0 {
		t.Errorf("%+v", samples)
	}
}

// TestNodeStaysDown: a node that does not start again is a result, and ends the study.
func TestNodeStaysDown(t *testing.T) {
	c := &scripted{restart: func(context.Context) error { return errDown }}
	c.commit = func(context.Context) error { time.Sleep(2 * time.Millisecond); return nil }
	samples, err := c.study(t.Context(), t, 12, time.Minute)
	if !errors.Is(err, errDown) || len(samples) != 1 || samples[0].Verdict != run.Failed || !strings.Contains(samples[0].Problem, "did not start again") {
		t.Errorf("%v, %+v", err, samples)
	}
}

// TestNothingGoesOn: when the study returns, nothing uses the cluster any more, because the caller stops it then.
func TestNothingGoesOn(t *testing.T) {
	var busy atomic.Int32
	leave := func(ctx context.Context) error { // returns some time after its context has ended
		busy.Add(1)
		defer busy.Add(-1)
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond)
		return ctx.Err()
	}
	t.Run("a node cannot be killed", func(t *testing.T) {
		c := &scripted{}
		c.kill = func() error {
			for busy.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			return errDown
		}
		c.commit = func(ctx context.Context) error {
			if c.commits.Load() > 10 { // at least one file is complete
				return leave(ctx)
			}
			return nil
		}
		if _, err := c.study(t.Context(), t, 12, time.Minute); !errors.Is(err, errDown) || busy.Load() > 0 {
			t.Errorf("%v, %d calls have not returned", err, busy.Load())
		}
	})
	t.Run("interrupted during queries", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		kills := 0
		c := &scripted{kill: func() error { kills++; return nil }}
		c.commit = func(context.Context) error { time.Sleep(2 * time.Millisecond); return nil }
		c.restart = func(ctx context.Context) error {
			if kills < 2 { // during the load
				return nil
			}
			stop()
			return leave(ctx)
		}
		if _, err := c.study(ctx, t, 12, time.Minute); !errors.Is(err, context.Canceled) || busy.Load() > 0 {
			t.Errorf("%v, %d calls have not returned", err, busy.Load())
		}
	})
}

// TestStatuses: a load or a query that did not recover leaves the study incomplete; a difference is worse.
func TestStatuses(t *testing.T) {
	failed := run.Sample{Cell: run.NewCell("faults", "fake", "design", "document", "during", run.DuringLoad), Rep: 1, Kill: &run.Kill{}}
	wrong := failed
	wrong.Rep = 2
	failed = failed.Judge(&run.Measured{}, answer.Proof{}, errDown)
	wrong = wrong.Judge(&run.Measured{}, answer.Proof{}, &answer.Diff{Problem: "a record is lost"})
	for _, c := range []struct {
		samples []run.Sample
		status  int
	}{{nil, 0}, {[]run.Sample{failed}, fault.Incomplete}, {[]run.Sample{failed, wrong}, fault.Differs}} {
		folder, err := run.Create(t.TempDir()+"/x", run.Run{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range c.samples {
			if err := folder.Add(s); err != nil {
				t.Fatal(err)
			}
		}
		k := &faults.Clusters{Options: faults.Options{Progress: func(run.EventKind, string) {}}}
		if got := fault.Code(k.Run(t.Context(), folder)); got != c.status {
			t.Errorf("%d samples: status %d, want %d", len(c.samples), got, c.status)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNodes: a number of nodes that no engine offers is a usage error, whether or not a server is installed.
func TestNodes(t *testing.T) {
	absent := engine.Driver{
		Scheme: "absent", Place: engine.Remote, Offers: []any{archive.Offer{Designs: map[design.Name][]flavour.Name{design.Wide: {flavour.ISORange}}}},
		Server: &launch.Server{Nodes: []int{1, 3}, Find: func() error { return errors.New("no server is installed") }},
	}
	k := &faults.Clusters{Registry: engine.Registry{absent}, Options: faults.Options{Nodes: 5}}
	if _, err := k.Choose(); fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "--nodes 5 is a number of nodes that no engine offers; choose one of 1, 3") {
		t.Errorf("%v", err)
	}
}
