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

func TestFilterAndSet(t *testing.T) {
	isEven := func(i int) bool { return i%2 == 0 }
	if got := lists.Filter(lists.Indices(5), isEven); !slices.Equal(got, []int{0, 2, 4}) {
		t.Error(got)
	}
	if got := lists.Sum(slices.Values([]float64{1e16, 1, -1e16})); got != 0 {
		t.Errorf("the sum is %g, that of another order", got)
	}
	if got := lists.Filter([]int{1, 3}, isEven); got != nil {
		t.Errorf("%#v is not nil", got)
	}
	if got := lists.Set(lists.Indices(5), isEven); len(got) != 2 || !got[true] || !got[false] {
		t.Error(got)
	}
}
