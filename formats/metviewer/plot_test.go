package metviewer

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestPlotSpecGolden compares a plot_spec, as it is read with its inheritance, with a golden file.
func TestPlotSpecGolden(t *testing.T) {
	s, err := ReadPlotSpec(filepath.Join("testdata", "plot.xml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "s3cret") {
		t.Error("the password is printed")
	}
	golden(t, "plot.golden", string(text)+"\n")
}

func TestPlotSpecErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		line int
		text string // of the message
	}{
		"no plot":                        {"<connection/>", 1, "no <plot>"},
		"inherits from none":             {"\n<plot inherits=\"base\"/>", 3, `"base"`},
		"variable, no name":              {"<plot><dep><dep1>\n<fcst_var/></dep1></dep></plot>", 3, "no name"},
		"unknown list":                   {"<plot>\n\n<indep name=\"fcst_valid_beg\"><date_list name=\"x\"/></indep></plot>", 4, `"x"`},
		"values and a range":             {"<plot><plot_fix><field name=\"fcst_valid_beg\">\n<set><val>a</val><date_range><start>1</start><end>2</end></date_range></set></field></plot_fix></plot>", 3, "both"},
		"a list of ranges that is there": {"<date_range_list name=\"r\"><date_range/></date_range_list><plot><plot_fix><field name=\"fcst_valid_beg\"><set>\n<date_range_list name=\"r\"/></set></field></plot_fix></plot>", 3, "one plot of each"},
		"range without an end":           {"<plot><plot_fix><field name=\"fcst_valid_beg\"><set>\n<date_range><start>1</start></date_range></set></field></plot_fix></plot>", 3, "lacks"},
		"replicates":                     {"<plot><agg_stat>\n<boot_repl>-5</boot_repl></agg_stat></plot>", 3, "-5"},
		"seed":                           {"<plot><agg_stat>\n<boot_random_seed>-1</boot_random_seed></agg_stat></plot>", 3, "-1"},
		"alpha":                          {"<plot>\n<ci_alpha>5</ci_alpha></plot>", 3, "5"},
		"alpha that is no number":        {"<plot>\n<ci_alpha>nan</ci_alpha></plot>", 3, "nan"},
		"element that is no value":       {"<plot><plot_fix><field name=\"vx_mask\"><set>\n<value/></set></field></plot_fix></plot>", 3, "set/value is not"},
		"ranges that end first":          {"<plot><plot_fix><field name=\"fcst_valid_beg\">\n" + ranges("2020-01-02", "2020-01-01", "60", "60") + "</field></plot_fix></plot>", 3, "date_range_list"},
		"ranges of many years":           {"<plot><plot_fix><field name=\"fcst_valid_beg\">\n" + ranges("0001-01-01", "9999-01-01", "60", "1000") + "</field></plot_fix></plot>", 3, "date_range_list"},
		"ranges with an endless step":    {"<plot><plot_fix><field name=\"fcst_valid_beg\">\n" + ranges("2020-01-01", "2020-01-02", "60", "9223372036854775807") + "</field></plot_fix></plot>", 3, "date_range_list"},
		"ranges of an endless length":    {"<plot><plot_fix><field name=\"fcst_valid_beg\">\n" + ranges("2020-01-01", "2020-01-02", "9223372036854775807", "60") + "</field></plot_fix></plot>", 3, "date_range_list"},
		"a date that is none":            {"<date_list name=\"d\">\n<start>soon</start><end>2</end><inc>1</inc><format>yyyy</format></date_list><plot><indep name=\"x\"><date_list name=\"d\"/></indep></plot>", 3, "not written"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePlotSpec("p.xml", []byte("<plot_spec>\n"+c.body+"</plot_spec>"))
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Line != c.line || !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %v, want one of line %d that contains %s", err, c.line, c.text)
			}
		})
	}
	if _, err := ParsePlotSpec("p.xml", []byte("<load_spec/>")); err == nil || !strings.Contains(err.Error(), "plot_spec") {
		t.Errorf("another file: %v", err)
	}
}

// TestInflation: METviewer's own spelling, and what is not "true" is off.
func TestInflation(t *testing.T) {
	for body, off := range map[string]bool{
		"": false, "<varianceInflationFactor>true</varianceInflationFactor>": false, "<varianceInflationFactor>false</varianceInflationFactor>": true,
		"<varianceinflationfactor>TRUE</varianceinflationfactor>": true, "<variance_inflation_factor>false</variance_inflation_factor>": true,
	} {
		s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot><template>bar_plot.R_tmpl</template><lines/>"+body+"</plot></plot_spec>"))
		if err != nil || s.Plots[0].NoVIF != off || len(s.Warnings) > 0 {
			t.Errorf("%s: %+v, %v", body, s, err)
		}
	}
}

// TestIgnoredValues: a value that changes what METviewer draws, and not only its appearance, gets a remark.
func TestIgnoredValues(t *testing.T) {
	for body, remark := range map[string]string{
		"<ensss_pts>-1</ensss_pts>": "", "<ensss_pts>4000</ensss_pts>": "each point has a tenth of all pairs",
		"<normalized_histogram>true</normalized_histogram>": "", "<normalized_histogram>false</normalized_histogram>": "shares are drawn, not counts",
	} {
		s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot><template>ens_ss.R_tmpl</template>"+body+"</plot></plot_spec>"))
		if err != nil || len(s.Warnings) > 0 || (len(s.Plots[0].Unsupported) == 1) != (remark != "") || remark != "" && !strings.Contains(s.Plots[0].Unsupported[0].Text, remark) {
			t.Errorf("%s: %+v, %v", body, s, err)
		}
	}
}

// TestBoundsOfEquivalence: a bound that is missing or empty stays METviewer's own, without a remark. A text gets one.
func TestBoundsOfEquivalence(t *testing.T) {
	for _, c := range []struct {
		body      string
		low, high float64 // 0 = METviewer's own
		remarks   int
	}{
		{"", 0, 0, 0},
		{"<eqbound_low>-0.5</eqbound_low><eqbound_high>0.25</eqbound_high>", -0.5, 0.25, 0},
		{"<eqbound_low></eqbound_low><eqbound_high>0.25</eqbound_high>", 0, 0.25, 0},
		{"<eqbound_low>x</eqbound_low><eqbound_high>NaN</eqbound_high>", 0, 0, 2},
		{"<eqbound_low>-Inf</eqbound_low>", 0, 0, 1},
	} {
		s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot><template>series_plot.R_tmpl</template><lines/>"+c.body+"</plot></plot_spec>"))
		if err != nil {
			t.Fatal(err)
		}
		value := func(f *float64) float64 {
			if f == nil {
				return 0
			}
			return *f
		}
		if p := s.Plots[0]; value(p.EqLow) != c.low || value(p.EqHigh) != c.high || len(p.Unsupported) != c.remarks || len(s.Warnings) > 0 {
			t.Errorf("%s: %v to %v, remarks %v, warnings %v; want %v to %v and %d remarks", c.body, value(p.EqLow), value(p.EqHigh), p.Unsupported, s.Warnings, c.low, c.high, c.remarks)
		}
	}
}

// TestBetween reads the words that METviewer's interface writes for a range.
func TestBetween(t *testing.T) {
	s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot><plot_fix><field name=\"fcst_valid_beg\"><set name=\"s\"><val>BETWEEN '2019-01-01 00:00:00' AND '2019-01-02 00:00:00'</val></set></field></plot_fix></plot></plot_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	if v := s.Plots[0].Fix[0].Sets[0]; v.First != "2019-01-01 00:00:00" || v.Last != "2019-01-02 00:00:00" || v.List != nil {
		t.Errorf("%+v", v)
	}
}

// ranges is a list of date ranges.
func ranges(start, end, length, inc string) string {
	return "<date_range_list><range_start>" + start + " 00:00:00</range_start><range_end>" + end + " 00:00:00</range_end><range_length>" + length +
		"</range_length><inc>" + inc + "</inc></date_range_list>"
}

// TestInheritedPlotStaysAsItIs: a plot that inherits values does not give them to a plot that inherits from it "without
// inheritance".
func TestInheritedPlotStaysAsItIs(t *testing.T) {
	field := func(v string) string {
		return "<plot_fix><field name='vx_mask'><val>" + v + "</val></field></plot_fix>"
	}
	s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot name='a'>"+field("A")+"</plot><plot name='b' inherits='a'>"+field("B")+"</plot><plot name='x'>"+
		field("X")+"</plot><plot inherits='x,b'/></plot_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Plots {
		for _, set := range p.Fix[0].Sets {
			got = append(got, set.List...)
		}
		got = append(got, "|")
	}
	if text := strings.Join(got, " "); text != "A | A B | X | X B |" {
		t.Error(text)
	}
}

// TestColumnsOfScorecards: values join a column without those that another field of the same chain has.
func TestColumnsOfScorecards(t *testing.T) {
	field := func(name, value, inner string) string {
		return "<field name='" + name + "'><val>" + value + "</val>" + inner + "</field>"
	}
	s, err := ParsePlotSpec("p.xml", []byte("<plot_spec><plot><template>scorecard</template><rows>"+field("fcst_var", "TMP", "")+"</rows><columns>"+
		field("vx_mask", "A", field("fcst_lead", "6", "")+field("fcst_lev", "Z2", ""))+field("vx_mask", "B", field("fcst_lead", "6", ""))+
		"</columns></plot></plot_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range s.Plots {
		got += fmt.Sprint(p.Fix[0].Sets[0].List, p.Indep.Name, p.Indep.List, " ")
	}
	if want := "[A B]fcst_lead[6] [A]fcst_lev[Z2] "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestManyCurves: the product of a series' values takes no memory beyond a bound.
func TestManyCurves(t *testing.T) {
	text := "<plot_spec><plot><dep><dep1><fcst_var name='TMP'><stat>ME</stat></fcst_var></dep1></dep><series1>"
	for i := range 20 {
		text += fmt.Sprintf("<field name='f%d'>", i) + strings.Repeat("<val>a</val>", 1000) + "</field>"
	}
	s, err := ParsePlotSpec("p.xml", []byte(text+"</series1></plot></plot_spec>"))
	if err != nil || len(s.Plots[0].Deps[0].Styles) != 65536 {
		t.Errorf("%d styles, %v", len(s.Plots[0].Deps[0].Styles), err)
	}
}
