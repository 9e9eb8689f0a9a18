package design

import (
	"testing"

	"github.com/barograph/barograph/record"
)

// TestOrderOfEntries: the records of a document are ordered by their lead, their further times, and then the columns of
// their identity. Columns of values do not matter.
func TestOrderOfEntries(t *testing.T) {
	for _, lt := range record.Types() {
		pair := &record.Batch{}
		fill := func() {
			pair.Reset(lt, "")
			head := pair.AddHeader(record.DefaultHeader())
			for range 2 {
				pair.AppendTimes(head, 3600, day, 1)
			}
			for k := range pair.Num {
				pair.Num[k] = []float64{5, 5}
			}
			for k := range pair.Text {
				pair.Text[k] = []string{"m", "m"}
			}
		}
		fill()
		if c := compareEntries(pair, 0, pair, 1); c != 0 {
			t.Errorf("%s: equal records are ordered: %d", lt.Name, c)
		}
		for _, col := range lt.Columns {
			fill()
			if col.Kind == record.Text {
				pair.Text[col.Slot][1] = "n"
			} else {
				pair.Num[col.Slot][1] = 6
			}
			want := 0
			if col.InIdentity {
				want = -1
			}
			if c := compareEntries(pair, 0, pair, 1); c != want || compareEntries(pair, 1, pair, 0) != -want {
				t.Errorf("%s: a greater %s: %d, want %d", lt.Name, col.Name, c, want)
			}
			pair.ObsEnd[0]++ // a time precedes all columns
			if c := compareEntries(pair, 0, pair, 1); c != 1 {
				t.Errorf("%s: a later time and a smaller %s: %d, want 1", lt.Name, col.Name, c)
			}
		}
	}
}
