package question

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/record"
)

// summary lists the properties of questions that their plot determines.
func summary(qs []*Question) string {
	var out []string
	for _, q := range qs {
		d := q.Drawing
		parts := []string{q.Type.Name, strings.Join(d.Stats, "+"), d.Axis, d.Method}
		for f, values := range q.Header {
			if len(values) > 0 && record.Field(f) != record.FcstVar {
				parts = append(parts, strings.Join(values, "+"))
			}
		}
		for _, lead := range q.Lead {
			parts = append(parts, fmt.Sprint(lead/3600, "h"))
		}
		for _, t := range []*Times{&q.Valid, &q.TimeFilter.Init} {
			day := func(s int64) string { return time.Unix(s, 0).UTC().Format("0102T15") }
			for _, s := range t.Expand() {
				parts = append(parts, day(s))
			}
			if !t.IsAll() && !t.IsDiscrete() {
				parts = append(parts, day(t.First)+"-"+day(t.Last))
			}
		}
		for _, hours := range [][]int{q.TimeFilter.ValidHour, q.TimeFilter.InitHour} {
			if len(hours) > 0 {
				parts = append(parts, fmt.Sprint(hours))
			}
		}
		for _, b := range d.ValueConditions {
			parts = append(parts, fmt.Sprint(b.Column, b.Op, b.Value))
		}
		out = append(out, strings.Join(strings.Fields(strings.Join(parts, " ")), " "))
	}
	return strings.Join(out, "; ")
}

// TestVariantsOfPlots: each feature of a plot_spec by a small one that has it.
func TestVariantsOfPlots(t *testing.T) {
	const lists = `<date_list name="days"><start>20190101</start><end>20190103</end><inc>86400</inc><format>yyyyMMdd</format></date_list>
		<date_list name="quoted"><start>20190101_060000</start><end>20190101_180000</end><inc>43200</inc><format>yyyyMMdd'_'HHmmss</format></date_list>
		<date_list name="inits"><start>2019-01-01</start><end>2019-01-03</end><field name="fcst_init_beg"/></date_list>
		<date_list name="noon"><start>2019-01-01</start><end>2019-01-02</end><hour>12</hour><field name="initdate"/></date_list>
		<date_range name="week"><start>2019-01-01 00:00:00</start><end>2019-01-07 18:00:00</end></date_range>
		<date_range_list name="weeks"><range_start>2019-01-01 00:00:00</range_start><range_end>2019-01-15 00:00:00</range_end><range_length>8640</range_length><inc>10080</inc></date_range_list>`
	dep := func(stats ...string) string {
		return `<dep><dep1><fcst_var name="TMP"><stat>` + strings.Join(stats, "</stat><stat>") + `</stat></fcst_var></dep1><dep2/></dep>`
	}
	field := func(name string, values ...string) string {
		return `<field name="` + name + `"><val>` + strings.Join(values, "</val><val>") + `</val></field>`
	}
	fix := func(inner string) string { return "<plot_fix>" + inner + "</plot_fix>" }
	cond := func(text string) string {
		return rmse + byLead + "<plot_cond>" + strings.ReplaceAll(text, "<", "&lt;") + "</plot_cond>"
	}
	for _, c := range []struct{ body, want string }{
		// flags in METviewer's own letters
		{dep("RMSE") + byLead + `<agg_stat><agg_sl1l2>TRUE</agg_sl1l2><agg_ctc>FALSE</agg_ctc></agg_stat>`, "SL1L2 RMSE fcst_lead overall"},
		{dep("RMSE") + byLead + `<calc_stat><calc_sl1l2>TRUE</calc_sl1l2></calc_stat>`, "SL1L2 RMSE fcst_lead median"},
		{dep("RMSE") + `<template>revision_series.R_tmpl</template><indep name="fcst_valid_beg"/><revis_stat><calc_sl1l2>TRUE</calc_sl1l2><revision_ac>TRUE</revision_ac></revis_stat>`, "SL1L2 RMSE fcst_valid_beg median"},
		{rmse + byLead + `<agg_stat><agg_sl1l2>true</agg_sl1l2><boot_repl>NA</boot_repl></agg_stat>`, "SL1L2 RMSE fcst_lead overall"},
		// dates
		{rmse + byLead + fix(`<field name="fcst_init_beg"><set name="s"><date_list name="days"/></set></field>`), "SL1L2 RMSE fcst_lead overall 0101T00 0102T00 0103T00"},
		{rmse + byLead + fix(`<field name="fcst_valid_beg"><date_range name="week"/></field>`), "SL1L2 RMSE fcst_lead overall 0101T00-0107T18"},
		{rmse + byLead + fix(`<field name="fcst_valid_beg"><date_range_list name="weeks"/></field>`), "SL1L2 RMSE fcst_lead overall 0101T00-0107T00; SL1L2 RMSE fcst_lead overall 0108T00-0114T00; SL1L2 RMSE fcst_lead overall 0115T00-0121T00"},
		{rmse + byLead + fix(`<field name="fcst_valid_beg"><date_list name="quoted"/></field>`), "SL1L2 RMSE fcst_lead overall 0101T06; SL1L2 RMSE fcst_lead overall 0101T18"},
		// two conditions on one field: both apply
		{rmse + `<indep name="fcst_lead"><val>6</val><val>12</val><val>18</val></indep>` + fix(`<field name="fcst_lead"><set name="s"><val>12</val><val>18</val><val>24</val></set></field>`), "SL1L2 RMSE fcst_lead overall 12h 18h"},
		{rmse + `<indep name="fcst_valid_beg"><date_list><start>2018-12-31 00:00:00</start><end>2019-01-02 00:00:00</end><inc>86400</inc><label_format>dd</label_format></date_list></indep>` + fix(`<field name="fcst_valid_beg"><date_range name="week"/></field>`), "SL1L2 RMSE fcst_valid_beg overall 0101T00 0102T00"},
		{cond("ld.fcst_valid_beg >= '2019-01-02' AND ld.fcst_valid_beg < '2019-01-03 00:00:00'"), "SL1L2 RMSE fcst_lead overall 0102T00-0102T23"},
		{cond("(h.vx_mask = 'E' OR h.vx_mask IN ('W','N')) AND h.model = 'A'"), "SL1L2 RMSE fcst_lead overall A E+W+N"},
		{cond("(h.vx_mask = 'E' AND (h.model = 'A'))"), "SL1L2 RMSE fcst_lead overall A E"},
		{cond("(h.vx_mask = 'E') OR (h.vx_mask = 'W')"), ""},
		{cond("HOUR(ld.fcst_init_beg) BETWEEN 6 AND 8"), "SL1L2 RMSE fcst_lead overall [6 7 8]"},
		{cond("HOUR(ld.fcst_valid_beg) > 21"), "SL1L2 RMSE fcst_lead overall [22 23]"},
		{cond("h.vx_mask = 'E' OR h.vx_mask = 'W'"), ""}, // METviewer's SQL would drop all other conditions
		{strings.ReplaceAll(cond("ld.fbar > 0.02 AND h.vx_mask = 'E' AND total BETWEEN 5 AND 9"), "&lt;", "<"), "SL1L2 RMSE fcst_lead overall E fbar>0.02 total>=5 total<=9"}, // as METviewer's guide has it
		{cond("ld.fbar < ld.obar"), ""},
		{cond("ld.fbar IN (1, 2)"), ""},
		{cond("(ld.fbar > 1 OR h.model = 'A')"), ""},
		// axes
		{rmse + `<indep name="model"><val>A</val><val>B</val></indep>`, "SL1L2 RMSE model overall A+B"},
		{rmse + `<indep name="interp_pnts"><val label="3 km" plot_val="3">9</val><val label="5 km" plot_val="5">25</val></indep>`, "SL1L2 RMSE interp_pnts overall 9+25"},
		{rmse + `<indep name="fcst_lead"><val label="six" plot_val="1">60000</val><val>120000</val></indep>`, "SL1L2 RMSE fcst_lead overall 6h 12h"},
		// fields of plot_fix
		{rmse + byLead + fix(field("descr", "D")+field("fcst_units", "K")+field("obs_var", "T")+field("obs_lev", "Z2")+field("obtype", "ADPSFC")+field("interp_mthd", "NEAREST")+field("interp_pnts", "1")+field("fcst_thresh", "NA")+field("obs_thresh", "NA")), "SL1L2 RMSE fcst_lead overall D K T Z2 ADPSFC NEAREST 1 NA NA"},
		{rmse + byLead + fix(field("cov_thresh", ">=0.5")), "SL1L2 RMSE fcst_lead overall"}, // METviewer drops it
		{dep("NBR_CSI") + byLead + fix(`<field name="cov_thresh"><val>&gt;=0.5</val></field>`), "NBRCTS NBR_CSI fcst_lead median >=0.5"},
		{rmse + byLead + fix(field("init_hour", "00", "12")), "SL1L2 RMSE fcst_lead overall [0]; SL1L2 RMSE fcst_lead overall [12]"},
		// templates
		{`<template>scatter.R_tmpl</template>` + rmse, "SL1L2 RMSE overall"},
		{dep("CSI") + `<series1>` + field("model", "A", "B") + `</series1><tmpl><listDiffSeries1>list(c("A TMP CSI","B TMP CSI","ETB"))</listDiffSeries1></tmpl>`, "CTS CSI median A+B"},
		// words of 2010
		{rmse + byLead + `<agg>` + field("vx_mask", "E", "W") + `</agg>`, "SL1L2 RMSE fcst_lead overall E; SL1L2 RMSE fcst_lead overall W"},
		{rmse + byLead + `<agg>` + `<field name="initdate"><date_list id="inits"/></field></agg>`, "SL1L2 RMSE fcst_lead overall 0101T00-0103T00"},
		{rmse + byLead + `<agg>` + `<field name="initdate"><date_list name="noon"/></field></agg>`, "SL1L2 RMSE fcst_lead overall 0101T12; SL1L2 RMSE fcst_lead overall 0102T12"},
		{
			rmse + `<indep name="fcst_valid_beg" depends="fcst_init_beg"><date_list><start><offset_days><day_offset>0</day_offset></offset_days></start><end><offset_days><day_offset>1</day_offset><hour>6</hour></offset_days></end><inc>54000</inc></date_list></indep>` +
				fix(`<field name="fcst_init_beg"><date_range name="week"/></field>`),
			"SL1L2 RMSE fcst_valid_beg overall 0107T00 0107T15 0108T06 0101T00-0107T18", // of a range the end
		},
		{`<dep><dep1><fcst_var name="TMP"><stat>RMSE</stat></fcst_var><series>` + field("model", "A") + `</series></dep1></dep>` + byLead, "CNT RMSE fcst_lead median A"},
		{dep("BRIER", "ROC_AUC") + byLead, "PSTD BRIER+ROC_AUC fcst_lead median"},
		{dep("MMI", "MCD") + byLead, "MODE_OBJ_PAIR MMI+MCD fcst_lead median"},
		{dep("P50", "ACOV") + byLead, "MODE_OBJ_SINGLE P50+ACOV fcst_lead median"},
		{strings.ReplaceAll(dep("PSTD_BRIER"), "TMP", "PROB(APCP_06>*)") + byLead, "PSTD PSTD_BRIER fcst_lead median"},
		// inheritance: of a series only the field of the plot itself, everything else by name
		{
			`<plot name="a" run="false">` + series + rmse + byLead + `<series1>` + field("model", "A") + `</series1>` + fix(field("obtype", "X")+field("vx_mask", "E")) + `</plot>
			<plot name="b" run="false">` + fix(field("valid_hour", "06")+`<remove name="obtype"/>`) + `</plot>
			<plot name="c" inherits="a, b"><series1>` + field("fcst_lev", "Z2", "Z10") + `</series1></plot>
			<plot name="d" inherits="c">` + fix("<clear/>"+field("vx_mask", "W")) + `<series1><remove name="fcst_lev"/></series1><plot_stat>mean</plot_stat><agg_stat><agg_sl1l2>false</agg_sl1l2></agg_stat></plot>`,
			"SL1L2 RMSE fcst_lead overall Z2+Z10 E [6]; CNT RMSE fcst_lead mean W",
		},
	} {
		if !strings.Contains(c.body, "<template>") {
			c.body = series + c.body
		}
		if !strings.Contains(c.body, "<plot ") {
			c.body = "<plot>" + c.body + "</plot>"
		}
		qs, notes := specOf(t, lists+c.body)
		if got := summary(qs); got != c.want {
			t.Errorf("%s\n  %s, want\n  %s; %q", c.body, got, c.want, notes)
		}
	}
}

// TestTitles: titles have the fixed values of the plot, its variables and its statistics.
func TestTitles(t *testing.T) {
	qs, notes := specOf(t, `<plot>`+series+`<dep><dep1><fcst_var name="APCP"><stat>CSI</stat><stat>FAR</stat></fcst_var></dep1><dep2><fcst_var name="APCP"><stat>BASER</stat></fcst_var></dep2></dep>`+byLead+`
		<plot_fix><field name="vx_mask"><val>E</val></field><field name="fcst_thresh"><val>&gt;=25.400</val></field><field name="init_hour"><val>6</val></field>
		<field name="fcst_valid_beg"><val>2019-01-02 12:00:00</val></field></plot_fix>
		<tmpl><val_map name="vx_mask"><pair><key>E</key><val>East</val></pair></val_map>
		<title>{dep1_1} {dep1_1_stat2} {fcst_thresh?units=in}\" {fcst_thresh?symbol=letters&amp;format=0.0}\n{vx_mask?map=true} of {fcst_valid_beg}V, {init_hour?format=HH}Z {nothing}</title>
		<y1_label>{dep1_1_stat1}</y1_label><y2_label>{dep2_1_stat1}</y2_label></tmpl></plot>`)
	if len(qs) != 2 {
		t.Fatal(notes)
	}
	if got := qs[0].Title + " | " + qs[0].Drawing.YLabel + " | " + qs[1].Drawing.YLabel; got != `APCP FAR >=1.000" ge25.4 East of 2019010212V, 06Z {nothing} | CSI | BASER` {
		t.Error(got)
	}
}
