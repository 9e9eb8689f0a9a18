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
	"github.com/barograph/barograph/river"
)

// lookAgain is how often a folder that is watched is looked through where the
// system tells of no change, as over NFS, and after a load that failed.
const lookAgain = 10 * time.Second

// watcher loads the files of a folder as they settle.
type watcher struct {
	dir      string
	settling river.Settling
	done     map[string]fs.FileInfo // files that were loaded or refused, as they were
	dirs     *fsnotify.Watcher
	load     func(files []string) (lacking []string, err error)
	tells    func(error)
	lacks    map[string]error // by file, why the archive lacks lines of it
	refused  error            // the last load did not remove what --retain names
}

// run goes on until the context ends.
func (w *watcher) run(ctx context.Context) (err error) {
	var all []error
	if w.dirs, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	defer w.dirs.Close() //nolint:errcheck // it only watched
	for ctx.Err() == nil {
		found, err := w.files()
		if err != nil {
			return err
		}
		next := lookAgain
		if ready := w.settling.Whole(found); len(ready) > 0 {
			err := w.take(ready, found)
			if fault.Code(err) == fault.Usage {
				return err
			}
			if err == nil {
				continue
			}
			w.tells(err)
		} else if len(found) > 0 {
			next = w.settling.Settle
		}
		select {
		case <-ctx.Done():
		case e := <-w.dirs.Events:
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
				w.dirs.Add(e.Name) //nolint:errcheck // then it is looked through now and then
			}
		case <-w.dirs.Errors: //nolint:errcheck // too many events: files are looked for in any case
		case <-time.After(next):
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.lacks)) {
		if !slices.ContainsFunc(all, func(e error) bool { return e.Error() == w.lacks[path].Error() }) {
			all = append(all, w.lacks[path])
		}
	}
	return errors.Join(append(all, w.refused)...)
}

// files are those below the folder that are not done.
func (w *watcher) files() (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	err := formats.Walk(w.dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == filepath.Clean(w.dir):
			return &fault.Error{File: path, Problem: "cannot be watched", Err: err, Cure: "name the folder in which files arrive"}
		case err != nil:
			return nil //nolint:nilerr // it is gone, or not for us
		case e.IsDir():
			w.dirs.Add(path) //nolint:errcheck // then it is looked through now and then
		case formats.IsFile(path, e) && !formats.IsIgnored(e.Name()):
			if info, err := os.Stat(path); err == nil && !same(w.done[path], info) {
				found[path] = info
			}
		}
		return nil
	})
	return found, err
}

func same(a, b fs.FileInfo) bool {
	return a != nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// take loads files. Those with lines that the archive lacks are not tried again
// before they change.
func (w *watcher) take(ready []*river.Waiting, found map[string]fs.FileInfo) error {
	files := make([]string, len(ready))
	for i := range ready {
		files[i] = ready[i].Path
	}
	lacking, err := w.load(files)
	incomplete := fault.Code(err) == fault.Incomplete
	if err != nil && !incomplete {
		return err
	}
	if w.refused = nil; incomplete {
		w.tells(err)
	}
	for _, f := range files {
		w.done[f] = found[f]
		delete(w.lacks, f)
		if slices.Contains(lacking, f) {
			w.lacks[f] = err
		}
	}
	if incomplete && len(lacking) == 0 {
		w.refused = err
	}
	return nil
}

// watched is what a command that watched has done in all.
type watched struct {
	Folder string `json:"watched"`
	Loads  int    `json:"loads"`
	load.Result
}

func (t *watched) add(r *load.Result) {
	t.Loads++
	t.Archive, t.Design, t.Subset, t.Objects, t.Object, t.BytesOnDisk, t.Digest = r.Archive, r.Design, r.Subset, r.Objects, r.Object, r.BytesOnDisk, r.Digest
	t.Files, t.Skipped, t.Read, t.Stored = t.Files+r.Files, t.Skipped+r.Skipped, t.Read+r.Read, t.Stored+r.Stored
	t.Duplicates, t.Conflicts, t.Quarantined, t.Removed = t.Duplicates+r.Duplicates, t.Conflicts+r.Conflicts, t.Quarantined+r.Quarantined, t.Removed+r.Removed
	t.Failed = append(t.Failed, r.Failed...)
}

func (t *watched) line() string {
	return fmt.Sprintf("%d files loaded, %d skipped, %d failed: %d lines read = %d stored + %d duplicates + %d conflicts + %d quarantined; %d records removed",
		t.Files, t.Skipped, len(t.Failed), t.Read, t.Stored, t.Duplicates, t.Conflicts, t.Quarantined, t.Removed)
}

// watch loads the files of a folder as they come, and says at the end what was done.
func (e *env) watch(ctx context.Context, j *loadJob, dir string, settle time.Duration) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &fault.Error{File: dir, Problem: "cannot be watched, because it is not a folder", Cure: "name the folder in which files arrive"}
	}
	a, _, free, err := j.openToLoad(ctx, e) // what is wrong with the engine is reported before files come
	if err != nil {
		return err
	}
	err = a.Close()
	if free(); err != nil {
		return err
	}
	total := watched{Folder: dir}
	e.says("watching " + fault.Name(dir) + "; ^C or SIGTERM ends it, with everything whole")
	w := &watcher{dir: dir, settling: river.Settling{Settle: settle}, done: map[string]fs.FileInfo{}, lacks: map[string]error{}, tells: e.tells}
	w.load = func(files []string) (lacking []string, err error) {
		err = e.loadFiles(ctx, j, files, func(r *load.Result) error {
			lacking = r.IncompleteFiles
			one := watched{}
			one.add(r)
			total.add(r)
			e.says(time.Now().UTC().Format(time.DateTime) + " " + one.line())
			return nil
		})
		return lacking, err
	}
	err = w.run(ctx)
	if e.json {
		return errors.Join(e.printJSON(&total), err)
	}
	fmt.Fprintf(e.stdout, "%s was watched: %d loads, %s\n", fault.Name(dir), total.Loads, total.line())
	return err
}
