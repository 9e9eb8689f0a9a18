package report

import (
	"cmp"
	_ "embed" // for prose.txt
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// Report is the result of a run folder: answers in words, and sections with tables and pictures.
// The page and the terminal print it, and do not depend on workloads.
type Report struct {
	dir      string
	linked   []string // folders whose reports it links to
	advising Advising
	Name     string // of the run
	When     string
	Question string  // the question that the report answers
	Answers  []Words // the main answer first
	Warnings []string
	Facts    []Fact
	About    []Section      // engines and settings
	Sections []Section      // those with an ID are in the navigation
	Data     map[string]any // the run as JSON, for programs
}

// Section is a unit of a report: a heading, sentences, pictures, a table, and subsections, in this order.
type Section struct {
	ID, Class    string // anchor and style on the page
	Title, Small string // the heading, and smaller text after it
	Terminal     bool   // words, table and text are also shown on a terminal
	Folded, Open bool   // on the page a click shows and hides it

	Words      []Words
	Prose      [][]Cell // paragraphs with links
	Facts      []Fact
	Steps      []Step // a legend of the steps
	Pictures   []Drawing
	SideBySide bool // pictures are small, and placed next to each other
	Table      *Table
	Text       string // as a program printed it
	Notes      []string
	Parts      []Section
}

// Words is a sentence or two. Class is a style of the page, or empty: an answer (also "answer right" and "answer bad"),
// an alarm, the scope of the run, the properties of a case (meta), the reason for a difference (because), or a sentence
// in place of a table without rows (none).
type Words struct{ Class, Text string }

// isAlarm reports whether the words describe an unfinished run or an incorrect result.
func isAlarm(w Words) bool { return w.Class == "alarm" || w.Class == "answer bad" }

// Fact is a name and its description.
type Fact struct{ Name, Text string }

// Drawing is a picture of package plot that is drawn when it is shown.
type Drawing interface{ Draw() ([]byte, error) }

// say returns a paragraph.
func say(format string, args ...any) []Words { return []Words{{"", fmt.Sprintf(format, args...)}} }

//go:embed template/prose.txt
var proseFile string

// prose returns a long text of the file prose.txt by its key.
func prose(key string) string {
	_, text, _ := strings.Cut(proseFile, "\n["+key+"]\n")
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(text), " ")
}

// explain returns a paragraph of the file prose.txt.
func explain(key string) []Words { return []Words{{"", prose(key)}} }

// Empty reports whether a section has no picture, facts, text, table rows or parts. Words, prose, steps and notes alone
// do not count, because they only explain the rest.
func (s *Section) Empty() bool {
	return len(s.Pictures)+len(s.Parts)+len(s.Facts) == 0 && s.Text == "" && (s.Table == nil || len(s.Table.Rows) == 0)
}

// filled returns the sections that are not empty.
func filled(all ...Section) []Section {
	return lists.Filter(all, func(s Section) bool { return !s.Empty() })
}

// lineWidth is the width of sentences on a terminal in runes, briefWidth that of the sentences of Brief.
const (
	lineWidth  = 110
	briefWidth = 100
)

// Brief writes the choice, the proof and the warnings; the page has the rest. If there is no
// choice, or if the run is unfinished or a result is not correct, Brief writes the same as Print.
func (r *Report) Brief(w io.Writer) error {
	if len(r.Sections) == 0 || r.Sections[0].ID != "choice" || slices.ContainsFunc(r.Answers, isAlarm) {
		return r.Print(w)
	}
	var b strings.Builder
	b.WriteString(wrapAt(briefWidth, r.Answers[0].Text) + "\n")
	r.Sections[0].Table.print(&b)
	for _, a := range r.Answers[1:] {
		if a.Class == "answer right" {
			b.WriteString(wrapAt(briefWidth, a.Text) + "\n")
		}
	}
	for _, text := range r.Warnings {
		b.WriteString(wrapAt(briefWidth, "warning: "+text) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Print writes the answer and the tables for a terminal; the page contains the rest.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", printable(r.Name), r.When)
	for _, a := range r.Answers {
		b.WriteString(wrap(a.Text) + "\n")
	}
	for _, text := range r.Warnings {
		b.WriteString(wrap("warning: "+text) + "\n")
	}
	for _, f := range r.Facts {
		b.WriteString(wrap(f.Name+": "+f.Text) + "\n")
	}
	printSections(&b, r.Sections)
	_, err := io.WriteString(w, b.String())
	return err
}

// printSections writes the sections that a terminal shows, and their parts.
func printSections(b *strings.Builder, all []Section) {
	for i := range all {
		s := &all[i]
		if s.Terminal {
			fmt.Fprintf(b, "\n%s\n", printable(strings.TrimSpace(s.Title+" "+s.Small)))
			for _, x := range s.Words {
				b.WriteString(wrap(x.Text) + "\n")
			}
			for _, p := range s.Prose {
				b.WriteString(wrap(withoutLinks(p)) + "\n")
			}
			if s.Table != nil {
				s.Table.print(b)
			}
			for line := range strings.Lines(s.Text) {
				b.WriteString(strings.TrimRight("  "+printable(line), " ") + "\n")
			}
		}
		printSections(b, s.Parts)
	}
}

// withoutLinks returns the text of a paragraph.
func withoutLinks(paragraph []Cell) string {
	return strings.Join(lists.Map(paragraph, func(c Cell) string { return c.Text }), "")
}

// wrap breaks text at spaces into lines of at most lineWidth runes.
func wrap(s string) string { return wrapAt(lineWidth, s) }

// wrapAt breaks text at spaces into lines of at most width runes.
func wrapAt(width int, s string) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(printable(s)) {
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

// Table is a table for the page and the terminal.
type Table struct {
	Head  []Column
	Rows  []Row
	Note  string // below the table
	Width int    // on a terminal, above which the last spare columns are omitted; 0 = maxTableWidth
}

// Column is a name and, for numbers, their unit.
type Column struct {
	Name, Unit string
	Number     bool // right-aligned: one of its cells is a number
	Wrap       bool // one of its texts is long, so it may wrap
	Spare      bool // only on the page if the table is too wide for the terminal
}

// Row is a line of a table. Class: overhead, best, off.
type Row struct {
	Class string
	Quiet bool   // a terminal omits the row, because an answer already counts it
	ID    string // anchor
	Cells []Cell
}

// Cell is one value: a number with its printed form, or only a text.
type Cell struct {
	Text  string
	Sub   string // a second, smaller line
	Class string // ok, bad, dim, first
	Known bool   // Value is a number; rows are sorted by it
	Value float64
	Link  string // #anchor in the page
	Steps []Step // shown in place of the text
}

// table creates a table with columns such as "engine" and "median (ms)".
func table(columns ...string) *Table {
	t := &Table{}
	for _, c := range columns {
		name, unit, _ := strings.Cut(c, " (")
		t.Head = append(t.Head, Column{Name: name, Unit: strings.TrimSuffix(unit, ")")})
	}
	return t
}

// add adds a row; missing cells at its end become dashes.
func (t *Table) add(class string, cells ...Cell) {
	for len(cells) < len(t.Head) {
		cells = append(cells, dim(none))
	}
	for i, c := range cells {
		t.Head[i].Number = t.Head[i].Number || c.Known
		t.Head[i].Wrap = t.Head[i].Wrap || len(c.Text) > 60 && c.Steps == nil
	}
	t.Rows = append(t.Rows, Row{Class: class, Cells: cells})
}

// setAnchor gives the last row an anchor.
func (t *Table) setAnchor(id string) { t.Rows[len(t.Rows)-1].ID = id }

// classOf is the style of a row of the client overhead, or of the best configuration.
func classOf(overhead, best bool) string {
	switch {
	case overhead:
		return "overhead"
	case best:
		return "best"
	}
	return ""
}

// Wide reports whether a table has so many columns that it needs a smaller font.
func (t *Table) Wide() bool { return len(t.Head) > 6 }

// text returns a cell without a number.
func text(s string) Cell { return Cell{Text: s} }

// texts returns cells without numbers.
func texts(all ...string) []Cell { return lists.Map(all, text) }

// dim returns a cell in a lighter color.
func dim(s string) Cell { return Cell{Text: s, Class: "dim"} }

// bad returns a cell that is marked as a problem.
func bad(s string) Cell { return Cell{Text: s, Class: "bad"} }

// when returns a cell, or a substitute in its place if the value is not known.
func when(known bool, c Cell, substitute string) Cell {
	if known {
		return c
	}
	return dim(substitute)
}

// value is a number with its printed text. NaN and infinity count as not known.
func value[T ~int | ~int64 | ~float64](v T, printed string) Cell {
	return Cell{Text: printed, Known: !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0), Value: float64(v)}
}

// numeric prints three digits; a dash for NaN and infinity.
func numeric[T ~float64](v T) Cell {
	c := value(v, number(float64(v)))
	return when(c.Known, c, none)
}

// countCell prints a count; a dash if it is below 0 (not reported).
func countCell[T int | int64](n T) Cell {
	return when(n >= 0, value(n, count(n)), none)
}

// size prints bytes or, with "/s", a rate; a dash if it is below 0.
func size[T int64 | float64](n T, per string) Cell {
	return when(n >= 0, value(n, byteSize(float64(n))+per), none)
}

// millis prints a duration in milliseconds.
func millis(d time.Duration) Cell { return numeric(ms(d)) }

// estimate prints a number with its interval below it, if it has one.
func estimate(e measure.Estimate) Cell {
	c := numeric(e.Value)
	if e.Low < e.High {
		c.Sub = interval(e.Low, e.High)
	}
	return c
}

// valueOf returns an estimate with its interval for a picture.
func valueOf(e measure.Estimate) plot.Value { return plot.Value{V: e.Value, Lo: e.Low, Hi: e.High} }

// span is an interval; rows are sorted by its lower bound.
func span[T ~float64](lo, hi T) Cell {
	return when(!math.IsNaN(float64(lo)), value(lo, interval(float64(lo), float64(hi))), none)
}

// maxTableWidth is the maximum width of a table on a terminal, in runes.
const maxTableWidth = 180

// maxReason is the maximum length of a reason that a terminal shows completely, in runes.
const maxReason = 120

// print writes the table for a terminal, with numbers aligned to the right. It omits the last spare columns until the
// table fits. It shortens a long reason; the page shows all of it.
func (t *Table) print(b *strings.Builder) {
	head := make([]string, len(t.Head))
	for k, c := range t.Head {
		if head[k] = c.Name; c.Unit != "" {
			head[k] += " (" + c.Unit + ")"
		}
	}
	lines := [][]string{head}
	for _, r := range t.Rows {
		var line []string
		if r.Quiet {
			continue
		}
		for _, c := range r.Cells {
			shown := []rune(printable(strings.TrimSpace(c.Text + " " + c.Sub)))
			if c.Class == "bad" && len(shown) > maxReason {
				shown = append(shown[:maxReason:maxReason], '…')
			}
			line = append(line, string(shown))
		}
		lines = append(lines, line)
	}
	width, tableWidth := make([]int, len(t.Head)), 0
	for k := range t.Head {
		for _, line := range lines {
			width[k] = max(width[k], utf8.RuneCountInString(line[k]))
		}
		tableWidth += 2 + width[k]
	}
	if len(lines) == 1 {
		lines = nil
	}
	isOmitted, omitted := make([]bool, len(t.Head)), []string(nil)
	for k, c := range slices.Backward(t.Head) {
		if c.Spare && tableWidth > cmp.Or(t.Width, maxTableWidth) {
			isOmitted[k], omitted, tableWidth = true, append(omitted, head[k]), tableWidth-2-width[k]
		}
	}
	slices.Reverse(omitted)
	for _, line := range lines {
		var out strings.Builder
		for k, s := range line {
			if isOmitted[k] {
				continue
			}
			pad := strings.Repeat(" ", width[k]-utf8.RuneCountInString(s))
			if t.Head[k].Number {
				pad, s = "", pad+s
			}
			out.WriteString("  " + s + pad)
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
	}
	if len(omitted) > 0 {
		b.WriteString(wrap("Only in report.html: "+list(omitted)+".") + "\n")
	}
	if t.Note != "" {
		b.WriteString(wrap(t.Note) + "\n")
	}
}

// printable prevents text from other programs from controlling the terminal or breaking a line of a table.
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

// none is printed in place of a missing value.
const none = "—"

// number prints v with 3 significant digits and commas between thousands: 0.0123, 1.23, 12.3, 123, 1,230.
func number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return none
	case v < 0:
		return "−" + number(-v)
	case v >= 1e18 || v < 1e-4 && v > 0:
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return plot.Digits(v, 3)
}

// count prints an integer with commas between thousands.
func count[T int | int64 | uint64](n T) string { return run.FormatCount(n) }

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// byteSize prints a size to three digits, with a decimal unit.
func byteSize(n float64) string {
	if math.IsNaN(n) {
		return none
	}
	return humanize.BytesN(uint64(n), 3)
}

// probability prints a p-value; "<0.001" below that.
func probability(p float64) string {
	switch {
	case math.IsNaN(p):
		return none
	case p < 0.001:
		return "<0.001"
	case p > 0.995:
		return "1"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// interval prints the ends of an interval with three significant digits, as number does.
func interval(lo, hi float64) string {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return none
	}
	return number(lo) + " – " + number(hi)
}

// percent prints a change as +12 %, −3.4 %.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	sign := "+"
	if v < 0 {
		sign, v = "−", -v
	}
	digits := 1
	if v >= 0.0995 {
		digits = 0
	}
	return sign + strconv.FormatFloat(100*v, 'f', digits, 64) + " %"
}

// elapsed prints a duration for people: 850 ms, 12.3 s, 4 min 5 s.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return number(ms(d)) + " ms"
	case d < 2*time.Minute:
		return number(d.Seconds()) + " s"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// several prints a number and its noun in the right form: 1 node, 3 nodes.
func several[T int | int64 | uint64](n T, noun string) string { return run.CountOf(n, noun) }

// list joins words to an enumeration: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
