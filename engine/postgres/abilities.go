package postgres

import (
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
)

// offered lists what a database can do besides archives.
func offered() []any {
	layouts := []kv.Layout{kv.Columns, kv.Document, kv.Hash, kv.Array, kv.ArrayIndex}
	return []any{
		kv.Offer{Layouts: layouts, Transactions: kv.IsolationLevels(), OwnDDL: true},
		posts.Offer{Methods: postMethods()},
		tables.Offer{tables.OwnTables, tables.StarOverDisks},
	}
}

// abilities returns the abilities of an open database.
func (db *database) abilities() []any {
	return []any{kvTables{db}, postTables{db}, &tables.Databases{Star: scans{db}, Own: db.openOwn}}
}
