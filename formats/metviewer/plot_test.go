package metviewer

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestPlotSpecGolden holds what is read of a plot_spec, inheritance filled in,
// against a golden file.
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
		says string
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
		"a date that is none":            {"<date_list name=\"d\">\n<start>soon</start><end>2</end><inc>1</inc><format>yyyy</format></date_list><plot><indep name=\"x\"><date_list name=\"d\"/></indep></plot>", 3, "not written"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParsePlotSpec("p.xml", []byte("<plot_spec>\n"+c.body+"</plot_spec>"))
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Line != c.line || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one of line %d that says %s", err, c.line, c.says)
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
