package enginetest

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
)

// accesses checks a plan. It must reach the table of the line type, and no table outside the design. The
// number of kept rows must not exceed the number of examined rows. METviewer's BINARY must prevent the use
// of an index in the first step, so some table is read completely.
func (s *suite) accesses(t *testing.T, h *opened, p *archive.Query) {
	t.Helper()
	plan, err := h.Explain(t.Context(), p)
	if err != nil || plan.Text == "" {
		t.Fatalf("the plan is %q, %v", plan.Text, err)
	}
	table, _, known := sqlengine.DesignTable(s.design, p.Question.Type)
	reached := false
	for _, a := range plan.Access {
		reached = reached || a.Object == table || !known && a.Object != ""
		if known && a.Object != table && (s.design != design.Normalized || a.Object != design.HeaderTable) {
			t.Errorf("the plan reaches %q, which is not a table of %s", a.Object, s.design)
		}
		switch a.Method {
		case archive.FullScan, archive.PrunedScan, archive.IndexScan, archive.KeyLookup:
		default:
			t.Errorf("%q is not a method", a.Method)
		}
		if a.Examined < -1 || a.Kept < -1 || a.Examined >= 0 && a.Kept > a.Examined || a.Counted && a.Examined < 0 {
			t.Errorf("the counts of %+v are impossible", a)
		}
	}
	if !reached {
		t.Errorf("nothing of %+v reaches %s; the plan:\n%s", plan.Access, table, plan.Text)
	}
	scans := slices.ContainsFunc(plan.Access, func(a archive.Access) bool {
		return a.Method == archive.FullScan || a.Method == archive.PrunedScan
	})
	if p.Flavour == flavour.MetviewerSQL && !scans {
		t.Errorf("an index serves BINARY in every step: %+v\n%s", plan.Access, plan.Text)
	}
	nothing, err := h.Phrase(t.Context(), p.Question.InSubset("nowhere"), p.Flavour)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err := h.Explain(t.Context(), nothing); err != nil || len(plan.Access) > 0 {
		t.Errorf("in a subset that does not exist the plan reaches %+v, %v", plan.Access, err)
	}
}
