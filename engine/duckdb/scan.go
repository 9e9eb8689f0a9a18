package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// scans opens tables of the study scan. Their rows are in Parquet files. Each partition has its own
// folder; the partitions can therefore be on several disks. The database file contains views of the
// files, and the placement.
type scans struct{ *database }

// These are the names in the file and on the disks.
const (
	starSchema = "barograph_star"
	starFolder = "barograph-star" // in each path of a placement

	starPlacement = "placement" // the table with the placement
	starLoading   = "loading"   // the name of this table while a load has not finished
)

func starDialect() *sqlengine.StarDialect {
	return &sqlengine.StarDialect{Table: func(t tables.StarTable) string { return starSchema + "." + string(t) }}
}

// star is an open set of tables.
type star struct {
	*database
	tables.Placement
	before string // DuckDB's setting threads before the star was opened
}

// Open opens the tables at a placement. The number of threads applies to the complete file until the
// tables are closed.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	if len(p.Paths) == 0 && s.path == "" {
		return nil, &fault.Error{Setting: "duckdb::memory:", Problem: "has no place for tables on disk", Cure: "name a file or paths"}
	}
	t := &star{database: s.database, Placement: p}
	out, err := sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Location: starSchema, ReadOnly: s.readOnly, Text: starDialect().Text, Load: t.load, Size: t.size, DropCaches: t.cold,
		ReadNote: func(ctx context.Context) (note string, err error) {
			err = t.withConn(ctx, func(c *conn) error { note, err = t.note(ctx, c, starPlacement); return err })
			return note, err
		},
		Rows: func(ctx context.Context, q tables.StarQuery, f func(row []any) error) error {
			return t.withConn(ctx, func(c *conn) error { return c.Rows(ctx, starDialect().Text(q), nil, f) })
		},
		Plan: func(ctx context.Context, q tables.StarQuery) (text string, err error) {
			err = t.withConn(ctx, func(c *conn) error { text, err = c.lastColumn(ctx, "EXPLAIN "+starDialect().Text(q)); return err })
			return text, err
		},
		Close: func() error {
			ctx := context.Background()
			return t.withConn(ctx, func(c *conn) error { return c.Exec(ctx, "SET GLOBAL threads = "+t.before) })
		},
	}, p)
	if err != nil {
		return nil, err
	}
	return out, t.withConn(ctx, func(c *conn) error {
		before, err := sqlengine.QueryTexts(ctx, c, "SELECT current_setting('threads')::VARCHAR")
		if err != nil {
			return err
		}
		t.before = strings.Join(before, "")
		return c.Exec(ctx, "SET GLOBAL threads = "+strconv.Itoa(p.Parallel()))
	})
}

// note returns the placement in starPlacement or starLoading; "" = the table does not exist.
func (t *star) note(ctx context.Context, c *conn, table string) (string, error) {
	n, err := sqlengine.QueryNumber(ctx, c, "SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() "+
		"AND schema_name = "+flavour.Quote(starSchema)+" AND table_name = "+flavour.Quote(table))
	if err != nil || n == 0 {
		return "", err
	}
	text, err := sqlengine.QueryTexts(ctx, c, "SELECT placement FROM "+starSchema+"."+table)
	return strings.Join(text, ""), err
}

// folder returns the folder of partition i.
func (t *star) folder(p *tables.Placement, i int) string {
	return filepath.Join(t.home(p.Path(i)), "part-"+fmt.Sprintf("%04d", i))
}

// home returns the folder of the tables on a path.
func (t *star) home(path string) string {
	if path == "" {
		return t.path + "." + starFolder
	}
	return filepath.Join(path, starFolder)
}

// homes returns the folders of a placement on all its paths.
func (t *star) homes(p *tables.Placement) []string {
	if len(p.Paths) == 0 {
		return []string{t.home("")}
	}
	return lists.Map(p.Paths, t.home)
}

// load writes the Parquet files. It first removes the existing tables, because two sets of facts might
// not fit on the disks. The next load finds the paths of an interrupted one in the table starLoading.
func (t *star) load(ctx context.Context, files tables.StarFiles, note string) (out tables.StarLoadResult, err error) {
	err = t.withConn(ctx, func(c *conn) error {
		if err := t.clear(ctx, c); err != nil {
			return err
		}
		loading := starSchema + "." + starLoading
		err := c.Exec(ctx, "CREATE SCHEMA "+starSchema+"; CREATE TABLE "+loading+" AS SELECT "+flavour.Quote(note)+" AS placement")
		if err != nil {
			return err
		}
		views, err := t.write(ctx, c, files)
		if err != nil {
			return err
		}
		out.Rows = map[tables.StarTable]int64{}
		script := append(views, "ALTER TABLE "+loading+" RENAME TO "+starPlacement, "COMMIT")
		text := "BEGIN TRANSACTION;\n" + strings.Join(script, ";\n")
		if err := c.Exec(ctx, text); err != nil {
			_ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK") // an error: no transaction is open
			return err
		}
		for _, table := range tables.StarTables() {
			if out.Rows[table], err = sqlengine.QueryNumber(ctx, c, "SELECT count(*) FROM "+starSchema+"."+string(table)); err != nil {
				return err
			}
		}
		return c.Exec(ctx, "CHECKPOINT")
	})
	return out, err
}

// clear removes the loaded tables from all paths, and the remains of an incomplete load.
func (t *star) clear(ctx context.Context, c *conn) error {
	note, err := t.note(ctx, c, starPlacement)
	if err == nil && note != "" {
		err = c.Exec(ctx, "ALTER TABLE "+starSchema+"."+starPlacement+" RENAME TO "+starLoading)
	} else if err == nil {
		note, err = t.note(ctx, c, starLoading)
	}
	if err != nil {
		return err
	}
	homes := t.homes(&t.Placement)
	if loaded, ok := sqlengine.ParsePlacement(note); ok {
		homes = append(homes, t.homes(&loaded)...)
	}
	for _, home := range homes {
		if err := os.RemoveAll(home); err != nil {
			return err
		}
	}
	return c.Exec(ctx, "DROP SCHEMA IF EXISTS "+starSchema+" CASCADE")
}

// write writes the files and returns the statements that create the views of them.
func (t *star) write(ctx context.Context, c *conn, files tables.StarFiles) (views []string, err error) {
	parts, err := t.partition(ctx, c, files.Parquet[tables.StoreSales])
	if err != nil {
		return nil, err
	}
	views = append(views, view(tables.StoreSales, parts))
	for _, table := range []tables.StarTable{tables.DateDim, tables.Item} {
		path := filepath.Join(t.homes(&t.Placement)[0], string(table)+".parquet")
		rows := "SELECT * FROM read_parquet(" + fileList(files.Parquet[table]) + ")"
		err := c.Exec(ctx, "COPY ("+rows+") TO "+flavour.Quote(path)+" (FORMAT parquet)")
		if err != nil {
			return nil, err
		}
		views = append(views, view(table, []string{path}))
	}
	return views, t.sync()
}

// The sizes of written files.
const (
	rowGroup   = 122_880 // DuckDB's default: the rows that one thread reads
	mostPieces = 512     // number of files that are written at once
)

// partition distributes the facts over the partitions by the hash of their ticket numbers, and returns
// the files. DuckDB's threads read one row group after another, file by file. Therefore a partition is
// split into pieces of one row group each, and the file names alternate between the partitions: the
// threads then read from all disks at once.
//
// DuckDB writes a folder for each value of a column with one statement. Each of these folders is a link
// to the piece's folder, on the disk of the partition.
func (t *star) partition(ctx context.Context, c *conn, facts []string) (files []string, err error) {
	rows, err := sqlengine.QueryNumber(ctx, c, "SELECT count(*) FROM read_parquet("+fileList(facts)+")")
	if err != nil {
		return nil, err
	}
	pieces := min((int(rows)/t.Partitions+rowGroup-1)/rowGroup, mostPieces/t.Partitions)
	folders := make([]string, max(pieces, 1)*t.Partitions)
	for i := range folders {
		folders[i] = filepath.Join(t.folder(&t.Placement, i%t.Partitions), fmt.Sprintf("piece-%04d", i/t.Partitions))
		if err := os.MkdirAll(folders[i], 0o755); err != nil {
			return nil, err
		}
	}
	staging, err := os.MkdirTemp(t.homes(&t.Placement)[0], "links-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }() // removes the links, not their targets
	for i, folder := range folders {
		target, err := filepath.Abs(folder) // the system resolves a relative target from the folder of the link
		if err = errors.Join(err, os.Symlink(target, filepath.Join(staging, "piece="+strconv.Itoa(i)))); err != nil {
			return nil, err
		}
	}
	err = c.Exec(ctx, "SET GLOBAL partitioned_write_max_open_files = "+strconv.Itoa(len(folders)+1)+";\n"+
		"COPY (SELECT *, hash(ss_ticket_number) % "+strconv.Itoa(len(folders))+" AS piece FROM read_parquet("+fileList(facts)+
		"))\nTO "+flavour.Quote(staging)+" (FORMAT parquet, ROW_GROUP_SIZE "+strconv.Itoa(2*rowGroup)+
		", PARTITION_BY (piece), OVERWRITE_OR_IGNORE)")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		files = append(files, lists.Files(folder, "*.parquet")...)
	}
	return files, nil
}

// sync flushes all files to disk before the views name them.
func (t *star) sync() error {
	return t.files(func(_ int, path string, _ os.FileInfo) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// files yields the files of the tables, with the number of their path.
func (t *star) files(each func(path int, name string, info os.FileInfo) error) error {
	for i, home := range t.homes(&t.Placement) {
		err := filepath.Walk(home, func(name string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			return each(i, name, info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// view returns the statement that creates a view of Parquet files.
func view(t tables.StarTable, paths []string) string {
	rows := "read_parquet(" + fileList(paths) + ", hive_partitioning = false)"
	return "CREATE VIEW " + starSchema + "." + string(t) + " AS SELECT * FROM " + rows
}

// textList returns a list of texts in SQL.
func textList(texts []string) string {
	return "[" + flavour.Join(texts, ", ", flavour.Quote) + "]"
}

// fileList returns a list of files in SQL, for DuckDB's readers.
func fileList(paths []string) string {
	return "[" + flavour.Join(paths, ", ", flavour.DuckDBFile) + "]"
}

// size returns the bytes of the facts on each path.
func (t *star) size(context.Context) ([]int64, error) {
	out := make([]int64, max(len(t.Paths), 1))
	err := t.files(func(path int, name string, info os.FileInfo) error {
		if strings.HasPrefix(filepath.Base(filepath.Dir(name)), "piece-") {
			out[path] += info.Size()
		}
		return nil
	})
	return out, err
}

// cold makes DuckDB drop its cache of files.
func (t *star) cold(ctx context.Context) error {
	return t.withConn(ctx, func(c *conn) error {
		if err := c.Exec(ctx, "SET GLOBAL enable_external_file_cache = false"); err != nil {
			return err
		}
		return c.Exec(ctx, "SET GLOBAL enable_external_file_cache = true")
	})
}
