// Package record represents the content of the files, independent of any format and any database.
//
// A record is one verification line: a Header that identifies the series (model, variable, level,
// vx_mask …), a forecast lead, times, and the columns of its line type. Records travel in a Batch,
// column by column. All records of a batch have one line type and come from one file. Every parser,
// every schema and the documentation use the same table of line types (Types).
package record
