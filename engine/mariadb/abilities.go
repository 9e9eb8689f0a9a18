package mariadb

import (
	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
)

// offered lists what a server can do besides archives.
func offered() []any {
	return []any{
		kv.Offer{Layouts: []kv.Layout{kv.Columns, kv.Document, kv.Hash}, Transactions: kv.IsolationLevels(), OwnDDL: true},
		posts.Offer{Methods: postMethods()},
		tables.Offer{tables.OwnTables, tables.StarOverDisks},
	}
}

// abilities returns the abilities of an open server. They open their own connections with c.
func (d *database) abilities(configs []*mysql.Config) []any {
	return []any{kvTables{d, configs}, postTables{d, configs}, &tables.Databases{Star: scans{d}, Own: d.openOwn(configs)}}
}
