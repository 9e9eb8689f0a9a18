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

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
)

// ownFile follows the archive's name: tables of a user's own lie in a file of their own.
const ownFile = ".barograph-own"

// own opens the file of a user's own tables. Answers come by way of
// database/sql, as any type may be in them.
func own(path string, settings map[string]string) func(ctx context.Context) (*engine.Own, error) {
	return func(context.Context) (*engine.Own, error) {
		settings, file := maps.Clone(settings), ""
		settings["autoinstall_known_extensions"], settings["autoload_known_extensions"] = "false", "false"
		if path != "" {
			file = path + ownFile
			for _, left := range []string{file, file + ".wal"} { // by an earlier run
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
		c, err := driver.NewConnector(file+"?"+query.Encode(), nil)
		if err != nil {
			return nil, unreachable(path+ownFile, err)
		}
		o := &ownTables{sqlengine.Standard{Over: sql.OpenDB(c)}, file}
		db := o.Over.(*sql.DB) //nolint:forcetypeassert // made above
		db.SetMaxIdleConns(64)
		out := &engine.Own{Describe: o.describe, Load: o.load, Size: o.size, Close: func() error { return errors.Join(db.Close(), c.Close()) }}
		out.Confine = func(ctx context.Context, folders ...string) error { return seal(ctx, o, true, folders) }
		out.Ask = func(ctx context.Context, text string, f func(row []any) error) error {
			return o.Rows(ctx, text, nil, f)
		}
		return out, nil
	}
}

type ownTables struct {
	sqlengine.Standard
	file string
}

func (o *ownTables) load(ctx context.Context, t *engine.OwnTable) error {
	if err := o.Exec(ctx, "CREATE TABLE "+flavour.Ident(t.Name)+" AS SELECT * FROM read_parquet("+flavour.Quote(t.Parquet)+")"); err != nil {
		return err
	}
	// While others ask DuckDB may refuse; then the rows are in its log, on disk.
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

// describe finds the columns and makes a view of the files.
func (o *ownTables) describe(ctx context.Context, t *engine.OwnTable) error {
	from := "read_parquet(" + list(t.Files) + ", union_by_name = true, hive_partitioning = false)"
	if t.CSV {
		// the first line is the head: by itself DuckDB passes over lines that do not fit the rest
		from = "read_csv(" + list(t.Files) + ", header = true, skip = 0, union_by_name = true, sample_size = -1, hive_partitioning = false)"
	}
	var columns, longest []string
	err := o.Rows(ctx, "DESCRIBE SELECT * FROM "+from, nil, func(row []any) error {
		source, kind := fmt.Sprint(row[0]), fmt.Sprint(row[1])
		if t.CSV && strings.ContainsAny(source, ",;|\t") { // no separator was found that every line has as often
			return &fault.Error{File: t.Files[0], Setting: "column " + source, Problem: "is one, as lines have different numbers of columns", Cure: "mend the lines, and the head"}
		}
		c, text, ok := ownColumn(source, kind)
		if !ok {
			return &fault.Error{File: t.Files[0], Setting: "column " + source, Problem: "is of the type " + kind + ", which not all engines have", Cure: "leave it out, or make it a text of JSON"}
		}
		if slices.ContainsFunc(t.Columns, func(o engine.OwnColumn) bool { return o.Name == c.Name }) {
			return &fault.Error{File: t.Files[0], Setting: "column " + source, Problem: "is called " + c.Name + " in small letters, as another one is", Cure: "rename one of them"}
		}
		t.Columns = append(t.Columns, c)
		columns = append(columns, text+" AS "+flavour.Ident(c.Name))
		length := "0"
		switch c.Kind {
		case engine.OwnTime:
			length = "0 * count(" + flavour.Ident(c.Name) + ")" // an error where it has parts of a microsecond
		case engine.OwnText:
			length = "coalesce(max(length(" + flavour.Ident(c.Name) + ")), 0)"
		}
		longest = append(longest, length)
		return nil
	})
	if err != nil {
		return readable(t, err)
	}
	if err := o.Exec(ctx, "CREATE VIEW "+flavour.Ident(t.Name)+" AS SELECT "+strings.Join(columns, ", ")+" FROM "+from); err != nil {
		return err
	}
	err = o.Rows(ctx, "SELECT "+strings.Join(longest, ", ")+" FROM "+flavour.Ident(t.Name), nil, func(row []any) error {
		for k := range t.Columns {
			if n, err := sqlengine.AsWhole(row[k]); err != nil {
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
			if c.Kind == engine.OwnBool {
				text += "::INTEGER"
			}
			texts = append(texts, text+"::VARCHAR")
		}
		return o.Rows(ctx, "SELECT "+strings.Join(texts, ", ")+" FROM read_parquet("+flavour.Quote(t.Parquet)+")", nil, f)
	}
	return readable(t, err)
}

// readable says of which files an error is.
func readable(t *engine.OwnTable, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if text, _, ok := strings.Cut(err.Error(), "\nLINE "); ok { // of a statement that is none of the user's
		err = errors.New(strings.TrimSpace(text))
	}
	return &fault.Error{File: t.Files[0], Problem: "cannot be read as table " + t.Name, Err: err, Cure: "name Parquet files, or CSV files with a head, all of one table with the same columns"}
}

var (
	notInNames = regexp.MustCompile(`[^a-z0-9_]+`)
	decimal    = regexp.MustCompile(`^DECIMAL\((\d+),(\d+)\)$`)
)

// ownColumn is a column of DuckDB's type, and what makes of it one of the few
// types that all engines have.
func ownColumn(source, kind string) (c engine.OwnColumn, text string, ok bool) {
	c = engine.OwnColumn{Name: notInNames.ReplaceAllString(strings.ToLower(source), "_")}
	text = flavour.Ident(source)
	if m := decimal.FindStringSubmatch(kind); m != nil {
		c.Kind = engine.OwnDecimal
		c.Digits, _ = strconv.Atoi(m[1]) // of the pattern
		c.Decimals, _ = strconv.Atoi(m[2])
		return c, text, true
	}
	switch kind {
	case "BOOLEAN":
		c.Kind = engine.OwnBool
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		c.Kind, text = engine.OwnWhole, text+"::BIGINT"
	case "UBIGINT", "HUGEINT":
		c.Kind, c.Digits, text = engine.OwnDecimal, 38, text+"::DECIMAL(38, 0)"
	case "FLOAT", "DOUBLE":
		c.Kind, text = engine.OwnFloat, text+"::DOUBLE"
	case "DATE":
		c.Kind = engine.OwnDate
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS":
		c.Kind, text = engine.OwnTime, text+"::TIMESTAMP"
	case "TIMESTAMP_NS":
		cut := "column " + source + " has times with parts of a microsecond, which not all engines have: round them, or make them whole numbers"
		c.Kind, text = engine.OwnTime, "CASE WHEN "+text+" IS NULL OR epoch_ns("+text+") % 1000 = 0 THEN "+text+"::TIMESTAMP ELSE error("+flavour.Quote(cut)+")::TIMESTAMP END"
	case "TIMESTAMP WITH TIME ZONE":
		c.Kind, text = engine.OwnTime, "("+text+" AT TIME ZONE 'UTC')"
	case "VARCHAR", "UUID", "JSON", "TIME":
		c.Kind, text = engine.OwnText, text+"::VARCHAR"
	default:
		if strings.HasPrefix(kind, "ENUM") {
			c.Kind, text = engine.OwnText, text+"::VARCHAR"
		}
	}
	return c, text, c.Kind != ""
}
