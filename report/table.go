package report

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is a table as both HTML and terminal show it.
type table struct {
	Title string
	Head  []column
	Rows  []row
	Note  string // below the table
	Wide  bool   // many columns: set smaller
}

type column struct {
	Name, Unit string
	Text       bool // left-aligned; else a number
	Wrap       bool // long text, which may break
}

type row struct {
	Class string // floor, best, mean, off
	Cells []cell
}

// cell is one value. Sort orders rows where the text would not.
type cell struct {
	Text  string
	Sub   string // a second, smaller line
	Class string // ok, bad, dim
	Sort  string
	Link  string // #anchor in the page
	Steps []step // shown in place of the text
}

func text(s string) cell { return cell{Text: s} }

func dim(s string) cell { return cell{Text: s, Class: "dim"} }

// value is a number with the text that is printed for it.
func value(v float64, printed string) cell {
	return cell{Text: printed, Sort: fmt.Sprintf("%.9g", v)}
}

// write prints the table for a terminal, numbers aligned to the right.
func (t *table) write(w io.Writer) error {
	lines := make([][]string, 0, len(t.Rows)+1)
	head := make([]string, len(t.Head))
	for k, c := range t.Head {
		head[k] = c.Name
		if c.Unit != "" {
			head[k] += " (" + c.Unit + ")"
		}
	}
	lines = append(lines, head)
	for _, r := range t.Rows {
		line := make([]string, len(t.Head))
		for k, c := range r.Cells {
			line[k] = strings.TrimSpace(c.Text + " " + c.Sub)
		}
		lines = append(lines, line)
	}
	width := make([]int, len(t.Head))
	for _, line := range lines {
		for k, s := range line {
			width[k] = max(width[k], utf8.RuneCountInString(printable(s)))
		}
	}
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(printable(t.Title) + "\n")
	}
	for _, line := range lines {
		var out strings.Builder
		for k, s := range line {
			s = printable(s)
			pad := strings.Repeat(" ", width[k]-utf8.RuneCountInString(s))
			if t.Head[k].Text {
				out.WriteString(s + pad + "  ")
			} else {
				out.WriteString(pad + s + "  ")
			}
		}
		b.WriteString("  " + strings.TrimRight(out.String(), " ") + "\n")
	}
	if t.Note != "" {
		b.WriteString("  " + printable(t.Note) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printable keeps text from other programs from steering the terminal or
// breaking a line of a table.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '�'
		}
		return r
	}, s)
}
