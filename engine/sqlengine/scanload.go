package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/tpcds"
)

// StarHeld knows whether the tables that are there were loaded whole, and
// under the placement under which they were opened. Engines keep its Note
// where a load that was broken off leaves none. It is safe for concurrent use.
type StarHeld struct {
	where string // in words, for errors
	place engine.Placement
	why   atomic.Pointer[fault.Error] // nobody can ask; nil = anybody can
}

// HoldStar compares a placement with the note of the tables that are there,
// "" where there is none. Another placement is an error, unless the tables
// will be loaded anew.
func HoldStar(where string, p engine.Placement, note string) (*StarHeld, error) {
	h := &StarHeld{where: where, place: p}
	h.Begin()
	if note == "" {
		return h, nil
	}
	there, ok := StarPlaced(note)
	if !ok {
		return nil, &fault.Error{Setting: where, Problem: "holds tables that are not Barograph's", Cure: "name another database"}
	}
	err := p.Holds(there)
	if err != nil && !p.Anew {
		return nil, err
	}
	f, _ := errors.AsType[*fault.Error](err)
	h.why.Store(f)
	return h, nil
}

// StarPlaced is the placement that a note tells, if it tells one.
func StarPlaced(note string) (p engine.Placement, ok bool) {
	err := json.Unmarshal([]byte(note), &p)
	return p, err == nil
}

// Usable is an error where nothing can be asked.
func (h *StarHeld) Usable(q engine.StarQuery) error {
	if why := h.why.Load(); why != nil {
		return why
	}
	if !slices.Contains(engine.StarQueries(), q) {
		return &fault.Error{Setting: string(q), Problem: "is no question of the analytical workload"}
	}
	return nil
}

// Begin says that a load begins: nothing can be asked until it has ended.
func (h *StarHeld) Begin() {
	h.why.Store(&fault.Error{Setting: h.where, Problem: "holds no tables that were loaded whole", Cure: "load them"})
}

// End says that a load has ended, and its note is kept.
func (h *StarHeld) End() { h.why.Store(nil) }

// Note is what tells the placement to those who open the tables later.
func (h *StarHeld) Note() string {
	text, err := json.Marshal(engine.Placement{Paths: h.place.Paths, Partitions: h.place.Partitions})
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	return string(text)
}

// LoadStar has the Parquet files of all tables stored, some at once, the
// largest table's first. store stores the rows of one file and returns their
// number; it is called by several goroutines.
func LoadStar(ctx context.Context, files engine.StarFiles, store func(ctx context.Context, t engine.StarTable, rows *StarRows) (int64, error)) (engine.StarLoaded, error) {
	out := engine.StarLoaded{Rows: map[engine.StarTable]int64{}}
	for _, t := range engine.StarTables() {
		if len(files.Parquet[t]) == 0 {
			return out, &fault.Error{Setting: string(t), Problem: "has no Parquet files", Cure: "make them with `barograph synth tpcds`"}
		}
	}
	var lock sync.Mutex
	all, within := errgroup.WithContext(ctx)
	all.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range engine.StarTables() {
		for _, path := range files.Parquet[t] {
			all.Go(func() error {
				rows := OpenStarRows(path, t)
				defer rows.Close()
				n, err := store(within, t, rows)
				if err = errors.Join(rows.Err(), err); err != nil {
					return err
				}
				lock.Lock()
				defer lock.Unlock()
				out.Rows[t] += n
				return nil
			})
		}
	}
	err := all.Wait()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// StarRows walks the rows of a Parquet file, one at a time; for one goroutine.
type StarRows struct {
	next func() (*tpcds.Rows, error, bool)
	stop func()
	rows *tpcds.Rows
	at   int
	err  error
}

// OpenStarRows begins before the first row of a file of a table. A file that
// cannot be read is told by Err.
func OpenStarRows(path string, t engine.StarTable) *StarRows {
	r := &StarRows{rows: &tpcds.Rows{}, at: -1}
	r.next, r.stop = iter.Pull2(tpcds.Read(path, string(t)))
	return r
}

// Next goes to the next row, and is false at the end or where Err is set.
func (r *StarRows) Next() bool {
	for r.at++; r.at >= r.rows.N; r.at = 0 {
		rows, err, ok := r.next()
		if err != nil || !ok {
			r.rows, r.err = &tpcds.Rows{}, err
			return false
		}
		r.rows = rows
	}
	return true
}

// Row is the row that Next went to: value i of each of the columns, which are
// all of the table's, in order. They are valid until Next.
func (r *StarRows) Row() (columns []tpcds.Vector, i int) { return r.rows.Columns, r.at }

// Err says why the file could not be read to its end.
func (r *StarRows) Err() error { return r.err }

// Close gives the file back.
func (r *StarRows) Close() { r.stop() }

// DecodeStar makes a row of an answer of its values as engines print them, in
// the order of the question's columns; nil is NULL.
func DecodeStar(q engine.StarQuery, values [][]byte) (row engine.StarRow, err error) {
	whole := func(into *int64) {
		text := values[0]
		values = values[1:]
		if text == nil || err != nil {
			return
		}
		*into, err = strconv.ParseInt(string(text), 10, 64)
	}
	if len(values) != StarColumns(q) {
		return row, &fault.Error{Setting: string(q), Problem: "is answered by " + strconv.Itoa(len(values)) + " columns"}
	}
	if len(values) == 4 {
		whole(&row.Year)
	}
	if len(values) == 3 {
		whole(&row.BrandID)
		row.Brand = strings.TrimRight(string(values[0]), " ")
		values = values[1:]
	}
	if values[0] == nil {
		row.Null = true
	} else if err == nil {
		row.Cents, err = Cents(string(values[0]))
	}
	return row, err
}

// GiveFolder makes a folder for the tables of a server on this machine. As
// root it is handed over to the server's account, where there is one of that
// name; else the server must run under Barograph's own.
func GiveFolder(dir, account string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &fault.Error{File: dir, Problem: "cannot be made", Err: err, Cure: "name folders that can be written, or make it, empty and owned by the server's account"}
	}
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		return nil //nolint:nilerr // the server runs under another account; it says so where that fails
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}
