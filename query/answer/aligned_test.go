package answer

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
)

// models returns an answer with a row for each letter.
func models(letters string, ties ...[2]int) *Answer {
	a := &Answer{
		Columns: []question.Column{{Name: "model", Role: question.HeaderField, Kind: question.Text}},
		Vectors: []Vector{{Text: strings.Split(letters, "")}}, Rows: len(letters), Ties: ties,
	}
	return a
}

// TestAlignedTies: rows of one identity are brought into the order of the reference, any number of such groups; other
// rows stay in their places.
func TestAlignedTies(t *testing.T) {
	for _, c := range []struct {
		want, got, aligned string
		ties               [][2]int
	}{
		{"abc", "bac", "bac", nil},
		{"abc", "bac", "abc", [][2]int{{0, 2}}},
		{"bac", "abc", "bac", [][2]int{{0, 2}}},
		{"abcd", "badc", "abdc", [][2]int{{0, 2}}},
		{"abcd", "badc", "abcd", [][2]int{{0, 2}, {2, 4}}},
		{"cba", "abc", "cba", [][2]int{{0, 3}}},
		{"abc", "acb", "acb", [][2]int{{0, 2}}},
	} {
		if got := models(c.want, c.ties...).alignTies(models(c.got)); strings.Join(got.Vectors[0].Text, "") != c.aligned {
			t.Errorf("%s as %s with ties %v: %q, want %s", c.got, c.want, c.ties, got.Vectors[0].Text, c.aligned)
		}
	}
}

// TestNoRowsDifferByNothing: an answer without rows has no greatest difference.
func TestNoRowsDifferByNothing(t *testing.T) {
	var d Diff
	if largest, equal := matchRows([][]value{{{}}}, nil, 1, Tolerance, &d); largest != 0 || !equal || d.Missing+d.Extra != 0 {
		t.Errorf("%v, %t, %+v", largest, equal, d)
	}
}
