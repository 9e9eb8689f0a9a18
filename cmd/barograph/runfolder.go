package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/measure"
	"github.com/barograph/barograph/run"
)

// inFolder runs a workload into a run folder, which gets a name where it has
// none. Of one that came to nothing worth keeping, nothing is left.
func inFolder(out *string, workload string, f func() (keep bool, err error)) error {
	if *out == "" {
		*out = filepath.Join("runs", run.ID(time.Now(), workload))
	}
	_, absent := os.Stat(*out)
	keep, err := f()
	if err != nil && !keep && errors.Is(absent, fs.ErrNotExist) {
		err = errors.Join(err, os.RemoveAll(*out))
	}
	return err
}

// newRun is what every run knows before it begins.
func (e *env) newRun(ctx context.Context, dir, workload string, seed uint64, source string) run.Run {
	r := run.Run{
		ID: filepath.Base(dir), Workload: workload, Version: engine.Version(), Args: redacted(e.args), Seed: seed,
		Started: time.Now().UTC(), Machine: measure.ReadMachine(ctx, filepath.Dir(dir)), Data: run.Data{Source: source},
	}
	r.Warnings = r.Machine.Warnings()
	return r
}

// runFolder begins a run folder.
func (e *env) runFolder(ctx context.Context, dir, workload string, seed uint64, source string) (*run.Folder, error) {
	return run.Create(dir, e.newRun(ctx, dir, workload, seed, source))
}
