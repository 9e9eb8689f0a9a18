package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// ownFile is appended to the archive's name: a user's own tables are in a separate file.
const ownFile = ".barograph-own"

// openOwn opens the file of a user's own tables. Queries use database/sql, because their answers may have
// columns of any type.
func openOwn(path string, settings map[string]string) func(ctx context.Context, keep bool) (*tables.Tables, error) {
	return func(_ context.Context, keep bool) (*tables.Tables, error) {
		settings, file := maps.Clone(settings), ""
		settings["autoinstall_known_extensions"], settings["autoload_known_extensions"] = "false", "false"
		if path != "" {
			file = path + ownFile
			for _, left := range []string{file, file + ".wal"} { // files of an earlier run
				if keep {
					break
				}
				if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return nil, unreachable(left, err)
				}
			}
		} else {
			delete(settings, "storage_compatibility_version")
		}
		query := url.Values{}
		for k, v := range settings {
			query.Set(k, v)
		}
		dsn := file + "?" + query.Encode()
		if u, err := url.Parse(dsn); err != nil || u.RawQuery != query.Encode() { // the driver would lose the settings
			problem := "has a character such as % or #, which DuckDB's driver does not accept for own tables"
			return nil, fault.Misuse(path, problem, "use another name")
		}
		c, err := driver.NewConnector(dsn, nil)
		if err != nil {
			return nil, unreachable(path+ownFile, err)
		}
		o := &ownTables{DatabaseSQL: sqlengine.DatabaseSQL{DB: sql.OpenDB(c)}, file: file}
		db := o.DB.(*sql.DB) //nolint:forcetypeassert // DB was set to it above
		db.SetMaxIdleConns(64)
		out := &tables.Tables{Describe: o.describe, Load: o.load, Size: o.size}
		out.Close = func() error { return errors.Join(db.Close(), c.Close()) }
		out.Loaded = func(ctx context.Context, t *tables.Table) int64 { // DuckDB's file is about as large as the Parquet file
			now, err := o.size(ctx)
			from, err2 := os.Stat(t.Parquet)
			if err != nil || err2 != nil {
				return 0
			}
			return int64(float64(t.Rows) * min(0.99, max(0, float64(now-o.before.Load())/float64(from.Size()))))
		}
		out.Confine = func(ctx context.Context, folders ...string) error { return seal(ctx, o, true, folders) }
		out.Ask = func(ctx context.Context, text string, f func(row []any) error) error {
			return o.TypedRows(ctx, text, func(name string) sqlengine.ResultCast {
				if name == "DATE" {
					return sqlengine.AsDate
				}
				return sqlengine.AsIs
			}, f)
		}
		return out, nil
	}
}

type ownTables struct {
	sqlengine.DatabaseSQL
	file   string
	before atomic.Int64 // size of the file before the load
}

func (o *ownTables) load(ctx context.Context, t *tables.Table) error {
	before, _ := o.size(ctx) // 0 = the file is new
	o.before.Store(before)
	rows := "SELECT * FROM read_parquet(" + fileList([]string{t.Parquet}) + ")"
	if err := o.Exec(ctx, "CREATE TABLE "+flavour.Ident(t.Name)+" AS "+rows); err != nil {
		return err
	}
	// DuckDB may refuse while other queries run. Then the rows are in its log, on disk.
	if err := o.Exec(ctx, "CHECKPOINT"); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

func (o *ownTables) size(context.Context) (int64, error) {
	if o.file == "" {
		return 0, nil
	}
	info, err := os.Stat(o.file)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ownGroup is a list of files with the same columns, and how a SELECT reads them.
type ownGroup struct {
	files []string
	from  string // the call of a reader, without the list of files
	names []string
	kinds []string // DuckDB's types; empty for CSV files
}

// fileColumn is the column in which DuckDB's readers return the file of a row.
const fileColumn = "barograph_file"

// describe makes one table of a table's files. It reads files with the same columns together. It matches
// columns of different files by name; a type must exist that can store the values of all of them
// without loss.
func (o *ownTables) describe(ctx context.Context, t *tables.Table) (rows map[string]int64, err error) {
	groups, rows, err := o.groups(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := unite(t, groups); err != nil {
		return nil, err
	}
	for _, key := range t.Keys {
		if slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return c.Name == key.Column.Name }) {
			return nil, &fault.Error{
				File: t.Files[0], Setting: "column " + key.Column.Name,
				Problem: "is in the names of folders and in the files", Cure: "rename the folders",
			}
		}
		t.Columns = append(t.Columns, key.Column)
	}
	if len(t.Columns) == 0 {
		return nil, &fault.Error{
			File: t.Files[0], Problem: "has no column that all engines can store: " + strings.Join(t.Notes, "; "),
			Cure: "write columns of numbers, times and texts",
		}
	}
	parts := lists.Map(groups, func(g *ownGroup) string {
		return "SELECT " + strings.Join(g.selected(t), ", ") + " FROM " + g.from
	})
	if err := o.Exec(ctx, "CREATE VIEW "+flavour.Ident(t.Name)+" AS "+strings.Join(parts, " UNION ALL ")); err != nil {
		return nil, readable(t, err)
	}
	return rows, readable(t, o.measureTexts(ctx, t))
}

// groups finds the groups of a table's files. It reads the footers of Parquet files.
func (o *ownTables) groups(ctx context.Context, t *tables.Table) (groups []*ownGroup, rows map[string]int64, err error) {
	option := ", filename = '" + fileColumn + "')"
	for _, g := range t.Groups {
		columns := lists.Map(g.Columns, func(c string) string { return flavour.Quote(c) + ": 'VARCHAR'" })
		from := "read_csv(" + fileList(g.Files) + ", auto_detect = false, header = true, delim = " + flavour.Quote(g.Delimiter) +
			`, quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, strict_mode = true, ` +
			"max_line_size = 16777216, columns = {" + strings.Join(columns, ", ") + "}, hive_partitioning = false" + option
		groups = append(groups, &ownGroup{files: g.Files, names: g.Columns, from: from})
	}
	if t.CSV {
		return groups, nil, nil
	}
	rows = map[string]int64{}
	for _, file := range t.Files {
		g := &ownGroup{files: []string{file}}
		rowsOf := "read_parquet(" + fileList(g.files) + ", hive_partitioning = false)"
		err := o.Rows(ctx, "DESCRIBE SELECT * FROM "+rowsOf, nil, func(row []any) error {
			g.names, g.kinds = append(g.names, fmt.Sprint(row[0])), append(g.kinds, fmt.Sprint(row[1]))
			return nil
		})
		if err == nil {
			err = o.Rows(ctx, "SELECT num_rows FROM parquet_file_metadata("+fileList(g.files)+")", nil, func(row []any) error {
				rows[file], err = sqlengine.AsInteger(row[0])
				return err
			})
		}
		if err != nil {
			return nil, nil, readable(&tables.Table{Name: t.Name, Files: []string{file}}, err)
		}
		hasSameColumns := func(o *ownGroup) bool {
			return slices.Equal(o.names, g.names) && slices.Equal(o.kinds, g.kinds)
		}
		if i := slices.IndexFunc(groups, hasSameColumns); i >= 0 {
			groups[i].files = append(groups[i].files, file)
		} else {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		g.from = "read_parquet(" + fileList(g.files) + ", hive_partitioning = false" + option
	}
	return groups, rows, nil
}

// unite finds the columns of Parquet files, and notes columns that are missing in some files.
func unite(t *tables.Table, groups []*ownGroup) error {
	first := map[string]*ownGroup{}
	for _, g := range groups {
		for k, kind := range g.kinds {
			source := g.names[k]
			c, _, ok := ownColumn(source, kind)
			if !ok {
				t.Notes = append(t.Notes, "column "+source+" is ignored: its type "+kind+" is not one that all engines have")
				continue
			}
			i := slices.IndexFunc(t.Columns, func(o tables.Column) bool { return o.Name == c.Name })
			if i < 0 {
				t.Columns, first[c.Name] = append(t.Columns, c), g
				continue
			}
			if first[c.Name] == g {
				return &fault.Error{
					File: g.files[0], Setting: "column " + source,
					Problem: "is called " + c.Name + " in small letters, as another one is", Cure: "rename one of them",
				}
			}
			if !widen(&t.Columns[i], c) {
				problem := fmt.Sprintf("is a %s, and a %s in %s", describeKind(c), describeKind(t.Columns[i]), first[c.Name].files[0])
				return &fault.Error{
					File: g.files[0], Setting: "column " + source, Problem: problem, Cure: "write both files with one type",
				}
			}
		}
	}
	for _, c := range t.Columns {
		for _, g := range groups {
			if g.column(c.Name) < 0 {
				more := ""
				if n := len(g.files) - 1; n > 0 {
					more = fmt.Sprintf(" and %d more files", n)
				}
				t.Notes = append(t.Notes, "column "+c.Name+" is missing in "+g.files[0]+more+": NULL")
			}
		}
	}
	return nil
}

// widen changes the type of a column to one that can also store the values of another column of that name. If there is
// none, it returns false and changes nothing.
func widen(c *tables.Column, o tables.Column) bool {
	digits := func(c tables.Column) (ahead, behind int) {
		if c.Kind == tables.Integer {
			return 19, 0
		}
		return c.Digits - c.Decimals, c.Decimals
	}
	exact := func(k tables.Kind) bool { return k == tables.Integer || k == tables.Decimal }
	switch {
	case c.Kind == o.Kind && c.Kind != tables.Decimal:
		return true
	case !exact(c.Kind) || !exact(o.Kind):
		return false
	}
	a, b := digits(*c)
	x, y := digits(o)
	if max(a, x)+max(b, y) > 38 {
		return false
	}
	c.Kind, c.Digits, c.Decimals = tables.Decimal, max(a, x)+max(b, y), max(b, y)
	return true
}

func describeKind(c tables.Column) string {
	if c.Kind == tables.Decimal {
		return fmt.Sprintf("decimal(%d, %d)", c.Digits, c.Decimals)
	}
	return string(c.Kind)
}

// keyValue is a key's value in the folder name of a row's file.
func keyValue(root, folder, kind string) string {
	pattern := flavour.Quote(".*/" + regexp.QuoteMeta(folder) + "=([^/]*)/")
	value := fmt.Sprintf("url_decode(regexp_extract(substr(%s, %d), %s, 1))", fileColumn, len([]rune(root))+1, pattern)
	return "CAST(CASE WHEN " + value + " NOT IN ('', '" + tables.NoKey + "') THEN " + value + " END AS " + kind + ")"
}

// column is the index of a column in a group; -1 = the group does not have it.
func (g *ownGroup) column(name string) int {
	return slices.IndexFunc(g.names, func(s string) bool { return tables.Name(s) == name })
}

// selected returns the expressions that select a table's columns from a group.
func (g *ownGroup) selected(t *tables.Table) (out []string) {
	for _, c := range t.Columns {
		kind, text := ownTypes[c.Kind], ""
		if c.Kind == tables.Decimal {
			kind = fmt.Sprintf(kind, c.Digits, c.Decimals)
		}
		k, i := g.column(c.Name), slices.IndexFunc(t.Keys, func(k tables.Key) bool { return k.Column.Name == c.Name })
		switch {
		case i >= 0:
			text = keyValue(t.Root, t.Keys[i].Folder, kind)
		case k < 0:
			text = "CAST(NULL AS " + kind + ")"
		case g.kinds == nil && c.Zone:
			text = "(CAST(" + flavour.Ident(c.Name) + " AS TIMESTAMP WITH TIME ZONE) AT TIME ZONE 'UTC')"
		case g.kinds == nil:
			text = "CAST(" + flavour.Ident(c.Name) + " AS " + kind + ")"
		default:
			_, text, _ = ownColumn(g.names[k], g.kinds[k]) // groups has checked it
			text = "CAST(" + text + " AS " + kind + ")"
		}
		out = append(out, text+" AS "+flavour.Ident(c.Name))
	}
	return out
}

// measureTexts finds the greatest length of texts, and checks that all values can be read.
func (o *ownTables) measureTexts(ctx context.Context, t *tables.Table) error {
	var longest []string
	for _, c := range t.Columns {
		length := "0"
		switch c.Kind {
		case tables.Time:
			length = "0 * count(" + flavour.Ident(c.Name) + ")" // fails for fractions of a microsecond
		case tables.Text:
			length = "coalesce(max(length(" + flavour.Ident(c.Name) + ")), 0)"
		}
		longest = append(longest, length)
	}
	err := o.Rows(ctx, "SELECT "+strings.Join(longest, ", ")+" FROM "+flavour.Ident(t.Name), nil, func(row []any) error {
		for k := range t.Columns {
			if n, err := sqlengine.AsInteger(row[k]); err != nil {
				return err
			} else if n > 0 {
				t.Columns[k].Digits = int(n)
			}
		}
		return nil
	})
	t.Each = func(ctx context.Context, f func(row []any) error) error {
		var texts []string
		for _, c := range t.Columns {
			text := flavour.Ident(c.Name)
			if c.Kind == tables.Bool {
				text += "::INTEGER"
			}
			texts = append(texts, text+"::VARCHAR")
		}
		all := "SELECT " + strings.Join(texts, ", ") + " FROM read_parquet(" + fileList([]string{t.Parquet})
		if slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return strings.EqualFold(c.Name, "file_row_number") }) {
			return o.Rows(ctx, all+")", nil, f)
		}
		for first, n := 0, sliceRows; n == sliceRows; first += sliceRows {
			n = 0
			slice := fmt.Sprintf("%s, file_row_number = true) WHERE file_row_number >= %d AND file_row_number < %d",
				all, first, first+sliceRows)
			if err := o.Rows(ctx, slice, nil, func(row []any) error { n++; return f(row) }); err != nil {
				return err
			}
		}
		return nil
	}
	return err
}

// sliceRows is the number of rows that Each reads with one statement: those of a row group that DuckDB writes. DuckDB's
// driver returns the first row of a result when it has the last one, so one statement for all rows needs memory, or
// disk, for all of them as texts.
const sliceRows = 122_880

// readable adds the table's first file to an error.
func readable(t *tables.Table, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if text, _, ok := strings.Cut(err.Error(), "\nLINE "); ok { // DuckDB quotes Barograph's own statement, not the user's
		err = errors.New(strings.TrimSpace(text))
	}
	return &fault.Error{
		File: t.Files[0], Problem: "cannot be read as table " + t.Name, Err: err,
		Cure: "name Parquet files, or CSV files with column names in their first line, all of one table with the same columns",
	}
}

// ownTypes are DuckDB's types of the kinds.
var ownTypes = map[tables.Kind]string{ //nolint:gochecknoglobals // a constant table
	tables.Bool: "BOOLEAN", tables.Integer: "BIGINT", tables.Decimal: "DECIMAL(%d, %d)", tables.Float: "DOUBLE",
	tables.Date: "DATE", tables.Time: "TIMESTAMP", tables.Text: "VARCHAR",
}

var decimal = regexp.MustCompile(`^DECIMAL\((\d+),(\d+)\)$`)

// ownColumn returns the column for one of DuckDB's types, and the expression that converts it to one of
// the types that all engines have.
func ownColumn(source, kind string) (c tables.Column, text string, ok bool) {
	c = tables.Column{Name: tables.Name(source)}
	text = flavour.Ident(source)
	if m := decimal.FindStringSubmatch(kind); m != nil {
		c.Kind = tables.Decimal
		c.Digits, _ = strconv.Atoi(m[1]) // the pattern matches only digits
		c.Decimals, _ = strconv.Atoi(m[2])
		return c, text, true
	}
	switch kind {
	case "BOOLEAN":
		c.Kind = tables.Bool
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		c.Kind, text = tables.Integer, text+"::BIGINT"
	case "UBIGINT", "HUGEINT":
		c.Kind, c.Digits, text = tables.Decimal, 38, text+"::DECIMAL(38, 0)"
	case "FLOAT", "DOUBLE":
		c.Kind, text = tables.Float, text+"::DOUBLE"
	case "DATE":
		c.Kind = tables.Date
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS":
		c.Kind, text = tables.Time, text+"::TIMESTAMP"
	case "TIMESTAMP_NS":
		problem := flavour.Quote("column " + source + " has times with fractions of a microsecond, " +
			"which not all engines can store: round them, or convert them to integers")
		c.Kind, text = tables.Time, "CASE WHEN "+text+" IS NULL OR epoch_ns("+text+") % 1000 = 0 THEN "+text+"::TIMESTAMP "+
			"ELSE error("+problem+")::TIMESTAMP END"
	case "TIMESTAMP WITH TIME ZONE":
		c.Kind, text = tables.Time, "("+text+" AT TIME ZONE 'UTC')"
	case "VARCHAR", "UUID", "JSON", "TIME":
		c.Kind, text = tables.Text, text+"::VARCHAR"
	default:
		if strings.HasPrefix(kind, "ENUM") {
			c.Kind, text = tables.Text, text+"::VARCHAR"
		}
	}
	return c, text, c.Kind != ""
}
