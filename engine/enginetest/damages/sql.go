package damages

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Store is an archive in tables.
type Store struct {
	DB      *sql.DB
	Columns string // the query for table, column and type of the archive's tables
	Schema  string // prefix of a table's name, with the dot
	Quote   string
	RowID   string // identifies a row; "" = the value of the changed column does: one row with this value changes
	Bind    string // "?" or "$1"
}

// column is a column of a table.
type column struct{ table, name, kind string }

func (c *column) is(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(c.name, w) })
}

// isFor reports whether a kind of damage changes this column. Marks, catalog, tables of files and headers, and the
// columns with a row's file, number and ids are outside the records.
func (c *column) isFor(k Kind) bool {
	mark, catalog := strings.Contains(c.table, "_marks"), strings.Contains(c.table, "_catalog")
	time := c.is("_beg", "_end", "_epoch")
	outsideRecord := mark || catalog || strings.Contains(c.table, "data_file") ||
		strings.Contains(c.table, "stat_header") || c.is("data_file_id", "line_num", "stat_header_id", "barograph_row")
	switch k {
	case Mark:
		return mark && c.name != "seq"
	case Catalog:
		return catalog && c.name == "catalog"
	case Row:
		return !mark && !catalog && !strings.Contains(c.table, "data_file") && !c.is("data_file_id", "line_num")
	case Lead:
		return !outsideRecord && (c.is("_lead") || c.name == "data")
	case Time:
		return !outsideRecord && time
	case Value:
		return !outsideRecord && !time && !c.is("_lead") && (!textual(c.kind) || c.name == "data")
	}
	return false
}

func (c *column) binary() bool { return strings.HasPrefix(strings.ToLower(c.kind), "binary") }

func textual(kind string) bool {
	kind = strings.ToLower(kind)
	return strings.HasPrefix(kind, "varchar") || kind == "text" || strings.HasPrefix(kind, "longtext")
}

// Damage applies one damage of a kind.
func (s *Store) Damage(ctx context.Context, r *rand.Rand, k Kind) (Damage, error) {
	cols, err := s.columns(ctx, func(c *column) bool { return c.isFor(k) })
	if err != nil {
		return Damage{}, err
	}
	r.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	for n := range 20 * len(cols) {
		i := n % len(cols)
		d, err := s.damage(ctx, r, k, &cols[i])
		if err == nil || err != ErrNone { //nolint:errorlint // it is returned unwrapped
			d.Kind = k
			return d, err
		}
	}
	return Damage{}, ErrNone
}

func (s *Store) columns(ctx context.Context, fits func(*column) bool) (out []column, err error) {
	rows, err := s.DB.QueryContext(ctx, s.Columns)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.name, &c.kind); err != nil {
			return nil, err
		}
		if fits(&c) {
			out = append(out, c)
		}
	}
	return out, rows.Err()
}

// Keep copies all tables into a schema that it creates.
func (s *Store) Keep(ctx context.Context, schema string) error {
	tables, err := s.tables(ctx)
	if err != nil {
		return err
	}
	if _, err := s.DB.ExecContext(ctx, "CREATE SCHEMA "+schema); err != nil {
		return err
	}
	for table, cols := range tables {
		text := "CREATE TABLE " + schema + "." + table + " AS SELECT " + cols + " FROM " + s.Schema + table
		if _, err := s.DB.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Restore undoes a damage: it copies the kept table back.
func (s *Store) Restore(ctx context.Context, d Damage, schema string) error {
	tables, err := s.tables(ctx)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(d.Place, ",")
	table := s.quoted(name)
	insert := "INSERT INTO " + s.Schema + table + " (" + tables[table] + ") SELECT " + tables[table] + " FROM " + schema + "." + table
	for _, text := range []string{"DELETE FROM " + s.Schema + table, insert} {
		if _, err := s.DB.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// tables returns the columns of each table, including invisible ones.
func (s *Store) tables(ctx context.Context) (map[string]string, error) {
	cols, err := s.columns(ctx, func(*column) bool { return true })
	out := map[string]string{}
	for _, c := range cols {
		table := s.quoted(c.table)
		out[table] = strings.TrimPrefix(out[table]+", "+s.quoted(c.name), ", ")
	}
	return out, err
}

func (s *Store) quoted(name string) string { return s.Quote + name + s.Quote }

// damage changes a column of a random row, or deletes the row.
func (s *Store) damage(ctx context.Context, r *rand.Rand, k Kind, c *column) (Damage, error) {
	table := s.Schema + s.quoted(c.table)
	var n int64
	if err := s.DB.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil || n == 0 {
		return Damage{}, none(err)
	}
	at := r.Int64N(n)
	id := s.RowID
	if id == "" {
		id = s.quoted(c.name)
	}
	var row, value any
	text := fmt.Sprintf("SELECT %s, %s FROM %s LIMIT 1 OFFSET %d", id, s.quoted(c.name), table, at)
	if err := s.DB.QueryRowContext(ctx, text).Scan(&row, &value); err != nil {
		return Damage{}, err
	}
	where, limit, place := fmt.Sprintf(" WHERE %s = %s", id, literal(row)), "", fmt.Sprintf("%s, row %d", c.table, at)
	if key, ok := row.([]byte); ok && c.binary() {
		where = fmt.Sprintf(" WHERE %s = x'%x'", id, key)
	}
	if s.RowID == "" {
		limit, place = " LIMIT 1", c.table+", a row"+short(where)
	}
	d := Damage{Place: place + ", " + c.name, Before: short(plain(value))}
	if k == Row || k == Mark && r.IntN(4) == 0 {
		d.Place, d.Before, d.After = place, "there", "deleted"
		if value == nil {
			return d, ErrNone
		}
		return d, s.exec(ctx, "DELETE FROM "+table+where+limit)
	}
	if c.isList() && k != Mark && k != Catalog {
		return s.entry(ctx, r, k, c, table, where, d)
	}
	after, inner, err := changed(r, k, c, value)
	if err != nil {
		return d, err
	}
	if inner.Place != "" {
		d.Place, d.Before, d.After = d.Place+inner.Place, inner.Before, inner.After
	} else {
		d.After = short(plain(after))
	}
	return d, s.exec(ctx, "UPDATE "+table+" SET "+s.quoted(c.name)+" = "+s.Bind+where+limit, after)
}

func none(err error) error {
	if err == nil {
		return ErrNone
	}
	return err
}

// exec changes exactly one row, or fails.
func (s *Store) exec(ctx context.Context, text string, args ...any) error {
	res, err := s.DB.ExecContext(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	n, err := res.RowsAffected()
	if err == nil && n != 1 {
		err = fmt.Errorf("%s: changed %d rows", text, n)
	}
	return err
}

// changed returns another value, and the place in a JSON text that it changed.
func changed(r *rand.Rand, k Kind, c *column, v any) (any, Damage, error) {
	switch v := v.(type) {
	case nil:
		return nil, Damage{}, ErrNone
	case float64:
		if math.IsNaN(v) {
			return 0.0, Damage{}, nil
		}
		return math.Nextafter(v, math.Inf(1)), Damage{}, nil
	case float32:
		return math.Nextafter32(v, 1e30), Damage{}, nil
	case int64:
		return v + 1, Damage{}, nil
	case int32:
		return v + 1, Damage{}, nil
	case uint64:
		return v + 1, Damage{}, nil
	case time.Time:
		return v.Add(time.Hour).Format(time.DateTime), Damage{}, nil
	case []byte:
		if c.binary() { // the length stays
			v = slices.Clone(v)
			v[0] ^= 1
			return v, Damage{}, nil
		}
		return changed(r, k, c, string(v))
	case string:
		if strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") {
			text, d, err := editJSON(r, v, func(path string) bool { return fits(k, path) })
			return text, d, err
		}
		if t, err := time.Parse(time.DateTime, v); err == nil {
			return t.Add(time.Hour).Format(time.DateTime), Damage{}, nil
		}
		if t, err := time.Parse(time.RFC3339, v); err == nil && !textual(c.kind) { // the length of the text stays
			return t.Add(time.Hour).Format(time.RFC3339), Damage{}, nil
		}
		if k == Value || k == Lead || k == Time && !textual(c.kind) {
			return next(v), Damage{}, nil
		}
		return v + "x", Damage{}, nil
	}
	return nil, Damage{}, fmt.Errorf("%s is of type %T", c.name, v)
}

// fits reports whether a kind of damage changes this place in a JSON text.
func fits(k Kind, path string) bool {
	last := path[strings.LastIndexAny(path, ".]")+1:]
	lead, time := strings.HasSuffix(last, "_lead"), strings.HasSuffix(last, "_beg") || strings.HasSuffix(last, "_end")
	switch k {
	case Lead:
		return lead
	case Time:
		return time
	case Value:
		return !lead && !time && !strings.HasSuffix(path, "[]")
	}
	return true
}

// isList reports whether a column has a list type of DuckDB, which entry changes. Other engines store lists as JSON.
func (c *column) isList() bool {
	return strings.Contains(c.kind, "STRUCT(") || strings.HasSuffix(c.kind, "[]")
}

// entry changes a member of an entry, or a number of a list, in DuckDB's SQL.
func (s *Store) entry(ctx context.Context, r *rand.Rand, k Kind, c *column, table, where string, d Damage) (Damage, error) {
	var n int
	name := s.quoted(c.name)
	if err := s.DB.QueryRowContext(ctx, "SELECT coalesce(len("+name+"), 0) FROM "+table+where).Scan(&n); err != nil || n == 0 {
		return d, none(err)
	}
	i := 1 + r.IntN(n)
	place, set := fmt.Sprintf("%s[%d]", name, i), "%s"
	if members, ok := strings.CutPrefix(c.kind, "STRUCT("); ok {
		var fit []string
		for m := range strings.SplitSeq(members, ", ") {
			m = strings.Trim(strings.Fields(m)[0], `"`)
			if !strings.HasSuffix(m, "repeats") && fits(k, "."+m) {
				fit = append(fit, m)
			}
		}
		if len(fit) == 0 {
			return d, ErrNone
		}
		m := fit[r.IntN(len(fit))]
		place += "." + s.quoted(m)
		set = "struct_update(e, " + s.quoted(m) + " := %s)"
	}
	var v any
	if err := s.DB.QueryRowContext(ctx, "SELECT "+place+" FROM "+table+where).Scan(&v); err != nil {
		return d, err
	}
	after, _, err := changed(r, k, c, v)
	if err != nil {
		return d, err
	}
	d.Place, d.Before, d.After = d.Place+strings.TrimPrefix(place, name), plain(v), plain(after)
	text := fmt.Sprintf("UPDATE %s SET %s = list_transform(%s, lambda e, i: CASE WHEN i = %d THEN %s ELSE e END)%s",
		table, name, name, i, fmt.Sprintf(set, literal(after)), where)
	return d, s.exec(ctx, text)
}

// literal returns a value as SQL.
func literal(v any) string {
	switch v := v.(type) {
	case []byte:
		return literal(string(v))
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case float64:
		return fmt.Sprintf("CAST('%s' AS DOUBLE)", plain(v))
	}
	return plain(v)
}

func plain(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case float64:
		return fmt.Sprintf("%.17g", v)
	case time.Time:
		return v.Format(time.DateTime)
	}
	return fmt.Sprint(v)
}
