package metviewer

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// specOf parses the content of a plot_spec. Its first line is line 1.
func specOf(t *testing.T, body string) *PlotSpec {
	t.Helper()
	s, err := ParsePlotSpec("p.xml", []byte("<plot_spec>"+body+"</plot_spec>"))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return s
}

// refusal returns the error for the content of a plot_spec, which must be in this line.
func refusal(t *testing.T, body string, line int) string {
	t.Helper()
	_, err := ParsePlotSpec("p.xml", []byte("<plot_spec>"+body+"</plot_spec>"))
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.File != "p.xml" || f.Line != line {
		t.Fatalf("%s: error %v, want one of line %d", body, err, line)
	}
	return err.Error()
}

// shown writes values: a list as [a b], a range as first … last.
func (v Values) shown() string {
	if v.First+v.Last == "" {
		return fmt.Sprint(v.List)
	}
	return strings.TrimPrefix(fmt.Sprint(v.List), "[]") + v.First + " … " + v.Last
}

// TestDefaultsOfPlots: a plot that only names its template.
func TestDefaultsOfPlots(t *testing.T) {
	s, p := plotOf(t, "")
	if p.Template != "series_plot" || p.Alpha != 0.05 || p.BootRepl != 0 || p.BootSeed != nil || p.BootCI != "" || p.SingleRecords || p.CardSums ||
		p.NoVIF || p.EventEqual || p.PlotStat != "" || p.Roc != "" || p.Indep.Name != "" || p.CondLine != 0 || p.EqLow != nil || p.EqHigh != nil {
		t.Errorf("%+v", p)
	}
	if len(p.Agg)+len(p.Calc)+len(p.Deps)+len(p.Fix)+len(p.Styles)+len(p.Unsupported)+len(s.Warnings)+len(s.Databases) > 0 {
		t.Errorf("%+v, warnings %v", p, s.Warnings)
	}
}

// TestBootstrap: the replicates and the seed are in agg_stat, in bootstrapping (2010), or next to the other elements of a
// scorecard.
func TestBootstrap(t *testing.T) {
	for body, want := range map[string]string{
		"<agg_stat><boot_repl>3</boot_repl><boot_random_seed>18446744073709551615</boot_random_seed></agg_stat>":  "3 18446744073709551615",
		"<bootstrapping><boot_repl>7</boot_repl><boot_random_seed>0</boot_random_seed></bootstrapping>":           "7 0",
		"<agg_stat><boot_repl>3</boot_repl></agg_stat><bootstrapping><boot_repl>7</boot_repl></bootstrapping>":    "3 nil",
		"<boot_repl>9</boot_repl><boot_random_seed>5</boot_random_seed>":                                          "9 5",
		"<agg_stat>true</agg_stat><boot_repl>9</boot_repl><boot_random_seed>5</boot_random_seed>":                 "9 5 sums",
		"<agg_stat><boot_repl>3</boot_repl></agg_stat><boot_repl>9</boot_repl>":                                   "3 nil",
		"<agg_stat><boot_repl>0</boot_repl><boot_random_seed>NA</boot_random_seed></agg_stat>":                    "0 nil",
		"<agg_stat><boot_repl>1000000</boot_repl><boot_random_seed/></agg_stat>":                                  "1000000 nil",
		"<agg_stat><boot_repl/></agg_stat>":                                                                       "0 nil",
		"<agg_stat><boot_repl>2</boot_repl><circular_block_bootstrap>FALSE</circular_block_bootstrap></agg_stat>": "2 nil single",
		"<agg_stat><boot_repl>2</boot_repl><circular_block_bootstrap>true</circular_block_bootstrap></agg_stat>":  "2 nil",
	} {
		s, p := plotOf(t, body)
		got := strconv.Itoa(p.BootRepl) + " nil"
		if p.BootSeed != nil {
			got = fmt.Sprint(p.BootRepl, *p.BootSeed)
		}
		if p.SingleRecords {
			got += " single"
		}
		if p.CardSums {
			got += " sums"
		}
		if got != want || len(s.Warnings) > 0 {
			t.Errorf("%s: %s, want %s; warnings %v", body, got, want, s.Warnings)
		}
	}
	for body, want := range map[string]string{
		"<boot_repl>1000001</boot_repl>":                                 `boot_repl: "1000001" is not a number of replicates from 0 to 1000000`,
		"<boot_repl>-1</boot_repl>":                                      `"-1" is not a number of replicates`,
		"<boot_repl>1</boot_repl><boot_random_seed>x</boot_random_seed>": `boot_random_seed: "x" is not a seed`,
	} {
		if got := refusal(t, "<plot><agg_stat>\n"+body+"</agg_stat></plot>", 2); !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	for text, want := range map[string]float64{"": 0.05, "0.1": 0.1, "0.999": 0.999, "1e-9": 1e-9} {
		if _, p := plotOf(t, "<ci_alpha>"+text+"</ci_alpha>"); p.Alpha != want {
			t.Errorf("ci_alpha %q: %v", text, p.Alpha)
		}
	}
	for _, text := range []string{"0", "1", "-0.05", "5 %"} {
		if got := refusal(t, "\n<plot><ci_alpha>"+text+"</ci_alpha></plot>", 2); !strings.Contains(got, strconv.Quote(text)+" is not between 0 and 1") {
			t.Errorf("ci_alpha %q: %s", text, got)
		}
	}
}

// TestAggregatedTypes: the line types that are aggregated or computed, in the order of the file.
func TestAggregatedTypes(t *testing.T) {
	for body, want := range map[string]string{
		"<agg_stat><agg_sl1l2>true</agg_sl1l2><agg_ctc>false</agg_ctc><agg_val1l2>TRUE</agg_val1l2><agg_stat>true</agg_stat></agg_stat>": "[SL1L2 VAL1L2] []",
		"<calc_stat><calc_ctc>true</calc_ctc><calc_stat>true</calc_stat><calc_sl1l2/></calc_stat>":                                       "[] [CTC]",
		"<revis_stat><calc_pct>true</calc_pct><boot_pct>true</boot_pct></revis_stat>":                                                    "[] [PCT]",
	} {
		if _, p := plotOf(t, body); fmt.Sprint(p.Agg, p.Calc) != want {
			t.Errorf("%s: %v, %v; want %s", body, p.Agg, p.Calc, want)
		}
	}
	for body, want := range map[string]string{
		"<roc_ctc>true</roc_ctc>": "CTC", "<roc_pct>TRUE</roc_pct>": "PCT", "<roc_ctc>false</roc_ctc><roc_pct>true</roc_pct>": "PCT",
		"<roc_ctc>true</roc_ctc><roc_pct>false</roc_pct>": "CTC", "<roc_pct>false</roc_pct>": "", "": "",
	} {
		if _, p := plotOf(t, "<roc_calc>"+body+"</roc_calc>"); p.Roc != want {
			t.Errorf("%s: %q, want %q", body, p.Roc, want)
		}
	}
}

// TestTexts: the condition, the titles and the texts that replace values in them.
func TestTexts(t *testing.T) {
	_, p := plotOf(t, `<plot_cond>fcst_lev = 'P500'</plot_cond><event_equal>true</event_equal><plot_stat>mean</plot_stat>
<tmpl><title>T</title><x_label>X</x_label><y1_label>Y1</y1_label><y2_label>Y2</y2_label>
<val_map name="model"><pair><key>GFS</key><val>Control</val></pair><pair><key>ECM</key><val>Other</val></pair></val_map>
<val_map name="vx_mask"><pair><key>G2</key><val>Globe</val></pair></val_map></tmpl>`)
	want := "map[model:map[ECM:Other GFS:Control] vx_mask:map[G2:Globe]]"
	if p.Cond != "fcst_lev = 'P500'" || p.CondLine != 1 || !p.EventEqual || p.PlotStat != "mean" || p.Title != "T" || p.XLabel != "X" ||
		p.YLabel != [2]string{"Y1", "Y2"} || fmt.Sprint(p.Maps) != want {
		t.Errorf("%+v", p)
	}
}

// TestDerivedCurves: a curve has two others and an operation, DIFF if none is named. A vector with fewer or more parts
// stays as it is.
func TestDerivedCurves(t *testing.T) {
	_, p := plotOf(t, `<tmpl><listDiffSeries1>list(c("GFS HGT ME","ECM HGT ME"), c('a (x)', "b", "RATIO"),c("a"))</listDiffSeries1>
<listdiffseries2>list(c("a","b","c","d"))</listdiffseries2><listDiffSeries3>list(c("a","b"))</listDiffSeries3></tmpl>`)
	var got []string
	for axis, all := range p.Derived {
		for _, d := range all {
			got = append(got, fmt.Sprintf("%d,%d: %s|%s|%s", axis+1, d.Line, d.A, d.B, d.Op))
		}
	}
	want := []string{"1,1: GFS HGT ME|ECM HGT ME|DIFF", "1,1: a (x)|b|RATIO", `1,1: ||"a"`, `2,2: ||"a","b","c","d"`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s, _ := plotOf(t, "\n<listDiffSeries1>list(c('a','b'))</listDiffSeries1>")
	if got := joined(s.Warnings); got != "line 2: plot/listDiffSeries1: is not known and has no effect: it is read only in <tmpl>" {
		t.Error(got)
	}
}

// TestConditionsOfAVariable: plots of 2010 have conditions of single variables, as a text or as values.
func TestConditionsOfAVariable(t *testing.T) {
	_, p := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>ME</stat></fcst_var><fcst_var name="HGT"><stat>ME</stat></fcst_var></dep1>
<fix><fcst_var name="TMP"><var name="fcst_lev">Z2</var><var name="inithour"><val>00</val><val>12</val></var>
<var name="vx_mask">G2<val>G3</val></var><var name="obtype">BETWEEN 'A' AND 'B'</var></fcst_var></fix></dep>`)
	got := ""
	for _, d := range p.Deps {
		got += fmt.Sprint(d.Var, " line ", d.Line, ":")
		for _, f := range d.Fix {
			got += fmt.Sprint(" ", f.Name, " ", f.shown(), " line ", f.Line)
		}
		got += ";"
	}
	if want := "TMP line 1: fcst_lev [Z2] line 2 init_hour [00 12] line 2 vx_mask [G3 G2] line 3 obtype A … B line 3;HGT line 1:;"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = refusal(t, "<plot><dep><fix><fcst_var name='T'>\n<var name='x'>BETWEEN 'a' AND ''</var></fcst_var></fix></dep></plot>", 2)
	if !strings.Contains(got, "is a range without a limit") {
		t.Error(got)
	}
}

// TestGroupsOfVariables: the groups of plots of 2010, and the curves inside dep1 and dep2.
func TestGroupsOfVariables(t *testing.T) {
	_, p := plotOf(t, `<dep><dep2><fcst_var name="A"><stat>ME</stat></fcst_var></dep2><first_group><dep1><fcst_var name="B"><stat>ME</stat><stat>RMSE</stat></fcst_var></dep1></first_group>
<other><dep1><fcst_var name="C"><stat>ME</stat></fcst_var></dep1></other></dep>`)
	got := ""
	for _, d := range p.Deps { // those of the first axis come first
		got += fmt.Sprint(d.Axis, d.Var, d.Stats, " ")
	}
	if got != "1B[ME RMSE] 2A[ME] " {
		t.Error(got)
	}
	for _, body := range []string{
		"<plot><dep><dep1><fcst_var name='T'/><field name='model'>\n<value/></field></dep1></dep></plot>",
		"<plot><series1><field name='model'>\n<value/></field></series1></plot>",
		"<plot><series2><field name='model'>\n<value/></field></series2></plot>",
		"<plot><indep name='fcst_lead'>\n<value/></indep></plot>",
	} {
		if got := refusal(t, body, 2); !strings.Contains(got, "/value is not supported") {
			t.Error(got)
		}
	}
}

// TestNames: fields of 2010 have other names.
func TestNames(t *testing.T) {
	for old, want := range map[string]string{
		"inithour": "init_hour", "validhour": "valid_hour", "initdate": "fcst_init_beg", "validdate": "fcst_valid_beg", "vx_mask": "vx_mask", "": "",
	} {
		if got := NameOf(old); got != want {
			t.Errorf("%s: %s", old, got)
		}
	}
}

// TestRemarksOnTemplates: a template without a picture gets a remark, with the intended one if it is near.
func TestRemarksOnTemplates(t *testing.T) {
	for template, want := range map[string]string{
		"<template>box_plot.R_tmpl</template>":     "",
		"<template>scorecard</template>":           "",
		"<template>box_plots.R_tmpl</template>":    "line 1: template: box_plots has no picture here: curves are drawn (did you mean box_plot?)",
		"<template>equiv_test.R_tmpl</template>":   "line 1: template: equiv_test has no picture here: curves are drawn",
		"<template>revision_box.R_tmpl</template>": "line 1: template: revisions are not drawn: boxes of the values are",
		"": "line 1: template: a plot without a template has no picture here: curves are drawn",
	} {
		s := specOf(t, "<plot>"+template+"</plot>")
		if got := joined(s.Plots[0].Unsupported); got != want || len(s.Warnings) > 0 {
			t.Errorf("%s: %q, want %q; warnings %v", template, got, want, s.Warnings)
		}
	}
}

// TestLayout: an element that only changes METviewer's layout gets a remark if it differs from METviewer's default. The
// spelling of a number does not matter.
func TestLayout(t *testing.T) {
	for body, differs := range map[string]string{
		"<x2lab_offset>-.5</x2lab_offset><ylab_offset>-2</ylab_offset><x2lab_offset>-0.5</x2lab_offset><mar>c(08,4,5,4)</mar>": "",
		"<grid_x>LISTX</grid_x><lines>any</lines><caption>c()</caption><cex/>":                                                 "lines any",
		"\n<plot_width>12</plot_width>\n<tmpl><caption>Text</caption></tmpl><mar>c(1,2)</mar>":                                 "plot_width 12, mar c(1,2), caption Text",
		"<lines><line/></lines>":          "lines",
		"<ensss_pts>10</ensss_pts>":       "ensss_pts 10 (each point has a tenth of all pairs)",
		"<log_y1>TRUE</log_y1>":           "log_y1 TRUE",
		"<log_y1>FALSE</log_y1>":          "",
		"<x2lab_offset>.5</x2lab_offset>": "x2lab_offset .5",
	} {
		_, p := plotOf(t, body)
		want := ""
		if differs != "" {
			line := 1 + strings.Count(body[:strings.IndexByte(body, '<')], "\n")
			want = fmt.Sprintf("line %d: layout: has no effect, because Barograph lays out its own pictures: %s", line, differs)
		}
		if got := joined(p.Unsupported); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestItems: the values of R's vectors.
func TestItems(t *testing.T) {
	for text, want := range map[string][]string{
		`c("a", 'b c', d)`: {"a", "b c", "d"}, "c(1,2.5)": {"1", "2.5"}, "c(1": {"1"}, "7": {"7"}, `"a"`: {"a"}, `c("","x")`: {"", "x"}, "": nil, "c()": nil,
		`c("it's", 'b')`: {"it's", "b"}, `"`: {`"`}, `c(a'xa)`: {`a'xa`}, `c('a"`: {`'a"`}, "a, b": {"a", "b"},
	} {
		if got := items(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
