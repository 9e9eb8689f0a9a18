// Package dry is an engine without a database. It stores the records in memory, computes the answer when a question is
// phrased, and copies it, row by row, when the query is sent. Its time is the client's own cost, which reports show as
// the client overhead.
//
// It merges and replaces records as every archive does, and passes the same conformance suite, but it loses the records
// when its Engine is closed.
package dry
