package curve

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// table is an answer with rows of model, level, region, valid time and lead, the last two in hours.
func table(rows ...string) *answer.Answer {
	a := &answer.Answer{Rows: len(rows), Vectors: make([]answer.Vector, 5), Columns: []question.Column{
		{Name: "model", Kind: question.Text, Role: question.HeaderField},
		{Name: "fcst_lev", Kind: question.Text, Role: question.HeaderField},
		{Name: "vx_mask", Kind: question.Text, Role: question.HeaderField},
		{Name: "fcst_valid_beg", Kind: question.Time, Role: question.ValidBeg},
		{Name: "fcst_lead", Kind: question.Duration, Role: question.Lead},
	}}
	for _, text := range rows {
		var valid, lead int64
		words := make([]string, 3)
		if _, err := fmt.Sscan(text, &words[0], &words[1], &words[2], &valid, &lead); err != nil {
			panic(err)
		}
		for k, w := range words {
			a.Vectors[k].Text = append(a.Vectors[k].Text, w)
		}
		a.Vectors[3].Seconds, a.Vectors[4].Seconds = append(a.Vectors[3].Seconds, valid*3600), append(a.Vectors[4].Seconds, lead*3600)
	}
	return a
}

// TestTitleOfAQuestion: the title has the amount of data, each in singular or plural.
func TestTitleOfAQuestion(t *testing.T) {
	for _, c := range []struct {
		title string
		rows  []string
		want  string
	}{
		{"Errors", nil, "Errors; no rows in this data"},
		{"", nil, "no rows in this data"},
		{"Errors", []string{"a P500 NH 0 6"}, "Errors; 1 level, 1 region, 1 day, 1 lead"},
		{"", []string{"a P500 NH 0 6", "a P850 NH 24 6", "a P850 NH 25 12", "a P500 NH 0 24"}, "2 levels, 1 region, 2 days, 3 leads"},
		{"Errors", []string{"a P500 NH 23 6", "b P500 SH 24 6", "a P500 TR -1 6"}, "Errors; 1 level, 3 regions, 3 days, 1 lead"},
	} {
		if got := Title(&question.Question{Title: c.title}, table(c.rows...)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := Title(&question.Question{Title: "Errors"}, &answer.Answer{Rows: 1}); got != "Errors" {
		t.Errorf("without such a column: %q", got)
	}
	for seconds, want := range map[int64]int64{0: 0, 86399: 0, 86400: 1, -1: -1, -86400: -1, -86401: -2} {
		if got := dayOf(seconds); got != want {
			t.Errorf("%d s is on day %d, want %d", seconds, got, want)
		}
	}
}

// TestTitlesOfCurves: a title that nobody wrote names the statistic and the values of each field, or the number of many, the
// only lead, and the days. It omits what the axis has.
func TestTitlesOfCurves(t *testing.T) {
	one, two := []string{"a P500 NH 0 6"}, []string{"a P500 NH 0 6", "b P500 SH 12 6", "b P850 NH 24 12"}
	var five []string
	for i := range 5 {
		five = append(five, fmt.Sprintf("m%d P500 NH %d 6", i, i))
	}
	header := func(f record.Field, values ...string) (q question.Question) {
		q.Header[f] = values
		return q
	}
	for _, c := range []struct {
		q    question.Question
		d    question.Drawing
		axis run.Axis
		rows []string
		want string
	}{
		{question.Question{Title: "written"}, question.Drawing{}, run.ByLead, one, "written"},
		{question.Question{Title: "written", Untitled: true}, question.Drawing{}, run.ByLead, one, "RMSE at P500 over NH, a, 1970-01-01"},
		{question.Question{}, question.Drawing{}, run.ByTime, one, "RMSE at P500 over NH, a, lead 6 h"},
		{question.Question{}, question.Drawing{}, run.ByLevel, one, "RMSE over NH, a, lead 6 h, 1970-01-01"},
		{question.Question{}, question.Drawing{}, run.ByLead, two, "RMSE at P500, P850 over NH, SH, a, b, 1970-01-01 to 1970-01-02"},
		{question.Question{}, question.Drawing{}, "model", two, "RMSE at P500, P850 over NH, SH, 1970-01-01 to 1970-01-02"},
		{question.Question{}, question.Drawing{}, run.ByTime, two, "RMSE at P500, P850 over NH, SH, a, b"},
		{question.Question{}, question.Drawing{}, run.ByLead, five[:4], "RMSE at P500 over NH, m0, m1, m2, m3, 1970-01-01"},
		{question.Question{}, question.Drawing{}, run.ByLead, five, "RMSE at P500 over NH, 5 models, 1970-01-01"},
		{header(record.FcstVar, "TMP", "NA", ""), question.Drawing{}, run.ByLead, one, "RMSE of TMP at P500 over NH, a, 1970-01-01"},
		{header(record.FcstThresh, ">5"), question.Drawing{}, run.ByLead, one, "RMSE >5 at P500 over NH, a, 1970-01-01"},
		{header(record.Model, "requested"), question.Drawing{}, run.ByLead, nil, "RMSE, requested"},
		{question.Question{}, question.Drawing{Picture: "taylor"}, "", one, "Taylor diagram at P500 over NH, a, lead 6 h, 1970-01-01"},
		{question.Question{}, question.Drawing{Picture: "revision"}, run.ByTime, one, "Revision of RMSE at P500 over NH, a, lead 6 h"},
		{question.Question{}, question.Drawing{Baseline: "b"}, run.ByLead, one, "RMSE minus that of b at P500 over NH, a, 1970-01-01"},
	} {
		a := table(c.rows...)
		c.q.Drawing = &c.d
		d := &LazyCurves{VerificationPlot: run.VerificationPlot{Stat: "RMSE", Baseline: c.d.Baseline}, c: &collector{q: &c.q, a: a, axis: c.axis, points: map[string]map[float64][]int{}}}
		for i := range a.Rows {
			d.c.addRow("curve", float64(i/2), i)
			d.c.addRow("all", 0, i) // a row counts once
		}
		if got := d.title(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestUnits: the unit of the files replaces the word variable, if they have only one.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		units      []string
		unit, want string
	}{
		{[]string{"K"}, stat.UnitVariable, "K"},
		{[]string{"K"}, stat.UnitVariable + "²", "K²"},
		{[]string{"K", "NA"}, stat.UnitVariable, "K"},
		{[]string{"K", "m"}, stat.UnitVariable, stat.UnitVariable},
		{nil, stat.UnitVariable, stat.UnitVariable},
		{[]string{"K"}, stat.UnitOne, stat.UnitOne},
	} {
		q := &question.Question{}
		q.Header[record.FcstUnits] = c.units
		if got := (&collector{q: q, a: &answer.Answer{}}).unitOf(c.unit, nil); got != c.want {
			t.Errorf("%v, %q: %q, want %q", c.units, c.unit, got, c.want)
		}
	}
}

// TestOmittedCurves: the note names up to six omitted curves and the number of the others, among them the differences
// without a common case.
func TestOmittedCurves(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "; omitted: c0", 2: "; omitted: c0, c1", 6: "; omitted: c0, c1, c2, c3, c4, c5", 7: "; omitted: c0, c1, c2, c3, c4, c5 and 1 more", 9: "; omitted: c0, c1, c2, c3, c4, c5 and 3 more"} {
		d := &LazyCurves{}
		for i := range n {
			d.Omitted = append(d.Omitted, fmt.Sprint("c", i))
		}
		if d.noteOmitted(); d.Note != want {
			t.Errorf("%q, want %q", d.Note, want)
		}
	}
	d := &LazyCurves{operations: []stat.Operation{"", stat.Diff, stat.Diff, stat.Ratio}}
	d.Series = []run.Series{{Name: "a"}, {Name: "b", Derivation: "DIFF(b-c)"}, {Name: "d", X: []float64{1}}, {Name: "e"}}
	if d.noteOmitted(); d.Note != "; omitted: DIFF(b-c): no case in common, e: no case in common" {
		t.Errorf("%q", d.Note)
	}
	d = &LazyCurves{c: &collector{q: &question.Question{Omitted: []string{"a map"}}, absent: []string{"model c: no record"}, names: []string{"a", "b"}, points: map[string]map[float64][]int{"a": {1: {0}}}}}
	if d.addOmitted(); !slices.Equal(d.Omitted, []string{"a map", "model c: no record", "b: no case is left"}) {
		t.Errorf("%q", d.Omitted)
	}
}

// TestMethodsOfDrawings: the method, the bootstrap and their descriptions, with the defaults of METviewer.
func TestMethodsOfDrawings(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	cnt, _ := record.TypeByName("CNT")
	seed := uint64(42)
	const sums = "partial sums weighted by total"
	for _, c := range []struct {
		lt         *record.LineType
		d          *question.Drawing
		how        stat.SummaryMethod
		note       string
		interval   string
		bootstrap  *stat.Bootstrap
		confidence float64
		inflate    bool
	}{
		{sl1l2, nil, stat.Overall, sums, "; 95 % interval by bootstrap over records in circular blocks, 300 replicates, seed 7", &stat.Bootstrap{Replicates: 300, Confidence: 0.95, Seed: 7}, 0.95, true},
		{cnt, nil, stat.MedianOfStats, "median of the records' statistics", "", nil, 0.95, true},
		{sl1l2, &question.Drawing{Method: "overall"}, stat.Overall, sums, "", nil, 0.95, true},
		{sl1l2, &question.Drawing{Method: "overall", Replicates: 1, Confidence: 0.995, Block: 1, Seed: &seed, NoVIF: true}, stat.Overall, sums, "; 99.5 % interval by bootstrap over records one by one, 1 replicate, seed 42", &stat.Bootstrap{Replicates: 1, Confidence: 0.995, Seed: 42, Block: 1}, 0.995, false},
		{sl1l2, &question.Drawing{Method: "overall", Replicates: 50, Block: 2, BootCI: "bca"}, stat.Overall, sums, "; 95 % bias-corrected interval by bootstrap over records in circular blocks, 50 replicates, seed 7", &stat.Bootstrap{Replicates: 50, Confidence: 0.95, Seed: 7, Block: 2, Method: stat.BCa}, 0.95, true},
		{sl1l2, &question.Drawing{Method: "overall", Replicates: 50, BootCI: "pivotal", Confidence: 0.9999}, stat.Overall, sums, "; 99.99 % pivotal interval by bootstrap over records in circular blocks, 50 replicates, seed 7", &stat.Bootstrap{Replicates: 50, Confidence: 0.9999, Seed: 7, Method: stat.Pivotal}, 0.9999, true},
		{sl1l2, &question.Drawing{Method: "mean", Replicates: 50}, stat.MeanOfStats, "mean of the records' statistics", "", nil, 0.95, true},
		{sl1l2, &question.Drawing{Method: "sum", Confidence: 0.9}, stat.SumOfStats, "sum of the records' statistics", "", nil, 0.9, true},
		{sl1l2, &question.Drawing{Method: "overall", Replicates: 50, Picture: "box"}, stat.Overall, sums, "", nil, 0.95, true},
		{sl1l2, &question.Drawing{Method: "overall", Replicates: 50, Picture: "revision"}, stat.Overall, sums, "", nil, 0.95, true},
		{sl1l2, &question.Drawing{Method: "overall", Replicates: 50, Picture: "contour"}, stat.Overall, sums, "", nil, 0.95, true},
	} {
		m := methodOf(&question.Question{Type: c.lt, Drawing: c.d}, 7)
		if m.SummaryMethod != c.how || m.note != c.note || m.interval != c.interval || m.confidence != c.confidence || m.inflate != c.inflate || (m.bootstrap == nil) != (c.bootstrap == nil) {
			t.Errorf("%+v: %+v", c.d, m)
		}
		if m.bootstrap != nil && *m.bootstrap != *c.bootstrap {
			t.Errorf("%+v: %+v", c.d, *m.bootstrap)
		}
		unseen := c.d != nil && c.d.Picture != ""
		for own, want := range map[string]string{"": map[bool]string{true: "boot", false: "none"}[m.bootstrap != nil], "std": map[bool]string{true: "none", false: "std"}[unseen]} {
			if got := m.kind(own); got != want {
				t.Errorf("%+v, plot_ci %q: %q, want %q", c.d, own, got, want)
			}
		}
	}
}

// TestDescriptionsOfIntervals: the note describes intervals that some point has, and says if points of one record have none.
func TestDescriptionsOfIntervals(t *testing.T) {
	const one = " (none of points of one record)"
	for _, c := range []struct {
		kind, interval string
		how            stat.SummaryMethod
		fewest, most   int
		want           string
	}{
		{"none", "; boot", stat.Overall, 2, 9, ""},
		{"boot", "; boot", stat.Overall, 0, 0, ""},
		{"boot", "; boot", stat.Overall, 1, 1, ""},
		{"boot", "; boot", stat.Overall, 1, 2, "; boot" + one},
		{"boot", "; boot", stat.Overall, 2, 2, "; boot"},
		{"boot", "", stat.MeanOfStats, 2, 9, "; plot_ci boot has no interval of these statistics"},
		{"std", "; boot", stat.Overall, 2, 9, "; plot_ci std has no interval of these statistics"},
		{"std", "", stat.MeanOfStats, 2, 9, "; 99.5 % interval by the standard error"},
		{"std", "", stat.MeanOfStats, 1, 9, "; 99.5 % interval by the standard error" + one},
		{"std", "", stat.MeanOfStats, 1, 1, ""},
	} {
		d := &LazyCurves{method: method{SummaryMethod: c.how, interval: c.interval, confidence: 0.995}}
		if got := d.describeInterval(c.kind, c.fewest, c.most); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	d := &LazyCurves{method: method{interval: "; boot"}, kinds: []string{"boot", "boot", "none"}, places: [][]point{{{rows: []int{1, 2}}, {rows: []int{3}}}, {{rows: []int{4}}}}}
	if got := d.intervalNote(nil); got != "; boot"+one {
		t.Errorf("%q", got)
	}
}

// TestEconomicValues: with perfect forecasts the value is 1 at each ratio, and without skill it is at most 0. By hand: at
// the ratio 0.5 of a base rate of 0.2, PODY 0.5 and POFD 0.1 have 0.5 − 0.8/0.2 · 0.1 = 0.1.
func TestEconomicValues(t *testing.T) {
	perfect, none, some := economic(1, 0, 0.3), economic(0.4, 0.4, 0.3), economic(0.5, 0.1, 0.2)
	for i := 1; i < 20; i++ {
		ratio := float64(i) / 20
		if perfect[ratio] != 1 || !(none[ratio] <= 0) {
			t.Errorf("at %g: %g and %g", ratio, perfect[ratio], none[ratio])
		}
	}
	if len(perfect) != 19 || math.Abs(some[0.5]-0.1) > 1e-12 || math.Abs(some[0.1]-(0.9-0.25*9*0.5)) > 1e-12 {
		t.Errorf("%v", some)
	}
}

// TestThresholdTexts: the sign and the number of a threshold; thresholds of one number and different signs need texts.
func TestThresholdTexts(t *testing.T) {
	for text, want := range map[string]string{">=5": ">=", "ge5": ">=", "gt5": ">", "<=5": "<=", "le5": "<=", "lt5": "<", "eq5": "==", "ne5": "!=", "5": "", "NA": ""} {
		if got := signOf(text); got != want {
			t.Errorf("%q has the sign %q", text, got)
		}
	}
	for texts, want := range map[string]string{
		">5 >10 gt5":      "",
		">5 <5":           "<5 >5",
		">10 <5 >5 lt5.0": "<5 >5 >10",
		">5":              "",
		"":                "",
	} {
		if got := strings.Join(ambiguousThresholds(strings.Fields(texts)), " "); got != want {
			t.Errorf("%q: %q, want %q", texts, got, want)
		}
	}
}

// TestPointsOfPictures: a point without a place on the lower axis is not added, but named.
func TestPointsOfPictures(t *testing.T) {
	s := &pictureBuilder{Series: run.Series{Name: "gfs"}}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s.add(x, 1, 2, "24") {
			t.Errorf("%g is drawn", x)
		}
	}
	if !s.add(0, 1, 2, "48") || !s.add(3, math.NaN(), 0) || fmt.Sprint(s.X, s.Y, s.Records, s.Labels, s.Low, s.High) != "[0 3] [1 NaN] [2 0] [48] [NaN NaN] [NaN NaN]" || strings.Join(s.undrawn, ", ") != "gfs 24, gfs 24, gfs 24" {
		t.Errorf("%+v, %q", s.Series, s.undrawn)
	}
}

// TestOrNA: a number has METviewer's decimals or its shortest text. −0 is 0, and a missing number is NA.
func TestOrNA(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{1.23456785, 7, "1.2345679"},
		{-1.5, -1, "-1.5"},
		{math.NaN(), 7, "NA"},
		{math.NaN(), -1, "NA"},
		{math.Copysign(0, -1), -1, "0"},
		{math.Copysign(0, -1), 7, "0.0000000"},
		{-1e-9, 7, "0.0000000"},
	} {
		if got := orNA(c.v, c.decimals); got != c.want {
			t.Errorf("%v with %d decimals is %s, want %s", c.v, c.decimals, got, c.want)
		}
	}
}
