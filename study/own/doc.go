// Package own runs a user's own SQL queries on the user's own tables in several
// engines. DuckDB also runs every query on the files, and each engine must
// return the same result. The report calls this degree of proof "engines agree",
// because a database (DuckDB) also computes the reference.
package own
