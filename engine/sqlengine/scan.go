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

// StarDialect contains what differs between SQL engines in the questions of the star.
type StarDialect struct {
	// Table returns a table's name in a statement.
	Table func(t tables.StarTable) string

	// NullsLeast means that NULL sorts as the least value by default, as in MariaDB and
	// SQLite. The queries of other engines request that order.
	NullsLeast bool
}

// Text returns the SQL of a question; "" = unknown question. Q3, Q52 and Q55 are the texts of TPC-DS with the values of
// its qualification. Their ORDER BY does not determine the order of all rows.
func (d *StarDialect) Text(q tables.StarQuery) string {
	switch q {
	case tables.Q3:
		return d.starText(perYear, "i.i_manufact_id = 128 AND d.d_moy = 11")
	case tables.Q52:
		return d.starText(perYear, "i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000")
	case tables.Q55:
		return d.starText(!perYear, "i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999")
	case tables.ScanAll:
		return "SELECT SUM(ss_ext_sales_price) AS ext_price FROM " + d.Table(tables.StoreSales)
	}
	return ""
}

// perYear as an argument of starText adds a column with the year.
const perYear = true

// starText returns a question that sums up the sales by brand. where selects the rows.
func (d *StarDialect) starText(hasYear bool, where string) string {
	year, group, order := "", "", ""
	ascending, descending := " NULLS FIRST", " NULLS LAST"
	if d.NullsLeast {
		ascending, descending = "", ""
	}
	if hasYear {
		year, group, order = "d.d_year AS d_year, ", "d.d_year, ", "d_year"+ascending+", "
	}
	return "SELECT " + year + "i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price\n" +
		"FROM " + d.Table(tables.DateDim) + " d, " + d.Table(tables.StoreSales) + " s, " + d.Table(tables.Item) + " i\n" +
		"WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND " + where + "\n" +
		"GROUP BY " + group + "i.i_brand, i.i_brand_id\n" +
		"ORDER BY " + order + "ext_price DESC" + descending + ", brand_id" + ascending + "\n" +
		"LIMIT 100"
}

// Cents parses a DECIMAL as engines print it, without rounding: 12, 12.3, -0.05. More than two
// decimals are an error unless they are zeros.
func Cents(text string) (int64, error) {
	bad := func() (int64, error) {
		return 0, &fault.Error{Setting: fmt.Sprintf("%q", text), Problem: "is not a sum in hundredths"}
	}
	digits, negative := strings.CutPrefix(text, "-")
	integer, fraction, _ := strings.Cut(digits, ".")
	if integer == "" && fraction == "" || len(strings.TrimRight(fraction, "0")) > 2 {
		return bad()
	}
	n := int64(0)
	for _, c := range []byte(integer + (fraction + "00")[:2]) {
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

// StarType returns the SQL type of a column of the star's tables. collation is "", or follows the type of a text.
func StarType(c *tpcds.Column, collation string) string {
	kind := "integer"
	switch c.Kind {
	case tpcds.Big:
		kind = "bigint"
	case tpcds.Decimal:
		kind = "decimal(7,2)"
	case tpcds.Date:
		kind = "date"
	case tpcds.Char:
		kind = "char(" + strconv.Itoa(c.Size) + ")" + collation
	case tpcds.Varchar:
		kind = "varchar(" + strconv.Itoa(c.Size) + ")" + collation
	}
	if c.Key {
		kind += " NOT NULL"
	}
	return kind
}

// StarEngine is an engine's part of OpenStar. Size, DropCaches and ServerUsage are nil if the engine lacks them, Close
// if there is nothing to close.
type StarEngine struct {
	Location string // where the tables are, in words, for errors
	ReadOnly bool
	Text     func(q tables.StarQuery) string

	// ReadNote reads the note of the existing tables; "" = there are no tables, or their load is incomplete.
	ReadNote func(ctx context.Context) (string, error)
	// Load replaces the tables and stores their note last.
	Load func(ctx context.Context, files tables.StarFiles, note string) (tables.StarLoadResult, error)
	// Rows passes each row of an answer to f; see Querier.Rows.
	Rows        func(ctx context.Context, q tables.StarQuery, f func(row []any) error) error
	Plan        func(ctx context.Context, q tables.StarQuery) (string, error)
	Size        func(ctx context.Context) ([]int64, error) // bytes by path
	DropCaches  func(ctx context.Context) error
	ServerUsage func(ctx context.Context) (engine.ServerUsage, error)
	Close       func() error
}

// OpenStar opens an engine's tables at a placement. Tables with another placement are an error, unless the caller will
// replace them (p.Replace).
func OpenStar(ctx context.Context, e *StarEngine, p tables.Placement) (*tables.Star, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	note, err := e.ReadNote(ctx)
	if err != nil {
		return nil, err
	}
	s := &openStar{StarEngine: e, placement: p}
	if err := s.checkPlacement(note); err != nil {
		return nil, err
	}
	out := &tables.Star{
		Load: s.load, Ask: s.ask, Text: e.Text, Plan: s.plan, Cold: e.DropCaches, Spent: e.ServerUsage, Close: e.Close,
	}
	if e.Size != nil {
		out.Size = s.size
	}
	if e.Close == nil {
		out.Close = func() error { return nil } // the engine closes its connections itself
	}
	return out, nil
}

// openStar is an open star. It answers no question while its tables are incomplete or have another placement.
type openStar struct {
	*StarEngine
	placement tables.Placement
	unusable  atomic.Pointer[fault.Error] // why no question can be answered; nil = every question can
}

// checkPlacement compares the placement with the note of the existing tables.
func (s *openStar) checkPlacement(note string) error {
	s.markIncomplete()
	if note == "" {
		return nil
	}
	loaded, ok := ParsePlacement(note)
	if !ok {
		return &fault.Error{
			Setting: s.Location, Problem: "contains tables that Barograph did not load", Cure: "name another database",
		}
	}
	err := s.placement.CheckLoaded(loaded)
	if err != nil && !s.placement.Replace {
		return err
	}
	f, _ := errors.AsType[*fault.Error](err) // nil = the tables have this placement
	s.unusable.Store(f)
	return nil
}

// markIncomplete makes every question an error until the next load has finished.
func (s *openStar) markIncomplete() {
	s.unusable.Store(&fault.Error{Setting: s.Location, Problem: "contains no completely loaded tables", Cure: "load them"})
}

// checkUsable returns an error if a question cannot be answered.
func (s *openStar) checkUsable(q tables.StarQuery) error {
	if why := s.unusable.Load(); why != nil {
		return why
	}
	if !slices.Contains(tables.StarQueries(), q) {
		return &fault.Error{Setting: string(q), Problem: "is not a question of the study scan"}
	}
	return nil
}

func (s *openStar) load(ctx context.Context, files tables.StarFiles) (tables.StarLoadResult, error) {
	if s.ReadOnly {
		return tables.StarLoadResult{}, &fault.Error{Setting: s.Location, Err: engine.ErrReadOnly, Cure: "open it for writing"}
	}
	note, err := json.Marshal(tables.Placement{Paths: s.placement.Paths, Partitions: s.placement.Partitions})
	if err != nil {
		return tables.StarLoadResult{}, err
	}
	s.markIncomplete()
	out, err := s.Load(ctx, files, string(note))
	if err == nil {
		s.unusable.Store(nil)
	}
	return out, engine.CallError(ctx, err)
}

func (s *openStar) ask(ctx context.Context, q tables.StarQuery) (out []tables.StarRow, err error) {
	if err := s.checkUsable(q); err != nil {
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
	if err := s.checkUsable(q); err != nil {
		return "", err
	}
	text, err := s.Plan(ctx, q)
	return text, engine.CallError(ctx, err)
}

func (s *openStar) size(ctx context.Context) ([]int64, error) {
	if err := s.checkUsable(tables.ScanAll); err != nil {
		return nil, err
	}
	sizes, err := s.Size(ctx)
	return sizes, engine.CallError(ctx, err)
}

// ParsePlacement parses the placement in a note; ok reports whether the note contains one.
func ParsePlacement(note string) (p tables.Placement, ok bool) {
	err := json.Unmarshal([]byte(note), &p)
	return p, err == nil
}

// LoadStar stores the Parquet files of all tables, several at once, in the order of tables.StarTables. store stores the
// rows of one file and returns their number; several goroutines call it.
func LoadStar(
	ctx context.Context, files tables.StarFiles,
	store func(ctx context.Context, t tables.StarTable, rows *StarRows) (int64, error),
) (tables.StarLoadResult, error) {
	out := tables.StarLoadResult{Rows: map[tables.StarTable]int64{}}
	for _, t := range tables.StarTables() {
		if len(files.Parquet[t]) == 0 {
			return out, &fault.Error{
				Setting: string(t), Problem: "has no Parquet files", Cure: "make them with `barograph synth tpcds`",
			}
		}
	}
	var lock sync.Mutex
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range tables.StarTables() {
		for _, path := range files.Parquet[t] {
			group.Go(func() error {
				rows := OpenStarRows(path, t)
				defer rows.Close()
				n, err := store(groupCtx, t, rows)
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
	err := group.Wait()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return out, err
}

// StarRows reads the rows of a Parquet file one by one. One goroutine uses it.
type StarRows struct {
	next func() (*tpcds.Rows, error, bool)
	stop func()
	rows *tpcds.Rows
	row  int
	err  error
}

// OpenStarRows opens a file of a table before its first row. If the file cannot be read, Err
// reports it.
func OpenStarRows(path string, t tables.StarTable) *StarRows {
	r := &StarRows{rows: &tpcds.Rows{}, row: -1}
	r.next, r.stop = iter.Pull2(tpcds.Read(path, string(t)))
	return r
}

// Next advances to the next row. It returns false at the end or after an error.
func (r *StarRows) Next() bool {
	for r.row++; r.row >= r.rows.N; r.row = 0 {
		rows, err, ok := r.next()
		if err != nil || !ok {
			r.rows, r.err = &tpcds.Rows{}, err
			return false
		}
		r.rows = rows
	}
	return true
}

// Row returns the current row: element i of each column. The columns are all those of the table, in order, and are
// valid until Next.
func (r *StarRows) Row() (columns []tpcds.Vector, i int) { return r.rows.Columns, r.row }

// Err returns the error that ended Next before the end of the file.
func (r *StarRows) Err() error { return r.err }

// Close closes the file.
func (r *StarRows) Close() { r.stop() }

// decodeStar converts the values of a row, which are in the order of the question's columns. Sums are texts.
func decodeStar(q tables.StarQuery, values []any) (row tables.StarRow, err error) {
	integer := func(into *int64) {
		v := values[0]
		values = values[1:]
		if v != nil && err == nil {
			*into, err = AsInteger(v)
		}
	}
	if len(values) != q.Columns() {
		problem := fmt.Sprintf("has an answer of %d columns, not %d", len(values), q.Columns())
		return row, &fault.Error{Setting: string(q), Problem: problem}
	}
	if len(values) == 4 {
		integer(&row.Year)
	}
	if len(values) == 3 {
		integer(&row.BrandID)
		brand, textErr := AsText(values[0], "")
		row.Brand, err = strings.TrimRight(brand, " "), errors.Join(err, textErr)
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

// CreateServerFolder creates a folder for the tables of a server on this machine. If Barograph is root and the server's
// account exists, the account owns the folder. Otherwise the server must run under Barograph's account.
func CreateServerFolder(dir, account string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &fault.Error{
			File: dir, Problem: "cannot be created", Err: err,
			Cure: "name writable folders, or create this one, empty and owned by the server's account",
		}
	}
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(account)
	if err != nil {
		return nil //nolint:nilerr // the server may run under another account; it reports an error if it cannot write
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
