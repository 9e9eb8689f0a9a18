package flavour

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Dialect describes how SQL engines differ. Expressions are passed and returned as text. A nil function has the default
// that its comment names. An engine without the design document needs none of the functions Doc…; one with it needs
// DocField, DocEntry, DocKeys, DocAnd, and DocFrom or DocTable.
type Dialect struct {
	Name string

	// NullsFirst follows a column in ORDER BY that may be NULL, because missing values sort first; ""
	// if the engine sorts them first by default.
	NullsFirst string

	Literal func(text string) string      // a text literal; nil = Quote
	List    [2]string                     // brackets of a list of values; empty = parentheses
	Select  func(columns []string) string // SELECT and the columns that it returns; nil = SELECT a, b

	// SortKey returns the expression for ORDER BY of a text in the designs normalized and document. It has precedence over
	// Bytewise. nil = Bytewise in normalized, the text itself in document.
	SortKey func(expr string) string

	EmptyIsNull bool                     // an empty text is NULL: the condition is IS NULL, and it sorts first by NullsFirst
	MaxList     int                      // maximum length of a list after IN; 0 = no limit
	Mod         func(a, b string) string // remainder of a division; nil = a % b

	Table func(subset, table string) string // the quoted table of a subset
	// Binary is the closest equivalent of MySQL's BINARY expr, which compares bytes; nil =
	// metviewer-sql is not available.
	Binary        func(expr string) string
	BinaryLiteral func(text string) string // a text literal to compare with Binary(…)
	DateTime      func(epoch int64) string // literal of the type of fcst_valid_beg
	Epoch         func(expr string) string // fcst_valid_beg … → Unix seconds
	// MaterializeHint ends a selection that the engine would otherwise compute again for each
	// expression that uses it.
	MaterializeHint string
	Real            func(expr string) string // a number as a float64; nil = a cast to DOUBLE
	Hour            func(expr string) string // fcst_valid_beg … → hour of the day, as METviewer's HOUR(); nil = from Epoch

	// An engine needs these functions if a column of METviewer's tables does not contain the value of the record, or if texts
	// do not compare bytewise. Nil = the column itself, and the engine's own comparison.
	HeaderField func(f record.Field) string               // expression of a header field, of stat_header h or line table ld
	LineColumn  func(name string) string                  // expression of another column of the line table ld
	Equal       func(expr string, values []string) string // expr is one of values, bytewise; metviewer-sql uses Binary instead
	// Bytewise makes a text compare bytewise: in ORDER BY without SortKey, in GROUP BY, and in conditions on the version.
	Bytewise func(expr string) string
	Join     string // the condition that joins h and ld; "" = equal stat_header_id

	// Document. A document is a row r; its entries are rows d.
	DocFrom  func(subset, table, where string) string // FROM clause: documents that satisfy where, unnested
	DocField func(field string) string                // a member of the document: model, fcst_valid_epoch …
	DocEntry func(column string) string               // a member of an entry: fcst_lead, fabar …
	DocAnd   string                                   // connects a condition on entries to the result of DocFrom: WHERE or AND
	DocKeys  func(keys []string) (where string, args []any)

	// DocEqual is Equal for the fields of documents; nil = as in SQL.
	DocEqual func(expr string, values []string) string

	// DocWhere selects a subset and the line type of a table, if the table also contains documents of
	// others; nil = it does not. Derived ids need no such conditions.
	DocWhere func(subset, table string) []string

	// DocFromLeads is DocFrom for the entries of these leads only, if the engine can select them
	// before it unnests; "" = not for these leads; nil = never.
	DocFromLeads func(subset, table, where string, leads []int32) string

	// DocNumber is DocEntry for numbers of the line type; nil = DocEntry.
	DocNumber func(column string) string

	// DocTable replaces DocFrom if the requested members of an entry must be declared. used may contain a column twice.
	DocTable func(subset, table, where string, used []question.Column) string
}

// Quote writes a text literal in standard SQL.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// DuckDBFile writes a path as a text literal for DuckDB's readers, which take it as a pattern.
func DuckDBFile(path string) string {
	return Quote(strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path))
}

// Ident quotes an identifier in standard SQL.
func Ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func identity(s string) string { return s }

// DateTime writes a time as METviewer does: 2019-01-01 06:00:00.
func DateTime(epoch int64) string { return time.Unix(epoch, 0).UTC().Format(time.DateTime) }

func iso(epoch int64) string { return time.Unix(epoch, 0).UTC().Format(design.ISO) }

// List writes a list of values in parentheses.
func List[T any](items []T, f func(T) string) string { return listIn([2]string{}, items, f) }

// listIn writes a list between the dialect's brackets.
func listIn[T any](brackets [2]string, items []T, f func(T) string) string {
	if brackets == [2]string{} {
		brackets = [2]string{"(", ")"}
	}
	return brackets[0] + Join(items, ", ", f) + brackets[1]
}

// Join writes items with a separator between.
func Join[T any](items []T, separator string, f func(T) string) string {
	return strings.Join(lists.Map(items, f), separator)
}

// oneOf is the condition that an expression equals one of several values.
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

// selectColumns writes SELECT and the columns that it returns.
func (d *Dialect) selectColumns(columns []string) string {
	if d.Select != nil {
		return d.Select(columns)
	}
	return "SELECT " + strings.Join(columns, ", ")
}

// modulo is the remainder of a division of integers.
func (d *Dialect) modulo(a, b string) string {
	if d.Mod != nil {
		return d.Mod(a, b)
	}
	return a + " % " + b
}

func integer(v int64) string { return strconv.FormatInt(v, 10) }

// inHeader reports whether METviewer stores a header field in stat_header. It stores cov_thresh and
// alpha in the line tables.
func inHeader(f record.Field) bool { return f < record.CovThresh }
