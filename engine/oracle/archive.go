package oracle

import (
	"context"
	"slices"
	"strings"
	"time"

	goora "github.com/sijms/go-ora/v2"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
)

// archive is the schema under one design.
type archive struct {
	*sqlengine.Archive
	db *database
}

// allTables are the user's tables.
const allTables = "SELECT table_name FROM user_tables"

// Open opens the archive under a design.
func (db *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if err := sqlengine.Offered(Driver(), n); err != nil {
		return nil, err
	}
	return newArchive(db, n), nil
}

func newArchive(db *database, n design.Name) *archive {
	a := &archive{db: db}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: querier{sqlengine.Standard{Over: db.pool}}, Param: ":1",
		Homes: allTables, Subset: a.subset,
		Tables: func(string) (string, []any) { return allTables, nil },
		Name:   objectName,
		CountDocs: func(from string) string {
			return "SELECT (SELECT COUNT(*) FROM " + from + "), (SELECT COUNT(*) FROM " + from +
				" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead')) d) FROM DUAL"
		},
	}
	return a
}

// subset reads whose catalog a table is: its name may be a subset's cut short.
func (a *archive) subset(ctx context.Context, table string) (string, bool, error) {
	if !strings.HasSuffix(table, "/"+a.OwnName(sqlengine.CatalogTable)) {
		return "", false, nil
	}
	names, err := sqlengine.Texts(ctx, a.Pool, "SELECT subset FROM "+flavour.Ident(table))
	if err != nil || len(names) == 0 { // made a moment ago
		return "", false, err
	}
	return names[0], true, nil
}

// Size counts the segments of this design's tables in all subsets, with their
// indexes and LOBs.
func (a *archive) Size(ctx context.Context) (int64, error) {
	tables := "table_name LIKE '%/doc!_%' ESCAPE '!'"
	if a.Design == design.Normalized {
		tables = "table_name LIKE '%/line!_data!_%' ESCAPE '!' OR table_name LIKE '%/stat!_header' ESCAPE '!' OR table_name LIKE '%/data!_file' ESCAPE '!'"
	}
	tables = "(" + tables + " OR table_name LIKE '%/barograph!_" + string(a.Design) + "!_%' ESCAPE '!')"
	return sqlengine.Number(ctx, a.Pool, "SELECT SUM(bytes) FROM user_segments WHERE segment_name IN (SELECT table_name FROM user_tables WHERE "+tables+
		" UNION ALL SELECT index_name FROM user_indexes WHERE "+tables+" UNION ALL SELECT segment_name FROM user_lobs WHERE "+tables+")")
}

// querier is a Querier of the driver's types.
type querier struct{ sqlengine.Standard }

// Exec carries out a statement.
func (q querier) Exec(ctx context.Context, text string, args ...any) error {
	return q.Standard.Exec(ctx, text, arguments(args)...)
}

// Rows gives each row to f.
func (q querier) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	return q.Standard.Rows(ctx, text, arguments(args), func(row []any) error {
		for k, v := range row {
			row[k] = canonical(v)
		}
		return f(row)
	})
}

// arguments are those of a query as the driver takes them: a list of ids may be
// longer than Oracle lets a text or RAW be.
func arguments(args []any) []any {
	out := slices.Clone(args)
	for i, v := range out {
		if text, ok := v.([]byte); ok {
			out[i] = goora.Blob{Data: text, Valid: true}
		}
	}
	return out
}

// canonical is a value as sqlengine takes it: a TIMESTAMP, which has no zone,
// comes in some zone of the driver's.
func canonical(v any) any {
	if t, ok := v.(time.Time); ok {
		return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
	}
	return v
}
