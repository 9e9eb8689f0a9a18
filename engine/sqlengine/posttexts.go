package sqlengine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// PostDialect contains what differs between engines in the statements for tables of values. Its methods return
// statements or parts of them.
type PostDialect struct {
	Quote     func(name string) string // quotes a name
	Schema    string                   // before a table's name: "", or the quoted schema and a point
	Param     func(i int) string       // the placeholder of argument i, from 1
	Type      func(t PostType, width int) string
	MaxParams int // greatest number of parameters of a statement
	// TableOptions follow CREATE TABLE (…).
	TableOptions string
	// DuplicateKey writes upserts with ON DUPLICATE KEY UPDATE instead of ON CONFLICT.
	DuplicateKey bool

	// CreateTemporary starts the statement that creates a temporary table, which lasts as long as its connection;
	// "" = no method bulk. TemporaryOptions end that statement.
	CreateTemporary, TemporaryOptions string
	// EmptyTemporary starts the statement that empties the temporary table before a transaction; "" = the end of a
	// transaction empties it.
	EmptyTemporary  string
	TemporarySchema string // before the name of a temporary table, like Schema

	// CreateProcedure returns the statements that create a procedure for one upsert, whose arguments are p1, p2 …;
	// nil = the engine has no procedures.
	CreateProcedure func(name string, types []string, body string) []string
	// Cast writes a column in the form that readColumn reads: times and dates as text.
	Cast func(column string, t PostType) string
}

func (d *PostDialect) table(name string) string { return d.Schema + d.Quote(name) }

// The small tables of admitted series: the archive's location and ingest filter.
const (
	locationTable = "location"
	filterTable   = "ingestfilter"
)

// filterColumns returns the columns of the ingest filter: the archive's key without the time, and ingest, which is T
// for an admitted series.
func filterColumns() []PostColumn { return archiveKey(textColumn("ingest", 1, fromValue)) }

// create returns the statements that create all tables of a layout.
func (d *PostDialect) create(l *postLayout) []string {
	out := []string{
		"CREATE TABLE IF NOT EXISTS " + d.table(locationTable+l.suffix) + " (" +
			d.Quote("lid") + " " + d.Type(PostText, 8) + " NOT NULL PRIMARY KEY, " +
			d.Quote("post") + " " + d.Type(PostSmall, 0) + " NOT NULL)" + d.TableOptions,
	}
	filter := PostTable{Name: filterTable, Columns: filterColumns()}
	filter.Keys = len(filter.Columns) - 1
	out = append(out, d.createTable("CREATE TABLE IF NOT EXISTS "+d.table(filterTable+l.suffix), &filter))
	return append(out, lists.Map(l.tables, func(t *PostTable) string { return d.createTable("CREATE TABLE IF NOT EXISTS "+d.table(t.Name), t) })...)
}

func (d *PostDialect) createTable(head string, t *PostTable) string {
	keys := flavour.Join(t.Columns[:t.Keys], "", func(c PostColumn) string { return d.columnDefinition(c) + " NOT NULL, " })
	rest := flavour.Join(t.Columns[t.Keys:], "", func(c PostColumn) string { return d.columnDefinition(c) + ", " })
	return head + " (" + keys + rest + "PRIMARY KEY (" + d.names(t.Columns[:t.Keys]) + "))" + d.TableOptions
}

func (d *PostDialect) names(cols []PostColumn) string {
	return flavour.Join(cols, ", ", func(c PostColumn) string { return d.Quote(c.Name) })
}

// equalities writes column = placeholder for each column. firstParam is the number of the first placeholder.
func (d *PostDialect) equalities(cols []PostColumn, firstParam int, separator string) string {
	return flavour.Join(cols, separator, func(c PostColumn) string {
		firstParam++
		return d.Quote(c.Name) + " = " + d.Param(firstParam-1)
	})
}

// where is the condition that the key equals placeholders. firstParam is the number of the first placeholder.
func (d *PostDialect) where(t *PostTable, firstParam int) string {
	return " WHERE " + d.equalities(t.Columns[:t.Keys], firstParam, " AND ")
}

// selectRow is the first statement of the algorithm of 2006; insertRow and updateRow are the others. It reads the
// columns outside the key. Its arguments are the key.
func (d *PostDialect) selectRow(t *PostTable) string {
	columns := d.names(t.Columns[t.Keys:])
	if t.usesOrigin { // the rule also needs the product's time
		columns = d.cast(t.Columns[t.Keys:])
	}
	return "SELECT " + columns + " FROM " + d.table(t.Name) + d.where(t, 1)
}

func (d *PostDialect) insertRow(t *PostTable) string {
	return d.insertInto(t) + " VALUES " + d.params(t, 1)
}

// updateRow writes the columns outside the key. Their values are the first arguments, the key the last.
func (d *PostDialect) updateRow(t *PostTable) string {
	rest := t.Columns[t.Keys:]
	return "UPDATE " + d.table(t.Name) + " SET " + d.equalities(rest, 1, ", ") + d.where(t, len(rest)+1)
}

// insertInto is the start of an insert. The alias t names the stored row.
func (d *PostDialect) insertInto(t *PostTable) string {
	alias := " AS t"
	if d.DuplicateKey {
		alias = ""
	}
	return "INSERT INTO " + d.table(t.Name) + alias + " (" + d.names(t.Columns) + ")"
}

// params returns rows of placeholders in parentheses.
func (d *PostDialect) params(t *PostTable, rows int) string {
	return placeholders(d.Param, len(t.Columns), rows)
}

// upsert inserts rows. The rule merges a row whose key exists.
func (d *PostDialect) upsert(t *PostTable, rows int, r posts.Rule) string {
	return d.insertInto(t) + " VALUES " + d.params(t, rows) + d.merge(t, r)
}

// mergeFrom upserts all rows of another table with the same columns.
func (d *PostDialect) mergeFrom(t *PostTable, source string, r posts.Rule) string {
	return d.insertInto(t) + " SELECT " + d.names(t.Columns) + " FROM " + source + d.merge(t, r)
}

// merge is the clause of an upsert for rows whose key exists.
func (d *PostDialect) merge(t *PostTable, r posts.Rule) string {
	stored, incoming := d.mergeSides(t)
	condition := ""
	if t.Slots == 0 {
		condition = mergeCondition(t, r, stored, incoming)
	}
	cols := t.Columns[t.Keys:]
	isConditional := d.DuplicateKey && condition != ""
	if isConditional {
		// MySQL assigns one column after the other. The first assignment computes the condition, while all columns
		// have their stored values.
		cols = slices.Clone(cols)
		slices.Reverse(cols)
	}
	var assignments []string
	for i, c := range cols {
		value := incoming(c.Name)
		switch {
		case c.from == fromSlot:
			value = mergeSlot(stored(c.Name), value, r)
		case isConditional && i == 0:
			value = "IF(@writes := (" + condition + "), " + value + ", " + stored(c.Name) + ")"
		case isConditional:
			value = "IF(@writes, " + value + ", " + stored(c.Name) + ")"
		}
		assignments = append(assignments, d.Quote(c.Name)+" = "+value)
	}
	if d.DuplicateKey {
		return " ON DUPLICATE KEY UPDATE " + strings.Join(assignments, ", ")
	}
	onConflict := " ON CONFLICT (" + d.names(t.Columns[:t.Keys]) + ") DO "
	if r == posts.Keep && t.Slots == 0 {
		return onConflict + "NOTHING"
	}
	text := onConflict + "UPDATE SET " + strings.Join(assignments, ", ")
	if condition != "" {
		text += " WHERE " + condition
	}
	return text
}

// mergeSides returns how the clause of merge names a column of the stored row and of the incoming row.
func (d *PostDialect) mergeSides(t *PostTable) (stored, incoming func(column string) string) {
	if d.DuplicateKey {
		// Without the table, the name would be ambiguous among the columns of INSERT … SELECT.
		stored = func(c string) string { return d.table(t.Name) + "." + d.Quote(c) }
		return stored, func(c string) string { return "VALUES(" + d.Quote(c) + ")" }
	}
	stored = func(c string) string { return "t." + d.Quote(c) }
	return stored, func(c string) string { return "excluded." + d.Quote(c) }
}

// mergeCondition is the condition under which an incoming value replaces the stored one; "" = always.
func mergeCondition(t *PostTable, r posts.Rule, stored, incoming func(column string) string) string {
	name := func(from postSource) string { return t.Columns[t.columnAt[from]-1].Name }
	value := name(fromValue)
	condition := map[posts.Rule]string{
		posts.Keep:    "1 = 0",
		posts.Differ:  stored(value) + " <> " + incoming(value),
		posts.Improve: "(" + incoming(value) + " <> -9999 OR " + stored(value) + " = -9999)",
	}[r]
	if !t.usesOrigin {
		return condition
	}
	// The row values sort as posts.Policy.Precedes does.
	row := func(side func(string) string) string {
		parts := []string{
			side(name(fromIssued)), side(name(fromRevision)), side(name(fromProduct)), side(value) + " <> -9999",
			side(value), side(name(fromQuality)),
		}
		if t.goodStays {
			parts = slices.Insert(parts, 0, "("+side(name(fromRevision))+" <> 0 OR "+side(value)+" <> -9999)")
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	issued := name(fromIssued)
	later := "(" + stored(issued) + " IS NULL OR " + incoming(issued) + " IS NULL OR " +
		row(incoming) + " >= " + row(stored) + ")"
	return strings.TrimPrefix(condition+" AND "+later, " AND ")
}

// mergeSlot is the new value of a slot. An incoming NULL means that the row has no value for the slot.
func mergeSlot(stored, incoming string, r posts.Rule) string {
	switch r {
	case posts.Keep:
		return "COALESCE(" + stored + ", " + incoming + ")"
	case posts.Improve:
		return "CASE WHEN " + incoming + " = -9999 THEN COALESCE(" + stored + ", " + incoming +
			") ELSE COALESCE(" + incoming + ", " + stored + ") END"
	}
	return "COALESCE(" + incoming + ", " + stored + ")"
}

// procedure returns the statements that create the procedure for posting one value by a rule, and the statement that
// calls it. Its arguments are the columns; for an array: the key, slot and value, and the other columns.
func (d *PostDialect) procedure(t *PostTable, r posts.Rule) (create []string, call string) {
	var types, values, args []string
	argument := func(typ string) string {
		types = append(types, typ)
		args = append(args, d.Param(len(types)))
		return "p" + strconv.Itoa(len(types))
	}
	slot, value := "", ""
	for _, c := range t.Columns {
		if c.from != fromSlot {
			values = append(values, argument(d.Type(c.Type, c.Width)))
			continue
		}
		if c.slot == 0 {
			slot, value = argument(d.Type(PostInt, 0)), argument(d.Type(PostFloat, 0))
		}
		values = append(values, fmt.Sprintf("CASE WHEN %s = %d THEN %s END", slot, c.slot, value))
	}
	name := d.table(procedureName(t, r))
	body := d.insertInto(t) + " VALUES (" + strings.Join(values, ", ") + ")" + d.merge(t, r)
	return d.CreateProcedure(name, types, body), "CALL " + name + "(" + strings.Join(args, ", ") + ")"
}

func procedureName(t *PostTable, r posts.Rule) string {
	name := "post_" + t.Name + "_" + [...]string{"replace", "keep", "differ", "improve"}[r]
	if t.usesOrigin {
		name += "_later"
	}
	if t.usesOrigin && t.goodStays {
		name += "_good"
	}
	return name
}

// staging creates the temporary table for bulk copies.
func (d *PostDialect) staging(t *PostTable) string {
	return d.CreateTemporary + " " + d.stagingTable(t) + " (" + flavour.Join(t.Columns, ", ", d.columnDefinition) + ")" +
		d.TemporaryOptions
}

func (d *PostDialect) columnDefinition(c PostColumn) string {
	return d.Quote(c.Name) + " " + d.Type(c.Type, c.Width)
}

func stagingName(t *PostTable) string { return "given_" + t.Name }

func (d *PostDialect) stagingTable(t *PostTable) string {
	return d.TemporarySchema + d.Quote(stagingName(t))
}

// selectAll reads a complete table.
func (d *PostDialect) selectAll(t *PostTable) string {
	return "SELECT " + d.cast(t.Columns) + " FROM " + d.table(t.Name)
}

func (d *PostDialect) cast(cols []PostColumn) string {
	return flavour.Join(cols, ", ", func(c PostColumn) string { return d.Cast(d.Quote(c.Name), c.Type) })
}

// timeColumn returns the column of the observation time, or that of the day; nil = none.
func timeColumn(t *PostTable) *PostColumn {
	for _, from := range []postSource{fromTime, fromDay} {
		if i := t.columnAt[from]; i > 0 {
			return &t.Columns[i-1]
		}
	}
	return nil
}

// countValues counts the values of a station between two times.
func (d *PostDialect) countValues(t *PostTable) string {
	count := "count(*)"
	if t.Slots > 0 {
		var parts []string
		for _, c := range t.Columns {
			if c.from == fromSlot {
				parts = append(parts, "count("+d.Quote(c.Name)+")")
			}
		}
		count = strings.Join(parts, " + ")
	}
	time := d.Quote(timeColumn(t).Name)
	return "SELECT " + count + " FROM " + d.table(t.Name) + " WHERE " + d.Quote("lid") + " = " + d.Param(1) +
		" AND " + time + " >= " + d.Param(2) + " AND " + time + " <= " + d.Param(3)
}

func (d *PostDialect) delete(t *PostTable) string {
	return "DELETE FROM " + d.table(t.Name) + " WHERE " + d.Quote(timeColumn(t).Name) + " < " + d.Param(1)
}
