package load

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Rejects lists lines that do not stand in a CSV file, or shows the first few.
type Rejects struct {
	show  io.Writer
	cell  func(string) string
	file  *os.File
	csv   *csv.Writer
	shown int
}

// shownRejects is the number of lines that are shown.
const shownRejects = 10

// NewRejects lists into a file, or shows where there is no path; cell is what a
// text becomes in CSV.
func NewRejects(path string, show io.Writer, cell func(string) string) (*Rejects, error) {
	r := &Rejects{show: show, cell: cell}
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

// Reject lists a line in quarantine.
func (r *Rejects) Reject(q record.Reject) { r.line(q, "line quarantined") }

// Conflict lists a line whose values do not stand.
func (r *Rejects) Conflict(c design.Conflict) {
	place := c.Stands.String()
	if c.Stands.File == "" {
		place = "a record of the archive"
	}
	if c.Dropped.File == "" {
		c.Dropped.File = "the archive"
	}
	end := ", whose values are kept"
	if c.Kept {
		end = "; both are stored"
	}
	r.line(record.Reject{File: c.Dropped.File, Line: c.Dropped.Line, Reason: "conflicts with " + place + end, Text: c.What}, c.What)
}

func (r *Rejects) line(q record.Reject, then string) {
	if r.csv != nil {
		r.csv.Write([]string{r.cell(q.File), strconv.Itoa(int(q.Line)), r.cell(q.Reason), r.cell(q.Text)}) //nolint:errcheck // csv keeps the error for close
		return
	}
	if r.shown++; r.shown <= shownRejects {
		fmt.Fprintf(r.show, "%s:%d: %s; %s\n", fault.Name(q.File), q.Line, q.Reason, then)
	} else if r.shown == shownRejects+1 {
		fmt.Fprintln(r.show, "… further lines are not shown; name a file with --quarantine to keep them all")
	}
}

// Close ends the file.
func (r *Rejects) Close() error {
	if r.csv == nil {
		return nil
	}
	r.csv.Flush()
	return errors.Join(r.csv.Error(), r.file.Close())
}
