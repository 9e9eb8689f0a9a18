// Package dry is an engine without a database. It stores the records in memory, computes the answer when a question is
// phrased, and replays it, row by row, when the question is asked. Its time is the client's own cost, which reports
// show as the client overhead.
//
// It merges and replaces as every archive does and passes the same conformance suite, but its records end with its
// Engine.
package dry
