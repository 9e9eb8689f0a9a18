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
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"
)

// listInterval is the interval at which watch lists the folder: the system reports no changes over NFS, and watch must
// retry failed loads.
const listInterval = 10 * time.Second

// watcher loads the files of a folder as they settle.
type watcher struct {
	dir         string
	settling    river.Settling
	loaded      map[string]fs.FileInfo // state of each file when a load read it, even if the load refused lines of it
	notifier    *fsnotify.Watcher
	load        func(files []string) (lacking []string, err error)
	reportError func(error)
	incomplete  map[string]error // by file: the reason why the archive lacks lines of it
	removalErr  error            // the last load refused the removal of --retain
}

// run loads files until the context ends.
func (w *watcher) run(ctx context.Context) (err error) {
	if w.notifier, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	defer w.notifier.Close() //nolint:errcheck // read only
	for ctx.Err() == nil {
		found, err := w.files()
		if err != nil {
			return err
		}
		next := listInterval
		if ready := w.settling.Complete(found); len(ready) > 0 {
			err := w.loadReady(ready, found)
			if fault.Code(err) == fault.Usage {
				return err
			}
			if err == nil {
				continue
			}
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				err = errors.New("stopped during a load; the same command loads the rest of its files")
			}
			w.reportError(err)
		} else if len(found) > 0 {
			next = w.settling.Settle
		}
		select {
		case <-ctx.Done():
		case e := <-w.notifier.Events:
			if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
				w.notifier.Add(e.Name) //nolint:errcheck // without it the regular listing finds the files
			}
		case <-w.notifier.Errors: //nolint:errcheck // after a loss of events the next listing finds the files
		case <-time.After(next):
		}
	}
	var all []error
	for _, path := range slices.Sorted(maps.Keys(w.incomplete)) {
		if !slices.ContainsFunc(all, func(e error) bool { return e.Error() == w.incomplete[path].Error() }) {
			all = append(all, w.incomplete[path])
		}
	}
	return errors.Join(append(all, w.removalErr)...)
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
			w.notifier.Add(path) //nolint:errcheck // without it the regular listing finds the files
		case formats.IsFile(path, e) && !formats.IsIgnored(e.Name()):
			if info, err := os.Stat(path); err == nil && !unchanged(w.loaded[path], info) {
				found[path] = info
			}
		}
		return nil
	})
	return found, err
}

// unchanged reports whether a file has the size and modification time that it had before; before is nil for a new file.
func unchanged(before, now fs.FileInfo) bool {
	return before != nil && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
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
	if w.removalErr = nil; incomplete {
		w.reportError(err)
	}
	for _, f := range files {
		w.loaded[f] = found[f]
		delete(w.incomplete, f)
		if slices.Contains(lacking, f) {
			w.incomplete[f] = err
		}
	}
	if incomplete && len(lacking) == 0 {
		w.removalErr = err
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
	sum := *r // what describes the archive is that after the last load
	sum.Files, sum.Skipped, sum.Failed = t.Files+r.Files, t.Skipped+r.Skipped, append(t.Failed, r.Failed...)
	sum.Read, sum.Stored, sum.Duplicates, sum.Conflicts = t.Read+r.Read, t.Stored+r.Stored, t.Duplicates+r.Duplicates, t.Conflicts+r.Conflicts
	sum.Refused, sum.Quarantined, sum.Kept, sum.Removed = t.Refused+r.Refused, t.Quarantined+r.Quarantined, t.Kept+r.Kept, t.Removed+r.Removed
	sum.Bytes, sum.Seconds = t.Bytes+r.Bytes, t.Seconds+r.Seconds
	sum.SkippedWithQuarantine = append(t.SkippedWithQuarantine, r.SkippedWithQuarantine...)
	sum.IncompleteFiles = append(t.IncompleteFiles, r.IncompleteFiles...)
	sum.NotAccepted, sum.OmittedColumns = addCounts(t.NotAccepted, r.NotAccepted), addCounts(t.OmittedColumns, r.OmittedColumns)
	sum.ShortenedTexts = addCounts(t.ShortenedTexts, r.ShortenedTexts)
	t.Result = sum
}

// addCounts adds counts by name; the result is nil if both maps are.
func addCounts(a, b map[string]int64) map[string]int64 {
	sum := maps.Clone(a)
	for name, n := range b {
		if sum == nil {
			sum = map[string]int64{}
		}
		sum[name] += n
	}
	return sum
}

func (t *watchTotals) line() string {
	return fmt.Sprintf("%s loaded, %s skipped, %s failed: %s read = %s stored + %s duplicates + %s conflicts + %s quarantined; %s removed",
		run.CountOf(t.Files, "file"), run.FormatCount(t.Skipped), run.FormatCount(len(t.Failed)), run.CountOf(t.Read, "line"),
		run.FormatCount(t.Stored), run.FormatCount(t.Duplicates), run.FormatCount(t.Conflicts), run.FormatCount(t.Quarantined), run.CountOf(t.Removed, "record"))
}

// watch loads the files of a folder as they arrive, and prints the totals at the end.
func (e *env) watch(ctx context.Context, j *loadJob, dir string, settle time.Duration) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		const cure = "name the folder in which files arrive"
		return &fault.Error{File: dir, Problem: "cannot be watched, because it is not a folder", Cure: cure}
	}
	a, _, unlock, err := j.openForLoad(ctx, e) // to report errors of the engine before files arrive
	if err != nil {
		return err
	}
	err = a.Close()
	if unlock(); err != nil {
		return err
	}
	total := watchTotals{Folder: dir}
	e.info("watching " + fault.Name(dir) + "; stop with ^C or SIGTERM: the archive stays complete")
	w := &watcher{dir: dir, settling: river.Settling{Settle: settle}, reportError: e.reportError}
	w.loaded, w.incomplete = map[string]fs.FileInfo{}, map[string]error{}
	w.load = func(files []string) (lacking []string, err error) {
		err = e.loadFiles(ctx, j, files, func(r *load.Result) error {
			lacking = r.IncompleteFiles
			thisLoad := watchTotals{}
			thisLoad.add(r)
			total.add(r)
			e.info(time.Now().UTC().Format(time.DateTime) + " " + thisLoad.line())
			return nil
		})
		return lacking, err
	}
	err = w.run(ctx)
	if e.json {
		return errors.Join(e.printJSON(&total), err)
	}
	fmt.Fprintf(e.stdout, "%s: %s, %s\n", fault.Name(dir), run.CountOf(total.Loads, "load"), total.line())
	return err
}
