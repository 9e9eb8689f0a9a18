package own

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// absolute makes paths absolute.
func absolute(paths ...string) (out []string, err error) {
	for _, path := range paths {
		if path, err = filepath.Abs(path); err != nil {
			return nil, err
		}
		out = append(out, path)
	}
	return out, nil
}

// checkCold refuses cold repetitions of an engine whose caches Barograph cannot empty. path is the path of an embedded
// engine's files; checkCold stores it in p.
func (r *runner) checkCold(p *participant, path string) (err error) {
	if r.Cold <= 0 || r.ref == nil { // the reference is not timed
		return nil
	}
	refuse := func(problem, cure string) error { return fault.Misuse("--cold with "+p.name, problem, cure) }
	switch {
	case p.place == engine.Embedded && path == ":memory:":
		return refuse("cannot read from a disk what is only in memory", "name a file: "+p.scheme+":own.db")
	case p.place == engine.Embedded:
		p.files, err = absolute(path)
	case len(p.serverPIDs) == 0:
		return refuse("cannot empty the page cache of a server that no lab of this machine runs",
			"run it with `barograph lab up`, or omit --cold")
	case os.Geteuid() != 0:
		return refuse("cannot empty the page cache of a server's files", "run Barograph as root, or omit --cold")
	}
	return err
}

// timeCold times the proven queries with emptied caches, in random order.
func (r *runner) timeCold(ctx context.Context) error {
	return r.repeat(ctx, run.Cold, r.Cold)
}

// withPrefix lists the files and folders whose paths start with a path. It does not use filepath.Glob, because the path
// may contain *, ? or [.
func withPrefix(path string) (found []string, err error) {
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			found = append(found, dir+e.Name())
		}
	}
	return found, err
}

// dropCaches closes an engine, empties the page cache of the system, and opens the engine again. A server keeps its own
// caches.
func (r *runner) dropCaches(ctx context.Context, p *participant) error {
	if err := p.disconnect(); err != nil {
		return err
	}
	var files []string
	for _, path := range p.files {
		found, err := withPrefix(path) // the names of all files of the engine start with its path
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	how, err := r.Drop(files)
	if err != nil {
		return err
	}
	r.folder.Run.ColdMethod = "before each query the engine was closed and reopened, " +
		"and a server, which kept its own caches, got a new connection; " + how
	if err := r.connect(ctx, p, true); err != nil {
		return errors.Join(err, p.disconnect())
	}
	if p.own.Confine != nil {
		return p.own.Confine(ctx, r.folders...)
	}
	return nil
}

// repeat times the proven queries in a phase. The questions have a random order, and the engines a random order for each
// question. A time limit ends after a question that was timed on all engines, so that they can be compared. repeat omits
// the repetitions that a resumed run already has.
func (r *runner) repeat(ctx context.Context, phase run.Phase, reps int) error {
	seed, name := r.Seed, "repetition"
	if phase == run.Cold {
		seed, name = seed+2, "cold repetition"
	}
	timed, queries, todo := r.timedRepetitions(), 0, 0
	isDone := func(p *participant, k, rep int) bool {
		return !p.proven[k] || timed[repetition{run.OwnCell(p.name, r.Questions[k].Name), phase, rep + 1}]
	}
	for _, p := range r.measured() {
		for k := range r.Questions {
			if p.proven[k] {
				queries++
			}
			for rep := range reps {
				if !isDone(p, k, rep) {
					todo++
				}
			}
		}
	}
	if queries == 0 || reps <= 0 {
		return nil
	}
	r.Progress(fmt.Sprintf("timing %s of all engines, %s each", english.Plural(queries, "query", ""), run.CountOf(reps, name)))
	done, began := 0, time.Now()
	for k, rep := range measure.Interleave(seed, len(r.Questions), reps) {
		isMissing := func(p *participant) bool { return !isDone(p, k, rep) }
		if slices.ContainsFunc(r.measured(), isMissing) && r.overdue(fmt.Sprintf("%s %d of %d", name, rep+1, reps)) {
			return nil
		}
		for i := range measure.Interleave(seed+uint64(rep*len(r.Questions)+k), len(r.measured()), 1) { //nolint:gosec // not negative
			p := r.measured()[i]
			if !isMissing(p) {
				continue
			}
			what := "timing " + p.name + ": " + r.Questions[k].Name
			if err := r.withProgress(what, nil, func() error { return r.timeOnce(ctx, p, k, rep, phase) }); err != nil {
				return err
			}
			done++
			r.reportCount("timing", done, todo, began)
		}
	}
	return nil
}
