package ycsb

import (
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
)

// TestStatementsSince: the statements between two times are the differences of counts, unless these were reset meanwhile;
// the longest total time is first.
func TestStatementsSince(t *testing.T) {
	before := []engine.Statement{{ID: "1", Text: "a", Calls: 10, Time: 5, Rows: 10}, {
		ID: "2", Text: "b", Calls: 7,
		Time: 7, Rows: 7,
	}, {ID: "3", Text: "c", Calls: 100, Time: 100, Rows: 100}}
	after := []engine.Statement{
		{ID: "1", Text: "a", Calls: 13, Time: 9, Rows: 14},
		{ID: "2", Text: "b", Calls: 7, Time: 7, Rows: 7},
		{ID: "3", Text: "c", Calls: 2, Time: 3, Rows: 4},
		{ID: "4", Text: "d", Calls: 1, Time: time.Second, Rows: 1},
	}
	want := []engine.Statement{{ID: "4", Text: "d", Calls: 1, Time: time.Second, Rows: 1}, {
		ID: "1", Text: "a", Calls: 3,
		Time: 4, Rows: 4,
	}, {ID: "3", Text: "c", Calls: 2, Time: 3, Rows: 4}}
	if got := statementsSince(before, after); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
