package duckdb

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// extensionVersion is the version of the linked library. An extension of another version does not
// load.
const extensionVersion = "1.5.5"

// httpfs is the extension for S3, from the Python package index. Barograph downloads nothing from
// DuckDB's own repository.
func httpfs() launch.Artifact {
	return launch.Artifact{
		Name: "duckdb-httpfs-" + extensionVersion, Wheel: "duckdb-extension-httpfs==" + extensionVersion,
		SHA256: "84913dbe172ccb54368de2c4a020c38ca8b0e76f99df548f7fac37934cc7826f",
		Tree:   "26f1dbd5917c8404a2d9a0e4df60f5960a1231f0ab3c69eaa3d43a1f306a3c75",
	}
}

// extension returns the path of the installed extension.
func extension() (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", fmt.Errorf("DuckDB's httpfs is not available for %s on %s", runtime.GOOS, runtime.GOARCH)
	}
	dir, err := httpfs().Find()
	return filepath.Join(dir, "duckdb_extension_httpfs", "extensions", "v"+extensionVersion, "httpfs.duckdb_extension"), err
}

// lakeView is the schema of the views of a store's files.
const lakeView = "barograph_lake"

// lakes is a database in memory with the settings of a store.
type lakes struct {
	*database
	store launch.Store
}

// lake opens a database in memory for a store. The database keeps nothing of the store's files between
// queries.
func lake(ctx context.Context, s launch.Store) (*tables.Lake, error) {
	path, err := extension()
	if err != nil {
		return nil, &fault.Error{Setting: "DuckDB's extension httpfs", Problem: "is not installed", Err: err, Cure: "`barograph lab install --yes duckdb`"}
	}
	if err := httpfs().Check(); err != nil {
		return nil, err
	}
	db, err := openDatabase("", map[string]string{"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
	if err != nil {
		return nil, unreachable(memoryPath, err)
	}
	l := &lakes{db, s}
	for _, text := range []string{
		"LOAD " + flavour.Quote(path),
		"SET enable_external_file_cache = false",
		"SET enable_http_metadata_cache = false",
		"SET http_retries = 3",
		fmt.Sprintf("CREATE SECRET store (TYPE s3, KEY_ID %s, SECRET %s, REGION %s, ENDPOINT %s, URL_STYLE 'path', USE_SSL false)",
			flavour.Quote(s.Key), flavour.Quote(s.Secret), flavour.Quote(s.Region), flavour.Quote(s.Endpoint)),
		"CREATE SCHEMA " + lakeView,
	} {
		if err := (pool{db}).Exec(ctx, text); err != nil {
			db.close()
			return nil, err
		}
	}
	return &tables.Lake{
		Write: l.write, Table: l.table,
		Phrase: func(t *tables.LakeTable, q *question.Question, c *design.Catalog) (*archive.Query, error) {
			return sqlengine.PhraseLake(*dialectIn(""), lakeTable(t), t, q, c)
		},
		Ask: func(ctx context.Context, q *archive.Query, into *answer.Builder) error {
			return db.ask(ctx, design.Wide, q, into)
		},
		Close: func() error { db.close(); return nil },
	}, nil
}

func lakeTable(t *tables.LakeTable) string { return lakeView + "." + flavour.Ident(t.Name) }

// address returns the address of a key as a text in SQL.
func (l *lakes) address(key string) string {
	return flavour.Quote("s3://" + l.store.Bucket + "/" + key)
}

// table creates a view of the files. Each query lists the files again.
func (l *lakes) table(ctx context.Context, t *tables.LakeTable) error {
	parts, levels := "hive_partitioning = false", "*.parquet"
	if t.Partition != tables.Unpartitioned {
		parts, levels = "hive_partitioning = true, hive_types = {"+tables.PartColumn+": VARCHAR}", "*/*.parquet"
	}
	return pool{l.database}.Exec(ctx, "CREATE VIEW "+lakeTable(t)+" AS SELECT * FROM read_parquet("+l.address(t.Prefix+levels)+", "+parts+")")
}

// write sorts the records of an archive once, in memory or in spilled files, and copies them to the
// store file by file.
func (l *lakes) write(ctx context.Context, archive, subset string, t *tables.LakeTable, bytes int64) (err error) {
	p := pool{l.database}
	by := map[tables.Partition]string{
		tables.Unpartitioned: "''", tables.ByDay: "strftime(fcst_valid_beg, '%Y-%m-%d')", tables.ByModel: "model", tables.ByVariable: "fcst_var",
	}[t.Partition]
	if t.Partition == tables.ByModel || t.Partition == tables.ByVariable {
		by = "regexp_replace(" + by + ", " + flavour.Quote(tables.UnsafePartChars) + ", '_', 'g')"
	}
	from, _ := newArchive(l.database, design.Wide).Table(subset, t.Type)
	if err := p.Exec(ctx, "ATTACH "+flavour.Quote(archive)+" AS source (READ_ONLY)"); err != nil {
		return err
	}
	defer func() {
		ctx := context.WithoutCancel(ctx)
		err = errors.Join(err, p.Exec(ctx, "DROP TABLE IF EXISTS sorted"), p.Exec(ctx, "DETACH source"))
	}()
	name, _, _ := sqlengine.DesignTable(design.Wide, t.Type)
	found, err := sqlengine.QueryNumber(ctx, p, "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'source' "+
		"AND schema_name = "+flavour.Quote(schemaName(subset))+" AND table_name = "+flavour.Quote(name))
	if err != nil {
		return err
	}
	if found == 0 { // a view could read anything that its creator wants, with the store's keys
		return &fault.Error{
			File: archive, Setting: "subset " + subset, Problem: "has no table " + name,
			Cure: "name an archive that Barograph has loaded",
		}
	}
	order := strings.Join(sqlengine.LakeSortColumns(), ", ")
	if err := p.Exec(ctx, "CREATE TABLE sorted AS SELECT *, "+by+" AS part FROM source."+from+" ORDER BY part, "+order); err != nil {
		return err
	}
	columns := sqlengine.ColumnList("", sqlengine.WideColumns(t.Type))
	copyRange := func(where, key string) (size int64, err error) {
		text := "COPY (SELECT " + columns + " FROM sorted " + where + ") TO " + l.address(key) +
			" (FORMAT parquet, COMPRESSION zstd, RETURN_STATS)"
		err = p.Rows(ctx, text, nil, func(row []any) error {
			return sqlengine.Scan(row[2:], &size)
		})
		return size, err
	}
	var parts []string
	var rows []int64
	err = p.Rows(ctx, "SELECT part, count(*) FROM sorted GROUP BY part ORDER BY part", nil, func(row []any) error {
		var part string
		var n int64
		err := sqlengine.Scan(row, &part, &n)
		parts, rows = append(parts, part), append(rows, n)
		return err
	})
	if err != nil {
		return err
	}
	t.Files, t.Bytes, t.Rows = 0, 0, 0
	rowsPerFile := int64(probeRows)
	for begin, k := int64(0), 0; k < len(parts); k++ {
		folder := t.Prefix
		if t.Partition != tables.Unpartitioned {
			folder += tables.PartColumn + "=" + parts[k] + "/"
		}
		for at := int64(0); at < rows[k]; {
			n := min(rowsPerFile, rows[k]-at)
			if left := rows[k] - at - n; left < n/4 {
				n += left // avoid a file with few rows
			}
			where := fmt.Sprintf("WHERE rowid BETWEEN %d AND %d", begin+at, begin+at+n-1)
			size, err := copyRange(where, fmt.Sprintf("%s%05d.parquet", folder, t.Files))
			if err != nil {
				return err
			}
			t.Files, t.Bytes, t.Rows, at = t.Files+1, t.Bytes+size, t.Rows+n, at+n
			rowsPerFile = max(bytes*t.Rows/max(t.Bytes, 1), 1) // by the average bytes per row so far
		}
		begin += rows[k]
	}
	return nil
}

// probeRows is the number of rows in the first file, before the bytes per row are known.
const probeRows = 10_000
