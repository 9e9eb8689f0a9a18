// Package question represents a request for data, independent of any language and database: a line
// type, header values, valid times, leads, columns and an order.
//
// The folder cases contains the seven cases of NOAA's original experiment as YAML files. A user
// writes a question as a file of the same form.
package question
