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

// Design is the layout of values of SHEF messages in tables.
type Design string

// The designs. The names of the archive's tables and columns are reconstructed, because its
// schema was never published; see docs/reference/post.md.
const (
	Single  Design = "single"  // the archive's pedrsep: a row per value
	Array96 Design = "array96" // the archive's pecrsep: a row per station, parameter and day, a column per quarter of an hour
	Array24 Design = "array24" // the same with a column per hour
)

// Designs are all designs, in the order of reports.
func Designs() []Design {
	return []Design{Array96, Array24, Single}
}

// Slots returns the number of values in a row of a design of arrays; 0 = one value per row.
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

// Method is how an engine writes values to tables.
type Method string

// The methods, from the slowest to the fastest.
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

// AllowsConcurrentPosters reports whether several posters may write the values of one station at the same
// time. The algorithm of 2006 reads a row and writes it back, and concurrent posters would
// overwrite each other's values.
func (m Method) AllowsConcurrentPosters() bool { return m != Row2006 && m != Row2006Message }

// Policy decides what happens to a value whose key exists: the modes of shef_duplicate in
// IHFS, and one that follows the SHEF manual.
type Policy string

// The policies. Each comment gives the mode of shef_duplicate, and when the new value replaces the stored one.
const (
	Overwrite             Policy = "overwrite"                 // ALWAYS_OVERWRITE: always, as in the algorithm of 2006
	RevisedOnly           Policy = "revised"                   // USE_REVCODE: if its message is a revision
	IfDifferent           Policy = "different"                 // IF_DIFFERENT: if it differs
	IfDifferentOrRevised  Policy = "different-or-revised"      // IF_DIFFERENT_OR_REVCODE: in either case
	IfDifferentAndRevised Policy = "different-and-revised"     // IF_DIFFERENT_AND_REVCODE: in both cases together
	GoodStays             Policy = "good-stays-unless-revised" // manual 5.1.6: a missing value replaces a good one only in a revision
)

// Policies are all policies.
func Policies() []Policy {
	return []Policy{Overwrite, RevisedOnly, IfDifferent, IfDifferentOrRevised, IfDifferentAndRevised, GoodStays}
}

// Rule is the decision of a policy for one incoming value.
type Rule byte

// The rules.
const (
	Replace  Rule = iota
	Keep          // the stored value stays
	Differ        // replace if the values differ
	Improve       // replace unless a good value would become a missing one
	NumRules = 4
)

// Rule returns the policy's rule for an incoming value.
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

// Writes reports whether an incoming value replaces a stored one.
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

// Origin is where a value comes from, as tables store it: its product and time of issue. It decides between
// products that contradict each other.
type Origin struct {
	Issued  int64 // Unix seconds; record.NoTime = unknown
	Revised bool
	Product string
	Value   float64
	Quality byte
}

// Precedes reports whether origin a comes before origin b: then a value of a never replaces a stored value of b with
// the same key, in whatever order they arrive. The first criterion in which a and b differ decides. What comes first is
//   - with GoodStays, a missing value that is not a revision;
//   - the product that was issued earlier;
//   - a product that is not a revision;
//   - the lesser product name;
//   - the missing value, then the lesser value, then the lesser qualifier.
//
// If the time of a product is unknown, neither origin precedes the other.
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

// UsesOrigin reports whether a policy uses the origin of values (Precedes). A table that stores
// one origin for all values of a row cannot: its values depend on the order of arrival.
func (p Policy) UsesOrigin() bool { return p != Overwrite }

// Offer lists what an engine promises for posting, for every Design. It is an element of
// engine.Driver.Offers.
type Offer struct{ Methods []Method }

// Methods returns the methods that a driver offers; none = the engine stores no posts.
func Methods(d *engine.Driver) []Method { return engine.OfferOf[Offer](d).Methods }

// DatabaseOf returns the ability of an open database; nil = the database lacks it.
func DatabaseOf(e *engine.Engine) Database { return engine.Find[Database](e) }

// Database opens the tables of values of SHEF messages for the study post.
type Database interface {
	// Open opens the tables of a design. If they do not exist, Open creates them if Make is
	// set, and otherwise returns an error. The error wraps engine.ErrNoDesign if the engine
	// does not offer the design.
	Open(ctx context.Context, t Tables) (*Store, error)
}

// Tables names the tables to open.
type Tables struct {
	Design Design
	Policy Policy // "" = Overwrite
	Make   bool
	Tests  bool // the tables that the study post empties and fills; their names end with _test
}

// Store is an open set of tables. Its functions are safe for concurrent use. If Size, Log
// or Maintain is nil, the engine lacks it; the others are never nil.
type Store struct {
	// Poster opens a poster for one worker. The method must be one of Offer.Methods. Like the
	// decoder of 2006, the poster reads the tables location (the stations) and ingestfilter
	// (their series) once, at its start.
	Poster func(ctx context.Context, m Method) (Poster, error)

	// Admit adds stations to location, and series to the ingest filter; it may be called again
	// for the same ones. Posters do not post values of other series.
	Admit func(ctx context.Context, stations []record.ID, series []Series) error

	// Values yields every stored value, in any order. A value is valid until the next step.
	Values func(ctx context.Context) iter.Seq2[*Value, error]

	// Read counts the values of a station in a period: the query of a reader.
	Read func(ctx context.Context, station record.ID, from, to int64) (int64, error)

	// Rows counts the rows of all tables of values.
	Rows func(ctx context.Context) (int64, error)

	// Delete removes the values observed before a time, and returns the number of removed rows. In
	// designs of arrays it removes the complete days before that time, with their value at 24:00.
	Delete func(ctx context.Context, before int64) (rows int64, err error)

	// Size returns the size of the tables of values.
	Size func(ctx context.Context) (Size, error)

	// Log returns the position of the write-ahead log, in bytes.
	Log func(ctx context.Context) (int64, error)

	// Maintain runs maintenance on the tables of values.
	Maintain func(ctx context.Context, u Maintenance) error

	Close func() error // the caller closes every Poster before
}

// Series is a parameter of a station: a row of the ingest filter.
type Series struct {
	Station  record.ID
	Code     record.Parameter
	Duration int16
}

// Value is a value as stored in a table.
type Value struct {
	Station  record.ID
	Code     record.Parameter
	Duration int16 // shefit's code
	Time     int64 // Unix seconds
	Value    float64

	Quality byte // 0 in designs of arrays, which store no quality
	Revised bool // false in designs of arrays
	Product string
	Issued  int64
}

// Origin returns the value's origin.
func (v *Value) Origin() *Origin {
	return &Origin{Issued: v.Issued, Revised: v.Revised, Product: v.Product, Value: v.Value, Quality: v.Quality}
}

// Size is the size of tables of values. -1 = not reported.
type Size struct {
	TableBytes int64 `json:"table_bytes"`
	IndexBytes int64 `json:"index_bytes"`
	DeadRows   int64 `json:"dead_rows"`
}

// Maintenance is a kind of maintenance.
type Maintenance string

// The kinds of maintenance.
const (
	Statistics Maintenance = "statistics"  // gather statistics for the planner
	Vacuum     Maintenance = "vacuum"      // free the space of dead rows for new rows
	VacuumFull Maintenance = "vacuum full" // rewrite the tables
)

// Message is a product: the unit that the report counts and times.
type Message struct {
	Product string // AWIPS id, at most 10 characters
	Issued  int64  // record.NoTime = unknown
	Values  []record.Gauge
}

// Poster posts messages. It is used by one goroutine.
type Poster interface {
	// Post posts the values of the messages, in their order. It posts all or nothing, and the
	// posted values are durable when it returns; Row2006 and Procedure commit every statement
	// or value instead. Posting the last messages again changes no value. With GoodStays, the
	// stored values that have an origin of their own are the same after any order and any
	// number of posts. Within a message the last value of a key counts. Post keeps none of
	// its arguments.
	Post(ctx context.Context, messages []Message) (PostResult, error)
	// Reread reads the location and ingest filter of some stations again, to learn series
	// that were admitted after the poster started.
	Reread(ctx context.Context, stations []record.ID) error
	Close() error
}

// PostResult counts the values of messages by what happened to them. Values + Unknown +
// Filtered is their total number.
type PostResult struct {
	Values   int64 `json:"values"`   // posted values
	Unknown  int64 `json:"unknown"`  // values of stations that are not in location
	Filtered int64 `json:"filtered"` // values that the ingest filter excludes

	Read     int64 `json:"rows_read"` // selected
	Inserted int64 `json:"rows_inserted"`
	Updated  int64 `json:"rows_updated"`
	Merged   int64 `json:"rows_merged"` // given to upserts, which do not report whether they inserted, updated or kept a row
	Retries  int64 `json:"retries"`     // restarts of transactions after deadlocks or keys that another poster inserted
}

// Add adds the counts of further messages.
func (p *PostResult) Add(o PostResult) {
	p.Values += o.Values
	p.Unknown += o.Unknown
	p.Filtered += o.Filtered
	p.Read += o.Read
	p.Inserted += o.Inserted
	p.Updated += o.Updated
	p.Merged += o.Merged
	p.Retries += o.Retries
}

// Digest identifies the content of tables of values, independent of their order.
type Digest struct {
	// Values covers station, parameter, duration, time and value. It is equal in all designs.
	Values record.Digest `json:"values"`
	// Content also covers quality, revision and product, as far as the design stores them. It
	// does not cover the time of posting.
	Content record.Digest `json:"content"`
}

// DigestOf computes the digest of stored values.
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
		value = 0 // positive zero, also for negative zero
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

// Reference computes from the messages alone what the tables of a design must contain: it
// applies a policy to one value after the other. Its memory grows with the values of the
// selected stations.
type Reference struct {
	Policy Policy
	Design Design                       // "" = Single
	Only   func(station record.ID) bool // selects stations; nil = all
	// Without selects values to omit from the digest; nil = none.
	Without func(v *Value) bool
	stored  map[postKey]Origin
}

// postKey is the key of a value.
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
		values := map[postKey]Origin{}
		for i := range messages[m].Values {
			g := &messages[m].Values[i]
			if r.Only != nil && !r.Only(g.Station) {
				continue
			}
			k := postKey{Series{g.Station, g.Code, g.Duration}, g.Time}
			if old, ok := values[k]; ok && !r.Policy.Rule(g.Revised).Writes(old.Value, g.Value) {
				continue
			}
			values[k] = Origin{messages[m].Issued, g.Revised, messages[m].Product, g.Value, g.Quality}
		}
		for k, x := range values {
			old, ok := r.stored[k]
			if ok && (!r.Policy.Rule(x.Revised).Writes(old.Value, x.Value) || r.hasOrigin(k.time) && r.Policy.Precedes(&x, &old)) {
				continue
			}
			r.stored[k] = x
		}
	}
}

// hasOrigin reports whether a value has an origin of its own. A value in a slot of an array
// has none.
func (r *Reference) hasOrigin(time int64) bool {
	slots := int64(r.Design.Slots())
	return r.Policy.UsesOrigin() && (slots == 0 || time%(86400/slots) != 0)
}

// Digest returns the digest of design single. Its Values is also that of designs of arrays.
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
