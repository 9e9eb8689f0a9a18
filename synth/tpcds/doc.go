// Package tpcds makes the tables of the analytical workload: store_sales,
// date_dim and item of TPC-DS, as Parquet and as one collection of documents.
//
// The rows are those of dsdgen, the generator of the TPC, in the port that
// DuckDB keeps and that its Go module links; nothing is fetched. A scale factor
// always gives the same rows, in however many files. It neighbours package
// formats/tpcds, which reads what it writes.
//
// The port has neither dsdgen's -child nor its -table: one thread makes all 24
// tables, into a database that is removed. Files are written by several.
package tpcds
