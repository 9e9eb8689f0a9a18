// Package record is step 2 of the flow: what the files hold, free of any
// format and of any database.
//
// A record is one verification line: a Header that identifies the series
// (model, variable, level, vx_mask …), a forecast lead, times, and the columns
// of its line type. Records travel in a Batch, column by column, all of one
// line type and one file. The table of line types (Types) serves every parser,
// every schema and the documentation.
package record
