package design

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Conflict is a record to which two lines give different values.
type Conflict struct {
	Stands  Line   `json:"stands"`            // whose values the archive holds
	Dropped Line   `json:"dropped"`           // whose values it does not
	What    string `json:"what"`              // the record, and the first value in which they differ
	Refused bool   `json:"refused,omitempty"` // nobody has chosen which of the two stands
}

// Line is a line of a file. File is "" where it is not known any more; a line
// is known by its file.
type Line struct {
	File string `json:"file"`
	Line uint32 `json:"line"`
}

// Compare orders lines by the path of their file, then by their number.
func (l Line) Compare(o Line) int {
	return cmp.Or(cmp.Compare(l.File, o.File), cmp.Compare(l.Line, o.Line))
}

// MaxConflicts is the number of conflicts that a catalog lists: the first ones
// by the line that was dropped.
const MaxConflicts = 1000

// Note adds a conflict to the catalog's list, which is a set.
func (c *Catalog) Note(one Conflict) {
	at, found := slices.BinarySearchFunc(c.Conflicts, one, func(a, b Conflict) int {
		return cmp.Or(a.Dropped.Compare(b.Dropped), a.Stands.Compare(b.Stands))
	})
	if found {
		return
	}
	c.Conflicts = slices.Insert(c.Conflicts, at, one)
	if len(c.Conflicts) > MaxConflicts {
		c.Conflicts, c.MoreConflicts = c.Conflicts[:MaxConflicts], true
	}
}

// ConflictsText writes the list of conflicts as a table.
func (c *Catalog) ConflictsText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "does not stand\tstands\tby\trecord, and the first difference")
	for _, one := range c.Conflicts {
		by := "choice"
		if one.Refused {
			by = "refusal"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", one.Dropped, one.Stands, by, one.What)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	more := ""
	if c.MoreConflicts {
		more = ", and more that were not kept"
	}
	_, err := fmt.Fprintf(out, "%d conflicts%s\n", len(c.Conflicts), more)
	return err
}

// String is "file:line".
func (l Line) String() string {
	if l.File == "" {
		return "a file that is not there any more"
	}
	return fmt.Sprintf("%s:%d", l.File, l.Line)
}
