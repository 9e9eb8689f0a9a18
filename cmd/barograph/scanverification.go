package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/formats"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/scan"

	"github.com/spf13/cobra"
)

// verificationFlags are a run of `barograph scan verification`.
type verificationFlags struct {
	env                   *env
	db, subset, out, labs string
	designs               []string
	reps, cold            int
	seed                  uint64
}

func newScanVerification(e *env) *cobra.Command {
	f := &verificationFlags{env: e}
	c := &cobra.Command{
		Use:   "verification FILES… --engine URL [--design D,…]",
		Short: "Scan a whole verification archive: the mean ACC by model, variable, level, region and lead",
		Long: `Ask what a die-off page over all years asks: for every model, fcst_var, fcst_lev, vx_mask and fcst_lead of an archive the
number of SAL1L2 records, and the mean of their anomaly correlations. The engine itself computes, groups and averages; it
looks at every record, as the question has no condition. Engines that cannot are refused.

FILES are VSDB and MET files, or folders of them. They are loaded under every design, unless the archive holds them already
(barograph load), and the reference is computed from them alone: every answer is held against it, counts exactly, means to
within what the order of a floating-point sum can change. An archive that holds other files, too, is refused.

The archive lies where the engine keeps its data: it is not spread over paths. Cold answers are asked after the database was
closed, the system's page cache emptied, and the database opened anew; of a server the connection is, and its memory stays.`,
		Example: `  barograph synth vsdb --preset seed --out archive
  barograph scan verification archive --engine duckdb:archive.db --cold 5
  barograph scan verification archive --engine postgres://postgres@127.0.0.1:5432/ --design wide,normalized`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), args) },
	}
	c.Flags().StringVar(&f.db, engineFlag, "", "URL of the engine (required)")
	c.Flags().StringSliceVar(&f.designs, "design", nil, "designs (default: all under which the engine computes means)")
	c.Flags().StringVar(&f.subset, "subset", defaultSubset, "name of the copy of the data set inside the archive")
	c.Flags().IntVar(&f.reps, "reps", 5, "warm answers under each design")
	c.Flags().IntVar(&f.cold, "cold", 0, "cold answers under each design")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the order")
	c.Flags().StringVar(&f.out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&f.labs, "lab-dir", engine.LabDir(), "folder of the labs: a server that one of them started is watched beside the run")
	f.env.enginesNamed(c, "db")
	c.MarkFlagRequired(engineFlag) //nolint:errcheck // the flag exists
	complete(c, "design", designNames)
	return c
}

// capable are the engines that compute means.
func (f *verificationFlags) capable() (out []string) {
	for _, d := range f.env.engines {
		if len(d.Means) > 0 {
			out = append(out, d.Scheme)
		}
	}
	return out
}

func (f *verificationFlags) run(ctx context.Context, args []string) error {
	d, u, err := f.env.engines.Parse(f.db)
	if err != nil {
		return usage(err)
	}
	designs, err := scan.DesignsOf(d, f.designs, f.capable())
	if err != nil {
		return usage(err)
	}
	if err := f.env.reach(ctx, f.db); err != nil {
		return err
	}
	files, err := formats.Expand(args)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usage(&fault.Error{Setting: strings.Join(args, " "), Problem: "names no file", Cure: "name .vsdb or .stat files, or a folder that holds them"})
	}
	result := &run.Scans{
		Started: time.Now().UTC().Truncate(time.Second), Args: redacted(f.env.args), Engine: d.Scheme, Place: string(d.Place),
		Server: labServer([]string{f.labs}, d, u), Machine: measure.ReadMachine(ctx, "."), Limited: "the archive lies where the engine keeps its data",
	}
	result.Warnings = result.Machine.Warnings()
	o := scan.Verification{
		Files: files, Subset: f.subset, Designs: designs, Warm: f.reps, Cold: f.cold, Seed: f.seed, PIDs: labProcesses(f.labs, d, u),
		Progress: func(s string) { fmt.Fprintln(f.env.stderr, s) },
		Open: func(ctx context.Context) (*engine.Engine, error) {
			return f.env.engines.Open(ctx, f.db, engine.Options{Log: f.env.log()})
		},
	}
	if err := f.local(ctx, d, u, &o, result); err != nil {
		return err
	}
	if f.cold > 0 && len(o.Local) == 0 && os.Geteuid() != 0 {
		return usage(&fault.Error{Setting: "--cold", Problem: "cannot empty the page cache of files that it does not know", Cure: "run as root, or on an engine whose files are named"})
	}
	return f.measured(ctx, o, result)
}

// local finds where the archive lies, and on which device: the file or folder
// of an embedded engine, or the folder of a lab's server.
func (f *verificationFlags) local(ctx context.Context, d *engine.Driver, u *url.URL, o *scan.Verification, result *run.Scans) error {
	at := ""
	switch {
	case d.Place == engine.Embedded:
		path, err := filepath.Abs(engine.Path(u))
		if err != nil {
			return err
		}
		o.Local, at = []string{path}, filepath.Dir(path)
	case result.Server != nil:
		at = filepath.Join(f.labs, d.Scheme)
	}
	if at == "" {
		return nil
	}
	devices, err := measure.Devices(ctx, []string{at})
	if err != nil {
		return err
	}
	o.Devices = devices
	result.Disks = []run.ScanDisk{{Path: at, Device: devices[0], Type: measure.ReadMachine(ctx, at).Disk.Type}}
	return nil
}

// measured runs, and writes the run folder and its report.
func (f *verificationFlags) measured(ctx context.Context, o scan.Verification, result *run.Scans) error {
	db, err := o.Open(ctx)
	if err != nil {
		return err
	}
	about, err := db.About(ctx)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	result.Product, result.Version, result.Settings = about.Product, about.Version, about.Settings
	if about.Unranked != "" {
		result.Warnings = append(result.Warnings, "its times stand in no ranking: "+about.Unranked)
	}
	if f.out == "" {
		f.out = filepath.Join("runs", run.ID(result.Started, "scan"))
	}
	o.Save = func() error { return result.Save(f.out) }
	err = scan.Verify(ctx, o, result)
	if len(result.Points) > 0 {
		err = errors.Join(err, f.env.report(f.out))
	}
	if errors.Is(err, scan.ErrWrong) {
		return &fault.Status{Code: fault.Differs, Err: err}
	}
	return err
}
