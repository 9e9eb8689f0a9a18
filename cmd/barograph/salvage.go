package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"
)

// salvage copies the readable records of an archive into a new one, and lists what is missing.
func (e *env) salvage(ctx context.Context, url, only, to string) (err error) {
	d, u, err := e.engines.Parse(to)
	if err != nil {
		return usage(err)
	}
	if path := engine.Path(u); d.Place == engine.Embedded && path != "" {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fault.Misuse("--salvage "+fault.Redact(to), "exists already", "name a new archive")
		}
	}
	if err := e.offersDesignsOf(ctx, url, only, to); err != nil {
		return err
	}
	var all []salvageReport
	err = e.eachSubset(ctx, url, only, engine.Options{ReadOnly: true}, func(n design.Name, from archive.Archive, subset string) (err error) {
		_, db, err := e.openEngine(ctx, to, n, engine.Options{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		a, err := archive.DatabaseOf(db).Open(ctx, n)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		s, err := load.Salvage(ctx, from, subset, fault.Redact(url), a)
		if err == nil {
			all = append(all, newSalvageReport(url, to, n, subset, s))
		}
		return err
	})
	if err != nil {
		return err
	}
	return e.printSalvaged(all)
}

// offersDesignsOf returns an error if the engine of a new archive lacks a design of the archive that salvage copies.
func (e *env) offersDesignsOf(ctx context.Context, url, only, to string) error {
	d, _, err := e.engines.Parse(to)
	if err != nil {
		return usage(err)
	}
	var lacking []design.Name
	visit := func(n design.Name, _ archive.Archive, _ string) error {
		if archive.Flavours(d, n) == nil && !slices.Contains(lacking, n) {
			lacking = append(lacking, n)
		}
		return nil
	}
	err = e.eachSubset(ctx, url, only, engine.Options{ReadOnly: true}, visit)
	if err == nil && len(lacking) > 0 {
		problem := "cannot have the design " + join(lacking) + " of " + fault.Redact(url)
		err = fault.Misuse("--salvage "+fault.Redact(to), problem, "name a new archive of another engine; see `barograph list engines`")
	}
	return err
}

// pruneReport is the result of verify --prune for one subset in one design.
type pruneReport struct {
	Archive   string      `json:"archive"`
	Design    design.Name `json:"design"`
	Subset    string      `json:"subset"`
	Lost      int64       `json:"records_missing"`
	Total     int64       `json:"records"`
	Forgotten bool        `json:"forgotten"` // false = a dry run, or prune refused
	Files     []string    `json:"files"`
	isPreview bool        // a dry run that prune did not refuse
}

// pathsOf returns the paths of files that an archive lists.
func pathsOf(marks []archive.Mark) []string {
	return lists.Map(marks, func(m archive.Mark) string { return fault.Redact(m.Path) })
}

// printPruned prints the results of verify --prune.
func (e *env) printPruned(all []pruneReport) error {
	if len(all) == 0 { // after an error
		return nil
	}
	return e.print(all, func(w io.Writer) error {
		for _, p := range all {
			if p.Lost == 0 {
				fmt.Fprintf(w, "%s, design %s, subset %s: none of %s is missing; nothing to forget\n", p.Archive, p.Design, p.Subset, run.CountOf(p.Total, "record"))
				continue
			}
			verb := english.PluralWord(int(p.Lost), "is", "are")
			outcome := verb
			if p.isPreview {
				outcome = "would be"
			} else if !p.Forgotten {
				outcome += " not"
			}
			fmt.Fprintf(w, "%s, design %s, subset %s: %s of %s %s missing, and %s forgotten with %s\n", p.Archive, p.Design, p.Subset, run.FormatCount(p.Lost),
				run.CountOf(p.Total, "record"), verb, outcome, run.CountOf(len(p.Files), "file"))
			for _, file := range p.Files {
				fmt.Fprintln(w, "  "+fault.Name(file))
			}
		}
		return nil
	})
}

// salvageReport is the result for one subset in one design.
type salvageReport struct {
	Archive    string       `json:"archive"`
	NewArchive string       `json:"new_archive"`
	Design     string       `json:"design"`
	Subset     string       `json:"subset"`
	Records    int64        `json:"records"` // that the loads stored
	Copied     int64        `json:"records_copied"`
	Losses     []string     `json:"losses,omitempty"`
	Missing    []string     `json:"missing,omitempty"` // one line for each group of series
	Files      []originFile `json:"files_of_origin,omitempty"`
}

// originFile is a file that was loaded into a damaged archive.
type originFile struct {
	Path    string `json:"path"`
	Records int64  `json:"records"`
}

func newSalvageReport(url, to string, n design.Name, subset string, s *load.SalvageResult) salvageReport {
	out := salvageReport{
		Archive: fault.Redact(url), NewArchive: fault.Redact(to), Design: string(n), Subset: subset,
		Records: s.Records, Copied: s.Copied, Missing: s.Missing,
	}
	for _, l := range s.Losses {
		why := l.Err
		if f, ok := errors.AsType[*fault.Error](why); ok && f.Err != nil { // print only the cause: the line names the place
			why = f.Err
		}
		out.Losses = append(out.Losses, fault.Name(l.Place)+": "+fault.Redact(why.Error()))
	}
	for _, m := range s.Files {
		if len(s.Missing) > 0 {
			out.Files = append(out.Files, originFile{m.Path, m.Stored})
		}
	}
	return out
}

// printSalvaged prints the results of verify --salvage. It returns an error if an archive lacks records.
func (e *env) printSalvaged(all []salvageReport) error {
	err := e.print(all, func(w io.Writer) error {
		for _, r := range all {
			fmt.Fprintf(w, "%s, design %s, subset %s: %s of %s copied to %s\n",
				r.Archive, r.Design, r.Subset, run.FormatCount(r.Copied), run.CountOf(r.Records, "record"), r.NewArchive)
			for _, line := range r.Losses {
				fmt.Fprintf(w, "  not read: %s\n", line)
			}
			for _, line := range r.Missing {
				fmt.Fprintf(w, "  missing: %s\n", line)
			}
			for _, f := range r.Files {
				fmt.Fprintf(w, "  file of origin: %s (%s)\n", fault.Name(f.Path), run.CountOf(f.Records, "record"))
			}
		}
		return nil
	})
	damaged := slices.IndexFunc(all, func(r salvageReport) bool { return len(r.Missing)+len(r.Losses) > 0 })
	if err != nil || damaged < 0 {
		return err
	}
	r := &all[damaged]
	problem := fmt.Sprintf("has %s of %s of subset %s", run.FormatCount(r.Copied), run.CountOf(r.Records, "record"), r.Subset)
	const cure = "load the files of origin into it: the load skips the records that it has"
	return differs(&fault.Error{Setting: r.NewArchive, Problem: problem, Cure: cure})
}
