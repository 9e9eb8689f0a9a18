package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"barograph/engine"
	"barograph/fault"
	"barograph/tablediff"
)

func newDiff(e *env) *cobra.Command {
	var known string
	o := tablediff.Options{Samples: 3}
	c := &cobra.Command{
		Use:   "diff URL URL",
		Short: "Compare what two METviewer databases hold",
		Long: `Diff compares data_file, stat_header and every line_data table of two databases of METviewer's schema in MariaDB or
MySQL, row by row. Ids and the order of rows do not matter: a line is known by its file and line number, and its header
is compared by its texts. Both databases must be loaded from files of the same paths.

--known metdbload tells that the second was loaded by METdbLoad: differences that its faults on VSDB files explain are counted
apart, and do not make the exit status 3.`,
		Example: `  barograph diff mariadb://root@127.0.0.1:3306/mv_ours mariadb://root@127.0.0.1:3306/mv_theirs
  barograph diff mariadb://…/mv_ours mariadb://…/mv_theirs --known metdbload --samples 1`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			switch known {
			case "":
			case "metdbload":
				o.Faults = tablediff.METdbLoad()
			default:
				return usage(fault.Unknown("--known", known, []string{"metdbload"}))
			}
			return e.diff(c.Context(), args[0], args[1], o)
		},
	}
	c.Flags().StringVar(&known, "known", "", "loader of the second whose known faults are counted apart: metdbload")
	c.Flags().IntVar(&o.Samples, "samples", o.Samples, "differing rows to show per table and fault")
	complete(c, "known", func() []string { return []string{"metdbload"} })
	return c
}

func (e *env) diff(ctx context.Context, left, right string, o tablediff.Options) error {
	unreached := func(err error) error { return &fault.Status{Code: fault.Unreachable, Err: err} }
	for _, raw := range []*string{&left, &right} {
		var err error
		if *raw, err = engine.ResolveURL(*raw); err != nil {
			return usage(err)
		}
	}
	l, err := tablediff.Open(ctx, left)
	if err != nil {
		return unreached(err)
	}
	defer l.Close() //nolint:errcheck // only read
	r, err := tablediff.Open(ctx, right)
	if err != nil {
		return unreached(err)
	}
	defer r.Close() //nolint:errcheck // only read
	report, err := tablediff.Compare(ctx, l, r, o)
	if err != nil {
		return err
	}
	if e.json {
		err = e.printJSON(report)
	} else {
		err = e.printDiff(report, o.Faults)
	}
	if err != nil {
		return err
	}
	if n := report.Unknown(); n > 0 {
		return &fault.Status{Code: fault.Differs, Err: fmt.Errorf("%d differences are not explained by a known fault", n)}
	}
	return nil
}

// printDiff prints the tables that hold anything, what explains the
// differences, and samples of them.
func (e *env) printDiff(r *tablediff.Report, faults []tablediff.Fault) error {
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "table\tequal\tchanged\tonly in the first\tonly in the second\tknown faults\tunexplained\tcolumns that differ")
	for i := range r.Tables {
		t := &r.Tables[i]
		if t.Equal+t.Changed+t.OnlyLeft+t.OnlyRight == 0 {
			continue
		}
		var known int64
		for _, n := range t.Known {
			known += n
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", t.Name, t.Equal, t.Changed, t.OnlyLeft, t.OnlyRight, known, t.Unknown, columnCounts(t))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Note != "" {
			fmt.Fprintf(e.stdout, "%s: %s\n", t.Name, t.Note)
		}
	}
	for _, f := range faults {
		e.printFault(r, &f)
	}
	e.printSamples(r, "", "differences that no known fault explains")
	equal, different := r.Rows()
	fmt.Fprintf(e.stdout, "%d rows are equal, %d differ, of which %d are not explained\n", equal, different, r.Unknown())
	return nil
}

// columnCounts lists the columns that differ, the most frequent first.
func columnCounts(t *tablediff.Table) string {
	names := slices.SortedFunc(maps.Keys(t.Columns), func(a, b string) int {
		if d := t.Columns[b] - t.Columns[a]; d != 0 {
			return int(d)
		}
		return strings.Compare(a, b)
	})
	const shown = 6
	var out []string
	for i, c := range names {
		if i == shown {
			out = append(out, fmt.Sprintf("and %d more", len(names)-shown))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", c, t.Columns[c]))
	}
	return strings.Join(out, ", ")
}

func (e *env) printFault(r *tablediff.Report, f *tablediff.Fault) {
	var counts []string
	for i := range r.Tables {
		if n := r.Tables[i].Known[f.Name]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", r.Tables[i].Name, n))
		}
	}
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(e.stdout, "\n%s: %s\n  rows: %s\n", f.Name, f.Says, strings.Join(counts, ", "))
	e.printSamples(r, f.Name, "")
}

func (e *env) printSamples(r *tablediff.Report, fault, title string) {
	for i := range r.Tables {
		for _, d := range r.Tables[i].Samples {
			if d.Fault != fault {
				continue
			}
			if title != "" {
				fmt.Fprintf(e.stdout, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(e.stdout, "  %s\n", sample(&d))
		}
	}
}

// sample shows a row that one side has, or the values that differ after what
// the line is known by.
func sample(d *tablediff.Difference) string {
	switch {
	case d.Left == nil:
		return d.Table + ", right only: " + strings.Join(d.Right, " ")
	case d.Right == nil:
		return d.Table + ", left only: " + strings.Join(d.Left, " ")
	}
	text := fmt.Sprintf("%s %s/%s:%s", d.Table, d.Value(d.Left, "path"), d.Value(d.Left, "filename"), strings.TrimLeft(d.Value(d.Left, "line_num"), "0"))
	const shown = 8
	for i, c := range d.Changed() {
		if i == shown {
			return text + " …"
		}
		text += fmt.Sprintf(" %s %s ≠ %s", c, d.Value(d.Left, c), d.Value(d.Right, c))
	}
	return text
}
