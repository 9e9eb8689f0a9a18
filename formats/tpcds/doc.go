// Package tpcds reads tables of TPC-DS from Parquet files, for the analytical study. Its three
// tables are those of query 3's star schema.
//
// Columns, their order and their types follow the specification of the TPC Benchmark DS, clauses
// 2.3 and 2.4. It reads DECIMAL(7,2) as hundredths, and DATE as days since 1970-01-01. Package
// study/synth/tpcds writes such files.
package tpcds
