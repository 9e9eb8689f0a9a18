// Package design defines how records are laid out in an archive.
//
//	normalized  METviewer's stat_header and line_data_* tables, queried with a join
//	document    one document per series and valid time, with its leads in an array
//	wide        one row per record, with the header columns repeated
//	keyvalue    derived key → compact payload of the leads
//	memory      no layout: the records in the client's own memory (the dry engine)
//
// The package does not depend on engines. It derives keys, groups records into documents, encodes
// payloads, and maintains the Catalog from which keys are derived.
package design

// Name names a design.
type Name string

// The designs for verification records.
const (
	Normalized Name = "normalized"
	Document   Name = "document"
	Wide       Name = "wide"
	KeyValue   Name = "keyvalue"
	Memory     Name = "memory" // only for the dry engine
)

// Names lists the designs in their documented order.
func Names() []Name { return []Name{Normalized, Document, Wide, KeyValue, Memory} }

// Summary describes a design in one line.
func (n Name) Summary() string {
	return map[Name]string{
		Normalized: "METviewer's own tables (stat_header, line_data_*), queried with a join",
		Document:   "one document per series and valid time under a derived id, its leads in an array",
		Wide:       "one row per record, header columns repeated, for columnar engines",
		KeyValue:   "derived key → compact binary payload of the leads; a question becomes a multi-get",
		Memory:     "the records in the client's own memory, without a database",
	}[n]
}

// Objects names what a design stores, in the plural.
func (n Name) Objects() string {
	switch n {
	case Document:
		return "documents"
	case KeyValue:
		return "pairs"
	}
	return "rows"
}

// Rows reports whether the design stores each record as its own object.
func (n Name) Rows() bool { return n == Normalized || n == Wide || n == Memory }
