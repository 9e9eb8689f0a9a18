package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
)

// StarDialect is what SQL engines differ in where they ask the questions of
// the analytical workload.
type StarDialect struct {
	// Table names a table in a statement.
	Table func(t tables.StarTable) string

	// NullsLeast: NULL stands first going up and last going down, without a
	// word, as in MariaDB and SQLite. The others are instructed to.
	NullsLeast bool
}

// Text is the SQL of a question; "" for one that is not known. Q3, Q52 and Q55
// are the texts of TPC-DS with the values of its qualification. They order by
// less than makes an order whole; rows that are equal in it come in any order.
func (d *StarDialect) Text(q tables.StarQuery) string {
	switch q {
	case tables.Q3:
		return d.star(true, "i.i_manufact_id = 128 AND d.d_moy = 11")
	case tables.Q52:
		return d.star(true, "i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000")
	case tables.Q55:
		return d.star(false, "i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999")
	case tables.ScanAll:
		return "SELECT SUM(ss_ext_sales_price) AS ext_price FROM " + d.Table(tables.StoreSales)
	}
	return ""
}

// star is a question of the star; byYear reports whether it has a column for the year.
func (d *StarDialect) star(byYear bool, where string) string {
	year, group, order := "", "", ""
	up, down := " NULLS FIRST", " NULLS LAST"
	if d.NullsLeast {
		up, down = "", ""
	}
	if byYear {
		year, group, order = "d.d_year AS d_year, ", "d.d_year, ", "d_year"+up+", "
	}
	return "SELECT " + year + "i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price\n" +
		"FROM " + d.Table(tables.DateDim) + " d, " + d.Table(tables.StoreSales) + " s, " + d.Table(tables.Item) + " i\n" +
		"WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND " + where + "\n" +
		"GROUP BY " + group + "i.i_brand, i.i_brand_id\n" +
		"ORDER BY " + order + "ext_price DESC" + down + ", brand_id" + up + "\n" +
		"LIMIT 100"
}

// Cents reads a DECIMAL as engines print it, exactly: 12, 12.3, -0.05. More
// than two decimals are an error unless they are zeros.
func Cents(text string) (int64, error) {
	bad := func() (int64, error) {
		return 0, &fault.Error{Setting: fmt.Sprintf("%q", text), Problem: "is no sum in hundredths"}
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, part, _ := strings.Cut(digits, ".")
	if whole == "" && part == "" || len(strings.TrimRight(part, "0")) > 2 {
		return bad()
	}
	n := int64(0)
	for _, c := range []byte(whole + (part + "00")[:2]) {
		if c < '0' || c > '9' || n > (1<<62)/10 {
			return bad()
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

// StarType is the SQL type of a column of the analytical workload's tables, with
// what follows the type of a text, such as a collation.
func StarType(c *tpcds.Column, text string) string {
	kind := "integer"
	switch c.Kind {
	case tpcds.Big:
		kind = "bigint"
	case tpcds.Decimal:
		kind = "decimal(7,2)"
	case tpcds.Date:
		kind = "date"
	case tpcds.Char:
		kind = "char(" + strconv.Itoa(c.Size) + ")" + text
	case tpcds.Varchar:
		kind = "varchar(" + strconv.Itoa(c.Size) + ")" + text
	}
	if c.Key {
		kind += " NOT NULL"
	}
	return kind
}

// StarEngine is what an engine brings for OpenStar. A nil Size or Cold means
// "cannot", a nil Close that there is nothing to close.
type StarEngine struct {
	Where    string // the tables are, in words, for errors
	ReadOnly bool
	Text     func(q tables.StarQuery) string

	// Note reads the note of the tables that are there; "" = there are none, or
	// they were not loaded whole.
	Note func(ctx context.Context) (string, error)
	// Load makes the tables anew, and keeps their note last.
	Load func(ctx context.Context, files tables.StarFiles, note string) (tables.StarLoaded, error)
	// Rows gives each row of an answer, see Querier.Rows.
	Rows  func(ctx context.Context, q tables.StarQuery, f func(row []any) error) error
	Plan  func(ctx context.Context, q tables.StarQuery) (string, error)
	Size  func(ctx context.Context) ([]int64, error)
	Cold  func(ctx context.Context) error
	Spent func(ctx context.Context) (engine.Spent, error)
	Close func() error
}

// OpenStar opens an engine's tables under a placement. Another one than that
// of the tables that are there is an error, unless they will be loaded anew.
func OpenStar(ctx context.Context, e *StarEngine, p tables.Placement) (*tables.Star, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	note, err := e.Note(ctx)
	if err != nil {
		return nil, err
	}
	s := &openStar{StarEngine: e, place: p}
	if err := s.hold(note); err != nil {
		return nil, err
	}
	out := &tables.Star{Load: s.load, Ask: s.ask, Text: e.Text, Plan: s.plan, Cold: e.Cold, Spent: e.Spent, Close: e.Close}
	if e.Size != nil {
		out.Size = s.size
	}
	if e.Close == nil {
		out.Close = func() error { return nil } // the engine's connections are its own
	}
	return out, nil
}

// openStar knows whether the tables that are there were loaded whole, and under
// the placement under which they were opened.
type openStar struct {
	*StarEngine
	place tables.Placement
	why   atomic.Pointer[fault.Error] // nobody can ask; nil = anybody can
}

// hold compares the placement with the note of the tables that are there.
func (s *openStar) hold(note string) error {
	s.begin()
	if note == "" {
		return nil
	}
	there, ok := StarPlaced(note)
	if !ok {
		return &fault.Error{Setting: s.Where, Problem: "holds tables that are not Barograph's", Cure: "name another database"}
	}
	err := s.place.Holds(there)
	if err != nil && !s.place.Anew {
		return err
	}
	f, _ := errors.AsType[*fault.Error](err)
	s.why.Store(f)
	return nil
}

// begin says that a load begins: nothing can be asked until it has ended.
func (s *openStar) begin() {
	s.why.Store(&fault.Error{Setting: s.Where, Problem: "holds no tables that were loaded whole", Cure: "load them"})
}

// usable is an error where nothing can be asked.
func (s *openStar) usable(q tables.StarQuery) error {
	if why := s.why.Load(); why != nil {
		return why
	}
	if !slices.Contains(tables.StarQueries(), q) {
		return &fault.Error{Setting: string(q), Problem: "is no question of the analytical workload"}
	}
	return nil
}

func (s *openStar) load(ctx context.Context, files tables.StarFiles) (tables.StarLoaded, error) {
	if s.ReadOnly {
		return tables.StarLoaded{}, &fault.Error{Setting: s.Where, Err: engine.ErrReadOnly, Cure: "open it for writing"}
	}
	note, err := json.Marshal(tables.Placement{Paths: s.place.Paths, Partitions: s.place.Partitions})
	if err != nil {
		return tables.StarLoaded{}, err
	}
	s.begin()
	out, err := s.Load(ctx, files, string(note))
	if err == nil {
		s.why.Store(nil)
	}
	return out, Failed(ctx, err)
}

func (s *openStar) ask(ctx context.Context, q tables.StarQuery) (out []tables.StarRow, err error) {
	if err := s.usable(q); err != nil {
		return nil, err
	}
	err = s.Rows(ctx, q, func(values []any) error {
		row, err := decodeStar(q, values)
		out = append(out, row)
		return err
	})
	return out, err
}

func (s *openStar) plan(ctx context.Context, q tables.StarQuery) (string, error) {
	if err := s.usable(q); err != nil {
		return "", err
	}
	text, err := s.Plan(ctx, q)
	return text, Failed(ctx, err)
}

func (s *openStar) size(ctx context.Context) ([]int64, error) {
	if err := s.usable(tables.ScanAll); err != nil {
		return nil, err
	}
	sizes, err := s.Size(ctx)
	return sizes, Failed(ctx, err)
}

// StarPlaced is the placement that a note tells, if it tells one.
func StarPlaced(note string) (p tables.Placement, ok bool) {
	err := json.Unmarshal([]byte(note), &p)
	return p, err == nil
}

// LoadStar has the Parquet files of all tables stored, some at once, the
// largest table's first. store stores the rows of one file and returns their
// number; it is called by several goroutines.
func LoadStar(ctx context.Context, files tables.StarFiles, store func(ctx context.Context, t tables.StarTable, rows *StarRows) (int64, error)) (tables.StarLoaded, error) {
	out := tables.StarLoaded{Rows: map[tables.StarTable]int64{}}
	for _, t := range tables.StarTables() {
		if len(files.Parquet[t]) == 0 {
			return out, &fault.Error{Setting: string(t), Problem: "has no Parquet files", Cure: "make them with `barograph synth tpcds`"}
		}
	}
	var lock sync.Mutex
	all, within := errgroup.WithContext(ctx)
	all.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range tables.StarTables() {
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
// cannot be read is reported by Err.
func OpenStarRows(path string, t tables.StarTable) *StarRows {
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

// decodeStar makes a row of an answer of its values, in the order of the
// question's columns; a sum is its text.
func decodeStar(q tables.StarQuery, values []any) (row tables.StarRow, err error) {
	whole := func(into *int64) {
		v := values[0]
		values = values[1:]
		if v != nil && err == nil {
			*into, err = AsWhole(v)
		}
	}
	if len(values) != q.Columns() {
		return row, &fault.Error{Setting: string(q), Problem: "is answered by " + strconv.Itoa(len(values)) + " columns"}
	}
	if len(values) == 4 {
		whole(&row.Year)
	}
	if len(values) == 3 {
		whole(&row.BrandID)
		brand, failed := AsText(values[0], "")
		row.Brand, err = strings.TrimRight(brand, " "), errors.Join(err, failed)
		values = values[1:]
	}
	if row.Null = values[0] == nil; row.Null || err != nil {
		return row, err
	}
	sum, err := AsText(values[0], "")
	if err == nil {
		row.Cents, err = Cents(sum)
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
