package clickhouse

import "github.com/barograph/barograph/engine/tables"

// offers lists what a database can do besides archives.
func offers() []any {
	return []any{tables.Offer{tables.OwnTables, tables.StarOverDisks, tables.ObjectStore}}
}

// abilities returns the abilities of an open database.
func (d *database) abilities() []any {
	return []any{&tables.Databases{Star: scans{d}, Own: d.openOwn, Lake: d.lake}}
}
