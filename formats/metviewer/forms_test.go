package metviewer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// plotOf parses the only plot of a plot_spec with this content.
func plotOf(t *testing.T, body string) (*PlotSpec, *Plot) {
	t.Helper()
	s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot><template>series_plot.R_tmpl</template>"+body+"</plot></plot_spec>"))
	if err != nil || len(s.Plots) != 1 {
		t.Fatalf("%s: %v", body, err)
	}
	return s, &s.Plots[0]
}

// joined writes remarks, one after the other.
func joined(remarks []Remark) string {
	var all []string
	for _, r := range remarks {
		all = append(all, r.String())
	}
	return strings.Join(all, "; ")
}

// TestFormsOfDates: a date list has a step, or in the form of 2010 a field and perhaps an hour. Without a step it is the
// range of the dates in the database.
func TestFormsOfDates(t *testing.T) {
	const start, end = "<start>2010-01-01 00:00:00</start>", "<end>2010-01-03 00:00:00</end>"
	for _, c := range []struct{ list, want, warning string }{
		{start + end + "<inc>86400</inc><format>yyyy-MM-dd HH:mm:ss</format>", "[2010-01-01 00:00:00 2010-01-02 00:00:00 2010-01-03 00:00:00]  ", ""},
		{start + end + "<field>fcst_valid_beg</field>", "[] 2010-01-01 00:00:00 2010-01-03 00:00:00", `has no step: one query gets all its dates in the database`},
		{start + end + "<field>fcst_valid_beg</field><hour>12</hour>", "[2010-01-01 12:00:00 2010-01-02 12:00:00 2010-01-03 12:00:00]  ", ""},
		{start + end + "<hour>06</hour>", "[2010-01-01 06:00:00 2010-01-02 06:00:00 2010-01-03 06:00:00]  ", ""},
	} {
		s, p := plotOf(t, `<plot_fix><field name="fcst_valid_beg"><set name="d"><date_list name="dates">`+c.list+`</date_list></set></field></plot_fix>`)
		v := p.Fix[0].Sets[0]
		if got := fmt.Sprint(v.List, " ", v.First, " ", v.Last); strings.Join(strings.Fields(got), " ") != strings.TrimSpace(c.want) {
			t.Errorf("%s: %s, want %s", c.list, got, c.want)
		}
		if got := joined(s.Warnings); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
			t.Errorf("%s: warnings %q", c.list, got)
		}
	}
	for _, list := range []string{start + "<field>fcst_valid_beg</field>", end + "<field>fcst_valid_beg</field>"} {
		text := `<plot_spec><plot><plot_fix><field name="f"><set name="d"><date_list name="x">` + list + `</date_list></set></field></plot_fix></plot></plot_spec>`
		if _, err := ParsePlotSpec("p.xml", []byte(text)); err == nil || !strings.Contains(err.Error(), "lacks a date for start or end") {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// TestRangesWithoutLimit: a range needs a first and a last value. The question of a range without one would have no condition.
func TestRangesWithoutLimit(t *testing.T) {
	for _, limits := range []string{"'' AND 'M'", "'A' AND ''", "'' AND ''"} {
		text := `<plot_spec><plot><plot_fix><field name="vx_mask"><set name="s"><val>BETWEEN ` + limits + `</val></set></field></plot_fix></plot></plot_spec>`
		if _, err := ParsePlotSpec("p.xml", []byte(text)); err == nil || !strings.Contains(err.Error(), "is a range without a limit") {
			t.Errorf("%s: %v", limits, err)
		}
	}
}

// TestCombinedValues: a value combines the date-times in it, or its parts between colons.
func TestCombinedValues(t *testing.T) {
	for value, want := range map[string][]string{
		"2010-01-01 00:00:00:2010-01-02 06:00:00": {"2010-01-01 00:00:00", "2010-01-02 06:00:00"},
		"2010-01-01 00:00:00":                     {"2010-01-01 00:00:00"},
		"GFS:NAM":                                 {"GFS", "NAM"}, "GFS": {"GFS"}, "": {""},
	} {
		if got := Members(value); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// TestSettingsOfBootstrap: settings that METviewer ignores or replaces get a warning; a correct one gets none.
func TestSettingsOfBootstrap(t *testing.T) {
	for _, c := range []struct{ body, ci, warning string }{
		{"<agg_stat><agg_sl1l2>TRUE</agg_sl1l2><boot_ci>bca</boot_ci><boot_repl>10</boot_repl></agg_stat>", "bca", ""},
		{"<agg_stat><boot_ci>pivotal</boot_ci></agg_stat>", "pivotal", ""},
		{"<agg_stat><boot_ci>percy</boot_ci></agg_stat>", "perc", `boot_ci: "percy" is not known`},
		{"<agg_stat><boot_repl>ten</boot_repl></agg_stat>", "", `boot_repl: "ten" is not a number and counts as 1`},
		{"<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat><calc_stat><calc_ctc>true</calc_ctc></calc_stat>", "", "calc_stat: has no effect, because the plot also has agg_stat"},
		{"<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat><calc_stat><calc_ctc>false</calc_ctc></calc_stat>", "", ""},
		{"<calc_stat><calc_ctc>true</calc_ctc></calc_stat>", "", ""},
	} {
		s, p := plotOf(t, c.body)
		if got := joined(s.Warnings); p.BootCI != c.ci || (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
			t.Errorf("%s: %q, warnings %q", c.body, p.BootCI, got)
		}
	}
}

// TestCurvesOf2010: early plots have their curves inside dep1; a field that occurs twice has the values of both.
func TestCurvesOf2010(t *testing.T) {
	_, p := plotOf(t, `<dep><dep1><fcst_var name="TMP"><stat>ME</stat></fcst_var>
<series><field name="model"><val>GFS</val></field></series><field name="model"><val>NAM</val></field><field name="vx_mask"><val>G2</val></field></dep1></dep>`)
	got := ""
	for _, f := range p.Series[0] {
		got += f.Name + fmt.Sprint(f.List)
	}
	if got != "model[GFS NAM]vx_mask[G2]" || len(p.Series[1]) != 0 || len(p.Deps) != 1 || p.Deps[0].Axis != 1 || !slices.Equal(p.Deps[0].Stats, []string{"ME"}) {
		t.Errorf("%s, %+v", got, p.Deps)
	}
	_, p = plotOf(t, `<dep><dep2><fcst_var name="TMP"><stat>ME</stat></fcst_var></dep2></dep><series2><field name="model" equalize="true"><val>GFS</val></field></series2>`)
	if len(p.Series[0]) != 0 || len(p.Series[1]) != 1 || !p.Series[1][0].Equalize || p.Deps[0].Axis != 2 {
		t.Errorf("%+v, %+v", p.Series, p.Deps)
	}
}

// TestRemarksOfPlotsHaveAnOrder: remarks are in the order of the lines.
func TestRemarksOfPlotsHaveAnOrder(t *testing.T) {
	_, p := plotOf(t, "\n<eqbound_low>x</eqbound_low>\n<agg_stat>\n<eveq_dis>TRUE</eveq_dis></agg_stat>\n<pch>c(8)</pch>\n<eqbound_high>y</eqbound_high>\n<lwd>c(0)</lwd>")
	var lines []int
	for _, r := range p.Unsupported {
		lines = append(lines, r.Line)
	}
	if !slices.Equal(lines, []int{2, 4, 5, 6, 7}) {
		t.Errorf("lines %d: %s", lines, joined(p.Unsupported))
	}
	if got := joined(p.Unsupported[1:2]); !strings.Contains(got, "agg_stat/eveq_dis: Barograph equalizes events before it aggregates") {
		t.Error(got)
	}
	if _, p := plotOf(t, "<agg_stat><eveq_dis>false</eveq_dis></agg_stat>"); len(p.Unsupported) > 0 {
		t.Error(joined(p.Unsupported))
	}
}

// TestUnknownElements: an unknown element next to a plot gets a warning, and a deep nesting is refused.
func TestUnknownElements(t *testing.T) {
	s, err := ParsePlotSpec("p.xml", []byte("<plot_spec>\n<plots/>\n<plot><template>bar_plot.R_tmpl</template></plot></plot_spec>"))
	if err != nil || joined(s.Warnings) != "line 2: plots: is not known and has no effect" {
		t.Errorf("%q, %v", joined(s.Warnings), err)
	}
	for depth, refused := range map[int]bool{maxDepth: false, maxDepth + 1: true} {
		text := strings.Repeat("<a>", depth) + strings.Repeat("</a>", depth)
		if _, err := parse("p.xml", []byte(text), ""); (err != nil) != refused || refused && !strings.Contains(err.Error(), "elements are nested more than") {
			t.Errorf("%d elements: %v", depth, err)
		}
	}
}

// TestDrawnStyles: a style is valid if curves have its element and Barograph draws its value.
func TestDrawnStyles(t *testing.T) {
	for _, c := range []struct {
		style Style
		says  string // "" = valid
	}{
		{Style{}, ""},
		{Style{"pch": "20", "lty": "0", "colors": "#aabbcc"}, ""},
		{Style{"pch": "20", "lty": "7"}, `style lty: "7" is not drawn`},
		{Style{"pch": "2"}, `style pch: "2" is not drawn`},
		{Style{"size": "1"}, `style size: "1" is not drawn`},
	} {
		if err := c.style.Check(); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.style, err)
		}
	}
}

// TestUnusableTargets: a load_spec without a complete connection to a supported system has no target.
func TestUnusableTargets(t *testing.T) {
	for want, c := range map[string]Connection{
		"connection is missing": {System: "mysql", Host: "h", Database: "d"},
		"management_system cb: a load_spec cannot have Couchbase as its target":        {Line: 3, System: "cb", Host: "h", Database: "d"},
		"management_system couchbase: a load_spec cannot have Couchbase as its target": {Line: 3, System: "couchbase", Host: "h", Database: "d"},
		"management_system oracle is not known":                                        {Line: 3, System: "oracle", Host: "h", Database: "d"},
		"connection lacks host or database":                                            {Line: 3, System: "mysql", Host: "h"},
		" lacks host or database":                                                      {Line: 3, System: "mysql", Database: "d"},
	} {
		if url, err := (&LoadSpec{File: "l.xml", Connection: c}).Target(); err == nil || url != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %q, %v; want %s", c, url, err, want)
		}
	}
	c := Connection{Line: 3, Host: "h", Database: "d", User: "me"}
	if url, err := (&LoadSpec{Connection: c}).Target(); err != nil || url != "mariadb://me@h/" {
		t.Errorf("without a password: %s, %v", url, err)
	}
}
