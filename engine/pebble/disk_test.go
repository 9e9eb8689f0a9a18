package pebble

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// TestDiskFails: if the disk fails, the process continues, a writer gets an error with a cure, and the committed records
// are readable afterwards.
func TestDiskFails(t *testing.T) {
	for _, tc := range []struct {
		name    string
		why     syscall.Errno
		fails   func(errorfs.Op) bool
		problem string
	}{
		{"read-only", syscall.EROFS, func(op errorfs.Op) bool { return op.Kind.ReadOrWrite() == errorfs.OpIsWrite }, "cannot be written any more"},
		{"broken, seen by a sync of the log", syscall.EIO, func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo
		}, "cannot be written any more"},
		{"read-only, seen by a flush", syscall.EROFS, func(op errorfs.Op) bool {
			return op.Kind.ReadOrWrite() == errorfs.OpIsWrite && filepath.Ext(op.Path) == ".sst"
		}, "cannot be written any more"},
		{"a quota", syscall.EDQUOT, func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileWrite }, "cannot be written any more"},
		{"full", syscall.ENOSPC, func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileWrite }, "its disk is full"},
	} {
		t.Run(tc.name, func(t *testing.T) { failingDisk(t, tc.why, tc.fails, tc.problem) })
	}
}

func failingDisk(t *testing.T, why syscall.Errno, fails func(errorfs.Op) bool, problem string) {
	var failing atomic.Bool
	disk := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing.Load() && fails(op) {
			return why
		}
		return nil
	}))
	dir := filepath.Join(t.TempDir(), "a.pebble")
	set, err := parse(&url.URL{RawQuery: "memtable=1"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := set.open(disk, dir, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, insert := records(t, e)
	for i := range 10 {
		if err := insert(i); err != nil {
			t.Fatal(err)
		}
	}
	failing.Store(true)
	inserted := 10
	for ; inserted < 100_000; inserted++ { // Pebble flushes when a table in memory is full
		if err = insert(inserted); err != nil {
			break
		}
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.File != dir || f.Cure == "" || !strings.Contains(f.Problem, problem) || !errors.Is(err, why) {
		t.Errorf("after %d records: %v, want %q with the folder, a cure and %v", inserted, err, problem, why)
	}
	if err := e.Close(); err == nil {
		t.Error("the store that stopped closes without an error")
	}
	after := filepath.Join(t.TempDir(), "a.pebble") // the stopped store keeps the lock of the first folder
	if err := os.CopyFS(after, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if e, err = registry().Open(t.Context(), "pebble:"+after, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	r, _ := records(t, e)
	if n, err := r.Count(t.Context()); err != nil || n < int64(inserted) {
		t.Errorf("of %d acknowledged records %d are readable: %v", inserted, n, err)
	}
}

// TestNothingStartsAfterAFailure: after a failure of the disk, the store starts no work. Pebble panics if abandoned work
// finds a log that Close has closed.
func TestNothingStartsAfterAFailure(t *testing.T) {
	s := &store{dir: "a.pebble", failure: &diskFailure{done: make(chan struct{})}}
	if err := s.write(func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	s.failure.record(syscall.EIO)
	began := make(chan struct{}, 1)
	err := s.write(func() error { began <- struct{}{}; return nil })
	time.Sleep(10 * time.Millisecond) // for what would begin
	if !errors.Is(err, syscall.EIO) || len(began) > 0 {
		t.Errorf("a stopped store says %v, began: %d", err, len(began))
	}
}

// records returns a table, and a function that inserts a record with a number into it.
func records(t *testing.T, e *engine.Engine) (*kv.Records, func(i int) error) {
	t.Helper()
	r, err := kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "usertable", Fields: []string{"f"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r, func(i int) error {
		var row kv.Row
		row.Add(0, make([]byte, 1000))
		return c.Insert(t.Context(), fmt.Appendf(nil, "user%06d", i), &row)
	}
}
