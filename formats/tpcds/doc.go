// Package tpcds reads tables of TPC-DS from Parquet files: step 1 of the flow
// for the analytical workload. Its three tables are those of query 3's star.
//
// Columns, their order and their types are those of the specification of the
// TPC Benchmark DS, clauses 2.3 and 2.4. DECIMAL(7,2) is read as hundredths, a
// DATE as days since 1970-01-01. Package study/synth/tpcds writes such files.
package tpcds
