// Package all is the only list of engines. Nothing registers itself: the program contains only the engines
// in this list.
package all

import (
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/asterixdb"
	"github.com/barograph/barograph/engine/bbolt"
	"github.com/barograph/barograph/engine/cassandra"
	"github.com/barograph/barograph/engine/clickhouse"
	"github.com/barograph/barograph/engine/couchbase"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/mongodb"
	"github.com/barograph/barograph/engine/oracle"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/engine/trino"
	"github.com/barograph/barograph/engine/valkey"
)

// Registry lists every engine, in the order of a report's tables: first dry for the client overhead, then
// the embedded engines, then servers.
func Registry() engine.Registry {
	return engine.Registry{
		dry.Driver(), duckdb.Driver(), sqlite.Driver(), pebble.Driver(), bbolt.Driver(), mariadb.Driver(), postgres.Driver(),
		asterixdb.Driver(), mongodb.Driver(), couchbase.Driver(), cassandra.Driver(), valkey.Driver(), oracle.Driver(), trino.Driver(),
		clickhouse.Driver(),
	}
}
