package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/formats"
	"barograph/load"
	"barograph/record"

	"github.com/spf13/cobra"
)

// place names an archive on the command line: --engine URL --design D --subset S.
type place struct {
	url, design, subset string
}

// defaultSubset is the name of the data set where none is given.
const defaultSubset = "archive"

func (p *place) flags(c *cobra.Command, e *env, former, help string) {
	c.Flags().StringVar(&p.url, engineFlag, "", help+": an engine's URL, e.g. duckdb:archive.db, or the name of one that a lab runs")
	e.enginesNamed(c, former)
	c.Flags().StringVar(&p.design, "design", "", "physical design: "+strings.Join(designNames(), ", ")+" (default: the engine's first)")
	c.Flags().StringVar(&p.subset, "subset", defaultSubset, "name of the copy of the data set inside the archive")
	complete(c, "design", designNames)
}

func complete(c *cobra.Command, flag string, values func() []string) {
	c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag exists
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

func designNames() []string {
	var names []string
	for _, n := range design.Names() {
		names = append(names, string(n))
	}
	return names
}

// open opens the archive; the caller calls close.
func (p *place) open(ctx context.Context, e *env, o engine.Options) (a engine.Archive, d *engine.Driver, closeAll func() error, err error) {
	d, _, err = e.engines.Parse(p.url)
	if err != nil {
		return nil, nil, nil, usage(err)
	}
	name := design.Name(p.design)
	if err := e.engines.KeepsArchives(d); err != nil {
		return nil, nil, nil, usage(err)
	}
	if name == "" {
		name = d.Designs()[0]
	}
	if _, ok := d.Offers[name]; !ok {
		return nil, nil, nil, fault.NotOffered("--design", name, d.Designs(), d.Scheme)
	}
	p.design = string(name)
	o.Log = e.log()
	db, err := e.engines.Open(ctx, p.url, o)
	if err != nil {
		return nil, nil, nil, err
	}
	a, err = db.Archives.Open(ctx, name)
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	return a, d, func() error { return errors.Join(a.Close(), db.Close()) }, nil
}

func newLoad(e *env) *cobra.Command {
	var p place
	var workers, window int
	var quarantine, spec string
	var digest bool
	conflict := choice{string(load.Refuse), []string{string(load.Refuse), string(load.First), string(load.Last)}}
	var last *choice
	c := &cobra.Command{
		Use:   "load FILES… --engine URL [--design D] [--subset S] | load --spec LOAD.xml [--engine URL]",
		Short: "Load VSDB and MET files into an archive",
		Long: `Load reads VSDB and MET .stat files (and their _TYPE.txt twins), plain or gzip, and folders of them, into an archive.

Every line is accounted for: read = stored + same again + other values + quarantined. Where two lines give one record
other values, --on-conflict decides: refuse keeps what the archive holds, and of two lines of one load the first, and the
exit status is 4; first and last go by the path of the file as it was given, then by the line. Neither the order of files
nor the number of workers matters. All are listed with both places, as quarantined lines are, and in a report that stays
with the archive. A line with fewer numbers than its type has is quarantined, and so is a last line without a line end,
which may be cut (--last-line keep takes it for whole). A file that the archive holds already is skipped;
leads that arrive in another file are merged; a load that was killed is run again and ends in the same archive.

--spec reads a load_spec of METdbLoad or VxIngest (docs/metviewer.md): the files, the target where --engine names none, and
the database as the subset.`,
		Example: `  barograph load vsdb_data --engine duckdb:archive.db --design wide
  barograph load 'stat/*.stat' --engine sqlite:archive.db --design document --subset retro1
  barograph load --spec load_spec.xml --engine duckdb:archive.db`,
		Args: func(c *cobra.Command, args []string) error {
			if spec == "" {
				return cobra.MinimumNArgs(1)(c, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("with --spec the load_spec names the files; leave out %s", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if spec != "" {
				var err error
				if args, err = e.spec(spec, &p, c.Flags().Changed("subset")); err != nil {
					return err
				}
			}
			if os.Getenv("GOGC") == "" { // most of the heap lives until the commit: half of it again is room enough
				defer debug.SetGCPercent(debug.SetGCPercent(50))
			}
			return e.load(c.Context(), &p, args, load.Options{
				Workers: workers, Window: window, OnConflict: load.OnConflict(conflict.word), KeepLast: last.is(keepLine),
			}, quarantine, digest)
		},
	}
	p.flags(c, e, "to", "where to load")
	c.Flags().StringVar(&spec, "spec", "", "load what this load_spec XML of METdbLoad or VxIngest names")
	c.MarkFlagsOneRequired(engineFlag, "spec")
	c.Flags().IntVar(&workers, "workers", 0, "files parsed at once (default: one per CPU)")
	c.Flags().IntVar(&window, "window", load.DefaultWindow, "records per commit at most")
	positive(c, "window")
	c.Flags().StringVar(&quarantine, "quarantine", "", "write lines that cannot be read, and those whose values do not stand, to this CSV file (default: the first ten to stderr)")
	c.Flags().Var(&conflict, "on-conflict", "of other values for one record: refuse, first or last by the file's path")
	last = lastLine(c)
	c.Flags().BoolVar(&digest, "digest", true, "read the archive back and print the digest of all its records")
	return c
}

// choice is a flag that takes one of some words.
type choice struct {
	word string
	of   []string
}

func (c *choice) Set(word string) error {
	if !slices.Contains(c.of, word) {
		return errors.New("choose one of " + strings.Join(c.of, ", "))
	}
	c.word = word
	return nil
}

func (c *choice) String() string { return c.word }

// Type names the values in the help.
func (*choice) Type() string { return "string" }

const keepLine = "keep"

// is reports whether a word was chosen; a command without the flag has none.
func (c *choice) is(word string) bool { return c != nil && c.word == word }

// lastLine is the flag --last-line.
func lastLine(c *cobra.Command) *choice {
	f := &choice{"quarantine", []string{"quarantine", keepLine}}
	c.Flags().Var(f, "last-line", "a file's last line that has no line end, and so may be cut: quarantine or keep")
	return f
}

func (e *env) load(ctx context.Context, p *place, args []string, o load.Options, quarantine string, digest bool) error {
	files, err := formats.Expand(args)
	if err != nil {
		return err
	}
	a, _, closeAll, err := p.open(ctx, e, engine.Options{})
	if err != nil {
		return err
	}
	defer closeAll() //nolint:errcheck // every commit is durable
	rejects, err := newRejects(e, quarantine)
	if err != nil {
		return err
	}
	bar := newProgress(e)
	defer bar.stop()
	var all int64
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			all += st.Size()
		}
	}
	o.Log, o.Reject, o.Conflict = e.log(), rejects.add, rejects.conflict
	o.Progress = func(pr load.Progress) { bar.at("loading", pr.Bytes, all, true) }
	sum, err := load.Run(ctx, a, p.subset, files, o)
	var refused int64
	if err == nil {
		if refused, err = earlier(ctx, a, p.subset, sum, rejects); o.OnConflict == load.Refuse {
			refused += sum.Other
		}
	}
	if err = errors.Join(err, rejects.close()); err != nil {
		return err
	}
	bar.end("loading", rate(sum))
	return e.loaded(ctx, a, p, sum, refused, digest)
}

func rate(s *load.Summary) string {
	t := s.Elapsed.Seconds()
	return fmt.Sprintf("%d files, %.1f MB/s, %.0f records/s", len(s.Files), float64(s.Bytes)/1e6/t, float64(s.Read)/t)
}

// earlier lists what the archive reports of files that were skipped: lines whose
// values an earlier load refused.
func earlier(ctx context.Context, a engine.Archive, subset string, s *load.Summary, to *rejects) (n int64, err error) {
	if len(s.Skipped) == 0 {
		return 0, nil
	}
	c, err := a.Catalog(ctx, subset)
	if err != nil {
		return 0, err
	}
	for _, one := range c.Conflicts {
		if one.Refused && slices.Contains(s.Skipped, one.Dropped.File) {
			to.conflict(one)
			n++
		}
	}
	return n, nil
}

// loaded prints what a load did; lines that were quarantined or refused and
// files that could not be read make the exit status 4.
func (e *env) loaded(ctx context.Context, a engine.Archive, p *place, s *load.Summary, refused int64, digest bool) error {
	contents, err := a.Contents(ctx, p.subset)
	if err != nil {
		return err
	}
	size, err := a.Size(ctx)
	if err != nil {
		return err
	}
	out := loadResult{
		Archive: fault.Redact(p.url), Design: p.design, Subset: p.subset, Files: len(s.Files), Skipped: len(s.Skipped), Failed: texts(s.Failed),
		Read: s.Read, Stored: s.Stored, Same: s.Same, Other: s.Other, Refused: refused, Quarantined: s.Quarantined, Bytes: s.Bytes, Seconds: s.Elapsed.Seconds(),
		LeftOut: s.LeftOut, Cut: s.Cut, Held: s.Held, Records: contents.Records, Objects: contents.Objects, Object: contents.Object, Database: contents.Database, BytesOnDisk: size,
	}
	if digest {
		d, err := load.Digest(ctx, a, p.subset)
		if err != nil {
			return err
		}
		out.Digest = d.String()
	}
	if err := e.printLoad(&out); err != nil {
		return err
	}
	for _, m := range s.Held {
		s.Quarantined += m.Quarantined
	}
	return incomplete(s, refused)
}

// incomplete tells what of the files is not in the archive; nil = all of it is.
func incomplete(s *load.Summary, refused int64) error {
	var parts []string
	for _, x := range []struct {
		n    int64
		what string
	}{
		{s.Quarantined, "lines of these files are in quarantine"}, {int64(len(s.Failed)), "files could not be read"},
		{refused, "lines are refused, as their values contradict others (--on-conflict)"},
	} {
		if x.n > 0 {
			parts = append(parts, fmt.Sprint(x.n, " ", x.what))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	rest := "everything else is stored"
	if s.Stored+s.Same == 0 {
		rest = "nothing was stored"
	}
	return &fault.Status{Code: fault.Incomplete, Err: errors.New(strings.Join(parts, ", ") + "; " + rest)}
}

// loadResult is what load prints.
type loadResult struct {
	Archive     string           `json:"archive"`
	Design      string           `json:"design"`
	Subset      string           `json:"subset"`
	Database    string           `json:"database,omitempty"` // of the server, where a subset has one of its own
	Files       int              `json:"files_loaded"`
	Skipped     int              `json:"files_skipped"`
	Failed      []string         `json:"files_failed,omitempty"`
	Read        int64            `json:"read"`
	Stored      int64            `json:"stored"`
	Same        int64            `json:"same_again"`
	Other       int64            `json:"other_values"`
	Refused     int64            `json:"refused"`
	Quarantined int64            `json:"quarantined"`
	LeftOut     map[string]int64 `json:"left_out,omitempty"`
	Cut         map[string]int64 `json:"cut,omitempty"` // by METviewer's column
	Held        []engine.Mark    `json:"skipped_with_quarantine,omitempty"`
	Bytes       int64            `json:"bytes"`
	Seconds     float64          `json:"seconds"`
	Records     map[string]int64 `json:"records_by_line_type"`
	Objects     int64            `json:"objects"`
	Object      string           `json:"object"`
	BytesOnDisk int64            `json:"bytes_on_disk"`
	Digest      string           `json:"digest,omitempty"`
}

func (e *env) printLoad(r *loadResult) error {
	if e.json {
		return e.printJSON(r)
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "archive\t%s, design %s, subset %s\n", r.Archive, r.Design, r.Subset)
	if r.Database != "" {
		fmt.Fprintf(w, "database\t%s (the URL's path and the subset)\n", r.Database)
	}
	fmt.Fprintf(w, "files\t%d loaded, %d skipped (in the archive already), %d failed\n", r.Files, r.Skipped, len(r.Failed))
	fmt.Fprintf(w, "lines\t%d read = %d stored + %d same again + %d other values + %d quarantined\n", r.Read, r.Stored, r.Same, r.Other, r.Quarantined)
	for _, m := range r.Held {
		fmt.Fprintf(w, "in quarantine\t%d of %d lines of %s, since it was loaded at %s UTC\n", m.Quarantined, m.Read, m.Path, m.Loaded.UTC().Format(time.DateTime))
	}
	for _, columns := range slices.Sorted(maps.Keys(r.LeftOut)) {
		fmt.Fprintf(w, "left out\tcolumns that no design keeps, of %d lines of %s\n", r.LeftOut[columns], columns)
	}
	for _, column := range slices.Sorted(maps.Keys(r.Cut)) {
		fmt.Fprintf(w, "cut\t%d texts do not fit METviewer's column %s, which may take several for one; the archive and its digest have them whole\n", r.Cut[column], column)
	}
	fmt.Fprintf(w, "archive holds\t%d %s, %.1f MB on disk\n", r.Objects, r.Object, float64(r.BytesOnDisk)/1e6)
	for _, t := range record.Types() {
		if n := r.Records[t.Name]; n > 0 {
			fmt.Fprintf(w, "  %s\t%d records\n", t.Name, n)
		}
	}
	if r.Digest != "" {
		fmt.Fprintf(w, "digest\t%s\n", r.Digest)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(w, "failed\t%s\n", f)
	}
	return w.Flush()
}

func texts(errs []error) []string {
	var out []string
	for _, err := range errs {
		out = append(out, fault.Redact(err.Error()))
	}
	return out
}

// rejects writes quarantined lines to a CSV file, or shows the first few.
type rejects struct {
	env   *env
	file  *os.File
	csv   *csv.Writer
	shown int
}

// shownRejects is the number of quarantined lines that are shown on stderr.
const shownRejects = 10

func newRejects(e *env, path string) (*rejects, error) {
	r := &rejects{env: e}
	if path == "" {
		return r, nil
	}
	var err error
	if r.file, err = os.Create(filepath.Clean(path)); err != nil {
		return nil, &fault.Error{Setting: "--quarantine", Err: err, Cure: "name a file that can be written"}
	}
	r.csv = csv.NewWriter(r.file)
	return r, r.csv.Write([]string{"file", "line", "reason", "text"})
}

func (r *rejects) add(q record.Reject) { r.line(q, "line quarantined") }

// conflict lists a line whose values do not stand.
func (r *rejects) conflict(c design.Conflict) {
	place := c.Stands.File + ":" + strconv.Itoa(int(c.Stands.Line))
	if c.Stands.File == "" {
		place = "the archive, whose file is not there any more"
	}
	if c.Dropped.File == "" {
		c.Dropped.File = "the archive"
	}
	r.line(record.Reject{File: c.Dropped.File, Line: c.Dropped.Line, Reason: "other values than " + place + ", which stand", Text: c.What}, c.What)
}

func (r *rejects) line(q record.Reject, then string) {
	if r.csv != nil {
		r.csv.Write([]string{r.env.cell(q.File), strconv.Itoa(int(q.Line)), r.env.cell(q.Reason), r.env.cell(q.Text)}) //nolint:errcheck // csv keeps the error for close
		return
	}
	if r.shown++; r.shown <= shownRejects {
		fmt.Fprintf(r.env.stderr, "%s:%d: %s; %s\n", q.File, q.Line, q.Reason, then)
	} else if r.shown == shownRejects+1 {
		fmt.Fprintln(r.env.stderr, "… further lines are not shown; name a file with --quarantine to keep them all")
	}
}

func (r *rejects) close() error {
	if r.csv == nil {
		return nil
	}
	r.csv.Flush()
	return errors.Join(r.csv.Error(), r.file.Close())
}
