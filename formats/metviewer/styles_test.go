package metviewer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestStyles: each list of a plot gives its values to the curves in METviewer's order; what Barograph does not draw is
// named with its line.
func TestStyles(t *testing.T) {
	for _, c := range []struct{ element, want, note string }{
		{`<colors>c("#ff0000FF","#00ff00")</colors>`, "[map[colors:#ff0000FF] map[colors:#00ff00]]", ""},
		{`<colors>c("red", "#00ff00FF")</colors>`, "[map[] map[colors:#00ff00FF]]", `line 1: colors: "red" of curve 1 is not drawn: Barograph chooses the color; write it as #rrggbb`},
		{`<pch>c(20, 8)</pch>`, "[map[pch:20] map[]]", `line 1: pch: "8" of curve 2 is not drawn: Barograph chooses the symbol`},
		{`<lty>c(3,1)</lty><lwd>c(1.5, 2)</lwd>`, "[map[lty:3 lwd:1.5] map[lty:1 lwd:2]]", ""},
		{`<lwd>c(0, 1e3)</lwd>`, "[map[] map[]]", `line 1: lwd: "0" of curve 1 is not drawn: Barograph chooses the width`},
		{`<type>c("b","h")</type>`, "[map[type:b] map[]]", `line 1: type: "h" of curve 2 is not drawn: points joined by lines are`},
		{`<legend>c("Control, run 1", "")</legend>`, "[map[legend:Control, run 1] map[]]", ""},
		{`<legend>c(", 'run 1)</legend><mar>"</mar>`, `[map[legend:"] map[legend:'run] map[legend:1]]`, `line 1: layout: has no effect, because Barograph lays out its own pictures: mar "`},
		{`<plot_disp>c(TRUE,FALSE)</plot_disp><order_series>c(2,1)</order_series>`, "[map[order_series:2 plot_disp:TRUE] map[order_series:1 plot_disp:FALSE]]", ""},
		{`<plot_ci>c("norm","std")</plot_ci>`, "[map[plot_ci:norm] map[plot_ci:std]]", ""},
		{`<plot_ci>c("bot","std")</plot_ci>`, "[map[plot_ci:none] map[plot_ci:std]]", `line 1: plot_ci: "bot" of curve 1 is not drawn: no interval is; METviewer's words are none, std, met_prm, met_boot, boot and norm`},
		{`<mar>c(8, 4, 5, 4)</mar><title_align>.5</title_align><y2_lim>c()</y2_lim><show_signif>c(FALSE,FALSE)</show_signif>`, "[]", ""},
		{`<mar>c(6,4,5,4)</mar><show_signif>c(FALSE,TRUE)</show_signif>`, "[]", "line 1: layout: has no effect, because Barograph lays out its own pictures: mar c(6,4,5,4), show_signif c(FALSE,TRUE)"},
	} {
		s, err := ParsePlotSpec("p.xml", []byte(`<plot_spec><plot><template>series_plot.R_tmpl</template>`+c.element+`</plot></plot_spec>`))
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, r := range s.Plots[0].Unsupported {
			notes = append(notes, r.String())
		}
		if got := fmt.Sprint(s.Plots[0].Styles); got != c.want || c.note == "" && notes != nil || c.note != "" && !slices.Contains(notes, c.note) {
			t.Errorf("%s: %s, %q", c.element, got, notes)
		}
	}
}

// TestCurveNumbers: METviewer numbers the curves of dep1's statistics, those of dep2, and then the derived ones.
func TestCurveNumbers(t *testing.T) {
	s, err := ParsePlotSpec("p.xml", []byte(`<plot_spec><plot><template>series_plot.R_tmpl</template>
<dep><dep1><fcst_var name="TMP"><stat>ME</stat><stat>RMSE</stat></fcst_var><fcst_var name="HGT"><stat>ME</stat></fcst_var></dep1>
<dep2><fcst_var name="TMP"><stat>ME</stat></fcst_var></dep2></dep>
<series1><field name="model"><val>A</val><val>B</val></field><field name="vx_mask"><val>E</val></field></series1>
<series2><field name="model"><val>A</val></field></series2><legend>c(1,2,3,4,5,6,7,8,9)</legend>
<tmpl><listDiffSeries1>list(c("a","b"))</listDiffSeries1><listDiffSeries2>list(c("a","b"),c("c","d"))</listDiffSeries2></tmpl></plot></plot_spec>`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	add := func(styles ...Style) {
		for _, st := range styles {
			got = append(got, st["legend"])
		}
		got = append(got, "|")
	}
	for _, d := range s.Plots[0].Deps {
		add(d.Styles...)
	}
	for _, axis := range s.Plots[0].Derived {
		for _, d := range axis {
			add(d.Style)
		}
	}
	if text := strings.Join(got, " "); text != "1 2 3 4 | 5 6 | 7 | 8 | 9 |  |" {
		t.Error(text)
	}
}

// TestTicks: the axis shows a value by its label, at its plot_val.
func TestTicks(t *testing.T) {
	for _, c := range []struct{ values, want, problem string }{
		{`<val>60000</val><val label="" plot_val="">120000</val>`, "", ""},
		{`<val label="Day 1" plot_val="2">240000</val><val name="48" label="Day 2"/><val plot_val="-3.5">720000</val>`, "240000 Day 1 2, 48 Day 2, 720000  -3.5", ""},
		{`<val plot_val="2nd">240000</val>`, "", `plot_val "2nd" is not a number`},
		{`<val plot_val="NaN">240000</val>`, "", `plot_val "NaN" is not a number`},
	} {
		s, err := ParsePlotSpec("p.xml", []byte(`<plot_spec><plot><template>series_plot.R_tmpl</template><indep name="fcst_lead">`+c.values+`</indep></plot></plot_spec>`))
		if c.problem != "" {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("%s: %v", c.values, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range s.Plots[0].Indep.Ticks {
			text := k.Value + " " + k.Label
			if k.Position != nil {
				text += fmt.Sprint(" ", *k.Position)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s", c.values, text)
		}
	}
}
