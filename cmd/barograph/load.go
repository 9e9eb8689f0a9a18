package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/load"

	"github.com/spf13/cobra"
)

func newLoad(e *env) *cobra.Command {
	var p place
	var workers, window int
	var quarantine, spec string
	var verify bool
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
with the archive (barograph list conflicts). A line with fewer numbers than its type has is quarantined, and so is a last line without a line end,
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
			var takes func(lineType string) bool
			var said *metviewer.LoadSpec
			if spec != "" {
				var err error
				if args, said, err = e.spec(spec, &p, c.Flags().Changed("subset")); err != nil {
					return err
				}
				takes = said.Takes
			}
			if os.Getenv("GOGC") == "" { // most of the heap lives until the commit: half of it again is room enough
				defer debug.SetGCPercent(debug.SetGCPercent(50))
			}
			return e.load(c.Context(), &p, args, said, load.Options{
				Workers: workers, Window: window, OnConflict: load.OnConflict(conflict.word), KeepLast: last.keeps(), Takes: takes,
			}, quarantine, verify)
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
	c.Flags().Bool("digest", true, "") // of before: the digest costs nothing any more
	c.Flags().MarkHidden("digest")     //nolint:errcheck // the flag exists
	c.Flags().BoolVar(&verify, "verify", false, "then read the archive back, as barograph verify does")
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

// keeps reports whether --last-line=keep was given; a command without the flag
// quarantines.
func (c *choice) keeps() bool { return c != nil && c.word == keepLine }

// lastLine is the flag --last-line.
func lastLine(c *cobra.Command) *choice {
	f := &choice{"quarantine", []string{"quarantine", keepLine}}
	c.Flags().Var(f, "last-line", "a file's last line that has no line end, and so may be cut: quarantine or keep")
	return f
}

func (e *env) load(ctx context.Context, p *place, args []string, said *metviewer.LoadSpec, o load.Options, quarantine string, verify bool) error {
	files, err := formats.Expand(args)
	if err != nil {
		return err
	}
	a, err := p.open(ctx, e, engine.Options{})
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // every commit is durable
	rejects, err := load.NewRejects(quarantine, e.stderr, e.cell)
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
	o.Log, o.Reject, o.Conflict = e.log(), rejects.Reject, rejects.Conflict
	o.Progress = func(p load.Progress) { bar.at(p.Step, p.Bytes, all, true) }
	sum, err := load.Run(ctx, a, p.subset, files, o)
	var refused int64
	if err == nil {
		refused, err = load.Refused(ctx, a, p.subset, sum, o.OnConflict, rejects.Conflict)
	}
	if err = errors.Join(err, rejects.Close()); err != nil {
		return err
	}
	bar.end("loading", rate(sum))
	if err := label(ctx, a, p.subset, said); err != nil {
		return err
	}
	out, err := sum.Result(ctx, a, p.subset, design.Name(p.design))
	if err != nil {
		return err
	}
	out.Archive, out.Refused = fault.Redact(p.url), refused
	if err := e.print(out, out.Text); err != nil || !verify {
		return errors.Join(err, sum.Incomplete(refused))
	}
	v, err := load.Verify(ctx, a, p.subset)
	if err != nil {
		return err
	}
	return errors.Join(e.verified([]verdict{newVerdict(p.url, design.Name(p.design), p.subset, v)}), sum.Incomplete(refused))
}

// label keeps what a load_spec says of its database, where METviewer looks for it.
func label(ctx context.Context, a *opened, subset string, s *metviewer.LoadSpec) error {
	to, ok := a.Archive.(engine.Labeller)
	if s == nil || !ok {
		return nil
	}
	l := engine.Label{Group: s.Group, Description: s.Description, Note: s.Note}
	if s.KeepXML {
		l.XML = s.XML
	}
	if u, err := user.Current(); err == nil { // else nobody is named
		l.User = u.Username
	}
	return to.Label(ctx, subset, l)
}

func rate(s *load.Summary) string {
	t := s.Elapsed.Seconds()
	return fmt.Sprintf("%d files, %.1f MB/s, %.0f records/s", len(s.Files), float64(s.Bytes)/1e6/t, float64(s.Read)/t)
}
