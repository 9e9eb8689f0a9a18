package flavour

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/question"
)

// TestLiterals: no character in a text ends its literal or its identifier, and none is a wildcard for DuckDB.
func TestLiterals(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Quote("it's"), "'it''s'"},
		{Quote(""), "''"},
		{Quote("''"), "''''''"},
		{Ident(`a"b`), `"a""b"`},
		{Ident("a b"), `"a b"`},
		{DuckDBFile("/d/[a]*?'.parquet"), "'/d/[[]a][*][?]''.parquet'"},
		{List([]string{"a", "it's"}, Quote), "('a', 'it''s')"},
		{List([]int64{1}, integer), "(1)"},
		{List(nil, integer), "()"},
		{DateTime(-1), "1969-12-31 23:59:59"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}

// TestListsOfLimitedLength: a list that is longer than the dialect allows is split into lists of the greatest length.
func TestListsOfLimitedLength(t *testing.T) {
	for _, c := range []struct {
		most  int
		items []int64
		want  string
	}{
		{0, []int64{1, 2, 3}, "x IN (1, 2, 3)"},
		{3, []int64{1, 2, 3}, "x IN (1, 2, 3)"},
		{2, []int64{1, 2, 3}, "(x IN (1, 2)\n       OR x IN (3))"},
		{1, []int64{1, 2}, "(x IN (1)\n       OR x IN (2))"},
	} {
		if got := oneOf(&Dialect{MaxList: c.most}, "x", c.items, integer); got != c.want {
			t.Errorf("at most %d of %v: %s, want %s", c.most, c.items, got, c.want)
		}
	}
}

// TestStepsOfGrids: a range excludes the times between the steps of a grid; a step of one second excludes none.
func TestStepsOfGrids(t *testing.T) {
	for step, want := range map[int64]string{0: "", 1: "", 2: "(fcst_valid_epoch - 1704067200) % 2 = 0", 3600: "(fcst_valid_epoch - 1704067200) % 3600 = 0"} {
		q := ask(t, func(q *question.Question) { q.Valid = question.Times{First: day, Last: day + 7200, Step: step} })
		p, err := Build(plain(), design.Wide, EpochRange, q, catalog(true, "V01"))
		if err != nil || !strings.Contains(p.Text, "fcst_valid_epoch BETWEEN 1704067200 AND 1704074400") || !strings.Contains(p.Text, want) ||
			strings.Contains(p.Text, "%") != (want != "") {
			t.Errorf("step %d: %v\n%s", step, err, p.Text)
		}
	}
}

// TestSummaries: every flavour has a summary of its own. Only the designs that a query language reads have means.
func TestSummaries(t *testing.T) {
	flavours := map[string]Name{}
	for _, n := range Names() {
		s := n.Summary()
		if other, isKnown := flavours[s]; s == "" || isKnown {
			t.Errorf("%s and %s have the summary %q", n, other, s)
		}
		flavours[s] = n
	}
	if s := Name("none").Summary(); s != "" {
		t.Errorf("an unknown flavour has the summary %q", s)
	}
	for n, want := range map[design.Name]Name{design.Normalized: SQL, design.Wide: SQL, design.Document: EpochRange, design.KeyValue: ""} {
		if got := MeansFlavour(n); got != want {
			t.Errorf("means of %s: %q, want %q", n, got, want)
		}
	}
}
