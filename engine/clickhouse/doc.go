// Package clickhouse keeps verification records in ClickHouse: in a folder,
// through chDB's library, or in a server. docs/clickhouse.md tells how to have it.
//
// The library runs in a process of its own for each archive (host.c, host.go):
// it takes one folder a process, brings its own handlers of signals and its own
// allocator, and a fault of it is then no fault of Barograph's. Rows travel in
// ClickHouse's Native blocks, which github.com/ClickHouse/ch-go encodes, to the
// process over a socket as to a server over the network (server.go).
//
// Tables stand in the database barograph and are named subset/table. All are
// MergeTree tables, sorted by what questions ask for:
//
//   - wide: a row per record, by variable, level, region, model, valid time, lead;
//   - normalized: METviewer's tables, the lines by header, valid time and lead;
//   - document: a row per header and valid time under the derived id, by which
//     the table is sorted in granules of 256 rows; the entries are a list of
//     tuples, each member a column of its own, asked for by ARRAY JOIN.
//
// ClickHouse has no transactions. A commit (commit.go) writes into copies of the
// tables that it changes, which share their files with them (CLONE AS) and are
// seen by nobody; then one row of barograph_commits names these tables, and with
// it the commit is decided; then each copy changes places with its table. A copy
// tells its commit in its comment. So opening an archive after a kill ends what
// was decided, and drops the copies of what was not: docs/clickhouse.md tells what
// is flushed when. A question meets one moment of the archive, as the places are
// changed while none begins.
//
// Records under keys and posted values are not offered: ClickHouse would store
// each write as a part of its own.
package clickhouse
