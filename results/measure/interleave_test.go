package measure

import (
	"slices"
	"testing"
)

type visit struct{ cell, rep int }

func visits(seed uint64, cells, reps int) (out []visit) {
	for c, r := range Interleave(seed, cells, reps) {
		out = append(out, visit{c, r})
	}
	return out
}

func TestInterleaveVisitsEveryCellOnceARound(t *testing.T) {
	for _, size := range []visit{{1, 1}, {7, 20}, {100, 3}, {3, 0}, {0, 3}} {
		got := visits(42, size.cell, size.rep)
		if len(got) != size.cell*size.rep {
			t.Fatalf("%v: %d visits", size, len(got))
		}
		for rep := range size.rep {
			var cells []int
			for _, v := range got[rep*size.cell : (rep+1)*size.cell] {
				if v.rep != rep {
					t.Fatalf("%v: visit %v in round %d", size, v, rep)
				}
				cells = append(cells, v.cell)
			}
			slices.Sort(cells)
			for i, c := range cells {
				if c != i {
					t.Fatalf("%v round %d: cells %v", size, rep, cells)
				}
			}
		}
	}
}

func TestInterleaveIsSeeded(t *testing.T) {
	a := visits(1, 20, 5)
	if !slices.Equal(a, visits(1, 20, 5)) {
		t.Error("the same seed gave another order")
	}
	if slices.Equal(a, visits(2, 20, 5)) {
		t.Error("another seed gave the same order")
	}
	if slices.EqualFunc(a[:20], a[20:40], func(x, y visit) bool { return x.cell == y.cell }) {
		t.Error("two rounds have the same order")
	}
	if more := visits(1, 20, 9); !slices.Equal(a, more[:100]) {
		t.Error("more repetitions changed the earlier rounds")
	}
}

// Each cell should come at each place about equally often: 6,000 rounds of 4
// cells give 1,500 a place, with a standard deviation of 34.
func TestInterleaveIsFair(t *testing.T) {
	var at [4][4]int
	place := 0
	for c := range Interleave(3, 4, 6000) {
		at[c][place%4]++
		place++
	}
	for c := range at {
		for p, n := range at[c] {
			if n < 1300 || n > 1700 {
				t.Errorf("cell %d was %d times at place %d of 6000 rounds", c, n, p)
			}
		}
	}
}

func TestInterleaveStops(t *testing.T) {
	n := 0
	for range Interleave(1, 10, 10) {
		if n++; n == 13 {
			break
		}
	}
	if n != 13 {
		t.Errorf("stopped after %d", n)
	}
}
