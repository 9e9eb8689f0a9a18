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
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// Result describes what a load did, and what the archive contains afterwards.
type Result struct {
	Archive string `json:"archive"`
	Design  string `json:"design"`
	Subset  string `json:"subset"`
	// database on the server, if each subset has its own
	Database    string   `json:"database,omitempty"`
	Files       int      `json:"files_loaded"`
	Skipped     int      `json:"files_skipped"`
	Failed      []string `json:"files_failed,omitempty"`
	Read        int64    `json:"read"`
	Stored      int64    `json:"stored"`
	Duplicates  int64    `json:"duplicates"`
	Conflicts   int64    `json:"conflicts"`
	Refused     int64    `json:"refused"`
	Quarantined int64    `json:"quarantined"`
	// of Stored: records whose identity already had a different record (--on-conflict keep)
	Kept                  int64            `json:"kept,omitempty"`
	Removed               int64            `json:"removed,omitempty"` // records before RemovedBefore, removed by Retain
	RemovedBefore         time.Time        `json:"removed_before,omitzero"`
	Retention             *Removal         `json:"retention,omitempty"`
	NotAccepted           map[string]int64 `json:"not_taken,omitempty"` // by line type
	OmittedColumns        map[string]int64 `json:"omitted_columns,omitempty"`
	ShortenedTexts        map[string]int64 `json:"shortened_texts,omitempty"` // by METviewer's column
	SkippedWithQuarantine []archive.Mark   `json:"skipped_with_quarantine,omitempty"`
	IncompleteFiles       []string         `json:"-"` // files of which the archive lacks lines
	Bytes                 int64            `json:"bytes"`
	Seconds               float64          `json:"seconds"`
	Records               map[string]int64 `json:"records_by_line_type"`
	Objects               int64            `json:"objects"`
	Object                string           `json:"object"`
	BytesOnDisk           int64            `json:"bytes_on_disk"`
	Digest                string           `json:"digest,omitempty"`
}

// Result combines the summary of a load with the content of the archive.
func (s *Summary) Result(ctx context.Context, a archive.Archive, subset string, n design.Name) (*Result, error) {
	size, err := a.Size(ctx)
	if err != nil {
		return nil, err
	}
	out := &Result{
		Subset: subset, Design: string(n), Files: len(s.Files), Skipped: len(s.Skipped), Read: s.Read, Stored: s.Stored,
		Duplicates: s.Duplicates, Conflicts: s.Conflicts, Quarantined: s.Quarantined, Kept: s.Kept, NotAccepted: s.NotAccepted,
		OmittedColumns: s.OmittedColumns, ShortenedTexts: s.ShortenedTexts, SkippedWithQuarantine: s.SkippedWithQuarantine,
		IncompleteFiles: s.IncompleteFiles, Bytes: s.Bytes, Seconds: s.Elapsed.Seconds(), Records: s.Catalog.Records(),
		Objects: s.Catalog.Objects, Object: n.Objects(), BytesOnDisk: size, Digest: s.Catalog.Digest().String(),
	}
	if s.Counted != nil {
		out.Database = s.Counted.Database
	}
	out.Failed = lists.Map(s.Failed, func(err error) string { return fault.Redact(err.Error()) })
	return out, nil
}

// Text writes the result as a table.
func (r *Result) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	n := humanize.Comma
	fmt.Fprintf(w, "archive\t%s, design %s, subset %s\n", r.Archive, r.Design, r.Subset)
	if r.Database != "" {
		fmt.Fprintf(w, "database\t%s (named after the URL's path and the subset)\n", r.Database)
	}
	fmt.Fprintf(w, "files\t%s loaded, %s skipped (in the archive already), %s failed\n", n(int64(r.Files)), n(int64(r.Skipped)), n(int64(len(r.Failed))))
	fmt.Fprintf(w, "lines\t%s read = %s stored + %s duplicates + %s conflicts + %s quarantined\n",
		n(r.Read), n(r.Stored), n(r.Duplicates), n(r.Conflicts), n(r.Quarantined))
	if r.Kept > 0 {
		fmt.Fprintf(w, "kept\t%s of the stored records have the same identity as others: see barograph list conflicts %s --design %s --subset %s\n", n(r.Kept), r.Archive, r.Design, r.Subset)
	}
	for _, m := range r.SkippedWithQuarantine {
		fmt.Fprintf(w, "in quarantine\t%s of %s of %s, which was loaded at %s UTC\n", n(m.Quarantined), english.Plural(int(m.Read), "line", ""), fault.Name(m.Path), m.Loaded.UTC().Format(time.DateTime))
	}
	for _, t := range slices.Sorted(maps.Keys(r.NotAccepted)) {
		fmt.Fprintf(w, "not loaded\t%s of %s, which the load_spec does not request; later loads into this subset skip these files\n",
			english.Plural(int(r.NotAccepted[t]), "line", ""), t)
	}
	for _, columns := range slices.Sorted(maps.Keys(r.OmittedColumns)) {
		fmt.Fprintf(w, "omitted\t%s: no design stores these columns (%s)\n", columns, english.Plural(int(r.OmittedColumns[columns]), "line", ""))
	}
	for _, column := range slices.Sorted(maps.Keys(r.ShortenedTexts)) {
		fmt.Fprintf(w, "shortened\t%s too long for METviewer's column %s, which cuts them, so that they may become equal; the archive and its digest have the complete texts\n",
			english.Plural(int(r.ShortenedTexts[column]), "text is", "texts are"), column)
	}
	if m := r.Retention; m != nil {
		if m.Refused {
			fmt.Fprintf(w, "not removed\t%s of %s with fcst_valid_beg before %s\n", n(m.Records), english.Plural(int(m.Total), "record", ""), formatTime(m.Cutoff))
		} else if !m.Cutoff.IsZero() {
			fmt.Fprintf(w, "removed\t%s with fcst_valid_beg before %s\n", english.Plural(int(m.Records), "record", ""), formatTime(m.Cutoff))
		}
		m.textLater(w)
	}
	fmt.Fprintf(w, "archive total\t%s %s, %s on disk\n", n(r.Objects), r.Object, humanize.BytesN(uint64(r.BytesOnDisk), 3))
	for _, t := range record.Types() {
		if records := r.Records[t.Name]; records > 0 {
			fmt.Fprintf(w, "  %s\t%s\n", t.Name, english.Plural(int(records), "record", ""))
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

// Refused counts the lines whose values were refused by this load, and those that an earlier load
// refused from files that this load skipped. It calls report for the latter, and adds their files to
// s.IncompleteFiles.
func (s *Summary) Refused(by OnConflict, report func(design.Conflict)) (n int64) {
	if by == Refuse || by == "" {
		n = s.Conflicts
	}
	for _, one := range s.Catalog.Conflicts {
		if one.Refused && slices.Contains(s.Skipped, one.Dropped.File) {
			report(one)
			s.IncompleteFiles = append(s.IncompleteFiles, one.Dropped.File)
			n++
		}
	}
	return n
}

// Incomplete returns an error if the archive lacks lines of the files, including refused lines; nil
// = it has all.
func (s *Summary) Incomplete(refused int64) error {
	l := Shortfall{s.Quarantined, refused, len(s.Failed)}
	for _, m := range s.SkippedWithQuarantine {
		l.Quarantined += m.Quarantined
	}
	consequence := map[bool]string{true: "nothing was stored", false: "all other lines were stored"}
	return l.incomplete("line was refused, because it conflicts with an existing record (choose with --on-conflict)",
		"lines were refused, because they conflict with existing records (choose with --on-conflict)", consequence[s.Stored+s.Duplicates == 0 && s.Conflicts <= refused])
}

// Shortfall counts what is missing from the data of the files that the user named.
type Shortfall struct {
	Quarantined int64 // lines
	Refused     int64 // lines that conflict with other lines
	Unread      int   // files that could not be read to their end
}

// Reject counts the quarantined lines of b, and passes each to a callback.
func (l *Shortfall) Reject(b *record.Batch, to func(file string, line uint32, reason, text string) error) error {
	l.Quarantined += int64(len(b.Rejects))
	for _, x := range b.Rejects {
		if err := to(x.File, x.Line, x.Reason, x.Text); err != nil {
			return err
		}
	}
	return nil
}

// Incomplete returns an error that counts what is missing; nil = nothing is missing.
func (l Shortfall) Incomplete() error {
	return l.incomplete("line conflicts with an earlier line", "lines conflict with earlier lines", "the result covers only the other lines")
}

func (l Shortfall) incomplete(oneRefused, manyRefused, consequence string) error {
	var parts []string
	if l.Quarantined > 0 {
		parts = append(parts, english.Plural(int(l.Quarantined), "line of these files was quarantined", "lines of these files were quarantined"))
	}
	if l.Unread > 0 {
		parts = append(parts, english.Plural(l.Unread, "file could not be read", "files could not be read"))
	}
	if l.Refused > 0 {
		parts = append(parts, english.Plural(int(l.Refused), oneRefused, manyRefused))
	}
	if len(parts) == 0 {
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: errors.New(strings.Join(parts, ", ") + "; " + consequence)}
}
