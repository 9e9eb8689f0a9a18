package kv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// Sentinel errors of the abilities for records under keys.
var (
	ErrNotFound = errors.New("no record has the key")
	ErrExists   = errors.New("a record has the key already")
)

// Layout is how a table of records under keys is laid out.
type Layout string

// The layouts.
const (
	Columns  Layout = "columns"  // a row per record, a column per field; YCSB's own
	Document Layout = "document" // a row per record: the key and one JSON document
	Pairs    Layout = "pairs"    // a key and the record's bytes

	Hash      Layout = "hash"      // as Columns, in a table that is partitioned by the hash of its keys
	Clustered Layout = "clustered" // as Columns, in a table that lies in the order of its keys, where that is not the engine's habit

	Array      Layout = "array"      // as Document, but the first field is an array of its pieces, see ArrayPiece
	ArrayIndex Layout = "arrayindex" // as Array, with an index over the array's elements
)

// ArrayPiece is how many bytes of a value an element of Array has: the last one
// may have fewer, and none cuts a character of UTF-8 in two.
const ArrayPiece = 10

// Summary is one line for people; "" for an unknown layout.
func (l Layout) Summary() string {
	return map[Layout]string{
		Columns:    "a column, or the field of a hash, per field, as YCSB's bindings have it",
		Document:   "one JSON document per record",
		Pairs:      "a key and the record's bytes",
		Hash:       "a column per field, in a table of partitions by the hash of the key",
		Clustered:  "a column per field, in a table that lies in the order of its keys",
		Array:      "one JSON document per record, whose first field is an array of pieces of 10 bytes",
		ArrayIndex: "the same with an index over the elements of the array",
	}[l]
}

// Offer is what an engine promises of tables of records under keys: an element of
// engine.Driver.Abilities. Promised = delivered.
type Offer struct {
	Layouts      []Layout          // the usual one first
	Transactions []IsolationLevel  // of several records, the strictest level last; empty = there are none
	NoScan       map[Layout]string // those of Layouts whose tables cannot be scanned in the order of keys, and why
}

// Promised is what a driver offers. An engine without tables of records under keys
// has no layouts.
func Promised(d *engine.Driver) Offer { return engine.Promised[Offer](d) }

// Of is the ability of an open database; nil = it has none.
func Of(e *engine.Engine) Database { return engine.Find[Database](e) }

// Database opens tables of records under keys: the ycsb workload.
type Database interface {
	// Table opens a table. One that does not exist is made if Make is set, and
	// is otherwise an error that says so. The layout must be one of Offer.Layouts.
	Table(ctx context.Context, t Table) (*Records, error)
}

// Table names a table and its fields.
type Table struct {
	Name   string
	Fields []string // their names, in the order of a Row's indexes
	Layout Layout   // "" = the first of Offer.Layouts
	Make   bool     // make the table where it does not exist
}

// Check reports whether names can stand in every engine: letters, digits and
// '_', at most 60, none twice also where a server folds case.
func (t *Table) Check() error {
	bad := func(setting, name string) error {
		return &fault.Error{Setting: setting, Problem: "the name \"" + name + "\" cannot be used", Cure: "use at most 60 letters, digits and '_', beginning with a letter, each name once"}
	}
	if !plain(t.Name) {
		return bad("table", t.Name)
	}
	if len(t.Fields) == 0 {
		return &fault.Error{Setting: "fieldcount", Problem: "a record has no field", Cure: "give at least 1"}
	}
	seen := map[string]bool{"ycsb_key": true}
	for _, f := range t.Fields {
		if lower := strings.ToLower(f); !plain(f) || seen[lower] {
			return bad("field", f)
		}
		seen[strings.ToLower(f)] = true
	}
	return nil
}

// Choose checks names and layout of a table that an engine is to open. Where no
// layout is given it becomes the first that the driver offers.
func (t *Table) Choose(d engine.Driver) error {
	layouts := Promised(&d).Layouts
	if t.Layout == "" {
		t.Layout = layouts[0]
	}
	if !slices.Contains(layouts, t.Layout) {
		return fmt.Errorf("%s lays tables out as %v, not as %s: %w", d.Scheme, layouts, t.Layout, engine.ErrNoDesign)
	}
	return t.Check()
}

// PageOf is how many keys each of so many parts of a table is asked for when n are
// wanted of a table divided by hashes: its share, and three standard deviations
// more, as hashes do not divide keys evenly.
func PageOf(n, parts int) int {
	if parts == 1 {
		return n
	}
	share := float64(n) / float64(parts)
	return min(n, int(share+3*math.Sqrt(share))+2)
}

// Absent is the error of a table that does not exist; nil where it is to be made.
func (t *Table) Absent(readOnly bool) error {
	switch {
	case !t.Make:
		return &fault.Error{Setting: "table " + t.Name, Problem: "does not exist", Cure: "load it first"}
	case readOnly:
		return engine.ErrReadOnly
	}
	return nil
}

// Fits checks the fields that a table was made with.
func (t *Table) Fits(made []string) error {
	if slices.Equal(made, t.Fields) {
		return nil
	}
	return &fault.Error{Setting: "fieldcount", Problem: fmt.Sprintf("the table has the fields %q, not %q", made, t.Fields), Cure: "give what it was loaded with"}
}

func plain(name string) bool {
	if name == "" || len(name) > 60 {
		return false
	}
	for i, c := range []byte(name) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// Records is an open table; its functions are safe for concurrent use. Connect
// and Close are never nil; a nil Count means "cannot".
type Records struct {
	Connect func(ctx context.Context) (*Conn, error) // one for each worker
	Count   func(ctx context.Context) (int64, error) // of the records; may take long
	Close   func() error                             // after every Conn is closed

	// Weigh changes what the engine says a write is worth by what the table is: one
	// without a log, say. Nil = every table is as the engine says.
	Weigh func(ctx context.Context, a *engine.About) error
}

// NewRecords is a table whose connections are made without a word to the server,
// and end without one where connect gives no Close; read-only ones refuse to write.
func NewRecords(readOnly bool, connect func() *Conn, count func(ctx context.Context) (int64, error)) *Records {
	end := func() error { return nil }
	return &Records{
		Connect: func(context.Context) (*Conn, error) {
			c := connect()
			if c.Close == nil {
				c.Close = end
			}
			if readOnly {
				c.Freeze()
			}
			return c, nil
		},
		Count: count, Close: end,
	}
}

// Conn reads and writes one table. It is used by one goroutine. What a call is
// given is not kept beyond it; a Row that it fills belongs to the caller.
//
// Every write is durable when its call returns, as far as the engine's settings
// promise that, and is seen by whatever any Conn is asked afterwards. After an
// error that is no sentinel the write may have happened or not. Insert,
// Update and Read are never nil; Scan is nil where Offer.NoScan says so.
type Conn struct {
	// Read appends the chosen fields of a record, in the order of f, to a reset
	// Row. ErrNotFound where there is no record.
	Read func(ctx context.Context, key []byte, f Fields, into *Row) error

	// Insert stores a record that has every field. ErrExists where the key is
	// taken; that record is left as it is.
	Insert func(ctx context.Context, key []byte, r *Row) error

	// Update replaces the fields that r has, all or none. ErrNotFound where
	// there is no record.
	Update func(ctx context.Context, key []byte, r *Row) error

	// Scan gives each record from a key on, that one included, in the bytewise
	// order of keys, at most n, each with the chosen fields. Key and row are
	// valid until each returns; its error ends the scan and is returned.
	Scan func(ctx context.Context, from []byte, n int, f Fields, each func(key []byte, r *Row) error) error

	// Delete removes a record. ErrNotFound where there is none.
	Delete func(ctx context.Context, key []byte) error

	// InsertMany stores records that have every field, all or none. ErrExists
	// where one of the keys is taken.
	InsertMany func(ctx context.Context, rows []KeyRow) error

	// ReadPath appends, as field 0, the value at a path of the record's
	// document ("$.field3"). ErrNotFound where there is no record or no value.
	ReadPath func(ctx context.Context, key []byte, path string, into *Row) error

	// UpdatePath replaces the value at a path of the record's document by a
	// string. ErrNotFound where there is no record.
	UpdatePath func(ctx context.Context, key []byte, path string, value []byte) error

	// Transact has whatever do asks of this Conn be one transaction, whose writes
	// stand together, once it returns, or not at all. do returns the error of a
	// call that failed in it, and then nothing stands. ErrConflict and ErrUnsettled
	// say what else may become of it; after any other error nothing stands. It is
	// nil where Offer.Transactions is empty.
	Transact func(ctx context.Context, level IsolationLevel, do func() error) error

	Close func() error
}

// Freeze has every function of c that writes answer engine.ErrReadOnly; those that are
// nil stay nil.
func (c *Conn) Freeze() {
	write := func(context.Context, []byte, *Row) error { return engine.ErrReadOnly }
	c.Insert, c.Update = write, write
	c.Delete = func(context.Context, []byte) error { return engine.ErrReadOnly }
	if c.InsertMany != nil {
		c.InsertMany = func(context.Context, []KeyRow) error { return engine.ErrReadOnly }
	}
	if c.UpdatePath != nil {
		c.UpdatePath = func(context.Context, []byte, string, []byte) error { return engine.ErrReadOnly }
	}
}

// tryFor is how long one try to reach a lost server may take.
const tryFor = 10 * time.Second

// Reopen returns a connection that answers, after a call of c failed: c itself
// where only the call did, else another, and c is closed. A connection answers
// if it reads key, whether or not there is such a record; so it is the same for
// engines whose connections are their driver's. pause is called before each try
// and waits; where it returns false Reopen gives up, with c and the last error.
func (r *Records) Reopen(ctx context.Context, c *Conn, key []byte, pause func() bool) (*Conn, error) {
	err := c.answers(ctx, key)
	for err != nil {
		if !pause() {
			return c, err
		}
		var other *Conn
		if other, err = r.again(ctx, key); err == nil {
			_ = c.Close() // it is broken
			return other, nil
		}
	}
	return c, nil
}

func (c *Conn) answers(ctx context.Context, key []byte) error {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	var row Row
	err := c.Read(ctx, key, nil, &row)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (r *Records) again(ctx context.Context, key []byte) (*Conn, error) {
	short, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	c, err := r.Connect(short)
	if err != nil {
		return nil, err
	}
	if err := c.answers(ctx, key); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// BackOff is how long to wait after so many failures in a row, at least one:
// 1 ms, twice as long each time, up to 1 s; times 0.5 … 1.5, so that workers
// who failed together do not all come back together.
func BackOff(failures int, rng *rand.Rand) time.Duration {
	wait := min(time.Second, time.Millisecond<<min(failures-1, 10))
	return time.Duration(float64(wait) * (0.5 + rng.Float64()))
}
