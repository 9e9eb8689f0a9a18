package tablediff

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Text writes the tables that hold anything, what explains the differences, and
// samples of them.
func (r *Report) Text(out io.Writer, faults []Fault) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
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
			fmt.Fprintf(out, "%s: %s\n", t.Name, t.Note)
		}
	}
	for _, f := range faults {
		f.print(out, r)
	}
	r.printSamples(out, "", "differences that no known fault explains")
	equal, different := r.Rows()
	fmt.Fprintf(out, "%d rows are equal, %d differ, of which %d are not explained\n", equal, different, r.Unknown())
	return nil
}

// columnCounts lists the columns that differ, the most frequent first.
func columnCounts(t *Table) string {
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

func (f *Fault) print(out io.Writer, r *Report) {
	var counts []string
	for i := range r.Tables {
		if n := r.Tables[i].Known[f.Name]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", r.Tables[i].Name, n))
		}
	}
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s: %s\n  rows: %s\n", f.Name, f.Says, strings.Join(counts, ", "))
	r.printSamples(out, f.Name, "")
}

func (r *Report) printSamples(out io.Writer, fault, title string) {
	for i := range r.Tables {
		for _, d := range r.Tables[i].Samples {
			if d.Fault != fault {
				continue
			}
			if title != "" {
				fmt.Fprintf(out, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(out, "  %s\n", sample(&d))
		}
	}
}

// sample shows a row that one side has, or the values that differ after what
// the line is known by.
func sample(d *Difference) string {
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
