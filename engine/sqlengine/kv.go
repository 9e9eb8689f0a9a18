package sqlengine

import (
	"strings"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/query/flavour"
)

// KVKeyColumn is the key of a table of records under keys, with the name that YCSB's JDBC binding gives it.
// KVDocumentColumn is the other column if a record is one document.
const (
	KVKeyColumn      = "ycsb_key"
	KVDocumentColumn = "doc"
)

// KVDialect contains what differs between engines in the statements for tables of records under keys.
type KVDialect struct {
	Schema                     string                               // before a table's name: "", or the quoted schema and a point
	Quote                      func(name string) string             // quotes a name
	Param                      func(i int) string                   // the placeholder of argument i, from 1
	KeyType, TextType, DocType string                               // types of columns; KeyType compares bytewise
	TableOptions               string                               // after CREATE TABLE (…)
	LimitClause                func(param string) string            // limits the rows of ORDER BY
	FieldText                  func(doc, name string) string        // the text of a field of a document
	Merge                      func(doc, param string) string       // a document merged with another one
	AtPath                     func(doc, param string) string       // the text at a path; nil = not supported
	SetPath                    func(doc, path, value string) string // a document with a new text at a path; nil = not supported
	MaxParams                  int                                  // the greatest number of parameters of a statement
	FoldsNames                 bool                                 // the engine stores names in lower case
	ClearWords                 string                               // a fast DELETE FROM, such as TRUNCATE; "" = none

	// Begin has the statements that start a transaction at each isolation level of the engine. Unless it is empty,
	// the engine's sessions are Transactors.
	Begin map[kv.IsolationLevel][]string

	// JoinedText returns the text of a field that may be an array of texts; nil = the engine has no layout kv.Array.
	JoinedText func(doc, name string) string

	// Variants are the engine's physical layouts other than kv.Columns and kv.Document. Their columns are those of
	// kv.Columns, or of kv.Document for a layout of arrays.
	Variants map[kv.Layout]KVVariant

	// Catalog queries the server's catalog; nil = the engine uses only tables that Barograph created.
	Catalog *KVCatalog
}

// KVCatalog contains the queries about one table in an engine's catalog, and the statements around a user's script that
// creates the table. The argument of a query is the table's name. The values of its rows are texts.
type KVCatalog struct {
	// ColumnsQuery returns a row for each column: its name, its type, what it can contain ("text", "document", "text
	// document" or "other"), and "1" if an insert must give a value. If the table does not exist, it returns no row.
	ColumnsQuery string
	UniqueQuery  string // returns "1" if KVKeyColumn is unique by itself
	CommentQuery string // returns the table's comment, "" = none

	SetComment func(table, comment string) string // the statement that sets a table's comment

	// ErrorPosition returns the position of an error in its statement: the number of the character, from 1, or the
	// negative number of the line, -1 for the first. 0 = the error names no position.
	ErrorPosition func(err error) int

	// Begin, Commit and Rollback are statements. If they are "", a statement that creates a table is a transaction by
	// itself, and Drop returns the statement that removes the table of a failed script.
	Begin, Commit, Rollback string
	Drop                    func(table string) string

	BackslashEscapes bool // in scripts, '\'' is a quote
	DollarQuotes     bool // in scripts, $a$…$a$ is a literal
	HashComments     bool // in scripts, # starts a comment
}

// KVVariant is a physical layout of a table.
type KVVariant struct {
	TableOptions    string                                  // after CREATE TABLE (…), instead of KVDialect.TableOptions
	ExtraStatements func(d *KVDialect, t kv.Table) []string // complete the layout; nil = none
	CheckQuery      string                                  // returns "1" if the table of its argument has this layout
}

// HashPartitions is the number of partitions of a table with layout hash.
const HashPartitions = 8

// kvTexts writes the statements for one table. Its methods …Text return them.
type kvTexts struct {
	*KVDialect
	t         kv.Table
	name      string
	allFields kv.Fields
}

func newKVTexts(d *KVDialect, t kv.Table) *kvTexts {
	x := &kvTexts{KVDialect: d, t: t, name: d.Schema + d.Quote(t.Name)}
	for i := range t.Fields {
		x.allFields = append(x.allFields, i)
	}
	return x
}

// isDocument reports whether a record is one document.
func (x *kvTexts) isDocument() bool { return x.t.Layout == kv.Document || x.isArray() }

// isArray reports whether the first field of a document is an array.
func (x *kvTexts) isArray() bool { return x.t.Layout == kv.Array || x.t.Layout == kv.ArrayIndex }

// createTexts returns the statements that create the table.
func (x *kvTexts) createTexts() []string {
	text := "CREATE TABLE IF NOT EXISTS " + x.name + " (" + x.Quote(KVKeyColumn) + " " + x.KeyType + " PRIMARY KEY NOT NULL"
	if x.isDocument() {
		text += ", " + x.Quote(KVDocumentColumn) + " " + x.DocType + " NOT NULL)"
	} else {
		text += flavour.Join(x.t.Fields, "", func(f string) string { return ", " + x.Quote(f) + " " + x.TextType }) + ")"
	}
	v, ok := x.Variants[x.t.Layout]
	if !ok {
		return []string{text + x.TableOptions}
	}
	all := []string{text + v.TableOptions}
	if v.ExtraStatements != nil {
		all = append(all, v.ExtraStatements(x.KVDialect, x.t)...)
	}
	return all
}

func (x *kvTexts) countText() string { return "SELECT count(*) FROM " + x.name }

// columnList lists the columns or expressions of the chosen fields.
func (x *kvTexts) columnList(f kv.Fields) string {
	if x.isDocument() && f == nil {
		return x.Quote(KVDocumentColumn)
	}
	if f == nil {
		f = x.allFields
	}
	var names []string
	for _, i := range f {
		switch {
		case x.isArray() && i == 0:
			names = append(names, x.JoinedText(x.Quote(KVDocumentColumn), x.t.Fields[i]))
		case x.isDocument():
			names = append(names, x.FieldText(x.Quote(KVDocumentColumn), x.t.Fields[i]))
		default:
			names = append(names, x.Quote(x.t.Fields[i]))
		}
	}
	return strings.Join(names, ", ")
}

func (x *kvTexts) readText(f kv.Fields) string {
	return "SELECT " + x.columnList(f) + " FROM " + x.name + " WHERE " + x.Quote(KVKeyColumn) + " = " + x.Param(1)
}

func (x *kvTexts) scanText(f kv.Fields) string {
	key := x.Quote(KVKeyColumn)
	return "SELECT " + key + ", " + x.columnList(f) + " FROM " + x.name + " WHERE " + key + " >= " + x.Param(1) +
		" ORDER BY " + key + " " + x.LimitClause(x.Param(2))
}

// argumentCount returns the number of arguments for an inserted record.
func (x *kvTexts) argumentCount() int {
	if x.isDocument() {
		return 2
	}
	return 1 + len(x.allFields)
}

func (x *kvTexts) insertText(rows int) string {
	names := append([]string{KVKeyColumn}, x.t.Fields...)
	if x.isDocument() {
		names = []string{KVKeyColumn, KVDocumentColumn}
	}
	return "INSERT INTO " + x.name + " (" + flavour.Join(names, ", ", x.Quote) + ") VALUES " +
		placeholders(x.Param, x.argumentCount(), rows)
}

// updateText replaces fields. The last argument is the key.
func (x *kvTexts) updateText(f kv.Fields) string {
	n := 0
	set := flavour.Join(f, ", ", func(field int) string {
		n++
		return x.Quote(x.t.Fields[field]) + " = " + x.Param(n)
	})
	if x.isDocument() {
		doc := x.Quote(KVDocumentColumn)
		set, n = doc+" = "+x.Merge(doc, x.Param(1)), 1
	}
	return "UPDATE " + x.name + " SET " + set + " WHERE " + x.Quote(KVKeyColumn) + " = " + x.Param(n+1)
}

func (x *kvTexts) deleteText() string {
	return "DELETE FROM " + x.name + " WHERE " + x.Quote(KVKeyColumn) + " = " + x.Param(1)
}

func (x *kvTexts) readPathText() string {
	return "SELECT " + x.AtPath(x.Quote(KVDocumentColumn), x.Param(1)) + " FROM " + x.name +
		" WHERE " + x.Quote(KVKeyColumn) + " = " + x.Param(2)
}

func (x *kvTexts) updatePathText() string {
	doc := x.Quote(KVDocumentColumn)
	return "UPDATE " + x.name + " SET " + doc + " = " + x.SetPath(doc, x.Param(1), x.Param(2)) +
		" WHERE " + x.Quote(KVKeyColumn) + " = " + x.Param(3)
}
