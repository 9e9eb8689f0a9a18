package question

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// TestValuesOfColumns: each column of an answer reads its own part of a record.
func TestValuesOfColumns(t *testing.T) {
	lt, _ := record.TypeByName("MPR")
	b := &record.Batch{}
	b.Reset(lt, "x.stat")
	b.AddHeader(record.Header{})
	head := b.AddHeader(record.Header{record.Model: "GFS", record.VxMask: "G2"})
	b.AppendTimes(0, 0, 1, 1)
	b.AppendTimes(head, 3600, 100000, 2)
	b.ValidEnd[1], b.ObsLead[1], b.ObsBeg[1], b.ObsEnd[1] = 100001, 7, 100002, 100003
	for k := range b.Num {
		b.Num[k] = []float64{-1, float64(k) + 0.5}
	}
	for k := range b.Text {
		b.Text[k] = []string{"no", "text" + string(rune('0'+k))}
	}
	fcst, _ := lt.Column("fcst")
	station, _ := lt.Column("obs_sid")
	for name, want := range map[string]struct {
		text    string
		seconds int64
		number  float64
	}{
		"model": {text: "GFS"}, "vx_mask": {text: "G2"}, "obs_sid": {text: b.Text[station.Slot][1]},
		"fcst":           {number: float64(fcst.Slot) + 0.5},
		"fcst_valid_beg": {seconds: 100000}, "fcst_init_beg": {seconds: 96400}, "fcst_lead": {seconds: 3600},
		"fcst_valid_end": {seconds: 100001}, "obs_lead": {seconds: 7}, "obs_valid_beg": {seconds: 100002}, "obs_valid_end": {seconds: 100003},
	} {
		c, err := ColumnByName(lt, name)
		if err != nil {
			t.Fatal(err)
		}
		if text, seconds, number := c.Value(b, 1); text != want.text || seconds != want.seconds || number != want.number || c.StoredName() != name {
			t.Errorf("%s: %q, %d, %v", name, text, seconds, number)
		}
	}
	if _, err := ColumnByName(nil, "fcst"); err == nil {
		t.Error("fcst is found without a line type")
	}
	if c, err := ColumnByName(nil, "model"); err != nil || c.Role != HeaderField {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestRepeatingColumns: the columns that repeat are stored in one list, from which each takes its own values.
func TestRepeatingColumns(t *testing.T) {
	lt, _ := record.TypeByName("PCT")
	stored := make([]float64, 0, 2*len(lt.Group.Fields))
	for i := range cap(stored) {
		stored = append(stored, float64(i))
	}
	for k, name := range lt.Group.Fields {
		c, err := ColumnByName(lt, name)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{-1, float64(k), float64(k + len(lt.Group.Fields))}
		if got := c.AppendList([]float64{-1}, stored); !slices.Equal(got, want) || c.StoredName() != Repeats || c.Kind != List {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestValueConditions: a missing number fulfills no condition.
func TestValueConditions(t *testing.T) {
	for op, want := range map[string][3]bool{"<": {true, false, false}, "<=": {true, true, false}, ">": {false, false, true}, ">=": {false, true, true}, "=": {false, true, false}} {
		c := ValueCondition{Op: op, Value: 2}
		if got := [3]bool{c.Accepts(1), c.Accepts(2), c.Accepts(3)}; got != want || c.Accepts(math.NaN()) {
			t.Errorf("1, 2, 3 %s 2: %t", op, got)
		}
	}
}

// TestBoundsOfTimes: a list and a range have a first and a last time, "all" has none.
func TestBoundsOfTimes(t *testing.T) {
	for _, c := range []struct {
		times       Times
		first, last int64
		ok          bool
	}{
		{Times{}, 0, 0, false},
		{Times{List: []int64{3, 5, 9}}, 3, 9, true},
		{Times{First: 10, Last: 40, Step: 10}, 10, 40, true},
	} {
		if first, last, ok := c.times.Bounds(); first != c.first || last != c.last || ok != c.ok {
			t.Errorf("%+v: %d to %d, %t", c.times, first, last, ok)
		}
	}
}

// drawn is a question with curves of two models and two leads, and the difference of the models at each lead.
func drawn() *Question {
	lt, _ := record.TypeByName("SL1L2")
	q := &Question{Type: lt, Title: "old title", Lead: []int32{0, 21600}}
	q.Header[record.Model] = []string{"GFS", "NAM"}
	q.Drawing = &Drawing{
		Stats:    []string{"RMSE"},
		Curves:   []Group{{"model", [][]string{{"GFS"}, {"NAM"}}}, {"fcst_lead", [][]string{{"0"}, {"6"}}}},
		Equalize: []Group{{"model", [][]string{{"GFS", "NAM"}}}, {"vx_mask", [][]string{{"G2"}}}},
		Derived: []Derived{
			{Operation: stat.Diff, A: []int{0, 0}, B: []int{1, 0}},
			{Operation: stat.Diff, A: []int{0, 1}, B: []int{1, 1}},
		},
		XLabel: "old x", YLabel: "old y",
	}
	return q
}

// TestAdapt: the drawing keeps the curves that the changed conditions include, the others are omitted with a reason, and
// texts that were written for the earlier conditions are removed.
func TestAdapt(t *testing.T) {
	show := func(q *Question) string {
		text := strings.Join(q.Changed, "; ")
		for _, g := range q.Drawing.Curves {
			text += " | " + g.Field
			for _, item := range g.Values {
				text += " " + strings.Join(item, "+")
			}
		}
		for _, d := range q.Drawing.Derived {
			text += " | A"
			for i := range d.A {
				text += " " + q.Drawing.Curves[i].Values[d.A[i]][0] + "-" + q.Drawing.Curves[i].Values[d.B[i]][0]
			}
		}
		return text + " | " + strings.Join(q.Omitted, "; ") + " | " + q.Drawing.XLabel + q.Drawing.YLabel
	}
	for name, c := range map[string]struct {
		change func(q *Question)
		stats  []string
		want   string
	}{
		"nothing":            {func(*Question) {}, nil, " | model GFS NAM | fcst_lead 0 6 | A GFS-NAM 0-0 | A GFS-NAM 6-6 |  | old xold y"},
		"a known statistic":  {func(*Question) {}, []string{"rmse"}, " | model GFS NAM | fcst_lead 0 6 | A GFS-NAM 0-0 | A GFS-NAM 6-6 |  | old xold y"},
		"another statistic":  {func(*Question) {}, []string{"rmse", "ME"}, " | model GFS NAM | fcst_lead 0 6 | A GFS-NAM 0-0 | A GFS-NAM 6-6 |  | "},
		"the models swapped": {func(q *Question) { q.Header[record.Model] = []string{"NAM", "GFS"} }, nil, "model=NAM,GFS | model GFS NAM | fcst_lead 0 6 | A GFS-NAM 0-0 | A GFS-NAM 6-6 |  | "},
		"one lead less": {
			func(q *Question) { q.Lead = []int32{21600} }, nil,
			"fcst_lead=6 | model GFS NAM | fcst_lead 6 | A GFS-NAM 6-6 | DIFF of curves, because the question no longer includes fcst_lead 0 | old xold y",
		},
		"a lead more": {
			func(q *Question) { q.Lead = []int32{0, 21600, 27000} }, nil,
			"fcst_lead=0,6,7h30m | model GFS NAM | fcst_lead 0 6 7.5 | A GFS-NAM 0-0 | A GFS-NAM 6-6 |  | old xold y",
		},
		"another model": {
			func(q *Question) { q.Header[record.Model] = []string{"NAM", "ECM"} }, nil,
			"model=NAM,ECM | model NAM ECM | fcst_lead 0 6 | DIFF of curves, because the question no longer includes model GFS; DIFF of curves, because the question no longer includes model GFS | ",
		},
		"other times": {func(q *Question) { q.Valid.List = []int64{0} }, nil, "other valid times | model GFS NAM | fcst_lead 0 6 | A GFS-NAM 0-0 | A GFS-NAM 6-6 |  | old xold y"},
	} {
		before, q := drawn(), drawn()
		c.change(q)
		q.Adapt(before, c.stats...)
		if got := show(q); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if untitled := name != "nothing" && name != "a known statistic"; q.Untitled != untitled {
			t.Errorf("%s: the title is removed: %t", name, q.Untitled)
		}
		if got := show(before); got != show(drawn()) {
			t.Errorf("%s: Adapt changes the earlier question: %s", name, got)
		}
	}
}

// TestAdaptEqualization: fixed fields of the equalization follow their condition.
func TestAdaptEqualization(t *testing.T) {
	before, q := drawn(), drawn()
	q.Header[record.Model] = []string{"GFS"}
	q.Adapt(before)
	if e := q.Drawing.Equalize; !slices.Equal(e[0].Values[0], []string{"GFS"}) || !slices.Equal(e[1].Values[0], []string{"G2"}) {
		t.Errorf("%v", e)
	}
	q = drawn()
	q.Header[record.Model] = nil
	q.Adapt(before)
	if e := q.Drawing.Equalize; e[0].Values != nil || q.Drawing.Curves[0].Values != nil {
		t.Errorf("%v, %v", e, q.Drawing.Curves)
	}
}

// TestAdaptTimes: curves by valid time follow the valid times of the question.
func TestAdaptTimes(t *testing.T) {
	before, q := drawn(), drawn()
	for _, each := range []*Question{before, q} {
		each.Valid = Times{First: 0, Last: 86400, Step: 86400}
		each.Drawing.Derived = nil
		each.Drawing.Curves = []Group{{"fcst_valid_beg", [][]string{{formatGroupTime(0)}, {formatGroupTime(86400)}}}}
	}
	q.Valid = Times{First: 86400, Last: 3 * 86400, Step: 86400}
	q.Adapt(before)
	want := formatGroupTime(86400) + " " + formatGroupTime(2*86400) + " " + formatGroupTime(3*86400)
	var got []string
	for _, item := range q.Drawing.Curves[0].Values {
		got = append(got, item...)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAdaptScorecard: the title of a scorecard names the models that remain.
func TestAdaptScorecard(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	before := &Question{Type: lt}
	before.Scorecard("NEW", "OLD")
	if before.Title != "Scorecard of NEW against OLD" || before.Untitled {
		t.Errorf("%q", before.Title)
	}
	q := &Question{Type: lt}
	q.Scorecard("NEW", "OLD")
	q.Header[record.Model] = []string{"NEW", "OLD", "THIRD"}
	if q.Adapt(before); q.Title != "Scorecard of NEW, THIRD against OLD" || q.Untitled {
		t.Errorf("%q, untitled %t", q.Title, q.Untitled)
	}
}

// TestSetHeader: repeated conditions on one field collect its values, and a condition replaces the question's own.
func TestSetHeader(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  []string // the models; nil = all
		says  string
	}{
		{[]string{"model=GFS"}, []string{"GFS"}, ""},
		{[]string{"model=GFS,NAM", "model=GFS", "vx_mask=G2", "model=ECM"}, []string{"GFS", "NAM", "ECM"}, ""},
		{[]string{"model="}, nil, ""},
		{[]string{`model=a\,b,c`}, []string{"a,b", "c"}, ""},
		{[]string{"model=", "model=GFS"}, nil, "requests both all values of model and some"},
		{[]string{"model=GFS", "model="}, nil, "requests both all values of model and some"},
		{[]string{"model"}, nil, "is not FIELD=VALUE"},
		{[]string{"models=GFS"}, nil, "names no header field"},
		{[]string{"model=GFS,,NAM"}, nil, "has an empty value"},
	} {
		q := &Question{}
		q.Header[record.Model] = []string{"old"}
		err := q.SetHeader(c.texts...)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q: %v", c.texts, err)
			}
			continue
		}
		if err != nil || !slices.Equal(q.Header[record.Model], c.want) {
			t.Errorf("%q: %q, %v", c.texts, q.Header[record.Model], err)
		}
	}
}

// TestFormatsOfTags: a title writes a lead and an hour with two digits for each part.
func TestFormatsOfTags(t *testing.T) {
	b := &builder{p: &metviewer.Plot{}}
	for _, c := range []struct{ name, value, query, want string }{
		{"fcst_lead", "60000", "format=HH", "06"},
		{"fcst_lead", "1200000", "format=HH", "120"},
		{"fcst_lead", "60000", "format=HHmm", "0600"},
		{"fcst_lead", "1203059", "format=HHmm", "12030"},
		{"fcst_lead", "11059", "format=HHmm", "0110"},
		{"fcst_lead", "NA", "format=HH", "NA"},
		{"fcst_lead", "60000", "", "60000"},
		{"fcst_lead", "60000", "format=mm", "60000"},
		{"valid_hour", "6", "format=HH", "06"},
		{"init_hour", "18", "format=HH", "18"},
		{"init_hour", "6", "", "6"},
		{"model", "6", "format=HH", "6"},
		{"fcst_valid_beg", "2019-01-02 12:30:00", "", "2019010212"},
	} {
		if got := b.formatTag(c.name, c.value, c.query); got != c.want {
			t.Errorf("{%s?%s} of %s: %q, want %q", c.name, c.query, c.value, got, c.want)
		}
	}
}

// TestDerivedBoxes: a box plot draws a difference of two curves, but no test of equivalence.
func TestDerivedBoxes(t *testing.T) {
	for op, refused := range map[string]bool{"DIFF": false, "RATIO": false, "ETB": true} {
		qs, notes := specOf(t, `<plot><template>box_plot.R_tmpl</template><dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep>`+byLead+`
			<series1><field name="model"><val>A</val><val>B</val></field></series1><agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>
			<tmpl><listDiffSeries1>list(c("A TMP RMSE","B TMP RMSE","`+op+`"))</listDiffSeries1></tmpl></plot>`)
		if len(qs) != 1 {
			t.Fatal(notes)
		}
		if qs[0].Drawing.Picture != "box" || (len(qs[0].Drawing.Derived) == 0) != refused || strings.Contains(strings.Join(notes, "\n"), "a test of equivalence has no box") != refused {
			t.Errorf("%s: %s with %v, notes %q", op, qs[0].Drawing.Picture, qs[0].Drawing.Derived, notes)
		}
	}
}
