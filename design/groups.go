package design

import (
	"iter"
	"slices"

	"github.com/barograph/barograph/record"
)

// Groups groups records of several line types into documents, each by its
// Grouper. The zero value is empty and ready.
type Groups struct {
	of    map[*record.LineType]*Grouper
	types []*record.LineType // in the order of arrival
}

// Add takes the records of b, which must stay unchanged until Reset.
func (g *Groups) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	if g.of == nil {
		g.of = map[*record.LineType]*Grouper{}
	}
	of := g.of[b.Type]
	if of == nil {
		of = NewGrouper(b.Type)
		g.of[b.Type] = of
	}
	if !slices.Contains(g.types, b.Type) {
		g.types = append(g.types, b.Type)
	}
	of.Add(b)
}

// Types are those of the records, in the order of arrival.
func (g *Groups) Types() []*record.LineType { return g.types }

// Of is the grouper of one of Types.
func (g *Groups) Of(t *record.LineType) *Grouper { return g.of[t] }

// Docs walks the documents of one of Types, see Grouper.Docs.
func (g *Groups) Docs(t *record.LineType) iter.Seq[*Doc] { return g.of[t].Docs() }

// Places walks what tells the documents of one of Types apart, see Grouper.Places.
func (g *Groups) Places(t *record.LineType) iter.Seq2[*record.Header, int64] { return g.of[t].Places() }

// Reset forgets all records.
func (g *Groups) Reset() {
	for _, of := range g.of {
		of.Reset()
	}
	g.types = g.types[:0]
}
