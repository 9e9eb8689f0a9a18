package mariadb

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// lockName returns the name of a subset's lock. The server ignores the letter case of lock names and
// limits them to 64 characters.
func (a *openArchive) lockName(subset string) string {
	return fmt.Sprintf("barograph %016x", xxh3.HashString(a.database(subset)))
}

// lockSeconds is how long one statement waits for a lock. Then the client sends it again.
const lockSeconds = 3600

// locked runs do under the subset's lock. If do failed because ctx ended, the connection is closed, which frees the
// lock.
func (a *openArchive) locked(ctx context.Context, c *sql.Conn, subset string, do func() error) (err error) {
	name := a.lockName(subset)
	for {
		var got sql.NullInt64
		if err := c.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, lockSeconds).Scan(&got); err != nil {
			return callError(ctx, err)
		}
		if got.Int64 == 1 {
			break
		}
	}
	defer func() {
		_, unlock := c.ExecContext(context.WithoutCancel(ctx), "DO RELEASE_LOCK(?)", name)
		if err == nil {
			err = unlock
		}
	}()
	return do()
}

// ensureRecovered waits, once for each subset, for commits that started before this archive was opened. It
// rolls back or completes a crashed commit.
func (a *openArchive) ensureRecovered(ctx context.Context, subset string) error {
	if _, ok := a.recovered.Load(subset); ok {
		return nil
	}
	c, err := a.db.writes.Conn(ctx)
	if err != nil {
		return callError(ctx, err)
	}
	defer c.Close() //nolint:errcheck // everything that was written is committed
	if err = a.locked(ctx, c, subset, func() error { return a.recover(ctx, c, subset) }); absent(err) {
		return nil
	}
	return callError(ctx, err)
}

// recover rolls back a crashed commit that had not taken effect: it removes the added rows. Otherwise it
// completes the commit: it removes the replaced rows. The caller has locked the subset, so ensureRecovered must not
// lock it again.
func (a *openArchive) recover(ctx context.Context, c *sql.Conn, subset string) (err error) {
	defer func() {
		if err == nil {
			a.recovered.Store(subset, true)
		}
	}()
	if a.Design != design.Normalized {
		_, err = c.ExecContext(ctx, "ROLLBACK")
		return err
	}
	var additions []addition
	text := "SELECT line_table, id_column, first_id FROM " + a.table(subset, pendingTable)
	err = querier{c}.Rows(ctx, text, nil, func(row []any) error {
		var p addition
		err := sqlengine.Scan(row, &p.table, &p.column, &p.first)
		additions = append(additions, p)
		return err
	})
	if err != nil {
		return err
	}
	replaced, err := a.goneRows(ctx, c, subset)
	if err != nil || len(additions)+len(replaced) == 0 {
		return err
	}
	if a.db.readOnly {
		return &fault.Error{
			Setting: a.db.redactedURL + ", subset " + strconv.Quote(subset), Problem: "contains an incomplete load", Err: engine.ErrReadOnly,
			Cure: "run the load again, which completes the load or rolls it back",
		}
	}
	tables := lists.Map(additions, func(p addition) string { return p.table })
	for gone := range replaced {
		tables = append(tables, gone.table)
		if child, _ := childTable(gone.table); child != "" {
			tables = append(tables, child)
		}
	}
	if err := a.repair(ctx, c, subset, tables); err != nil {
		return err
	}
	slices.SortFunc(additions, func(p, q addition) int { return strings.Compare(q.order(), p.order()) })
	for _, p := range additions {
		if _, err := c.ExecContext(ctx, a.deleteAdded(subset, p)); err != nil {
			return err
		}
	}
	for gone, ids := range replaced {
		if err := remove(ctx, c, a, subset, gone.table, gone.header, ids); err != nil {
			return err
		}
	}
	for _, table := range []string{pendingTable, goneTable} {
		if _, err := c.ExecContext(ctx, "DELETE FROM "+a.table(subset, table)); err != nil {
			return err
		}
	}
	a.db.log.Info("rolled back or completed an interrupted commit", "subset", subset, "tables", len(additions))
	return nil
}

// addition is the record of the rows that a commit adds to a table.
type addition struct {
	table, column string
	first         int64
}

// order is a sort key. In descending order, repeating columns are before lines and lines before headers.
func (p addition) order() string {
	if p.column == idOfLines || p.column == rowColumn {
		return "z" + p.table
	}
	return p.table
}

// deleteAdded returns the statement that deletes the rows that a commit has added to a table. It keeps rows that
// another program has added since, or refers to.
func (a *openArchive) deleteAdded(subset string, p addition) string {
	table := a.table(subset, p.table)
	since := fmt.Sprintf(" WHERE %s >= %d", p.column, p.first)
	switch {
	case p.column == rowColumn:
		return "DELETE FROM " + table + since
	case p.column != idOfLines:
		for _, of := range referring(p.table, p.column) {
			since += fmt.Sprintf(" AND %s NOT IN (SELECT %s FROM %s WHERE %s >= %d)", p.column, p.column, a.table(subset, of), p.column, p.first)
		}
		return "DELETE FROM " + table + since
	}
	deleteJoined := func(lines, ownColumn string) string {
		return "DELETE " + table + " FROM " + table + " JOIN " + a.table(subset, lines) + " ld USING (" + idOfLines + ")" + since +
			" AND ld." + ownColumn + " IS NOT NULL"
	}
	for _, t := range record.Types() {
		if child, _ := childTable(tableOf(t)); child == p.table {
			return deleteJoined(tableOf(t), repeatsColumn)
		}
	}
	for _, v := range objectViews() {
		if v.child == p.table {
			return deleteJoined(v.table, rowColumn)
		}
	}
	return "DELETE FROM " + table + since + " AND " + repeatsColumn + " IS NOT NULL"
}

// referring lists the tables whose rows refer to rows of another table by a column.
func referring(table, column string) (tables []string) {
	for _, t := range record.Types() { // only in old archives do Barograph's own tables refer to stat_header
		if table == sqlengine.FileTable || table == design.HeaderTable && hasTable(t) {
			tables = append(tables, tableOf(t))
		}
	}
	for _, t := range metviewerObjects {
		if t.name != table && slices.ContainsFunc(objectColumns(t.name), func(c metCol) bool { return c.name == column }) {
			tables = append(tables, t.name)
		}
	}
	return tables
}

// goneKey identifies the replaced rows of one header in a table.
type goneKey struct {
	table  string
	header int64
}

func (a *openArchive) goneRows(ctx context.Context, c *sql.Conn, subset string) (map[goneKey][]int64, error) {
	replaced := map[goneKey][]int64{}
	text := "SELECT line_table, stat_header_id, id FROM " + a.table(subset, goneTable)
	err := querier{c}.Rows(ctx, text, nil, func(row []any) error {
		var key goneKey
		var id int64
		err := sqlengine.Scan(row, &key.table, &key.header, &id)
		replaced[key] = append(replaced[key], id)
		return err
	})
	return replaced, err
}

// maxRemoved is the greatest number of rows that one statement removes. It keeps the statement below 1 MiB, because the
// server limits statements (max_allowed_packet). Each statement reads all rows of a header.
const maxRemoved = 50_000

// remove removes rows of one header from a line table, and their repeating columns from its child
// table.
func remove(ctx context.Context, c *sql.Conn, a *openArchive, subset, table string, header int64, ids []int64) error {
	slices.Sort(ids)
	for len(ids) > maxRemoved {
		if err := remove(ctx, c, a, subset, table, header, ids[:maxRemoved]); err != nil {
			return err
		}
		ids = ids[maxRemoved:]
	}
	in := " IN " + flavour.List(ids, decimal)
	for _, t := range record.Types() {
		if table != tableOf(t) {
			continue
		}
		texts := []string{fmt.Sprintf("%s WHERE stat_header_id = %d AND %s%s", a.table(subset, table), header, idColumn(t), in)}
		if child, _ := childTable(tableOf(t)); child != "" {
			texts = append(texts, a.table(subset, child)+" WHERE "+idOfLines+in)
		}
		texts = append(texts, a.removeView(t, subset, in)...)
		for _, text := range slices.Backward(texts) {
			if _, err := c.ExecContext(ctx, "DELETE FROM "+text); err != nil {
				return err
			}
		}
	}
	return nil
}

// repair repairs MyISAM tables that a crash of the server has left half-written. When the server
// opens a table that is marked as not closed, it repairs it by itself. But a table whose indexes
// the server was rebuilding has no such mark: its index may lack rows without any error, and a
// query would return a wrong result.
func (a *openArchive) repair(ctx context.Context, c *sql.Conn, subset string, tables []string) error {
	slices.Sort(tables)
	for _, table := range slices.Compact(tables) {
		name := a.table(subset, table)
		found, err := verdict(ctx, c, "CHECK TABLE "+name)
		if err != nil {
			return err
		}
		if found == "" {
			continue
		}
		a.db.log.Warn("repairs a damaged table", "subset", subset, "table", table, "found", found)
		if found, err = verdict(ctx, c, "REPAIR TABLE "+name); err != nil {
			return err
		}
		if found != "" {
			return &fault.Error{
				Setting: a.db.redactedURL + ", subset " + strconv.Quote(subset),
				Problem: "a crash of the server has damaged table " + table + " and REPAIR TABLE cannot repair it: " + found,
				Cure:    "load the subset again, or store it with engine=InnoDB",
			}
		}
	}
	return nil
}

// verdict is the result of CHECK TABLE or REPAIR TABLE for a table; "" = the table is intact. The
// server returns damages as rows, not as an error; the last row is the result.
func verdict(ctx context.Context, c *sql.Conn, statement string) (string, error) {
	var messages []string
	intact := false
	err := querier{c}.Rows(ctx, statement, nil, func(row []any) error {
		var table, op, kind, text string
		err := sqlengine.Scan(row, &table, &op, &kind, &text)
		messages = append(messages, kind+": "+text)
		intact = kind == "status" && (text == "OK" || text == "Table is already up to date")
		return err
	})
	if err != nil || intact {
		return "", err
	}
	return strings.Join(messages, "; "), nil
}
