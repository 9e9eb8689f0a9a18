package run_test

import (
	"testing"

	"github.com/barograph/barograph/results/run"
)

func TestAccessInWords(t *testing.T) {
	for _, c := range []struct {
		access        run.Access
		words, counts string
	}{
		{run.Access{Object: "line_data_sal1l2", Method: "full scan", Examined: 321172, Kept: 848, Counted: true}, "full scan of line_data_sal1l2", "321,172 → 848"},
		{run.Access{Object: "wide_sal1l2", Method: "index scan", Index: "series_idx", Examined: 80, Kept: -1}, "index scan of wide_sal1l2 by series_idx", "~80"},
		{run.Access{Object: "doc_sal1l2", Method: "key lookup", Index: "PRIMARY", Examined: -1, Kept: -1}, "key lookup in doc_sal1l2 by PRIMARY", "not reported"},
		{run.Access{Object: "memory", Method: "key lookup", Counted: true}, "key lookup in memory", "0 → 0"},
	} {
		if w, n := c.access.Description(), c.access.Counts(); w != c.words || n != c.counts {
			t.Errorf("%q, %q; want %q, %q", w, n, c.words, c.counts)
		}
	}
	for _, c := range []struct {
		all            []run.Access
		n              int64
		known, counted bool
	}{
		{nil, 0, false, true},
		{[]run.Access{{Examined: 5, Counted: true}, {Examined: 7, Counted: true}}, 12, true, true},
		{[]run.Access{{Examined: 5, Counted: true}, {Examined: -1}}, 5, false, true},
		{[]run.Access{{Examined: 5, Counted: true}, {Examined: 2}}, 7, true, false},
	} {
		if n, known, counted := run.SumExamined(c.all); n != c.n || known != c.known || counted != c.counted {
			t.Errorf("%+v: %d, %t, %t", c.all, n, known, counted)
		}
	}
}
