package question

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// TestChecks: Check names the first invalid field of a question, and accepts the limits themselves.
func TestChecks(t *testing.T) {
	pct, _ := record.TypeByName("PCT")
	repeating, err := Columns(pct, "thresh_i")
	if err != nil {
		t.Fatal(err)
	}
	for want, changes := range map[string][]func(q *Question){
		"": {
			func(*Question) {},
			func(q *Question) { q.Valid = Times{First: 7, Last: 7} },
			func(q *Question) { q.Valid = Times{First: 1, Last: 1_000_000, Step: 1} },
			func(q *Question) { q.Valid = Times{First: -1_000_000_000, Last: 1_000_000_000} },
			func(q *Question) { q.TimeFilter.ValidHour, q.TimeFilter.InitHour = []int{0, 23}, []int{0, 23} },
			func(q *Question) { q.Order = q.Columns[:3] },
			func(q *Question) { q.Drawing = nil },
			func(q *Question) { q.Order, q.Mean = nil, "RMSE" },
		},
		"line_type is missing":                             {func(q *Question) { q.Type = nil }},
		"order_by is given for a question with mean":       {func(q *Question) { q.Mean = "RMSE" }},
		"columns is empty":                                 {func(q *Question) { q.Columns = nil }},
		"columns names no column to group by":              {func(q *Question) { q.Mean, q.Order, q.Columns = "RMSE", nil, groupStatistics() }},
		"fcst_valid_beg is not ascending":                  {func(q *Question) { q.Valid = Times{List: []int64{2, 1}} }},
		"fcst_valid_beg ends before it begins":             {func(q *Question) { q.Valid = Times{First: 2, Last: 1} }},
		"fcst_valid_beg has a negative step":               {func(q *Question) { q.Valid = Times{First: 1, Last: 2, Step: -1} }},
		"fcst_valid_beg has more than 1000000 times":       {func(q *Question) { q.Valid = Times{First: 1, Last: 1_000_001, Step: 1} }},
		"fcst_init_beg is not ascending":                   {func(q *Question) { q.TimeFilter.Init = Times{List: []int64{2, 1}} }},
		"valid_hour contains -1":                           {func(q *Question) { q.TimeFilter.ValidHour = []int{-1} }},
		"valid_hour contains 24":                           {func(q *Question) { q.TimeFilter.ValidHour = []int{0, 24} }},
		"valid_hour is not ascending":                      {func(q *Question) { q.TimeFilter.ValidHour = []int{6, 0} }},
		"init_hour contains 24":                            {func(q *Question) { q.TimeFilter.InitHour = []int{24} }},
		"init_hour is not ascending":                       {func(q *Question) { q.TimeFilter.InitHour = []int{6, 0} }},
		"fcst_lead is not ascending":                       {func(q *Question) { q.Lead = []int32{2, 1} }},
		`columns: "model" is named twice`:                  {func(q *Question) { q.Columns, _ = Columns(q.Type, "model", "total", "model") }},
		`order_by: "total" is a value`:                     {func(q *Question) { q.Order, _ = Columns(q.Type, "model", "total") }},
		`order_by: "thresh_i" is a value`:                  {func(q *Question) { q.Type, q.Order = pct, repeating }},
		"series has more than 65536 curves":                {func(q *Question) { q.Drawing.Curves = slices.Repeat([]Group{{"model", make([][]string, 300)}}, 2) }},
		"fcst_lead has more than 100,000 leads":            {func(q *Question) { q.Lead = make([]int32, 100_001) }},
		"fcst_init_beg has more than 1000000 times":        {func(q *Question) { q.TimeFilter.Init = Times{First: 0, Last: 3_000_000, Step: 3} }},
		"fcst_valid_beg has more than 1000000 times; give": {func(q *Question) { q.Valid = Times{First: -6_000_000, Last: 0, Step: 6} }},
	} {
		for i, change := range changes {
			q, err := parsed("stat: RMSE")
			if err != nil {
				t.Fatal(err)
			}
			change(q)
			if err = q.Check(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), "question x: "+want) {
				t.Errorf("%q, %d: %v", want, i, err)
			}
		}
	}
}

// TestSetsOfTimes: what each form of Times contains, at its limits and between its steps.
func TestSetsOfTimes(t *testing.T) {
	for _, c := range []struct {
		times   Times
		inside  []int64
		outside []int64
		list    []int64 // nil = not discrete
	}{
		{Times{}, []int64{-5, 0, 5}, nil, nil},
		{Times{List: []int64{0}}, []int64{0}, []int64{-1, 1}, []int64{0}},
		{Times{List: []int64{-3, 4}}, []int64{-3, 4}, []int64{-4, 0, 5}, []int64{-3, 4}},
		{Times{First: -10}, []int64{-10, -1, 0}, []int64{-11, 1}, nil},
		{Times{Last: 10}, []int64{0, 1, 10}, []int64{-1, 11}, nil},
		{Times{First: 5, Last: 12, Step: 3}, []int64{5, 8, 11}, []int64{2, 6, 12, 14}, []int64{5, 8, 11}},
		{Times{First: 5, Last: 5, Step: 3}, []int64{5}, []int64{2, 8}, []int64{5}},
		{Times{First: -4, Last: 0, Step: 2}, []int64{-4, -2, 0}, []int64{-6, -3, 2}, []int64{-4, -2, 0}},
		{Times{Step: 3}, []int64{0}, []int64{-3, 3}, []int64{0}}, // from 1970 to 1970
	} {
		for _, v := range c.inside {
			if !c.times.Contains(v) {
				t.Errorf("%+v lacks %d", c.times, v)
			}
		}
		for _, v := range c.outside {
			if c.times.Contains(v) {
				t.Errorf("%+v contains %d", c.times, v)
			}
		}
		if got := c.times.Expand(); !slices.Equal(got, c.list) || c.times.IsDiscrete() != (c.list != nil) {
			t.Errorf("%+v is the list %v, want %v", c.times, got, c.list)
		}
		if c.times.IsAll() != (c.outside == nil) {
			t.Errorf("%+v contains all times: %t", c.times, c.times.IsAll())
		}
	}
}

// TestFiltersThatAcceptAll: a filter with any condition does not accept all times.
func TestFiltersThatAcceptAll(t *testing.T) {
	for _, c := range []struct {
		filter TimeFilter
		isAll  bool
	}{
		{TimeFilter{}, true},
		{TimeFilter{ValidHour: []int{0}}, false},
		{TimeFilter{InitHour: []int{0}}, false},
		{TimeFilter{Init: Times{List: []int64{0}}}, false},
		{TimeFilter{ValidHour: []int{0}, InitHour: []int{0}, Init: Times{Last: 1}}, false},
	} {
		if got := c.filter.AcceptsAll(); got != c.isAll {
			t.Errorf("%+v: %t", c.filter, got)
		}
	}
}

// TestFormsOfTimes: every form of a time is the same second in UTC.
func TestFormsOfTimes(t *testing.T) {
	const noon = 1546344000 // 2019-01-01T12:00:00Z
	for text, want := range map[string]int64{
		"2019-01-01T12:00:00Z": noon, "2019-01-01T13:00:00+01:00": noon, "2019-01-01 12:00:00": noon, "2019010112": noon,
		"20190101_120000": noon, "20190101120000": noon, "2019-01-01": noon - 43200, "20190101": noon - 43200, "1969-12-31T23:59:59Z": -1,
	} {
		if got, err := ParseTime(text); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "2019", "201901", "2019-13-01", "2019-01-01T12:00:00", "2019-01-01 12:00:00.5", "12:00:00"} {
		if got, err := ParseTime(text); err == nil || !strings.Contains(err.Error(), "is not a time; write 2019-01-01T00:00:00Z") {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}

// TestFormsOfLeads: three or more leads of whole hours at equal distances are a range, others are written one by one.
func TestFormsOfLeads(t *testing.T) {
	const hour = 3600
	for _, c := range []struct {
		seconds []int32
		want    string
	}{
		{nil, ""},
		{[]int32{0}, "0"},
		{[]int32{0, 6 * hour}, "0 6"},
		{[]int32{0, 6 * hour, 12 * hour}, "0-12/6"},
		{[]int32{-12 * hour, -6 * hour, 0}, "-12-0/6"},
		{[]int32{0, 6 * hour, 12 * hour, 13 * hour, 14 * hour}, "0-12/6 13 14"},
		{[]int32{1 * hour, 2 * hour, 3 * hour, 5 * hour, 7 * hour, 9 * hour}, "1-3/1 5-9/2"},
		{[]int32{0, hour / 2, hour}, "0 30m 1"},
		{[]int32{hour / 2, 3 * hour / 2, 5 * hour / 2}, "30m 1h30m 2h30m"},
		{[]int32{90}, "1m30s"},
	} {
		if got := strings.Join(FormatLeads(c.seconds), " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.seconds, got, c.want)
		}
		q := &Question{}
		if c.want == "" {
			continue
		}
		if err := q.SetLeads(strings.ReplaceAll(c.want, " ", ",")); err != nil || !slices.Equal(q.Lead, c.seconds) {
			t.Errorf("%s: %v, %v", c.want, q.Lead, err)
		}
	}
	q := &Question{Lead: []int32{0}}
	if err := q.SetLeads("all"); err != nil || q.Lead != nil {
		t.Errorf("all: %v, %v", q.Lead, err)
	}
	if err := q.SetLeads("soon"); err == nil || !strings.Contains(err.Error(), `fcst_lead: "soon" is not a lead`) {
		t.Errorf("soon: %v", err)
	}
}

// TestValidTimesOfCommandLine: one time, a list, a range and a grid, and what is refused.
func TestValidTimesOfCommandLine(t *testing.T) {
	const first, day = 1546300800, 86400
	for text, want := range map[string]Times{
		"2019-01-01":                {List: []int64{first}},
		"2019-01-02,2019-01-01":     {List: []int64{first, first + day}},
		"2019-01-01..2019-01-02":    {First: first, Last: first + day},
		"2019-01-01..2019-01-02/6h": {First: first, Last: first + day, Step: 21600},
		"all":                       {},
	} {
		q := &Question{Valid: Times{List: []int64{7}}}
		if err := q.SetValidTimes(text); err != nil || !slices.Equal(q.Valid.List, want.List) || q.Valid.First != want.First || q.Valid.Last != want.Last || q.Valid.Step != want.Step {
			t.Errorf("%s: %+v, %v", text, q.Valid, err)
		}
	}
	for text, want := range map[string]string{
		"yesterday":                  `"yesterday" is not a time`,
		"2019-01-02..2019-01-01":     `"2019-01-02..2019-01-01" ends before it begins; give a list of times, or first..last/step`,
		"2019-01-01..2019-01-02/-6h": "has a negative step",
		"2019-01-01..tomorrow":       `"tomorrow" is not a time`,
	} {
		q := &Question{Valid: Times{List: []int64{7}}}
		if err := q.SetValidTimes(text); err == nil || !strings.Contains(err.Error(), want) || !slices.Equal(q.Valid.List, []int64{7}) {
			t.Errorf("%s: %v, %+v", text, err, q.Valid)
		}
	}
}

// TestTieBreakers: a column that Order contains, or that the question fixes to one value, breaks no tie. The lead follows
// from the initialization and the valid time.
func TestTieBreakers(t *testing.T) {
	q, err := parsed("where: {model: GFS, vx_mask: [A, B]}\ncolumns: [total]\norder_by: [fcst_valid_beg, fcst_init_beg, fcst_lev]")
	if err != nil {
		t.Fatal(err)
	}
	names := lists.Map(q.TieBreakers(), func(c Column) string { return c.Name })
	for name, want := range map[string]bool{
		"model": false, "vx_mask": true, "fcst_lev": false, "obtype": true, "fcst_valid_beg": false, "fcst_init_beg": false, "fcst_lead": false,
		"fcst_valid_end": true, "obs_lead": true, "obs_valid_beg": true, "obs_valid_end": true,
	} {
		if slices.Contains(names, name) != want {
			t.Errorf("%s breaks ties: %t", name, !want)
		}
	}
	for _, order := range [][]string{{"fcst_valid_beg"}, {"fcst_init_beg"}, nil} { // both times are necessary for the lead
		if q.Order, err = Columns(nil, order...); err != nil {
			t.Fatal(err)
		}
		names := lists.Map(q.TieBreakers(), func(c Column) string { return c.Name })
		if !slices.Contains(names, "fcst_lead") || slices.Contains(names, "fcst_valid_beg") == slices.Contains(order, "fcst_valid_beg") {
			t.Errorf("order %v: ties are broken by %v", order, names)
		}
	}
	mpr, _ := record.TypeByName("MPR")
	q = &Question{Type: mpr}
	identity := lists.Map(mpr.IdentityColumns(), func(c record.Column) string { return c.Name })
	names = lists.Map(q.TieBreakers(), func(c Column) string { return c.Name })
	if len(identity) == 0 || !slices.Equal(names[len(names)-len(identity):], identity) {
		t.Errorf("ties of MPR are broken by %v, not by %v at the end", names, identity)
	}
}

// TestMeanAnomalyCorrelation: the question has no condition and groups by what distinguishes curves of a die-off plot.
func TestMeanAnomalyCorrelation(t *testing.T) {
	q := MeanAnomalyCorrelation("a")
	names := lists.Map(q.Columns, func(c Column) string { return c.Name })
	want := []string{"model", "fcst_var", "fcst_lev", "vx_mask", "fcst_lead", "records", "defined", "mean"}
	if !slices.Equal(names, want) || q.Subset != "a" || q.Type.Name != "SAL1L2" || q.Mean != "ANOM_CORR" || q.Check() != nil {
		t.Errorf("%+v, %v", q, q.Check())
	}
	if by := q.GroupingColumns(); len(by) != 5 || cap(by) != 5 {
		t.Errorf("%d columns to group by, room for %d: appending to them would overwrite the statistics", len(by), cap(by))
	}
	if len(q.Valid.List)+len(q.Lead) > 0 || !q.Valid.IsAll() || !q.TimeFilter.AcceptsAll() {
		t.Errorf("%+v has a condition", q)
	}
	for _, values := range q.Header {
		if len(values) > 0 {
			t.Errorf("%+v has a condition", q.Header)
		}
	}
}

// TestInSubset: the copy asks another subset, and the question itself does not change.
func TestInSubset(t *testing.T) {
	q := &Question{Name: "q", Subset: "a"}
	if c := q.InSubset("b"); c.Subset != "b" || c.Name != "q" || q.Subset != "a" {
		t.Errorf("%+v of %+v", c, q)
	}
}

// TestPatterns: only METviewer's PROB(…*…) denotes several variables.
func TestPatterns(t *testing.T) {
	for v, want := range map[string]bool{"PROB(TMP*)": true, "PROB(*": true, "PROB(TMP)": false, "TMP*": false, "PROB": false, "XPROB(*)": false, "": false} {
		q := &Question{}
		if q.Header[record.FcstVar] = []string{"TMP", v}; q.HasPattern() != want || IsPattern(v) != want {
			t.Errorf("%s: %t", v, q.HasPattern())
		}
	}
}
