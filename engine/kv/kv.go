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

// Sentinel errors of operations on records under keys.
var (
	ErrNotFound = errors.New("no record has the key")
	ErrExists   = errors.New("a record has the key already")
)

// Layout is the physical layout of a table of records under keys.
type Layout string

// The layouts.
const (
	Columns  Layout = "columns"  // a row per record, a column per field; YCSB's own
	Document Layout = "document" // a row per record: the key and one JSON document
	Pairs    Layout = "pairs"    // a key and the record's bytes

	Hash      Layout = "hash"      // as Columns, in a table that is hash-partitioned by key
	Clustered Layout = "clustered" // as Columns, in a table that stores its rows in key order; for engines whose default is another order

	Array      Layout = "array"      // as Document, but the first field is an array of its pieces, see ArrayPiece
	ArrayIndex Layout = "arrayindex" // as Array, with an index over the array's elements
)

// ArrayPiece is the number of bytes of a value in an element of Array. The last element
// may have fewer bytes, and no element splits a UTF-8 character.
const ArrayPiece = 10

// Summary is one line for people; "" for an unknown layout.
func (l Layout) Summary() string {
	return map[Layout]string{
		Columns:    "a column (or a field of a hash) per field, as in YCSB's bindings",
		Document:   "one JSON document per record",
		Pairs:      "a key and the record's bytes",
		Hash:       "a column per field, in a table that is hash-partitioned by key",
		Clustered:  "a column per field, in a table that stores its rows in key order",
		Array:      "one JSON document per record, whose first field is an array of pieces of 10 bytes",
		ArrayIndex: "the same with an index over the elements of the array",
	}[l]
}

// Offer lists what an engine promises for tables of records under keys. It is an element
// of engine.Driver.Offers.
type Offer struct {
	Layouts      []Layout          // the engine's usual layout first
	Transactions []IsolationLevel  // levels of transactions over several records, the strictest last; empty = no transactions
	NoScan       map[Layout]string // layouts whose tables cannot be scanned in key order, with the reason

	// OwnDDL: a user's script may make the table (Table.DDL), also in a schema of its own
	// (Table.Space), and a table of any physical form is opened if its columns are right.
	OwnDDL bool
}

// OfferOf returns a driver's offer. The offer of an engine without tables of records under
// keys has no layouts.
func OfferOf(d *engine.Driver) Offer { return engine.OfferOf[Offer](d) }

// DatabaseOf returns the ability of an open database; nil = the database lacks it.
func DatabaseOf(e *engine.Engine) Database { return engine.Find[Database](e) }

// Database opens tables of records under keys for the study ycsb.
type Database interface {
	// Table opens a table. If the table does not exist, Table creates it if Make is set,
	// and otherwise returns an error. The layout must be one of Offer.Layouts.
	Table(ctx context.Context, t Table) (*Records, error)
}

// Table names a table and its fields.
type Table struct {
	Name   string
	Fields []string // names, in the order of a Row's field indexes
	Layout Layout   // "" = the first of Offer.Layouts
	Make   bool     // create the table if it does not exist
	DDL    *DDL     // the user's script that creates the table; nil = the engine's own statements create it
	Space  string   // a schema that contains only this table; "" = the usual place
}

// Check returns an error for names that are not valid in every engine. Valid names have
// letters, digits and '_', at most 60 characters, and differ even if a server folds case.
func (t *Table) Check() error {
	bad := func(setting, name string) error {
		return &fault.Error{Setting: setting, Problem: "the name \"" + name + "\" cannot be used", Cure: "use at most 60 letters, digits and '_', beginning with a letter, each name once"}
	}
	if !plain(t.Name) {
		return bad("table", t.Name)
	}
	if err := t.checkSpace(); err != nil {
		return err
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

// Choose checks the names and the layout of a table before an engine opens it. If no layout
// is given, Choose sets the first one that the driver offers.
func (t *Table) Choose(d engine.Driver) error {
	layouts := OfferOf(&d).Layouts
	if t.Layout == "" {
		t.Layout = layouts[0]
	}
	if !slices.Contains(layouts, t.Layout) {
		e := fault.Unknown("--layout", string(t.Layout), layouts)
		e.Problem, e.Err = "is not offered by "+d.Scheme, engine.ErrNoDesign
		return &fault.Status{Code: fault.Usage, Err: e}
	}
	if err := t.CheckDDL(d); err != nil {
		return err
	}
	return t.Check()
}

// PageSize returns how many keys to request from each of parts hash partitions if the caller
// needs n keys. It is the partition's share plus three standard deviations, because hashes
// do not distribute keys evenly.
func PageSize(n, parts int) int {
	if parts == 1 {
		return n
	}
	share := float64(n) / float64(parts)
	return min(n, int(share+3*math.Sqrt(share))+2)
}

// MissingError returns the error of a table that does not exist; nil = the caller may create it.
func (t *Table) MissingError(readOnly bool) error {
	switch {
	case !t.Make:
		return &fault.Error{Setting: "table " + t.Name, Problem: "does not exist", Cure: "load it first"}
	case readOnly:
		return engine.ErrReadOnly
	}
	return nil
}

// CheckFields checks the fields with which a table was created.
func (t *Table) CheckFields(existing []string) error {
	if slices.Equal(existing, t.Fields) {
		return nil
	}
	return &fault.Error{Setting: "fieldcount", Problem: fmt.Sprintf("the table has the fields %q, not %q", existing, t.Fields), Cure: "give the fieldcount and the fieldnameprefix with which it was loaded"}
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

// Records is an open table. Its functions are safe for concurrent use. Connect and Close
// are never nil. If Count is nil, the engine cannot count.
type Records struct {
	Connect func(ctx context.Context) (*Conn, error) // one for each worker
	Count   func(ctx context.Context) (int64, error) // counts the records; may take long
	Close   func() error                             // the caller closes every Conn before

	// Clear removes all records; nil = the engine removes single records only. The caller ensures
	// that no Conn is in use.
	Clear func(ctx context.Context) error

	// DescribeDurability adapts the engine's description of an acknowledged write to this table, for
	// example to a table without a log. Nil = the description is right for every table.
	DescribeDurability func(ctx context.Context, a *engine.About) error

	// Form describes the table as the server has it, in SQL: columns, indexes, partitions,
	// storage. Nil = the engine has one form for each layout.
	Form func(ctx context.Context) (string, error)

	// Partitions counts the partitions of a table that has one for each range of keys; a scan
	// needs a request for each partition of its range. Nil = scans read no such partitions.
	Partitions func(ctx context.Context) (int64, error)
}

// NewRecords returns a table whose connections need no request to the server, neither to
// open nor, if connect sets no Close, to close. Read-only connections refuse to write.
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

// Conn reads and writes one table. One goroutine uses it. It keeps none of its arguments
// after a call returns; a Row that it fills belongs to the caller.
//
// Every write is durable when its call returns, as far as the engine's settings promise
// that, and every later read of any Conn sees it. After an error that is not a sentinel
// the write may have happened or not. Read, Insert, Update and Delete are never nil; Scan is nil
// for the layouts of Offer.NoScan.
type Conn struct {
	// Read appends the chosen fields of a record, in the order of f, to a reset
	// Row. It returns ErrNotFound if no record has the key.
	Read func(ctx context.Context, key []byte, f Fields, into *Row) error

	// Insert stores a record that has every field. If a record has the key already, Insert
	// leaves it unchanged and returns ErrExists.
	Insert func(ctx context.Context, key []byte, r *Row) error

	// Update replaces the fields that r has, all or none. It returns ErrNotFound if no
	// record has the key.
	Update func(ctx context.Context, key []byte, r *Row) error

	// Scan calls each for at most n records with the key from or a greater one, in the
	// bytewise order of keys, with the chosen fields. Key and row are valid until each
	// returns. An error of each ends the scan, and Scan returns it.
	Scan func(ctx context.Context, from []byte, n int, f Fields, each func(key []byte, r *Row) error) error

	// Delete removes a record. It returns ErrNotFound if no record has the key.
	Delete func(ctx context.Context, key []byte) error

	// InsertMany stores records that have every field, all or none. It returns ErrExists
	// if a record has one of the keys already.
	InsertMany func(ctx context.Context, rows []KeyRow) error

	// ReadPath appends, as field 0, the value at a path of the record's document
	// ("$.field3"). It returns ErrNotFound if the record or the value does not exist.
	ReadPath func(ctx context.Context, key []byte, path string, into *Row) error

	// UpdatePath replaces the value at a path of the record's document by a string. It
	// returns ErrNotFound if no record has the key.
	UpdatePath func(ctx context.Context, key []byte, path string, value []byte) error

	// Transact runs all calls that do makes of this Conn in one transaction. When it
	// returns nil, all their writes are stored. do returns the error of a call that failed;
	// then no write is stored. ErrConflict and ErrUnsettled describe the other outcomes.
	// After any other error no write is stored. Transact is nil if Offer.Transactions is
	// empty.
	Transact func(ctx context.Context, level IsolationLevel, do func() error) error

	Close func() error
}

// Freeze makes every writing function of c return engine.ErrReadOnly. Functions that are
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

// tryFor is the longest duration of one attempt to reach a lost server.
const tryFor = 10 * time.Second

// Reopen returns a working connection after a call of c failed. If only the call failed,
// that is c itself. Otherwise Reopen closes c and opens another connection. A connection
// works if it can read key, whether or not a record has it. Reopen tests this by a read, because
// engines whose drivers manage connections have no other common test. Reopen calls pause, which
// waits, before each attempt. If pause returns false, Reopen returns c and the last error.
func (r *Records) Reopen(ctx context.Context, c *Conn, key []byte, pause func() bool) (*Conn, error) {
	err := c.testRead(ctx, key)
	for err != nil {
		if !pause() {
			return c, err
		}
		var fresh *Conn
		if fresh, err = r.reconnect(ctx, key); err == nil {
			_ = c.Close() // it is broken
			return fresh, nil
		}
	}
	return c, nil
}

func (c *Conn) testRead(ctx context.Context, key []byte) error {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	var row Row
	err := c.Read(ctx, key, nil, &row)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (r *Records) reconnect(ctx context.Context, key []byte) (*Conn, error) {
	short, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	c, err := r.Connect(short)
	if err != nil {
		return nil, err
	}
	if err := c.testRead(ctx, key); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// BackOff returns how long to wait after a number of consecutive failures, at least one.
// It is 1 ms, doubled for each failure up to 1 s, times 0.5 … 1.5. The random factor keeps
// workers that failed together from trying again together.
func BackOff(failures int, rng *rand.Rand) time.Duration {
	wait := min(time.Second, time.Millisecond<<min(failures-1, 10))
	return time.Duration(float64(wait) * (0.5 + rng.Float64()))
}
