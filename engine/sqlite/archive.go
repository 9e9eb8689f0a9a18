package sqlite

import (
	"context"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
)

// archive is the file under one design.
type archive struct {
	*sqlengine.Archive
	db *database
}

// allTables are the tables of all subsets.
const allTables = "SELECT name FROM sqlite_schema WHERE type = 'table'"

// Open opens the archive under a design.
func (d *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if err := sqlengine.Offered(Driver(), n); err != nil {
		return nil, err
	}
	a := &archive{db: d}
	a.Archive = &sqlengine.Archive{
		Driver: Driver, Design: n, Dialect: dialect(), Pool: sqlengine.Standard{Over: d.pool},
		Homes: allTables,
		Subset: func(_ context.Context, home string) (string, bool, error) {
			s, ok := tableSubset(home, a.OwnName(sqlengine.CatalogTable))
			return s, ok, nil
		},
		Tables:  func(string) (string, []any) { return allTables, nil },
		Name:    tableName,
		Entries: func(data string) string { return "json(" + data + ")" },
		CountDocs: func(from string) string {
			return "SELECT count(*), coalesce(sum(json_array_length(data)), 0) FROM " + from
		},
		Join: "CROSS JOIN", // keeps to the order of the table of lines
	}
	return engine.Explained(a, d.explain), nil
}

// Size is that of the file, whatever its designs.
func (a *archive) Size(ctx context.Context) (int64, error) { return a.db.size(ctx) }

// Check has SQLite walk every page that is in use, whose checksums are compared
// as they are read.
func (a *archive) Check(ctx context.Context, _ string) ([]string, error) {
	said, err := sqlengine.Texts(ctx, a.Pool, "PRAGMA quick_check")
	if err != nil || len(said) == 1 && said[0] == "ok" {
		return nil, err
	}
	return said, nil
}
