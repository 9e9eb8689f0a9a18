//go:build oracle

package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-sqlite3"
	goora "github.com/sijms/go-ora/v2"
	"github.com/sijms/go-ora/v2/network"

	"github.com/barograph/barograph/engine"
)

// standin replaces an Oracle server: it translates each statement to SQLite's SQL. It behaves like Oracle in these
// respects: an empty text is NULL, numbers are returned as digits, times have some zone, an array of parameters runs
// the statement for each row, a list has at most 1,000 members. It refuses DDL in a transaction, which Oracle would
// commit. It proves nothing about Oracle's SQL, types or protocol.
type standin struct {
	path string
	log  *statementLog // nil = none is kept
}

// statementLog keeps statements in the order in which they were sent.
type statementLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *statementLog) add(format string, args ...any) {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, fmt.Sprintf(format, args...))
	}
}

// over is the driver over stand-ins: oracle:path opens one.
func over(log *statementLog) engine.Driver {
	d := Driver()
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		return opened(ctx, standin{engine.Path(u), log}, o)
	}
	return d
}

func (s standin) Driver() driver.Driver { return nil }

func (s standin) Connect(context.Context) (driver.Conn, error) {
	d := &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		return errors.Join(
			c.RegisterFunc("oraname", unfold, true),
			c.RegisterFunc("to_number", number, true),
			c.RegisterFunc("to_binary_double", double, true),
			c.RegisterFunc("mod", func(a, b int64) int64 { return a % b }, true))
	}}
	c, err := d.Open("file:" + s.path + "?_txlock=immediate&_busy_timeout=30000&_journal_mode=WAL")
	if err != nil {
		return nil, err
	}
	return &standinConn{c: c.(*sqlite3.SQLiteConn), log: s.log}, nil
}

// SQLite folds the case of names, which Oracle does not where they are quoted.
var capital = regexp.MustCompile(`~?[A-Z~]`)

func fold(name string) string { return capital.ReplaceAllString(name, "~$0") }

func unfold(name string) string { return strings.NewReplacer("~~", "~", "~", "").Replace(name) }

func number(v any) any {
	if s, ok := v.(string); ok {
		n, _ := strconv.ParseInt(s, 10, 64)
		return n
	}
	return v
}

func double(v any) any {
	switch v := v.(type) {
	case string:
		f, _ := strconv.ParseFloat(v, 64)
		return f
	case int64:
		return float64(v)
	}
	return v
}

type standinConn struct {
	c       *sqlite3.SQLiteConn
	log     *statementLog
	in      bool     // a transaction
	scanned []string // tables of the statement that was explained
}

func (c *standinConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (c *standinConn) Close() error                        { return c.c.Close() }
func (c *standinConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// CheckNamedValue lets arrays and LOBs pass, as go-ora does.
func (c *standinConn) CheckNamedValue(*driver.NamedValue) error { return nil }

func (c *standinConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.log.add("-- transaction")
	tx, err := c.c.BeginTx(ctx, o)
	c.in = err == nil
	return standinTx{c, tx}, err
}

type standinTx struct {
	c  *standinConn
	tx driver.Tx
}

func (t standinTx) Commit() error {
	t.c.log.add("-- commit")
	t.c.in = false
	return t.tx.Commit()
}

func (t standinTx) Rollback() error {
	t.c.log.add("-- rollback")
	t.c.in = false
	return t.tx.Rollback()
}

// ignored are statements that SQLite does not have and that the tests do not need.
var ignored = regexp.MustCompile(`^(ALTER SESSION|BEGIN DBMS_STATS|DELETE FROM plan_table)`)

var tableNames = regexp.MustCompile(`"[^"]*/(stat_header|line_data_\w+|doc_\w+)" `)

func (c *standinConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.note(text, args)
	if plan, ok := strings.CutPrefix(text, "EXPLAIN PLAN FOR "); ok {
		c.scanned = nil
		for _, m := range tableNames.FindAllString(plan, -1) {
			c.scanned = append(c.scanned, strings.Trim(m, `" `))
		}
		return driver.ResultNoRows, nil
	}
	if ignored.MatchString(text) {
		return driver.ResultNoRows, ctx.Err()
	}
	if strings.HasPrefix(text, "CREATE") && c.in {
		return nil, errors.New("DDL commits the transaction that is under way")
	}
	words, err := inSQLite(text)
	if err != nil {
		return nil, err
	}
	var res driver.Result
	for _, row := range rowsOf(args) {
		if res, err = c.c.ExecContext(ctx, words, row); err != nil {
			break
		}
	}
	if err != nil && strings.Contains(err.Error(), "already exists") {
		err = network.NewOracleError(nameTaken)
	}
	return res, err
}

// rowsOf takes arrays apart; a single value is a row.
func rowsOf(args []driver.NamedValue) [][]driver.NamedValue {
	n, arrays := 1, false
	if len(args) > 0 {
		if v := reflect.ValueOf(args[0].Value); v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 {
			n, arrays = v.Len(), true
		}
	}
	out := make([][]driver.NamedValue, n)
	for i := range out {
		out[i] = make([]driver.NamedValue, len(args))
		for k, a := range args {
			v := a.Value
			if arrays {
				v = reflect.ValueOf(v).Index(i).Interface()
			}
			switch x := v.(type) {
			case string:
				if v = x; x == "" {
					v = nil
				}
			case goora.Blob:
				if v = x.Data; !x.Valid {
					v = nil
				}
			}
			out[i][k] = driver.NamedValue{Ordinal: k + 1, Value: v}
		}
	}
	return out
}

func (c *standinConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.note(text, args)
	switch {
	case strings.Contains(text, "product_component_version"):
		return &fixed{rows: [][]driver.Value{{"AL32UTF8", "19.0.0.0.0"}}}, nil
	case strings.Contains(text, "user_segments"):
		return &fixed{rows: [][]driver.Value{{"65536"}}}, nil
	case strings.Contains(text, "DBMS_XPLAN"):
		return &fixed{rows: [][]driver.Value{{"no plan of Oracle's"}}}, nil
	case strings.Contains(text, "plan_table"):
		f := &fixed{}
		for _, t := range c.scanned {
			f.rows = append(f.rows, []driver.Value{"TABLE ACCESS", "FULL", t, "1"})
		}
		return f, nil
	}
	words, err := inSQLite(text)
	if err != nil {
		return nil, err
	}
	rows, err := c.c.QueryContext(ctx, words, rowsOf(args)[0])
	if err != nil {
		return nil, fmt.Errorf("%w: %.300s", err, words)
	}
	return standinRows{rows}, nil
}

// standinRows hands values over as go-ora does.
type standinRows struct{ driver.Rows }

var moment = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$`)

func (r standinRows) Next(dest []driver.Value) error {
	if err := r.Rows.Next(dest); err != nil {
		return err
	}
	for i, v := range dest {
		switch v := v.(type) {
		case int64:
			dest[i] = strconv.FormatInt(v, 10)
		case string:
			if v == "" {
				dest[i] = nil
			}
			if moment.MatchString(v) {
				t, err := time.ParseInLocation(time.DateTime, v, time.FixedZone("", 5*3600))
				if err != nil {
					return err
				}
				dest[i] = t
			}
		}
	}
	return nil
}

// fixed is an answer that is known.
type fixed struct{ rows [][]driver.Value }

func (f *fixed) Close() error { return nil }
func (f *fixed) Columns() []string {
	if len(f.rows) == 0 {
		return make([]string, 4)
	}
	return make([]string, len(f.rows[0]))
}

func (f *fixed) Next(dest []driver.Value) error {
	if len(f.rows) == 0 {
		return io.EOF
	}
	copy(dest, f.rows[0])
	f.rows = f.rows[1:]
	return nil
}

// note logs a statement and its arguments.
func (c *standinConn) note(text string, args []driver.NamedValue) {
	if c.log == nil {
		return
	}
	c.log.add("%s;", strings.TrimSuffix(text, ";"))
	for _, a := range args {
		switch v := a.Value.(type) {
		case []string:
			c.log.add("-- :%d = %d × text, first %.60q", a.Ordinal, len(v), v[0])
		case []goora.Blob:
			c.log.add("-- :%d = %d × BLOB, first %.60q", a.Ordinal, len(v), v[0].Data)
		case goora.Blob:
			c.log.add("-- :%d = BLOB %.60q", a.Ordinal, v.Data)
		default:
			c.log.add("-- :%d = %.60q", a.Ordinal, v)
		}
	}
}

// rewriting is a piece of Oracle's SQL and what SQLite has for it. Literals are
// taken out before, as are quoted names.
type rewriting struct {
	oracle *regexp.Regexp
	sqlite string
}

func rule(oracle, sqlite string) rewriting { return rewriting{regexp.MustCompile(oracle), sqlite} }

var rewritings = []rewriting{
	rule(`MERGE INTO (\S+) c .*`, `INSERT INTO $1 (id, subset, version) VALUES (1, :1, 0) ON CONFLICT DO NOTHING`),
	rule(`TO_TIMESTAMP\((:\d+), «\d+»\)`, `$1`),
	rule(`ROUND\(\(CAST\((\S+) AS DATE\) - DATE \S+\) \* 86400\)`, `unixepoch($1)`),
	rule(`TIMESTAMP («\d+»)`, `$1`),
	rule(`EXTRACT\(HOUR FROM (\S+)\)`, `CAST(strftime('%H', $1) AS INTEGER)`),
	rule(`SELECT k\.id FROM JSON_TABLE\((\S+) FORMAT JSON, «\d+» COLUMNS \(id VARCHAR2\(4000\) PATH «\d+»\)\) k`, `SELECT value FROM json_each(CAST($1 AS TEXT))`),
	rule(`JSON_TABLE\(r\.data FORMAT JSON, «\d+» COLUMNS \(.*\)\) d\b`, `json_each(CAST(r.data AS TEXT)) d`),
	rule(`\bd\.(\w+)`, `nullif(d.value ->> '$$.$1', '')`),
	rule(`ROWIDTOCHAR\((\S+)\)`, `CAST($1 AS TEXT)`),
	rule(`CHARTOROWID\((\S+)\)`, `CAST($1 AS INTEGER)`),
	rule(`(\(ld\.stat_header_id, ld\.fcst_valid_beg\) IN \()`, `$1 VALUES `),
	rule(`FROM user_tables`, `FROM (SELECT oraname(name) AS table_name FROM sqlite_schema WHERE type = 'table')`),
	rule(`FROM user_indexes`, `FROM (SELECT oraname(name) AS index_name FROM sqlite_schema WHERE type = 'index')`),
	rule(` BYTE\)`, `)`),
	rule(`\bNVL\(`, `ifnull(`),
	rule(` FROM DUAL| FOR UPDATE`, ``),
	rule(`:(\d+)`, `?$1`),
}

var (
	quoted = regexp.MustCompile(`'(?:[^']|'')*'|"[^"]*"`) // literals and names
	kept   = regexp.MustCompile(`«(\d+)»`)
	inList = regexp.MustCompile(` IN \((?:[^()]*)\)`)
)

// inSQLite puts a statement of the engine's into SQLite's words.
func inSQLite(text string) (string, error) {
	var pieces []string
	keep := func(s string) string {
		pieces = append(pieces, s)
		return fmt.Sprintf("«%d»", len(pieces)-1)
	}
	text = quoted.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '"' {
			s = fold(s)
		}
		return keep(s)
	})
	for _, l := range inList.FindAllString(text, -1) {
		if n := strings.Count(l, ",") + 1; n > 1000 {
			return "", fmt.Errorf("ORA-01795: a list of %d", n)
		}
	}
	for _, r := range rewritings {
		text = r.oracle.ReplaceAllString(text, r.sqlite)
	}
	return kept.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(strings.Trim(s, "«»"))
		return pieces[n]
	}), nil
}
