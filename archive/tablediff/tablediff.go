package tablediff

import (
	"context"
	"crypto/tls"
	"database/sql"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize/english"
	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Options configures Compare; the zero value is the default.
type Options struct {
	Faults  []Fault // known faults that may explain differences; the first matching one counts
	Samples int     // maximum number of differences to store for each table and each known fault, and for the unexplained ones
}

// Report is the result of Compare, sorted by table name.
type Report struct {
	Tables []Table `json:"tables"`
}

// Table is the comparison of one table.
type Table struct {
	Name         string           `json:"table"`
	Equal        int64            `json:"equal"`
	ChangedRows  int64            `json:"changed"`           // keys on both sides with different values
	OnlyLeft     int64            `json:"only_left"`         // rows
	OnlyRight    int64            `json:"only_right"`        // rows
	ColumnCounts map[string]int64 `json:"columns,omitempty"` // number of changed rows in which the column differs
	Known        map[string]int64 `json:"known,omitempty"`   // by fault: number of differences that it explains
	Unexplained  int64            `json:"unknown"`           // number of differences that no fault explains, and of the columns in Note
	Samples      []Difference     `json:"samples,omitempty"`
	Note         string           `json:"note,omitempty"` // columns that only one side has; Unexplained counts them if the table has rows
}

// Unexplained counts the differences that no known fault explains.
func (r *Report) Unexplained() int64 {
	var n int64
	for i := range r.Tables {
		n += r.Tables[i].Unexplained
	}
	return n
}

// Rows counts the rows that are equal, and the differences.
func (r *Report) Rows() (equal, different int64) {
	for i := range r.Tables {
		t := &r.Tables[i]
		equal += t.Equal
		different += t.ChangedRows + t.OnlyLeft + t.OnlyRight
	}
	return equal, different
}

// Difference is a row that differs. Left or Right is nil if only the other side has it; a NULL is
// the text NULL.
type Difference struct {
	Table   string   `json:"table"`
	Fault   string   `json:"fault,omitempty"` // the fault that explains it; "" = none
	Columns []string `json:"columns"`         // names of the values in Left and Right, keys first
	Left    []string `json:"left,omitempty"`
	Right   []string `json:"right,omitempty"`

	displaced string // see query.displaced
}

// ChangedColumns lists the columns in which the sides differ; none if one side lacks the row.
func (d *Difference) ChangedColumns() []string {
	var out []string
	if d.Left == nil || d.Right == nil {
		return nil
	}
	for i, c := range d.Columns {
		if d.Left[i] != d.Right[i] {
			out = append(out, c)
		}
	}
	return out
}

// Value returns the value of a column in Left or Right; "" if there is none.
func (d *Difference) Value(row []string, column string) string {
	if i := slices.Index(d.Columns, column); i >= 0 && row != nil {
		return row[i]
	}
	return ""
}

// Compare compares two databases. Each connection must have selected its database, as those of Open have.
func Compare(ctx context.Context, left, right *sql.DB, o Options) (*Report, error) {
	l, err := readSchema(ctx, left)
	if err != nil {
		return nil, fmt.Errorf("the first database: %w", err)
	}
	r, err := readSchema(ctx, right)
	if err != nil {
		return nil, fmt.Errorf("the second database: %w", err)
	}
	out := &Report{}
	for _, name := range tables(l, r) {
		t := Table{Name: name, ColumnCounts: map[string]int64{}, Known: map[string]int64{}}
		p, notes := planQuery(name, l, r)
		t.Note = strings.Join(notes, "; ")
		if p == nil { // one side alone has the table
			if err := countOneSided(ctx, left, right, l, &t); err != nil {
				return nil, err
			}
		} else if err := t.compare(ctx, left, right, p, &o); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		} else if t.hasRows() {
			t.Unexplained += int64(len(notes))
		}
		out.Tables = append(out.Tables, t)
	}
	return out, nil
}

func (t *Table) hasRows() bool { return t.Equal+t.ChangedRows+t.OnlyLeft+t.OnlyRight > 0 }

// countOneSided counts the rows of a table that one side does not have.
func countOneSided(ctx context.Context, left, right *sql.DB, l schema, t *Table) error {
	db, n := right, &t.OnlyRight
	if l[t.Name] != nil {
		db, n = left, &t.OnlyLeft
	}
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+t.Name).Scan(n); err != nil {
		return err
	}
	t.Unexplained = *n
	return nil
}

// compare reads the rows of both sides in the order of their keys.
func (t *Table) compare(ctx context.Context, left, right *sql.DB, p *query, o *Options) error {
	l, r := newCursor(p), newCursor(p)
	defer l.close()
	defer r.close()
	var g errgroup.Group // both servers sort at once
	g.Go(func() error { return l.open(ctx, left, p.displaced) })
	g.Go(func() error { return r.open(ctx, right, "NULL") })
	if err := g.Wait(); err != nil {
		return err
	}
	var ls, rs []row
	for l.more || r.more {
		key := l.key
		if !l.more || (r.more && r.key < l.key) {
			key = r.key
		}
		var err error
		if ls, err = l.takeKey(key, ls[:0]); err != nil {
			return err
		}
		if rs, err = r.takeKey(key, rs[:0]); err != nil {
			return err
		}
		t.compareKey(p, key, ls, rs, o)
	}
	return nil
}

// compareKey compares the rows of one key. It removes equal rows and compares the remaining ones in
// pairs, in the order of their values.
func (t *Table) compareKey(p *query, key string, ls, rs []row, o *Options) {
	if len(ls) == 1 && len(rs) == 1 && ls[0].values == rs[0].values {
		t.Equal++
		return
	}
	var onlyLeft []row
	for _, one := range ls {
		if i := slices.IndexFunc(rs, func(other row) bool { return other.values == one.values }); i >= 0 {
			rs = slices.Delete(rs, i, i+1)
			t.Equal++
		} else {
			onlyLeft = append(onlyLeft, one)
		}
	}
	for _, rows := range [][]row{onlyLeft, rs} { // the server returns the rows of one key in any order
		slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.values, b.values) })
	}
	for i := range max(len(onlyLeft), len(rs)) {
		d := Difference{Table: t.Name, Columns: p.columns}
		if i < len(onlyLeft) {
			d.Left, d.displaced = p.splitRow(key, onlyLeft[i].values), onlyLeft[i].displaced
		}
		if i < len(rs) {
			d.Right = p.splitRow(key, rs[i].values)
		}
		t.add(d, o)
	}
}

// add counts a difference.
func (t *Table) add(d Difference, o *Options) {
	switch {
	case d.Left == nil:
		t.OnlyRight++
	case d.Right == nil:
		t.OnlyLeft++
	default:
		t.ChangedRows++
		for _, c := range d.ChangedColumns() {
			t.ColumnCounts[c]++
		}
	}
	for i := range o.Faults {
		if f := &o.Faults[i]; f.Explains(&d) {
			d.Fault = f.Name
			break
		}
	}
	var earlier int64 // number of earlier differences with the same explanation
	if d.Fault == "" {
		earlier = t.Unexplained
		t.Unexplained++
	} else {
		earlier = t.Known[d.Fault]
		t.Known[d.Fault]++
	}
	if earlier < int64(o.Samples) {
		t.Samples = append(t.Samples, d)
	}
}

// cursor reads the rows of one side.
type cursor struct {
	p       *query
	rows    *sql.Rows
	raw     []sql.RawBytes
	targets []any
	text    strings.Builder

	more bool
	key  string
	row  row
}

// row is a row of a table without its key.
type row struct {
	values    string // joined
	displaced string // see query.displaced
}

func newCursor(p *query) *cursor {
	c := &cursor{p: p, raw: make([]sql.RawBytes, len(p.columns)+1)}
	for i := range c.raw {
		c.targets = append(c.targets, &c.raw[i])
	}
	return c
}

// open sends the query; displaced is the expression of the last column.
func (c *cursor) open(ctx context.Context, db *sql.DB, displaced string) (err error) {
	if c.rows, err = db.QueryContext(ctx, fmt.Sprintf(c.p.text, displaced)); err != nil { //nolint:rowserrcheck // close closes it, next looks for its error
		return err
	}
	return c.next()
}

func (c *cursor) close() {
	if c.rows != nil {
		c.rows.Close() //nolint:errcheck // only read
	}
}

// separator separates columns. It sorts before every character of a text. Therefore joined keys have the server's order.
const separator = "\x00"

// null represents NULL. In keys the server returns it instead of NULL, see binaryExpr.
const null = "\x01"

// next reads a row. It returns an error if the keys are not ascending, because the servers then
// sort differently.
func (c *cursor) next() error {
	if c.more = c.rows.Next(); !c.more {
		return c.rows.Err()
	}
	if err := c.rows.Scan(c.targets...); err != nil {
		return err
	}
	before := c.key
	c.key = c.join(c.raw[:c.p.keys])
	last := len(c.raw) - 1
	c.row = row{c.join(c.raw[c.p.keys:last]), c.join(c.raw[last:])}
	if c.key < before {
		return fmt.Errorf("the server's order is not that of bytes: %q after %q", c.key, before)
	}
	return nil
}

func (c *cursor) join(values []sql.RawBytes) string {
	c.text.Reset()
	for i, v := range values {
		if i > 0 {
			c.text.WriteString(separator)
		}
		if v == nil {
			c.text.WriteString(null)
		}
		c.text.Write(v)
	}
	return c.text.String()
}

// takeKey appends the rows of a key and stops at the first row of the next key.
func (c *cursor) takeKey(key string, rows []row) ([]row, error) {
	for c.more && c.key == key {
		rows = append(rows, c.row)
		if err := c.next(); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// Open connects to one database: mariadb://USER@HOST:3306/database, or with ?socket=PATH instead of
// the host. secure encrypts the connection; nil does not. The caller closes it.
func Open(ctx context.Context, rawURL string, secure *tls.Config) (*sql.DB, error) {
	u, err := fault.ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "mariadb" && u.Scheme != "mysql" {
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Problem: "is not a database of METviewer's", Cure: "write mariadb://USER@HOST:3306/database"}
	}
	cfg := mysql.NewConfig()
	cfg.User = u.User.Username()
	cfg.Passwd, _ = u.User.Password()
	cfg.DBName = strings.TrimPrefix(u.Path, "/")
	cfg.Net, cfg.Addr, cfg.TLS = "tcp", u.Host, secure
	if cfg.DBName == "" {
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Problem: "names no database", Cure: "write mariadb://USER@HOST:3306/database"}
	}
	if u.Port() == "" {
		cfg.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	if s := u.Query().Get("socket"); s != "" {
		cfg.Net, cfg.Addr = "unix", s
	}
	cfg.MaxAllowedPacket = 0 // the server's own
	cfg.Collation = "utf8mb4_bin"
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Err: err, Cure: "write mariadb://USER@HOST:3306/database"}
	}
	db := sql.OpenDB(connector)
	if err := db.PingContext(ctx); err != nil {
		db.Close() //nolint:errcheck // nothing was opened
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &fault.Error{Setting: fault.Redact(u.String()), Problem: "is not reached", Err: fmt.Errorf("%w", err), Cure: "start the server, or name another host, port, user, password or database"}
	}
	return db, nil
}

// Text writes the tables with rows, the explanations of differences, and samples of differences.
func (r *Report) Text(out io.Writer, faults []Fault) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "table\tequal\tchanged\tonly in the first\tonly in the second\tknown faults\tunexplained\tcolumns that differ")
	for i := range r.Tables {
		t := &r.Tables[i]
		if !t.hasRows() {
			continue
		}
		known := lists.Sum(maps.Values(t.Known))
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", t.Name, t.Equal, t.ChangedRows, t.OnlyLeft, t.OnlyRight, known, t.Unexplained, columnCounts(t))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range r.Tables {
		if t := &r.Tables[i]; t.Note != "" {
			fmt.Fprintf(out, "%s: %s\n", t.Name, t.Note)
		}
	}
	for _, f := range faults {
		f.print(out, r)
	}
	r.printSamples(out, "", "differences that no known fault explains")
	equal, different := r.Rows()
	fmt.Fprintf(out, "%s equal, %s; %s not explained\n", english.Plural(int(equal), "row is", "rows are"),
		english.Plural(int(different), "differs", "differ"), english.Plural(int(r.Unexplained()), "difference is", "differences are"))
	return nil
}

// columnCounts lists the columns that differ, the most frequent first.
func columnCounts(t *Table) string {
	names := slices.SortedFunc(maps.Keys(t.ColumnCounts), func(a, b string) int {
		if d := t.ColumnCounts[b] - t.ColumnCounts[a]; d != 0 {
			return int(d)
		}
		return strings.Compare(a, b)
	})
	const shown = 6
	var out []string
	for i, c := range names {
		if i == shown {
			out = append(out, fmt.Sprintf("and %d more", len(names)-shown))
			break
		}
		out = append(out, fmt.Sprintf("%s %d", c, t.ColumnCounts[c]))
	}
	return strings.Join(out, ", ")
}

func (f *Fault) print(out io.Writer, r *Report) {
	var counts []string
	for i := range r.Tables {
		if n := r.Tables[i].Known[f.Name]; n > 0 {
			counts = append(counts, fmt.Sprintf("%s %d", r.Tables[i].Name, n))
		}
	}
	if len(counts) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s: %s\n  rows: %s\n", f.Name, f.Description, strings.Join(counts, ", "))
	r.printSamples(out, f.Name, "")
}

func (r *Report) printSamples(out io.Writer, fault, title string) {
	for i := range r.Tables {
		for _, d := range r.Tables[i].Samples {
			if d.Fault != fault {
				continue
			}
			if title != "" {
				fmt.Fprintf(out, "\n%s\n", title)
				title = ""
			}
			fmt.Fprintf(out, "  %s\n", sample(&d))
		}
	}
}

// sample shows a row that only one side has, or the line's identity followed by the values that
// differ.
func sample(d *Difference) string {
	switch {
	case d.Left == nil:
		return d.Table + ", only in the second: " + strings.Join(d.Right, " ")
	case d.Right == nil:
		return d.Table + ", only in the first: " + strings.Join(d.Left, " ")
	}
	text := d.Table
	if slices.Contains(d.Columns, "path") {
		text += fmt.Sprintf(" %s/%s:%s", d.Value(d.Left, "path"), d.Value(d.Left, "filename"), strings.TrimLeft(d.Value(d.Left, "line_num"), "0"))
	} else { // an object of MODE or MTD
		for _, c := range []string{"model", "fcst_valid", "fcst_lead", "fcst_var", "fcst_lev", "object_id", "field"} {
			if v := d.Value(d.Left, c); v != "" {
				text += " " + v
			}
		}
	}
	const shown = 8
	for i, c := range d.ChangedColumns() {
		if i == shown {
			return text + " …"
		}
		text += fmt.Sprintf(" %s %s ≠ %s", c, d.Value(d.Left, c), d.Value(d.Right, c))
	}
	return text
}
