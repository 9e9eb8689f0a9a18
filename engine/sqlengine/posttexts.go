package sqlengine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/query/flavour"
)

// PostDialect is how an engine writes the statements of tables of values.
type PostDialect struct {
	Quote  func(name string) string
	Schema string // before the name of a table: "", or quoted and with its point
	Param  func(i int) string
	Type   func(t PostType, width int) string
	// TableOptions stand behind CREATE TABLE (…).
	TableOptions string
	// DuplicateKey: upserts are written ON DUPLICATE KEY UPDATE, not ON CONFLICT.
	DuplicateKey bool
	MaxParams    int // of one statement
	// Temporary begins the statement that makes a temporary table, which lasts
	// as long as its connection; "" = no bulk. TemporaryOptions end it. Empty
	// begins the statement that empties one before a transaction; "" = it is
	// empty by then.
	Temporary, TemporaryOptions, Empty string
	TemporarySchema                    string // before its name: "", or quoted and with its point
	// CreateProcedure writes the statements that make a procedure of one
	// upsert; arguments are named p1, p2 … nil = cannot.
	CreateProcedure func(name string, types []string, body string) []string
	// Cast writes a column as Values reads it: times and dates as text.
	Cast func(column string, t PostType) string
}

func (d *PostDialect) table(name string) string { return d.Schema + d.Quote(name) }

// The small tables of what is admitted: the archive's location and ingest filter.
const (
	locationTable = "location"
	filterTable   = "ingestfilter"
)

// filterColumns are those of the archive's key but the time, then the switch.
func filterColumns() []PostColumn {
	key := archiveKey(textColumn("ingest", 1, fromValue))
	return key
}

// create makes all tables of a layout.
func (d *PostDialect) create(l *postLayout) []string {
	out := []string{
		"CREATE TABLE IF NOT EXISTS " + d.table(locationTable+l.suffix) + " (" + d.Quote("lid") + " " + d.Type(PostText, 8) + " NOT NULL PRIMARY KEY, " +
			d.Quote("post") + " " + d.Type(PostSmall, 0) + " NOT NULL)" + d.TableOptions,
	}
	filter := PostTable{Name: filterTable, Columns: filterColumns()}
	filter.Keys = len(filter.Columns) - 1
	out = append(out, d.createTable("CREATE TABLE IF NOT EXISTS "+d.table(filterTable+l.suffix), &filter))
	for _, t := range l.tables {
		out = append(out, d.createTable("CREATE TABLE IF NOT EXISTS "+d.table(t.Name), t))
	}
	return out
}

func (d *PostDialect) createTable(head string, t *PostTable) string {
	keys := flavour.Join(t.Columns[:t.Keys], "", func(c PostColumn) string { return d.typed(c) + " NOT NULL, " })
	rest := flavour.Join(t.Columns[t.Keys:], "", func(c PostColumn) string { return d.typed(c) + ", " })
	return head + " (" + keys + rest + "PRIMARY KEY (" + d.names(t.Columns[:t.Keys]) + "))" + d.TableOptions
}

func (d *PostDialect) names(cols []PostColumn) string {
	return flavour.Join(cols, ", ", func(c PostColumn) string { return d.Quote(c.Name) })
}

// equal compares columns with parameters from a number on.
func (d *PostDialect) equal(cols []PostColumn, from int, separator string) string {
	return flavour.Join(cols, separator, func(c PostColumn) string {
		from++
		return d.Quote(c.Name) + " = " + d.Param(from-1)
	})
}

// where compares the key with parameters from a number on.
func (d *PostDialect) where(t *PostTable, from int) string {
	return " WHERE " + d.equal(t.Columns[:t.Keys], from, " AND ")
}

// The three statements of the algorithm of 2006.

// selectRow reads what is not key; its arguments are the key.
func (d *PostDialect) selectRow(t *PostTable) string {
	columns := d.names(t.Columns[t.Keys:])
	if t.settles { // the time of the product is looked at, too
		columns = d.cast(t.Columns[t.Keys:])
	}
	return "SELECT " + columns + " FROM " + d.table(t.Name) + d.where(t, 1)
}

func (d *PostDialect) insertRow(t *PostTable) string {
	return d.insertInto(t) + " VALUES " + d.params(t, 1)
}

// updateRow writes what is not key, whose arguments come first, then the key.
func (d *PostDialect) updateRow(t *PostTable) string {
	rest := t.Columns[t.Keys:]
	return "UPDATE " + d.table(t.Name) + " SET " + d.equal(rest, 1, ", ") + d.where(t, len(rest)+1)
}

// insertInto begins an insert; the alias t stands for what is stored.
func (d *PostDialect) insertInto(t *PostTable) string {
	alias := " AS t"
	if d.DuplicateKey {
		alias = ""
	}
	return "INSERT INTO " + d.table(t.Name) + alias + " (" + d.names(t.Columns) + ")"
}

// params is rows of placeholders in parentheses.
func (d *PostDialect) params(t *PostTable, rows int) string {
	return placeholders(d.Param, len(t.Columns), rows)
}

// upsert inserts rows; one whose key is taken is merged by the rule.
func (d *PostDialect) upsert(t *PostTable, rows int, r posts.Rule) string {
	return d.insertInto(t) + " VALUES " + d.params(t, rows) + d.merge(t, r)
}

// mergeFrom upserts all rows of another table with the same columns.
func (d *PostDialect) mergeFrom(t *PostTable, source string, r posts.Rule) string {
	return d.insertInto(t) + " SELECT " + d.names(t.Columns) + " FROM " + source + d.merge(t, r)
}

// merge is what an upsert does where the key is taken.
func (d *PostDialect) merge(t *PostTable, r posts.Rule) string {
	stored := func(c string) string { return "t." + d.Quote(c) }
	given := func(c string) string { return "excluded." + d.Quote(c) }
	head := " ON CONFLICT (" + d.names(t.Columns[:t.Keys]) + ") DO "
	if d.DuplicateKey {
		stored = func(c string) string { return d.table(t.Name) + "." + d.Quote(c) } // in a select's columns the bare name is ambiguous
		given = func(c string) string { return "VALUES(" + d.Quote(c) + ")" }
		head = " ON DUPLICATE KEY "
	}
	var sets []string
	set := func(c PostColumn, to string) { sets = append(sets, d.Quote(c.Name)+" = "+to) }
	if t.Slots > 0 {
		for _, c := range t.Columns[t.Keys:] {
			if c.from == fromSlot {
				set(c, mergeSlot(stored(c.Name), given(c.Name), r))
			} else {
				set(c, given(c.Name))
			}
		}
		return head + "UPDATE " + d.setWord() + strings.Join(sets, ", ")
	}
	name := func(from postSource) string { return t.Columns[t.find[from]-1].Name }
	value := name(fromValue)
	when := map[posts.Rule]string{
		posts.Keep:    "1 = 0",
		posts.Differ:  stored(value) + " <> " + given(value),
		posts.Improve: "(" + given(value) + " <> -9999 OR " + stored(value) + " = -9999)",
	}[r]
	if t.settles { // posts.Policy.Precedes
		row := func(of func(string) string) string {
			parts := []string{of(name(fromIssued)), of(name(fromRevision)), of(name(fromProduct)), of(value) + " <> -9999", of(value), of(name(fromQuality))}
			if t.good {
				parts = slices.Insert(parts, 0, "("+of(name(fromRevision))+" <> 0 OR "+of(value)+" <> -9999)")
			}
			return "(" + strings.Join(parts, ", ") + ")"
		}
		issued := name(fromIssued)
		later := "(" + stored(issued) + " IS NULL OR " + given(issued) + " IS NULL OR " + row(given) + " >= " + row(stored) + ")"
		when = strings.TrimPrefix(when+" AND "+later, " AND ")
	}
	cols := t.Columns[t.Keys:]
	if d.DuplicateKey && when != "" { // the condition is about columns as they were: the first one decides for all
		cols = slices.Clone(cols)
		slices.Reverse(cols)
	}
	for i, c := range cols {
		to := given(c.Name)
		switch {
		case !d.DuplicateKey || when == "":
		case i == 0:
			to = "IF(@writes := (" + when + "), " + to + ", " + stored(c.Name) + ")"
		default:
			to = "IF(@writes, " + to + ", " + stored(c.Name) + ")"
		}
		set(c, to)
	}
	switch {
	case r == posts.Keep && !d.DuplicateKey:
		return head + "NOTHING"
	case when == "" || d.DuplicateKey:
		return head + "UPDATE " + d.setWord() + strings.Join(sets, ", ")
	}
	return head + "UPDATE SET " + strings.Join(sets, ", ") + " WHERE " + when
}

func (d *PostDialect) setWord() string {
	if d.DuplicateKey {
		return ""
	}
	return "SET "
}

// mergeSlot is what a slot becomes. NULL is a slot that nothing was given for.
func mergeSlot(stored, given string, r posts.Rule) string {
	switch r {
	case posts.Keep:
		return "COALESCE(" + stored + ", " + given + ")"
	case posts.Improve:
		return "CASE WHEN " + given + " = -9999 THEN COALESCE(" + stored + ", " + given + ") ELSE COALESCE(" + given + ", " + stored + ") END"
	}
	return "COALESCE(" + given + ", " + stored + ")"
}

// procedure makes the procedure that posts one value by a rule, and call calls
// it. Its arguments are the columns; those of an array, the key, slot and
// value, and what is left.
func (d *PostDialect) procedure(t *PostTable, r posts.Rule) (create []string, call string) {
	var types, values, args []string
	next := func(typ string) string {
		types = append(types, typ)
		args = append(args, d.Param(len(types)))
		return "p" + strconv.Itoa(len(types))
	}
	slot, value := "", ""
	for _, c := range t.Columns {
		if c.from != fromSlot {
			values = append(values, next(d.Type(c.Type, c.Width)))
			continue
		}
		if c.slot == 0 {
			slot, value = next(d.Type(PostInt, 0)), next(d.Type(PostFloat, 0))
		}
		values = append(values, fmt.Sprintf("CASE WHEN %s = %d THEN %s END", slot, c.slot, value))
	}
	name := d.table(procedureName(t, r))
	body := d.insertInto(t) + " VALUES (" + strings.Join(values, ", ") + ")" + d.merge(t, r)
	return d.CreateProcedure(name, types, body), "CALL " + name + "(" + strings.Join(args, ", ") + ")"
}

func procedureName(t *PostTable, r posts.Rule) string {
	name := "post_" + t.Name + "_" + [...]string{"replace", "keep", "differ", "improve"}[r]
	if t.settles {
		name += "_later"
	}
	if t.settles && t.good {
		name += "_good"
	}
	return name
}

// staging makes a temporary table for bulk copies.
func (d *PostDialect) staging(t *PostTable) string {
	return d.Temporary + " " + d.stagingTable(t) + " (" + flavour.Join(t.Columns, ", ", d.typed) + ")" + d.TemporaryOptions
}

func (d *PostDialect) typed(c PostColumn) string {
	return d.Quote(c.Name) + " " + d.Type(c.Type, c.Width)
}

func stagingName(t *PostTable) string { return "given_" + t.Name }

func (d *PostDialect) stagingTable(t *PostTable) string {
	return d.TemporarySchema + d.Quote(stagingName(t))
}

// values reads a whole table.
func (d *PostDialect) values(t *PostTable) string {
	return "SELECT " + d.cast(t.Columns) + " FROM " + d.table(t.Name)
}

func (d *PostDialect) cast(cols []PostColumn) string {
	return flavour.Join(cols, ", ", func(c PostColumn) string { return d.Cast(d.Quote(c.Name), c.Type) })
}

// moment is the column that says when: the time of observation, or the day.
func moment(t *PostTable) *PostColumn {
	for _, from := range []postSource{fromTime, fromDay} {
		if i := t.find[from]; i > 0 {
			return &t.Columns[i-1]
		}
	}
	return nil
}

// read counts the values of a station between two moments.
func (d *PostDialect) read(t *PostTable) string {
	what := "count(*)"
	if t.Slots > 0 {
		var parts []string
		for _, c := range t.Columns {
			if c.from == fromSlot {
				parts = append(parts, "count("+d.Quote(c.Name)+")")
			}
		}
		what = strings.Join(parts, " + ")
	}
	when := d.Quote(moment(t).Name)
	return "SELECT " + what + " FROM " + d.table(t.Name) + " WHERE " + d.Quote("lid") + " = " + d.Param(1) + " AND " + when + " >= " + d.Param(2) + " AND " + when + " <= " + d.Param(3)
}

func (d *PostDialect) delete(t *PostTable) string {
	return "DELETE FROM " + d.table(t.Name) + " WHERE " + d.Quote(moment(t).Name) + " < " + d.Param(1)
}
