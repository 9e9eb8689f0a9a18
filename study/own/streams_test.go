package own

import (
	"context"
	"testing"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/results/run"
)

// TestLoadCopies: loadCopies loads the largest table that can be loaded, and counts its rows. A table that was skipped
// after its rows were counted may be larger.
func TestLoadCopies(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var loads []int64
	p := &participant{own: &tables.Tables{
		Ask: func(context.Context, string, func([]any) error) error { return nil },
		Load: func(_ context.Context, table *tables.Table) error {
			if loads = append(loads, table.Rows); len(loads) == 3 {
				stop()
			}
			return nil
		},
	}}
	r := &runner{
		folder: &run.Folder{Run: run.Run{Own: &run.Own{Tables: []run.OwnTable{
			{Name: "small", Rows: 2}, {Name: "skipped", Rows: 9, Problem: "a value was changed"}, {Name: "large", Rows: 5},
		}}}},
		tables: []*tables.Table{{Name: "small", Rows: 2}, {Name: "large", Rows: 5}},
	}
	rows, err := r.loadCopies(ctx, p)
	if err != nil || rows != 2*5 {
		t.Errorf("%d rows of complete copies, %v", rows, err)
	}
	for _, n := range loads {
		if n != 5 {
			t.Errorf("a table of %d rows was loaded", n)
		}
	}
}
