package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"

	"github.com/spf13/cobra"
)

func newVerify(e *env) *cobra.Command {
	last := &choice{}
	var subset, salvage string
	var prune, force, dryRun bool
	c := &cobra.Command{
		Use:   "verify [URL] [FILES…]",
		Short: "Prove that an archive contains what was loaded",
		Long: `Verify reads all records of an archive, and compares the count and digest of each group of series (the
records with the same line type, version, model, observation type and variable) with those that the loads stored for it.
It reports groups with records that were lost, changed or added since then. With FILES it also looks up each record of the
files, and names missing and differing ones by file and line. Without URL it verifies the archive that the environment variable BAROGRAPH_ENGINE names.`,
		Example: `  barograph verify duckdb:archive.db
  barograph verify lab:postgres vsdb_data
  barograph verify duckdb:damaged.db --salvage duckdb:new.db`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			url, files, err := e.splitArchive(c, args)
			if err != nil {
				return err
			}
			if prune && len(files) > 0 {
				return fault.Misuse("--prune", "accepts no files", "omit "+strings.Join(files, " "))
			}
			if prune {
				return e.prune(c.Context(), url, subset, force, dryRun)
			}
			if force || dryRun {
				return fault.Misuse("--force, --dry-run", "need --prune", "add --prune")
			}
			if salvage != "" {
				if len(files) > 0 {
					return fault.Misuse("--salvage", "accepts no files", "load them into the new archive afterward: the load skips the records that it has")
				}
				return e.salvage(c.Context(), url, subset, salvage)
			}
			return e.verify(c.Context(), url, subset, files, last.keeps())
		},
	}
	last = lastLine(c)
	f := c.Flags()
	f.BoolVar(&prune, "prune", false, "accept that records were deleted on purpose: correct the stored counts, so that verify without FILES no longer reports them; deletes no record; a later load of their files stores them again")
	f.BoolVar(&force, "force", false, fmt.Sprintf("with --prune: also if more than %d %% of the records of a subset were deleted", load.DefaultLimit))
	f.BoolVar(&dryRun, "dry-run", false, "with --prune: change nothing, and list what would be accepted")
	f.StringVar(&salvage, "salvage", "", "URL of a new archive: copy every readable record into it, and list what is missing")
	f.StringVar(&subset, "subset", "", "verify only this subset (default: all)")
	c.MarkFlagsMutuallyExclusive("prune", "salvage")
	return c
}

// verdict is the output of verify for one subset in one design.
type verdict struct {
	Archive         string            `json:"archive"`
	Design          string            `json:"design"`
	Subset          string            `json:"subset"`
	Records         int64             `json:"records"`
	Digest          string            `json:"digest"`
	Intact          bool              `json:"intact"`
	Loading         string            `json:"loading,omitempty"` // the load is in progress, or was interrupted
	Problems        []string          `json:"problems,omitempty"`
	Failed          []string          `json:"files_failed,omitempty"` // of the first subset that was compared with the files
	Differences     []load.Difference `json:"records_that_differ,omitempty"`
	DifferenceCount int64             `json:"records_that_differ_in_all"`
}

func newVerdict(url string, n design.Name, subset string, v *load.VerifyResult) verdict {
	return verdict{
		Archive: fault.Redact(url), Design: string(n), Subset: subset, Records: v.Found.Records, Digest: v.Found.String(),
		Intact: len(v.Problems) == 0, Problems: v.Problems,
	}
}

func (e *env) verify(ctx context.Context, url, only string, args []string, keepLast bool) error {
	files, err := e.onlyFiles(args, "name the archive first, and then only files")
	if err != nil {
		return err
	}
	if len(args) > 0 && len(files) == 0 {
		return fault.Misuse(strings.Join(args, " "), "names no file", "name the .vsdb or .stat files that were loaded")
	}
	all := []verdict{}
	var failed, unverified []error
	err = e.eachSubset(ctx, url, only, engine.Options{ReadOnly: true}, func(n design.Name, a archive.Archive, subset string) error {
		c, err := a.Catalog(ctx, subset)
		if err == nil && c.AdoptedOnly {
			unverified = append(unverified, incomplete(&fault.Error{
				Setting: fault.Redact(url) + ", subset " + subset, Problem: "is not verified, because another program loaded it",
				Cure: "barograph adopt checks it for that program's known faults",
			}))
			return nil
		}
		v, err := load.Verify(ctx, a, subset)
		out := newVerdict(url, n, subset, cmp.Or(v, &load.VerifyResult{}))
		if c != nil && c.Loading != nil {
			out.Loading = loadState(c.Loading)
		}
		if len(files) > 0 && err == nil {
			var unread []error
			out.Differences, out.DifferenceCount, unread, err = load.Compare(ctx, a, subset, files, keepLast)
			if len(failed) == 0 { // Compare finds the same files for each subset
				failed = unread
				out.Failed = lists.Map(failed, func(err error) string { return fault.Redact(err.Error()) })
			}
		}
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, engine.ErrUnreachable)):
			return err
		case fault.Code(err) == fault.Incomplete: // a load has changed the subset meanwhile
			unverified = append(unverified, err)
			return nil
		case err != nil: // verify continues with the other subsets
			out.Problems = append(out.Problems, fault.Redact(err.Error()))
		}
		out.Intact = len(out.Problems) == 0 && out.DifferenceCount == 0
		all = append(all, out)
		return nil
	})
	if len(all) > 0 && errors.Is(err, engine.ErrUnreachable) { // the verdicts before the loss of the server are valid
		return errors.Join(err, e.printVerdicts(all))
	}
	if err != nil {
		return err
	}
	return errors.Join(e.printVerdicts(all), errors.Join(unverified...), load.Shortfall{Unread: len(failed)}.Incomplete())
}

// errDryRun stops a dry run before it writes.
var errDryRun = errors.New("nothing is written")

// prune accepts deliberate deletions, in one subset or in all. If it refuses a subset, or cannot read it, it continues
// with the others.
func (e *env) prune(ctx context.Context, url, only string, force, dryRun bool) error {
	var refused error
	var all []pruneReport
	prune := func(n design.Name, a archive.Archive, subset string) error {
		p, err := load.Prune(ctx, a, subset, func(p *load.PruneResult) (err error) {
			if !force {
				err = p.Err(load.DefaultLimit, dryRun)
			}
			if dryRun {
				return cmp.Or(err, errDryRun)
			}
			return err
		})
		if p == nil && (ctx.Err() != nil || errors.Is(err, engine.ErrUnreachable)) {
			return err
		}
		if dryRun && errors.Is(err, load.ErrOtherChanges) {
			err = incomplete(err)
		}
		forgotten, isPreview := err == nil && !dryRun, errors.Is(err, errDryRun)
		if isPreview {
			err = nil
		}
		if refused = errors.Join(refused, err); p != nil {
			all = append(all, pruneReport{fault.Redact(url), n, subset, p.Lost, p.Total, forgotten, pathsOf(p.Files), isPreview})
		}
		return nil
	}
	err := e.eachSubset(ctx, url, only, engine.Options{ReadOnly: dryRun}, prune)
	return errors.Join(err, e.printPruned(all), refused)
}

// printVerdicts prints the verdicts. It returns an error if an archive is damaged, or if its load has not finished.
func (e *env) printVerdicts(all []verdict) error {
	err := e.print(all, func(w io.Writer) error {
		for i := range all {
			all[i].print(w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	damaged := lists.Filter(all, func(v verdict) bool { return !v.Intact })
	if len(damaged) == 0 {
		return unfinishedError(all)
	}
	url, subset := damaged[0].Archive, " --subset "+damaged[0].Subset
	if slices.ContainsFunc(damaged, func(v verdict) bool { return v.Subset != damaged[0].Subset }) {
		subset = ""
	}
	cure := "restore a backup, load the files into a new archive, or copy the readable records (--salvage); if records were " +
		"deleted on purpose: barograph verify " + url + subset + " --prune; if METdbLoad has also loaded records: barograph adopt"
	differsFromLoads := func(v verdict) bool { return len(v.Problems) > 0 || v.DifferenceCount == 0 }
	if !slices.ContainsFunc(damaged, differsFromLoads) { // the archive has what the loads stored, but the files differ
		cure = "if METdbLoad loaded these records and adopt repaired them, load the files again: barograph load FILE --on-conflict " +
			"last --engine " + url + " --design " + damaged[0].Design + " --subset " + damaged[0].Subset +
			"; if not, load the files into a new archive"
	}
	problem := fmt.Sprintf("is not intact in %d of %d subsets", len(damaged), len(all))
	return differs(&fault.Error{Setting: url, Problem: problem, Cure: cure})
}

// unfinishedError is the error of archives whose load has not finished.
func unfinishedError(all []verdict) error {
	for _, v := range all {
		if v.Loading != "" {
			return incomplete(&fault.Error{
				Setting: v.Archive + ", subset " + v.Subset, Problem: "the stored records are intact, but the load has not finished",
				Cure: "wait for the load, or run its command again",
			})
		}
	}
	return nil
}

func (v *verdict) print(w io.Writer) {
	state := "is intact"
	if !v.Intact {
		state = "IS NOT INTACT"
	}
	fmt.Fprintf(w, "%s, design %s, subset %s %s: %s, digest %s\n",
		v.Archive, v.Design, v.Subset, state, run.CountOf(v.Records, "record"), v.Digest)
	if v.Loading != "" {
		fmt.Fprintln(w, "  the archive "+v.Loading)
	}
	for _, p := range v.Problems {
		fmt.Fprintln(w, "  "+p)
	}
	for _, f := range v.Failed {
		fmt.Fprintln(w, "  not compared: "+f)
	}
	for _, m := range v.Differences {
		what := "the archive has different values of"
		if m.Missing {
			what = "the archive lacks"
		}
		fmt.Fprintf(w, "  %s: %s %s\n", m.Line, what, m.Record)
	}
	if more := v.DifferenceCount - int64(len(v.Differences)); more > 0 {
		fmt.Fprintf(w, "  … and %d more\n", more)
	}
}
