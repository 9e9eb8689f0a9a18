package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// commitsTable contains the last commit of each subset and design, with the tables that it changes. If a subset has
// several rows, the one with the greatest number is valid.
const commitsTable = "barograph_commits"

// commit is the Querier of a commit in flight. It sees its own writes. copyTable, Exec and insertRows write into
// copies, flush and decide make the commit durable, publishCopies replaces the tables, and dropCopies removes what
// remains.
type commit struct {
	db           *database
	subsetValues string // design and subset, as literals for commitsTable
	number       int64
	copies       map[string]string // quoted names of tables, and those of their copies
}

// transaction runs f in a commit. If it is not known whether the commit is decided, or if the copies of a decided
// commit could not replace all tables, transaction refuses further commits to the subset: they would drop the copies,
// which may have the only records of that commit.
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
	if err = f(c); err == nil && len(c.copies) > 0 {
		err = d.flush(ctx, c.tables())
	}
	if err != nil || len(c.copies) == 0 {
		return errors.Join(err, c.dropCopies(ctx))
	}
	if err = c.decide(ctx); err == nil {
		err = d.publishCopies(ctx, c.number, c.tables())
	}
	if err != nil {
		err = fmt.Errorf("the commit will be completed or removed when the archive is opened for writing again: %w", err)
		d.unpublished.Store(subsetValues, err)
		return err
	}
	_ = c.dropCopies(ctx) // the commit is complete; the next commit or recover drops the remaining copies
	return nil
}

// tables returns the names of the tables that have a copy, without quotation marks.
func (c *commit) tables() []string { return lists.Map(slices.Sorted(maps.Keys(c.copies)), unquoted) }

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

// quoted matches a name that ident has quoted, or a text literal, which quote has written.
var quoted = regexp.MustCompile(`(?s)"(\\.|[^"\\])*"|'(\\.|[^'\\])*'`)

// copySuffix marks the tables that recover drops: copies (subset/table+), and the table of keys in replace
// (subset/table+keys).
const copySuffix = "+"

// withCopies replaces the names of tables in a statement by their copies. It leaves literals, which contain texts of
// records, unchanged.
func (c *commit) withCopies(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(s string) string { return cmp.Or(c.copies[s], s) })
}

// Exec runs a statement; a DELETE runs in the table's copy.
func (c *commit) Exec(ctx context.Context, text string, args ...any) error {
	if rest, ok := strings.CutPrefix(text, "DELETE FROM "); ok {
		table := quoted.FindString(rest)
		if n, err := sqlengine.QueryNumber(ctx, c, "SELECT count() FROM "+rest); err != nil || n == 0 {
			return err
		}
		if _, err := c.copyTable(ctx, table, withRows); err != nil {
			return err
		}
	}
	return c.db.Exec(ctx, c.withCopies(text), args...)
}

// Rows passes each row to f.
func (c *commit) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return c.db.Rows(ctx, c.withCopies(text), args, f)
}

// decide stores the row that decides the commit. It cannot be canceled, because ClickHouse may store the row of a
// canceled statement.
func (c *commit) decide(ctx context.Context) error {
	row := fmt.Sprintf("(%s, %d, [%s])", c.subsetValues, c.number, flavour.Join(c.tables(), ", ", quote))
	return c.db.Exec(context.WithoutCancel(ctx), "INSERT INTO "+commitsTable+" VALUES "+row)
}

// publishCopies replaces the tables of these names by the copies of a decided commit. It skips tables that are replaced
// already.
func (d *database) publishCopies(ctx context.Context, number int64, names []string) error {
	ctx = context.WithoutCancel(ctx) // a decided commit must not be canceled
	d.publishLock.Lock()
	defer d.publishLock.Unlock()
	for _, name := range names {
		// A finished copy has the number of its commit as comment. The copy must replace the table if it has this comment
		// and the table has not; after the exchange, the table has it. A later commit that was not decided may have left a
		// copy whose creation was interrupted. Because CREATE TABLE … AS also copies the comment, that copy has the same
		// comment as its table, and is skipped.
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

// flush flushes the files and folders of the copies of tables. ClickHouse flushes what it writes, but not the hard
// links of which a copy consists.
func (d *database) flush(ctx context.Context, tables []string) error {
	copies := flavour.List(tables, func(name string) string { return quote(name + copySuffix) })
	dirs, err := sqlengine.QueryTexts(ctx, d, "SELECT arrayJoin(data_paths) FROM system.tables "+
		"WHERE database = currentDatabase() AND name IN "+copies)
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
