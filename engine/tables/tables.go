package tables

import (
	"context"
	"regexp"
	"strings"

	"github.com/barograph/barograph/engine"
)

// Tables manages a set of tables of any schema and runs queries in the engine's own SQL. The
// tables are separate from all other data of the database.
type Tables struct {
	// Describe finds the columns of a table's Parquet files (the caller knows those of CSV
	// files), registers the files as a table, and returns the number of rows of each Parquet
	// file from its footer. Nil = the engine reads no files.
	Describe func(ctx context.Context, t *Table) (rows map[string]int64, err error)

	// Load creates a table and stores its rows. When it returns, the rows are durable and the engine has
	// gathered the statistics that its optimizer needs. Load makes no indexes.
	Load func(ctx context.Context, t *Table) error

	// Loaded estimates the number of rows that a Load in progress has stored. Nil = the engine stores
	// each row when Table.Each passes it on.
	Loaded func(ctx context.Context, t *Table) int64

	// Running describes the step that the engine executes now, for example the creation of an index: its
	// name, and how much of it is done, in any unit. step is "" if the engine reports no step. Nil = the
	// engine never reports a step.
	Running func(ctx context.Context) (step string, done, all int64)

	// Ask runs a query and passes each row of its result to f, with the driver's types; nil is NULL.
	// The values are valid until f returns.
	Ask func(ctx context.Context, text string, f func(row []any) error) error

	// Confine restricts all later statements to these absolute folders and their subfolders:
	// they read and write no other file and no URL. Nil = the engine's statements
	// reach no files of this machine, or the rights of the server's account apply.
	Confine func(ctx context.Context, folders ...string) error

	Ident func(name string) string                              // quotes a name for the engine's SQL; nil = in double quotes
	Size  func(ctx context.Context) (int64, error)              // bytes of all loaded tables
	Spent func(ctx context.Context) (engine.ServerUsage, error) // see Star.Spent; nil = the server does not report it
	Close func() error                                          // closes the connection; the tables stay
}

// Table is a table of the user.
type Table struct {
	Name    string
	Files   []string // the user's files, absolute paths: Parquet or CSV
	CSV     bool
	Root    string  // the folder of all tables
	Groups  []Group // groups of CSV files, in the order of the rows
	Keys    []Key
	Columns []Column
	Notes   []string // for readers of the report: columns that are ignored, or missing in some files
	Parquet string   // a file with the rows in these columns and types; "" = not written yet
	Rows    int64    // of the file Parquet

	// Each passes each row to f, as texts: numbers in digits (or inf, -inf, nan), booleans as
	// 1 and 0, dates and times in ISO 8601 with a blank between date and time. Nil is NULL.
	Each func(ctx context.Context, f func(row []any) error) error
}

// Group is a set of CSV files with the same first line.
type Group struct {
	Files     []string
	Columns   []string // names, in the order of the fields
	Delimiter string
}

// Key is a column whose values are in the names of folders (key=value).
type Key struct {
	Column Column
	Folder string // the key as the folders' names have it
}

// NoKey is the value of NULL in a folder's name.
const NoKey = "__HIVE_DEFAULT_PARTITION__"

// Column is a column; its name has no capital letters.
type Column struct {
	Name     string
	Kind     Kind
	Zone     bool // for a time in CSV files: its texts have a zone
	Digits   int  // of a decimal, all digits including those after the point; of a text, the greatest number of characters
	Decimals int
}

// Kind is the type of a column's values.
type Kind string

// The kinds of columns.
const (
	Bool    Kind = "boolean"
	Integer Kind = "whole number" // of 64 bits
	Decimal Kind = "decimal"
	Float   Kind = "floating-point number" // of 64 bits
	Date    Kind = "date"
	Time    Kind = "time" // date and time in UTC, in microseconds
	Text    Kind = "text"
)

var notInNames = regexp.MustCompile(`[^a-z0-9_]+`)

// Name normalizes a name of a file, a folder or a column in a file to the name of a table or column.
func Name(text string) string {
	return notInNames.ReplaceAllString(strings.ToLower(text), "_")
}

// AppendRow appends a row of texts in the format of PostgreSQL's COPY and MariaDB's LOAD DATA, without
// the end of the line.
func AppendRow(dst []byte, row []any) []byte {
	for k, v := range row {
		if k > 0 {
			dst = append(dst, '\t')
		}
		text, ok := v.(string)
		if !ok {
			dst = append(dst, `\N`...)
			continue
		}
		for _, c := range []byte(text) {
			switch c {
			case '\\':
				dst = append(dst, `\\`...)
			case '\t':
				dst = append(dst, `\t`...)
			case '\n':
				dst = append(dst, `\n`...)
			case '\r':
				dst = append(dst, `\r`...)
			default:
				dst = append(dst, c)
			}
		}
	}
	return dst
}
