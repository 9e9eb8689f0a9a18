package tables

import (
	"context"
	"regexp"
	"strings"

	"github.com/barograph/barograph/engine"
)

// Tables keeps a set of tables, of which nothing is known before, and answers
// questions that are put in the engine's own SQL. The tables are apart from all
// other data of the database. Opening removes the tables of an earlier run.
type Tables struct {
	// Describe finds the columns of a table's files (of CSV files they are known),
	// makes the files a table, and returns the rows of each Parquet file as its
	// footer counts them. Nil = the engine reads no files.
	Describe func(ctx context.Context, t *Table) (rows map[string]int64, err error)

	// Load makes a table and stores its rows, durable when it returns, with
	// the statistics that a careful user would have gathered, and without indexes.
	Load func(ctx context.Context, t *Table) error

	// Ask gives each row of an answer to f, as the driver has it: nil is NULL. The
	// values are valid until f returns.
	Ask func(ctx context.Context, text string, f func(row []any) error) error

	// Confine keeps all statements that follow to these folders, absolute, and what lies
	// below them: nothing else is read or written, and no URL. Nil = the engine's statements
	// reach no files of this machine, or its server's account decides.
	Confine func(ctx context.Context, folders ...string) error

	Ident func(name string) string                        // a name as its SQL has it; nil = in double quotes
	Size  func(ctx context.Context) (int64, error)        // bytes of all tables that were loaded
	Spent func(ctx context.Context) (engine.Spent, error) // see Star.Spent; nil = the server does not tell
	Close func() error                                    // the tables stay
}

// Table is a table of a user's own.
type Table struct {
	Name    string
	Files   []string // of the user's, absolute: Parquet, or CSV
	CSV     bool
	Root    string  // folder of all tables
	Groups  []Group // of CSV files, in the order of the rows
	Keys    []Key
	Columns []Column
	Notes   []string // what a reader of the answers must know: columns left aside, or missing in some files
	Parquet string   // a file that has the rows with these columns and types; "" before it is made

	// Each gives each row to f, as texts: numbers in digits (or inf, -inf, nan),
	// booleans as 1 and 0, dates and times of ISO 8601 with a blank between. Nil
	// is NULL.
	Each func(ctx context.Context, f func(row []any) error) error
}

// Group is CSV files with the same first line.
type Group struct {
	Files     []string
	Columns   []string // names, in the order of the fields
	Delimiter string
}

// Key is a column whose values are in the names of folders, key=value.
type Key struct {
	Column Column
	Folder string // the key as folders have it
}

// NoKey is NULL as a folder's name has it.
const NoKey = "__HIVE_DEFAULT_PARTITION__"

// Column is a column, whose name is in small letters.
type Column struct {
	Name     string
	Kind     Kind
	Zone     bool // of a time in CSV files: its texts have a zone
	Digits   int  // of a decimal, those behind the point among them; of a text its most characters
	Decimals int
}

// Kind is what a column holds.
type Kind string

// The kinds.
const (
	Bool    Kind = "boolean"
	Whole   Kind = "whole number" // of 64 bits
	Decimal Kind = "decimal"
	Float   Kind = "floating-point number" // of 64 bits
	Date    Kind = "date"
	Time    Kind = "time" // of a day, in UTC, to the microsecond
	Text    Kind = "text"
)

var notInNames = regexp.MustCompile(`[^a-z0-9_]+`)

// Name is the name of a column, or a table, that files or folders call so.
func Name(text string) string {
	return notInNames.ReplaceAllString(strings.ToLower(text), "_")
}

// AppendRow appends a row as PostgreSQL's COPY and MariaDB's LOAD DATA read it,
// without the end of its line.
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
