// Package postgres keeps archives in PostgreSQL, a server.
//
// A subset is a schema, so that one database holds any number of them and
// METviewer's tables keep their names. Designs:
//
//   - normalized: METviewer's stat_header, data_file and line_data_<type>, with
//     its column names and its index of headers; VARCHAR(n) is text, as
//     PostgreSQL stores both alike and a long value must not be cut, DATETIME
//     is timestamp, counts are double precision, as in records. The index of
//     a line table holds the valid time behind METviewer's stat_header_id.
//   - document: one row per header and valid time under the derived id, with
//     the header's fields and the times as columns and the entries as JSONB.
//   - wide: one row per record with the header's fields in it, and a B-tree
//     over series and time, or a BRIN over time (?wide_index=brin).
//
// Tables of documents and wide tables may be divided by hash or by valid time
// (?partitions=), and spread over tablespaces (?tablespaces=); schema.go is
// for other workloads, too. There is no GIN index: docs/decisions/0005-postgres.md.
//
// Explain reads how rows are reached from EXPLAIN (ANALYZE, FORMAT JSON); the
// server's own time stands in the plan and not in Query.Server.
//
// Text compares bytewise (COLLATE "C") in every column, whatever the
// database's own collation.
//
// Loading is binary COPY, encoded straight from the batches. A commit is one
// transaction that first locks the subset's catalog row: loaders of one subset
// take turns, commit by commit, so that ids cannot be given twice and a record
// is replaced exactly, while loaders of other subsets go on. Records that the
// catalog rules out are copied without a look at the tables; the others are
// staged in a temporary table and joined by identity, or, as documents, fetched
// by id and merged. synchronous_commit is on for every session.
//
// The star of the analytical workload is store_sales divided by hash over
// tablespaces on the paths of a placement; a question uses so many parallel
// workers: docs/scan.md.
//
// Connections are pgx's; standard settings (PGPASSWORD, ~/.pgpass, sslmode)
// apply. Passwords are never printed.
package postgres
