// Package own asks a user's own questions, put in SQL, of the user's own tables
// in several engines. What an engine answers is proven by another one of
// different code that answers alike; DuckDB, over the files, is always one of
// them. It is a degree of proof of its own: nothing here knows the right answer
// but by way of a database.
package own
