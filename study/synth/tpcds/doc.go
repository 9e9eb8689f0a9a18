// Package tpcds makes the tables of the analytical workload: store_sales,
// date_dim and item of TPC-DS, as Parquet and as one collection of documents.
//
// The rows are those of dsdgen, the generator of the TPC, in one of two ports.
// DuckDB's is linked by its Go module, so that nothing is fetched; its sales are
// not those of the TPC's kit. tpcgen-cli (github.com/datafusion-contrib/tpcgen-rs)
// makes the kit's, and is a program of its own. A scale factor always gives a
// generator's same rows, in however many files. It neighbours package
// formats/tpcds, which reads what it writes, and package lab, which brings the
// program.
//
// DuckDB's port has neither dsdgen's -child nor its -table: one thread makes all
// 24 tables, into a database that is removed. Files are written by several.
package tpcds
