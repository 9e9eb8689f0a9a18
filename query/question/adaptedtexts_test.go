package question

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// TestAdaptNamesChanges: Changed names each condition that differs with its present values, once.
func TestAdaptNamesChanges(t *testing.T) {
	for want, change := range map[string]func(q *Question){
		"":                           func(*Question) {},
		`model=A\,B,C`:               func(q *Question) { q.Header[record.Model] = []string{"A,B", "C"} },
		"model=":                     func(q *Question) { q.Header[record.Model] = nil },
		"fcst_lead=":                 func(q *Question) { q.Lead = nil },
		"fcst_lead=0-12/6,30":        func(q *Question) { q.Lead = []int32{0, 21600, 43200, 108000} },
		"other valid times":          func(q *Question) { q.Valid = Times{First: 1, Last: 2} },
		"other initialization times": func(q *Question) { q.TimeFilter.Init = Times{List: []int64{1}} },
		"valid_hour=0,6":             func(q *Question) { q.TimeFilter.ValidHour = []int{0, 6} },
		"init_hour=12":               func(q *Question) { q.TimeFilter.InitHour = []int{12} },
		"vx_mask=G2;init_hour=":      func(q *Question) { q.Header[record.VxMask], q.TimeFilter.InitHour = []string{"G2"}, nil },
	} {
		before, q := drawn(), drawn()
		if strings.HasSuffix(want, "init_hour=") {
			before.TimeFilter.InitHour = []int{6}
		}
		change(q)
		if q.Adapt(before); strings.Join(q.Changed, ";") != want || q.Untitled != (want != "") {
			t.Errorf("%q, want %q; untitled %t", q.Changed, want, q.Untitled)
		}
	}
}

// TestAdaptTwice: a second change of a condition replaces the text about the first, and keeps the texts about others.
func TestAdaptTwice(t *testing.T) {
	first, second := drawn(), drawn()
	first.Changed = []string{"model=X", "fcst_lead=6", "other valid times", "model_b=Y"}
	second.Header[record.Model] = []string{"Z"}
	second.Valid = Times{First: 1, Last: 2}
	second.Adapt(first)
	if want := []string{"fcst_lead=6", "model_b=Y", "model=Z", "other valid times"}; !slices.Equal(second.Changed, want) {
		t.Errorf("%q, want %q", second.Changed, want)
	}
	if len(first.Changed) != 4 || first.Changed[0] != "model=X" {
		t.Errorf("Adapt changes the earlier question: %q", first.Changed)
	}
}

// TestAdaptStyles: styles belong to the curves that a plot names. If the curves change, Barograph chooses the styles.
func TestAdaptStyles(t *testing.T) {
	const text = "Barograph's own colors and intervals"
	for name, c := range map[string]struct {
		change  func(q *Question)
		stats   []string
		removed bool
	}{
		"other hours":   {func(q *Question) { q.TimeFilter.ValidHour = []int{6} }, nil, false},
		"other models":  {func(q *Question) { q.Header[record.Model] = []string{"GFS", "ECM"} }, nil, true},
		"other stat":    {func(*Question) {}, []string{"ME"}, true},
		"other picture": {func(q *Question) { q.Drawing.Picture = "revision" }, nil, true},
		"box":           {func(q *Question) { q.TimeFilter.ValidHour, q.Drawing.Picture = []int{6}, "box" }, nil, false},
	} {
		before, q := drawn(), drawn()
		for _, each := range []*Question{before, q} {
			each.Drawing.Styles = []metviewer.Style{{"colors": "#ff0000"}}
		}
		c.change(q)
		q.Adapt(before, c.stats...)
		if (q.Drawing.Styles == nil) != c.removed || slices.Contains(q.Changed, text) != c.removed {
			t.Errorf("%s: styles %v, changed %q", name, q.Drawing.Styles, q.Changed)
		}
		plain := drawn()
		c.change(plain)
		if plain.Adapt(drawn(), c.stats...); slices.Contains(plain.Changed, text) {
			t.Errorf("%s: there were no styles: %q", name, plain.Changed)
		}
	}
}

// TestAdaptLabels: labels describe the header fields, the statistic and the kind of picture, and nothing else.
func TestAdaptLabels(t *testing.T) {
	pct, _ := record.TypeByName("PCT")
	for name, c := range map[string]struct {
		before, after string // pictures
		change        func(q *Question)
		removed       bool
	}{
		"curves as a box":          {"", "box", func(*Question) {}, false},
		"curves as a revision":     {"", "revision", func(*Question) {}, true},
		"a revision as curves":     {"revision", "", func(*Question) {}, true},
		"a revision":               {"revision", "revision", func(*Question) {}, false},
		"a roc as a reliability":   {"roc", "reliability", func(q *Question) { q.Type = pct }, true},
		"a box of another level":   {"box", "box", func(q *Question) { q.Header[record.FcstLev] = []string{"P5"} }, true},
		"a box of other leads":     {"box", "box", func(q *Question) { q.Lead = nil }, false},
		"a box of other init time": {"box", "box", func(q *Question) { q.TimeFilter.Init.List = []int64{1} }, false},
	} {
		before, q := drawn(), drawn()
		before.Drawing.Picture, q.Drawing.Picture = c.before, c.after
		c.change(q)
		q.Adapt(before)
		if got := q.Drawing.XLabel + q.Drawing.YLabel; (got == "") != c.removed || !c.removed && got != "old xold y" {
			t.Errorf("%s: labels %q", name, got)
		}
	}
}

// TestAdaptWithoutDrawing: a question without a drawing only loses its title.
func TestAdaptWithoutDrawing(t *testing.T) {
	before, q := drawn(), drawn()
	before.Drawing, q.Drawing = nil, nil
	q.Header[record.Model] = []string{"ECM"}
	if q.Adapt(before); !q.Untitled || q.Drawing != nil || !slices.Equal(q.Changed, []string{"model=ECM"}) {
		t.Errorf("%+v", q)
	}
	q = drawn()
	q.Drawing = nil
	if q.Adapt(q, "RMSE"); !q.Untitled {
		t.Error("a statistic of a question without one is new")
	}
}

// TestAdaptBaseline: only the title of a scorecard names the baseline.
func TestAdaptBaseline(t *testing.T) {
	for _, c := range []struct {
		picture, baseline string
		want              string // title
	}{
		{"scorecard", "NAM", "Scorecard of GFS, ECM against NAM"},
		{"scorecard", "", "old title"},
		{"", "NAM", "old title"},
	} {
		before, q := drawn(), drawn()
		for _, each := range []*Question{before, q} {
			each.Drawing.Picture, each.Drawing.Baseline = c.picture, c.baseline
		}
		q.Header[record.Model] = []string{"GFS", "ECM", "NAM"}
		if q.Adapt(before); q.Title != c.want || q.Untitled == strings.HasPrefix(c.want, "Scorecard") {
			t.Errorf("%+v: %q, untitled %t", c, q.Title, q.Untitled)
		}
	}
}

// TestAdaptHours: curves by hours and by initialization times follow their conditions. A curve of several values stays if
// the condition still includes all of them. A field without a condition has a curve for each value that occurs.
func TestAdaptHours(t *testing.T) {
	for _, c := range []struct {
		curves []Group
		change func(q *Question)
		want   string
	}{
		{[]Group{{"valid_hour", [][]string{{"0"}, {"12"}}}}, func(q *Question) { q.TimeFilter.ValidHour = []int{6, 12} }, "[{valid_hour [[12] [6]]}]"},
		{[]Group{{"init_hour", [][]string{{"0"}, {"12"}}}}, func(q *Question) { q.TimeFilter.InitHour = []int{0} }, "[{init_hour [[0]]}]"},
		{[]Group{{"fcst_init_beg", [][]string{{"1970-01-01T00:00:00Z"}}}}, func(q *Question) { q.TimeFilter.Init.List = []int64{60} }, "[{fcst_init_beg [[1970-01-01T00:01:00Z]]}]"},
		{[]Group{{"model", [][]string{{"GFS", "NAM"}, {"NAM"}}}}, func(q *Question) { q.Header[record.Model] = []string{"NAM"} }, "[{model [[NAM]]}]"},
		{[]Group{{"model", [][]string{{"GFS", "NAM"}, {"ECM"}}}}, func(q *Question) { q.Header[record.Model] = []string{"GFS", "NAM", "X"} }, "[{model [[GFS NAM] [X]]}]"},
		{[]Group{{"model", nil}, {"vx_mask", [][]string{{"G2"}}}}, func(q *Question) { q.Header[record.Model] = []string{"X"} }, "[{model []} {vx_mask [[G2]]}]"},
	} {
		before, q := drawn(), drawn()
		for _, each := range []*Question{before, q} {
			each.Drawing.Curves, each.Drawing.Derived = c.curves, nil
		}
		c.change(q)
		if q.Adapt(before); fmt.Sprint(q.Drawing.Curves) != c.want {
			t.Errorf("%v, want %s", q.Drawing.Curves, c.want)
		}
	}
}

// TestOmittedDerivedCurves: a derived curve is omitted if one of its sides is, with the values of that side.
func TestOmittedDerivedCurves(t *testing.T) {
	before, q := drawn(), drawn()
	for _, each := range []*Question{before, q} {
		each.Omitted = []string{"earlier"}
		each.Drawing.Curves = []Group{{"model", [][]string{{"GFS", "NAM"}, {"NAM"}, {"ECM"}}}}
		each.Drawing.Derived = []Derived{
			{Operation: "DIFF", A: []int{0}, B: []int{1}}, {Operation: "RATIO", A: []int{2}, B: []int{1}}, {Operation: "SKILL", A: []int{1}, B: []int{0}},
		}
	}
	q.Header[record.Model] = []string{"NAM", "ECM"}
	q.Adapt(before)
	const reason = " of curves, because the question no longer includes model GFS+NAM"
	if want := []string{"earlier", "DIFF" + reason, "SKILL" + reason}; !slices.Equal(q.Omitted, want) {
		t.Errorf("%q, want %q", q.Omitted, want)
	}
	if got := fmt.Sprint(q.Drawing.Curves, q.Drawing.Derived); got != "[{model [[NAM] [ECM]]}] [{RATIO [1] [0]   map[]}]" {
		t.Error(got)
	}
	if len(before.Omitted) != 1 || before.Drawing.Derived[1].A[0] != 2 {
		t.Errorf("Adapt changes the earlier question: %+v", before.Drawing.Derived)
	}
}

// TestSetPicture: a picture keeps the drawing of the question, and a question without one has the default of its type.
func TestSetPicture(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	q := &Question{Type: sl1l2}
	if err := q.SetPicture("box"); err != nil || q.Drawing.Picture != "box" || !slices.Equal(q.Drawing.Stats, []string{"RMSE"}) || q.Drawing.Replicates != 300 {
		t.Errorf("%+v, %v", q.Drawing, err)
	}
	q.Drawing.Stats = []string{"ME"}
	if err := q.SetPicture(""); err != nil || q.Drawing.Picture != "" || !slices.Equal(q.Drawing.Stats, []string{"ME"}) {
		t.Errorf("%+v, %v", q.Drawing, err)
	}
	for name, want := range map[string]string{"boxx": "did you mean box?", "roc": "line_type of a picture roc", "spread_skill": "line_type of a picture spread_skill"} {
		if err := q.SetPicture(name); err == nil || !strings.Contains(err.Error(), want) || q.Drawing.Picture != "" {
			t.Errorf("%s: %v, picture %q", name, err, q.Drawing.Picture)
		}
	}
}

// TestScorecardOfTwoModels: a row for each variable, level and region, a column for each lead.
func TestScorecardOfTwoModels(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	q := &Question{Type: sl1l2, Untitled: true}
	q.Scorecard("NEW", "OLD")
	d := q.Drawing
	got := fmt.Sprintln(q.Header[record.Model], d.Picture, d.Baseline, d.Axis, d.Stats, d.Curves)
	if got != "[NEW OLD] scorecard OLD fcst_lead [RMSE] [{model [[NEW] [OLD]]} {fcst_var []} {fcst_lev []} {vx_mask []}]\n" || q.Untitled || d.RightAxis || q.Check() != nil {
		t.Errorf("%s, %v", got, q.Check())
	}
}

// TestTick: a value without a tick, or a tick without a label, has its value as label.
func TestTick(t *testing.T) {
	position := 2.0
	d := &Drawing{Ticks: []metviewer.Tick{{Value: "6", Label: "six", Position: &position}, {Value: "12", Position: &position}}}
	for value, want := range map[string]string{"6": "6 six true", "12": "12 12 true", "18": "18 18 false"} {
		if tick := d.Tick(value); fmt.Sprint(tick.Value, " ", tick.Label, " ", tick.Position != nil) != want {
			t.Errorf("%s: %+v, want %s", value, tick, want)
		}
	}
	if d.Ticks[1].Label != "" {
		t.Error("Tick changes the drawing")
	}
}

// TestNumberOfCurves: a picture of a line type has curves of one kind, other pictures have them for each statistic.
func TestNumberOfCurves(t *testing.T) {
	two := []Group{{"model", [][]string{{"A"}, {"B"}}}, {"vx_mask", nil}}
	for _, c := range []struct {
		d    Drawing
		want int
	}{
		{Drawing{}, 0},
		{Drawing{Stats: []string{"ME", "RMSE"}}, 2},
		{Drawing{Stats: []string{"ME", "RMSE"}, Curves: two}, 4},
		{Drawing{Picture: "roc", Curves: two}, 2},
		{Drawing{Picture: "roc", Stats: []string{"PODY", "POFD"}}, 1},
		{Drawing{Picture: "box", Stats: []string{"ME"}, Curves: two}, 2},
	} {
		if got := c.d.numCurves(); got != c.want {
			t.Errorf("%+v: %d curves, want %d", c.d, got, c.want)
		}
	}
	var none *Drawing
	if none.ShowsLineType() || (&Drawing{Picture: "box"}).ShowsLineType() || !(&Drawing{Picture: "taylor"}).ShowsLineType() {
		t.Error("only roc, taylor and similar pictures show a line type")
	}
}

// TestJoinName: a name is a file name in small letters.
func TestJoinName(t *testing.T) {
	for want, parts := range map[string][]string{
		"tmp_sl1l2": {"TMP", "", "SL1L2"}, "prob_tmp_1__pct": {"PROB(TMP>1)", "PCT"}, "": {"", ""}, "a.b-c_d": {"a.b-c", "D"}, "_": {"é*/"},
	} {
		if got := JoinName(parts...); got != want {
			t.Errorf("%q: %q, want %q", parts, got, want)
		}
	}
}

// TestNamesOfQuestions: several questions have their variable and line type in their names, and a number if that is
// not enough. A single one has the name of its file.
func TestNamesOfQuestions(t *testing.T) {
	name := func(base string, variables ...string) string {
		var qs []*Question
		for _, v := range variables {
			q := drawn()
			if q.Name = "own"; v != "" {
				q.Header[record.FcstVar] = strings.Split(v, "+")
			}
			qs = append(qs, q)
		}
		assignNames(base, qs)
		text := ""
		for _, q := range qs {
			text += q.Name + " "
		}
		return strings.TrimSpace(text)
	}
	for want, got := range map[string]string{
		"my_plot": name("my plot", "TMP"),
		"own":     name("", "TMP"),
		"p-TMP_SL1L2 p-TMP_SL1L2-2 p-TMP_SL1L2-3 p-HGT_U_SL1L2": name("p", "TMP", "TMP", "TMP", "HGT+U"),
		"TMP_SL1L2 SL1L2": name("", "TMP", ""),
		"p-A_SL1L2 p-A_SL1L2-2 p-A_SL1L2-3 p-A_SL1L2-4": name("p", "A", "A", "A", "A"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
