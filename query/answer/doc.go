// Package answer represents the result of a question: rows in canonical types and order.
//
// Reference computes the expected answer from the parsed records, without a database. Compare
// checks an engine's answer against it, value by value, and returns a Proof. A run stores a time
// only together with a Proof.
package answer
