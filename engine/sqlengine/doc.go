// Package sqlengine contains the code that SQL engines share: the columns of their tables as
// data, the statements that create the tables, and the decoding of rows into answers and
// records. It depends on no engine and no driver.
//
// The tables are those of the designs normalized, wide and document. An engine adds the
// names of its types, the names of a subset's tables and its bulk load.
package sqlengine
