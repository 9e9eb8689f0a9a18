package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

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

// KV opens tables of records under keys: the ycsb workload.
type KV interface {
	// Table opens a table. One that does not exist is made if Make is set, and
	// is otherwise an error that says so. The layout must be one of Driver.Layouts.
	Table(ctx context.Context, t Table) (*Records, error)
}

// Table names a table and its fields.
type Table struct {
	Name   string
	Fields []string // their names, in the order of a Row's indexes
	Layout Layout   // "" = the first of Driver.Layouts
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
// layout is given it becomes the driver's first.
func (t *Table) Choose(d Driver) error {
	if t.Layout == "" {
		t.Layout = d.Layouts[0]
	}
	if !slices.Contains(d.Layouts, t.Layout) {
		return fmt.Errorf("%s lays tables out as %v, not as %s: %w", d.Scheme, d.Layouts, t.Layout, ErrNoDesign)
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
		return ErrReadOnly
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
	Weigh func(ctx context.Context, a *About) error
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
// Update and Read are never nil; Scan is nil where Driver.NoScan says so.
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
	// nil where Driver.Transactions is empty.
	Transact func(ctx context.Context, level IsolationLevel, do func() error) error

	Close func() error
}

// Freeze has every function of c that writes answer ErrReadOnly; those that are
// nil stay nil.
func (c *Conn) Freeze() {
	write := func(context.Context, []byte, *Row) error { return ErrReadOnly }
	c.Insert, c.Update = write, write
	c.Delete = func(context.Context, []byte) error { return ErrReadOnly }
	if c.InsertMany != nil {
		c.InsertMany = func(context.Context, []KeyRow) error { return ErrReadOnly }
	}
	if c.UpdatePath != nil {
		c.UpdatePath = func(context.Context, []byte, string, []byte) error { return ErrReadOnly }
	}
}

// Fields chooses fields by index, ascending; nil = all.
type Fields []int

// KeyRow is a record and its key.
type KeyRow struct {
	Key []byte
	Row *Row
}

// Row holds values of fields, one after the other in memory that it owns and
// uses again. The zero Row is empty.
type Row struct {
	fields []int
	ends   []int // of each value, in data
	data   []byte
}

// Reset empties the row; its memory stays.
func (r *Row) Reset() { r.fields, r.ends, r.data = r.fields[:0], r.ends[:0], r.data[:0] }

// Len is the number of fields.
func (r *Row) Len() int { return len(r.fields) }

// Size is the number of bytes of all values.
func (r *Row) Size() int { return len(r.data) }

// Add appends a copy of a field's value.
func (r *Row) Add(field int, value []byte) {
	r.data = append(r.data, value...)
	r.End(field)
}

// AddString appends a copy of a field's value.
func (r *Row) AddString(field int, value string) {
	r.data = append(r.data, value...)
	r.End(field)
}

// AddRow appends a copy of every field of another row.
func (r *Row) AddRow(o *Row) {
	begin := len(r.data)
	r.data = append(r.data, o.data...)
	r.fields = append(r.fields, o.fields...)
	for _, end := range o.ends {
		r.ends = append(r.ends, begin+end)
	}
}

// Data is where the next value grows: append to it, hand the result to SetData,
// then call End. It saves a copy where a value is made piece by piece.
func (r *Row) Data() []byte { return r.data }

// SetData takes what Data returned, appended to.
func (r *Row) SetData(data []byte) { r.data = data }

// End says that the bytes since the last value are the field's.
func (r *Row) End(field int) {
	r.fields = append(r.fields, field)
	r.ends = append(r.ends, len(r.data))
}

// At returns the i-th field and its value, which is valid until the row changes.
func (r *Row) At(i int) (field int, value []byte) {
	begin := 0
	if i > 0 {
		begin = r.ends[i-1]
	}
	return r.fields[i], r.data[begin:r.ends[i]:r.ends[i]]
}

// Value returns the value of a field.
func (r *Row) Value(field int) (value []byte, ok bool) {
	// Rows mostly hold all fields in their order.
	if field < len(r.fields) && r.fields[field] == field {
		_, value = r.At(field)
		return value, true
	}
	for i, f := range r.fields {
		if f == field {
			_, value = r.At(i)
			return value, true
		}
	}
	return nil, false
}

// Fields returns the fields that the row holds, valid until it changes.
func (r *Row) Fields() Fields { return r.fields }

// Equal reports whether two rows hold the same fields and values in the same order.
func (r *Row) Equal(o *Row) bool {
	if len(r.fields) != len(o.fields) || string(r.data) != string(o.data) {
		return false
	}
	for i := range r.fields {
		if r.fields[i] != o.fields[i] || r.ends[i] != o.ends[i] {
			return false
		}
	}
	return true
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

// stripes is the number of locks of a Stripes.
const stripes = 256

// Stripes are locks by key, for engines that look at a record before they write
// it. Other processes are not kept out by them.
type Stripes struct {
	seed  maphash.Seed
	locks [stripes]chan struct{}
}

// NewStripes returns locks that nobody holds.
func NewStripes() *Stripes {
	s := &Stripes{seed: maphash.MakeSeed()}
	for i := range s.locks {
		s.locks[i] = make(chan struct{}, 1)
	}
	return s
}

// Lock waits until nobody else holds the lock of a key, or for the end of ctx,
// whose error it then returns. Two keys may have the same lock: nobody must ask
// for one while holding another.
func (s *Stripes) Lock(ctx context.Context, key []byte) (unlock func(), err error) {
	l := s.locks[maphash.Bytes(s.seed, key)%stripes]
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ErrPacked is the error of bytes that AppendPacked did not write.
var ErrPacked = errors.New("the record's bytes are not as they were written")

// AppendPacked appends the row as the bytes of layout Pairs: for each of so many fields
// the length of its value plus 1, as a uvarint, and the value; 0 = no value. A field
// that the row lacks is taken from old, which may be nil.
func (r *Row) AppendPacked(to []byte, fields int, old *Row) []byte {
	for i := range fields {
		v, ok := r.Value(i)
		if !ok && old != nil {
			v, ok = old.Value(i)
		}
		if !ok {
			to = append(to, 0)
			continue
		}
		to = binary.AppendUvarint(to, uint64(len(v))+1)
		to = append(to, v...)
	}
	return to
}

// ParsePacked appends the chosen fields of what AppendPacked wrote.
func (r *Row) ParsePacked(from []byte, fields int, f Fields) error {
	want := 0
	for i := range fields {
		n, size := binary.Uvarint(from)
		if size <= 0 || n > uint64(len(from)-size)+1 {
			return ErrPacked
		}
		from = from[size:]
		if n == 0 {
			continue
		}
		v := from[:n-1]
		from = from[n-1:]
		if f == nil {
			r.Add(i, v)
			continue
		}
		for want < len(f) && f[want] < i {
			want++
		}
		if want == len(f) {
			return nil
		}
		if f[want] == i {
			r.Add(i, v)
		}
	}
	return nil
}
