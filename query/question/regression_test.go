package question

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// A bracket in quotes neither opens nor closes a list. The parser needs a minute for 50,000 nested lists.
func TestBracketsInQuotes(t *testing.T) {
	if _, err := parsed("changed: " + strings.Repeat(`["]",`, 1000)); err == nil || !strings.Contains(err.Error(), "nested brackets") {
		t.Errorf("nested lists with brackets in quotes: %v", err)
	}
	q, err := parsed("title: '" + strings.Repeat("[", 20) + "' # {{{{{{{{{{{{{{{{{{{{")
	if err != nil || q.Title != strings.Repeat("[", 20) {
		t.Errorf("a title of brackets: %+v, %v", q, err)
	}
}

// The cure of an error is a name that Find accepts.
func TestFindOneOfNOAA(t *testing.T) {
	_, err := Find(NOAA)
	if err == nil {
		t.Fatal("all cases are one question")
	}
	words := strings.Fields(err.Error())
	if q, err := Find(words[len(words)-1]); err != nil || q.Name != "test_1" {
		t.Errorf("%q: %v", words, err)
	}
}

// The limit of leads, not the form of the last range, is the problem.
func TestTooManyLeadsBeforeARange(t *testing.T) {
	q := &Question{}
	if err := q.SetLeads("0-99999/1,0-6/6"); err == nil || !strings.Contains(err.Error(), "100,000 leads") {
		t.Error(err)
	}
}

// A URL query accepts what the command line accepts, and refuses what YAML refuses.
func TestKeysOfURLs(t *testing.T) {
	for text, want := range map[string]string{
		"fcst_init_beg=all": "", "fcst_valid_beg=all": "", "fcst_lead=all": "",
		"stat=": "stat of SL1L2", "stat=RMSSE": "did you mean RMSE?", "axis=fcst_leed": "did you mean fcst_lead?",
		"series=modle": "did you mean model?", "subst=a": "did you mean subset?",
		"fcst_init_beg=2019-01-02..2019-01-01": "ends before it begins",
	} {
		v, err := url.ParseQuery("line_type=SL1L2&" + text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FromURLQuery(v); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	q, err := FromURLQuery(url.Values{"line_type": {"SL1L2"}, "equal_places": {"true"}})
	if err != nil || q.Drawing == nil || !q.Drawing.EqualizeAcrossAxis {
		t.Errorf("equal_places alone: %+v, %v", q, err)
	}
}

// Changed lists everything that differs from the original case, also after a second change.
func TestAdaptKeepsEarlierChanges(t *testing.T) {
	q, err := parsed("changed: [model=GFS, vx_mask=G2, other valid times]\nwhere: {model: GFS}\nseries: {init_hour: [0, 12], fcst_init_beg: [2019-01-01]}")
	if err != nil {
		t.Fatal(err)
	}
	before := *q
	q.Header[record.Model] = []string{"ECM"}
	q.TimeFilter = TimeFilter{Init: Times{List: []int64{1546387200}}, InitHour: []int{12, 18}, ValidHour: []int{6}}
	q.Adapt(&before)
	want := []string{"vx_mask=G2", "other valid times", "model=ECM", "other initialization times", "valid_hour=6", "init_hour=12,18"}
	if !slices.Equal(q.Changed, want) || len(before.Changed) != 3 {
		t.Errorf("changed: %q, want %q", q.Changed, want)
	}
	if got := fmt.Sprint(q.Drawing.Curves); got != "[{init_hour [[12] [18]]} {fcst_init_beg [[2019-01-02T00:00:00Z]]}]" {
		t.Error(got)
	}
}

// A single question keeps the name of its case or file. Several have new names.
func TestRenameChanged(t *testing.T) {
	one, err := parsed("changed: vx_mask=G2\nwhere: {fcst_var: TMP}")
	if err != nil {
		t.Fatal(err)
	}
	if RenameChanged([]*Question{one}); one.Name != "x" {
		t.Errorf("a single question is called %s", one.Name)
	}
	other := *one
	if RenameChanged([]*Question{one, &other}); one.Name != "TMP_SL1L2" || other.Name != "TMP_SL1L2-2" {
		t.Errorf("two questions are called %s and %s", one.Name, other.Name)
	}
}

// Every curve of a plot with a bootstrap has its interval.
func TestIntervalsOfPlotXML(t *testing.T) {
	q, err := parsed("where: {model: [A, B], fcst_var: TMP}\nstat: [RMSE, ME]\naxis: fcst_lead\nseries: {model: [A, B]}")
	if err != nil {
		t.Fatal(err)
	}
	text, err := PlotXML(q, 1)
	if err != nil || strings.Count(string(text), `boot&#34;`)+strings.Count(string(text), `"boot"`) == 0 {
		t.Fatalf("%v\n%s", err, text)
	}
	spec, err := metviewer.ParsePlotSpec("p.xml", text)
	if err != nil {
		t.Fatal(err)
	}
	qs, notes := FromPlots(spec)
	if len(qs) != 1 || len(notes) > 0 || fmt.Sprint(qs[0].Drawing.Styles) != "[map[plot_ci:boot] map[plot_ci:boot] map[plot_ci:boot] map[plot_ci:boot]]" {
		t.Errorf("%d questions, %v, %q", len(qs), qs[0].Drawing.Styles, notes)
	}
}

// PlotXML refuses leads that METviewer's codes do not distinguish: 500 is five minutes, or 500 hours of a VSDB file.
func TestAmbiguousLeads(t *testing.T) {
	for text, isWritten := range map[string]bool{
		"fcst_lead: [5m, 6m]": false, "fcst_lead: [5m, 10m]": true, "fcst_lead: 0": true, "fcst_lead: -6": true, "fcst_lead: 1000": true,
		"where: {version: V01}\nfcst_lead: 24": true, "where: {version: V01}\nfcst_lead: 1000": false, "where: {version: V01}\nfcst_lead: 30m": false,
		"series: {fcst_lead: [0.1, 6]}": true, "series: {fcst_lead: [0.1]}": false,
	} {
		if !strings.Contains(text, "where") {
			text = "where: {}\n" + text
		}
		q, err := parsed(strings.Replace(text, "{", "{fcst_var: TMP, ", 1) + "\nstat: RMSE\naxis: fcst_lev")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := PlotXML(q, 1); (err == nil) != isWritten || err != nil && !strings.Contains(err.Error(), "leads whose codes") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A note on a plot that has no question is in the first question of all plots, any other one in the first of its plot.
func TestOmittedOfPlots(t *testing.T) {
	plot := func(dep string) string { return "<plot>" + series + dep + byLead + "</plot>" }
	none := strings.Replace(rmse, "RMSE", "WARMTH", 1)
	two := strings.Replace(rmse, "</stat>", "</stat><stat>HEAT</stat>", 1)
	qs, _ := specOf(t, plot(rmse)+plot(none)+plot(two))
	if len(qs) != 2 {
		t.Fatalf("%d questions", len(qs))
	}
	if first, second := strings.Join(qs[0].Omitted, ";"), strings.Join(qs[1].Omitted, ";"); !strings.Contains(first, "WARMTH") ||
		strings.Contains(first, "HEAT") || !strings.Contains(second, "HEAT") || strings.Contains(second, "WARMTH") {
		t.Errorf("omitted: %s | %s", first, second)
	}
}

// TestURLOfTwoStatistics: the first statistic decides whether statistics are read from a column, as in YAML.
func TestURLOfTwoStatistics(t *testing.T) {
	t.Parallel()
	for _, stats := range []string{"RMSE", "RMSE,ME"} {
		values, err := url.ParseQuery("line_type=CNT&axis=fcst_lead&stat=" + stats)
		if err != nil {
			t.Fatal(err)
		}
		q, err := FromURLQuery(values)
		if err != nil || !q.Drawing.FromColumns {
			t.Errorf("%s: %+v, %v", stats, q, err)
		}
	}
}

// TestPlotXMLWithoutStyles: an empty list of styles is no list of styles.
func TestPlotXMLWithoutStyles(t *testing.T) {
	t.Parallel()
	for _, replicates := range []int{0, 100} {
		q, err := parsed("where: {fcst_var: TMP}\nstat: RMSE\naxis: fcst_lead")
		if err != nil {
			t.Fatal(err)
		}
		q.Drawing.Styles, q.Drawing.Replicates = []metviewer.Style{}, replicates
		if text, err := PlotXML(q, 1); err != nil || strings.Contains(string(text), "plot_ci") != (replicates > 0) {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// TestMixOfDatabases: two questions of different data sets are two questions of a mix.
func TestMixOfDatabases(t *testing.T) {
	t.Parallel()
	m := &mixReader{byConditions: map[string]*Question{}}
	for _, subset := range []string{"a", "a", "b"} {
		q, err := parsed("subset: " + subset)
		if err != nil {
			t.Fatal(err)
		}
		m.add(q)
	}
	if len(m.qs) != 2 {
		t.Errorf("%d questions", len(m.qs))
	}
}

// TestLeadCodes: a lead of METviewer is HHMMSS with at most 59 minutes and 59 seconds.
func TestLeadCodes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int32{
		"120000": 12 * 3600, "5959": 3599, "-5959": -3599, "-123000": -45000, "1000000": 100 * 3600, "15959": 7199,
		"6000": -1, "16000": -1, "60": -1, "160": -1, "-6000": -1, "-16000": -1, "-160": -1, "1006000": -1,
	} {
		got, err := leadSeconds(metviewer.Field{}, text, true)
		if (err == nil) != (want != -1) || err == nil && got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
}
