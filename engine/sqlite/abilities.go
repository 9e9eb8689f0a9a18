package sqlite

import (
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
)

// offered lists what a database can do besides archives.
func offered() []any {
	return []any{
		kv.Offer{
			Layouts:      []kv.Layout{kv.Columns, kv.Document, kv.Clustered},
			Transactions: []kv.IsolationLevel{kv.Serializable},
		},
		posts.Offer{Methods: postMethods()},
		tables.Offer{tables.OwnTables},
	}
}

// abilities returns the abilities of an open database.
func (d *database) abilities() []any {
	return []any{kvTables{d}, postTables{d}, &tables.Databases{Own: d.openOwn}}
}
