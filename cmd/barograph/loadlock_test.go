package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
)

// TestHolderOfServers: on a server, loads take turns. The second load and `show` name the first
// one. If it died, `show` names it until its command has been run again.
func TestHolderOfServers(t *testing.T) {
	plainRunOnly(t)
	data := dayOfData(t)
	for _, x := range []struct {
		name   string
		design design.Name
	}{{"postgres", design.Wide}, {"mariadb", design.Normalized}, {"valkey", design.KeyValue}} {
		t.Run(x.name, func(t *testing.T) {
			db := sharedPlace(t, x.name)
			args := []string{"load", data, "--engine", db, "--subset", "mv_x", "--design", string(x.design)}
			other := (&env{args: args}).loadingProcess() // of this process, which is running
			message := fmt.Sprintf("is being loaded by process %d of host %s since ", other.PID, other.Host)
			note := func() {
				t.Helper()
				e, err := all.Registry().Open(t.Context(), db, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer e.Close()
				a, err := archive.DatabaseOf(e).Open(t.Context(), x.design)
				if err != nil {
					t.Fatal(err)
				}
				l, err := a.Loader(t.Context(), "mv_x")
				if err != nil {
					t.Fatal(err)
				}
				c := design.NewCatalog("mv_x")
				c.Loading, c.Counted, c.Sealed = other, true, true
				if _, err := l.Commit(t.Context(), archive.Commit{Catalog: c}); err != nil {
					t.Fatal(err)
				}
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
			}
			note()
			status, _, stderr := barograph(t, args...)
			if status != 0 || !strings.Contains(stderr, message) || !strings.Contains(stderr, "the two loads take turns") {
				t.Errorf("status %d: %s", status, stderr)
			}
			if out := must(t, "show", db); !strings.Contains(out, message) {
				t.Errorf("show does not say who loads: %s", out)
			}
			other.Since = other.Since.Add(-24 * time.Hour) // a former process with this number, which has ended
			note()
			for _, c := range []struct {
				args  []string
				named bool // afterward
			}{{append(slices.Clone(args), "--rehash"), true}, {args, false}} {
				if status, _, stderr := barograph(t, c.args...); status != 0 || strings.Contains(stderr, "being loaded") {
					t.Errorf("%s: status %d: %s", c.args, status, stderr)
				}
				if out := must(t, "show", db); strings.Contains(out, "its load was interrupted") != c.named || strings.Contains(out, message) {
					t.Errorf("%s: show reports the load that died: %s", c.args, out)
				}
			}
		})
	}
}

// TestNoLoadingFile: a full disk is an error, because the load could not be locked. A folder that this user cannot write is
// not: the engine reports it, or its files are elsewhere.
func TestNoLoadingFile(t *testing.T) {
	e := &env{args: []string{"load", "x"}}
	if _, err := e.lockForLoad(filepath.Join(t.TempDir(), "none", "a.db.loading")); err != nil {
		t.Error(err)
	}
	dir := smallDisk(t)
	fillDisk(t, dir)
	if _, err := e.lockForLoad(filepath.Join(dir, "a.db.loading")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: the error is %v", err)
	}
}

// TestLoadingFileIsComplete: another process never sees the loading file without its content, and a load leaves no other
// file.
func TestLoadingFileIsComplete(t *testing.T) {
	dir, e, done := t.TempDir(), &env{args: []string{"load", "x"}}, make(chan struct{})
	file := filepath.Join(dir, "a.db.loading")
	go func() {
		defer close(done)
		for range 3000 {
			unlock, err := e.lockForLoad(file)
			if err != nil {
				t.Error(err)
				return
			}
			unlock()
		}
	}()
	incomplete := ""
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if text, err := os.ReadFile(file); err == nil && !json.Valid(text) {
			incomplete = fmt.Sprintf("%q", text)
		}
	}
	if incomplete != "" {
		t.Errorf("the loading file contained %s", incomplete)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files %v, %v", left, err)
	}
}

// TestLoadingCommandHasNoPassword: neither a new catalog nor one of an earlier version, which stored the password of a URL
// with parameters, shows it.
func TestLoadingCommandHasNoPassword(t *testing.T) {
	url := "postgres://me:" + marker + "@host/db?sslmode=require"
	l := (&env{args: []string{"load", "x", "--engine", url}}).loadingProcess()
	if strings.Contains(l.Command, marker) || !strings.Contains(l.Command, "@host/db?sslmode=require") {
		t.Errorf("the catalog has %s", l.Command)
	}
	l.Command = "barograph load x --engine " + url
	ended := *l
	ended.Since = l.Since.Add(-24 * time.Hour)
	for _, text := range []string{loadInProgress(l), loadState(l), loadState(&ended)} {
		if strings.Contains(text, marker) {
			t.Errorf("it is printed: %s", text)
		}
	}
}

// staleLoading writes the loading file of a load that has ended.
func staleLoading(t *testing.T, file string) {
	t.Helper()
	l := (&env{args: []string{"load", "x"}}).loadingProcess()
	l.Since = l.Since.Add(-24 * time.Hour) // before this process started
	text, err := json.Marshal(l)
	if err = cmp.Or(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestLoadsAfterInterruptedLoad: of several loads that find the file of an interrupted load at the same time, one begins.
// The names of processes in the file are those of this test, which is running.
func TestLoadsAfterInterruptedLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db.loading")
	for range 300 {
		staleLoading(t, file)
		var started, refused atomic.Int32
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 4 {
			all.Go(func() {
				<-start
				switch _, err := (&env{args: []string{"load", "x"}}).lockForLoad(file); {
				case err == nil:
					started.Add(1)
				case errors.Is(err, engine.ErrLocked):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		close(start)
		if all.Wait(); started.Load() != 1 || refused.Load() != 3 {
			t.Fatalf("%d loads began, %d were refused", started.Load(), refused.Load())
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoHardLinks: on a file system without hard links a load does not replace the file of another load that is in
// progress, but that of an interrupted one.
func TestNoHardLinks(t *testing.T) {
	file, e := filepath.Join(t.TempDir(), "a.db.loading"), &env{args: []string{"load", "x"}}
	create := func() error {
		temporary, err := writeLoading(file, e.loadingProcess())
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(temporary)
		return createLoading(temporary, file, func(string, string) error { return syscall.EPERM })
	}
	staleLoading(t, file)
	if err := create(); err != nil {
		t.Fatal(err)
	}
	if err := create(); !errors.Is(err, engine.ErrLocked) {
		t.Errorf("a second load begins: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := create(); err != nil {
		t.Errorf("a load after the first: %v", err)
	}
}

// TestRequestClose: the request of a load replaces the content of the loading file in one step.
func TestRequestClose(t *testing.T) {
	dir, e := t.TempDir(), &env{args: []string{"load", "x"}}
	file := filepath.Join(dir, "a.db.loading")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 2000 {
			if err := e.requestClose(file); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		default:
		}
		if text, err := os.ReadFile(file); err == nil && !json.Valid(text) {
			t.Errorf("the file contained %q", text)
			running = false
		}
	}
	<-ended
	if l := archive.ReadLoading(file); l == nil || !l.Waiting {
		t.Errorf("the file has %v", l)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
}
