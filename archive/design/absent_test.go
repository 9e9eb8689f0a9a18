package design

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestAbsent: ExplainNoRecords names the condition of a question that excludes all records.
func TestAbsent(t *testing.T) {
	c := NewCatalog("s")
	if got := c.ExplainNoRecords(&question.Question{}); got != "it has no records" {
		t.Error(got)
	}
	for _, g := range []struct{ lineType, model, level, mask, thresh string }{
		{"SAL1L2", "GFS", "P1000", "G2/NHX", ""}, {"SAL1L2", "ECM", "P500", "G2/SHX", ""}, {"CTC", "GFS", "Z2", "G2", ">1"},
	} {
		lt, _ := record.TypeByName(g.lineType)
		b := &record.Batch{}
		b.Reset(lt, "")
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar], h[record.ObsVar] = "V01", g.model, "ANL", "HGT", "HGT"
		h[record.FcstLev], h[record.ObsLev], h[record.VxMask] = g.level, g.level, g.mask
		if g.thresh != "" {
			h[record.FcstThresh], h[record.ObsThresh] = g.thresh, g.thresh
		}
		head := b.AddHeader(h)
		for _, valid := range []int64{1704067200, 1704088800} {
			b.AppendTimes(head, 21600, valid, 1)
		}
		c.Merge(catalogOf(b))
	}
	for text, says := range map[string]string{
		"":                                    "",
		"model=GFS":                           "",
		"model=gfs":                           "no SAL1L2 has model gfs; the archive has ECM, GFS (did you mean GFS?)",
		"fcst_lev=P505":                       "the archive has P1000, P500 (did you mean P500?)",
		"model=GFS fcst_lev=P500":             "together with the other conditions, no SAL1L2 has model GFS; the archive has ECM",
		"fcst_lev=P500 vx_mask=G2/NHX":        "together with the other conditions, no SAL1L2 has fcst_lev P500; the archive has P1000",
		"model=GFS,ECM fcst_lev=P500":         "",
		"fcst_thresh=>1":                      "no SAL1L2 has fcst_thresh >1; the archive has NA",
		"CTC fcst_thresh=>1":                  "",
		"CTC fcst_thresh=>2":                  "no CTC has fcst_thresh >2; the archive has >1 (did you mean >1?)",
		"PCT":                                 "the archive has no PCT, only CTC, SAL1L2",
		"valid=2018010100":                    "other valid times, from 2024-01-01T00:00:00Z to 2024-01-01T06:00:00Z",
		"valid=2024010106":                    "",
		"lead=12":                             "other leads, from 6 h to 6 h",
		"model=ECM lead=0,6 valid=2024010100": "",
	} {
		q := &question.Question{Subset: "s"}
		q.Type, _ = record.TypeByName("SAL1L2")
		for word := range strings.FieldsSeq(text) {
			name, value, _ := strings.Cut(word, "=")
			var err error
			switch name {
			case "valid":
				err = q.SetValidTimes(value)
			case "lead":
				err = q.SetLeads(value)
			default:
				if lt, ok := record.TypeByName(name); ok {
					q.Type = lt
				} else {
					err = q.SetHeader(word)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got := c.ExplainNoRecords(q); (got == "") != (says == "") || !strings.Contains(got, says) {
			t.Errorf("%s: %q, want %q", text, got, says)
		}
	}
}

// TestNamesOfCasesStay: a question keeps its name and its meaning when more records
// make another variable the one that Cases lists.
func TestNamesOfCasesStay(t *testing.T) {
	c := NewCatalog("s")
	lt, _ := record.TypeByName("SL1L2")
	add := func(variable string, leads ...int32) {
		b := &record.Batch{}
		b.Reset(lt, "")
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = "V12", "GFS", "ANL", "FULL"
		h[record.FcstVar], h[record.ObsVar], h[record.FcstLev], h[record.ObsLev] = variable, variable, "P500", "P500"
		head := b.AddHeader(h)
		for _, lead := range leads {
			b.AppendTimes(head, lead, 1704067200, 1)
		}
		c.Merge(catalogOf(b))
	}
	find := func(name string) *question.Question {
		for _, q := range c.CasesWith(name) {
			if q.Name == name {
				return q
			}
		}
		return nil
	}
	add("HGT", 0, 21600, 43200)
	before := c.Cases()
	if len(before) == 0 || find("one_sl1l2_hgt") == nil {
		var names []string
		for _, q := range before {
			names = append(names, q.Name)
		}
		t.Fatalf("there is no question one_sl1l2_hgt: %q", names)
	}
	add("TMP", 0, 21600, 43200, 64800, 86400)
	if slices.ContainsFunc(c.Cases(), func(q *question.Question) bool { return q.Name == "one_sl1l2_hgt" }) {
		t.Fatal("HGT is still the main variable: the test changes nothing")
	}
	for _, old := range before {
		if q := find(old.Name); q == nil || !slices.Equal(q.Header[record.FcstVar], old.Header[record.FcstVar]) {
			t.Errorf("%s is %+v", old.Name, q)
		}
	}
	if q := find("one_sl1l2_tmp"); q == nil || q.Header[record.FcstVar][0] != "TMP" {
		t.Errorf("one_sl1l2_tmp is %+v", q)
	}
	if find("one_sl1l2_rh") != nil {
		t.Error("a variable that is not there has a question")
	}
}

// TestNamesAfterTrim: the names of cases stay known when all records of their variable, or all but one time, were
// removed. Without a removal they are unknown.
func TestNamesAfterTrim(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	batch := func(variable string, valid ...int64) *record.Batch {
		b := &record.Batch{}
		b.Reset(lt, "")
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar], h[record.ObsVar] = "V01", "GFS", "ANL", variable, variable
		h[record.FcstLev], h[record.ObsLev], h[record.VxMask] = "P500", "P500", "G2"
		head := b.AddHeader(h)
		for _, v := range valid {
			b.AppendTimes(head, 21600, v, 1)
			b.AppendTimes(head, 43200, v, 1)
			for k := range b.Num {
				b.Num[k] = append(b.Num[k], 1, 1)
			}
		}
		return b
	}
	const day = 86400
	c, gone := NewCatalog("s"), NewCatalog("s")
	c.Add(batch("HGT", 0, day))
	c.Add(batch("TMP", 0, day, 100*day))
	find := func(name string) *question.Question { return c.caseNamed(name) }
	if find("dieoff_sl1l2_hgt") == nil || find("series_sl1l2_tmp") == nil || find("dieoff_sl1l2_ugrd") != nil {
		t.Fatal("the names before the removal")
	}
	gone.Add(batch("HGT", 0, day))
	gone.Add(batch("TMP", 0, day))
	c.Trim(50*day, gone, 0)
	if q := find("dieoff_sl1l2_hgt"); q == nil || !strings.Contains(c.ExplainNoRecords(q), "no SL1L2 has fcst_var HGT") {
		t.Errorf("%+v", q)
	}
	if q := find("series_sl1l2_tmp"); q == nil || c.ExplainNoRecords(q) != "" {
		t.Errorf("%+v", q)
	}
	for _, never := range []string{"nothing_sl1l2_hgt", "threshold_sl1l2_tmp"} { // SL1L2 lines have no thresholds
		if q := find(never); q != nil {
			t.Errorf("%s: %+v", never, q)
		}
	}
}
