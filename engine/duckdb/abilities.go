package duckdb

import (
	"context"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
)

// offered lists what a database can do besides archives.
func offered() []any {
	return []any{
		kv.Offer{Layouts: []kv.Layout{kv.Columns, kv.Document}, Transactions: []kv.IsolationLevel{kv.RepeatableRead}},
		posts.Offer{Methods: postMethods()},
		tables.Offer{tables.OwnTables, tables.StarOverDisks, tables.ObjectStore},
	}
}

// abilities returns the abilities of an open database.
func (db *database) abilities(file string, settings map[string]string) []any {
	return []any{kvTables{db}, postTables{db}, &tables.Databases{Star: scans{db}, Own: openOwn(file, settings), Lake: lake}}
}

// opener opens the database in this process at its first call.
type opener func() (*engine.Engine, error)

// lazily returns the abilities of a database whose archives another process reads.
func lazily(open opener) []any { return []any{lazyTables{open}, lazyPosts{open}} }

type lazyTables struct{ open opener }

func (l lazyTables) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	e, err := l.open()
	if err != nil {
		return nil, err
	}
	return kv.DatabaseOf(e).Table(ctx, t)
}

type lazyPosts struct{ open opener }

func (l lazyPosts) Open(ctx context.Context, t posts.Tables) (*posts.Store, error) {
	e, err := l.open()
	if err != nil {
		return nil, err
	}
	return posts.DatabaseOf(e).Open(ctx, t)
}
