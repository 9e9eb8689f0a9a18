package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Result is what a load did, and what the archive holds now.
type Result struct {
	Archive     string           `json:"archive"`
	Design      string           `json:"design"`
	Subset      string           `json:"subset"`
	Database    string           `json:"database,omitempty"` // of the server, where a subset has one of its own
	Files       int              `json:"files_loaded"`
	Skipped     int              `json:"files_skipped"`
	Failed      []string         `json:"files_failed,omitempty"`
	Read        int64            `json:"read"`
	Stored      int64            `json:"stored"`
	Same        int64            `json:"duplicates"`
	Other       int64            `json:"conflicts"`
	Refused     int64            `json:"refused"`
	Quarantined int64            `json:"quarantined"`
	Kept        int64            `json:"kept,omitempty"`    // of Stored: beside different values of their record
	Removed     int64            `json:"removed,omitempty"` // records before From, as Retain does
	From        time.Time        `json:"from,omitzero"`
	Retention   *Removal         `json:"retention,omitempty"`
	NotTaken    map[string]int64 `json:"not_taken,omitempty"` // by line type
	LeftOut     map[string]int64 `json:"left_out,omitempty"`
	Cut         map[string]int64 `json:"cut,omitempty"` // by METviewer's column
	Held        []archive.Mark   `json:"skipped_with_quarantine,omitempty"`
	Lacking     []string         `json:"-"` // files of which the archive lacks lines
	Bytes       int64            `json:"bytes"`
	Seconds     float64          `json:"seconds"`
	Records     map[string]int64 `json:"records_by_line_type"`
	Objects     int64            `json:"objects"`
	Object      string           `json:"object"`
	BytesOnDisk int64            `json:"bytes_on_disk"`
	Digest      string           `json:"digest,omitempty"`
}

// Result joins what a load did with what the archive holds.
func (s *Summary) Result(ctx context.Context, a archive.Archive, subset string, n design.Name) (*Result, error) {
	size, err := a.Size(ctx)
	if err != nil {
		return nil, err
	}
	out := &Result{
		Subset: subset, Files: len(s.Files), Skipped: len(s.Skipped), Read: s.Read, Stored: s.Stored, Same: s.Same, Other: s.Other,
		Quarantined: s.Quarantined, Kept: s.Kept, Bytes: s.Bytes, Seconds: s.Elapsed.Seconds(), NotTaken: s.NotTaken, LeftOut: s.LeftOut, Cut: s.Cut, Held: s.Held, Lacking: s.Lacking,
		Design: string(n), Records: s.Catalog.Records(), Objects: s.Catalog.Objects, Object: n.Objects(), Digest: s.Catalog.Held().String(), BytesOnDisk: size,
	}
	if s.Counted != nil {
		out.Database = s.Counted.Database
	}
	for _, err := range s.Failed {
		out.Failed = append(out.Failed, fault.Redact(err.Error()))
	}
	return out, nil
}

// Text writes it as a table.
func (r *Result) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "archive\t%s, design %s, subset %s\n", r.Archive, r.Design, r.Subset)
	if r.Database != "" {
		fmt.Fprintf(w, "database\t%s (the URL's path and the subset)\n", r.Database)
	}
	fmt.Fprintf(w, "files\t%d loaded, %d skipped (in the archive already), %d failed\n", r.Files, r.Skipped, len(r.Failed))
	fmt.Fprintf(w, "lines\t%d read = %d stored + %d duplicates + %d conflicts + %d quarantined\n", r.Read, r.Stored, r.Same, r.Other, r.Quarantined)
	if r.Kept > 0 {
		fmt.Fprintf(w, "kept\t%d of the records stored stand beside different values of theirs: barograph list conflicts\n", r.Kept)
	}
	for _, m := range r.Held {
		fmt.Fprintf(w, "in quarantine\t%d of %d lines of %s, since it was loaded at %s UTC\n", m.Quarantined, m.Read, fault.Name(m.Path), m.Loaded.UTC().Format(time.DateTime))
	}
	for _, t := range slices.Sorted(maps.Keys(r.NotTaken)) {
		fmt.Fprintf(w, "not taken\t%d lines of %s, which the load_spec does not ask for\n", r.NotTaken[t], t)
	}
	for _, columns := range slices.Sorted(maps.Keys(r.LeftOut)) {
		fmt.Fprintf(w, "left out\tcolumns that no design keeps, of %d lines of %s\n", r.LeftOut[columns], columns)
	}
	for _, column := range slices.Sorted(maps.Keys(r.Cut)) {
		fmt.Fprintf(w, "cut\t%d texts do not fit METviewer's column %s, which may take several for one; the archive and its digest have them whole\n", r.Cut[column], column)
	}
	if m := r.Retention; m != nil {
		if m.Refused {
			fmt.Fprintf(w, "not removed\t%d of %d records with fcst_valid_beg before %s\n", m.Records, m.Total, stamp(m.From))
		} else if !m.From.IsZero() {
			fmt.Fprintf(w, "removed\t%d records with fcst_valid_beg before %s\n", m.Records, stamp(m.From))
		}
		m.later(w)
	}
	fmt.Fprintf(w, "archive holds\t%d %s, %s on disk\n", r.Objects, r.Object, humanize.BytesN(uint64(r.BytesOnDisk), 3))
	for _, t := range record.Types() {
		if n := r.Records[t.Name]; n > 0 {
			fmt.Fprintf(w, "  %s\t%d records\n", t.Name, n)
		}
	}
	if r.Digest != "" {
		fmt.Fprintf(w, "digest\t%s\n", r.Digest)
	}
	for _, f := range r.Failed {
		fmt.Fprintf(w, "failed\t%s\n", f)
	}
	return w.Flush()
}

// Refused counts the lines whose values were refused: by this load, and, as the
// archive reports, by an earlier one of files that were skipped, which are reported.
func Refused(ctx context.Context, a archive.Archive, subset string, s *Summary, by OnConflict, report func(design.Conflict)) (n int64, err error) {
	if by == Refuse || by == "" {
		n = s.Other
	}
	if len(s.Skipped) == 0 {
		return n, nil
	}
	c, err := a.Catalog(ctx, subset)
	if err != nil {
		return n, err
	}
	for _, one := range c.Conflicts {
		if one.Refused && slices.Contains(s.Skipped, one.Dropped.File) {
			report(one)
			s.Lacking = append(s.Lacking, one.Dropped.File)
			n++
		}
	}
	return n, nil
}

// Incomplete is the error of what the archive lacks of the files, refused lines
// among it; nil = it has everything.
func (s *Summary) Incomplete(refused int64) error {
	l := Shortfall{s.Quarantined, refused, len(s.Failed)}
	for _, m := range s.Held {
		l.Quarantined += m.Quarantined
	}
	parts := l.words()
	if len(parts) == 0 {
		return nil
	}
	rest := "all other lines were stored"
	if s.Stored+s.Same == 0 {
		rest = "nothing was stored"
	}
	return &fault.Status{Code: fault.Incomplete, Err: errors.New(strings.Join(parts, ", ") + "; " + rest)}
}

// Shortfall counts what is missing from the data of the files that the user named.
type Shortfall struct {
	Quarantined int64 // lines
	Refused     int64 // lines whose values contradict others
	Unread      int   // files that could not be read, or not to their end
}

// Reject counts the lines of b that are in quarantine, and tells of each.
func (l *Shortfall) Reject(b *record.Batch, to func(file string, line uint32, reason, text string) error) error {
	l.Quarantined += int64(len(b.Rejects))
	for _, x := range b.Rejects {
		if err := to(x.File, x.Line, x.Reason, x.Text); err != nil {
			return err
		}
	}
	return nil
}

// Incomplete is the error of a study or a list of such data; nil = nothing is lacking.
func (l Shortfall) Incomplete() error {
	parts := l.words()
	if len(parts) == 0 {
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: errors.New(strings.Join(parts, ", ") + "; this is of the rest")}
}

func (l Shortfall) words() (parts []string) {
	if l.Quarantined > 0 {
		parts = append(parts, english.Plural(int(l.Quarantined), "line of these files was quarantined", "lines of these files were quarantined"))
	}
	if l.Unread > 0 {
		parts = append(parts, english.Plural(l.Unread, "file could not be read", "files could not be read"))
	}
	if l.Refused > 0 {
		parts = append(parts, english.Plural(int(l.Refused), "line was refused, because it conflicts with an existing record (choose with --on-conflict)", "lines were refused, because they conflict with existing records (choose with --on-conflict)"))
	}
	return parts
}
