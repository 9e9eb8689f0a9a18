package trino

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
)

// lakeCatalog is the catalog of a store's files, made when a lake is opened and
// dropped when it is closed. It knows the store by Trino's own file system for S3.
const lakeCatalog = "barograph_lake"

// lakes are external tables of files on a store.
type lakes struct {
	*database
	store    engine.Store
	metadata string // folder of the tables' descriptions, on this machine
}

// lake makes the catalog. The server must be one of this machine, as the lab's is:
// what it knows of tables lies in a folder here.
func (d *database) lake(ctx context.Context, s engine.Store) (*engine.Lake, error) {
	dir, err := os.MkdirTemp("", "barograph-trino-lake-")
	if err != nil {
		return nil, err
	}
	l := &lakes{d, s, dir}
	for _, text := range []string{
		"DROP CATALOG IF EXISTS " + lakeCatalog, // of a run that was killed
		createCatalog(lakeCatalog, [][2]string{
			{"hive.metastore", "file"},
			{"hive.metastore.catalog.dir", "local://" + dir},
			{"fs.native-local.enabled", "true"},
			{"local.location", "/"},
			{"fs.native-s3.enabled", "true"},
			{"s3.endpoint", "http://" + s.Endpoint},
			{"s3.region", s.Region},
			{"s3.path-style-access", "true"},
			{"s3.aws-access-key", s.Key},
			{"s3.aws-secret-key", s.Secret},
			{"hive.security", "allow-all"},
		}),
		"CREATE SCHEMA " + lakeCatalog + ".lake",
	} {
		if err := d.client.run(ctx, request{text: text}); err != nil {
			return nil, errors.Join(&fault.Error{Setting: d.shown, Problem: "takes no catalog of an object store", Err: err, Cure: "set catalog.management=dynamic in its config.properties, as the lab does (`barograph lab up trino`)"}, os.RemoveAll(dir))
		}
	}
	return &engine.Lake{Table: l.table, Phrase: l.phrase, Ask: l.ask, Close: l.close}, nil
}

func (l *lakes) close() error {
	return errors.Join(l.client.run(context.Background(), request{text: "DROP CATALOG IF EXISTS " + lakeCatalog}), os.RemoveAll(l.metadata))
}

func lakeTable(t *engine.LakeTable) string { return lakeCatalog + ".lake." + flavour.Ident(t.Name) }

// table makes an external table, and finds its partitions.
func (l *lakes) table(ctx context.Context, t *engine.LakeTable) error {
	columns := flavour.Join(sqlengine.WideColumns(t.Type), ", ", func(c sqlengine.Column) string { return flavour.Ident(c.Name) + " " + lakeType(c.Type) })
	with := "format = 'PARQUET', external_location = " + flavour.Quote("s3://"+l.store.Bucket+"/"+t.Prefix)
	if t.Partition != engine.Unparted {
		columns += ", " + engine.PartColumn + " varchar"
		with += ", partitioned_by = ARRAY[" + flavour.Quote(engine.PartColumn) + "]"
	}
	err := l.client.run(ctx, request{text: "CREATE TABLE " + lakeTable(t) + " (" + columns + ") WITH (" + with + ")"})
	if err == nil && t.Partition != engine.Unparted {
		err = l.client.run(ctx, request{text: fmt.Sprintf("CALL %s.system.sync_partition_metadata('lake', %s, 'ADD')", lakeCatalog, flavour.Quote(t.Name))})
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

func (l *lakes) phrase(t *engine.LakeTable, q *question.Question, c *design.Catalog) (*engine.Query, error) {
	return sqlengine.PhraseLake(flavour.Dialect{
		Name:       "trino",
		NullsFirst: " NULLS FIRST",
		DateTime:   func(v int64) string { return "TIMESTAMP " + flavour.Quote(flavour.DateTime(v)) },
		Epoch:      func(e string) string { return "CAST(to_unixtime(" + e + ") AS BIGINT)" },
		Hour:       func(e string) string { return "hour(" + e + ")" },
	}, lakeTable(t), t, q, c)
}

func (l *lakes) ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	d := sqlengine.NewDecoder(design.Wide, q, into)
	row := make([]any, len(q.Question.Columns))
	return l.client.run(ctx, request{text: q.Text, row: func(got gjson.Result) error {
		all := got.Array()
		if len(all) != len(row) {
			return fmt.Errorf("trino: %d columns came, %d were asked for", len(all), len(row))
		}
		for k, v := range all {
			row[k] = lakeValue(q.Question.Columns[k].Kind, v)
		}
		return d.Values(row)
	}})
}

// lakeValue is a value as sqlengine takes it. Times come with thousandths, which are none.
func lakeValue(kind question.Kind, v gjson.Result) any {
	switch {
	case v.Type == gjson.Null:
		return nil
	case kind == question.Time && v.Type == gjson.String:
		return strings.TrimSuffix(v.Str, ".000")
	case kind == question.List:
		list := []float64{}
		for _, x := range v.Array() {
			list = append(list, x.Float()) // a file has no NULL in a list
		}
		return list
	case v.Type == gjson.Number:
		return v.Raw
	}
	return v.String()
}
