package main

import (
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/record"
)

// TestCoverageRows: a row has the times of all series with its label, of one line type only, and says how many of them
// are missing. A series without records has no row.
func TestCoverageRows(t *testing.T) {
	group := func(lineType, model string, records int64, valid ...int64) *design.Group {
		return &design.Group{LineType: lineType, Model: model, Valid: valid, Digest: record.Digest{Records: records}}
	}
	c := &design.Catalog{Groups: []*design.Group{
		group("SL1L2", "b", 2, 0, 3600),
		group("SL1L2", "a", 2, 7200, 5*3600),
		group("SL1L2", "a", 3, 0, 3600, 7200),
		group("CTC", "a", 1, 7200),
		group("SL1L2", "gone", 0, 7200),
	}}
	rows := coverageRows(c, "SL1L2", func(g *design.Group) string { return g.Model })
	if len(rows) != 2 || rows[0].Label != "a" || rows[1].Label != "b" {
		t.Fatalf("%+v", rows)
	}
	if len(rows[0].Runs) != 2 || rows[0].Note != "4 times, 2 missing" || len(rows[1].Runs) != 1 || rows[1].Note != "2 times" {
		t.Errorf("%+v", rows)
	}
}
