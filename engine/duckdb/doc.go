// Package duckdb stores verification archives in DuckDB, a columnar database inside Barograph's
// own process.
//
// It uses DuckDB's C interface through the driver's own bindings, chunk by chunk: it copies
// columns from a record.Batch to DuckDB's vectors, and from vectors to an answer.Builder, without
// an interface value for each cell. docs/decisions/0004-duckdb-documents.md gives the reasons and
// the layout of documents.
//
// A subset is a schema of the file. Each design has its own tables, catalog and marks in it; one
// file may contain several designs.
package duckdb
