// Package query has no code of its own. Its folders are about questions and
// their answers:
//
//	question    what is asked: times, fields, statistic, drawing; YAML, plot XML
//	flavour     a question as text of a dialect, without knowing any engine
//	answer      what comes back; the reference, from records alone; comparison
//	export      an answer as table, CSV, JSON or Parquet
//
// They may import record, stat and formats, and archive/design for the text of
// a design. Test with: go test ./query/...
package query
