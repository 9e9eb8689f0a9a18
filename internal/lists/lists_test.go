package lists_test

import (
	"os"
	"path/filepath"
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

func TestPick(t *testing.T) {
	if got := lists.Pick([]string{"a", "b", "c"}, []int{2, 0, 2}); !slices.Equal(got, []string{"c", "a", "c"}) {
		t.Errorf("%q", got)
	}
	if got := lists.Pick([]string(nil), []int{2}); got != nil {
		t.Errorf("no list gives %#v", got)
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

// TestFiles: the name of a folder is no pattern.
func TestFiles(t *testing.T) {
	for _, name := range []string{"plain", "a[1]*?"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(filepath.Join(dir, "x1"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"b.sst", "a.sst", "x1/run.json"} {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := lists.Files(dir, "*.sst"), []string{filepath.Join(dir, "a.sst"), filepath.Join(dir, "b.sst")}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := lists.Files(dir, "x*/run.json"), []string{filepath.Join(dir, "x1", "run.json")}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := lists.Files(dir, "*.txt"); len(got) > 0 {
			t.Errorf("%q", got)
		}
	}
}
