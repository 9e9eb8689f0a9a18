package report

import (
	_ "embed" // for prose.txt
	"fmt"
	"io"
	"strings"

	"github.com/barograph/barograph/internal/lists"
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
	complete bool           // the run finished, and all results are correct
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

// Empty reports whether a section has nothing to show.
func (s *Section) Empty() bool {
	return len(s.Pictures)+len(s.Parts)+len(s.Facts) == 0 && s.Text == "" && (s.Table == nil || len(s.Table.Rows) == 0)
}

// filled returns the sections that have something to show.
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
	if len(r.Sections) == 0 || r.Sections[0].ID != "choice" || !r.complete {
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

func printSections(b *strings.Builder, all []Section) {
	for i := range all {
		s := &all[i]
		if s.Terminal {
			fmt.Fprintf(b, "\n%s\n", printable(strings.TrimSpace(s.Title+" "+s.Small)))
			for _, x := range s.Words {
				b.WriteString(wrap(x.Text) + "\n")
			}
			printProse(b, lineWidth, s.Prose)
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

func printProse(b *strings.Builder, width int, paragraphs [][]Cell) {
	for _, p := range paragraphs {
		var line strings.Builder
		for _, c := range p {
			line.WriteString(c.Text)
		}
		b.WriteString(wrapAt(width, line.String()) + "\n")
	}
}

// wrap breaks text at spaces into lines of at most lineWidth runes.
func wrap(s string) string { return wrapAt(lineWidth, s) }

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
