package question

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestStylesOfTwoLineTypes: the styles of an axis are in the order of its statistics, whatever line type these have. A
// contour plot has none.
func TestStylesOfTwoLineTypes(t *testing.T) {
	const body = `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat><stat>CSI</stat><stat>ME</stat></fcst_var></dep1>
		<dep2><fcst_var name="TMP"><stat>FAR</stat></fcst_var></dep2></dep>` + byLead + `
		<series1><field name="model"><val>A</val><val>B</val></field></series1><series2><field name="model"><val>A</val></field></series2>
		<colors>c("#000001","#000002","#000003","#000004","#000005","#000006","#000007")</colors>`
	qs, notes := plotOf(t, body)
	got := ""
	for _, q := range qs {
		got += fmt.Sprintln(q.Type.Name, q.Drawing.Stats, q.Drawing.RightAxis, q.Drawing.Styles)
	}
	const want = `CNT [RMSE ME] false [map[colors:#000001] map[colors:#000002] map[colors:#000005] map[colors:#000006]]
CTS [CSI] false [map[colors:#000003] map[colors:#000004]]
CTS [FAR] true [map[colors:#000007]]
`
	if got != want {
		t.Errorf("%s, want\n%s%q", got, want, notes)
	}
	qs, notes = plotOf(t, strings.Replace(body, `,"#000007"`, "", 1))
	if len(qs) != 3 || !strings.Contains(strings.Join(notes, "\n"), "have values for only 6 curves: Barograph chooses the values of the other curves") {
		t.Errorf("%d questions, %q", len(qs), notes)
	}
	qs, notes = specOf(t, "<plot><template>contour_plot.R_tmpl</template>"+rmse+byLead+`<colors>c("#000001")</colors></plot>`)
	if len(qs) != 1 || qs[0].Drawing.Picture != "contour" || qs[0].Drawing.Styles != nil {
		t.Errorf("%+v, %q", qs, notes)
	}
}

// TestGroupsOfDerivedCurves: METviewer numbers the groups of an axis, if its series have one field.
func TestGroupsOfDerivedCurves(t *testing.T) {
	plot := func(series, list string) (*Question, string) {
		t.Helper()
		qs, notes := plotOf(t, rmse+byLead+"<series1>"+series+"</series1><tmpl><listDiffSeries1>list("+list+")</listDiffSeries1></tmpl>")
		if len(qs) != 1 {
			t.Fatal(notes)
		}
		return qs[0], strings.Join(qs[0].Refused, "; ")
	}
	const groups = `<field name="model"><val>A:B</val><val>C</val><val>D:E</val></field>`
	for list, want := range map[string]string{
		`c("Group_y1_1 TMP RMSE","Group_y1_2 TMP RMSE")`: "[0] [2]",
		`c("Group_y1_2 TMP RMSE","C TMP RMSE")`:          "[2] [1]",
		`c("Group_y1_3 TMP RMSE","C TMP RMSE")`:          "",
		`c("Group_y2_1 TMP RMSE","C TMP RMSE")`:          "",
		`c("A:B TMP RMSE","C TMP RMSE")`:                 "",
	} {
		q, refused := plot(groups, list)
		got := ""
		for _, d := range q.Drawing.Derived {
			got = fmt.Sprint(d.A, " ", d.B)
		}
		if got != want || (refused == "") != (want != "") {
			t.Errorf("%s: %s, want %s; %s", list, got, want, refused)
		}
	}
	two := groups + `<field name="vx_mask"><val>E</val><val>W</val></field>`
	if q, refused := plot(two, `c("A:B E TMP RMSE","C W TMP RMSE")`); fmt.Sprint(q.Drawing.Derived) != "[{DIFF [0 0] [1 1] RMSE RMSE map[]}]" {
		t.Errorf("%v, %s", q.Drawing.Derived, refused)
	}
	for list, want := range map[string]string{ // METviewer joins the values in the order of the fields, and may omit what is unique
		`c("A:B E","C W")`:          "[{DIFF [0 0] [1 1] RMSE RMSE map[]}]",
		`c("A:B E RMSE","C W TMP")`: "[{DIFF [0 0] [1 1] RMSE RMSE map[]}]",
		`c("E A:B TMP RMSE","C W")`: "[]",
	} {
		if q, _ := plot(two, list); fmt.Sprint(q.Drawing.Derived) != want {
			t.Errorf("%s: %v, want %s", list, q.Drawing.Derived, want)
		}
	}
}

// TestDerivedCurvesOfAnEmptyAxis: a derived curve of an axis without a variable is refused with its line.
func TestDerivedCurvesOfAnEmptyAxis(t *testing.T) {
	qs, notes := plotOf(t, rmse+byLead+"<tmpl>\n<listDiffSeries2>list(c(\"A\",\"B\",\"DIFF\"))</listDiffSeries2></tmpl>")
	if len(qs) != 1 || len(qs[0].Refused) != 1 || qs[0].Refused[0] != "line 3: listDiffSeries2: DIFF(A-B): the plot has no curves on this axis" {
		t.Errorf("%+v, %q", qs, notes)
	}
}

// TestSignificance: METviewer's DIFF_SIG needs a bootstrap and one statistic.
func TestSignificance(t *testing.T) {
	for _, c := range []struct{ replicates, other, want string }{
		{"100", "B TMP RMSE", ""}, {"1", "B TMP RMSE", "requires a bootstrap"}, {"100", "A TMP ME", "two statistics have no perfect score in common"},
	} {
		qs, notes := plotOf(t, strings.NewReplacer("</stat>", "</stat><stat>ME</stat>", "</agg_sl1l2>", "</agg_sl1l2><boot_repl>"+c.replicates+"</boot_repl>").Replace(rmse)+byLead+
			`<series1><field name="model"><val>A</val><val>B</val></field></series1><tmpl><listDiffSeries1>list(c("A TMP RMSE","`+c.other+`","DIFF_SIG"))</listDiffSeries1></tmpl>`)
		if len(qs) != 1 || (len(qs[0].Drawing.Derived) == 1) != (c.want == "") || !strings.Contains(strings.Join(qs[0].Refused, ""), c.want) || (len(qs[0].Refused) == 0) != (c.want == "") {
			t.Errorf("%+v: %+v, %q", c, qs, notes)
		}
	}
}

// TestEqualizationOfPlots: a fixed field is equalized if it requests that in a plot with event equalization. A Taylor
// diagram always is.
func TestEqualizationOfPlots(t *testing.T) {
	field := func(attribute string) string {
		return `<plot_fix><field name="fcst_lead"` + attribute + `><set name="s"><val>60000</val><val>120000</val></set></field></plot_fix>`
	}
	const on, event = ` equalize="true"`, "<event_equal>true</event_equal>"
	byDate := `<indep name="fcst_valid_beg"/>`
	for _, c := range []struct{ body, want string }{
		{rmse + byDate + field(on) + event, "true [{fcst_lead [[6 12]]}]"},
		{rmse + byDate + field(on), "false []"},
		{rmse + byDate + field("") + event, "true []"},
		{"<template>taylor_plot.R_tmpl</template>" + rmse + field(""), "true [{fcst_lead [[6 12]]}]"},
		{rmse + byDate + strings.ReplaceAll(field(on), "fcst_lead", "fcst_var") + event, ""},
	} {
		if !strings.Contains(c.body, "<template>") {
			c.body = series + c.body
		}
		qs, notes := specOf(t, "<plot>"+c.body+"</plot>")
		got := ""
		if len(qs) == 1 {
			got = fmt.Sprint(qs[0].Drawing.EventEqual, " ", qs[0].Drawing.Equalize)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s; %q", c.body, got, c.want, notes)
		}
	}
}

// TestFieldsOfObjects: the headers of MODE and MTD objects have other names in METviewer than in the files of MET.
func TestFieldsOfObjects(t *testing.T) {
	field := func(name, value string) string {
		return `<field name="` + name + `"><val>` + value + `</val></field>`
	}
	plot := func(stat string) ([]*Question, []string) {
		return plotOf(t, `<dep><dep1><fcst_var name="APCP"><stat>`+stat+`</stat></fcst_var></dep1></dep><indep name="fcst_valid"/>
			<series1>`+field("obs_thr", ">5")+`</series1><plot_fix>`+field("fcst_thr", ">9")+field("fcst_rad", "4")+field("fcst_init", "2019-01-01 00:00:00")+`</plot_fix>`)
	}
	qs, notes := plot("AREA_AAA")
	if len(qs) != 1 {
		t.Fatal(notes)
	}
	q := qs[0]
	got := fmt.Sprint(q.Type.Name, q.Header[record.FcstThresh], q.Header[record.ObsThresh], q.Header[record.InterpPnts], q.TimeFilter.Init.List, q.Drawing.Axis, q.Drawing.Curves)
	if got != "MODE_OBJ_SINGLE[>9] [>5] [4] [1546300800]fcst_valid_beg[{obs_thresh [[>5]]}]" {
		t.Error(got)
	}
	if qs, notes := plot("RMSE"); len(qs) != 0 || !strings.Contains(strings.Join(notes, ""), "is not a supported") {
		t.Errorf("the names are those of objects only: %+v, %q", qs, notes)
	}
}

// TestAxesOfTemplates: only some templates need an independent variable, and equivalence testing bounds need none.
func TestAxesOfTemplates(t *testing.T) {
	const curves = `<series1><field name="model"><val>A</val><val>B</val></field></series1>`
	derived := func(op string) string {
		return `<tmpl><listDiffSeries1>list(c("A TMP RMSE","B TMP RMSE","` + op + `"))</listDiffSeries1></tmpl>`
	}
	for _, c := range []struct {
		body string
		want string // the axis; "no" = no question
	}{
		{series + rmse, "no"},
		{series + rmse + byLead, "fcst_lead"},
		{series + rmse + curves + derived("ETB"), ""},
		{series + rmse + curves + derived("DIFF"), "no"},
		{"<template>box_plot.R_tmpl</template>" + rmse, "no"},
		{"<template>bar_plot.R_tmpl</template>" + rmse, "no"},
		{"<template>contour_plot.R_tmpl</template>" + rmse, "no"},
		{"<template>scatter.R_tmpl</template>" + rmse, ""},
		{"<template>scatter.R_tmpl</template>" + rmse + `<indep name="storm"/>`, "no"},
		{series + rmse + `<indep name="obtype"><val>X</val></indep>`, "obtype"},
		{series + rmse + `<indep name="fcst_init_beg"><val>2019-01-01 00:00:00</val></indep>`, "fcst_init_beg"},
	} {
		qs, notes := specOf(t, "<plot>"+c.body+"</plot>")
		got := "no"
		if len(qs) == 1 {
			got = qs[0].Drawing.Axis
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q; %q", c.body, got, c.want, notes)
		}
	}
	qs, notes := plotOf(t, rmse+byLead+"<series1>\n<field name=\"fcst_valid_beg\"><date_range><start>2019-01-01 00:00:00</start><end>2019-01-02 00:00:00</end></date_range></field></series1>")
	if len(qs) != 0 || !strings.Contains(strings.Join(notes, ""), "series field fcst_valid_beg: a range cannot make curves; write the values out") {
		t.Errorf("%d questions, %q", len(qs), notes)
	}
}

// TestTitlesOfURLs: the title of a question of a URL has its line type and the values of its header fields.
func TestTitlesOfURLs(t *testing.T) {
	q, err := FromURLQuery(url.Values{"line_type": {"sl1l2"}, "model": {"A", "B"}, "vx_mask": {"E"}, "name": {"n"}, "subset": {"s"}, "init_hour": {"12, 0,12"}})
	if err != nil || q.Title != "SL1L2 A, B E" || q.Name != "n" || q.Subset != "s" || fmt.Sprint(q.TimeFilter.InitHour) != "[0 12]" || q.Drawing != nil {
		t.Errorf("%+v, %v", q, err)
	}
}

// TestFoldersOfPlots: a mix of a folder reads its plots and those of its subfolders, and no other file.
func TestFoldersOfPlots(t *testing.T) {
	dir := t.TempDir()
	plot := "<plot_spec><plot>" + series + rmse + byLead + "</plot></plot_spec>"
	if err := os.MkdirAll(filepath.Join(dir, "sub", "dir.xml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a.xml": plot, filepath.Join("sub", "b.xml"): plot, filepath.Join("sub", "dir.xml", "c.xml"): strings.ReplaceAll(plot, "TMP", "HGT"), "d.txt": plot, "e.xml": "<plot_spec>",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	qs, notes, err := ReadMix(dir)
	if err != nil || len(qs) != 2 || qs[0].Weight != 2 || qs[1].Weight != 1 || qs[1].Header[record.FcstVar][0] != "HGT" {
		t.Errorf("%+v, %v", qs, err)
	}
	if len(notes) != 1 || !strings.HasPrefix(notes[0], "e.xml: ") {
		t.Errorf("%q", notes)
	}
	if _, notes, err := ReadMix(filepath.Join(dir, "d.txt")); err == nil || !strings.Contains(err.Error(), "contains no question; name a folder of METviewer plots (.xml), or a log of METviewer's SQL") || len(notes) > 0 {
		t.Errorf("%q, %v", notes, err)
	}
	if _, _, err := ReadMix(filepath.Join(dir, "absent")); err == nil || !strings.Contains(err.Error(), "absent cannot be read") {
		t.Errorf("%v", err)
	}
}
