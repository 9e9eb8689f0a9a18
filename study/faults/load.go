package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// The number of records per commit is small: some kills happen between two commits, others during one.
const (
	maxWindow  = 4096
	minCommits = 16 // of a load, so that commits follow the kill
)

// killDuringLoad kills a node after the archive has acknowledged a random number of files.
func (s *runner) killDuringLoad(ctx context.Context, rep int) (*kill, error) {
	k, subset := s.newKill(run.DuringLoad, rep), fmt.Sprintf("%s_%d", s.Subset, rep-1)
	l := &ledger{
		files: map[string]string{}, records: map[record.Key]string{}, lost: map[string]bool{}, reached: make(chan struct{}),
	}
	l.killAfter = 1 + s.rng.IntN(max(1, (len(s.Files)-s.out.Unread)/2))
	ctx, stop := context.WithCancel(ctx)
	loading := started(func() error { return s.loadToEnd(ctx, subset, l, k) })
	defer func() { stop(); <-loading.ended }() // it uses the cluster and k
	select {
	case <-l.reached:
	case <-loading.ended:
	}
	if loading.hasEnded() { // also if its last commit was the one that closed l.reached
		return k, l.endedEarly(loading.wait(), len(s.Files))
	}
	s.progress(run.KillEvent, k, "killing node %d of %d", k.Node, s.Nodes)
	killed := time.Now()
	l.recordKill(killed)
	if err := s.Cluster.Kill(k.Node - 1); err != nil {
		return k, err
	}
	dead := time.Now()
	if err := engine.Pause(ctx, s.Down); err != nil {
		return k, err
	}
	if err := s.Cluster.Restart(ctx, k.Node-1); err != nil {
		return k, k.restartFailed(ctx, err)
	}
	k.times.Total = time.Since(killed)
	due := l.acknowledged()
	if err := loading.wait(); err != nil {
		k.failed = fmt.Errorf("the load could not be resumed: %w", err)
		return k, ctx.Err()
	}
	if k.Errors == 0 && l.lastSuccess.Before(dead) {
		return k, l.endedEarly(nil, len(s.Files))
	}
	if err := s.audit(ctx, subset, l, due, k); err != nil {
		return k, err
	}
	k.times.Recovered, k.times.LongestGap = l.recovery(), l.longestGap
	s.progress(run.StepEvent, k, "%d acknowledged, %d found, %d errors", k.Acknowledged, k.Found, k.Errors)
	return k, nil
}

// task is a function that runs in another goroutine.
type task struct {
	ended chan struct{} // closed when it has ended
	err   error
}

func started(f func() error) *task {
	t := &task{ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		t.err = f()
	}()
	return t
}

// wait waits for the end of the task, and returns its error.
func (t *task) wait() error {
	<-t.ended
	return t.err
}

func (t *task) hasEnded() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// endedEarly is the error of a load without a commit or an error after the kill. err is the load's own error.
func (l *ledger) endedEarly(err error, numFiles int) error {
	if err == nil {
		problem := "it was too short"
		if n := l.numFiles(); n < l.killAfter {
			problem = fmt.Sprintf("of %s, only %s different contents", run.CountOf(numFiles, "file"), english.Plural(n, "has", "have"))
		}
		err = &fault.Error{Problem: problem, Cure: "name more files"}
	}
	return fmt.Errorf("the load ended before a node was killed: %w", err)
}

// loadToEnd loads until everything is loaded. After an error it resumes with a new client. It gives up
// if the load makes no progress for s.Patience.
func (s *runner) loadToEnd(ctx context.Context, subset string, l *ledger, k *kill) error {
	for {
		err := s.loadOnce(ctx, subset, l)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !l.recordFailure(k, err, s.Patience) {
			return err
		}
		if err := engine.Pause(ctx, retryPause); err != nil {
			return err
		}
	}
}

func (s *runner) loadOnce(ctx context.Context, subset string, l *ledger) error {
	a, done, err := s.openArchive(ctx)
	if err != nil {
		return err
	}
	defer done()
	marks, err := a.Marks(ctx, subset)
	if err != nil {
		return err
	}
	l.findLost(marks)
	sum, err := load.Run(ctx, &witness{a, l}, subset, s.Files, load.Options{Window: s.window()})
	return s.loadError(sum, err)
}

// window is the maximum number of records per commit.
func (s *runner) window() int {
	return int(min(maxWindow, max(1, s.out.Digest.Records/minCommits))) //nolint:gosec // at most maxWindow
}

// loadError returns the error of a load, or the errors of its files if the archive refused a file that can be read.
func (s *runner) loadError(sum *load.Summary, err error) error {
	if err == nil && len(sum.Failed) > s.out.Unread {
		return errors.Join(sum.Failed...)
	}
	return err
}

// audit compares the final contents of the archive with the acknowledged records and with the data. If they cannot be
// read, the kill has no counts: nobody knows what was lost.
func (s *runner) audit(ctx context.Context, subset string, l *ledger, due map[record.Key]string, k *kill) error {
	a, done, err := s.openArchive(ctx)
	if err != nil {
		return err
	}
	defer done()
	var all record.Digest
	var h record.Hasher
	var found int64
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			k.failed = fmt.Errorf("the archive cannot be read after the kill: %w", err)
			return ctx.Err()
		}
		h.SetBatch(b)
		for i := range b.Len() {
			all.Add(h.Digest(i))
			if file, ok := due[h.Key(i)]; ok && !l.lost[file] {
				found++
			}
		}
	}
	k.proof, k.failed = answer.CompareRecords(s.out.Digest, all)
	if k.Complete = k.failed == nil; !k.Complete {
		k.failed = &answer.Diff{Problem: "the archive differs from that of an undisturbed load: " + k.failed.Error()}
	}
	k.Acknowledged, k.Found = int64(len(due)), found-l.reloaded
	switch {
	case len(l.lost) > 0:
		problem := fmt.Sprintf("when the load was resumed, the archive did not know %d acknowledged files", len(l.lost))
		k.failed = &answer.Diff{Problem: problem}
	case l.reloaded > 0:
		problem := fmt.Sprintf("the resumed load stored %d acknowledged records again, because the archive had lost them", l.reloaded)
		k.failed = &answer.Diff{Problem: problem}
	}
	return nil
}

// ledger records the files and records that the archive acknowledged, and the times.
type ledger struct {
	killAfter int // files after which the node is killed
	reached   chan struct{}

	mu      sync.Mutex
	files   map[string]string     // path of each acknowledged file, by its digest
	records map[record.Key]string // path of the file of each acknowledged record
	lost    map[string]bool       // paths of acknowledged files that the archive later did not know
	// reloaded counts acknowledged records that the archive later stored as new ones, except those of lost files
	reloaded int64

	killed, lastSuccess, lastFailure, recovered time.Time
	longestGap                                  time.Duration // between two successes after the kill
}

// recordCommit records an acknowledged commit. newRecords is the number of its records that were new for the archive.
// A resumed load reads a file that is not complete from its beginning, so a commit may contain records that an earlier
// one acknowledged. If they are new again, the archive had lost them. Their number is newRecords minus the number of
// records that were not acknowledged before. It is a lower limit: the archive may have stored some of the latter
// without an acknowledgment. Then they are not new, and the difference is too small.
func (l *ledger) recordCommit(batches []*record.Batch, done []archive.Mark, newRecords int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var h record.Hasher
	for _, b := range batches {
		h.SetBatch(b)
		for i := range b.Len() {
			if file, acknowledged := l.records[h.Key(i)]; !acknowledged || l.lost[file] {
				newRecords--
			}
			l.records[h.Key(i)] = b.File
		}
	}
	l.reloaded += max(newRecords, 0)
	for _, m := range done {
		l.files[m.Digest] = m.Path
	}
	if len(l.files) >= l.killAfter {
		select {
		case <-l.reached:
		default:
			close(l.reached)
		}
	}
	l.recordSuccess()
}

// recordSuccess records a success; the caller holds the lock.
func (l *ledger) recordSuccess() {
	now := time.Now()
	if !l.killed.IsZero() {
		since := l.lastSuccess
		if since.Before(l.killed) {
			since = l.killed
		}
		l.longestGap = max(l.longestGap, now.Sub(since))
		if l.lastFailure.After(l.recovered) {
			l.recovered = now
		}
	}
	l.lastSuccess = now
}

// numFiles returns the number of acknowledged files with different contents.
func (l *ledger) numFiles() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.files)
}

func (l *ledger) recordKill(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.killed = at
}

// recordFailure counts an error, and reports whether the load may be tried again.
func (l *ledger) recordFailure(k *kill, err error, patience time.Duration) (mayRetry bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killed.IsZero() {
		return false // the kill did not cause the error
	}
	countError(k, err)
	l.lastFailure = time.Now()
	since := l.lastSuccess
	if since.Before(l.killed) {
		since = l.killed
	}
	return time.Since(since) < patience
}

// findLost records the acknowledged files whose mark is missing.
func (l *ledger) findLost(marks []archive.Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for digest, path := range l.files {
		if !slices.ContainsFunc(marks, func(m archive.Mark) bool { return m.Digest == digest }) {
			l.lost[path] = true
		}
	}
}

// acknowledged returns a copy of the records that are acknowledged at present.
func (l *ledger) acknowledged() map[record.Key]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.records)
}

// recovery is the time from the kill to the first success after the last error; 0 = no error. The
// load must have ended.
func (l *ledger) recovery() time.Duration {
	if l.recovered.After(l.killed) {
		return l.recovered.Sub(l.killed)
	}
	return 0
}

// witness is an archive whose loaders record acknowledged commits.
type witness struct {
	archive.Archive
	ledger *ledger
}

// Loader opens a loader that records acknowledged commits.
func (w *witness) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := w.Archive.Loader(ctx, subset)
	if err != nil {
		return nil, err
	}
	return &witnessLoader{Loader: l, ledger: w.ledger}, nil
}

type witnessLoader struct {
	archive.Loader
	ledger  *ledger
	pending []*record.Batch
}

// Add keeps the batch until it is committed. The batch must not change until then.
func (w *witnessLoader) Add(ctx context.Context, b *record.Batch) error {
	w.pending = append(w.pending, b)
	return w.Loader.Add(ctx, b)
}

// Commit records an acknowledged commit.
func (w *witnessLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	stored, err := w.Loader.Commit(ctx, c)
	if err == nil {
		w.ledger.recordCommit(w.pending, c.Complete, stored.New)
	}
	w.pending = w.pending[:0]
	return stored, err
}
