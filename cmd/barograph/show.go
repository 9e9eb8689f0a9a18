package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

func newShow(e *env) *cobra.Command {
	last, picture, leads := &choice{}, "", false
	c := &cobra.Command{
		Use:   "show [URL] | show FILES…",
		Short: "Show what an archive or files contain",
		Long: `Show lists, for each line type, the models, variables, levels, regions, observation types, thresholds, leads and valid
times, with the missing times. It also counts records and files, and lists quarantined lines with the reasons.

For an archive, show prints the counts that its loads stored, for every design and subset. It does not read the records;
run "barograph verify" for that. For files, show reads every line, counts duplicates and conflicts, and prints the
digest that a load of these files will have. For files, and with --leads for an archive, show also lists the leads that lack
times which other leads of the same model have.`,
		Example: `  barograph show duckdb:archive.db
  barograph show lab:postgres
  barograph show vsdb_data --plot coverage.svg`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := plot.FormatOf(picture); err != nil {
				return err
			}
			if len(args) == 0 || len(args) == 1 && e.isArchive(args[0]) {
				url, _, err := e.splitArchive(c, args)
				if err != nil {
					return err
				}
				return e.showArchive(c.Context(), url, picture, leads)
			}
			return e.showFiles(c.Context(), args, last.keeps(), picture)
		},
	}
	last = lastLine(c)
	c.Flags().BoolVar(&leads, "leads", false, "read the records of an archive, and list leads that lack times which other leads have")
	c.Flags().StringVar(&picture, "plot", "", "draw the valid times of every series, and the missing ones, into this file: .svg, .png or .pdf")
	return c
}

// isArchive reports whether an argument names an archive, not a file.
func (e *env) isArchive(arg string) bool {
	if _, err := os.Stat(arg); err == nil {
		return e.engines.Recognize(arg) != ""
	}
	_, _, err := e.engines.Parse(arg)
	return err == nil || strings.Contains(arg, ":")
}

// subsetContents is the output of show for one subset in one design, or for files.
type subsetContents struct {
	Archive     string              `json:"archive,omitempty"`
	Design      string              `json:"design,omitempty"`
	Subset      string              `json:"subset,omitempty"`
	StoredBy    string              `json:"stored_by,omitempty"` // Barograph's version
	Bytes       int64               `json:"bytes_on_disk,omitempty"`
	Digest      string              `json:"digest"`
	Records     int64               `json:"records"`
	Objects     int64               `json:"objects,omitempty"`
	Uncounted   bool                `json:"uncounted,omitempty"`
	Files       int                 `json:"files"`
	FileBytes   int64               `json:"bytes_of_files"`
	LastLoad    time.Time           `json:"last_load,omitzero"`
	Lines       int64               `json:"lines"`
	Quarantined int64               `json:"lines_quarantined"`
	Types       []design.Inventory  `json:"line_types"`
	Quarantine  []design.Quarantine `json:"quarantine,omitempty"`
	Conflicts   int                 `json:"conflicts,omitempty"`
	Duplicates  int64               `json:"lines_duplicate,omitempty"` // only for files: an archive counts a record once
	Refused     int64               `json:"lines_refused,omitempty"`   // only for files: lines that conflict
	Failed      []string            `json:"files_failed,omitempty"`
	Loading     *design.Loading     `json:"loading,omitempty"`
	Removed     int64               `json:"records_removed,omitempty"`
	LeadHoles   []design.LeadHole   `json:"lead_holes"` // null = show did not read the records

	catalog *design.Catalog
}

func newContents(c *design.Catalog, marks []archive.Mark) subsetContents {
	digest := c.Digest()
	s := subsetContents{
		StoredBy: c.Program, Digest: digest.String(), Records: digest.Records, Objects: c.Objects, Uncounted: !c.Counted,
		Files: len(marks), Types: c.Inventory(), Conflicts: len(c.Conflicts), Loading: c.Loading, Removed: c.Trimmed, catalog: c,
	}
	for _, m := range marks {
		s.FileBytes, s.Lines, s.Quarantined = s.FileBytes+m.Bytes, s.Lines+m.Read, s.Quarantined+m.Quarantined
		if m.Loaded.After(s.LastLoad) {
			s.LastLoad = m.Loaded
		}
	}
	s.Quarantine = lists.Filter(c.Quarantine, func(q design.Quarantine) bool { return q.Lines > 0 })
	return s
}

// showArchive prints the stored counts of an archive. With leads it also reads the records.
func (e *env) showArchive(ctx context.Context, url, picture string, leads bool) error {
	var all []subsetContents
	err := e.eachSubset(ctx, url, "", engine.Options{ReadOnly: true}, func(n design.Name, a archive.Archive, subset string) error {
		o, err := load.NewOrigin(ctx, a, subset, "")
		if err != nil {
			return err
		}
		s := newContents(o.Catalog, o.Marks)
		s.Archive, s.Design, s.Subset = fault.Redact(url), string(n), subset
		if s.Bytes, err = a.Size(ctx); err != nil {
			return err
		}
		if leads {
			var l design.LeadTimes
			for b, err := range a.Dump(ctx, subset) {
				if err != nil {
					return err
				}
				l.Add(b)
			}
			s.LeadHoles = append([]design.LeadHole{}, l.Holes()...)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return err
	}
	return e.printContents(all, picture)
}

// visitSubset is a function that eachSubset calls.
type visitSubset func(n design.Name, a archive.Archive, subset string) error

// eachSubset opens an archive, and calls visit for its subsets in every design. If only is not empty, it calls visit just
// for the subset of that name. An archive without subsets, or without that one, is an error.
func (e *env) eachSubset(ctx context.Context, url, only string, o engine.Options, visit visitSubset) error {
	url, err := e.resolveServer(url, []string{engine.LabDir()})
	if err != nil {
		return err
	}
	d, db, err := e.openEngine(ctx, url, "", o)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // everything is committed
	var found []string
	for _, n := range archive.Designs(d) {
		a, err := archive.DatabaseOf(db).Open(ctx, n)
		if err != nil {
			return err
		}
		subsets, err := a.Subsets(ctx)
		for i := 0; i < len(subsets) && err == nil; i++ {
			if found = append(found, subsets[i]); only == "" || subsets[i] == only {
				err = visit(n, a, subsets[i])
			}
		}
		if err = errors.Join(err, a.Close()); err != nil {
			return err
		}
	}
	url = fault.Redact(url)
	switch {
	case found == nil:
		cure := "load files into it: barograph load FILES --engine " + url + " --subset " + cmp.Or(only, defaultSubset)
		return &fault.Error{Setting: url, Problem: "is empty", Cure: cure}
	case only != "" && !slices.Contains(found, only):
		return fault.Misuse("--subset "+only, "is not in "+url, "see `barograph show "+url+"`")
	}
	return nil
}

// showFiles reads files, and prints what a load of them would store.
func (e *env) showFiles(ctx context.Context, args []string, keepLast bool, picture string) error {
	files, err := e.filesOf(args)
	if err != nil {
		return err
	}
	var fingerprint load.Fingerprint
	var l design.LeadTimes
	c, marks, failed, err := load.Survey(ctx, files, load.ReadOptions{KeepLast: keepLast}, &fingerprint, l.Add)
	if err != nil {
		return err
	}
	sum, _, err := fingerprint.Sum()
	if err != nil {
		return err
	}
	s := newContents(c, marks)
	s.LeadHoles = append([]design.LeadHole{}, l.Holes()...)
	s.Duplicates, s.Refused = s.Records-sum.Records-fingerprint.Conflicts(), fingerprint.Conflicts()
	s.Records, s.Digest = sum.Records, sum.String()
	s.Failed = lists.Map(failed, func(err error) string { return fault.Redact(err.Error()) })
	if err := e.printContents([]subsetContents{s}, picture); err != nil {
		return err
	}
	return load.Shortfall{Quarantined: s.Quarantined, Refused: s.Refused, Unread: len(failed)}.Incomplete()
}

func (e *env) printContents(all []subsetContents, picture string) error {
	if picture != "" {
		drawing := coverage(all)
		var err error
		if drawing.Format, err = plot.FormatOf(picture); err != nil {
			return err
		}
		content, err := drawing.Draw()
		if err := e.writePlot(picture, content, err); err != nil {
			return err
		}
	}
	if e.json {
		return e.printJSON(all)
	}
	for i := range all {
		if i > 0 {
			fmt.Fprintln(e.stdout)
		}
		w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
		all[i].print(w)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (s *subsetContents) print(w io.Writer) {
	if s.Archive != "" {
		size, program := humanize.BytesN(uint64(s.Bytes), 3), cmp.Or(s.StoredBy, "(an earlier version)")
		fmt.Fprintf(w, "archive\t%s, design %s, subset %s, %s on disk (all subsets); stored by barograph %s\n",
			s.Archive, s.Design, s.Subset, size, program)
	}
	if s.Uncounted {
		fmt.Fprintf(w, "records\tnot counted, because an earlier version stored the archive; the next load counts them\n")
	} else {
		fmt.Fprintf(w, "records\t%s, digest %s\n", run.FormatCount(s.Records), s.Digest)
	}
	fmt.Fprintf(w, "files\t%s, %s, %s, %s of them quarantined",
		run.FormatCount(s.Files), humanize.BytesN(uint64(s.FileBytes), 3), run.CountOf(s.Lines, "line"), run.FormatCount(s.Quarantined))
	if !s.LastLoad.IsZero() {
		fmt.Fprintf(w, "; last load %s UTC", s.LastLoad.UTC().Format(time.DateTime))
	}
	fmt.Fprintln(w)
	if s.Removed > 0 {
		fmt.Fprintf(w, "removed\t%s, by load --retain\n", run.CountOf(s.Removed, "record"))
	}
	if s.Loading != nil {
		fmt.Fprintf(w, "loading\tthe archive %s\n", loadState(s.Loading))
	}
	for _, line := range s.quarantined() {
		fmt.Fprintf(w, "quarantined\t%s\n", line)
	}
	if s.Duplicates+s.Refused > 0 {
		fmt.Fprintf(w, "repeated\t%s, %s (see load --on-conflict); "+
			"the counts below include them\n", run.CountOf(s.Duplicates, "duplicate"), run.CountOf(s.Refused, "conflict"))
	}
	if s.Conflicts > 0 {
		fmt.Fprintf(w, "conflicts\t%s; see `barograph list conflicts %s --design %s --subset %s`\n", run.FormatCount(s.Conflicts), s.Archive, s.Design, s.Subset)
	}
	for _, f := range s.Failed {
		fmt.Fprintf(w, "failed\t%s\n", f)
	}
	for i := range s.Types {
		printType(w, &s.Types[i])
		printLeads(w, s.LeadHoles, s.Types[i].LineType)
	}
	if s.LeadHoles == nil {
		fmt.Fprintf(w, "\nleads\tnot read; show --leads lists leads that lack times which other leads have\n")
	}
}

// quarantined lists the reasons for which lines were quarantined, each with the first line.
func (s *subsetContents) quarantined() (out []error) {
	for _, q := range s.Quarantine {
		for _, r := range q.Reasons {
			out = append(out, fmt.Errorf("%s:%d: %s (%s)", fault.Name(q.File), r.First, r.Text, run.CountOf(r.Lines, "line")))
		}
	}
	return out
}

// printType prints the inventory of a line type.
func printType(w io.Writer, t *design.Inventory) {
	fmt.Fprintf(w, "\n%s\t%s\n", t.LineType, run.CountOf(t.Records, "record"))
	for _, column := range []struct {
		name   string
		values []string
	}{
		{"model", t.Models},
		{"fcst_var", t.Variables},
		{"fcst_lev", t.Levels},
		{"vx_mask", t.Regions},
		{"obtype", t.ObTypes},
		{"fcst_thresh", t.Thresholds},
		{"fcst_lead", question.FormatLeads(t.Leads)},
	} {
		if len(column.values) > 0 {
			fmt.Fprintf(w, "  %s\t%s\n", column.name, strings.Join(wrap(column.values, 100), "\n\t"))
		}
	}
	if n := len(t.Valid); n > 0 {
		span := utc(t.Valid[0])
		if n > 1 {
			span += fmt.Sprintf(" … %s, %s%s", utc(t.Valid[n-1]), run.CountOf(n, "time"), every(t.Step))
		}
		fmt.Fprintf(w, "  fcst_valid_beg\t%s\n", span)
	}
	const maxHoles = 5
	for _, h := range t.Holes[:min(len(t.Holes), maxHoles)] {
		fmt.Fprintf(w, "  hole\t%s after %s\n", run.CountOf(h.Missing, "time"), utc(h.After))
	}
	if more := len(t.Holes) - maxHoles; more > 0 {
		fmt.Fprintf(w, "  hole\t… and %d more\n", more)
	}
}

func utc(t int64) string { return time.Unix(t, 0).UTC().Format("2006-01-02T15:04:05Z") }

func every(step int64) string {
	if step == 0 {
		return ""
	}
	return ", every " + hours(step)
}

// hours formats a time span: 6 h, 1:30:00 h.
func hours(seconds int64) string {
	if seconds%3600 == 0 {
		return fmt.Sprint(seconds/3600, " h")
	}
	return fmt.Sprintf("%d:%02d:%02d h", seconds/3600, seconds/60%60, seconds%60)
}
