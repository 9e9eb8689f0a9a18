package question

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
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

// A question of a file has its own name, and not that of another question. The name of all cases is no name in a file.
func TestNamesInFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("line_type: SL1L2\n---\nname: b\nline_type: CTC\n")
	if qs, _, err := FindAll(file); err != nil || len(qs) != 2 || qs[0].Name != "a" || qs[1].Name != "b" {
		t.Errorf("%+v, %v", qs, err)
	}
	if qs, _, err := FindAll(file + "#noaa"); err == nil || !strings.Contains(err.Error(), `contains no question "noaa"`) {
		t.Errorf("%d questions, %v", len(qs), err)
	}
	for _, text := range []string{"line_type: SL1L2\n---\nname: a\nline_type: CTC\n", "name: a\nline_type: SL1L2\n---\nline_type: CTC\n", "line_type: SL1L2\n---\nline_type: CTC\n"} {
		write(text)
		if qs, _, err := FindAll(file); err == nil || !strings.Contains(err.Error(), `contains two questions called "a"`) {
			t.Errorf("%q: %d questions, %v", text, len(qs), err)
		}
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
		"event_equal=x":                        "event_equal x is not true or false; write true or false", "equal_places=2": "equal_places 2 is not true or false",
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
	if err != nil || q.Drawing == nil || !q.Drawing.EqualizeAcrossAxis || q.Drawing.EventEqual {
		t.Errorf("equal_places alone: %+v, %v", q, err)
	}
	_, err = FromURLQuery(url.Values{"line_type": {"SL1L2"}, "event_equal": {"x"}})
	if fault.Code(err) != fault.Usage {
		t.Errorf("event_equal=x: status %d", fault.Code(err))
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

// A style without plot_ci does not remove the interval that Barograph draws.
func TestIntervalsOfStyledCurves(t *testing.T) {
	q, err := parsed("where: {fcst_var: TMP}\nstat: RMSE\naxis: fcst_lead\nseries: {model: [A, B]}\nstyles: [{colors: \"#ff0000\", legend: \"\"}, {colors: \"#0000ff\", legend: b}]")
	if err != nil {
		t.Fatal(err)
	}
	for replicates, want := range map[int]string{
		100: "[map[colors:#ff0000 plot_ci:boot] map[colors:#0000ff legend:b plot_ci:boot]]",
		0:   "[map[colors:#ff0000] map[colors:#0000ff legend:b]]",
	} {
		q.Drawing.Replicates = replicates
		if got := fmt.Sprint(asPlot(t, q).Drawing.Styles); got != want {
			t.Errorf("%d replicates: %s, want %s", replicates, got, want)
		}
	}
}

// asPlot returns the question of a plot_spec that PlotXML wrote.
func asPlot(t *testing.T, q *Question) *Question {
	t.Helper()
	text, err := PlotXML(q, 1)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := metviewer.ParsePlotSpec("p.xml", text)
	if err != nil {
		t.Fatal(err)
	}
	qs, notes := FromPlots(spec)
	if len(qs) != 1 {
		t.Fatalf("%d questions, %q\n%s", len(qs), notes, text)
	}
	return qs[0]
}

// A condition that excludes some curves, or a part of them, is written in addition to the series.
func TestConditionsOnSeries(t *testing.T) {
	for text, want := range map[string]string{
		"where: {fcst_var: TMP, model: A}\nseries: {model: [A, B]}":                                                          "[A] [] {[] 0 0 0}",
		"where: {fcst_var: TMP, model: [A, B, C]}\nseries: {model: [[A, B], D]}":                                             "[A B] [] {[] 0 0 0}",
		"where: {fcst_var: TMP}\nseries: {model: [A, B]}":                                                                    "[A B] [] {[] 0 0 0}",
		"where: {fcst_var: TMP}\ninit_hour: [0]\nseries: {init_hour: [0, 12]}":                                               "[] [0] {[] 0 0 0}",
		"where: {fcst_var: TMP}\nfcst_valid_beg: 1970-01-02..1970-01-03\nseries: {fcst_valid_beg: [1970-01-01, 1970-01-02]}": "[] [] {[86400] 0 0 0}",
	} {
		q, err := parsed(text + "\nstat: RMSE\naxis: fcst_lead")
		if err != nil {
			t.Fatal(err)
		}
		plot := asPlot(t, q)
		got := fmt.Sprint(plot.Header[record.Model], " ", plot.TimeFilter.InitHour, " ", plot.Valid)
		if got != want || fmt.Sprint(plot.Drawing.Curves) != fmt.Sprint(q.Drawing.Curves) {
			t.Errorf("%s: %s, want %s; curves %v", text, got, want, plot.Drawing.Curves)
		}
	}
}

// A plot with an unknown boot_ci has the interval that its note names, and is written as YAML that Parse accepts.
func TestUnknownBootCI(t *testing.T) {
	qs, notes := plotOf(t, strings.Replace(rmse, "</agg_sl1l2>", "</agg_sl1l2><boot_repl>10</boot_repl><boot_ci>percent</boot_ci>", 1)+byLead)
	if len(qs) != 1 || qs[0].Drawing.BootCI != "perc" {
		t.Fatalf("%+v, %q", qs, notes)
	}
	same(t, qs[0])
}

// PlotXML refuses leads that METviewer's codes do not distinguish: 500 is five minutes, or 500 hours of a VSDB file.
func TestAmbiguousLeads(t *testing.T) {
	for _, c := range []struct {
		where, rest string
		isWritten   bool
	}{
		{"", "fcst_lead: [5m, 6m]", false},
		{"", "fcst_lead: [5m, 10m]", true},
		{"", "fcst_lead: 0", true},
		{"", "fcst_lead: -6", true},
		{"", "fcst_lead: 1000", true},
		{", version: V01", "fcst_lead: 24", true},
		{", version: V01", "fcst_lead: 1000", false},
		{", version: V01", "fcst_lead: 30m", false},
		{"", "series: {fcst_lead: [0.1, 6]}", true},
		{"", "series: {fcst_lead: [0.1]}", false},
	} {
		q, err := parsed("where: {fcst_var: TMP" + c.where + "}\n" + c.rest + "\nstat: RMSE\naxis: fcst_lev")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := PlotXML(q, 1); (err == nil) != c.isWritten || err != nil && !strings.Contains(err.Error(), "leads whose codes") {
			t.Errorf("%+v: %v", c, err)
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
