package flavour

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Dialect is what differs between SQL engines. Expressions go in and come out
// as text; a nil function means the engine does not offer the design.
type Dialect struct {
	Name string

	NullsFirst string // stands after a column that may be NULL in ORDER BY, as missing values come first; "" where they do anyway

	// Where texts, lists and rows are not written as in SQL; zero = they are.
	Literal func(text string) string      // a text literal
	List    [2]string                     // what stands before and after a list of values
	Select  func(columns []string) string // SELECT and what it returns

	Sorted func(expr string) string // what to sort a text by, in the designs normalized and document; nil = Bytewise there, or the text itself

	// What few engines have otherwise than all others.
	EmptyIsNull bool                     // an empty text is NULL: it is asked for by IS NULL, and sorts first by NullsFirst
	MaxList     int                      // the most members of a list behind IN; 0 = any number
	Mod         func(a, b string) string // the rest of a division; nil = a % b

	// Normalized and wide.
	Table         func(subset, table string) string // the table of a subset, quoted
	Binary        func(expr string) string          // the nearest honest equivalent of MySQL's BINARY expr, which compares as bytes; nil = metviewer-sql cannot be put
	BinaryLiteral func(text string) string          // a text literal to compare with Binary(…)
	DateTime      func(epoch int64) string          // literal of the type of fcst_valid_beg
	Epoch         func(expr string) string          // fcst_valid_beg … → Unix seconds
	Fence         string                            // ends a selection that the engine would else compute anew for each expression that uses it
	Real          func(expr string) string          // a number as a float64; nil = a cast to DOUBLE
	Hour          func(expr string) string          // fcst_valid_beg … → hour of the day, as METviewer's HOUR(); nil = from Epoch

	// Where the columns of METviewer's tables do not hold what records hold, or
	// do not compare bytewise. Nil = they do.
	HeaderField func(f record.Field) string               // expression of a header field, of stat_header h or line table ld
	LineColumn  func(name string) string                  // expression of another column of the line table ld
	Equal       func(expr string, values []string) string // expr is one of values, bytewise; metviewer-sql uses Binary instead
	Bytewise    func(expr string) string                  // what to sort a text by
	Join        string                                    // the condition that joins h and ld; "" = their stat_header_id are equal

	// Document. A document is a row r; its entries are rows d.
	DocFrom  func(subset, table, where string) string // FROM clause: documents that satisfy where, unnested
	DocField func(field string) string                // a member of the document: model, fcst_valid_epoch …
	DocEntry func(column string) string               // a member of an entry: fcst_lead, fabar …
	DocAnd   string                                   // joins a condition on entries to what DocFrom wrote: WHERE or AND
	DocKeys  func(keys []string) (where string, args []any)

	// DocEqual is Equal for the fields of documents; nil = as in SQL.
	DocEqual func(expr string, values []string) string

	// DocWhere are the conditions that pick a subset and the line type of a
	// table, where documents of others stand beside them; nil = none do. Derived
	// ids need no such conditions.
	DocWhere func(subset, table string) []string

	// DocFromLeads is DocFrom for entries of these leads alone, where the
	// engine can pick them before it unnests; "" = it had better not. nil = it
	// never does.
	DocFromLeads func(subset, table, where string, leads []int32) string

	// DocNumber is DocEntry for numbers of the line type; nil = DocEntry.
	DocNumber func(column string) string

	// DocTable takes the place of DocFrom where the members of an entry that are
	// asked for must be declared.
	DocTable func(subset, table, where string, used []question.Column) string
}

// Quote writes a text literal in standard SQL.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Ident quotes an identifier in standard SQL.
func Ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func same(s string) string { return s }

// DateTime writes a time as METviewer does: 2019-01-01 06:00:00.
func DateTime(epoch int64) string { return time.Unix(epoch, 0).UTC().Format(time.DateTime) }

func iso(epoch int64) string { return time.Unix(epoch, 0).UTC().Format(design.ISO) }

// List writes a list of values in parentheses.
func List[T any](items []T, f func(T) string) string { return listIn([2]string{}, items, f) }

// listIn writes a list between the dialect's brackets.
func listIn[T any](brackets [2]string, items []T, f func(T) string) string {
	if brackets[0] == "" {
		brackets = [2]string{"(", ")"}
	}
	return brackets[0] + Join(items, ", ", f) + brackets[1]
}

// Join writes items with a separator between.
func Join[T any](items []T, separator string, f func(T) string) string {
	out := make([]string, len(items))
	for i, v := range items {
		out[i] = f(v)
	}
	return strings.Join(out, separator)
}

// oneOf is the condition that an expression is one of some values.
func oneOf[T any](d *Dialect, expr string, items []T, f func(T) string) string {
	if d.MaxList == 0 || len(items) <= d.MaxList {
		return expr + " IN " + listIn(d.List, items, f)
	}
	var parts []string
	for some := range slices.Chunk(items, d.MaxList) {
		parts = append(parts, expr+" IN "+listIn(d.List, some, f))
	}
	return "(" + strings.Join(parts, "\n       OR ") + ")"
}

// rest is the rest of a division of whole numbers.
func (d *Dialect) rest(a, b string) string {
	if d.Mod != nil {
		return d.Mod(a, b)
	}
	return a + " % " + b
}

func whole(v int64) string { return strconv.FormatInt(v, 10) }

// inHeader reports whether METviewer keeps a header field in stat_header;
// cov_thresh and alpha stand in the line tables.
func inHeader(f record.Field) bool { return f < record.CovThresh }
