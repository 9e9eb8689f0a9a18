package question

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// TestComputedStatsAreInTheTable: package question, which may not import stat,
// lists the statistics that a plot can ask for; both lists must agree.
func TestComputedStatsAreInTheTable(t *testing.T) {
	inTable := map[string]bool{}
	for _, s := range stat.Table() {
		inTable[s.LineType+" "+s.Name] = true
		if !slices.Contains(computed[s.LineType], s.Name) {
			t.Errorf("a plot cannot ask for %s of %s", s.Name, s.LineType)
		}
	}
	for _, lt := range record.Types() {
		for _, name := range computed[lt.Name] {
			if !inTable[lt.Name+" "+name] && name != "ANOM_CORR_RAW" { // an alias
				t.Errorf("a plot can ask for %s of %s, which is not computed", name, lt.Name)
			}
		}
	}
}
