package answer

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// records makes SAL1L2 records of HGT: one per mask, level, lead (hours) and
// valid time (hours), with value v in every column but total.
func records(t testing.TB, masks, levels []string, leads []int32, valid []int64, v float64) *record.Batch {
	t.Helper()
	lt, ok := record.TypeByName("SAL1L2")
	if !ok {
		t.Fatal("no SAL1L2")
	}
	b := &record.Batch{}
	b.Reset(lt, "f")
	for _, m := range masks {
		for _, l := range levels {
			h := record.DefaultHeader()
			h[record.Version], h[record.Model], h[record.FcstVar], h[record.VxMask], h[record.FcstLev] = "V01", "GFS", "HGT", m, l
			head := b.AddHeader(h)
			for _, lead := range leads {
				for _, at := range valid {
					b.AppendTimes(head, lead*3600, at*3600, 1)
					for k := range b.Num {
						b.Num[k] = append(b.Num[k], v)
					}
				}
			}
		}
	}
	return b
}

func ask(t testing.TB, order ...string) *question.Question {
	t.Helper()
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "q", Type: lt}
	var err error
	if q.Columns, err = question.Columns(lt, "vx_mask", "fcst_lev", "fcst_lead", "fcst_valid_beg", "fabar"); err != nil {
		t.Fatal(err)
	}
	if q.Order, err = question.Columns(lt, order...); err != nil {
		t.Fatal(err)
	}
	return q
}

func TestReferenceSelectsAndSorts(t *testing.T) {
	q := ask(t, "fcst_lev", "vx_mask")
	q.Header[record.VxMask] = []string{"G2/SHX", "G2/NHX"}
	q.Lead = []int32{0, 24 * 3600}
	q.Valid = question.Times{First: 0, Last: 12 * 3600, Step: 12 * 3600}
	r := NewReference(q)
	r.Add(records(t, []string{"G2/SHX", "G2/NHX", "G2"}, []string{"P500", "P1000", "P250"}, []int32{24, 0, 12}, []int64{6, 12, 0, 18}, 1))
	a := r.Answers()[0]
	if a.Rows != 2*3*2*2 {
		t.Fatalf("%d rows, want 24", a.Rows)
	}
	// bytewise: P1000 < P250 < P500
	if levels := a.Vectors[1].Text; levels[0] != "P1000" || levels[8] != "P250" || levels[16] != "P500" || !slices.IsSorted(levels) {
		t.Errorf("levels are not in bytewise order: %v", levels)
	}
	for i := 1; i < a.Rows; i++ { // within a level and mask, the tie is broken by valid time, then lead
		same := a.Vectors[0].Text[i] == a.Vectors[0].Text[i-1] && a.Vectors[1].Text[i] == a.Vectors[1].Text[i-1]
		if same && a.Vectors[3].Seconds[i] < a.Vectors[3].Seconds[i-1] {
			t.Errorf("row %d: the order of times is not total", i)
		}
	}
}

// ClickBench: LIMIT over ties differs between engines. A question's order is
// total: shuffled records give one answer.
func TestClickBenchTiesHaveOneOrder(t *testing.T) {
	masks, levels, leads, valid := []string{"A", "B", "C"}, []string{"P1", "P2"}, []int32{0, 6, 12}, []int64{0, 6}
	q := ask(t) // no order at all
	one, two := NewReference(q), NewReference(q)
	one.Add(records(t, masks, levels, leads, valid, 1))
	slices.Reverse(masks)
	slices.Reverse(levels)
	slices.Reverse(leads)
	slices.Reverse(valid)
	two.Add(records(t, masks, levels, leads, valid, 1))
	if _, err := Compare(one.Answers()[0], two.Answers()[0]); err != nil {
		t.Error(err)
	}
}

func TestReferenceKeepsTheFirstValue(t *testing.T) {
	q := ask(t, "fcst_lead")
	r := NewReference(q, q)
	r.Add(records(t, []string{"A"}, []string{"P1"}, []int32{0, 6, 12}, []int64{0}, 1))
	r.Add(records(t, []string{"A"}, []string{"P1"}, []int32{6, 18}, []int64{0}, 2))
	for _, a := range r.Answers() {
		if want := []float64{1, 1, 1, 2}; !slices.Equal(a.Vectors[4].Num, want) {
			t.Errorf("values %v, want %v", a.Vectors[4].Num, want)
		}
	}
}

func TestMatcherTimes(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	for _, tc := range []struct {
		name  string
		valid question.Times
		leads []int32
		v     int64
		lead  int32
		want  bool
	}{
		{"all", question.Times{}, nil, 5, 5, true},
		{"list", question.Times{List: []int64{1, 5}}, nil, 5, 0, true},
		{"not in the list", question.Times{List: []int64{1, 5}}, nil, 3, 0, false},
		{"grid", question.Times{First: 0, Last: 12, Step: 6}, nil, 6, 0, true},
		{"between the steps", question.Times{First: 0, Last: 12, Step: 6}, nil, 7, 0, false},
		{"range", question.Times{First: 0, Last: 12}, nil, 7, 0, true},
		{"after the range", question.Times{First: 0, Last: 12}, nil, 13, 0, false},
		{"lead", question.Times{}, []int32{0, 3600}, 0, 3600, true},
		{"other lead", question.Times{}, []int32{0, 3600}, 0, 1800, false},
	} {
		m := NewMatcher(&question.Question{Type: lt, Valid: tc.valid, Lead: tc.leads})
		if got := m.Times(tc.v, tc.lead); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
