// Package tpcds makes the tables of the scan study: store_sales, date_dim and
// item of TPC-DS, as Parquet and as one collection of documents.
//
// There are two generators. Both are ports of dsdgen, the program of the TPC's kit.
//
//   - DuckDB's port is linked into its Go module, so nothing needs to be downloaded.
//     Its sales differ from those of the kit.
//   - tpcgen-cli (github.com/datafusion-contrib/tpcgen-rs) is a separate program,
//     which package lab installs. Its rows are those of the kit.
//
// A generator always makes the same rows for a scale factor, independent of the
// number of files. Package formats/tpcds reads the tables.
//
// DuckDB's port lacks the options -child and -table of dsdgen: one thread makes
// all 24 tables in a temporary database. Several threads write the files.
package tpcds
