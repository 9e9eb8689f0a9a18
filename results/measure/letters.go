package measure

import (
	"math"
	"slices"
	"strconv"

	"github.com/barograph/barograph/internal/lists"
)

// Letters returns a label for each of n samples. Two samples share a letter if and only if they do
// not differ: "a", "ab", "b". It is the insert and absorb method of Piepho (An algorithm for a
// letter-based representation of all-pairwise comparisons, J. Comput. Graph. Stat. 13, 2004). If
// the samples are in the order of their medians, "a" is the fastest group.
func Letters(n int, differ func(i, j int) bool) []string {
	if n == 0 {
		return nil
	}
	columns := [][]bool{slices.Repeat([]bool{true}, n)}
	for i := range n {
		for j := i + 1; j < n; j++ {
			if differ(i, j) {
				columns = absorb(split(columns, i, j))
			}
		}
	}
	slices.SortStableFunc(columns, func(a, b []bool) int { return slices.Index(a, true) - slices.Index(b, true) })
	out := make([]string, n)
	for c, column := range columns {
		for i, in := range column {
			if in {
				out[i] += letter(c)
			}
		}
	}
	return out
}

// split replaces each column with both i and j by one without i and one without j.
func split(columns [][]bool, i, j int) [][]bool {
	var out [][]bool
	for _, c := range columns {
		if !c[i] || !c[j] {
			out = append(out, c)
			continue
		}
		for _, drop := range []int{j, i} {
			d := slices.Clone(c)
			d[drop] = false
			out = append(out, d)
		}
	}
	return out
}

// absorb removes columns that another column contains.
func absorb(columns [][]bool) [][]bool {
	var out [][]bool
	for a, c := range columns {
		contains := func(b int) bool {
			return a != b && isSubset(c, columns[b]) && (!isSubset(columns[b], c) || b < a)
		}
		if !slices.ContainsFunc(lists.Indices(len(columns)), contains) {
			out = append(out, c)
		}
	}
	return out
}

// isSubset reports whether every member of c is one of other.
func isSubset(c, other []bool) bool {
	return !slices.ContainsFunc(lists.Indices(len(c)), func(i int) bool { return c[i] && !other[i] })
}

// letter returns a … z, then A … Z, then (52), (53) …
func letter(i int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if i < len(letters) {
		return letters[i : i+1]
	}
	return "(" + strconv.Itoa(i) + ")"
}

// Groups returns the letters of samples in the order of their medians. It tests each pair and
// corrects all pairs together. If no pair differs, it returns "" for all: a common letter would look
// like a result, although the samples may just be too small.
func Groups(samples [][]float64) []string {
	n := len(samples)
	ps := slices.Repeat([]float64{math.NaN()}, n*n) // of each pair i < j; NaN does not count
	for i := range n {
		for j := i + 1; j < n; j++ {
			ps[i*n+j] = MannWhitney(samples[i], samples[j])
		}
	}
	holm := Holm(ps)
	if !slices.ContainsFunc(holm, func(p float64) bool { return p < Alpha }) {
		return make([]string, n)
	}
	return Letters(n, func(i, j int) bool { return holm[i*n+j] < Alpha })
}
