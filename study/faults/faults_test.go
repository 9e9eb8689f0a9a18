package faults_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/faults"
	"github.com/barograph/barograph/study/synth"
)

// cluster is an archive in memory with a switch: while a node is down every call fails, and after that the archive may
// have lost data.
type cluster struct {
	archive.Archive
	down    atomic.Bool
	wasDown atomic.Bool // a node was down and is up again
	noticed atomic.Bool // a call failed because the node is down
	forgets bool        // after a kill the first mark is missing
	isWrong bool        // while a node is down, results have no rows, instead of an error
}

var errDown = errors.New("a node is down")

func (c *cluster) Kill(int) error { c.down.Store(true); return nil }

// Restart waits until a call failed, which may take seconds on a busy machine. The node is up 200 ms after Restart has
// returned. Therefore the first success is later than the end of the restart, and the test can require that the archive
// recovered later.
func (c *cluster) Restart(context.Context, int) error {
	for until := time.Now().Add(10 * time.Second); !c.noticed.Swap(false) && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(200*time.Millisecond, func() {
		c.wasDown.Store(true)
		c.down.Store(false)
	})
	return nil
}

// gone reports whether a node is down, and notes that a call noticed it.
func (c *cluster) gone() bool {
	down := c.down.Load()
	if down {
		c.noticed.Store(true)
	}
	return down
}

func (c *cluster) Close() error                                               { return nil }
func (c *cluster) Open(context.Context, design.Name) (archive.Archive, error) { return c, nil }

func (c *cluster) open(context.Context) (*engine.Engine, error) {
	return &engine.Engine{Abilities: []any{c}, Close: func() error { return nil }}, nil
}

func (c *cluster) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := c.Archive.Loader(ctx, subset)
	return &slowLoader{l, c}, err
}

// slowLoader commits slowly, and the kill happens during the load.
type slowLoader struct {
	archive.Loader
	c *cluster
}

func (l *slowLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	time.Sleep(2 * time.Millisecond)
	if l.c.gone() {
		return archive.CommitResult{}, errDown
	}
	return l.Loader.Commit(ctx, c)
}

func (c *cluster) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	if c.gone() {
		return nil, errDown
	}
	m, err := c.Archive.Marks(ctx, subset)
	if c.forgets && c.wasDown.Load() && len(m) > 0 {
		m = m[1:]
	}
	return m, err
}

func (c *cluster) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return c.Archive.Dump(ctx, subset)
}

func (c *cluster) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	if !c.gone() {
		return c.Archive.Ask(ctx, q, into)
	}
	if !c.isWrong {
		return errDown
	}
	into.Reset(q.Question.Columns)
	return nil
}

func TestKills(t *testing.T) {
	specs, err := synth.VSDB{Seed: 1, Preset: "seed"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if _, err := synth.WriteAll(t.Context(), root, specs, 0, nil); err != nil {
		t.Fatal(err)
	}
	files, err := formats.Expand([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	nothing := filepath.Join(root, "nothing.vsdb")
	if err := os.Symlink(filepath.Join(root, "none"), nothing); err != nil {
		t.Fatal(err)
	}
	files = append(files[:12], nothing)
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name             string
		forgets, isWrong bool
		lost, wrong      bool
		loadProblem      string
		questionErrors   bool
	}{
		{name: "acknowledged records are kept", questionErrors: true},
		{name: "acknowledged records are lost", forgets: true, lost: true, loadProblem: "did not know", questionErrors: true},
		{name: "answers are wrong", isWrong: true, wrong: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := engine.Registry{dry.Driver()}.Open(t.Context(), "dry:", engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := archive.DatabaseOf(e).Open(t.Context(), design.Memory)
			if err != nil {
				t.Fatal(err)
			}
			cl := &cluster{Archive: a, forgets: c.forgets, isWrong: c.isWrong}
			var kills []run.Sample
			var rejects []string
			got, err := faults.Run(t.Context(), faults.Options{
				Reject: func(file string, _ uint32, _, _ string) error { rejects = append(rejects, file); return nil },
				Engine: "fake", Design: design.Memory, Flavours: []flavour.Name{flavour.Recall}, Nodes: 3, Cluster: cl, Open: cl.open,
				Files: files, Subset: "a", Cases: cases, Kills: 1, Down: 300 * time.Millisecond, Settle: 500 * time.Millisecond,
				Patience: 10 * time.Second, Call: 20 * time.Second, Seed: 1, Progress: func(run.EventKind, string) {}, Add: func(s run.Sample) error { kills = append(kills, s); return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(kills) != 2 || got.Digest.Records == 0 {
				t.Fatalf("%d kills, digest %s", len(kills), got.Digest)
			}
			if got.Unread != 1 || len(rejects) != 1 || rejects[0] != nothing {
				t.Errorf("%d files were not read: %v", got.Unread, rejects)
			}
			l, q, loadTimes, queryTimes := kills[0].Kill, kills[1].Kill, kills[0].Measured(), kills[1].Measured()
			if kills[0].Cell.Value("during") != run.DuringLoad || l.Acknowledged == 0 || (l.Found < l.Acknowledged) != c.lost || !strings.Contains(kills[0].Problem, c.loadProblem) || !l.Complete {
				t.Errorf("the load: %+v", l)
			}
			if c.lost != (loadTimes == nil) || c.wrong != (queryTimes == nil) {
				t.Errorf("a kill with a loss or a wrong result has times, or another one has none: %+v, %+v", l, q)
			}
			if l.Errors == 0 || !c.lost && (loadTimes.Recovered < loadTimes.Total || loadTimes.LongestGap == 0) {
				t.Errorf("a load that failed until the node was back: %+v", l)
			}
			if q.Correct == 0 || (q.Wrong > 0) != c.wrong || (kills[1].Problem != "") != c.wrong || (q.Errors > 0) != c.questionErrors {
				t.Errorf("the questions: %+v", q)
			}
			if c.questionErrors && (queryTimes.Recovered < queryTimes.Total || q.CorrectWhileDown > 0 || q.Messages[errDown.Error()] != q.Errors) {
				t.Errorf("questions that failed until the node was back: %+v", q)
			}
		})
	}
}

// dataInMemory returns VSDB files, the seven cases, and an archive in memory that is empty.
func dataInMemory(t *testing.T, numFiles int) ([]string, []*question.Question, archive.Archive) {
	t.Helper()
	specs, err := synth.VSDB{Seed: 1, Preset: "seed"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if _, err := synth.WriteAll(t.Context(), root, specs[:numFiles], 0, nil); err != nil {
		t.Fatal(err)
	}
	files, err := formats.Expand([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Registry{dry.Driver()}.Open(t.Context(), "dry:", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Memory)
	if err != nil {
		t.Fatal(err)
	}
	return files, cases, a
}

// TestWrongBeforeKill: a result that is wrong while all nodes run ends the study, because no kill caused it.
func TestWrongBeforeKill(t *testing.T) {
	files, cases, a := dataInMemory(t, 12)
	cl := &emptyResults{cluster{Archive: a}}
	kills := 0
	_, err := faults.Run(t.Context(), faults.Options{
		Engine: "fake", Design: design.Memory, Flavours: []flavour.Name{flavour.Recall}, Nodes: 3, Cluster: cl,
		Open: func(context.Context) (*engine.Engine, error) {
			return &engine.Engine{Abilities: []any{cl}, Close: func() error { return nil }}, nil
		},
		Files: files, Subset: "a", Cases: cases, Kills: 1, Down: time.Millisecond, Settle: 20 * time.Millisecond,
		Patience: 10 * time.Second, Call: 20 * time.Second, Seed: 1,
		Progress: func(run.EventKind, string) {}, Add: func(run.Sample) error { kills++; return nil },
	})
	if fault.Code(err) != fault.Differs || !strings.Contains(err.Error(), "a result was wrong before a node was killed: test_1") || kills != 1 {
		t.Errorf("%d kills, status %d, %v", kills, fault.Code(err), err)
	}
}

// TestCopiesOfOneFile: a load that ends before the node is to be killed ends the study. An earlier version killed the node
// after the load, and reported a kill during the load.
func TestCopiesOfOneFile(t *testing.T) {
	files, cases, a := dataInMemory(t, 1)
	for range 7 {
		files = append(files, files[0])
	}
	cl := &cluster{Archive: a}
	_, err := faults.Run(t.Context(), faults.Options{
		Engine: "fake", Design: design.Memory, Flavours: []flavour.Name{flavour.Recall}, Nodes: 3, Cluster: cl, Open: cl.open,
		Files: files, Subset: "a", Cases: cases, Kills: 1, Down: time.Millisecond, Settle: 20 * time.Millisecond,
		Patience: 10 * time.Second, Call: 20 * time.Second, Seed: 2, // the node is to be killed after several files
		Progress: func(run.EventKind, string) {}, Add: func(run.Sample) error { t.Error("a kill was recorded"); return nil },
	})
	if err == nil || !strings.Contains(err.Error(), "the load ended before a node was killed") || cl.down.Load() {
		t.Errorf("%v, a node was killed: %t", err, cl.down.Load())
	}
}

// emptyResults returns a result without rows for every query.
type emptyResults struct{ cluster }

func (c *emptyResults) Open(context.Context, design.Name) (archive.Archive, error) { return c, nil }

func (c *emptyResults) Ask(_ context.Context, q *archive.Query, into *answer.Builder) error {
	into.Reset(q.Question.Columns)
	return nil
}

// TestNoRows: a study of questions without rows kills no node.
func TestNoRows(t *testing.T) {
	specs, err := synth.VSDB{Seed: 1, From: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Models: []string{"gfs"}, StatTypes: []string{synth.Anom}}.Files()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if _, err := synth.WriteAll(t.Context(), root, specs[:1], 0, nil); err != nil {
		t.Fatal(err)
	}
	files, err := formats.Expand([]string{root})
	if err != nil {
		t.Fatal(err)
	}
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	_, err = faults.Run(t.Context(), faults.Options{Files: files, Cases: cases, Kills: 1, Nodes: 3})
	if fault.Code(err) != fault.Incomplete || !strings.Contains(err.Error(), "none of 7 questions has rows") {
		t.Errorf("%v", err)
	}
}
