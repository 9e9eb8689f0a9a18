package design

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestOrderOfCases: first the questions of NOAA's experiment about the preferred line type, then one by one those of all
// line types.
func TestOrderOfCases(t *testing.T) {
	c := NewCatalog("s")
	for _, name := range []string{"two types", "upper air"} {
		for _, g := range grids()[name] {
			g.fill(c)
		}
	}
	got := lists.Map(c.Cases(), func(q *question.Question) string { return strings.Join(strings.Split(q.Name, "_")[:2], " ") })
	want := []string{
		"dieoff sal1l2", "one sal1l2", "all sal1l2", "levels sal1l2", "profile sal1l2", "large sal1l2", "dieoff sl1l2", "dieoff vl1l2",
		"series sal1l2", "large sl1l2", "large vl1l2", "hour sal1l2", "series sl1l2", "series vl1l2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestLargeReads: a large read has all records of a line type; if these are too many, those of one model; if these are
// still too many, those of one variable of it. Its name has the variable.
func TestLargeReads(t *testing.T) {
	for _, x := range []struct {
		records [4]int64 // of M and V, M and W, N and V, N and W
		want    string
	}{
		{[4]int64{25_001, 25_000, 25_000, 24_999}, "large_sl1l2 |  | "},
		{[4]int64{25_001, 25_000, 25_000, 25_000}, "large_sl1l2 | M | "},
		{[4]int64{50_001, 49_999, 50_000, 50_000}, "large_sl1l2 | M | "},
		{[4]int64{50_001, 50_000, 50_000, 50_000}, "large_sl1l2_v | M | V"},
	} {
		c := NewCatalog("s")
		(&grid{"SL1L2", []string{"M", "N"}, []string{"V", "W"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, 1, 24}).fill(c)
		for i, g := range c.Groups {
			g.Digest.Records = x.records[i]
		}
		for _, q := range c.Cases() {
			if !strings.HasPrefix(q.Name, "large") {
				continue
			}
			got := fmt.Sprintf("%s | %s | %s", q.Name, strings.Join(q.Header[record.Model], ","), strings.Join(q.Header[record.FcstVar], ","))
			if got != x.want {
				t.Errorf("%d records: %s, want %s", x.records, got, x.want)
			}
			// Its short name is known, too.
			if all := c.CasesWith("large_sl1l2"); !slices.ContainsFunc(all, func(q *question.Question) bool { return q.Name == "large_sl1l2" }) {
				t.Errorf("%d records: large_sl1l2 is unknown", x.records)
			}
		}
	}
}

// TestSizesOfQuestions: a question keeps all times if it has just as many records and keys as allowed; with more, it has
// the last half, and so on. A question about one time cannot become smaller.
func TestSizesOfQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		days    int
		records int64
		masks   int
		times   int // -1 = the question is too large
	}{
		"as many records as allowed": {16, maxRows, 1, 16},
		"one more":                   {16, maxRows + 1, 1, 8},
		"four times as many":         {16, 4 * maxRows, 1, 4},
		"an odd number of times":     {5, 2 * maxRows, 1, 3 - 1}, // the last 3 of 5 are 6/5 of the limit
		"as many keys as allowed":    {16, 1, maxKeys / 16, 16},
		"more keys":                  {16, 1, maxKeys/16 + 1, 8},
		"one time, as many keys":     {1, 1, maxKeys, 1},
		"one time, more keys":        {1, 1, maxKeys + 1, -1},
		"one time, more records":     {1, maxRows + 1, 1, 1},
	} {
		catalog := NewCatalog("s")
		(&grid{"SL1L2", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, c.days, 24}).fill(catalog)
		g := catalog.Groups[0]
		g.Digest.Records, g.Masks = c.records, make([]string, c.masks)
		q := &question.Question{Type: mustType("SL1L2")}
		ok := catalog.limitSize(q)
		last := int64(day + (c.days-1)*86400)
		if kept := g.Times(q); ok != (c.times >= 0) || ok && (len(kept) != c.times || kept[len(kept)-1] != last) {
			t.Errorf("%s: %v, times %v", name, ok, kept)
		}
	}
	catalog := NewCatalog("s")
	(&grid{"SL1L2", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, 4, 24}).fill(catalog)
	q := &question.Question{Type: mustType("SL1L2"), Valid: question.Times{List: []int64{day, day + 86400, day + 7}}}
	catalog.Groups[0].Digest.Records = 4 * maxRows // twice as many as allowed at the two times that exist
	if ok := catalog.limitSize(q); !ok || !slices.Equal(q.Valid.List, []int64{day + 86400}) {
		t.Errorf("of two requested times: %v, %+v", ok, q.Valid)
	}
}

// TestSparseGrids: a grid has at most four times as many points as there are times.
func TestSparseGrids(t *testing.T) {
	for last, step := range map[int64]int64{11: 1, 12: 0} {
		if got := gridOrList(Moments{0, 1, last}); got.Step != step {
			t.Errorf("three times up to %d: %+v", last, got)
		}
	}
}

// TestMiddleLead: the middle of a forecast is the first of 72, 48, 24, 12 and 6 hours that exists, or the lead in the
// middle of the list.
func TestMiddleLead(t *testing.T) {
	for _, c := range []struct {
		hours []int32
		want  []int32
	}{
		{nil, nil},
		{[]int32{5}, []int32{5}},
		{[]int32{1, 2}, []int32{2}},
		{[]int32{1, 2, 3}, []int32{2}},
		{[]int32{1, 3, 6, 7, 8}, []int32{6}},
		{[]int32{0, 6, 12}, []int32{12}},
		{[]int32{0, 6, 12, 24}, []int32{24}},
		{[]int32{0, 24, 48, 96}, []int32{48}},
		{[]int32{0, 24, 48, 72, 96}, []int32{72}},
	} {
		s := &mainSeries{leads: lists.Map(c.hours, func(h int32) int32 { return h * 3600 })}
		if got := lists.Map(s.middleLead(), func(l int32) int32 { return l / 3600 }); !slices.Equal(got, c.want) {
			t.Errorf("of %d h: %d, want %d", c.hours, got, c.want)
		}
	}
}

// TestFirstDays: the times of the first four days, the first second of the fifth excluded.
func TestFirstDays(t *testing.T) {
	const four = 4 * 86400
	for _, c := range []struct {
		valid Moments
		want  int
	}{{nil, 0}, {Moments{9}, 1}, {Moments{9, four, four + 8, four + 9, four + 10}, 3}, {Moments{-four, -1, 0, 1}, 2}} {
		if got := (&mainSeries{valid: c.valid}).firstDays(); len(got) != c.want {
			t.Errorf("of %v: %v", c.valid, got)
		}
	}
}

// TestPressureLevels: a pressure level is P with a number; only these are in a profile.
func TestPressureLevels(t *testing.T) {
	for level, want := range map[string]bool{"P500": true, "P1000": true, "P": false, "500": false, "P500-700": false, "PBL": false, "Z2": false, "": false, "p500": false} {
		if isNotPressure(level) == want {
			t.Errorf("%q is a pressure level: %v", level, !want)
		}
	}
}

// TestPreferredValues: the preferred values come first, in the order of preference; the others keep their order.
func TestPreferredValues(t *testing.T) {
	for _, c := range []struct{ all, liked, want string }{
		{"a b c", "", "a b c"}, {"a b c", "x", "a b c"}, {"a b c", "c", "c a b"}, {"a b c d", "d b", "d b a c"}, {"a b c d", "d x c", "d c a b"}, {"", "a", ""},
	} {
		if got := strings.Join(prefer(strings.Fields(c.all), strings.Fields(c.liked)), " "); got != c.want {
			t.Errorf("of %s, %s first: %s, want %s", c.all, c.liked, got, c.want)
		}
	}
	c := NewCatalog("s")
	(&grid{"SL1L2", []string{"M", "A"}, []string{"V"}, []string{"P1", "Z2", "P500", "P850"}, []string{"CONUS", "G2/NHX", "EAST"}, []string{record.NA}, []int32{0}, 1, 24}).fill(c)
	s := c.findMainSeries(mustType("SL1L2"), "")
	for _, x := range []struct {
		field record.Field
		n     int
		want  string
	}{
		{record.FcstLev, 1, "P500"},
		{record.FcstLev, 3, "P500 P850 Z2"},
		{record.FcstLev, 9, "P500 P850 Z2 P1"},
		{record.VxMask, 2, "G2/NHX CONUS"},
		{record.VxMask, 3, "G2/NHX CONUS EAST"},
		{record.Model, 2, s.Header[record.Model][0] + " " + map[string]string{"M": "A", "A": "M"}[s.Header[record.Model][0]]},
	} {
		if got := strings.Join(s.preferredValues(x.field, x.n), " "); got != x.want {
			t.Errorf("%d values of %s: %s, want %s", x.n, x.field, got, x.want)
		}
	}
}

// TestNearestValue: a value in another letter case is nearer than any other, and no value is near to a quite different one.
func TestNearestValue(t *testing.T) {
	for value, want := range map[string]string{
		"tmp": "TMP, TMP1, RH (did you mean TMP?)", "TMP2": "TMP, TMP1, RH (did you mean TMP?)", "rh": "TMP, TMP1, RH (did you mean RH?)",
		"PRECIPITATION": "TMP, TMP1, RH",
	} {
		if got := listWithNearest(value, []string{"TMP", "TMP1", "RH"}); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
}

// TestThresholds: the thresholds of a group, without the absent ones.
func TestThresholds(t *testing.T) {
	g := &Group{FcstVar: "APCP", FurtherFields: []string{"", "fcst_thresh=>5", "fcst_thresh=>1", "fcst_thresh=", "fcst_thresh=>5;descr=x", "nothing=1"}}
	if got := g.Thresholds(); !slices.Equal(got, []string{">1", ">5"}) {
		t.Errorf("%q", got)
	}
}

// TestOtherTimesAndLeads: the times and leads of the matching records, if the question requests none of them. One that
// exists is enough.
func TestOtherTimesAndLeads(t *testing.T) {
	c := NewCatalog("s")
	(&grid{"SL1L2", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{6, 12, 24}, 1, 6}).fill(c)
	const times = "the matching records have other valid times, from 2024-01-01T00:00:00Z to 2024-01-01T18:00:00Z"
	const leads = "the matching records have other leads, from 6 h to 24 h"
	for _, x := range []struct {
		name string
		q    question.Question
		want string
	}{
		{"all", question.Question{}, ""},
		{"a range before", question.Question{Valid: question.Times{First: 1, Last: day - 1}}, times},
		{"a range with the first time", question.Question{Valid: question.Times{First: 1, Last: day}}, ""},
		{"a list with one time", question.Question{Valid: question.Times{List: []int64{7, day + 3600*6}}}, ""},
		{"a list without one", question.Question{Valid: question.Times{List: []int64{7, day + 3600}}}, times},
		{"an hour that exists", question.Question{TimeFilter: question.TimeFilter{ValidHour: []int{5, 12}}}, ""},
		{"an hour that does not", question.Question{TimeFilter: question.TimeFilter{ValidHour: []int{5}}}, times},
		{"an hour of another time", question.Question{Valid: question.Times{List: []int64{day}}, TimeFilter: question.TimeFilter{ValidHour: []int{6}}}, times},
		{"a lead that exists", question.Question{Lead: []int32{1, 43200}}, ""},
		{"a lead that does not", question.Question{Lead: []int32{1, 2}}, leads},
	} {
		x.q.Type = mustType("SL1L2")
		if got := c.ExplainNoRecords(&x.q); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}
