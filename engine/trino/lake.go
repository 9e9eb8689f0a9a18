package trino

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

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

// lakeCatalog is the catalog of a store's files. Each run drops it and creates it again. lakeSchema is the schema
// of its tables.
const (
	lakeCatalog = "barograph_lake"
	lakeSchema  = lakeCatalog + ".lake"
)

// lakes creates and queries external tables of files in a store.
type lakes struct {
	*database
	store launch.Store
	home  string // folder of the tables' descriptions; the server creates it
}

// lake creates a catalog for the store while the server runs, because the store's address and keys are
// known only then. The server must run on this machine, as the lab's does: it must reach a store on
// loopback.
func (d *database) lake(ctx context.Context, s launch.Store) (*tables.Lake, error) {
	temp, err := os.MkdirTemp("", "barograph-trino-lake-")
	if err != nil {
		return nil, err
	}
	l := &lakes{d, s, filepath.Join(temp, "tables")}
	err = os.Chmod(temp, 0o777)                     //nolint:gosec // the server may have another account; nobody can guess the folder's name
	drop := "DROP CATALOG IF EXISTS " + lakeCatalog // a killed run leaves its catalog
	for _, text := range []string{drop, l.catalog(), "CREATE SCHEMA " + lakeSchema} {
		if err == nil {
			err = l.client.run(ctx, request{text: text})
		}
	}
	if err != nil {
		return nil, errors.Join(&fault.Error{
			Setting: d.shown, Problem: "accepts no catalog of an object store", Err: err,
			Cure: "use a server on this machine with catalog.management=dynamic in its config.properties, " +
				"as the lab's server has (`barograph lab up trino`)",
		}, l.close()) //nolint:contextcheck // also clean up after ctx has ended
	}
	return &tables.Lake{
		Table: l.table, Ask: l.ask, Close: l.close,
		Phrase: func(t *tables.LakeTable, q *question.Question, c *design.Catalog) (*archive.Query, error) {
			return sqlengine.PhraseLake(dialect(), lakeTable(t), t, q, c)
		},
	}, nil
}

// catalog returns the statement that creates the catalog. The server keeps it in a file of its
// configuration until it is dropped.
func (l *lakes) catalog() string {
	properties := [][2]string{
		{"hive.metastore", "file"},
		{"hive.metastore.catalog.dir", "local://" + l.home},
		{"fs.native-local.enabled", "true"},
		{"local.location", "/"},
		{"fs.native-s3.enabled", "true"},
		{"s3.endpoint", "http://" + l.store.Endpoint},
		{"s3.region", l.store.Region},
		{"s3.path-style-access", "true"},
		{"s3.aws-access-key", l.store.Key},
		{"s3.aws-secret-key", l.store.Secret},
		{"hive.security", "allow-all"},
	}
	all := flavour.Join(properties, ", ", func(p [2]string) string {
		return flavour.Ident(p[0]) + " = " + flavour.Quote(p[1])
	})
	return "CREATE CATALOG " + lakeCatalog + " USING hive WITH (" + all + ")"
}

// closeTimeout is how long a server may take to drop the catalog.
const closeTimeout = 30 * time.Second

// close drops the catalog, and with it the store's keys.
func (l *lakes) close() error {
	ctx, stop := context.WithTimeout(context.Background(), closeTimeout)
	defer stop()
	drop := request{text: "DROP CATALOG IF EXISTS " + lakeCatalog}
	return errors.Join(l.client.run(ctx, drop), os.RemoveAll(filepath.Dir(l.home)))
}

// lakeTable returns the name of a table, with catalog and schema.
func lakeTable(t *tables.LakeTable) string { return lakeSchema + "." + flavour.Ident(t.Name) }

// table creates an external table and finds its partitions.
func (l *lakes) table(ctx context.Context, t *tables.LakeTable) error {
	columns := flavour.Join(sqlengine.WideColumns(t.Type), ", ", func(c sqlengine.Column) string {
		return flavour.Ident(c.Name) + " " + lakeType(c.Type)
	})
	with := "format = 'PARQUET', external_location = " + flavour.Quote("s3://"+l.store.Bucket+"/"+t.Prefix)
	if t.Partition != tables.Unpartitioned {
		columns += ", " + tables.PartColumn + " varchar"
		with += ", partitioned_by = ARRAY[" + flavour.Quote(tables.PartColumn) + "]"
	}
	err := l.client.run(ctx, request{text: "CREATE TABLE " + lakeTable(t) + " (" + columns + ") WITH (" + with + ")"})
	if err == nil && t.Partition != tables.Unpartitioned {
		call := fmt.Sprintf("CALL %s.system.sync_partition_metadata('lake', %s, 'ADD')", lakeCatalog, flavour.Quote(t.Name))
		err = l.client.run(ctx, request{text: call})
	}
	return err
}

func lakeType(t sqlengine.Type) string {
	switch t {
	case sqlengine.Integer:
		return "integer"
	case sqlengine.BigInt:
		return "bigint"
	case sqlengine.Count, sqlengine.Double:
		return "double"
	case sqlengine.Timestamp:
		return "timestamp(3)"
	case sqlengine.Doubles:
		return "array(double)"
	case sqlengine.Text, sqlengine.Entries:
	}
	return "varchar"
}

// dialect is Trino's dialect.
func dialect() flavour.Dialect {
	return flavour.Dialect{
		Name:       "trino",
		NullsFirst: " NULLS FIRST",
		DateTime:   func(v int64) string { return "TIMESTAMP " + flavour.Quote(flavour.DateTime(v)) },
		Epoch:      func(e string) string { return "CAST(to_unixtime(" + e + ") AS BIGINT)" },
		Hour:       func(e string) string { return "hour(" + e + ")" },
	}
}

func (l *lakes) ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	d := sqlengine.NewResultDecoder(design.Wide, q, into)
	row := make([]any, len(q.Question.Columns))
	return l.client.run(ctx, request{text: q.Text, row: func(reply gjson.Result) error {
		all := reply.Array()
		if len(all) != len(row) {
			return fmt.Errorf("trino: the reply has %d columns, the query selects %d", len(all), len(row))
		}
		for k, v := range all {
			row[k] = lakeValue(q.Question.Columns[k].Kind, v)
		}
		return d.AddRow(row)
	}})
}

// lakeValue converts a value for sqlengine. Times have milliseconds, which are always zero.
func lakeValue(kind question.Kind, v gjson.Result) any {
	switch {
	case v.Type == gjson.Null:
		return nil
	case kind == question.Time && v.Type == gjson.String:
		return strings.TrimSuffix(v.Str, ".000")
	case kind == question.List:
		list := []float64{}
		for _, x := range v.Array() {
			list = append(list, x.Float()) // lists in files have no NULL
		}
		return list
	case v.Type == gjson.Number:
		return v.Raw
	}
	return v.String()
}
