package clickhouse

import (
	"context"
	"errors"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// lakeDatabase contains the tables of a store's files. It is dropped at the end, because it contains the store's keys.
const lakeDatabase = "barograph_lake"

// lakeSettings turn off caches of files, because a measured query must read the files, and shorten the retries: by
// default ClickHouse tries 500 times if a store is down.
const lakeSettings = "SET use_parquet_metadata_cache = 0, use_query_condition_cache = 0, use_cache_for_count_from_files = 0, " +
	"s3_retry_attempts = 3, s3_max_single_read_retries = 3"

// lakeTables are tables of Parquet files in a store.
type lakeTables struct {
	*pool
	store launch.Store
}

func (d *database) lake(ctx context.Context, s launch.Store) (*tables.Lake, error) {
	err := d.Exec(ctx, "DROP DATABASE IF EXISTS "+lakeDatabase)
	if err != nil {
		return nil, err
	}
	p, err := d.separateDatabase(ctx, lakeDatabase, lakeSettings)
	if err != nil {
		return nil, err
	}
	l := &lakeTables{p, s}
	return &tables.Lake{
		Table: l.table,
		Phrase: func(t *tables.LakeTable, q *question.Question, c *design.Catalog) (*archive.Query, error) {
			return sqlengine.PhraseLake(*dialect(), ident(t.Name), t, q, c)
		},
		Ask: func(ctx context.Context, q *archive.Query, into *answer.Builder) error {
			return l.Rows(ctx, q.Text, nil, sqlengine.NewResultDecoder(design.Wide, q, into).AddRow)
		},
		Close: func() error {
			return errors.Join(l.close(), d.Exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+lakeDatabase))
		},
	}, nil
}

// table creates a table of the files. Each query lists the files again.
func (l *lakeTables) table(ctx context.Context, t *tables.LakeTable) error {
	columns := flavour.Join(sqlengine.WideColumns(t.Type), ", ", func(c sqlengine.Column) string {
		return ident(c.Name) + " " + typeName(c, t.Type)
	})
	files := "*.parquet"
	if t.Partition != tables.Unpartitioned {
		columns, files = columns+", "+tables.PartColumn+" String", "*/*.parquet"
	}
	address := "http://" + l.store.Endpoint + "/" + l.store.Bucket + "/" + t.Prefix + files
	return l.Exec(ctx, "CREATE TABLE "+ident(t.Name)+" ("+columns+") ENGINE = S3("+quote(address)+", "+
		quote(l.store.Key)+", "+quote(l.store.Secret)+", 'Parquet')")
}
