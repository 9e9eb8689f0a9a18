package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// window is the number of records per commit: small, so that kills fall
// between commits and into them.
const window = 4096

// whileLoading kills a node when some of the files are acknowledged.
func (s *runner) whileLoading(ctx context.Context, rep int) (*kill, error) {
	k, subset := s.kill(run.DuringLoad, rep), fmt.Sprintf("%s_%d", s.Subset, rep-1)
	l := &ledger{files: map[string]string{}, records: map[record.Key]string{}, lost: map[string]bool{}, reached: make(chan struct{})}
	l.until = 1 + s.rng.IntN(max(1, len(s.Files)/2))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	var killed time.Time
	go func() { ended <- s.loadOn(ctx, subset, l, k) }()
	var early error
	select {
	case <-l.reached:
	case early = <-ended:
		ended <- early
	}
	if early != nil {
		return k, fmt.Errorf("the load failed before any node was killed: %w", early)
	}
	s.say(run.KillEvent, k, "node %d of %d is killed", k.Node, s.Nodes)
	killed = time.Now()
	l.kill(killed)
	if err := s.Cluster.Kill(k.Node - 1); err != nil {
		return k, err
	}
	if err := engine.Pause(ctx, s.Down); err != nil {
		return k, err
	}
	if err := s.Cluster.Restart(ctx, k.Node-1); err != nil {
		return k, fmt.Errorf("node %d: %w", k.Node, err)
	}
	k.times.Total = time.Since(killed)
	due := l.acknowledged()
	err := <-ended
	k.Acknowledged = int64(len(due))
	if err != nil {
		k.failed = fmt.Errorf("the load could not be resumed: %w", err)
		return k, ctx.Err()
	}
	if err := s.audit(ctx, subset, l, due, k); err != nil {
		return k, err
	}
	k.times.Recovered, k.times.Silence = l.recovery(), l.silence
	s.say(run.StepEvent, k, "%d acknowledged, %d found, %d errors", k.Acknowledged, k.Found, k.Errors)
	return k, nil
}

// loadOn loads until everything is loaded: after an error as a new client that
// resumes. It gives up when nothing goes on for as long as s.Patience.
func (s *runner) loadOn(ctx context.Context, subset string, l *ledger, k *kill) error {
	for {
		err := s.loadOnce(ctx, subset, l)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !l.failed(k, err, s.Patience) {
			return err
		}
		if err := engine.Pause(ctx, between); err != nil {
			return err
		}
	}
}

func (s *runner) loadOnce(ctx context.Context, subset string, l *ledger) error {
	a, done, err := s.client(ctx)
	if err != nil {
		return err
	}
	defer done()
	marks, err := a.Marks(ctx, subset)
	if err != nil {
		return err
	}
	l.check(marks)
	sum, err := load.Run(ctx, &witness{a, l}, subset, s.Files, load.Options{Window: window})
	if err == nil && len(sum.Failed) > s.out.Unread {
		err = errors.Join(sum.Failed...)
	}
	return err
}

// audit holds what the archive has in the end against what was acknowledged
// and against the data.
func (s *runner) audit(ctx context.Context, subset string, l *ledger, due map[record.Key]string, k *kill) error {
	a, done, err := s.client(ctx)
	if err != nil {
		return err
	}
	defer done()
	var all record.Digest
	var h record.Hasher
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return fmt.Errorf("the archive cannot be read after the kill: %w", err)
		}
		h.Use(b)
		for i := range b.Len() {
			all.Add(h.Digest(i))
			if file, ok := due[h.Key(i)]; ok && !l.lost[file] {
				k.Found++
			}
		}
	}
	k.proof, k.failed = answer.CompareRecords(s.out.Digest, all)
	if k.Complete = k.failed == nil; !k.Complete {
		k.failed = &answer.Diff{Problem: "unlike after an undisturbed load, " + k.failed.Error()}
	}
	if len(l.lost) > 0 {
		k.failed = &answer.Diff{Problem: fmt.Sprintf("%d files that were acknowledged were not known when the load was resumed", len(l.lost))}
	}
	return nil
}

// ledger notes what the archive acknowledged, and when.
type ledger struct {
	until   int // files after which the node is killed
	reached chan struct{}

	mu      sync.Mutex
	files   map[string]string     // paths of the files that a commit marked, by their digest
	records map[record.Key]string // paths of the files that they came from
	lost    map[string]bool       // paths of files that were acknowledged, and later were not known

	killed, last, failure time.Time
	recovered             time.Time
	silence               time.Duration
}

// commit notes an acknowledged commit.
func (l *ledger) commit(batches []*record.Batch, done []archive.Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var h record.Hasher
	for _, b := range batches {
		h.Use(b)
		for i := range b.Len() {
			l.records[h.Key(i)] = b.File
		}
	}
	for _, m := range done {
		l.files[m.Digest] = m.Path
	}
	if len(l.files) >= l.until {
		select {
		case <-l.reached:
		default:
			close(l.reached)
		}
	}
	l.alive()
}

// alive notes a success; the caller holds the lock.
func (l *ledger) alive() {
	now := time.Now()
	if !l.killed.IsZero() {
		since := l.last
		if since.Before(l.killed) {
			since = l.killed
		}
		l.silence = max(l.silence, now.Sub(since))
		if l.failure.After(l.recovered) {
			l.recovered = now
		}
	}
	l.last = now
}

func (l *ledger) kill(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = at
}

// failed counts an error and reports whether there is hope left.
func (l *ledger) failed(k *kill, err error, patience time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killed.IsZero() {
		return false // it was not the kill
	}
	note(k, err)
	l.failure = time.Now()
	since := l.last
	if since.Before(l.killed) {
		since = l.killed
	}
	return time.Since(since) < patience
}

// check notes acknowledged files whose mark is gone.
func (l *ledger) check(marks []archive.Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for digest, path := range l.files {
		if !slices.ContainsFunc(marks, func(m archive.Mark) bool { return m.Digest == digest }) {
			l.lost[path] = true
		}
	}
}

// acknowledged copies what is acknowledged by now.
func (l *ledger) acknowledged() map[record.Key]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.records)
}

// recovery is how long after the kill the first success after the last error
// came; 0 = there was no error. The load has ended.
func (l *ledger) recovery() time.Duration {
	if l.recovered.After(l.killed) {
		return l.recovered.Sub(l.killed)
	}
	return 0
}

// witness is an archive whose acknowledged commits are noted.
type witness struct {
	archive.Archive
	ledger *ledger
}

// Loader opens a loader that notes what is acknowledged.
func (w *witness) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := w.Archive.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	return &witnessed{Loader: l, ledger: w.ledger}, nil
}

type witnessed struct {
	archive.Loader
	ledger  *ledger
	pending []*record.Batch
}

// Add keeps the batch until it is committed; it does not change before.
func (w *witnessed) Add(ctx context.Context, b *record.Batch) error {
	w.pending = append(w.pending, b)
	return w.Loader.Add(ctx, b)
}

// Commit notes what the archive acknowledges.
func (w *witnessed) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	stored, err := w.Loader.Commit(ctx, c)
	if err == nil {
		w.ledger.commit(w.pending, c.Complete)
	}
	w.pending = w.pending[:0]
	return stored, err
}
