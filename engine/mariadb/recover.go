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
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// lockName is the name of a subset's lock. The server's locks know no case and
// hold 64 characters.
func (a *openArchive) lockName(subset string) string {
	return fmt.Sprintf("barograph %016x", xxh3.HashString(a.database(subset)))
}

// lockSeconds is how long one statement waits for a lock; it is asked for again.
const lockSeconds = 3600

// locked runs do under the subset's lock. It does not give the lock back where
// do failed because ctx ended: the connection is gone then.
func (a *openArchive) locked(ctx context.Context, c *sql.Conn, subset string, do func() error) (err error) {
	name := a.lockName(subset)
	for {
		var got sql.NullInt64
		if err := c.QueryRowContext(ctx, "SELECT GET_LOCK(?, ?)", name, lockSeconds).Scan(&got); err != nil {
			return failed(ctx, err)
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

// ready waits, once for each subset, until no commit that this archive has not
// seen begin is under way, and takes back what a commit that died has left.
func (a *openArchive) ready(ctx context.Context, subset string) error {
	if _, ok := a.seen.Load(subset); ok {
		return nil
	}
	c, err := a.db.writes.Conn(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	defer c.Close() //nolint:errcheck // nothing was written that is not committed
	err = a.locked(ctx, c, subset, func() error { return a.recover(ctx, c, subset) })
	if absent(err) {
		return nil
	}
	if err == nil {
		a.seen.Store(subset, true)
	}
	return failed(ctx, err)
}

// recover ends what a commit began that died: rows that do not count yet are
// taken away, rows that were replaced already too. The lock is held.
func (a *openArchive) recover(ctx context.Context, c *sql.Conn, subset string) error {
	if a.Design != design.Normalized {
		_, err := c.ExecContext(ctx, "ROLLBACK")
		return err
	}
	var parts []added
	err := sqlengine.Standard{Over: c}.Rows(ctx, "SELECT line_table, id_column, first_id FROM "+a.table(subset, pendingTable), nil, func(row []any) error {
		var p added
		err := sqlengine.Scan(row, &p.table, &p.column, &p.first)
		parts = append(parts, p)
		return err
	})
	if err != nil {
		return err
	}
	gone, err := a.goneRows(ctx, c, subset)
	if err != nil || len(parts)+len(gone) == 0 {
		return err
	}
	if a.db.readOnly {
		return &fault.Error{
			Setting: a.db.shown + ", subset " + strconv.Quote(subset), Problem: "a load was broken off and left something behind", Err: engine.ErrReadOnly,
			Cure: "run the load again: it is completed, or taken back",
		}
	}
	var tables []string
	for _, p := range parts {
		tables = append(tables, p.table)
	}
	for of := range gone {
		tables = append(tables, of.table)
		if child := childOf(of.table); child != "" {
			tables = append(tables, child)
		}
	}
	if err := a.repair(ctx, c, subset, tables); err != nil {
		return err
	}
	slices.SortFunc(parts, func(p, q added) int { return -strings.Compare(p.order(), q.order()) }) // children, lines, headers
	for _, p := range parts {
		if _, err := c.ExecContext(ctx, a.takeAway(subset, p)); err != nil {
			return err
		}
	}
	for of, ids := range gone {
		if err := remove(ctx, c, a, subset, of.table, of.header, ids); err != nil {
			return err
		}
	}
	for _, table := range []string{pendingTable, goneTable} {
		if _, err := c.ExecContext(ctx, "DELETE FROM "+a.table(subset, table)); err != nil {
			return err
		}
	}
	a.db.log.Info("a load that was broken off was taken back", "subset", subset, "tables", len(parts))
	return nil
}

// added is what a commit noted that it would add to a table.
type added struct {
	table, column string
	first         int64
}

func (p added) order() string {
	if p.column == idOfLines || p.column == rowColumn {
		return "z" + p.table
	}
	return p.table
}

// takeAway deletes what a commit has added to a table, but for what another
// program has added since, or refers to.
func (a *openArchive) takeAway(subset string, p added) string {
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
	for _, t := range record.Types() {
		if child, _ := childTable(t); child == p.table {
			return "DELETE " + table + " FROM " + table + " JOIN " + a.table(subset, tableOf(t)) + " ld USING (" + idOfLines + ")" + since + " AND ld." + repeatsColumn + " IS NOT NULL"
		}
	}
	for _, v := range objectViews() {
		if v.child() == p.table {
			return "DELETE " + table + " FROM " + table + " JOIN " + a.table(subset, v.table) + " ld USING (" + idOfLines + ")" + since + " AND ld." + rowColumn + " IS NOT NULL"
		}
	}
	return "DELETE FROM " + table + since + " AND " + repeatsColumn + " IS NOT NULL"
}

// referring are the tables that name rows of another one by a column.
func referring(table, column string) (tables []string) {
	if table == design.HeaderTable || table == sqlengine.FileTable {
		for _, t := range record.Types() {
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

type goneOf struct {
	table  string
	header int64
}

func (a *openArchive) goneRows(ctx context.Context, c *sql.Conn, subset string) (map[goneOf][]int64, error) {
	gone := map[goneOf][]int64{}
	err := sqlengine.Standard{Over: c}.Rows(ctx, "SELECT line_table, stat_header_id, id FROM "+a.table(subset, goneTable), nil, func(row []any) error {
		var of goneOf
		var id int64
		err := sqlengine.Scan(row, &of.table, &of.header, &id)
		gone[of] = append(gone[of], id)
		return err
	})
	return gone, err
}

// remove takes rows of one header out of a line table, and their repeating
// columns out of its child table.
func remove(ctx context.Context, c *sql.Conn, a *openArchive, subset, table string, header int64, ids []int64) error {
	slices.Sort(ids)
	in := " IN " + flavour.List(ids, whole)
	for _, t := range record.Types() {
		if table != tableOf(t) {
			continue
		}
		texts := []string{fmt.Sprintf("%s WHERE stat_header_id = %d AND %s%s", a.table(subset, table), header, idColumn(t), in)}
		if child, _ := childTable(t); child != "" {
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

// childOf is the table of repeating columns of a line table; "" = it has none.
func childOf(table string) string {
	for child := range metviewerChildren {
		if of, _, _ := strings.Cut(child, "_"); table == "line_data_"+of {
			return "line_data_" + child
		}
	}
	return ""
}

// repair repairs what a dying server has left half written of MyISAM tables. The
// server repairs by itself, when it opens them, the tables that say of
// themselves that they were not closed; a table whose keys it was making anew
// does not say so, and its index may be short without an error: a wrong answer.
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
		a.db.log.Warn("a table is damaged and repaired", "subset", subset, "table", table, "found", found)
		if found, err = verdict(ctx, c, "REPAIR TABLE "+name); err != nil {
			return err
		}
		if found != "" {
			return &fault.Error{
				Setting: a.db.shown + ", subset " + strconv.Quote(subset), Problem: "the server's death has damaged table " + table + " and REPAIR TABLE cannot repair it: " + found,
				Cure: "load the subset anew, or keep it with engine=InnoDB",
			}
		}
	}
	return nil
}

// verdict is what CHECK TABLE or REPAIR TABLE say of a table; "" = it is whole.
// They tell what is wrong in rows, not by an error; the last row is the verdict.
func verdict(ctx context.Context, c *sql.Conn, statement string) (string, error) {
	var said []string
	whole := false
	err := sqlengine.Standard{Over: c}.Rows(ctx, statement, nil, func(row []any) error {
		var table, op, kind, text string
		err := sqlengine.Scan(row, &table, &op, &kind, &text)
		said = append(said, kind+": "+text)
		whole = kind == "status" && (text == "OK" || text == "Table is already up to date")
		return err
	})
	if err != nil || whole {
		return "", err
	}
	return strings.Join(said, "; "), nil
}
