// Package query contains no code. Its subfolders deal with questions and their answers:
//
//	question    a request for data: times, fields, statistic, drawing; YAML and plot XML
//	flavour     writes a question as text in a dialect, without knowing any engine
//	answer      the result of a question, the reference, and the comparison of both
//	export      writes an answer as a table, CSV, JSON or Parquet
//
// These packages may import record, stat and formats, and archive/design for the text of a design.
// Test with: go test ./query/...
package query
