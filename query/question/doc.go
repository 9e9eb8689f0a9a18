// Package question is what is asked of an archive, free of any language and of
// any database: a line type, header values, valid times, leads, columns and an
// order.
//
// The seven cases of NOAA's original experiment are YAML files in cases/; a
// user's own question is a file of the same form.
package question
