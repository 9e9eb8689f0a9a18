package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
)

// salvage copies the readable records of an archive into a new one, and lists what is missing.
func (e *env) salvage(ctx context.Context, url, only, to string) (err error) {
	_, u, err := e.engines.Parse(to)
	if err != nil {
		return usage(err)
	}
	if path := engine.Path(u); path != "" {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fault.Misuse("--salvage "+fault.Redact(to), "exists already", "name a new archive")
		}
	}
	var all []salvageReport
	err = e.eachSubset(ctx, url, func(n design.Name, from archive.Archive, subset string) (err error) {
		if only != "" && subset != only {
			return nil
		}
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
	if only != "" && len(all) == 0 {
		return fault.Misuse("--subset "+only, "is not in "+fault.Redact(url), "see `barograph show "+fault.Redact(url)+"`")
	}
	return e.salvageResult(all)
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
	Missing    []string     `json:"missing,omitempty"` // one line for each series
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
		if f, ok := errors.AsType[*fault.Error](why); ok && f.Err != nil { // the place implies that the archive is damaged
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

func (e *env) salvageResult(all []salvageReport) error {
	if e.json {
		if err := e.printJSON(all); err != nil {
			return err
		}
	}
	var incomplete *salvageReport
	for i := range all {
		r := &all[i]
		if len(r.Missing)+len(r.Losses) > 0 && incomplete == nil {
			incomplete = r
		}
		if e.json {
			continue
		}
		fmt.Fprintf(e.stdout, "%s, design %s, subset %s: %d of %d records copied to %s\n", r.Archive, r.Design, r.Subset, r.Copied, r.Records, r.NewArchive)
		for _, list := range []struct {
			head  string
			lines []string
		}{{"not read", r.Losses}, {"missing", r.Missing}} {
			for _, line := range list.lines {
				fmt.Fprintf(e.stdout, "  %s: %s\n", list.head, line)
			}
		}
		for _, f := range r.Files {
			fmt.Fprintf(e.stdout, "  file of origin: %s (%d records)\n", fault.Name(f.Path), f.Records)
		}
	}
	if incomplete == nil {
		return nil
	}
	return &fault.Status{Code: fault.Differs, Err: &fault.Error{
		Setting: incomplete.NewArchive, Problem: fmt.Sprintf("has %d of the %d records of subset %s", incomplete.Copied, incomplete.Records, incomplete.Subset),
		Cure: "load the files of origin into it: the load skips the records that it has",
	}}
}
