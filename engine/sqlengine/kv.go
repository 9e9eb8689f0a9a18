package sqlengine

import (
	"strings"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/query/flavour"
)

// KeyColumn and DocumentColumn are the columns of tables of records under keys other than
// the fields. KeyColumn has the name of YCSB's JDBC binding.
const (
	KeyColumn      = "ycsb_key"
	DocumentColumn = "doc"
)

// KVDialect is how an engine writes the statements of tables of records under keys. Quote
// quotes a name; Param returns the placeholder of argument i, from 1.
type KVDialect struct {
	Schema                     string // prefix of a table's name: "", or the quoted schema and a point
	Quote                      func(name string) string
	Param                      func(i int) string
	KeyType, TextType, DocType string                               // types of columns; KeyType compares bytewise
	TableOptions               string                               // after CREATE TABLE (…)
	First                      func(param string) string            // the clause that limits the rows of ORDER BY
	Field                      func(doc, name string) string        // the text of a field of a document
	Merge                      func(doc, param string) string       // a document merged with another one
	AtPath                     func(doc, param string) string       // the text at a path; nil = not supported
	SetPath                    func(doc, path, value string) string // a document with a new text at a path; nil = not supported
	MaxParams                  int                                  // the greatest number of parameters of a statement
	Folded                     bool                                 // the engine stores names in lower case

	// Begin are the statements that start a transaction at each isolation level of the
	// engine. Unless it is empty, the engine's sessions are Transactors.
	Begin map[kv.IsolationLevel][]string

	// Joined returns the text of a field that may be an array of texts.
	Joined func(doc, name string) string // nil = the engine has no layout kv.Array

	// Variants are the physical layouts that the engine offers besides its usual ones. Their
	// columns are those of kv.Columns, or of kv.Document for a layout of arrays.
	Variants map[kv.Layout]Variant

	// Catalog reads tables from the server's catalog; nil = the engine takes no table
	// that it did not make by itself.
	Catalog *KVCatalog
}

// KVCatalog is how an engine's catalog is asked about one table. The argument of a query
// is the table's name; its rows are of texts.
type KVCatalog struct {
	// Columns lists name, type, what it can hold ("text", "document", "text document" or
	// "other"), and "1" where an insert must give a value; no rows = there is no such table.
	Columns string
	Unique  string // "1" where KeyColumn is unique by itself
	Comment string // of the table, "" = none

	SetComment func(table, comment string) string // a statement
	// where in its statement an error is, from 1: characters, or lines as negative numbers; 0 = not known
	Place func(err error) int

	// Begin, Commit and Rollback are statements; "" = a statement that makes a table is a
	// transaction by itself, and Drop removes what failed statements left.
	Begin, Commit, Rollback string
	Drop                    func(table string) string

	Backslash, Dollar, Hash bool // in scripts: '\'' is an escape, $a$ a quote, # a comment
}

// Variant is a physical layout of a table.
type Variant struct {
	Options string                                  // after CREATE TABLE (…), instead of TableOptions
	More    func(d *KVDialect, t kv.Table) []string // statements that complete the layout; nil = none
	Is      string                                  // a query with the table's name as its argument: "1" = the table has this layout
}

// HashPartitions is the number of partitions of a table with layout hash.
const HashPartitions = 8

// kvTexts writes the statements of one table.
type kvTexts struct {
	*KVDialect
	t    kv.Table
	name string
	all  kv.Fields
}

func newKVTexts(d *KVDialect, t kv.Table) *kvTexts {
	x := &kvTexts{KVDialect: d, t: t, name: d.Schema + d.Quote(t.Name)}
	for i := range t.Fields {
		x.all = append(x.all, i)
	}
	return x
}

// document reports whether a record is one document; arrays reports whether its first field
// is an array.
func (x *kvTexts) document() bool { return x.t.Layout == kv.Document || x.arrays() }

func (x *kvTexts) arrays() bool {
	return x.t.Layout == kv.Array || x.t.Layout == kv.ArrayIndex
}

// create returns the statements that create the table.
func (x *kvTexts) create() []string {
	text := "CREATE TABLE IF NOT EXISTS " + x.name + " (" + x.Quote(KeyColumn) + " " + x.KeyType + " PRIMARY KEY NOT NULL"
	if x.document() {
		text += ", " + x.Quote(DocumentColumn) + " " + x.DocType + " NOT NULL)"
	} else {
		text += flavour.Join(x.t.Fields, "", func(f string) string { return ", " + x.Quote(f) + " " + x.TextType }) + ")"
	}
	v, ok := x.Variants[x.t.Layout]
	if !ok {
		return []string{text + x.TableOptions}
	}
	all := []string{text + v.Options}
	if v.More != nil {
		all = append(all, v.More(x.KVDialect, x.t)...)
	}
	return all
}

func (x *kvTexts) count() string { return "SELECT count(*) FROM " + x.name }

// columns lists the columns or expressions of the chosen fields.
func (x *kvTexts) columns(f kv.Fields) string {
	if x.document() && f == nil {
		return x.Quote(DocumentColumn)
	}
	if f == nil {
		f = x.all
	}
	var names []string
	for _, i := range f {
		switch {
		case x.arrays() && i == 0:
			names = append(names, x.Joined(x.Quote(DocumentColumn), x.t.Fields[i]))
		case x.document():
			names = append(names, x.Field(x.Quote(DocumentColumn), x.t.Fields[i]))
		default:
			names = append(names, x.Quote(x.t.Fields[i]))
		}
	}
	return strings.Join(names, ", ")
}

func (x *kvTexts) read(f kv.Fields) string {
	return "SELECT " + x.columns(f) + " FROM " + x.name + " WHERE " + x.Quote(KeyColumn) + " = " + x.Param(1)
}

func (x *kvTexts) scan(f kv.Fields) string {
	key := x.Quote(KeyColumn)
	return "SELECT " + key + ", " + x.columns(f) + " FROM " + x.name + " WHERE " + key + " >= " + x.Param(1) +
		" ORDER BY " + key + " " + x.First(x.Param(2))
}

// width returns the number of arguments of an inserted record.
func (x *kvTexts) width() int {
	if x.document() {
		return 2
	}
	return 1 + len(x.all)
}

func (x *kvTexts) insert(rows int) string {
	names := append([]string{KeyColumn}, x.t.Fields...)
	if x.document() {
		names = []string{KeyColumn, DocumentColumn}
	}
	return "INSERT INTO " + x.name + " (" + flavour.Join(names, ", ", x.Quote) + ") VALUES " + placeholders(x.Param, x.width(), rows)
}

// update replaces fields. The last argument is the key.
func (x *kvTexts) update(f kv.Fields) string {
	n := 0
	set := flavour.Join(f, ", ", func(field int) string {
		n++
		return x.Quote(x.t.Fields[field]) + " = " + x.Param(n)
	})
	if x.document() {
		doc := x.Quote(DocumentColumn)
		set, n = doc+" = "+x.Merge(doc, x.Param(1)), 1
	}
	return "UPDATE " + x.name + " SET " + set + " WHERE " + x.Quote(KeyColumn) + " = " + x.Param(n+1)
}

func (x *kvTexts) delete() string {
	return "DELETE FROM " + x.name + " WHERE " + x.Quote(KeyColumn) + " = " + x.Param(1)
}

func (x *kvTexts) readPath() string {
	return "SELECT " + x.AtPath(x.Quote(DocumentColumn), x.Param(1)) + " FROM " + x.name + " WHERE " + x.Quote(KeyColumn) + " = " + x.Param(2)
}

func (x *kvTexts) updatePath() string {
	doc := x.Quote(DocumentColumn)
	return "UPDATE " + x.name + " SET " + doc + " = " + x.SetPath(doc, x.Param(1), x.Param(2)) + " WHERE " + x.Quote(KeyColumn) + " = " + x.Param(3)
}
