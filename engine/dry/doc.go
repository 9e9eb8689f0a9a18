// Package dry is an engine without a database: it keeps the records in memory,
// computes the answer when a question is phrased, and replays it, row by row,
// when the question is asked. What it takes is what the client itself costs, so
// it stands in every table as the floor.
//
// It merges and replaces as every archive does and passes the same conformance
// suite, but nothing of it outlives its Engine.
package dry
