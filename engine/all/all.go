// Package all is the only list of engines. Nothing registers itself: what is
// not named here is not in the program.
package all

import (
	"barograph/engine"
	"barograph/engine/asterixdb"
	"barograph/engine/cassandra"
	"barograph/engine/couchbase"
	"barograph/engine/dry"
	"barograph/engine/duckdb"
	"barograph/engine/mariadb"
	"barograph/engine/mongodb"
	"barograph/engine/oracle"
	"barograph/engine/pebble"
	"barograph/engine/postgres"
	"barograph/engine/sqlite"
	"barograph/engine/trino"
	"barograph/engine/valkey"
)

// Registry lists every engine, in the order of the tables of a report: the
// client's floor first, then what runs in this process, then servers.
func Registry() engine.Registry {
	return engine.Registry{
		dry.Driver(), duckdb.Driver(), sqlite.Driver(), pebble.Driver(), mariadb.Driver(), postgres.Driver(),
		asterixdb.Driver(), mongodb.Driver(), couchbase.Driver(), cassandra.Driver(), valkey.Driver(), oracle.Driver(), trino.Driver(),
	}
}
