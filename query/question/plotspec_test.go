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

const series = `<template>series_plot.R_tmpl</template>`

// specOf parses a complete plot_spec.
func specOf(t *testing.T, body string) (qs []*Question, notes []string) {
	t.Helper()
	spec, err := metviewer.ParsePlotSpec("p.xml", []byte("<plot_spec>"+body+"</plot_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range spec.Warnings {
		notes = append(notes, w.String())
	}
	qs, more := FromPlots(spec)
	return qs, append(notes, more...)
}

// TestGroups: A:B has two values and is one curve, A,B is one value. The colons of date-times separate nothing.
func TestGroups(t *testing.T) {
	qs, notes := plotOf(t, rmse+byLead+`<series1><field name="model"><val>A:B</val><val>C,D</val></field></series1>
		<plot_fix><field name="fcst_valid_beg"><set><val>2019-01-01 00:00:00:2019-01-02 12:00:00</val></set></field></plot_fix>`)
	if len(qs) != 1 {
		t.Fatal(notes)
	}
	q := qs[0]
	if got := fmt.Sprint(q.Header[record.Model], q.Drawing.Curves, len(q.Valid.List)); got != "[A B C,D] [{model [[A B] [C,D]]}] 2" {
		t.Error(got)
	}
}

// TestFixedValues: each val, date and range of a fixed field makes a plot of its own. A set makes one plot.
func TestFixedValues(t *testing.T) {
	lists := `<date_list name="d"><start>2019-01-01</start><end>2019-01-03</end><inc>86400</inc><format>yyyy-MM-dd</format></date_list>
		<date_range_list name="r"><date_range><start>2019-01-01 00:00:00</start><end>2019-01-02 00:00:00</end></date_range>
		<date_range><start>2019-02-01 00:00:00</start><end>2019-02-02 00:00:00</end></date_range></date_range_list>`
	for _, c := range []struct {
		fix  string
		want int
	}{
		{`<field name="vx_mask"><val>A</val><val>B</val></field>`, 2},
		{`<field name="vx_mask"><set name="s"><val>A</val><val>B</val></set></field>`, 1},
		{`<field name="vx_mask"><val>A</val><val>B</val></field><field name="fcst_lev"><val>P1</val><val>P2</val><val>P3</val></field>`, 6},
		{`<field name="fcst_valid_beg"><date_list name="d"/></field>`, 3},
		{`<field name="fcst_valid_beg"><date_range_list name="r"/></field>`, 2},
		{`<field name="fcst_valid_beg"><set name="s"><date_list name="d"/></set></field>`, 1},
	} {
		qs, notes := specOf(t, lists+`<plot>`+series+rmse+byLead+`<plot_fix>`+c.fix+`</plot_fix></plot>`)
		if len(qs) != c.want {
			t.Errorf("%s: %d questions, want %d: %v", c.fix, len(qs), c.want, notes)
		}
	}
}

// TestDatesOfPlots: a list of dates may run backwards, or begin at an offset from a fixed value.
func TestDatesOfPlots(t *testing.T) {
	back := `<date_list name="d"><start>2019-01-03 00:00:00</start><end>2019-01-01 00:00:00</end><inc>-86400</inc><format>yyyy-MM-dd HH:mm:ss</format></date_list>`
	qs, notes := specOf(t, back+`<plot>`+series+rmse+`<indep name="fcst_valid_beg"><date_list name="d"/></indep></plot>`)
	if len(qs) != 1 || len(qs[0].Valid.List) != 3 {
		t.Errorf("%v %v", qs, notes)
	}
	qs, notes = specOf(t, `<plot>`+series+rmse+`<plot_fix><field name="fcst_init_beg"><val>2019-01-05 18:00:00</val><val>2019-02-05 18:00:00</val></field></plot_fix>
		<indep name="fcst_valid_beg" depends="fcst_init_beg"><date_list><start><date_offset><day_offset>-1</day_offset><hour>6</hour></date_offset></start>
		<end><date_offset><day_offset>1</day_offset><hour>6</hour></date_offset></end><inc>43200</inc></date_list></indep></plot>`)
	if len(qs) != 2 || len(qs[0].Valid.List) != 5 || qs[0].Valid.List[0] != 1546581600 || qs[1].Valid.List[0] != 1549260000 {
		t.Errorf("%v %v", qs, notes)
	}
}

// TestConditions: which conditions of plot_cond a question can have.
func TestConditions(t *testing.T) {
	for cond, want := range map[string]string{
		"h.model = 'GFS'": "[GFS]", "AND BINARY h.model IN ('GFS', 'ECM') and ld.fcst_lead = 240000": "[GFS ECM][86400]",
		"h.model='A' AND ld.fcst_valid_beg BETWEEN '2019-01-01 00:00:00' AND '2019-01-02 00:00:00'": "[A]1546300800-1546387200",
		"HOUR(ld.fcst_init_beg) IN (0, 12)": "[0 12]",
		"h.model = 'A' OR h.model = 'B'":    "no", "ld.rmse < 3": "no", "h.model = (SELECT 1)": "no", "h.nothing = 'x'": "no",
	} {
		qs, notes := plotOf(t, rmse+byLead+`<plot_cond>`+strings.ReplaceAll(cond, "<", "&lt;")+`</plot_cond>`)
		got := "no"
		if len(qs) == 1 {
			q := qs[0]
			got = fmt.Sprint(q.Header[record.Model], q.Lead, q.TimeFilter.InitHour)
			if q.Valid.Last != 0 {
				got += fmt.Sprintf("%d-%d", q.Valid.First, q.Valid.Last)
			}
			got = strings.ReplaceAll(strings.ReplaceAll(got, " []", ""), "[] ", "")
			got = strings.ReplaceAll(strings.ReplaceAll(got, "[]", ""), "] [", "][")
		}
		if got != want || want == "no" && !strings.Contains(strings.Join(notes, "\n"), "plot_cond") {
			t.Errorf("%s: %s, want %s; %v", cond, got, want, notes)
		}
	}
}

// TestInheritance: as in METviewer, a plot adds its values of a fixed field to those of its base, and replaces sets. Of a
// series only the plot's last field remains. A plot with run="false" has no question. Of several bases, the later ones
// add their fields unchanged.
func TestInheritance(t *testing.T) {
	base := `<plot name="base" run="false">` + series + rmse + byLead + `
		<series1><field name="model"><val>A</val></field></series1>
		<plot_fix><field name="vx_mask"><val>E</val></field><field name="fcst_lev"><set name="s"><val>P1</val></set></field></plot_fix></plot>
		<plot name="hours" run="false"><plot_fix><field name="valid_hour"><val>0</val></field></plot_fix></plot>`
	qs, notes := specOf(t, base+`<plot inherits="base,hours">
		<series1><field name="obtype"><val>X</val></field><field name="model"><val>B</val></field></series1>
		<plot_fix><field name="vx_mask"><val>W</val></field><field name="fcst_lev"><set name="s"><val>P2</val></set></field></plot_fix></plot>`)
	var masks []string
	for _, q := range qs {
		masks = append(masks, q.Header[record.VxMask]...)
		if fmt.Sprint(q.Header[record.FcstLev], q.Header[record.Model], q.Header[record.ObType], q.TimeFilter.ValidHour, q.Type.Name) != "[P2] [B] [] [0]SL1L2" {
			t.Errorf("%+v", q)
		}
	}
	if !slices.Equal(masks, []string{"E", "W"}) || !strings.Contains(strings.Join(notes, "\n"), "last field") {
		t.Errorf("%v, %v", masks, notes)
	}
}

// TestTemplates: the questions of templates that determine the statistics of a plot.
func TestTemplates(t *testing.T) {
	fix := `<plot_fix><field name="fcst_var"><set name="v"><val>APCP</val></set></field></plot_fix><series1><field name="model"><val>A</val></field></series1>`
	for body, want := range map[string]string{
		`<template>performance.R_tmpl</template>` + byLead:                                                                                                 "CTS [FAR PODY] fcst_lead median",
		`<template>performance.R_tmpl</template><agg_stat><agg_nbrctc>true</agg_nbrctc></agg_stat>` + byLead:                                               "NBRCTC [NBR_FAR NBR_PODY] fcst_lead overall",
		`<template>roc.R_tmpl</template><roc_calc><roc_pct>true</roc_pct></roc_calc>`:                                                                      "PCT []  overall",
		`<template>roc.R_tmpl</template><roc_calc><roc_ctc>true</roc_ctc></roc_calc>`:                                                                      "CTC [PODY POFD] fcst_thresh overall",
		`<template>rely.R_tmpl</template><agg_stat><agg_pct>true</agg_pct></agg_stat>`:                                                                     "PCT []  overall",
		`<template>eclv.R_tmpl</template>`:                                                                                                                 "ECLV []  median",
		`<template>eclv.R_tmpl</template><agg_stat><agg_ctc>true</agg_ctc></agg_stat>`:                                                                     "CTC []  overall",
		`<template>rhist.R_tmpl</template>`:                                                                                                                "RHIST []  median",
		`<template>phist.R_tmpl</template>`:                                                                                                                "PHIST []  median",
		`<template>relp.R_tmpl</template>`:                                                                                                                 "RELP []  median",
		`<template>ens_ss.R_tmpl</template><agg_stat><agg_ssvar>true</agg_ssvar></agg_stat>`:                                                               "SSVAR [SSVAR_MSE SSVAR_Spread]  overall",
		`<template>ens_ss.R_tmpl</template>`:                                                                                                               "SSVAR [SSVAR_MSE SSVAR_Spread]  overall",
		`<template>taylor_plot.R_tmpl</template><agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat><dep><dep1><fcst_var name="APCP"/></dep1></dep>`:           "SL1L2 [FBAR FSTDEV OBAR OSTDEV PR_CORR RMSE]  overall",
		series + `<dep><dep1><fcst_var name="APCP"><stat>RMSE</stat></fcst_var></dep1></dep><calc_stat><calc_sl1l2>true</calc_sl1l2></calc_stat>` + byLead: "SL1L2 [RMSE] fcst_lead median",
	} {
		qs, notes := specOf(t, `<plot>`+body+fix+`</plot>`)
		if len(qs) != 1 || len(qs[0].Omitted) > 0 {
			t.Errorf("%s: %d questions, %v", body, len(qs), notes)
			continue
		}
		q := qs[0]
		if got := fmt.Sprintf("%s %v %s %s", q.Type.Name, q.Drawing.Stats, q.Drawing.Axis, q.Drawing.Method); got != want || q.Header[record.FcstVar][0] != "APCP" {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	for _, template := range []string{"performance", "ens_ss"} { // METviewer refuses these plots; all variables together are no substitute
		qs, notes := specOf(t, `<plot><template>`+template+`.R_tmpl</template>`+byLead+`<dep><dep1><fcst_var name="APCP"><stat>FAR</stat></fcst_var></dep1></dep></plot>`)
		if len(qs) > 0 || !strings.Contains(strings.Join(notes, "\n"), "need fcst_var in plot_fix") {
			t.Errorf("%s without fcst_var: %d questions, %v", template, len(qs), notes)
		}
	}
}

// TestDerivedAndIntervals: the drawing has the derived curves and the intervals.
func TestDerivedAndIntervals(t *testing.T) {
	qs, notes := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1><dep2><fcst_var name="TMP"><stat>ME</stat></fcst_var></dep2></dep>`+byLead+`
		<series1><field name="model"><val>A</val><val>B:C</val></field></series1><series2><field name="model"><val>A</val></field></series2>
		<plot_fix><field name="vx_mask" equalize="true"><set name="s"><val>E</val><val>W</val></set></field></plot_fix><event_equal>true</event_equal>
		<agg_stat><agg_sl1l2>true</agg_sl1l2><boot_repl>100</boot_repl><boot_ci>bca</boot_ci><circular_block_bootstrap>false</circular_block_bootstrap></agg_stat>
		<plot_ci>c("boot","none","std","met_prm")</plot_ci><colors>c("#000001","#000002","#000003")</colors>
		<tmpl><listDiffSeries1>list(c("A TMP RMSE","Group_y1_1 TMP RMSE","DIFF_SIG"),c("A TMP RMSE","Q TMP RMSE"))</listDiffSeries1></tmpl>`)
	if len(qs) != 2 {
		t.Fatal(notes)
	}
	d := qs[0].Drawing
	if got := fmt.Sprint(d.Derived, d.BootCI, d.Block, d.Equalize); got != "[{DIFF_SIG [0] [1] RMSE RMSE map[plot_ci:met_prm]}]bca1 [{vx_mask [[E W]]}]" {
		t.Error(got)
	}
	const left, right = "[map[colors:#000001 plot_ci:boot] map[colors:#000002 plot_ci:none]]", "[map[colors:#000003 plot_ci:std]]"
	if got := fmt.Sprint(d.Styles, qs[1].Drawing.Styles); got != left+" "+right {
		t.Error(got)
	}
	const refused = `listDiffSeries1: DIFF(A TMP RMSE-Q TMP RMSE): "Q TMP RMSE" is not a curve of this axis`
	if len(qs[1].Drawing.Derived) != 0 || !strings.Contains(strings.Join(notes, "\n"), refused) || len(qs[0].Refused) != 1 || !strings.HasSuffix(qs[0].Refused[0], refused) {
		t.Error(notes, qs[0].Refused)
	}
}

// TestDerivedOfTwoStatistics: each side keeps its statistic. A derived curve that cannot be computed as the plot requests
// is refused by its name.
func TestDerivedOfTwoStatistics(t *testing.T) {
	const two = `<dep><dep1><fcst_var name="TMP"><stat>ME</stat><stat>RMSE</stat></fcst_var><fcst_var name="HGT"><stat>RMSE</stat></fcst_var></dep1></dep>
		<series1><field name="model"><val>A</val><val>B</val></field></series1>` + byLead
	const sums = `<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>`
	of := func(list, agg string) ([]*Question, []string) {
		return plotOf(t, two+agg+`<tmpl><listDiffSeries1>list(`+list+`)</listDiffSeries1></tmpl>`)
	}
	qs, notes := of(`c("A TMP RMSE","A TMP ME","RATIO")`, sums)
	if len(qs) != 2 || fmt.Sprint(qs[0].Drawing.Derived) != "[{RATIO [0] [0] RMSE ME map[]}]" || len(qs[1].Drawing.Derived)+len(qs[0].Refused) != 0 {
		t.Fatalf("%+v %v", qs[0].Drawing.Derived, notes)
	}
	for list, want := range map[string]string{
		`c("A TMP RMSE","A HGT RMSE")`:              `DIFF(A TMP RMSE-A HGT RMSE): "A HGT RMSE" is not a curve of this axis`,
		`c("A TMP RMSE","A TMP ME","PRODUCT")`:      "the operation does not exist",
		`c("A TMP RMSE")`:                           "the operation does not exist",
		`c("A TMP","B TMP")`:                        `"A TMP" names no statistic, but the axis has ME and RMSE`,
		`c("A TMP RMSE","B TMP RMSE","DIFF_SIG")`:   "requires a bootstrap",
		`c("A TMP RMSE","B TMP CSI")`:               `"B TMP CSI" is not a curve of this axis`,
		`c("Group_y1_1 TMP RMSE","B TMP RMSE")`:     `"Group_y1_1 TMP RMSE" is not a curve`,
		`c("A  TMP RMSE and more","B TMP RMSE")`:    "is not a curve of this axis",
		`c("A TMP RMSE","B TMP RMSE"),c("x","y")`:   `"x" is not a curve of this axis`,
		`c("A TMP RMSE","B TMP RMSE","difference")`: "the operation does not exist",
	} {
		if qs, _ := of(list, sums); len(qs) == 0 || len(qs[0].Refused) != 1 || !strings.Contains(qs[0].Refused[0], want) {
			t.Errorf("%s: %q, want %s", list, qs[0].Refused, want)
		}
	}
	qs, _ = plotOf(t, strings.Replace(two, "<stat>ME", "<stat>CSI", 1)+`<tmpl><listDiffSeries1>list(c("A TMP RMSE","A TMP CSI"))</listDiffSeries1></tmpl>`)
	if len(qs) == 0 || len(qs[0].Refused) != 1 || !strings.Contains(qs[0].Refused[0], "RMSE comes from CNT lines and CSI from CTS lines") {
		t.Errorf("%+v", qs)
	}
}

// TestDerivedOfTemplates: a template refuses the derived curves that it cannot draw, and draws the others.
func TestDerivedOfTemplates(t *testing.T) {
	for _, c := range []struct{ template, op, want string }{
		{"box_plot", "ETB", "a test of equivalence has no box"},
		{"box_plot", "DIFF", ""},
		{"series_plot", "ETB", ""},
		{"series_plot", "DIFF", ""},
		{"revision_series", "DIFF", "the template revision_series draws no derived curves"},
	} {
		qs, notes := specOf(t, `<plot><template>`+c.template+`.R_tmpl</template><dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep>
			<series1><field name="model"><val>A</val><val>B</val></field></series1>`+byLead+`<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>
			<tmpl><listDiffSeries1>list(c("A TMP RMSE","B TMP RMSE","`+c.op+`"))</listDiffSeries1></tmpl></plot>`)
		if len(qs) == 0 {
			t.Errorf("%+v: %v", c, notes)
			continue
		}
		refused := strings.Join(qs[0].Refused, "; ")
		isDrawn := len(qs[0].Drawing.Derived) == 1
		if isDrawn != (c.want == "") || !strings.Contains(refused, c.want) || isDrawn != (refused == "") {
			t.Errorf("%+v: %d drawn, %q", c, len(qs[0].Drawing.Derived), refused)
		}
	}
}

// TestMisspelt: an unknown name is reported with a similar one.
func TestMisspelt(t *testing.T) {
	const dep, sums, by = `<dep><dep1><fcst_var name="HGT"><stat>RMSE</stat></fcst_var></dep1></dep>`, `<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>`, `<indep name="fcst_lead"/>`
	for plot, want := range map[string]string{
		"<template>serie_plot.R_tmpl</template>" + dep + sums + by:                                                                      "serie_plot has no picture here: curves are drawn (did you mean series_plot?)",
		"<template>series_plot.R_tmpl</template>" + strings.Replace(dep, "RMSE", "RMS", 1) + sums + by:                                  "stat RMS: is not computed from SL1L2 (did you mean RMSE?)",
		"<template>series_plot.R_tmpl</template>" + dep + strings.ReplaceAll(sums, "sl1l2", "sl1l") + by:                                "SL1L is not a line type (did you mean SL1L2?)",
		"<template>series_plot.R_tmpl</template>" + dep + sums + by + `<series1><field name="modell"><val>GFS</val></field></series1>`:  "modell: is not a supported field (did you mean model?)",
		"<template>series_plot.R_tmpl</template>" + dep + sums + strings.Replace(by, "fcst_lead", "fcst_leads", 1):                      `"fcst_leads" is not a supported axis (did you mean fcst_lead?)`,
		"<template>series_plot.R_tmpl</template>" + dep + strings.ReplaceAll(sums, "agg_stat", "aggstat") + by:                          "plot/aggstat: is not known and has no effect (did you mean agg_stat?)",
		"<template>series_plot.R_tmpl</template>" + dep + sums + by + "<listDiffSeries1/>":                                              "plot/listDiffSeries1: is not known and has no effect: it is read only in <tmpl>",
		"<template>series_plot.R_tmpl</template>" + dep + sums + by + "<calc_stat><calc_sl1l2>true</calc_sl1l2></calc_stat>":            "calc_stat: has no effect, because the plot also has agg_stat",
		"<template>series_plot.R_tmpl</template>" + dep + sums + by + "<plot_ci>c('bot')</plot_ci>":                                     `plot_ci: "bot" of curve 1 is not drawn: no interval is; METviewer's words are none, std`,
		"<template>series_plot.R_tmpl</template>" + dep + strings.Replace(sums, "<agg_sl", "<boot_ci>percent</boot_ci><agg_sl", 1) + by: `boot_ci: "percent" is not known (did you mean perc?): perc is computed`,
	} {
		if _, notes := specOf(t, "<plot>"+plot+"</plot>"); !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("%s\nwant %s", strings.Join(notes, "\n"), want)
		}
	}
}

// TestDerivedOfBlanks: METviewer joins values with blanks; a name that reads as two
// curves is refused.
func TestDerivedOfBlanks(t *testing.T) {
	qs, notes := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep>
		<series1><field name="model"><val>X</val><val>X Y</val></field><field name="vx_mask"><val>Z</val><val>Y Z</val></field></series1>`+byLead+
		`<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>
		<tmpl><listDiffSeries1>list(c("X Y Z TMP RMSE","X Z TMP RMSE"),c("X Y Y Z TMP RMSE","X Z TMP RMSE"))</listDiffSeries1></tmpl>`)
	if len(qs) != 1 || fmt.Sprint(qs[0].Drawing.Derived) != "[{DIFF [1 1] [0 0] RMSE RMSE map[]}]" {
		t.Fatal(qs, notes)
	}
	if got := strings.Join(qs[0].Refused, ";"); !strings.Contains(got, `"X Y Z TMP RMSE" names 2 curves of this axis`) {
		t.Error(got)
	}
}

// TestStylesOfYAML: a property that curves do not have, or a value that Barograph does not draw, is refused. The key
// plot_ci of earlier versions is a list that is repeated until every curve has a value.
func TestStylesOfYAML(t *testing.T) {
	const head = "name: x\nline_type: SL1L2\nwhere: {fcst_var: TMP}\nstat: [RMSE, ME]\naxis: fcst_lead\nseries: [{model: [A, B]}]\n"
	for _, c := range []struct{ styles, want, problem string }{
		{"styles: [{colors: \"#ff0000\", pch: \"15\"}, {}]\n", "[map[colors:#ff0000 pch:15] map[]]", ""},
		{"styles: [{color: \"#ff0000\"}]\n", "", "style color"},
		{"styles: [{pch: \"16\"}]\n", "", "style pch"},
		{"styles: [{lwd: \"-3\"}]\n", "", "style lwd"},
		{"derived: [{op: DIFF, a: [0], b: [1], style: {lty: \"9\"}}]\n", "", "style lty"},
		{"derived: [{op: DIFF, a: [0], b: [1], stat_a: MAE, stat_b: ME}]\n", "", "derived DIFF is drawn with MAE, which the question does not draw; add MAE to stat"},
		{"styles: [{plot_ci: bot}]\n", "", "style plot_ci"},
		{"plot_ci: [std, bot]\n", "", "style plot_ci"},
		{"plot_ci: [none]\n", "[map[plot_ci:none] map[plot_ci:none] map[plot_ci:none] map[plot_ci:none]]", ""},
		{"plot_ci: [std, boot]\n", "[map[plot_ci:std] map[plot_ci:boot] map[plot_ci:std] map[plot_ci:boot]]", ""},
	} {
		qs, err := Parse("q.yaml", []byte(head+c.styles))
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v", c.styles, err)
			}
			continue
		}
		if err != nil || fmt.Sprint(qs[0].Drawing.Styles) != c.want {
			t.Errorf("%s: %v, %v", c.styles, qs, err)
		}
	}
}

// TestPlotXMLKeepsStyles: a plot whose curves have styles is written as a plot_spec that has them, too.
func TestPlotXMLKeepsStyles(t *testing.T) {
	q, err := FromURLQuery(url.Values{"line_type": {"SL1L2"}, "fcst_var": {"T"}, "stat": {"RMSE"}, "axis": {"fcst_lead"}})
	if err != nil {
		t.Fatal(err)
	}
	q.Drawing.Curves = []Group{{Field: "model", Values: [][]string{{"A"}, {"B"}}}}
	q.Drawing.Styles = []metviewer.Style{{"colors": "#ff0000", "legend": "Control, run 1", "plot_ci": "std"}, {"colors": "#0000ff", "legend": "b", "plot_ci": "none"}}
	text, err := PlotXML(q, 1)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := metviewer.ParsePlotSpec("p.xml", text)
	if err != nil {
		t.Fatal(err)
	}
	qs, notes := FromPlots(spec)
	if len(qs) != 1 || len(notes) > 0 || fmt.Sprint(qs[0].Drawing.Styles) != fmt.Sprint(q.Drawing.Styles) {
		t.Errorf("%v became %v, %q", q.Drawing.Styles, qs[0].Drawing.Styles, notes)
	}
	for _, styles := range [][]metviewer.Style{
		{{"colors": "#ff0000", "legend": "a"}, {"colors": "#0000ff"}},
		{{"colors": "#ff0000"}, {"legend": "b"}},
		{{"colors": "#ff0000"}, nil},
		{nil, {"colors": "#ff0000"}},
		{{"colors": "#ff0000"}}, // of two curves
	} {
		q.Drawing.Styles = styles
		if _, err := PlotXML(q, 1); err == nil || !strings.Contains(err.Error(), "properties of only some curves") {
			t.Errorf("%v: %v", styles, err)
		}
	}
}

// TestTicksOfYAML: a position is a finite number.
func TestTicksOfYAML(t *testing.T) {
	const head = "name: x\nline_type: SL1L2\nwhere: {fcst_var: TMP}\nstat: [RMSE]\naxis: fcst_lead\nticks: [{value: \"24\", label: Day 1, position: "
	for position, valid := range map[string]bool{"2": true, "-1e308": true, ".inf": false, ".nan": false} {
		if qs, err := Parse("q.yaml", []byte(head+position+"}]\n")); (err == nil) != valid || valid && qs[0].Drawing.Tick("24").Label != "Day 1" {
			t.Errorf("%s: %v, %v", position, qs, err)
		}
	}
}

// TestTicksOfPlots: the values of ticks are those of the question. A label that equals its value does not count. PlotXML refuses ticks.
func TestTicksOfPlots(t *testing.T) {
	const dep = `<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep><agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>`
	for indep, want := range map[string]string{
		`<indep name="fcst_lead"><val label="12" plot_val="">120000</val><val label="Day 1">240000</val><val label="Day 2" plot_val="2">480000</val></indep>`: "24 Day 1, 48 Day 2 at 2",
		`<indep name="fcst_thresh"><val label="&gt;1">&gt;25.400</val><val label="&gt;2">&gt;50.800</val></indep>`:                                            ">25.400 >1, >50.800 >2",
		`<indep name="init_hour"><val label="morning">06</val></indep>`:                                                                                       "6 morning",
	} {
		qs, notes := plotOf(t, dep+indep)
		if len(qs) != 1 || len(notes) > 0 {
			t.Fatal(indep, notes)
		}
		var got []string
		for _, k := range qs[0].Drawing.Ticks {
			text := k.Value + " " + k.Label
			if k.Position != nil {
				text += fmt.Sprint(" at ", *k.Position)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s", indep, text)
		}
		if _, err := PlotXML(qs[0], 1); err == nil || !strings.Contains(err.Error(), "names or positions of values on the axis") {
			t.Error(err)
		}
	}
}
