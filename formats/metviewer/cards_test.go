package metviewer

import (
	"fmt"
	"strings"
	"testing"
)

// field writes a field with values and further elements.
func field(name, values string, inner ...string) string {
	text := "<field name='" + name + "'>"
	for v := range strings.FieldsSeq(values) {
		text += "<val>" + v + "</val>"
	}
	return text + strings.Join(inner, "") + "</field>"
}

// fixed writes the fields of plot_fix: name, sets.
func fixed(p *Plot) string {
	var all []string
	for _, f := range p.Fix {
		text := f.Name
		for _, v := range f.Sets {
			text += " " + v.shown()
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// TestScorecard: each pair of a row and a merged column is a plot. The models are the series, the innermost field of the
// columns is the independent variable, two dates are a range, and stat is the operation of the derived curve.
func TestScorecard(t *testing.T) {
	s := specOf(t, "<plot name='card'><template>scorecard.R_tmpl</template><event_equal>true</event_equal>"+
		"<plot_fix>"+field("fcst_valid_beg", "2019-01-01 2019-01-31")+field("fcst_init_beg", "1 2 3")+field("obtype", "A B")+field("model", "GFS ECM")+"</plot_fix>"+
		"\n<rows>"+field("stat", "RMSE ME", field("fcst_var", "TMP HGT"), field("fcst_var", "UGRD", field("fcst_lev", "P500")))+"</rows>"+
		"<columns>"+field("vx_mask", "N S", field("fcst_lead", "6 12"))+field("vx_mask", "T", field("fcst_lead", "6 12"))+field("vx_mask", "N S", field("fcst_lead", "24"))+
		field("fcst_lead", "48")+"</columns><stat>DIFF_SIG</stat><dep/><tmpl><title>none</title></tmpl></plot>")
	var got []string
	for i := range s.Plots {
		p := &s.Plots[i]
		text := fmt.Sprint("line ", p.Line, ":")
		for _, d := range p.Deps {
			text += fmt.Sprint(" ", d.Axis, " ", d.Var, d.Stats)
		}
		text += fmt.Sprint(" of ", p.Series[0][0].Name, p.Series[0][0].List, " by ", p.Indep.Name, p.Indep.List, "; ", fixed(p))
		if got = append(got, text); p.Name != "card" || p.Template != "scorecard" || !p.EventEqual || p.Title != "" || len(p.Series[1]) > 0 ||
			len(p.Derived[0]) != 1 || p.Derived[0][0].A != "GFS" || p.Derived[0][0].B != "ECM" || p.Derived[0][0].Op != "DIFF_SIG" {
			t.Errorf("%+v", p)
		}
	}
	const always = "fcst_valid_beg 2019-01-01 … 2019-01-31; fcst_init_beg [1 2 3]; obtype [A B]"
	want := []string{
		"line 1: 1 TMP[RMSE ME] 1 HGT[RMSE ME] of model[GFS ECM] by fcst_lead[6 12]; " + always + "; vx_mask [N S T]",
		"line 1: 1 TMP[RMSE ME] 1 HGT[RMSE ME] of model[GFS ECM] by fcst_lead[24]; " + always + "; vx_mask [N S]",
		"line 1: 1 TMP[RMSE ME] 1 HGT[RMSE ME] of model[GFS ECM] by fcst_lead[48]; " + always,
		"line 1: 1 UGRD[RMSE ME] of model[GFS ECM] by fcst_lead[6 12]; " + always + "; fcst_lev [P500]; vx_mask [N S T]",
		"line 1: 1 UGRD[RMSE ME] of model[GFS ECM] by fcst_lead[24]; " + always + "; fcst_lev [P500]; vx_mask [N S]",
		"line 1: 1 UGRD[RMSE ME] of model[GFS ECM] by fcst_lead[48]; " + always + "; fcst_lev [P500]",
	}
	if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", text, strings.Join(want, "\n"))
	}
}

// TestMergedColumns: columns that differ in the values of one field are one column; other columns stay as they are.
func TestMergedColumns(t *testing.T) {
	for columns, want := range map[string]string{
		field("vx_mask", "N", field("fcst_lead", "6")) + field("vx_mask", "S", field("fcst_lead", "6")):       "vx_mask [N S]|fcst_lead [6]",
		field("vx_mask", "N", field("fcst_lead", "6")) + field("vx_mask", "S", field("fcst_lead", "12")):      "vx_mask [N]|fcst_lead [6], vx_mask [S]|fcst_lead [12]",
		field("vx_mask", "N", field("fcst_lead", "6"), field("fcst_lead", "12")):                              "vx_mask [N]|fcst_lead [6 12]",
		field("vx_mask", "N", field("fcst_lead", "6")) + field("obtype", "S", field("fcst_lead", "6")):        "vx_mask [N]|fcst_lead [6], obtype [S]|fcst_lead [6]",
		field("vx_mask", "N", field("fcst_lead", "6")) + field("fcst_lead", "6"):                              "vx_mask [N]|fcst_lead [6], fcst_lead [6]",
		field("vx_mask", "", "<val name='N'/>") + field("vx_mask", "S"):                                       "vx_mask [N S]",
		field("fcst_lead", "6") + field("fcst_lead", "12") + field("vx_mask", "N") + field("fcst_lead", "24"): "fcst_lead [6 12 24], vx_mask [N]",
	} {
		n, err := parse("p.xml", []byte("<columns>"+columns+"</columns>"), "columns")
		if err != nil {
			t.Fatal(err)
		}
		var all []*node
		for _, c := range n.all("field") {
			for _, chain := range fieldChains(c) {
				all = mergeChain(all, chain)
			}
		}
		var got []string
		for _, chain := range all {
			var fields []string
			for _, f := range chain.kids {
				fields = append(fields, fmt.Sprint(f.attrs["name"], " ", texts(f)))
			}
			got = append(got, strings.Join(fields, "|"))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s: %s, want %s", columns, text, want)
		}
	}
}

// TestInheritance: a plot that inherits, element by element.
func TestInheritance(t *testing.T) {
	const base = "<plot name='a'><template>box_plot.R_tmpl</template><plot_fix>" + "<field name='m'><val>A</val></field><field name='n'><set><val>B</val></set></field></plot_fix>" +
		"<series1><field name='model'><val>X</val></field><field name='lev'><val>P</val></field></series1><series2><field name='model'><val>X</val></field></series2>" +
		"<agg_stat><agg_ctc>true</agg_ctc><boot_repl>5</boot_repl></agg_stat><calc_stat><calc_pct>true</calc_pct></calc_stat><tmpl><title>T</title><x_label>X</x_label></tmpl><plot_cond>c</plot_cond>" +
		"<dep><dep1><fcst_var name='V'><stat>ME</stat></fcst_var></dep1></dep></plot>"
	for body, want := range map[string]string{
		"": "box_plot|m [A]; n [B]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<template>bar_plot</template><plot_cond>d</plot_cond>":                                       "bar_plot|m [A]; n [B]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X d|V",
		"<plot_fix><field name='m'><val>C</val></field></plot_fix>":                                   "box_plot|n [B]; m [A] [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><field name='m'><set><val>C</val></set></field></plot_fix>":                        "box_plot|n [B]; m [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><field name='n'><val>C</val></field></plot_fix>":                                   "box_plot|m [A]; n [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><field name='o'><val>C</val></field></plot_fix>":                                   "box_plot|m [A]; n [B]; o [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><remove name='n'/><field name='o'><val>C</val></field></plot_fix>":                 "box_plot|m [A]; o [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><remove name='n'/><field name='m'><val>C</val></field></plot_fix>":                 "box_plot|m [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><clear/><field name='m'><val>C</val></field></plot_fix>":                           "box_plot|m [C]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<plot_fix><clear/></plot_fix>":                                                               "box_plot||model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<series1><field name='model'><val>Y</val></field></series1>":                                 "box_plot|m [A]; n [B]|model[Y] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<series1><remove name='model'/></series1>":                                                   "box_plot|m [A]; n [B]|lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
		"<series2><field name='i'><val>Y</val></field><field name='j'><val>Z</val></field></series2>": "box_plot|m [A]; n [B]|model[X] lev[P] / j[Z]|[CTC] 5|[PCT]|T X c|V|line 1: plot/series2: of a plot that inherits has its last field only, as in METviewer",
		"<agg_stat><agg_ctc>false</agg_ctc><agg_sl1l2>true</agg_sl1l2></agg_stat>":                    "box_plot|m [A]; n [B]|model[X] lev[P] / model[X]|[SL1L2] 5|[PCT]|T X c|V",
		"<calc_stat><calc_ctc>true</calc_ctc></calc_stat>":                                            "box_plot|m [A]; n [B]|model[X] lev[P] / model[X]|[CTC] 5|[PCT CTC]|T X c|V",
		"<tmpl><title>U</title></tmpl>":                                                               "box_plot|m [A]; n [B]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|U X c|V",
		"<dep><dep2><fcst_var name='W'><stat>ME</stat></fcst_var></dep2></dep>":                       "box_plot|m [A]; n [B]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|W",
		"<agg><field name='p'><val>D</val></field></agg>":                                             "box_plot|m [A]; n [B]; p [D]|model[X] lev[P] / model[X]|[CTC] 5|[PCT]|T X c|V",
	} {
		s := specOf(t, base+"<plot inherits=' a '>"+body+"</plot>")
		p := &s.Plots[1]
		series := ""
		for axis, all := range p.Series {
			for i, f := range all {
				series += strings.Repeat(" ", min(i, 1)) + f.Name + fmt.Sprint(f.List)
			}
			series += [2]string{" / ", ""}[axis]
		}
		got := strings.Join([]string{p.Template, fixed(p), series, fmt.Sprint(p.Agg, p.BootRepl), fmt.Sprint(p.Calc), p.Title + " " + p.XLabel + " " + p.Cond, p.Deps[0].Var}, "|")
		for _, w := range s.Warnings {
			if w.Element != "calc_stat" { // the base plot has both kinds of sums
				got += "|" + w.String()
			}
		}
		if len(p.Agg) == 2 || got != want {
			t.Errorf("%s:\n%s, want\n%s", body, got, want)
		}
	}
}

// TestSeveralParents: the second parent gives only its own elements. A plot that is not drawn can be inherited.
func TestSeveralParents(t *testing.T) {
	s := specOf(t, "<plot name='a' run='false'><plot_stat>mean</plot_stat><plot_cond>a</plot_cond></plot><plot name='b' inherits='a' run='false'><plot_cond>b</plot_cond></plot>"+
		"<plot name='c'><plot_stat>sum</plot_stat></plot><plot inherits='b'/><plot inherits='c, b'/><plot inherits='b,c'/>")
	got := ""
	for _, p := range s.Plots {
		got += p.PlotStat + " " + p.Cond + ", "
	}
	if got != "sum , mean b, sum b, sum b, " {
		t.Error(got)
	}
	for parents, name := range map[string]string{"x": "x", "a,y": "y", "": ""} {
		body := "<plot name='a'/>\n<plot inherits='" + parents + "'/>"
		if name == "" {
			specOf(t, body)
		} else if got := refusal(t, body, 2); !strings.Contains(got, `plot, inherits="`+name+`" is not a plot before this one`) {
			t.Error(got)
		}
	}
}
