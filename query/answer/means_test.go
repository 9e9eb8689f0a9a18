package answer_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// anomalies makes records of two regions and leads, some of them undefined.
func anomalies(rng *rand.Rand, n int) *record.Batch {
	q := question.MeanAnomalyCorrelation("a")
	b := &record.Batch{}
	b.Reset(q.Type, "x")
	var heads []uint32
	for _, mask := range []string{"G2/NHX", "G2/SHX"} {
		h := record.DefaultHeader()
		h[record.Model], h[record.FcstVar], h[record.FcstLev], h[record.VxMask] = "GFS", "HGT", "P500", mask
		heads = append(heads, b.AddHeader(h))
	}
	for i := range n {
		b.AppendTimes(heads[i%2], int32(i/2%2)*86400, int64(i)*21600, uint32(i+1)) //nolint:gosec // few
		values := map[string]float64{"total": 100, "fabar": rng.Float64(), "oabar": rng.Float64(), "ffabar": 2 + rng.Float64(), "ooabar": 2 + rng.Float64()}
		values["foabar"] = 1.5 * rng.Float64()
		if i%7 == 3 {
			values["ooabar"] = 0 // no variance
		}
		for _, c := range q.Type.Columns {
			v, ok := values[c.Name]
			if !ok || i%11 == 5 && c.Name == "fabar" {
				v = record.Missing()
			}
			b.Num[c.Slot] = append(b.Num[c.Slot], v)
		}
	}
	return b
}

func means(t *testing.T, batches ...*record.Batch) *answer.Answer {
	t.Helper()
	m, err := answer.NewMeans(question.MeanAnomalyCorrelation("a"))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		m.Add(b)
	}
	return m.Answer()
}

// TestMeans counts and averages by hand.
func TestMeans(t *testing.T) {
	b := anomalies(rand.New(rand.NewPCG(1, 2)), 400)
	got := means(t, b)
	if got.Rows != 4 {
		t.Fatalf("%d groups", got.Rows)
	}
	type group struct {
		mask string
		lead int64
	}
	records, defined, sum := map[group]float64{}, map[group]float64{}, map[group]float64{}
	at := func(name string, i int) float64 { c, _ := b.Type.Column(name); return b.Num[c.Slot][i] }
	for i := range b.Len() {
		g := group{b.Header(i)[record.VxMask], int64(b.Lead[i])}
		records[g]++
		f, o := at("fabar", i), at("oabar", i)
		if vf, vo := at("ffabar", i)-f*f, at("ooabar", i)-o*o; vf > 0 && vo > 0 {
			defined[g]++
			sum[g] += (at("foabar", i) - f*o) / math.Sqrt(vf*vo)
		}
	}
	for i := range got.Rows {
		g := group{got.Vectors[3].Text[i], got.Vectors[4].Seconds[i]}
		n, d, m := got.Vectors[5].Num[i], got.Vectors[6].Num[i], got.Vectors[7].Num[i]
		if n != records[g] || d != defined[g] || d == n || math.Abs(m-sum[g]/d) > 1e-12 {
			t.Errorf("%v: %g records, %g defined, mean %g; by hand %g, %g, %g", g, n, d, m, records[g], defined[g], sum[g]/defined[g])
		}
	}
	if _, err := answer.CompareMeans(got, means(t, b, b)); err != nil {
		t.Errorf("records that come twice count twice: %v", err)
	}
}

// TestMeansUndefined has a group in which nothing is defined.
func TestMeansUndefined(t *testing.T) {
	b := anomalies(rand.New(rand.NewPCG(1, 2)), 4)
	c, _ := b.Type.Column("foabar")
	b.Num[c.Slot][0] = record.Missing()
	got := means(t, b)
	if n, m := got.Vectors[6].Num[0], got.Vectors[7].Num[0]; n != 0 || !math.IsNaN(m) {
		t.Errorf("%g defined, mean %g", n, m)
	}
	if _, err := answer.CompareMeans(got, means(t, b)); err != nil {
		t.Error(err)
	}
}

// TestCompareMeans: any order is right; one wrong value, row or count is found.
func TestCompareMeans(t *testing.T) {
	b := anomalies(rand.New(rand.NewPCG(3, 4)), 300)
	want := means(t, b)
	fresh := func() *answer.Answer { return means(t, b) }
	reversed := fresh()
	for k := range reversed.Vectors {
		v := &reversed.Vectors[k]
		slices.Reverse(v.Text)
		slices.Reverse(v.Seconds)
		slices.Reverse(v.Num)
	}
	if _, err := answer.CompareMeans(want, reversed); err != nil {
		t.Errorf("another order: %v", err)
	}
	near := fresh()
	near.Vectors[7].Num[1] += answer.MeansTolerance(near.Vectors[6].Num[1]) / 2
	if _, err := answer.CompareMeans(want, near); err != nil {
		t.Errorf("within the tolerance: %v", err)
	}
	cut := func(a *answer.Answer, n int) {
		a.Rows = n
		for k := range a.Vectors {
			v := &a.Vectors[k]
			v.Text, v.Seconds, v.Num = v.Text[:min(n, len(v.Text))], v.Seconds[:min(n, len(v.Seconds))], v.Num[:min(n, len(v.Num))]
		}
	}
	for name, spoil := range map[string]func(a *answer.Answer){
		"a mean":          func(a *answer.Answer) { a.Vectors[7].Num[2] += 1e-11 },
		"a missing mean":  func(a *answer.Answer) { a.Vectors[7].Num[2] = math.NaN() },
		"a count":         func(a *answer.Answer) { a.Vectors[5].Num[0]-- },
		"a defined count": func(a *answer.Answer) { a.Vectors[6].Num[0]-- },
		"a region":        func(a *answer.Answer) { a.Vectors[3].Text[0] = "G2/nhx" },
		"a lead":          func(a *answer.Answer) { a.Vectors[4].Seconds[0]++ },
		"a lost group":    func(a *answer.Answer) { cut(a, a.Rows-1) },
		"a group twice": func(a *answer.Answer) {
			for k := range a.Vectors {
				v := &a.Vectors[k]
				if len(v.Text) > 0 {
					v.Text[1] = v.Text[0]
				}
				if len(v.Seconds) > 0 {
					v.Seconds[1] = v.Seconds[0]
				}
			}
		},
		"nothing":     func(a *answer.Answer) { cut(a, 0) },
		"half a row":  func(a *answer.Answer) { a.Vectors[7].Num = a.Vectors[7].Num[:1] },
		"few columns": func(a *answer.Answer) { a.Columns, a.Vectors = a.Columns[:7], a.Vectors[:7] },
	} {
		got := fresh()
		spoil(got)
		_, err := answer.CompareMeans(want, got)
		if _, ok := errors.AsType[*answer.Diff](err); !ok {
			t.Errorf("%s was not found: %v", name, err)
		}
	}
}

func TestMeansRefuses(t *testing.T) {
	q := question.MeanAnomalyCorrelation("a")
	q.Mean = "RMSE" // of SL1L2
	if _, err := answer.NewMeans(q); err == nil {
		t.Error("a statistic of another line type was taken")
	}
	q = question.MeanAnomalyCorrelation("a")
	q.Mean = "RMSFA" // not within ±1, as the tolerance requires
	if _, err := answer.NewMeans(q); err == nil || !strings.Contains(err.Error(), "choose a correlation") {
		t.Errorf("the mean of RMSFA: %v", err)
	}
	q = question.MeanAnomalyCorrelation("a")
	q.Columns[0], _ = question.ColumnByName(q.Type, "fcst_valid_beg")
	if _, err := answer.NewMeans(q); err == nil {
		t.Error("a group of valid times was taken")
	}
}
