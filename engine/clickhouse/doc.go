// Package clickhouse stores verification records in ClickHouse, in a folder, through chDB's library.
// docs/reference/engines/clickhouse.md describes the installation.
//
// The library runs in a separate process for each archive (host_linux.c, host.go). It allows one folder per
// process, has its own signal handlers and its own allocator, and its crash does not affect Barograph. Rows
// travel to the process over a socket in ClickHouse's Native blocks, which github.com/ClickHouse/ch-go
// encodes.
//
// Tables are in the database barograph and are named subset/table. All are MergeTree tables, sorted by the
// columns that questions select:
//
//   - wide: a row per record, by variable, level, region, model, valid time, lead;
//   - normalized: METviewer's tables, the lines by header, valid time and lead;
//   - document: a row per header and valid time, sorted by the derived id in granules of 256 rows; the entries
//     are a list of tuples, each member is a column, and ARRAY JOIN selects them.
//
// ClickHouse has no transactions. A commit (commit.go) writes into copies of the tables that it changes.
// The copies share files with the tables (CLONE AS), and nobody reads them. One row of barograph_commits
// then names these tables; this row decides the commit. Afterwards each copy replaces its table. A copy
// names its commit in its comment. Opening an archive after a kill completes a decided commit and drops
// the copies of others; docs/decisions/0013-how-engines-store.md says what is flushed when. A query sees one
// state of the archive, because no query starts while tables are replaced.
//
// Records under keys and posts are not offered: ClickHouse would store each write as a separate part.
package clickhouse
