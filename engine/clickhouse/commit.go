package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
)

// commitsTable contains the last commit of each subset and design, with the tables that it changes. If a subset has
// several rows, the one with the greatest number is valid.
const commitsTable = "barograph_commits"

// commit is the Querier of a commit in flight. It sees its own writes. copyTable, Exec and insertRows write into
// copies, decide makes the commit durable, publishCopies replaces the tables, and dropCopies removes what remains.
type commit struct {
	db           *database
	subsetValues string // design and subset, as literals for commitsTable
	number       int64
	copies       map[string]string // quoted names of tables, and those of their copies
}

// transaction runs f in a commit. After a decided commit whose copies could not replace all tables, it refuses further
// commits to the subset: they would drop the copies, which have the only records of that commit.
func (d *database) transaction(ctx context.Context, subsetValues string, f func(q sqlengine.Querier) error) error {
	if err, ok := d.unpublished.Load(subsetValues); ok {
		return err.(error) //nolint:forcetypeassert // the map contains only errors
	}
	text := "SELECT max(commit) FROM " + commitsTable + " WHERE (design, subset) = (" + subsetValues + ")"
	last, err := sqlengine.QueryNumber(ctx, d, text)
	if err != nil {
		return err
	}
	c := &commit{d, subsetValues, last + 1, map[string]string{}}
	if err = f(c); err == nil {
		err = c.decide(ctx)
	}
	if err != nil {
		return errors.Join(err, c.dropCopies(ctx))
	}
	var names []string
	for table := range c.copies {
		names = append(names, unquoted(table))
	}
	if err := d.publishCopies(ctx, c.number, names); err != nil {
		err = fmt.Errorf("the commit is durable, but is complete only after the archive is opened for writing again: %w", err)
		d.unpublished.Store(subsetValues, err)
		return err
	}
	return c.dropCopies(ctx)
}

// withRows as an argument of copyTable and insertRows makes a copy with the table's rows instead of an empty one.
const withRows = true

// copyTable returns the name of a table's copy, which the commit may change.
func (c *commit) copyTable(ctx context.Context, table string, cloneRows bool) (string, error) {
	if name, ok := c.copies[table]; ok {
		return name, nil
	}
	name, create := copyName(table), " AS "
	if cloneRows {
		create = " CLONE AS "
	}
	for _, text := range []string{
		"DROP TABLE IF EXISTS " + name,
		"CREATE TABLE " + name + create + table,
		"ALTER TABLE " + name + " MODIFY COMMENT '" + strconv.FormatInt(c.number, 10) + "'",
	} {
		if err := c.db.Exec(ctx, text); err != nil {
			return "", err
		}
	}
	c.copies[table] = name
	return name, nil
}

// copyName returns the quoted name of a table's copy.
func copyName(table string) string { return strings.TrimSuffix(table, `"`) + copySuffix + `"` }

// unquoted returns a table's name without quotation marks; it is the inverse of ident.
func unquoted(table string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(table[1 : len(table)-1])
}

// quotedName matches a name that ident quotes, at the beginning of a text.
var quotedName = regexp.MustCompile(`^"(\\.|[^"\\])*"`)

// copySuffix is at the end of the names of copies, and in those of other tables that a commit drops.
const copySuffix = "+"

// withCopies replaces the names of tables in a statement by their copies.
func (c *commit) withCopies(text string) string {
	for table, name := range c.copies {
		text = strings.ReplaceAll(text, table, name)
	}
	return text
}

// Exec runs a statement; a DELETE runs in the table's copy.
func (c *commit) Exec(ctx context.Context, text string, _ ...any) error {
	if rest, ok := strings.CutPrefix(text, "DELETE FROM "); ok {
		table := quotedName.FindString(rest)
		if n, err := sqlengine.QueryNumber(ctx, c, "SELECT count() FROM "+rest); err != nil || n == 0 {
			return err
		}
		if _, err := c.copyTable(ctx, table, withRows); err != nil {
			return err
		}
	}
	return c.db.Exec(ctx, c.withCopies(text))
}

// Rows passes each row to f.
func (c *commit) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return c.db.Rows(ctx, c.withCopies(text), args, f)
}

// decide flushes the copies, and then stores the row that decides the commit.
func (c *commit) decide(ctx context.Context) error {
	if len(c.copies) == 0 {
		return nil
	}
	var names, copies []string
	for table := range c.copies {
		names, copies = append(names, quote(unquoted(table))), append(copies, quote(unquoted(table)+copySuffix))
	}
	if err := c.db.flush(ctx, copies); err != nil {
		return err
	}
	row := fmt.Sprintf("(%s, %d, [%s])", c.subsetValues, c.number, strings.Join(names, ", "))
	return c.db.Exec(ctx, "INSERT INTO "+commitsTable+" VALUES "+row)
}

// publishCopies replaces the tables of these names by the copies of a decided commit. It skips tables that are replaced
// already.
func (d *database) publishCopies(ctx context.Context, number int64, names []string) error {
	ctx = context.WithoutCancel(ctx) // a decided commit must not be canceled
	d.publishLock.Lock()
	defer d.publishLock.Unlock()
	for _, name := range names {
		// The comment names the commit. After the exchange the table has it, before only the copy. A copy whose creation
		// was interrupted has the comment of its table.
		text := fmt.Sprintf("SELECT countIf(name = %s) > countIf(name = %s) FROM system.tables "+
			"WHERE database = currentDatabase() AND comment = '%d'", quote(name+copySuffix), quote(name), number)
		isPending, err := sqlengine.QueryNumber(ctx, d.pool, text)
		if err == nil && isPending > 0 {
			err = d.Exec(ctx, "EXCHANGE TABLES "+ident(name)+" AND "+ident(name+copySuffix))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropCopies removes the copies, which after publishCopies are the old tables.
func (c *commit) dropCopies(ctx context.Context) (err error) {
	for _, name := range c.copies {
		err = errors.Join(err, c.db.Exec(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS "+name))
	}
	return err
}

// recover completes the commits that were decided before the archive was closed, and drops the remains of others.
func (d *database) recover(ctx context.Context) error {
	if !d.readOnly {
		err := d.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+commitsTable+
			" (design LowCardinality(String), subset String, commit Int64, tables Array(String)) "+
			"ENGINE = ReplacingMergeTree(commit) ORDER BY (design, subset) SETTINGS "+tableSettings)
		if err != nil {
			return err
		}
	}
	copies, err := sqlengine.QueryTexts(ctx, d, "SELECT name FROM system.tables "+
		"WHERE database = currentDatabase() AND match(name, '\\\\"+copySuffix+"[^/]*$')")
	if err != nil || len(copies) == 0 {
		return err
	}
	if d.readOnly {
		return &fault.Error{File: d.path, Problem: "contains an incomplete commit", Cure: "open it for writing once, as `barograph load` does"}
	}
	decided := map[int64][]string{}
	text := "SELECT last, arrayJoin(names) FROM (SELECT max(commit) AS last, argMax(tables, commit) AS names FROM " +
		commitsTable + " GROUP BY design, subset)"
	err = d.Rows(ctx, text, nil, func(row []any) error {
		var n int64
		var table string
		err := sqlengine.Scan(row, &n, &table)
		decided[n] = append(decided[n], table)
		return err
	})
	for n, tables := range decided {
		if err == nil {
			err = d.publishCopies(ctx, n, tables)
		}
	}
	for _, name := range copies {
		if err == nil {
			err = d.Exec(ctx, "DROP TABLE IF EXISTS "+ident(name))
		}
	}
	return err
}

// flush flushes the files and folders of tables, which are quoted names. ClickHouse flushes what it writes, but not the
// hard links of which a copy consists.
func (d *database) flush(ctx context.Context, tables []string) error {
	dirs, err := sqlengine.QueryTexts(ctx, d, "SELECT arrayJoin(data_paths) FROM system.tables "+
		"WHERE database = currentDatabase() AND name IN ("+strings.Join(tables, ", ")+")")
	for _, dir := range dirs {
		if err == nil {
			err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				return syncFile(path)
			})
		}
		if err == nil {
			err = syncFile(filepath.Dir(filepath.Clean(dir)))
		}
	}
	return err
}

// syncFile flushes a file or folder to disk, unless a merge has removed it.
func syncFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
