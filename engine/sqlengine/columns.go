package sqlengine

import (
	"path"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// Type is the abstract type of a column. Each engine gives it a name.
type Type uint8

// The types.
const (
	Text      Type = iota
	Integer        // 32 bits: leads, line numbers
	BigInt         // 64 bits: ids, epochs, counts of lines
	Count          // an integer that records store as float64; an engine may use its double
	Double         // float64
	Timestamp      // a time without zone, in UTC, in seconds
	Doubles        // repeating columns: a list of doubles
	Entries        // the entries of a document
	numTypes
)

// TypeNames are an engine's names of the types.
type TypeNames [numTypes]string

// Of returns the name of a column's type.
func (n *TypeNames) Of(c Column) string { return n[c.Type] }

// Source is the part of a record that a column contains.
type Source uint8

// The sources.
const (
	NotFromRecord Source = iota // the column describes a file or a table, see its name
	HeaderID                    // the number of the header, see Interner
	FileID                      // the number of the file
	LineNum                     // line number in the file
	Header                      // header field Column.Field
	Lead                        // forecast lead, as METviewer's code (normalized) or in seconds
	ValidBeg                    // fcst_valid_beg
	ValidEpoch                  // fcst_valid_beg as Unix seconds
	ValidEnd
	InitBeg
	ObsLead // observation lead, as [H]HHMMSS (normalized) or in seconds
	ObsBeg
	ObsEnd
	Data     // column Column.Data of the line type
	Repeats  // the repeating columns
	Identity // the key of the record, see AppendIdentity
	DocID    // the derived id of a document
	DocData  // the entries of a document
)

// Column is one column of a table.
type Column struct {
	Name    string
	Type    Type
	From    Source
	Field   record.Field  // for Header
	Data    record.Column // for Data
	Primary bool          // the table's primary key
	NotNull bool
}

// MarksTable and CatalogTable are Barograph's own tables in every subset. FileTable is METviewer's.
const (
	MarksTable   = "barograph_marks"   // archive.Mark, one row per file, numbered in the order of loading
	CatalogTable = "barograph_catalog" // one row: design.Catalog as JSON
	FileTable    = "data_file"         // one row per file
)

// HeaderColumns returns METviewer's columns of stat_header. interp_pnts, a number in
// METviewer, is text as in records: it sorts and compares as text.
func HeaderColumns() []Column {
	cols := []Column{{Name: "stat_header_id", Type: BigInt, From: HeaderID, Primary: true}}
	for f := range record.CovThresh {
		cols = append(cols, field(f))
	}
	return cols
}

func field(f record.Field) Column {
	return Column{Name: f.String(), Type: Text, From: Header, Field: f, NotNull: true}
}

// FileColumns returns METviewer's columns of data_file.
func FileColumns() []Column {
	return []Column{
		{Name: "data_file_id", Type: BigInt, From: FileID, Primary: true},
		notNull("data_file_lu_id", Integer), notNull("filename", Text), notNull("path", Text), notNull("load_date", Timestamp),
		{Name: "mod_date", Type: Timestamp},
	}
}

// FileKind returns METviewer's data_file_lu_id for a file name, as in fileKinds; 7, MET's .stat, for other names.
func FileKind(name string) int64 {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	for number, pattern := range fileKinds {
		if ok, _ := path.Match(pattern, name); ok && pattern != "" { // the patterns are valid
			return int64(number)
		}
	}
	return 7
}

// fileKinds are patterns of file names by METviewer's data_file_lu_id; "" = none.
var fileKinds = [...]string{ //nolint:gochecknoglobals // a constant table
	2: "mode*cts.txt", 3: "*obj.txt", 6: "*.vsdb", 8: "*2d.txt", 9: "*3d_pair_cluster.txt", 10: "*3d_pair_simple.txt",
	11: "*3d_single_cluster.txt", 12: "*3d_single_simple.txt", 13: "*.tcst",
}

// LineColumns returns METviewer's columns of line_data_<type>, then cov_thresh and alpha. A type with repeating
// columns also has the column repeats, a list with the content of METviewer's child table. A missing number is
// design.MissingNumber. fcst_lead and obs_lead contain METviewer's codes.
func LineColumns(t *record.LineType) []Column {
	cols := []Column{
		{Name: "stat_header_id", Type: BigInt, From: HeaderID, NotNull: true},
		{Name: "data_file_id", Type: BigInt, From: FileID, NotNull: true},
		{Name: "line_num", Type: BigInt, From: LineNum},
	}
	cols = append(append(cols, timeColumns()...), dataColumns(t)...)
	return append(cols, field(record.CovThresh), field(record.Alpha))
}

// timeColumns returns the columns of leads and times.
func timeColumns() []Column {
	return []Column{
		{Name: "fcst_lead", Type: Integer, From: Lead, NotNull: true},
		{Name: "fcst_valid_beg", Type: Timestamp, From: ValidBeg, NotNull: true},
		{Name: "fcst_valid_end", Type: Timestamp, From: ValidEnd, NotNull: true},
		{Name: "fcst_init_beg", Type: Timestamp, From: InitBeg, NotNull: true},
		{Name: "obs_lead", Type: Integer, From: ObsLead, NotNull: true},
		{Name: "obs_valid_beg", Type: Timestamp, From: ObsBeg, NotNull: true},
		{Name: "obs_valid_end", Type: Timestamp, From: ObsEnd, NotNull: true},
	}
}

// WideColumns returns the columns of the wide design: all header fields, the times and leads
// in seconds, and the type's columns. A missing number is NULL.
func WideColumns(t *record.LineType) []Column {
	cols := lists.Map(lists.Indices(int(record.NumFields)), func(f int) Column { return field(record.Field(f)) })
	times := timeColumns()
	cols = append(cols, times[:2]...)
	cols = append(cols, Column{Name: "fcst_valid_epoch", Type: BigInt, From: ValidEpoch, NotNull: true})
	cols = append(cols, times[2:]...)
	return append(cols, dataColumns(t)...)
}

// dataColumns returns the columns of a line type, with the repeating ones as one list.
func dataColumns(t *record.LineType) []Column {
	var cols []Column
	for _, c := range t.Columns {
		col := Column{Name: c.Name, Type: Double, From: Data, Data: c}
		switch c.Kind {
		case record.Text:
			col.Type, col.NotNull = Text, true
		case record.Count:
			col.Type = Count
		}
		cols = append(cols, col)
	}
	if t.Group != nil {
		cols = append(cols, Column{Name: "repeats", Type: Doubles, From: Repeats})
	}
	return cols
}

// DocColumns returns the columns of the document design: the derived id, the header, the
// valid time as epoch and as ISO text (design.ISO), and the entries.
func DocColumns() []Column {
	cols := []Column{{Name: "id", Type: Text, From: DocID, Primary: true}}
	for f := range record.NumFields {
		cols = append(cols, field(f))
	}
	return append(cols,
		Column{Name: "fcst_valid_epoch", Type: BigInt, From: ValidEpoch, NotNull: true},
		Column{Name: "fcst_valid_beg", Type: Text, From: ValidBeg, NotNull: true},
		Column{Name: "data", Type: Entries, From: DocData, NotNull: true},
	)
}

// MarkColumns returns the columns of MarksTable. loaded is the text of archive.Mark.Times.
func MarkColumns() []Column {
	return []Column{
		{Name: "seq", Type: BigInt, Primary: true},
		notNull("path", Text), notNull("digest", Text), notNull("bytes", BigInt), notNull("lines_read", BigInt),
		notNull("stored", BigInt), notNull("replaced", BigInt), notNull("quarantined", BigInt), notNull("loaded", Text),
	}
}

func notNull(name string, t Type) Column { return Column{Name: name, Type: t, NotNull: true} }

// CatalogColumns returns the columns of CatalogTable.
func CatalogColumns() []Column {
	return []Column{
		{Name: "id", Type: Integer, Primary: true}, // always 1
		{Name: "catalog", Type: Text, NotNull: true},
	}
}

// DesignTable returns the name and the columns of the table with the records of a line type in a
// design; ok is false for a design without tables.
func DesignTable(n design.Name, t *record.LineType) (name string, cols []Column, ok bool) {
	switch n {
	case design.Normalized:
		return design.LineTable(t), LineColumns(t), true
	case design.Wide:
		return design.WideTable(t), WideColumns(t), true
	case design.Document:
		return design.DocTable(t), DocColumns(), true
	}
	return "", nil, false
}

// IdentityColumns returns those columns of a table that identify a record.
func IdentityColumns(cols []Column) []Column {
	sources := []Source{HeaderID, Header, ValidBeg, ValidEpoch, ValidEnd, InitBeg, ObsLead, ObsBeg, ObsEnd}
	return lists.Filter(cols, func(c Column) bool {
		return slices.Contains(sources, c.From) || c.From == Data && c.Data.InIdentity
	})
}

// HeaderTableTexts returns the statements that create METviewer's tables of headers and files, and the index of
// headers, whose quoted name is indexName. Only the design normalized has these tables.
func (a *Archive) HeaderTableTexts(subset, indexName string, types *TypeNames) []string {
	if a.Design != design.Normalized {
		return nil
	}
	header := a.Dialect.Table(subset, design.HeaderTable)
	return []string{
		CreateText(header, HeaderColumns(), types.Of),
		"CREATE INDEX IF NOT EXISTS " + indexName + " ON " + header +
			" (model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh)",
		CreateText(a.Dialect.Table(subset, FileTable), FileColumns(), types.Of),
	}
}

// CreateText returns the statement CREATE TABLE IF NOT EXISTS for a quoted name. typeName returns the engine's type of
// a column.
func CreateText(name string, cols []Column, typeName func(Column) string) string {
	return "CREATE TABLE IF NOT EXISTS " + name + " (\n  " + flavour.Join(cols, ",\n  ", func(c Column) string {
		text := c.Name + " " + typeName(c)
		if c.Primary {
			text += " PRIMARY KEY"
		}
		if c.NotNull || c.Primary {
			text += " NOT NULL"
		}
		return text
	}) + "\n)"
}

// InsertText returns the statement INSERT INTO name (columns) VALUES for a number of rows, with question marks as
// placeholders.
func InsertText(name string, cols []Column, rows int) string {
	values := placeholders(func(int) string { return "?" }, len(cols), rows)
	return "INSERT INTO " + name + " (" + ColumnList("", cols) + ") VALUES " + values
}

// placeholders returns rows of placeholders in parentheses, numbered from 1.
func placeholders(param func(i int) string, width, rows int) string {
	n := 0
	next := func(struct{}) string {
		n++
		return param(n)
	}
	return flavour.Join(make([]struct{}, rows), ", ", func(struct{}) string {
		return "(" + flavour.Join(make([]struct{}, width), ", ", next) + ")"
	})
}

// ColumnList returns the names of columns for a statement, each after a prefix such as "ld.".
func ColumnList(prefix string, cols []Column) string {
	return flavour.Join(cols, ", ", func(c Column) string { return prefix + c.Name })
}
