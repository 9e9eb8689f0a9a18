package mariadb

import (
	"context"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
)

// foreignCatalog is the catalog of a database that another program has filled, computed by reading it,
// and the time of the last change of its tables.
type foreignCatalog struct {
	catalog *design.Catalog
	changed string
}

// foreign returns the catalog of a database that METdbLoad has filled. Barograph queries such a database without
// changes. It reads the complete database once, and again after a table has changed. update_time counts seconds: a
// catalog that was read up to two seconds after a change may lack later changes, and is not kept.
func (a *openArchive) foreign(ctx context.Context, subset string) (*design.Catalog, error) {
	const text = "SELECT IF(MAX(update_time) < NOW() - INTERVAL 1 SECOND, MAX(update_time), '') " +
		"FROM information_schema.tables WHERE table_schema = ?"
	changed, err := sqlengine.QueryTexts(ctx, a.Pool, text, a.database(subset))
	if err != nil {
		return nil, err
	}
	known, _ := a.foreignCatalogs.Load(subset)
	if f, ok := known.(foreignCatalog); ok && f.changed == changed[0] && f.changed != "" {
		return f.catalog, nil
	}
	c, err := archive.BuildCatalog(ctx, a, subset)
	if absent(err) { // the database is empty or does not exist
		return design.NewCatalog(subset), nil
	}
	if err != nil {
		return nil, err
	}
	c.AdoptedOnly = true
	a.foreignCatalogs.Store(subset, foreignCatalog{c, changed[0]})
	return c, nil
}
