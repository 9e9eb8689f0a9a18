package sqlite

import (
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
)

// offered is what a database can hold besides archives.
func offered() []any {
	return []any{
		kv.Offer{Layouts: []kv.Layout{kv.Columns, kv.Document, kv.Clustered}, Transactions: []kv.IsolationLevel{kv.Serializable}},
		posts.Offer{Methods: postMethods()},
		tables.Offer{tables.OwnTables},
	}
}

// abilities are those of an open database.
func (d *database) abilities() []any {
	return []any{kvTables{d}, postTables{d}, &tables.Databases{Own: d.own}}
}
