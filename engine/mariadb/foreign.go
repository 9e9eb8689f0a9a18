package mariadb

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
)

// stranger is the catalog of a database that another program has filled, made
// by reading it, and when its tables were changed last.
type stranger struct {
	catalog *design.Catalog
	changed string
}

// foreign is the catalog of a database that METdbLoad has filled: it is asked
// as it is. It is read whole for that, once, and again when a table has changed.
func (a *openArchive) foreign(ctx context.Context, subset string) (*design.Catalog, error) {
	changed, err := sqlengine.Texts(ctx, a.Pool, "SELECT COALESCE(MAX(update_time), '') FROM information_schema.tables WHERE table_schema = ?", a.database(subset))
	if err != nil {
		return nil, err
	}
	if known, ok := a.strange.Load(subset); ok && known.(stranger).changed == changed[0] && changed[0] != "" { //nolint:forcetypeassert // only such are stored
		return known.(stranger).catalog, nil //nolint:forcetypeassert // as above
	}
	c, err := a.walk(ctx, subset)
	if absent(err) { // an empty database, or none
		return design.NewCatalog(subset), nil
	}
	if err != nil {
		return nil, err
	}
	c.Foreign = true
	a.strange.Store(subset, stranger{c, changed[0]})
	return c, nil
}

// walk makes the catalog of all that a subset holds.
func (a *openArchive) walk(ctx context.Context, subset string) (*design.Catalog, error) {
	c := design.NewCatalog(subset)
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return nil, err
		}
		c.Add(b)
	}
	return c, nil
}
