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

// RejectList lists quarantined and conflicting lines. It writes all of them to a CSV file, or prints the first
// shownRejects.
type RejectList struct {
	show  io.Writer
	cell  func(string) string
	file  *os.File
	csv   *csv.Writer
	shown int
}

// shownRejects is the maximum number of printed lines.
const shownRejects = 10

// NewRejectList writes to a file, or prints if path is empty; cell prepares a text for a CSV cell.
func NewRejectList(path string, show io.Writer, cell func(string) string) (*RejectList, error) {
	r := &RejectList{show: show, cell: cell}
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

// Reject lists a quarantined line.
func (r *RejectList) Reject(q record.Reject) { r.line(q, "line quarantined") }

// Conflict lists a line whose values are not stored.
func (r *RejectList) Conflict(c design.Conflict) {
	place := c.Existing.String()
	if c.Existing.File == "" {
		place = "a record of the archive"
	}
	if c.Dropped.File == "" {
		c.Dropped.File = "the archive"
	}
	end := ", whose values are stored"
	if c.Kept {
		end = "; both are stored"
	}
	r.line(record.Reject{File: c.Dropped.File, Line: c.Dropped.Line, Reason: "conflicts with " + place + end, Text: c.What}, c.What)
}

func (r *RejectList) line(q record.Reject, consequence string) {
	if r.csv != nil {
		r.csv.Write([]string{r.cell(q.File), strconv.Itoa(int(q.Line)), r.cell(q.Reason), r.cell(q.Text)}) //nolint:errcheck // csv keeps the error for close
		return
	}
	if r.shown++; r.shown <= shownRejects {
		fmt.Fprintf(r.show, "%s:%d: %s; %s\n", fault.Name(q.File), q.Line, q.Reason, consequence)
	} else if r.shown == shownRejects+1 {
		fmt.Fprintln(r.show, "… further lines are not shown; write all of them to a file with --quarantine FILE")
	}
}

// Close completes the file.
func (r *RejectList) Close() error {
	if r.csv == nil {
		return nil
	}
	r.csv.Flush()
	return errors.Join(r.csv.Error(), r.file.Close())
}
