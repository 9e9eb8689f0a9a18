package duckdb

// CheckFile is checkFile, which reads a file that DuckDB need not be able to open.
var CheckFile = checkFile

// SliceRows is the number of rows that Each reads with one statement.
const SliceRows = sliceRows
