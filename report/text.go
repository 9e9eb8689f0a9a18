package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"barograph/run"
)

// diffsShown is how many cells without a right answer are explained on a terminal.
const diffsShown = 5

// Text prints the tables of a run folder for a terminal: the answer in words,
// warnings, what is not right, medians, and loads. The page holds the rest.
func Text(w io.Writer, dir string) error {
	if mixed(dir) {
		p, err := openPoints(dir)
		if err != nil {
			return err
		}
		return p.text(w)
	}
	f, err := open(dir)
	if err != nil {
		return err
	}
	h := f.head()
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n%s\n\n", printable(h.ID), h.When, printable(f.dataInWords()))
	if h.Interrupted {
		b.WriteString("INTERRUPTED: this run did not end; what follows is what it had recorded.\n")
	}
	b.WriteString(wrap(printable(f.sum.InWords), 110) + "\n")
	for _, text := range h.Warnings {
		b.WriteString(wrap("warning: "+printable(text), 110) + "\n")
	}
	_, diffs := f.proof()
	for i, d := range diffs {
		if i == diffsShown {
			fmt.Fprintf(&b, "\n… and %s more without a right answer; %s shows all\n", several(len(diffs)-i, "cell"), FileName)
			break
		}
		fmt.Fprintf(&b, "\n%s: %s, %s\n", strings.ToUpper(d.Verdict), printable(d.Case), printable(d.Way))
		for line := range strings.Lines(d.Problem) {
			b.WriteString("  " + printable(strings.TrimRight(line, "\n")) + "\n")
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	medians := f.medians(&f.sum)
	medians.Title = "Median time of each case, ms"
	for i := range medians.Head {
		if !medians.Head[i].Text {
			medians.Head[i].Unit = ""
		}
	}
	medians.Note = "mean: over all cases. ratio: to the fastest of each case, geometric mean. The first line is the client's floor."
	if len(f.ways) == 0 || !f.floor(f.ways[0].Engine, f.ways[0].Design) {
		medians.Note = "mean: over all cases. ratio: to the fastest of each case, geometric mean."
	}
	for i, a := range f.run.Archives {
		if a.Unranked != "" && !slices.ContainsFunc(f.run.Archives[:i], func(o run.Archive) bool { return o.Engine == a.Engine }) {
			medians.Note += " " + a.Engine + " is not ranked, because " + a.Unranked + "."
		}
	}
	loads := f.loads()
	loads.Title, loads.Note = "Loads and sizes", ""
	for _, t := range []table{medians, loads} {
		if len(t.Rows) == 0 {
			continue
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := t.write(w); err != nil {
			return err
		}
	}
	return nil
}

// wrap breaks text at spaces into lines of at most width runes.
func wrap(s string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(s) {
		size := len([]rune(word))
		switch {
		case i > 0 && n+1+size > width:
			b.WriteByte('\n')
			n = 0
		case i > 0:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}
