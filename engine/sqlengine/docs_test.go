package sqlengine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// documents is a server with documents by id. It records the statements that delete.
type documents struct {
	entries map[string]string
	deleted []string
}

func (d *documents) Exec(_ context.Context, text string, args ...any) error {
	d.deleted = append(d.deleted, fmt.Sprintf("%s %s", text, args))
	return nil
}

func (d *documents) Rows(_ context.Context, _ string, args []any, f func([]any) error) error {
	for _, id := range args {
		if data, ok := d.entries[fmt.Sprint(id)]; ok {
			if err := f([]any{id, data}); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestStoreDocs: a document replaces the existing one with the records of both. A document of the same id is deleted
// before, unless the engine's Insert replaces it. Objects counts only new documents.
func TestStoreDocs(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	newBatch := func(file string, value float64, leads ...int32) *record.Batch {
		b := &record.Batch{}
		b.Reset(lt, file)
		h := b.AddHeader(record.Header{record.Version: "V12.0", record.Model: "GFS"})
		for i, lead := range leads {
			b.AppendTimes(h, lead, int64(i/2)*86400, uint32(i+1)) // two records a day
			for k := range b.Num {
				b.Num[k] = append(b.Num[k], 7) // some numbers are part of the identity
			}
			b.Num[0][i] = value
		}
		return b
	}
	stored := newBatch("old.stat", 1, 0)
	first := string(design.AppendKey(nil, lt, "s", &stored.Headers[0], 0))
	second := string(design.AppendKey(nil, lt, "s", &stored.Headers[0], 86400))
	for _, upserts := range []bool{false, true} {
		q := &documents{entries: map[string]string{first: string(design.AppendEntries(nil, stored))}}
		var inserted []string
		data := map[string]string{}
		a := &Archive{Design: design.Document, Dialect: &flavour.Dialect{
			Table: func(_, table string) string { return table },
			DocKeys: func(ids []string) (string, []any) {
				var args []any
				for _, id := range ids {
					args = append(args, id)
				}
				return "r.id IN (…)", args
			},
		}}
		var refused error
		l := a.NewLoader("s", LoadSession{
			Upserts: upserts, CheckKey: func(file, key string) error {
				if file != "new.stat" || key != first && key != second {
					t.Errorf("the key of %s is %q", file, key)
				}
				return refused
			},
			Insert: func(_ context.Context, _ Querier, table string, cols []Column, next Next) error {
				if table != "doc_grad" {
					t.Error(table)
				}
				for {
					row := rowSink{}
					if ok, err := next(row); err != nil || !ok {
						return err
					}
					if len(row) != len(cols) {
						t.Errorf("%d values for %d columns", len(row), len(cols))
					}
					inserted, data[row[0]] = append(inserted, row[0]), row[len(cols)-1]
				}
			},
		})
		g := design.NewGrouper(lt)
		g.Add(newBatch("new.stat", 2, 0, 3600, 0))
		g.Sort()
		result := archive.CommitResult{Replaced: map[string]int64{}}
		if err := l.StoreDocs(t.Context(), q, g, g.Rows, &result); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(inserted, []string{first, second}) || result.Objects != 1 || result.Replaced["new.stat"] != 1 {
			t.Errorf("documents %q, %+v", inserted, result)
		}
		merged := &record.Batch{}
		merged.Reset(lt, "")
		if err := design.ParseEntries([]byte(data[first]), merged, merged.AddHeader(stored.Headers[0]), 0); err != nil || merged.Len() != 2 || merged.Num[0][0] != 2 {
			t.Errorf("%s: %v", data[first], err)
		}
		if want := fmt.Sprintf("[DELETE FROM doc_grad WHERE id IN (…) [%s %s]]", first, second); upserts && q.deleted != nil || !upserts && fmt.Sprint(q.deleted) != want {
			t.Errorf("upserts %t: %q", upserts, q.deleted)
		}
		refused, q.deleted = errors.New("too long"), nil
		if err := l.StoreDocs(t.Context(), q, g, g.Rows, &result); !errors.Is(err, refused) {
			t.Error(err)
		}
		refused = nil
		q.entries[first] = "{"
		if err := l.StoreDocs(t.Context(), q, g, g.Rows, &result); err == nil {
			t.Error("half a document is merged")
		}
		delete(q.entries, first)
		q.deleted = nil
		if err := l.StoreDocs(t.Context(), q, g, g.Rows, &result); err != nil || q.deleted != nil {
			t.Errorf("no document exists: %v, %q", err, q.deleted)
		}
	}
	if got := Series([]design.Row{{Header: 1, Valid: 5}, {Header: 1, Valid: 5, Lead: 1}, {Header: 2, Valid: 5}, {Header: 2, Valid: 6}}); len(got) != 3 {
		t.Errorf("%v", got)
	}
}
