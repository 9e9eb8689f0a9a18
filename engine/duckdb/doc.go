// Package duckdb keeps verification archives in DuckDB, a columnar database
// inside Barograph's own process.
//
// It speaks DuckDB's C interface through the driver's own bindings, chunk by
// chunk: columns are copied from a record.Batch into DuckDB's vectors and from
// them into an answer.Builder, without a value per cell in between. Why, and
// how documents are kept, is in docs/decisions/0004-duckdb-documents.md.
//
// A subset is a schema of the file. Each design has its own tables in it, and
// its own catalog and marks, so that one file may hold several designs.
package duckdb
