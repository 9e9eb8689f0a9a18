package question

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// awkward are values that files and people bring and that a list, YAML or a query string may break.
var awkward = []string{
	"GFS", "EP,CP", "0,*,*", "A+B", "A:B", "X Y", `the "other" one`, "it's", `a\b`, "true", "null", "~", "1e3", "0012", "-", "- a", "a: b", "#x", "*", "&a", "=1+1",
	" x ", "", "ü", "[a]", "{a: b}", "%", "2019-01-01",
}

// randomDrawing sets every field of Drawing now and then.
func randomDrawing(r *rand.Rand) *Drawing {
	pick := func() string { return awkward[r.IntN(len(awkward))] }
	flag := func() bool { return r.IntN(3) == 0 }
	float := func() *float64 { f := r.NormFloat64(); return &f }
	style := func() metviewer.Style {
		return metviewer.Style{"colors": fmt.Sprintf("#%06x", r.IntN(1<<24)), "legend": pick()}
	}
	d := &Drawing{Method: "overall", RightAxis: flag(), NoVIF: flag(), EventEqual: flag(), EqualizeAcrossAxis: flag()}
	names := []string{"RMSE", "ME", "MAE"}
	if flag() {
		d.Stats = names[:1+r.IntN(3)]
		d.FromColumns = flag()
	}
	d.Picture = []string{"", "", "box", "taylor", "scorecard"}[r.IntN(5)]
	d.Axis = []string{"", "fcst_lead", "valid_hour", "model"}[r.IntN(4)]
	for _, field := range []string{"model", "fcst_lead", "obtype"}[:r.IntN(4)] {
		g := Group{Field: field}
		for range 1 + r.IntN(3) {
			if g.Values = append(g.Values, []string{pick(), pick()}[:1+r.IntN(2)]); field == "fcst_lead" {
				g.Values[len(g.Values)-1] = []string{fmt.Sprint(r.IntN(400) - 12), fmt.Sprint(*float())}[:1+r.IntN(2)]
			}
		}
		d.Curves = append(d.Curves, g)
	}
	if len(d.Curves) > 0 && flag() {
		side := func() (items []int) {
			for _, g := range d.Curves {
				items = append(items, r.IntN(len(g.Values)))
			}
			return items
		}
		for range 1 + r.IntN(2) {
			made := Derived{Operation: stat.Operation(stat.Operations()[r.IntN(6)]), A: side(), B: side()}
			if flag() {
				made.StatA, made.StatB, made.Style = names[r.IntN(max(len(d.Stats), 1))], names[r.IntN(3)], style()
			}
			d.Derived = append(d.Derived, made)
		}
	} else if len(d.Curves) > 0 && flag() {
		for i := range d.Curves {
			d.Curves[i].Values = nil
		}
	}
	for _, field := range []string{"vx_mask", "fcst_lev", "vx_mask"}[:r.IntN(4)] { // a plot may name a field twice
		d.Equalize = append(d.Equalize, Group{Field: field, Values: [][]string{{pick(), pick()}}})
	}
	if flag() {
		d.Method = []string{"mean", "median", "sum"}[r.IntN(3)]
	}
	if d.Confidence = []float64{0, 0.9, 0.95}[r.IntN(3)]; d.Method == "overall" && d.Confidence > 0 {
		d.Replicates = []int{0, 300, 1000}[r.IntN(3)]
	}
	if flag() {
		seed := r.Uint64()
		d.Seed = &seed
	}
	if flag() {
		d.BootCI, d.Block = "bca", 1
	}
	for range r.IntN(3) {
		d.Styles = append(d.Styles, style())
		d.Ticks = append(d.Ticks, metviewer.Tick{Value: pick(), Label: pick(), Position: []*float64{nil, float()}[r.IntN(2)]})
	}
	for i := range d.EquivalenceBounds {
		if flag() {
			d.EquivalenceBounds[i] = float()
		}
	}
	for range r.IntN(3) {
		d.ValueConditions = append(d.ValueConditions, ValueCondition{[]string{"total", "fbar"}[r.IntN(2)], []string{"=", "<", "<=", ">", ">="}[r.IntN(5)], *float()})
	}
	if flag() {
		d.Baseline, d.XLabel, d.YLabel = pick(), pick(), pick()
	}
	return d
}

// randomQuestion makes a question; of many calls each field is set in some.
func randomQuestion(r *rand.Rand) *Question {
	t, _ := record.TypeByName([]string{"SL1L2", "SAL1L2"}[r.IntN(2)])
	pick := func() string { return awkward[r.IntN(len(awkward))] }
	list := func(most int) (out []string) {
		for range r.IntN(most + 1) {
			out = append(out, pick())
		}
		return out
	}
	times := func() (t Times) {
		at := func() int64 { return int64(r.IntN(4_000_000_000)) - 1_000_000_000 }
		switch r.IntN(4) {
		case 0:
			for range 1 + r.IntN(4) {
				t.List = append(t.List, at())
			}
			slices.Sort(t.List)
		case 1:
			t.First = at()
			t.Last = t.First + int64(1+r.IntN(1e6))
		case 2:
			t.First, t.Step = at(), int64(1+r.IntN(100_000))
			t.Last = t.First + int64(r.IntN(1000))*t.Step
		}
		return t
	}
	q := &Question{
		Name: pick(), Title: pick(), Untitled: r.IntN(2) == 0, Changed: list(2), Weight: 1 + r.IntN(3), Subset: pick(), MoreSubsets: list(2),
		Type: t, Valid: times(), TimeFilter: TimeFilter{Init: times()}, Omitted: list(2), Refused: list(2),
	}
	for f := range q.Header {
		if r.IntN(4) == 0 {
			q.Header[f] = Unique(append(list(2), pick()))
		}
	}
	for _, hours := range []*[]int{&q.TimeFilter.ValidHour, &q.TimeFilter.InitHour} {
		if r.IntN(3) == 0 {
			*hours = []int{r.IntN(12), 12 + r.IntN(12)}
		}
	}
	for range r.IntN(6) {
		q.Lead = append(q.Lead, int32(r.IntN(1_000_000))-100_000)
	}
	slices.Sort(q.Lead)
	q.Lead = slices.Compact(q.Lead)
	if t.Name == "SAL1L2" && r.IntN(2) == 0 {
		q.Mean = "ANOM_CORR"
		by, _ := Columns(t, "model", "fcst_lead")
		q.Columns = append(by, groupStatistics()...)
		return q
	}
	if t.Name == "SL1L2" && r.IntN(4) > 0 {
		q.Drawing = randomDrawing(r)
		q.addSeriesConditions(q.Drawing.Curves)
	}
	if q.SelectColumns(); r.IntN(2) == 0 {
		q.Columns, _ = Columns(t, "total", "model", "fcst_lead")
		q.Order, _ = Columns(t, "model")
	}
	return q
}

// setFields records the fields that are set in a value and in the values below it, as "Type.Field". A line type and a
// column are not examined further.
func setFields(v reflect.Value, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*record.LineType]() {
			setFields(v.Elem(), set)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			setFields(v.Index(i), set)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && v.Type() != reflect.TypeFor[Column](); i++ {
			if f := v.Field(i); !f.IsZero() {
				set[v.Type().Name()+"."+v.Type().Field(i).Name] = true
				setFields(f, set)
			}
		}
	}
}

// TestEveryFieldIsWritten: a question is read as it was written, whichever of its fields are set. A field that this test
// never sets, such as a new one, fails it.
func TestEveryFieldIsWritten(t *testing.T) {
	set, seeds := map[string]bool{}, uint64(1000)
	if testing.Short() {
		seeds = 200
	}
	for seed := range seeds {
		q := randomQuestion(rand.New(rand.NewPCG(seed, 35)))
		setFields(reflect.ValueOf(q), set)
		if same(t, q); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	for _, all := range []any{Question{}, Drawing{}, TimeFilter{}, Times{}, Group{}, Derived{}, ValueCondition{}, metviewer.Tick{}} {
		for f := range reflect.TypeOf(all).Fields() {
			if name := reflect.TypeOf(all).Name() + "." + f.Name; !set[name] {
				t.Errorf("%s is never set", name)
			}
		}
	}
}
