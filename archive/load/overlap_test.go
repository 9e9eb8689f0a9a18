package load_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
)

// slow is an archive that calls onCommit at the start of each commit.
type slow struct {
	archive.Archive
	onCommit func() error
}

type slowLoader struct {
	archive.Loader
	a *slow
}

func (a *slow) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &slowLoader{l, a}, err
}

func (l *slowLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	if err := l.a.onCommit(); err != nil {
		return archive.CommitResult{}, err
	}
	return l.Loader.Commit(ctx, c)
}

func (l *slowLoader) Close() error {
	l.a.onCommit = func() error { return errors.New("a commit after the loader was closed") }
	return l.Loader.Close()
}

func twentyDays(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range 20 {
		files = append(files, write(t, dir, fmt.Sprintf("f%02d.vsdb", i), line(0, i, 1)+line(6, i, 2)))
	}
	return files
}

// TestNextWindowFillsWhileOneIsStored: during a commit the load reads the records of the next
// window, but not those of the window after that.
func TestNextWindowFillsWhileOneIsStored(t *testing.T) {
	files, a := twentyDays(t), &slow{Archive: memory(t)}
	taken, commits := make(chan int64, 1000), 0
	var read int64
	a.onCommit = func() error {
		commits++
		want := min(int64(commits)*10+1, 40)
		for read < want {
			select {
			case read = <-taken:
			case <-time.After(10 * time.Second):
				return fmt.Errorf("commit %d is under way, and the load has read %d records, want %d", commits, read, want)
			}
		}
		return nil
	}
	s, err := load.Run(t.Context(), a, "s", files, load.Options{Window: 10, Progress: func(p load.Progress) {
		if p.Read > p.Committed/int64(len(line(0, 0, 1)))+20+2 { // two windows and the present file
			t.Errorf("%d records are read, %d bytes committed", p.Read, p.Committed)
		}
		taken <- p.Read
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Commits != 5 || s.Stored != 40 { // the fifth commit only has the mark of the last file
		t.Errorf("%d commits, %d records; want 5 and 40", s.Commits, s.Stored)
	}
}

// TestEndWaitsForTheCommitUnderWay: if a load is interrupted during a commit, Run returns after the
// commit, and the archive has the records of the commit.
func TestEndWaitsForTheCommitUnderWay(t *testing.T) {
	files, whole := twentyDays(t), memory(t)
	mustLoad(t, whole, load.Options{}, files...)
	for _, kept := range []bool{true, false} { // whether the commit in flight succeeds
		a, commits := &slow{Archive: memory(t)}, 0
		ctx, interrupt := context.WithCancel(t.Context())
		a.onCommit = func() error {
			if commits++; commits < 2 {
				return nil
			}
			interrupt()
			time.Sleep(20 * time.Millisecond) // the load sees the interruption first
			if !kept {
				return errDisk
			}
			return nil
		}
		s, err := load.Run(ctx, a, "s", files, load.Options{Window: 10})
		if err == nil || (kept && !errors.Is(err, context.Canceled)) {
			t.Fatalf("interrupted: %v", err)
		}
		marks, failed := a.Marks(t.Context(), "s")
		if failed != nil || len(marks) != 5*s.Commits-1 || len(s.Files) != len(marks) { // the commit after its last record marks a file
			t.Errorf("%d marks, %d files, %d commits of 5 files each; %v", len(marks), len(s.Files), s.Commits, failed)
		}
		a.onCommit = func() error { return nil }
		mustLoad(t, a, load.Options{}, files...)
		if digest(t, a) != digest(t, whole) {
			t.Error("the load that went on gives another archive")
		}
	}
}
