package posts

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"math"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// Design is how values of SHEF messages are laid out in tables.
type Design string

// The designs. Names of tables and columns of the archive's are reconstructed:
// its schema was never published, see docs/post.md.
const (
	Single  Design = "single"  // the archive's pedrsep: a row per value
	Array96 Design = "array96" // the archive's pecrsep: a row per station, parameter and day, a column per quarter of an hour
	Array24 Design = "array24" // the same with a column per hour
)

// Designs are all designs, in the order of reports.
func Designs() []Design {
	return []Design{Array96, Array24, Single}
}

// Slots is the number of values in a row: 0 where a row holds one.
func (d Design) Slots() int {
	switch d {
	case Array96:
		return 96
	case Array24:
		return 24
	}
	return 0
}

// Summary is one line for people; "" for an unknown design.
func (d Design) Summary() string {
	return map[Design]string{
		Single:  "a row per value, as in the RFC archive's pedrsep",
		Array96: "a row per station, parameter and day with 96 quarters of an hour, as in the RFC archive's pecrsep",
		Array24: "the same with 24 hours",
	}[d]
}

// Method is how values are brought into tables.
type Method string

// The methods, from the slowest.
const (
	Row2006        Method = "row-2006"         // select, then insert or update; every statement commits
	Row2006Message Method = "row-2006-message" // the same in one transaction
	Procedure      Method = "procedure"        // a stored procedure per value, which commits, as in IHFS
	PreparedRows   Method = "prepared"         // a prepared upsert per row, pipelined where the engine can
	MultiRow       Method = "multi-row"        // upserts of many rows
	Bulk           Method = "bulk"             // bulk copy into a temporary table, then a merge
)

// Summary is one line for people; "" for an unknown method.
func (m Method) Summary() string {
	return map[Method]string{
		Row2006:        "select, then insert or update; every statement commits",
		Row2006Message: "select, then insert or update; a message commits",
		Procedure:      "a stored procedure per value, which commits",
		PreparedRows:   "a prepared upsert per row, pipelined where the engine can",
		MultiRow:       "upserts of many rows",
		Bulk:           "bulk copy into a temporary table, then a merge",
	}[m]
}

// Shares reports whether several posters at once may write the values of one
// station. The algorithm of 2006 reads a row and writes it back, so that two
// posters lose each other's values.
func (m Method) Shares() bool { return m != Row2006 && m != Row2006Message }

// Policy decides what becomes of a value whose key is taken: the modes of
// shef_duplicate in IHFS, and one that follows the manual.
type Policy string

// The policies.
const (
	Overwrite             Policy = "overwrite"                 // the new value replaces the old; the algorithm of 2006, ALWAYS_OVERWRITE
	RevisedOnly           Policy = "revised"                   // USE_REVCODE: if its message is a revision
	IfDifferent           Policy = "different"                 // IF_DIFFERENT: if it differs
	IfDifferentOrRevised  Policy = "different-or-revised"      // IF_DIFFERENT_OR_REVCODE
	IfDifferentAndRevised Policy = "different-and-revised"     // IF_DIFFERENT_AND_REVCODE
	GoodStays             Policy = "good-stays-unless-revised" // manual 5.1.4: a missing value replaces a good one only in a revision
)

// Policies are all policies.
func Policies() []Policy {
	return []Policy{Overwrite, RevisedOnly, IfDifferent, IfDifferentOrRevised, IfDifferentAndRevised, GoodStays}
}

// Rule is what a policy comes to for one value.
type Rule byte

// The rules.
const (
	Replace  Rule = iota
	Keep          // what is stored stays
	Differ        // replace if the values differ
	Improve       // replace unless a good value would become a missing one
	NumRules = 4
)

// Rule is the policy's rule for a value.
func (p Policy) Rule(revised bool) Rule {
	pick := func(otherwise, ifRevised Rule) Rule {
		if revised {
			return ifRevised
		}
		return otherwise
	}
	switch p {
	case RevisedOnly:
		return pick(Keep, Replace)
	case IfDifferent:
		return Differ
	case IfDifferentOrRevised:
		return pick(Differ, Replace)
	case IfDifferentAndRevised:
		return pick(Keep, Differ)
	case GoodStays:
		return pick(Improve, Replace)
	}
	return Replace
}

// Writes reports whether a rule lets a value replace a stored one.
func (r Rule) Writes(stored, value float64) bool {
	switch r {
	case Keep:
		return false
	case Differ:
		return stored != value
	case Improve:
		return value != record.NoValue || stored == record.NoValue
	}
	return true
}

// Origin is what tables keep of where a value is from. It decides between products that
// contradict each other.
type Origin struct {
	Issued  int64 // Unix seconds; record.NoTime where it is not known
	Revised bool
	Product string
	Value   float64
	Quality byte
}

// Precedes reports whether a value does not replace another one of its key, whichever comes
// first: it is older by the time of their product, a revision after what it revises, the
// product's name, and, of products that have all of that in common, a good value after a
// missing one, the value and its qualifier. With GoodStays a missing value that is no
// revision is older than all others. Of products whose time is not known none precedes
// another one.
func (p Policy) Precedes(a, b *Origin) bool {
	if a.Issued == record.NoTime || b.Issued == record.NoTime {
		return false
	}
	isGood := func(o *Origin) bool { return o.Value != record.NoValue }
	counts := func(o *Origin) bool { return p != GoodStays || o.Revised || isGood(o) }
	return cmp.Or(
		compareBool(counts(a), counts(b)), cmp.Compare(a.Issued, b.Issued), compareBool(a.Revised, b.Revised), strings.Compare(a.Product, b.Product),
		compareBool(isGood(a), isGood(b)), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Quality, b.Quality)) < 0
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Settles reports whether a policy looks at where values are from (Precedes). A table that has one origin for the values of a row cannot: its values
// follow the order of arrival.
func (p Policy) Settles() bool { return p != Overwrite }

// Offer is what an engine promises of posting: an element of engine.Driver.Abilities.
// Promised = delivered, in every Design.
type Offer struct{ Methods []Method }

// Methods are those that a driver offers; none where its engine keeps no posts.
func Methods(d *engine.Driver) []Method { return engine.Promised[Offer](d).Methods }

// Of is the ability of an open database; nil = it has none.
func Of(e *engine.Engine) Database { return engine.Find[Database](e) }

// Database opens the tables of values of SHEF messages: the post workload.
type Database interface {
	// Open opens the tables of a design. Those that do not exist are made if
	// Make is set, and are otherwise an error that says so. The error wraps
	// engine.ErrNoDesign where the engine does not have the design.
	Open(ctx context.Context, t Tables) (*Store, error)
}

// Tables says what to open.
type Tables struct {
	Design Design
	Policy Policy // "" = Overwrite
	Make   bool
	Tests  bool // tables for tests, which change values: their names end in _test
}

// Store is an open set of tables; its functions are safe for concurrent
// use. A nil Size, Log or Tend means "cannot"; the others are never nil.
type Store struct {
	// Poster is for one worker; the method must be one of Offer.Methods.
	// It reads location and ingest filter, as the decoder of 2006 does at its start.
	Poster func(ctx context.Context, m Method) (Poster, error)

	// Admit fills location and ingest filter, twice is once: what is not in
	// them is not posted.
	Admit func(ctx context.Context, stations []record.ID, series []Series) error

	// Values gives every stored value, in no order. The value is valid during
	// the step.
	Values func(ctx context.Context) iter.Seq2[*Value, error]

	// Read counts the values of a station in a time: what a reader asks.
	Read func(ctx context.Context, station record.ID, from, to int64) (int64, error)

	// Rows counts the rows of all tables of values.
	Rows func(ctx context.Context) (int64, error)

	// Delete removes what was observed before a moment, a whole day in
	// designs of arrays, and tells how many rows that were.
	Delete func(ctx context.Context, before int64) (rows int64, err error)

	// Size tells how large the tables of values are.
	Size func(ctx context.Context) (Size, error)

	// Log is the position of the write-ahead log, in bytes.
	Log func(ctx context.Context) (int64, error)

	// Tend does maintenance on the tables of values.
	Tend func(ctx context.Context, u Upkeep) error

	Close func() error // after every Poster is closed
}

// Series names a station's parameter: a row of the ingest filter.
type Series struct {
	Station  record.ID
	Code     record.Parameter
	Duration int16
}

// Value is a value as it is found in a table.
type Value struct {
	Station record.ID
	Code    record.Parameter
	// Duration is shefit's number.
	Duration int16
	Time     int64
	Value    float64

	Quality byte // 0 in designs of arrays, which keep none
	Revised bool // likewise false
	Product string
	Issued  int64
}

// Origin is where the value is from.
func (v *Value) Origin() *Origin {
	return &Origin{Issued: v.Issued, Revised: v.Revised, Product: v.Product, Value: v.Value, Quality: v.Quality}
}

// Size is the size of tables of values. -1 = not reported.
type Size struct {
	TableBytes int64 `json:"table_bytes"`
	IndexBytes int64 `json:"index_bytes"`
	DeadRows   int64 `json:"dead_rows"`
}

// Upkeep is a kind of maintenance.
type Upkeep string

// The kinds.
const (
	Statistics Upkeep = "statistics"  // for the planner
	Vacuum     Upkeep = "vacuum"      // dead rows may be used again
	VacuumFull Upkeep = "vacuum full" // the tables are written anew
)

// Message is a product: the unit that the report counts and times.
type Message struct {
	Product string // AWIPS id, at most 10 characters
	Issued  int64  // record.NoTime where it is not known
	Values  []record.Gauge
}

// Poster posts messages. It is used by one goroutine.
type Poster interface {
	// Post posts the values of the messages, in their order. But for Row2006
	// and Procedure, whose every statement or value commits, it is all or
	// nothing and durable when it returns. Posting again what was posted last
	// changes no value; with GoodStays, values that have an origin of their own are
	// the same after any order and any number of posts. Within a message the
	// last value of a key counts. Nothing is kept of what it is given.
	Post(ctx context.Context, messages []Message) (Posted, error)
	// Reread reads again what may be posted of a few stations: what was admitted
	// since the poster began.
	Reread(ctx context.Context, stations []record.ID) error
	Close() error
}

// Posted is what became of messages. Values + Unknown + Filtered is their
// number of values.
type Posted struct {
	Values   int64 `json:"values"`   // that were posted
	Unknown  int64 `json:"unknown"`  // of stations that are not in location
	Filtered int64 `json:"filtered"` // that the ingest filter keeps out

	Read     int64 `json:"rows_read"` // selected
	Inserted int64 `json:"rows_inserted"`
	Updated  int64 `json:"rows_updated"`
	Merged   int64 `json:"rows_merged"` // given to upserts: whether each was inserted, updated or left is not reported
	Retries  int64 `json:"retries"`     // transactions that were restarted: deadlocks, keys that another poster took
}

// Add adds what became of further messages.
func (p *Posted) Add(o Posted) {
	p.Values += o.Values
	p.Unknown += o.Unknown
	p.Filtered += o.Filtered
	p.Read += o.Read
	p.Inserted += o.Inserted
	p.Updated += o.Updated
	p.Merged += o.Merged
	p.Retries += o.Retries
}

// Digest is the content of tables of values, whatever their order.
type Digest struct {
	// Values is of station, parameter, duration, time and value: equal in all
	// designs.
	Values record.Digest `json:"values"`
	// Content has besides what the design keeps of quality, revision and
	// product; not the time of posting.
	Content record.Digest `json:"content"`
}

// DigestOf digests stored values.
func DigestOf(values iter.Seq2[*Value, error]) (d Digest, err error) {
	var buf []byte
	for v, err := range values {
		if err != nil {
			return d, err
		}
		buf = d.add(v, buf)
	}
	return d, nil
}

func (d *Digest) add(v *Value, buf []byte) []byte {
	buf = append(append(buf[:0], v.Station[:]...), v.Code[:]...)
	value := v.Value
	if value == 0 {
		value = 0 // no negative zero
	}
	for _, x := range [...]uint64{uint64(v.Duration), uint64(v.Time), math.Float64bits(value)} {
		buf = binary.LittleEndian.AppendUint64(buf, x)
	}
	one := func() record.Digest {
		k := xxh3.Hash128(buf)
		return record.Digest{Hi: k.Hi, Lo: k.Lo, Records: 1}
	}
	d.Values.Add(one())
	buf = binary.LittleEndian.AppendUint64(buf, uint64(v.Issued))
	revised := byte(0)
	if v.Revised {
		revised = 1
	}
	buf = append(append(buf, v.Quality, revised), v.Product...)
	d.Content.Add(one())
	return buf
}

// Reference computes what the tables of a design must hold, from the messages
// alone: it applies a policy to one value after the other. Its memory grows
// with the values of the stations that it is asked to look at.
type Reference struct {
	Policy Policy
	Design Design                       // "" = Single
	Only   func(station record.ID) bool // which stations it looks at; nil = all
	// Without leaves values out of the digest; nil = none.
	Without func(v *Value) bool
	stored  map[postKey]Origin
}

// postKey distinguishes values.
type postKey struct {
	Series
	time int64
}

// Post posts messages.
func (r *Reference) Post(messages []Message) {
	if r.stored == nil {
		r.stored = map[postKey]Origin{}
	}
	for m := range messages {
		own := map[postKey]Origin{}
		for i := range messages[m].Values {
			g := &messages[m].Values[i]
			if r.Only != nil && !r.Only(g.Station) {
				continue
			}
			k := postKey{Series{g.Station, g.Code, g.Duration}, g.Time}
			if old, ok := own[k]; ok && !r.Policy.Rule(g.Revised).Writes(old.Value, g.Value) {
				continue
			}
			own[k] = Origin{messages[m].Issued, g.Revised, messages[m].Product, g.Value, g.Quality}
		}
		for k, x := range own {
			old, ok := r.stored[k]
			if ok && (!r.Policy.Rule(x.Revised).Writes(old.Value, x.Value) || r.settles(k.time) && r.Policy.Precedes(&x, &old)) {
				continue
			}
			r.stored[k] = x
		}
	}
}

// settles reports whether a value has an origin of its own: one on the grid of an array has
// none.
func (r *Reference) settles(at int64) bool {
	slots := int64(r.Design.Slots())
	return r.Policy.Settles() && (slots == 0 || at%(86400/slots) != 0)
}

// Digest is that of the design single; its Values are those of arrays, too.
func (r *Reference) Digest() (d Digest) {
	var buf []byte
	for k, x := range r.stored {
		v := Value{
			Station: k.Station, Code: k.Code, Duration: k.Duration, Time: k.time, Value: x.Value,
			Quality: x.Quality, Revised: x.Revised, Product: x.Product, Issued: x.Issued,
		}
		if r.Without == nil || !r.Without(&v) {
			buf = d.add(&v, buf)
		}
	}
	return d
}
