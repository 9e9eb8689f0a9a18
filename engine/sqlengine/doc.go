// Package sqlengine is what SQL engines share: the columns of their tables as
// data, the statements that make those tables, and the decoding of rows into
// answers and records. It knows no engine and no driver.
//
// The tables are those of design's normalized, wide and document designs. An
// engine brings its names of types, its way of naming a subset's tables and
// its way of loading; everything else it takes from here.
package sqlengine
