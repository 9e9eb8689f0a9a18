package question

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// plotted parses a question that PlotXML can write.
func plotted(t *testing.T, text string) *Question {
	t.Helper()
	q, err := parsed("subset: a\ntitle: T\nwhere: {fcst_var: TMP}\nstat: RMSE\naxis: fcst_lead\n" + text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

// TestElementsOfPlotXML: the elements that METviewer's batch mode reads.
func TestElementsOfPlotXML(t *testing.T) {
	seven := uint64(7)
	for _, c := range []struct {
		text   string
		change func(q *Question)
		has    []string
		lacks  []string
	}{
		{"", nil, []string{
			"<?xml version=", "<database>a</database>", "<template>series_plot.R_tmpl</template>", `<fcst_var name="TMP">`, "<stat>RMSE</stat>", `<indep name="fcst_lead"`,
			"<agg_sl1l2>true</agg_sl1l2>", "<boot_repl>300</boot_repl>", "<boot_random_seed>1</boot_random_seed>", "<boot_ci>perc</boot_ci>",
			"<circular_block_bootstrap>true</circular_block_bootstrap>", "<title>T</title>", "<event_equal>false</event_equal>",
			"<varianceinflationfactor>true</varianceinflationfactor>", "<ci_alpha>0.05</ci_alpha>", "<plot_ci>c(&#34;boot&#34;)</plot_ci>",
		}, []string{"plot_stat", "calc_sl1l2", "<field"}},
		{"interval: 0", nil, []string{"<boot_repl>1</boot_repl>"}, []string{"ci_alpha", "plot_ci"}},
		{"interval: {confidence: 0.9, replicates: 5, seed: 3}\nboot_ci: bca\nblock: 1\nno_vif: true\nevent_equal: true", nil, []string{
			"<ci_alpha>0.1</ci_alpha>", "<boot_repl>5</boot_repl>", "<boot_random_seed>3</boot_random_seed>", "<boot_ci>bca</boot_ci>",
			"<circular_block_bootstrap>false</circular_block_bootstrap>", "<varianceinflationfactor>false</varianceinflationfactor>", "<event_equal>true</event_equal>",
		}, nil},
		{"method: mean", nil, []string{"<plot_stat>mean</plot_stat>", "<calc_sl1l2>true</calc_sl1l2>"}, []string{"agg_sl1l2", "boot_repl", "plot_ci"}},
		{"method: mean\nfinished: true", nil, []string{"<plot_stat>mean</plot_stat>"}, []string{"calc_sl1l2", "agg_sl1l2"}},
		{"and_subsets: [b, c]", nil, []string{"<database>a,b,c</database>"}, nil},
		{"picture: box\nx_label: X\ny_label: Y", nil, []string{"box_plot.R_tmpl", "<x_label>X</x_label>", "<y1_label>Y</y1_label>"}, nil},
		{"series: {model: [A, [B, C]]}", nil, []string{`<field name="model">`, "<val>A</val>", "<val>B:C</val>", "<plot_ci>c(&#34;boot&#34;,&#34;boot&#34;)</plot_ci>"}, nil},
		{"fcst_lead: [6, 90m]", nil, []string{"<val>60000</val>", "<val>13000</val>"}, []string{"<field"}},
		{"valid_hour: [6]\nfcst_init_beg: 2019-01-01..2019-01-02", nil, []string{
			`<field name="valid_hour">`, `<set name="valid_hour_0">`, "<val>06</val>", `<field name="fcst_init_beg">`, "<start>2019-01-01 00:00:00</start>", "<end>2019-01-02 00:00:00</end>",
		}, nil},
		{"", func(q *Question) { q.Drawing.Seed = &seven }, []string{"<boot_random_seed>7</boot_random_seed>"}, nil},
	} {
		q := plotted(t, c.text)
		if c.change != nil {
			c.change(q)
		}
		out, err := PlotXML(q, 1)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		text := string(out)
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %s in\n%s", c.text, want, text)
			}
		}
		for _, not := range c.lacks {
			if strings.Contains(text, not) {
				t.Errorf("%s: %s in\n%s", c.text, not, text)
			}
		}
	}
}

// TestOrderOfPlotXML: the conditions of a plot_spec are in the order of their names.
func TestOrderOfPlotXML(t *testing.T) {
	q := plotted(t, "fcst_lead: 6\nvalid_hour: [0]\ninit_hour: [0]\nfcst_valid_beg: 2019-01-01\nfcst_init_beg: 2019-01-02")
	q.Header[record.VxMask], q.Header[record.Model] = []string{"E"}, []string{"A"}
	for range 20 {
		names := ""
		for _, f := range q.conditionsXML() {
			names += f.Name + " "
		}
		if want := "fcst_init_beg fcst_lead fcst_valid_beg init_hour model valid_hour vx_mask "; names != want {
			t.Fatalf("%s, want %s", names, want)
		}
	}
}

// TestUnsupportedByPlotXML: the limits of what a plot_spec can express.
func TestUnsupportedByPlotXML(t *testing.T) {
	for want, changes := range map[string][]func(q *Question){
		"": {
			func(q *Question) { q.Drawing.Block = 1 },
			func(q *Question) { q.Header[record.FcstVar] = []string{"A:B*"} }, // one variable by its name
			func(q *Question) { q.Header[record.FcstLev] = []string{"0,*,*"} },
			func(q *Question) { q.Drawing.Styles = []metviewer.Style{{"legend": "it's"}} },
			func(q *Question) { q.Drawing.EquivalenceBounds = [2]*float64{} },
		},
		"a drawing that depends on its answer": {
			func(q *Question) { q.Drawing = nil }, func(q *Question) { q.Drawing.Axis = "" }, func(q *Question) { q.Drawing.Stats = nil },
			func(q *Question) { q.Drawing.Curves = []Group{{"model", [][]string{{"A"}}}, {Field: "vx_mask"}} },
		},
		"a picture taylor of SL1L2":           {func(q *Question) { q.Drawing.Picture = "taylor" }},
		"differences of curves":               {func(q *Question) { q.Drawing.Baseline = "A" }, func(q *Question) { q.Drawing.Derived = make([]Derived, 1) }},
		"names or positions of values":        {func(q *Question) { q.Drawing.Ticks = make([]metviewer.Tick, 1) }},
		"a bootstrap of blocks of 2 records":  {func(q *Question) { q.Drawing.Block = 2 }},
		"several variables in one curve":      {func(q *Question) { q.Header[record.FcstVar] = []string{"A", "B"} }, func(q *Question) { q.Header[record.FcstVar] = nil }},
		"a subset whose name has a comma":     {func(q *Question) { q.Subset = "a,b" }, func(q *Question) { q.MoreSubsets = []string{"b", "c,d"} }},
		"fcst_lev P*, a value with a colon":   {func(q *Question) { q.Header[record.FcstLev] = []string{"P5", "P*"} }},
		"vx_mask A:B, a value with a colon":   {func(q *Question) { q.Drawing.Curves = []Group{{"vx_mask", [][]string{{"A"}, {"C", "A:B"}}}} }},
		"properties of only some curves":      {func(q *Question) { q.Drawing.Styles = []metviewer.Style{{"legend": `5"`}} }},
		"leads whose codes METviewer reads":   {func(q *Question) { q.Lead = []int32{300} }},
		"conditions on values of what is":     {func(q *Question) { q.Drawing.ValueConditions = make([]ValueCondition, 1) }},
		"the right axis of another question":  {func(q *Question) { q.Drawing.RightAxis = true }},
		"cases that are the same at all plac": {func(q *Question) { q.Drawing.EqualizeAcrossAxis = true }},
	} {
		for i, change := range changes {
			q := plotted(t, "")
			change(q)
			if _, err := PlotXML(q, 1); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), "plot XML cannot express "+want) {
				t.Errorf("%q, %d: %v", want, i, err)
			}
		}
	}
}

// TestValuesOfMETviewer: METviewer's tables have leads as [H]HHMMSS, those of VSDB files as hours; hours have two digits.
func TestValuesOfMETviewer(t *testing.T) {
	for _, c := range []struct{ field, version, value, want string }{
		{"fcst_lead", "", "6", "60000"},
		{"fcst_lead", "V01", "6", "6"},
		{"fcst_lead", "", "1.2625", "11545"},
		{"fcst_lead", "", "-1.5", "-13000"},
		{"valid_hour", "V01", "6", "06"},
		{"init_hour", "", "18", "18"},
		{"fcst_valid_beg", "", "2019-01-01T06:00:00Z", "2019-01-01 06:00:00"},
		{"fcst_init_beg", "V01", "2019-01-01T06:00:00Z", "2019-01-01 06:00:00"},
		{"model", "", "6", "6"},
		{"fcst_lead", "", "soon", "soon"},
	} {
		q, given := &Question{}, []string{c.value}
		if c.version != "" {
			q.Header[record.Version] = []string{c.version}
		}
		if got := q.MetviewerValues(c.field, given); !slices.Equal(got, []string{c.want}) || given[0] != c.value {
			t.Errorf("%+v: %q", c, got)
		}
	}
	q := &Question{}
	q.Header[record.Version] = []string{"V01", "V12"}
	if got := q.MetviewerValues("fcst_lead", []string{"6"}); got[0] != "60000" {
		t.Errorf("records of both: %q", got)
	}
}

// TestFilesOfQuestions: the ending of a name determines how a file is read, and an error has a cure.
func TestFilesOfQuestions(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.yml": "line_type: SL1L2\n", "my file.yaml": "line_type: SL1L2\n", "none.xml": "<plot_spec><plot><template>series_plot.R_tmpl</template></plot></plot_spec>",
		"broken.xml": "<plot_spec>", "two.yaml": "name: a\nline_type: SL1L2\n---\nname: b\nline_type: CTC\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"one.yml": "one", "my file.yaml": "my_file", "two.yaml#b": "b", "one.yml#one": "one"} {
		if q, err := Find(filepath.Join(dir, name)); err != nil || q.Name != want {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	for name, want := range map[string]string{
		"two.yaml":     "contains 2 questions; choose one, such as " + filepath.Join(dir, "two.yaml#a"),
		"two.yaml#c":   `contains no question "c"; choose one of a, b`,
		"absent.yaml":  "cannot be read",
		"none.xml":     "contains no plot that can be turned into a question: line 1: ",
		"broken.xml":   "broken.xml",
		"one.yml#":     "is not known",
		"one.yaml.txt": "is not known",
	} {
		if qs, _, err := FindAll(filepath.Join(dir, name)); name != "two.yaml" && (err == nil || len(qs) > 0) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d questions, %v", name, len(qs), err)
		}
		if _, err := Find(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	if _, notes, err := FromPlotFile(filepath.Join(dir, "none.xml")); err == nil || len(notes) == 0 || !strings.HasSuffix(err.Error(), "; see docs/reference/metviewer.md") {
		t.Errorf("%q, %v", notes, err)
	}
}

// TestNamesOfCases: a case of the experiment or of an archive, all of them, or an error that proposes a name.
func TestNamesOfCases(t *testing.T) {
	own := &Question{Name: "own_case"}
	if qs, _, err := FindAll("own_case", own); err != nil || len(qs) != 1 || qs[0] != own {
		t.Errorf("%v, %v", qs, err)
	}
	if qs, _, err := FindAll(NOAA, own); err != nil || len(qs) != 8 || qs[7] != own {
		t.Errorf("%d questions, %v", len(qs), err)
	}
	for name, want := range map[string]string{"test_33": "did you mean test_", "own_cas": "did you mean own_case?", "weather": "or a .yaml file (`barograph cases` writes one) or a METviewer plot .xml"} {
		if _, _, err := FindAll(name, own); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "did you mean") == strings.Contains(err.Error(), "METviewer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRarestQuestions: a mix keeps the 40 most frequent questions, the most frequent first, and counts the others.
func TestRarestQuestions(t *testing.T) {
	const statement = "SELECT 'ME' stat_name FROM stat_header h, line_data_sl1l2 ld WHERE h.fcst_var = 'TMP' AND h.model = 'M%02d';\n"
	for _, n := range []int{40, 41, 43} {
		text := ""
		for i := range n {
			text += strings.Repeat(fmt.Sprintf(statement, i), 1+i%3)
		}
		qs, notes := readLogText(t, text)
		if len(qs) != 40 || !slices.IsSortedFunc(qs, func(a, b *Question) int { return b.Weight - a.Weight }) || qs[0].Weight != 3 || qs[0].Header[record.Model][0] != "M02" {
			t.Errorf("%d questions of %d, the first %d times", len(qs), n, qs[0].Weight)
		}
		want := ""
		if n > 40 { // each of them occurs once
			want = fmt.Sprintf("%d rarer questions, which occur %d times, were omitted", n-40, n-40)
		}
		if notes != want {
			t.Errorf("%d questions: %q, want %q", n, notes, want)
		}
	}
}

// TestLinesOfLogs: a note names the line on which the statement begins, and a question of a log has a title.
func TestLinesOfLogs(t *testing.T) {
	const from = " FROM stat_header h, line_data_sl1l2 ld\n"
	qs, notes := readLogText(t, "-- a comment\n\nSELECT a"+from+"WHERE h.model LIKE 'x';\nSELECT 'ME' stat_name"+from+
		"WHERE h.model = 'A'\n AND h.vx_mask IN ('E', 'W')\n AND h.fcst_var = 'TMP' AND h.fcst_lev = 'Z2';\n\nSELECT b"+from+";\n")
	if len(qs) != 1 || qs[0].Title != "ME SL1L2 TMP Z2 E, W" || qs[0].Drawing.Stats[0] != "ME" || qs[0].Name != "day" {
		t.Fatalf("%+v, %s", qs, notes)
	}
	const want = "line 3: the condition \"h.model LIKE 'x'\" could not be read\nline 10: no SELECT of line data with a WHERE\n" +
		"2 statements of line data could not be read and were omitted"
	if notes != want {
		t.Errorf("%s, want\n%s", notes, want)
	}
	for stat, want := range map[string]string{"ME": "ME", "CSI": "RMSE", "nosuch": "RMSE"} { // a statistic of another line type
		qs, notes := readLogText(t, "SELECT '"+stat+"' stat_name"+from+"WHERE h.model = 'A' LIMIT 5;\n")
		if len(qs) != 1 || qs[0].Drawing.Stats[0] != want {
			t.Errorf("%s: %+v, %s", stat, qs, notes)
		}
	}
}

// TestEntriesOfLogs: a SELECT at the start of a line begins a statement, unless the text before it continues.
func TestEntriesOfLogs(t *testing.T) {
	const a = "SELECT a FROM stat_header h, line_data_sl1l2 ld WHERE h.model = 'A'"
	const b = "SELECT b FROM stat_header h, line_data_sl1l2 ld WHERE h.model = 'B'"
	long := strings.Repeat(" ", 60)
	for text, want := range map[string]string{
		a + "\n" + b + "\n":                             "A 1, B 1",
		a + "\nUNION ALL\n" + b + "\n":                  "A 1, B 1",
		a + " UNION" + "\n" + b + "\n":                  "A 1, B 1",
		a + "\n" + long + b + "\n":                      "A 1, B 1",
		a + "\n    12 Query\tSET x=1\n AND broken\n":    "A 1",
		a + "\n# Time: 1\n AND broken\n":                "A 1",
		a + "\nSET timestamp=1;\n" + a + "\n":           "A 2",
		"    12 Query\t" + a + "\n    13 Quit\n" + b:    "A 1, B 1",
		"2024-11-22 DEBUG " + a + ";\n2024-11-22 x\n":   "A 1",
		"DEBUG [x] " + a + "\nINFO [y] no\n":            "A 1",
		"copied from line_data_ctc\nquery: " + a + "\n": "A 1",
		a + ";\n  AND broken\n":                         "A 1",
	} {
		qs, notes := readLogText(t, text)
		var got []string
		for _, q := range qs {
			if got = append(got, fmt.Sprint(q.Header[record.Model][0], " ", q.Weight)); q.Type.Name != "SL1L2" {
				t.Errorf("%q: %s", text, q.Type.Name)
			}
		}
		if strings.Join(got, ", ") != want || notes != "" {
			t.Errorf("%q: %q, want %s; %s", text, got, want, notes)
		}
	}
}
