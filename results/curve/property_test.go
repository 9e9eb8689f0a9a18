package curve_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
)

// TestWordsOfRandomQuestions: for random archives, questions and changed conditions, the title, the legend, the rows of
// CSV and the names of files describe the data that were computed.
func TestWordsOfRandomQuestions(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	fields := map[record.Field][]string{
		record.Model:   {"GFS", "ECM,WF", `the "other" one`, "A:B", "A+B", "A", "B", "X", "X Y"},
		record.FcstVar: {"HGT", "TMP", "APCP_06", "a b", "u,v"},
		record.FcstLev: {"P500", "0,*,*", "Z2"},
		record.VxMask:  {"EP,CP", "NHX", "NHX EP", "Z", "Y Z"},
	}
	order := []record.Field{record.Model, record.FcstVar, record.FcstLev, record.VxMask}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 35))
		some := func(values []string, least int) (out []string) {
			for _, i := range random.Perm(len(values))[:least+random.IntN(len(values)-least+1)] {
				out = append(out, values[i])
			}
			return out
		}
		var b record.Batch
		b.Reset(sl1l2, "")
		present := map[record.Field][]string{}
		for _, f := range order {
			present[f] = some(fields[f], 1)
		}
		q := &question.Question{Name: "q", Title: "what was written before", Type: sl1l2, Drawing: question.NewDrawing(sl1l2, "RMSE", "fcst_lead")}
		for _, f := range order {
			if random.IntN(2) == 0 {
				q.Header[f] = some(present[f], 1)
			}
		}
		if random.IntN(2) == 0 {
			q.Drawing.Curves = []question.Group{{Field: "model"}}
			for _, m := range present[record.Model] {
				q.Drawing.Curves[0].Values = append(q.Drawing.Curves[0].Values, []string{m})
			}
		}
		q.Drawing.Replicates = 0
		before := *q
		for _, f := range order {
			if random.IntN(2) == 0 {
				q.Header[f] = some(present[f], 1)
			}
		}
		stat := []string{"RMSE", "ME", "MAE"}[random.IntN(3)]
		q.Adapt(&before, stat)
		q.SelectColumns()
		for _, f := range order {
			if c, err := question.ColumnByName(sl1l2, f.String()); err == nil && !slices.ContainsFunc(q.Columns, func(have question.Column) bool { return have.Name == f.String() }) {
				q.Columns = append(q.Columns, c)
			}
		}
		for range 1 + random.IntN(60) {
			h := record.DefaultHeader()
			asked := true
			for _, f := range order {
				h[f] = present[f][random.IntN(len(present[f]))]
				asked = asked && (len(q.Header[f]) == 0 || slices.Contains(q.Header[f], h[f]))
			}
			if !asked {
				continue
			}
			b.AppendTimes(b.AddHeader(h), int32(6*3600*random.IntN(4)), int64(86400*random.IntN(5)), 1)
			for _, c := range sl1l2.Columns {
				b.Num[c.Slot] = append(b.Num[c.Slot], 1+random.Float64())
			}
		}
		a := answer.Select(q, &b)
		if a.Rows == 0 {
			continue
		}
		got, err := curve.Compute(t.Context(), q, a, stat, 1)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkWords(t, seed, &before, q, a, got.Title, stat)
		names, n := map[string]bool{}, 0
		for _, s := range got.Series {
			if names[s.Name] {
				t.Errorf("seed %d: two curves are called %q", seed, s.Name)
			}
			names[s.Name] = true
			for _, k := range s.Records {
				n += k
			}
		}
		if n != a.Rows {
			t.Errorf("seed %d: the curves have %d records, the answer %d", seed, n, a.Rows)
		}
		if want := curvesOf(q, a); len(want) != len(got.Series) {
			t.Errorf("seed %d: %d curves of %d: %v", seed, len(got.Series), len(want), names)
		}
		rows := curve.Rows([]*run.VerificationPlot{got})
		for i := range rows.Rows {
			if rows.Vectors[0].Text[i] != stat || !names[rows.Vectors[1].Text[i]] {
				t.Errorf("seed %d: CSV has %s, %q", seed, rows.Vectors[0].Text[i], rows.Vectors[1].Text[i])
			}
		}
		other := *q
		if question.RenameChanged([]*question.Question{q, &other}); len(q.Changed) > 0 {
			want := regexp.MustCompile(`[^A-Za-z0-9_.-]+`).ReplaceAllString(strings.Join(q.Header[record.FcstVar], "_")+"_SL1L2", "_")
			if q.Name != strings.TrimPrefix(want, "_") || other.Name == q.Name {
				t.Errorf("seed %d: files are called %q and %q, want %q", seed, q.Name, other.Name, want)
			}
		}
	}
}

// curvesOf returns the expected curves of an answer: one for each model if the drawing names models, and otherwise one
// for each combination of header fields.
func curvesOf(q *question.Question, a *answer.Answer) map[string]bool {
	out := map[string]bool{}
	for i := range a.Rows {
		key := ""
		for k, c := range a.Columns[:len(q.Columns)] {
			if c.Role == question.HeaderField && (len(q.Drawing.Curves) == 0 || c.Name == "model") {
				key += fmt.Sprintf("%q", a.Vectors[k].Text[i])
			}
		}
		out[key] = true
	}
	return out
}

// checkWords compares a title with the rows. The title of a changed question names the statistic, and the values of
// each field that has at most four.
func checkWords(t *testing.T, seed uint64, before, q *question.Question, a *answer.Answer, title, stat string) {
	t.Helper()
	changed := stat != "RMSE" || fmt.Sprint(before.Header) != fmt.Sprint(q.Header)
	if !changed {
		if title != "what was written before" {
			t.Errorf("seed %d: an unchanged question is called %q", seed, title)
		}
		return
	}
	if !strings.HasPrefix(title, stat+" of ") {
		t.Errorf("seed %d: %q is of %s", seed, title, stat)
	}
	for k, c := range a.Columns {
		if !slices.Contains([]string{"model", "fcst_var", "fcst_lev", "vx_mask"}, c.Name) {
			continue
		}
		values := slices.Clone(a.Vectors[k].Text)
		slices.Sort(values)
		values = slices.Compact(values)
		if want := strings.Join(values, ", "); len(values) <= 4 && !strings.Contains(title, want) {
			t.Errorf("seed %d: %q lacks %s %s", seed, title, c.Name, want)
		}
	}
}

// TestCurvesOfRandomGroups: curves are made of random items of two fields. An item has one or several values, and may
// occur twice. The names of the curves differ, each curve has the expected records, and the difference is that of the
// curves that it names.
func TestCurvesOfRandomGroups(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	models := []string{"A", "B", "A+B", `"A`, "X", "X Y", "E,C", "1:2", "valid 6", ""}
	masks := []string{"Z", "Y Z", "G2/NHX", "Z+Y Z", `q"q`}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 36))
		group := func(field string, values []string) question.Group {
			g := question.Group{Field: field}
			for range 1 + random.IntN(5) {
				var item []string
				for range 1 + random.IntN(3) {
					item = append(item, values[random.IntN(len(values))])
				}
				g.Values = append(g.Values, item)
			}
			return g
		}
		q := &question.Question{Name: "q", Type: sl1l2, Drawing: &question.Drawing{Stats: []string{"FBAR"}, Axis: "fcst_lead", Method: "overall"}}
		q.Drawing.Curves = []question.Group{group("model", models), group("vx_mask", masks)}
		items := func() []int {
			return []int{random.IntN(len(q.Drawing.Curves[0].Values)), random.IntN(len(q.Drawing.Curves[1].Values))}
		}
		made := question.Derived{Operation: "DIFF", A: items(), B: items()}
		q.Drawing.Derived = []question.Derived{made}
		q.SelectColumns()
		var b record.Batch
		b.Reset(sl1l2, "")
		type line struct {
			model, mask string
			value       float64
		}
		var lines []line
		for i := range 20 + random.IntN(40) {
			l := line{models[random.IntN(len(models))], masks[random.IntN(len(masks))], float64(i + 1)}
			lines = append(lines, l)
			h := record.DefaultHeader()
			h[record.Model], h[record.VxMask] = l.model, l.mask
			b.AppendTimes(b.AddHeader(h), 3600, 0, 1)
			for _, c := range sl1l2.Columns {
				b.Num[c.Slot] = append(b.Num[c.Slot], map[string]float64{"total": 1, "fbar": l.value}[c.Name])
			}
		}
		valuesOf := func(models, masks []string) (values []float64) {
			for _, l := range lines {
				if slices.Contains(models, l.model) && slices.Contains(masks, l.mask) {
					values = append(values, l.value)
				}
			}
			return values
		}
		mean := func(values []float64) float64 { return lists.Sum(slices.Values(values)) / float64(len(values)) }
		var want []string // number of records and mean of each curve, in the order of the drawing
		seen := map[string]bool{}
		for _, m := range q.Drawing.Curves[0].Values {
			for _, k := range q.Drawing.Curves[1].Values {
				id := fmt.Sprintf("%q %q", m, k)
				if seen[id] {
					continue
				}
				seen[id] = true
				if values := valuesOf(m, k); len(values) > 0 {
					want = append(want, fmt.Sprintf("%d %.9g", len(values), mean(values)))
				}
			}
		}
		count := len(want)
		rows := answer.Select(q, &b)
		got, err := curve.Compute(t.Context(), q, rows, "FBAR", 1)
		if count == 0 && errors.Is(err, curve.ErrNoRecords) {
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		names := map[string]bool{}
		plain := got.Series
		if len(plain) > count {
			plain = plain[:count]
		}
		for i, s := range plain {
			if names[s.Name] {
				t.Errorf("seed %d: two curves are called %q", seed, s.Name)
			}
			names[s.Name] = true
			if id := fmt.Sprintf("%d %.9g", s.Records[0], s.Y[0]); id != want[i] {
				t.Errorf("seed %d: %q is of %s records and mean, want %s", seed, s.Name, id, want[i])
			}
		}
		if len(plain) != count || len(got.Series) != count+1 {
			t.Fatalf("seed %d: %d curves, want %d and a difference: %v", seed, len(got.Series), count, names)
		}
		vector := func(name string) *answer.Vector {
			return &rows.Vectors[slices.IndexFunc(rows.Columns, func(c question.Column) bool { return c.Name == name })]
		}
		lines = nil
		for i := range rows.Rows {
			lines = append(lines, line{vector("model").Text[i], vector("vx_mask").Text[i], vector("fbar").Num[i]})
		}
		side := func(items []int) []float64 {
			return valuesOf(q.Drawing.Curves[0].Values[items[0]], q.Drawing.Curves[1].Values[items[1]])
		}
		a, less := side(made.A), side(made.B) // all records have the same time, so they are paired in the order of the answer
		n := min(len(a), len(less))
		diff := got.Series[count]
		if len(diff.Y) != min(n, 1) || n > 0 && (diff.Records[0] != n || !(math.Abs(diff.Y[0]-mean(a[:n])+mean(less[:n])) < 1e-9)) {
			t.Errorf("seed %d: %+v, want the difference of %v and %v", seed, diff, a, less)
		}
	}
}
