// Package postgres stores archives in PostgreSQL, a server.
//
// A subset is a schema. One database therefore contains any number of subsets, and
// METviewer's tables keep their names. Designs:
//
//   - normalized: METviewer's stat_header, data_file and line_data_<type>, with its column
//     names and its index of headers. VARCHAR(n) is text, because PostgreSQL stores both
//     alike and must not cut a long value. DATETIME is timestamp. Counts are double
//     precision, as in records. The index of a line table contains the valid time after
//     METviewer's stat_header_id.
//   - document: one row per header and valid time, keyed by the derived id, with the header's
//     fields and the times as columns and the entries as JSONB.
//   - wide: one row per record including the header's fields, with a B-tree over series and
//     time, or a BRIN over time (?wide_index=brin).
//
// Tables of documents and wide tables may be partitioned by hash or by valid time
// (?partitions=), and spread over tablespaces (?tablespaces=). There is no GIN index:
// docs/decisions/0005-postgres.md.
//
// Explain reads the accesses from EXPLAIN (ANALYZE, FORMAT JSON). The server's own time is in the plan, not in
// archive.Query.ServerTime.
//
// Text compares bytewise (COLLATE "C") in every column, independent of the database's own
// collation.
//
// A load uses binary COPY, encoded directly from the batches. A commit is one transaction,
// which first locks the subset's catalog row. Loaders of one subset take turns, one commit
// after the other, which prevents duplicate ids and lets a commit replace exactly the
// existing records. Loaders of other subsets are not affected. Records that are new
// according to the catalog are copied without a query. The others are staged in a temporary
// table and joined by identity, or, as documents, fetched by id and merged.
// synchronous_commit is on in every session, unless the URL has the parameter of that name. Each session also sets
// what a server, database or role may set otherwise: the isolation level, the quoting of literals, and the digits of
// numbers as texts.
//
// The star of the study scan is store_sales, hash-partitioned over tablespaces on the paths of
// a placement. A query uses the placement's number of parallel workers: docs/reference/scan.md.
//
// Connections use pgx; standard settings (PGPASSWORD, ~/.pgpass, sslmode) apply. Passwords are
// never printed.
package postgres
