// Package answer is what comes back: rows in canonical types and order.
//
// Reference computes the answer to a question straight from the parsed
// records, by no database. Compare holds an engine's answer against it, value
// by value, and makes the Proof, without which no time enters a
// run.
package answer
