package sqlengine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// uncountable is a server with one table of documents, which it cannot count.
type uncountable struct {
	catalog   string
	tables    []string
	isDeleted bool
}

var errUncountable = errors.New("the server cannot count")

func (u *uncountable) Exec(_ context.Context, text string, _ ...any) error {
	u.isDeleted = u.isDeleted || strings.HasPrefix(text, "DELETE")
	return nil
}

func (u *uncountable) Rows(_ context.Context, text string, _ []any, f func([]any) error) (err error) {
	switch {
	case text == "TABLES":
		for _, name := range u.tables {
			err = errors.Join(err, f([]any{name}))
		}
	case strings.HasPrefix(text, "SELECT catalog"):
		err = f([]any{u.catalog})
	case strings.HasPrefix(text, "SELECT count"):
		err = errUncountable
	}
	return err
}

// TestTrimNeedsTheNumberOfDocuments: if the documents cannot be counted, Trim removes none. Earlier, the next dumped batch
// replaced the error, and the catalog then counted documents that were removed.
func TestTrimNeedsTheNumberOfDocuments(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	b := &record.Batch{}
	b.Reset(lt, "a.stat")
	b.AppendTimes(b.AddHeader(record.Header{record.Version: "V12.0"}), 0, 0, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], 1)
	}
	c := design.NewCatalog("a")
	c.Add(b)
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := DesignTable(design.Document, lt)
	q := &uncountable{catalog: string(text), tables: []string{table, "barograph_document_catalog"}}
	a := &Archive{
		Design: design.Document, Pool: q, TablesQuery: func(string) (string, []any) { return "TABLES", nil },
		ListedName: func(_, table string) string { return table },
		Dialect: &flavour.Dialect{
			Name: "x", Table: func(_, table string) string { return table }, DateTime: func(int64) string { return "''" },
		},
	}
	l := a.NewLoader("a", LoadSession{
		Transaction:  func(_ context.Context, f func(q Querier) error) error { return f(q) },
		Version:      func(context.Context, Querier) (int64, error) { return 1, nil },
		StoreCatalog: func(context.Context, Querier, []byte) error { return nil },
		Dump:         func(_ context.Context, _ *record.LineType, _ string, to *archive.Dumper) error { return to.Yield(b) },
	})
	if err := l.Trim(t.Context(), 86400); !errors.Is(err, errUncountable) || q.isDeleted {
		t.Errorf("documents were removed: %t; error %v", q.isDeleted, err)
	}
}
