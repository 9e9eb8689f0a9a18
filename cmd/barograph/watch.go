package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/river"
)

// lookAgain is the interval at which watch lists the folder: the system reports no changes over
// NFS, and a load that failed must be retried.
const lookAgain = 10 * time.Second

// watcher loads the files of a folder as they settle.
type watcher struct {
	dir            string
	settling       river.Settling
	done           map[string]fs.FileInfo // of loaded and refused files, at the time of the load
	dirs           *fsnotify.Watcher
	load           func(files []string) (lacking []string, err error)
	reportError    func(error)
	lackErrors     map[string]error // by file: the reason why the archive lacks lines of it
	refusedRemoval error            // of the last load: it refused the removal of --retain
}

// run loads files until the context ends.
func (w *watcher) run(ctx context.Context) (err error) {
	var all []error
	if w.dirs, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	defer w.dirs.Close() //nolint:errcheck // read only
	for ctx.Err() == nil {
		found, err := w.files()
		if err != nil {
			return err
		}
		next := lookAgain
		if ready := w.settling.Complete(found); len(ready) > 0 {
			err := w.loadReady(ready, found)
			if fault.Code(err) == fault.Usage {
				return err
			}
			if err == nil {
				continue
			}
			w.reportError(err)
		} else if len(found) > 0 {
			next = w.settling.Settle
		}
		select {
		case <-ctx.Done():
		case e := <-w.dirs.Events:
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
				w.dirs.Add(e.Name) //nolint:errcheck // without it the regular listing finds the files
			}
		case <-w.dirs.Errors: //nolint:errcheck // too many events: the next listing finds the files
		case <-time.After(next):
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.lackErrors)) {
		if !slices.ContainsFunc(all, func(e error) bool { return e.Error() == w.lackErrors[path].Error() }) {
			all = append(all, w.lackErrors[path])
		}
	}
	return errors.Join(append(all, w.refusedRemoval)...)
}

// files finds the files below the folder that are new or have changed.
func (w *watcher) files() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	err := formats.Walk(w.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == filepath.Clean(w.dir):
			return &fault.Error{File: path, Problem: "cannot be watched", Err: err, Cure: "name the folder in which files arrive"}
		case err != nil:
			return nil //nolint:nilerr // the file was removed, or this user may not read it
		case e.IsDir():
			w.dirs.Add(path) //nolint:errcheck // without it the regular listing finds the files
		case formats.IsFile(path, e) && !formats.IsIgnored(e.Name()):
			if info, err := os.Stat(path); err == nil && !unchanged(w.done[path], info) {
				found[path] = info
			}
		}
		return nil
	})
	return found, err
}

func unchanged(a, b fs.FileInfo) bool {
	return a != nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// loadReady loads files. It loads a file with refused or quarantined lines again only when the file
// changes.
func (w *watcher) loadReady(ready []*river.Waiting, found map[string]fs.FileInfo) error {
	files := lists.Map(ready, func(f *river.Waiting) string { return f.Path })
	lacking, err := w.load(files)
	incomplete := fault.Code(err) == fault.Incomplete
	if err != nil && !incomplete {
		return err
	}
	if w.refusedRemoval = nil; incomplete {
		w.reportError(err)
	}
	for _, f := range files {
		w.done[f] = found[f]
		delete(w.lackErrors, f)
		if slices.Contains(lacking, f) {
			w.lackErrors[f] = err
		}
	}
	if incomplete && len(lacking) == 0 {
		w.refusedRemoval = err
	}
	return nil
}

// watchTotals is the sum of all loads of a watch.
type watchTotals struct {
	Folder string `json:"watched"`
	Loads  int    `json:"loads"`
	load.Result
}

func (t *watchTotals) add(r *load.Result) {
	t.Loads++
	t.Archive, t.Design, t.Subset, t.Objects, t.Object, t.BytesOnDisk, t.Digest = r.Archive, r.Design, r.Subset, r.Objects, r.Object, r.BytesOnDisk, r.Digest
	t.Files, t.Skipped, t.Read, t.Stored = t.Files+r.Files, t.Skipped+r.Skipped, t.Read+r.Read, t.Stored+r.Stored
	t.Duplicates, t.Conflicts, t.Quarantined, t.Removed = t.Duplicates+r.Duplicates, t.Conflicts+r.Conflicts, t.Quarantined+r.Quarantined, t.Removed+r.Removed
	t.Failed = append(t.Failed, r.Failed...)
}

func (t *watchTotals) line() string {
	return fmt.Sprintf("%d files loaded, %d skipped, %d failed: %d lines read = %d stored + %d duplicates + %d conflicts + %d quarantined; %d records removed",
		t.Files, t.Skipped, len(t.Failed), t.Read, t.Stored, t.Duplicates, t.Conflicts, t.Quarantined, t.Removed)
}

// watch loads the files of a folder as they arrive, and prints the totals at the end.
func (e *env) watch(ctx context.Context, j *loadJob, dir string, settle time.Duration) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &fault.Error{File: dir, Problem: "cannot be watched, because it is not a folder", Cure: "name the folder in which files arrive"}
	}
	a, _, free, err := j.openToLoad(ctx, e) // reports errors of the engine before files arrive
	if err != nil {
		return err
	}
	err = a.Close()
	if free(); err != nil {
		return err
	}
	total := watchTotals{Folder: dir}
	e.info("watching " + fault.Name(dir) + "; stop with ^C or SIGTERM: the archive stays complete")
	w := &watcher{dir: dir, settling: river.Settling{Settle: settle}, done: map[string]fs.FileInfo{}, lackErrors: map[string]error{}, reportError: e.reportError}
	w.load = func(files []string) (lacking []string, err error) {
		err = e.loadFiles(ctx, j, files, func(r *load.Result) error {
			lacking = r.IncompleteFiles
			one := watchTotals{}
			one.add(r)
			total.add(r)
			e.info(time.Now().UTC().Format(time.DateTime) + " " + one.line())
			return nil
		})
		return lacking, err
	}
	err = w.run(ctx)
	if e.json {
		return errors.Join(e.printJSON(&total), err)
	}
	fmt.Fprintf(e.stdout, "%s: %d loads, %s\n", fault.Name(dir), total.Loads, total.line())
	return err
}
