package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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

// trimStep is the time span that one commit removes, in seconds.
const trimStep = 30 * daySeconds

const daySeconds = 24 * 3600

// longestLead limits the lead that Retain adds to the current time, because a wrong line can have a wrong lead as well
// as a wrong time.
const longestLead = 366 * daySeconds

// DefaultLimit is the percentage of a subset's records that may be removed without --force.
const DefaultLimit = 10

// Retention defines which records Retain removes, and when it refuses to.
type Retention struct {
	MaxAge time.Duration   // records whose fcst_valid_beg is older than the newest one by more than this are removed
	Before *design.Catalog // catalog of the subset before the load that precedes Retain; nil = no load
	Limit  float64         // percentage of the records; see Removal.Refused
	Force  bool            // remove without checks
	Now    time.Time       // zero = the current time
}

// Removal describes what Retain removes, or refuses to remove.
type Removal struct {
	// records with an earlier fcst_valid_beg are removed; zero = no valid time is plausible
	Cutoff time.Time `json:"cutoff,omitzero"`
	Newest time.Time `json:"newest,omitzero"` // the valid time from which Cutoff follows
	// number of valid times that Retain ignores: those later than now plus the longest lead
	Later  int       `json:"later,omitempty"`
	Latest time.Time `json:"latest,omitzero"` // the last of them
	Days   int       `json:"days"`            // number of days with valid times before Cutoff
	Added  int       `json:"days_added"`      // number of days with valid times that the preceding load added
	// time between the last removed and the first remaining valid time, if it exceeds Retention.MaxAge
	Gap     string         `json:"gap,omitempty"`
	Records int64          `json:"records"` // removed records, or those that would be removed
	Total   int64          `json:"total"`   // records before the removal
	Refused bool           `json:"refused,omitempty"`
	Groups  []RemovedGroup `json:"groups,omitempty"` // Records by line type and model, if they were counted

	maxAge  time.Duration
	limit   float64
	before  []int64 // valid times to be removed, ascending
	preview bool    // nothing will be removed
}

// RemovedGroup counts the removed records of one line type and model.
type RemovedGroup struct {
	LineType string    `json:"line_type"`
	Model    string    `json:"model"`
	Records  int64     `json:"records"`
	First    time.Time `json:"fcst_valid_first"`
	Last     time.Time `json:"fcst_valid_last"`
}

// plan computes the cutoff from the catalog of a subset. It ignores valid times later than now plus
// the longest lead: one wrong date must not remove an archive.
func (r *Retention) plan(c *design.Catalog) *Removal {
	out := &Removal{Total: c.Digest().Records, maxAge: r.MaxAge, limit: r.Limit}
	var times []int64
	var lead int64
	for _, g := range c.Groups {
		times = append(times, g.Valid...)
		if n := len(g.Leads); n > 0 {
			lead = max(lead, int64(g.Leads[n-1]))
		}
	}
	slices.Sort(times)
	times = slices.Compact(times)
	now := r.Now
	if now.IsZero() {
		now = time.Now()
	}
	bound := now.Unix() + min(lead, longestLead)
	end, _ := slices.BinarySearch(times, bound+1)
	if out.Later = len(times) - end; out.Later > 0 {
		out.Latest = time.Unix(times[len(times)-1], 0).UTC()
	}
	if end == 0 {
		return out
	}
	cut := times[end-1] - int64(r.MaxAge/time.Second)
	out.Newest, out.Cutoff = time.Unix(times[end-1], 0).UTC(), time.Unix(cut, 0).UTC()
	at, _ := slices.BinarySearch(times[:end], cut)
	if out.before = times[:at]; at == 0 {
		return out
	}
	if gap := time.Duration(times[at]-times[at-1]) * time.Second; gap > r.MaxAge {
		if gap > 2*daySeconds*time.Second && gap%time.Hour != 0 {
			gap = gap.Truncate(time.Hour)
		}
		out.Gap = formatSpan(gap)
	}
	out.Days = len(lists.Set(out.before, dayOf))
	if r.Before != nil {
		out.Added = len(lists.Set(slices.Collect(c.NewTimes(r.Before)), dayOf))
	}
	return out
}

// dayOf returns the start of a time's day, in Unix seconds.
func dayOf(t int64) int64 { return time.Unix(t, 0).UTC().Truncate(daySeconds * time.Second).Unix() }

// isSuspicious reports whether the removal covers more days than the preceding load added, or leaves a gap longer than
// the retention. If so, Retain counts the records to be removed, and check compares their number with the limit.
func (m *Removal) isSuspicious() bool { return len(m.before) > 0 && (m.Days > m.Added || m.Gap != "") }

// count counts the records of a batch that would be removed.
func (m *Removal) count(b *record.Batch) {
	for i, v := range b.Valid {
		if v >= m.Cutoff.Unix() {
			continue
		}
		m.Records++
		k := RemovedGroup{LineType: b.Type.Name, Model: b.Header(i)[record.Model]}
		at, found := slices.BinarySearchFunc(m.Groups, k, func(a, b RemovedGroup) int {
			return cmp.Or(cmp.Compare(a.LineType, b.LineType), cmp.Compare(a.Model, b.Model))
		})
		when := time.Unix(v, 0).UTC()
		if !found {
			k.First, k.Last = when, when
			m.Groups = slices.Insert(m.Groups, at, k)
		}
		g := &m.Groups[at]
		g.Records++
		g.First = slices.MinFunc([]time.Time{g.First, when}, time.Time.Compare)
		g.Last = slices.MaxFunc([]time.Time{g.Last, when}, time.Time.Compare)
	}
}

// countAll counts the records of a subset that would be removed.
func (m *Removal) countAll(ctx context.Context, a archive.Archive, subset string) error {
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return err
		}
		m.count(b)
	}
	return nil
}

// check decides whether to refuse the removal. It refuses to remove more than the limit in two cases: the removal covers
// more days (by valid time) than the preceding load added, or the gap between removed and remaining records is longer
// than the retention. In both cases the newest date is probably wrong.
func (m *Removal) check() {
	m.Refused = m.isSuspicious() && float64(m.Records)*100 > m.limit*float64(m.Total)
}

// Err returns the error of a refused removal; nil = it was not refused.
func (m *Removal) Err() error {
	if m == nil || !m.Refused {
		return nil
	}
	word := func(one, several string) string { return english.PluralWord(int(m.Records), one, several) }
	why := fmt.Sprintf("and %s %s of valid time, but this load added only %d", word("covers", "cover"), english.Plural(m.Days, "day", ""), m.Added)
	if m.Gap != "" {
		why = "and there is a gap of " + m.Gap + " without records before the remaining ones"
	}
	what, check := "nothing was removed", " with --dry-run"
	if m.preview {
		what, check = "the removal would be refused", ""
	}
	return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
		Setting: "--retain " + formatSpan(m.maxAge),
		Problem: fmt.Sprintf("%s: %s of %s %s before %s; %s more than %g %%, %s", what, humanize.Comma(m.Records), english.Plural(int(m.Total), "record", ""),
			word("is", "are"), formatTime(m.Cutoff), word("it is", "they are"), m.limit, why),
		Cure: "check the newest date (" + formatTime(m.Newest) + ")" + check + "; then add --force, or raise --retain-limit",
	}}
}

// formatSpan prints a duration as --retain accepts it.
func formatSpan(d time.Duration) string {
	const day = daySeconds * time.Second
	switch {
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.String()
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// Retain removes the records of a subset that are older than the newest by more than r.MaxAge. It
// returns what it removed or refused to remove. It keeps the marks of the files: only a load with
// Options.Rehash restores the records.
func Retain(ctx context.Context, a archive.Archive, subset string, r Retention) (*Removal, error) {
	c, err := intactCatalog(ctx, a, subset)
	if err != nil {
		return nil, err
	}
	out := r.plan(c)
	if len(out.before) == 0 {
		return out, nil
	}
	if !r.Force && out.isSuspicious() {
		if err := out.countAll(ctx, a, subset); err != nil {
			return out, err
		}
		if out.check(); out.Refused {
			return out, nil
		}
	}
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return out, err
	}
	defer l.Close() //nolint:errcheck // everything is committed
	for rest := out.before; len(rest) > 0 && err == nil; {
		to := min(rest[0]+trimStep, out.Cutoff.Unix())
		err = archive.Trim(ctx, l, to)
		at, _ := slices.BinarySearch(rest, to)
		rest = rest[at:]
	}
	if err != nil {
		return out, err
	}
	now, err := a.Catalog(ctx, subset)
	if err != nil {
		return out, err
	}
	out.Records = now.Trimmed - c.Trimmed
	counted := now.Digest().Records
	if out.Records*10 >= out.Total { // as a load, Retain counts only if it changed a large share of the records
		contents, err := a.Contents(ctx, subset)
		if counted = contents.Total(); err != nil {
			return out, err
		}
	}
	if now.LoadedRecords() < c.LoadedRecords() || counted < now.Digest().Records {
		err = &fault.Error{Cure: conservationCure, Err: fmt.Errorf("%w: the archive had %s, %s removed, and %s",
			ErrNotConserved, english.Plural(int(c.Digest().Records), "record", ""), english.Plural(int(out.Records), "was", "were"),
			english.Plural(int(counted), "remains", "remain"))}
	}
	return out, err
}

// Preview counts what Retain would remove after a load of files, and writes nothing. If a file contains a record that
// the archive already has, Preview counts it twice. The error names all files that cannot be read to their end.
func (r Retention) Preview(ctx context.Context, a archive.Archive, subset string, paths []string, o Options) (*Removal, error) {
	marks, err := newMarks(ctx, a, subset, int64(len(paths))*marksPerFile)
	if err != nil {
		return nil, err
	}
	if r.Before, err = a.Catalog(ctx, subset); err != nil {
		return nil, err
	}
	reading, files := o.readOptions(ctx, marks, r.Before), design.NewCatalog(subset)
	read := func(f func(*record.Batch)) error { // calls f for the records that the load would store
		var failed []error
		err := Read(ctx, paths, reading, func(_ *File, b *record.Batch) error {
			if b.Len() > 0 && (o.Accept == nil || o.Accept(b.Type.Name)) {
				f(b)
			}
			if !o.ParseCache.sharesBatches() {
				release(b)
			}
			return nil
		}, func(f *File) error { failed = append(failed, f.Err); return nil })
		return errors.Join(append(failed, err)...)
	}
	if err := read(files.Add); err != nil {
		return nil, err
	}
	both := design.NewCatalog(subset)
	both.Merge(r.Before)
	both.Merge(files)
	out := r.plan(both)
	out.preview = true
	if len(out.before) == 0 {
		return out, nil
	}
	if err := out.countAll(ctx, a, subset); err != nil {
		return nil, err
	}
	err = read(out.count)
	if out.check(); r.Force {
		out.Refused = false
	}
	return out, err
}

// Text lists what would be removed.
func (m *Removal) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if m.Cutoff.IsZero() {
		fmt.Fprintln(w, "would remove\tnothing")
	} else {
		fmt.Fprintf(w, "would remove\t%s of %s: those with fcst_valid_beg before %s, because the newest is %s; "+
			"this removes %s of valid time and adds %d\n", humanize.Comma(m.Records), english.Plural(int(m.Total), "record", ""),
			formatTime(m.Cutoff), formatTime(m.Newest), english.Plural(m.Days, "day", ""), m.Added)
	}
	for _, g := range m.Groups {
		fmt.Fprintf(w, "  %s %s\t%s, %s to %s\n", g.LineType, g.Model, english.Plural(int(g.Records), "record", ""), formatTime(g.First), formatTime(g.Last))
	}
	m.textLater(w)
	return w.Flush()
}

func (m *Removal) textLater(w io.Writer) {
	if m.Later > 0 {
		fmt.Fprintf(w, "in the future\t%s, the last %s: --retain ignores them\n", english.Plural(int(m.Later), "valid time", ""), formatTime(m.Latest))
	}
}
