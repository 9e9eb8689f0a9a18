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

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// trimStep bounds what one commit removes, in seconds.
const trimStep = 30 * daySeconds

const daySeconds = 24 * 3600

// longestLead bounds what Retain adds to the clock for a forecast's lead: leads
// are read from the same lines as the times that it checks.
const longestLead = 366 * daySeconds

// DefaultLimit is the percentage of a subset's records that a removal takes
// without --force.
const DefaultLimit = 10

// Retention says which records Retain removes, and when it refuses.
type Retention struct {
	Keep   time.Duration   // records older than the newest by more than this are removed, by fcst_valid_beg
	Before *design.Catalog // of the subset before the load that Retain follows; nil = no load came before
	Limit  float64         // percent of the records; see Removal.Refused
	Force  bool            // remove in any case
	Now    time.Time       // zero = the clock's
}

// Removal is what Retain removes, or refuses to remove.
type Removal struct {
	From    time.Time `json:"from,omitzero"`   // records whose fcst_valid_beg is before it go; zero = no valid time counts
	Newest  time.Time `json:"newest,omitzero"` // the valid time from which From follows
	Later   int       `json:"later,omitempty"` // valid times after now plus the longest lead, from which nothing follows
	Latest  time.Time `json:"latest,omitzero"` // the last of them
	Days    int       `json:"days"`            // that have valid times before From
	Added   int       `json:"days_added"`      // that have valid times which the load before brought
	Gap     string    `json:"gap,omitempty"`   // from the last valid time that goes to the first that stays, where it exceeds Retention.Keep
	Records int64     `json:"records"`         // that were removed, or would be
	Total   int64     `json:"total"`           // records before the removal
	Refused bool      `json:"refused,omitempty"`
	Groups  []Removed `json:"groups,omitempty"` // of Records, where they were counted

	keep    time.Duration
	limit   float64
	before  []int64 // the valid times that go, ascending
	preview bool    // no removal was tried
}

// Removed counts the records of one line type and model.
type Removed struct {
	LineType string    `json:"line_type"`
	Model    string    `json:"model"`
	Records  int64     `json:"records"`
	First    time.Time `json:"fcst_valid_first"`
	Last     time.Time `json:"fcst_valid_last"`
}

// plan finds the cut in the catalog of a subset. The cut never follows from a
// valid time later than now plus the longest lead: one wrong date must not
// remove an archive.
func (r *Retention) plan(c *design.Catalog) *Removal {
	out := &Removal{Total: c.Held().Records, keep: r.Keep, limit: r.Limit}
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
	cut := times[end-1] - int64(r.Keep/time.Second)
	out.Newest, out.From = time.Unix(times[end-1], 0).UTC(), time.Unix(cut, 0).UTC()
	at, _ := slices.BinarySearch(times[:end], cut)
	if out.before = times[:at]; at == 0 {
		return out
	}
	if gap := time.Duration(times[at]-times[at-1]) * time.Second; gap > r.Keep {
		out.Gap = span(gap)
	}
	days := map[int64]bool{}
	for _, t := range out.before {
		days[floorDay(t)] = true
	}
	out.Days = len(days)
	if r.Before != nil {
		clear(days)
		for t := range c.NewTimes(r.Before) {
			days[floorDay(t)] = true
		}
		out.Added = len(days)
	}
	return out
}

func floorDay(t int64) int64 {
	day := t / daySeconds
	if t%daySeconds < 0 {
		day--
	}
	return day
}

// suspect reports whether the removal is one that the load before does not
// explain. Then its records are counted.
func (m *Removal) suspect() bool {
	return len(m.before) > 0 && (m.Days > m.Added || m.Gap != "")
}

// count adds the records of a batch that go.
func (m *Removal) count(b *record.Batch) {
	for i, v := range b.Valid {
		if v >= m.From.Unix() {
			continue
		}
		m.Records++
		k := Removed{LineType: b.Type.Name, Model: b.Header(i)[record.Model]}
		at, found := slices.BinarySearchFunc(m.Groups, k, func(a, b Removed) int {
			return cmp.Or(cmp.Compare(a.LineType, b.LineType), cmp.Compare(a.Model, b.Model))
		})
		when := time.Unix(v, 0).UTC()
		if !found {
			k.First, k.Last = when, when
			m.Groups = slices.Insert(m.Groups, at, k)
		}
		g := &m.Groups[at]
		g.Records++
		if when.Before(g.First) {
			g.First = when
		}
		if when.After(g.Last) {
			g.Last = when
		}
	}
}

// countAll counts the records of a subset that go.
func (m *Removal) countAll(ctx context.Context, a archive.Archive, subset string) error {
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return err
		}
		m.count(b)
	}
	return nil
}

// check decides whether the removal is refused. More than the limit of the
// records is too much where the removal covers more valid days than the load
// before brought, or where nothing fills the time between what goes and what
// stays: then the newest date is probably wrong.
func (m *Removal) check() {
	m.Refused = m.suspect() && float64(m.Records)*100 > m.limit*float64(m.Total)
}

// Err is the error of a removal that was refused; nil = it was not.
func (m *Removal) Err() error {
	if m == nil || !m.Refused {
		return nil
	}
	why := fmt.Sprintf("and cover %d valid days, where this load added %d", m.Days, m.Added)
	if m.Gap != "" {
		why = "and no record fills the " + m.Gap + " before the ones that stay"
	}
	what, check := "nothing was removed", " with --dry-run"
	if m.preview {
		what, check = "the removal would be refused", ""
	}
	return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
		Setting: "--retain " + span(m.keep),
		Problem: fmt.Sprintf("%s: %d of %d records are before %s, which are more than %g %%, %s",
			what, m.Records, m.Total, stamp(m.From), m.limit, why),
		Cure: "check the newest date (" + stamp(m.Newest) + ")" + check + "; then add --force, or raise --retain-limit",
	}}
}

// span prints a duration as --retain takes it; of one of days the hours are left out.
func span(d time.Duration) string {
	const day = daySeconds * time.Second
	switch {
	case d%day == 0 || d > 2*day && d%time.Hour != 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.String()
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// Retain removes from a subset the records that are older than the newest by
// more than r.Keep, and returns what it removed or refused to remove. The marks
// of their files stay: only a load with Options.Rehash brings them back.
func Retain(ctx context.Context, a archive.Archive, subset string, r Retention) (*Removal, error) {
	c, err := a.Catalog(ctx, subset)
	if err != nil {
		return nil, err
	}
	out := r.plan(c)
	if len(out.before) == 0 {
		return out, nil
	}
	if !r.Force && out.suspect() {
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
		to := min(rest[0]+trimStep, out.From.Unix())
		err = archive.Trim(ctx, l, to)
		at, _ := slices.BinarySearch(rest, to)
		rest = rest[at:]
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = &fault.Error{Setting: "--retain", Problem: "this engine removes no records of an archive", Err: err, Cure: "load into a new subset from time to time, or choose another engine"}
	}
	if err != nil {
		return out, err
	}
	now, err := a.Catalog(ctx, subset)
	if err != nil {
		return out, err
	}
	if out.Records = now.Trimmed - c.Trimmed; now.Brought() < c.Brought() {
		err = &fault.Error{Cure: cure, Err: fmt.Errorf("%w: %d records were counted before %d were removed, and %d after",
			ErrNotConserved, c.Held().Records, out.Records, now.Held().Records)}
	}
	return out, err
}

// Preview counts what Retain would remove after a load of files, and writes
// nothing. A record that a file brings again counts as often.
func (r Retention) Preview(ctx context.Context, a archive.Archive, subset string, paths []string, o Options) (*Removal, error) {
	marks, err := newMarks(ctx, a, subset, int64(len(paths))*fewFiles)
	if err != nil {
		return nil, err
	}
	if r.Before, err = a.Catalog(ctx, subset); err != nil {
		return nil, err
	}
	reading := o.reading(ctx, marks, r.Before)
	files, _, failed, err := Survey(ctx, paths, reading, nil)
	if err != nil || len(failed) > 0 {
		return nil, errors.Join(append(failed, err)...)
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
	err = Read(ctx, paths, reading, func(_ *File, b *record.Batch) error {
		out.count(b)
		release(b)
		return nil
	}, func(f *File) error { return f.Err })
	if out.check(); r.Force {
		out.Refused = false
	}
	return out, err
}

// Text lists what would go.
func (m *Removal) Text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	if m.From.IsZero() {
		fmt.Fprintln(w, "would remove\tnothing")
	} else {
		fmt.Fprintf(w, "would remove\t%d of %d records: those with fcst_valid_beg before %s, as the newest is %s; "+
			"%d valid days go, %d are added\n", m.Records, m.Total, stamp(m.From), stamp(m.Newest), m.Days, m.Added)
	}
	for _, g := range m.Groups {
		fmt.Fprintf(w, "  %s %s\t%d records, %s to %s\n", g.LineType, g.Model, g.Records, stamp(g.First), stamp(g.Last))
	}
	m.later(w)
	return w.Flush()
}

func (m *Removal) later(w io.Writer) {
	if m.Later > 0 {
		fmt.Fprintf(w, "in the future\t%d valid times, the last %s: --retain does not count back from them\n", m.Later, stamp(m.Latest))
	}
}
