// Package tpcds makes the tables of the scan study: store_sales, date_dim and
// item of TPC-DS, as Parquet and as one collection of documents.
//
// The rows are those of dsdgen, the TPC's generator, in one of two ports.
// DuckDB's port is linked into its Go module, so nothing needs to be downloaded;
// its sales differ from those of the TPC's kit. tpcgen-cli
// (github.com/datafusion-contrib/tpcgen-rs), a separate program, makes the rows
// of the kit. A generator always makes the same rows for a scale factor,
// independent of the number of files. Package formats/tpcds reads the tables,
// and package lab installs tpcgen-cli.
//
// DuckDB's port lacks the options -child and -table of dsdgen: one thread makes
// all 24 tables in a temporary database. Several threads write the files.
package tpcds
