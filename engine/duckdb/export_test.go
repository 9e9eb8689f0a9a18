package duckdb

// CheckFile is checkFile, which reads a file that DuckDB need not be able to open.
var CheckFile = checkFile
