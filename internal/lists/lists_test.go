package lists_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/barograph/barograph/internal/lists"
)

func TestLists(t *testing.T) {
	if got := lists.Map(lists.Indices(3), strconv.Itoa); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("%q", got)
	}
	if got := lists.Map([]int(nil), strconv.Itoa); got == nil || len(got) != 0 {
		t.Errorf("no items give %#v, not an empty list", got)
	}
}
