package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// metPlot writes a METviewer plot of curves by model and returns its path. dep1 and the other
// arguments are inserted into a fixed template with indep and title.
func metPlot(t *testing.T, dep1, series, more, lists string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.xml")
	text := fmt.Sprintf(`<plot_spec><plot><template>series_plot.R_tmpl</template><dep><dep1>%s</dep1></dep>
<series1>%s</series1><indep name="fcst_lead"/>%s<tmpl><title>Our title</title>%s</tmpl></plot></plot_spec>`, dep1, series, more, lists)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// metLine is a MET line of SL1L2: model, lead in hours, day of May 2022, variable, level, ME, MSE.
type metLine struct {
	model    string
	lead     int
	day      int
	variable string
	level    string
	me, mse  float64
}

// metArchive loads these lines and returns the archive's URL.
func metArchive(t *testing.T, lines ...metLine) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n")
	for _, l := range lines {
		at := fmt.Sprintf("202205%02d_000000", l.day)
		fmt.Fprintf(&b, "V12.0.0 %s NA %02d0000 %s %s 000000 %s %s %s K %s %s K %s ANLYS FULL NEAREST 1 NA NA NA NA SL1L2 100 %g 0 0 %g 0 NA\n",
			l.model, l.lead, at, at, at, at, l.variable, l.level, l.variable, l.level, l.me, l.mse)
	}
	if err := os.WriteFile(filepath.Join(dir, "grid_stat.stat"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "sqlite:" + filepath.Join(dir, "archive.db")
	must(t, "load", dir, "--engine", url)
	return url
}

const (
	tmpTwo   = `<fcst_var name="TMP"><stat>ME</stat><stat>RMSE</stat></fcst_var>`
	modelA   = `<field name="model"><val>A</val></field>`
	sumsOf   = `<agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>`
	twoLines = `<listDiffSeries1>list(c("A TMP RMSE","A TMP ME","RATIO"))</listDiffSeries1>`
)

// TestRatioOfTwoStatistics: a derived curve uses the statistics that it names, and is drawn once.
// If it cannot be computed, the error names it.
func TestRatioOfTwoStatistics(t *testing.T) {
	url := metArchive(t, metLine{"A", 12, 1, "TMP", "P850", 4, 25}, metLine{"A", 24, 1, "TMP", "P850", 2, 36})
	out := must(t, "ask", metPlot(t, tmpTwo, modelA, sumsOf, twoLines), "--engine", url, "--plot", filepath.Join(t.TempDir(), "r.svg"), "--format", "csv")
	const name = "RMSE,RATIO(A RMSE/A ME),"
	if strings.Count(out, "RATIO") != 2 || !strings.Contains(out, name+"12,1,1.25,") || !strings.Contains(out, name+"24,1,3,") {
		t.Errorf("want 5/4 and 6/2, once:\n%s", out)
	}
	absent := strings.Replace(twoLines, "A TMP ME", "A TMP CSI", 1)
	status, out, stderr := barograph(t, "ask", metPlot(t, tmpTwo, modelA, sumsOf, absent), "--engine", url, "--stat", "RMSE")
	if status != 2 || out != "" || !strings.Contains(stderr, `RATIO(A TMP RMSE/A TMP CSI): "A TMP CSI" is not a curve of this axis`) {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
	_, out, stderr = barograph(t, "ask", metPlot(t, tmpTwo, modelA, sumsOf, twoLines), "--engine", url, "--stat", "ME")
	if strings.Contains(out, "RATIO") || !strings.Contains(stderr, "RATIO(A RMSE/A ME) is not drawn, because --stat names ME") {
		t.Errorf("%s%s", out, stderr)
	}
}

// svgTexts returns the title, the subtitle, the legend and the note of a picture, from the texts of
// the SVG.
func svgTexts(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?s)<(title|desc|text)[^>]*>([^<]*)</`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, html.UnescapeString(m[2]))
	}
	return strings.Join(out, "\n")
}

// twoModelLines returns lines of two models, A and B, two variables and two levels; B lacks the second day.
func twoModelLines() (lines []metLine) {
	for _, model := range []string{"A", "B"} {
		for _, variable := range []string{"HGT", "TMP"} {
			for _, level := range []string{"P500", "P850"} {
				for day := 1; day <= 3; day++ {
					for lead := 12; lead <= 24; lead += 12 {
						if model == "A" || day != 2 {
							lines = append(lines, metLine{model, lead, day, variable, level, float64(day), float64(day * lead)})
						}
					}
				}
			}
		}
	}
	return lines
}

// TestOverrides: after each override, the texts of a picture and the names of its files describe
// the computed values.
func TestOverrides(t *testing.T) {
	url := metArchive(t, twoModelLines()...)
	dir := t.TempDir()
	yaml := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(yaml, []byte(`
name: height
title: Height at 500 hPa
line_type: SL1L2
where: {model: A, fcst_var: HGT, fcst_lev: P500}
stat: RMSE
axis: fcst_lead
y_label: error of the height (m)
`), 0o600); err != nil {
		t.Fatal(err)
	}
	plot := metPlot(t, `<fcst_var name="HGT"><stat>RMSE</stat></fcst_var>`, `<field name="model"><val>A</val><val>B</val></field>`, sumsOf+`<plot_fix><field name="fcst_lev"><set name="l"><val>P500</val></set></field></plot_fix>`, `<listDiffSeries1>list(c("A HGT RMSE","B HGT RMSE"))</listDiffSeries1>`)
	equal := metPlot(t, `<fcst_var name="HGT"><stat>RMSE</stat></fcst_var>`, `<field name="model"><val>A</val><val>B</val></field>`, sumsOf+`<event_equal>true</event_equal><plot_fix><field name="fcst_lev"><set name="l"><val>P500</val></set></field></plot_fix>`, "")
	two := metPlot(t, `<fcst_var name="HGT"><stat>RMSE</stat></fcst_var><fcst_var name="TMP"><stat>RMSE</stat></fcst_var>`, modelA, sumsOf, "")
	for _, c := range []struct {
		name    string
		args    []string
		file    string // the written file, as a suffix of the name of --plot
		status  int
		message []string
		without []string
		csv     []string
	}{
		{"none", []string{yaml}, "", 0, []string{"Height at 500 hPa", "height · RMSE", "error of the height (m)", "3 days, 2 leads"}, []string{"Height at 500 hPa;"}, []string{"RMSE,A,12,3,"}},
		{
			"where",
			[]string{yaml, "--where", "fcst_var=TMP", "--where", "fcst_lev=P850"},
			"", 0,
			[]string{"RMSE of TMP at P850 over FULL, A, 2022-05-01 to 2022-05-03", "height with fcst_var=TMP, fcst_lev=P850 · RMSE", "root mean square error"},
			[]string{"Height", "error of the height"},
			[]string{"RMSE,A,12,3,"},
		},
		{"all models", []string{yaml, "--where", "model="}, "", 0, []string{"RMSE of HGT at P500 over FULL, A, B,", "A\n", "B\n"}, []string{"Height"}, []string{"RMSE,A,12,3,", "RMSE,B,12,2,"}},
		{"valid", []string{yaml, "--valid", "2022050200"}, "", 0, []string{"RMSE of HGT at P500 over FULL, A, 2022-05-02\n", "1 day", "error of the height (m)"}, []string{"Height at"}, []string{"RMSE,A,12,1,"}},
		{"lead", []string{yaml, "--lead", "24"}, "", 0, []string{"RMSE of HGT at P500 over FULL, A, 2022-05-01 to 2022-05-03", "height with fcst_lead=24 · RMSE", "1 lead"}, nil, []string{"RMSE,A,24,3,"}},
		{"stat", []string{yaml, "--stat", "ME"}, "", 0, []string{"ME of HGT at P500 over FULL, A, 2022-05-01 to 2022-05-03", "height · ME", "mean error"}, []string{"RMSE", "error of the height"}, []string{"ME,A,12,3,2"}},
		{"two stats", []string{yaml, "--stat", "ME,MAE"}, "-MAE", 0, []string{"MAE of HGT at P500", "height · MAE"}, []string{"RMSE"}, []string{"ME,A,12,3,2", "MAE,A,12,3,NA"}},
		{"bars", []string{yaml, "--picture", "bar"}, "", 0, []string{"Height at 500 hPa", "error of the height (m)"}, nil, []string{"RMSE,A,12,3,"}},
		{"picture", []string{yaml, "--picture", "taylor"}, "", 0, []string{"Taylor diagram of HGT at P500 over FULL, A,", "not drawn, because PR_CORR is undefined: A 12, A 24"}, []string{"Height", "RMSE"}, []string{"statistic,series,PR_CORR,n,"}}, // the observations have no spread
		{"scorecard", []string{yaml, "--where", "fcst_var=TMP", "--scorecard", "A,B"}, "", 0, []string{"Scorecard of A against B"}, []string{"Height", "HGT"}, []string{"RMSE,DIFF(A TMP P500 FULL-B TMP P500 FULL),12,2,"}},
		{"plot", []string{plot}, "", 0, []string{"Our title\n"}, nil, []string{"RMSE,A,12,3,", "RMSE,DIFF(A-B),12,2,"}},
		{"another curve", []string{plot, "--where", "model=A"}, "", 4, []string{"RMSE of HGT at P500 over FULL, A,", "omitted: DIFF of curves, because the question no longer includes model B"}, []string{"Our title"}, []string{"RMSE,A,12,3,"}},
		{"a curve without records", []string{plot, "--where", "model=A,C"}, "", 4, []string{"omitted: DIFF of curves, because the question no longer includes model B, model C: no record"}, nil, []string{"RMSE,A,12,3,"}},
		{"equal events", []string{equal}, "", 0, []string{"2 days, 2 leads", "event equalization omitted 2 of 10 rows"}, []string{"3 days"}, []string{"RMSE,A,12,2,", "RMSE,B,12,2,"}},
		{"files", []string{two}, "-p-TMP_SL1L2", 0, []string{"Our title"}, nil, []string{"RMSE,A,12,6,"}},
		{"files of another variable", []string{two, "--where", "fcst_var=TMP"}, "-TMP_SL1L2", 0, []string{"RMSE of TMP at P500, P850"}, []string{"HGT"}, []string{"RMSE,A,12,6,"}},
	} {
		svg := filepath.Join(dir, strings.ReplaceAll(c.name, " ", "_")+".svg")
		status, out, stderr := barograph(t, append([]string{"ask", "--engine", url, "--plot", svg, "--format", "csv"}, c.args...)...)
		file := strings.TrimSuffix(svg, ".svg") + c.file + ".svg"
		if status != c.status {
			t.Errorf("%s: status %d\n%s", c.name, status, stderr)
			continue
		}
		texts := svgTexts(t, file)
		for _, want := range c.message {
			if !strings.Contains(texts+"\n", want) && !strings.Contains(strings.ReplaceAll(texts, "\n", " "), want) {
				t.Errorf("%s: the picture lacks %q:\n%s", c.name, want, texts)
			}
		}
		for _, no := range c.without {
			if strings.Contains(texts, no) {
				t.Errorf("%s: the picture contains %q:\n%s", c.name, no, texts)
			}
		}
		for _, want := range c.csv {
			if !strings.Contains(out, want) {
				t.Errorf("%s: CSV lacks %q:\n%s", c.name, want, out)
			}
		}
	}
}

// TestPartsThatAreLeftOut: ask draws the other parts, names the omitted parts in the note and on
// stderr, and exits with status 4. If nothing matches, it prints one line in every format.
func TestPartsThatAreLeftOut(t *testing.T) {
	url := metArchive(t, twoModelLines()...)
	plot := metPlot(t, `<fcst_var name="HGT"><stat>RMSE</stat></fcst_var><fcst_var name="TMP"><stat>GSS</stat></fcst_var>`, modelA, sumsOf, "")
	svg := filepath.Join(t.TempDir(), "x.svg")
	status, out, stderr := barograph(t, "ask", plot, "--engine", url, "--plot", svg)
	const lacks = "line 1: dep1/TMP, stat GSS: is not computed from SL1L2"
	if texts := strings.ReplaceAll(svgTexts(t, svg), "\n", " "); status != 4 || !strings.Contains(texts, "omitted: "+lacks) || !strings.Contains(stderr, "lacks 1 item: "+lacks) || !strings.Contains(out, "A ") {
		t.Errorf("status %d\n%s\n%s\n%s", status, texts, stderr, out)
	}
	for _, format := range []string{"table", "csv", "json", "parquet"} {
		args := []string{"ask", plot, "--engine", url, "--where", "model=Z", "--format", format}
		if format == "parquet" {
			args = append(args, "--out", filepath.Join(t.TempDir(), "x.parquet"))
		}
		for _, more := range [][]string{nil, {"--stat", "RMSE"}} {
			status, out, stderr := barograph(t, append(args, more...)...)
			if status != 4 || out != "" || strings.Count(stderr, "\n") != strings.Count(stderr, "p.xml: ")+1 || !strings.Contains(stderr, "no record matches in subset archive: no SL1L2 has model Z; the archive has A, B") {
				t.Errorf("%s %v: status %d, %q\n%s", format, more, status, out, stderr)
			}
		}
	}
}

// TestAbsentValuesAreNamed: a value, a lead or a valid time that a request lists and no record has is named, and the status
// reports that the output is incomplete; also if rows are printed, and not the statistics of a plot.
func TestAbsentValuesAreNamed(t *testing.T) {
	url := metArchive(t, twoModelLines()...)
	const variable = `<fcst_var name="TMP"><stat>RMSE</stat></fcst_var>`
	models := metPlot(t, variable, `<field name="model"><val>A</val><val>Q</val></field>`, sumsOf, "")
	parts := metPlot(t, `<fcst_var name="HGT"><stat>RMSE</stat></fcst_var><fcst_var name="TMP"><stat>GSS</stat></fcst_var>`, modelA, sumsOf, "")
	yaml := func(more string) string {
		return put(t, t.TempDir(), "q.yaml", "name: q\nline_type: SL1L2\nwhere: {fcst_var: TMP, fcst_lev: P500, model: [A, Q]}\nstat: [RMSE]\naxis: fcst_lead\n"+more)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{models}, "no SL1L2 has model Q; the archive has A, B"},
		{[]string{models, "--format", "csv", "--stat", "RMSE"}, "model Q: no record"},
		{[]string{parts, "--format", "json"}, "stat GSS: is not computed from SL1L2"},
		{[]string{yaml("")}, "no SL1L2 has model Q"},
		{[]string{yaml("series: [model]\n"), "--format", "csv", "--stat", "RMSE"}, "model Q: no record"},
		{[]string{yaml("series: [model]\n"), "--where", "model=A,B", "--lead", "12,36"}, "no record has fcst_lead 36"},
		{[]string{yaml(""), "--where", "model=A", "--valid", "2022050100,2022050900"}, "no record has fcst_valid_beg 2022-05-09T00:00:00Z"},
	} {
		status, _, stderr := barograph(t, append([]string{"ask", "--engine", url}, c.args...)...)
		if status != fault.Incomplete || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "the output lacks 1 item: ") {
			t.Errorf("%q: status %d, want %q\n%s", c.args, status, c.want, stderr)
		}
	}
}

// TestCaseListsMoreValues: a case of the program may list values that an archive does not have; only those of the user are
// missing from the output.
func TestCaseListsMoreValues(t *testing.T) {
	dir := t.TempDir()
	must(t, "synth", "vsdb", "--since", "2019-01-01", "--models", "gfs", "--stattypes", "anom", "--out", filepath.Join(dir, "day"))
	url := "sqlite:" + filepath.Join(dir, "a.db")
	must(t, "load", filepath.Join(dir, "day"), "--engine", url)
	must(t, "ask", "test_4", "--engine", url)
	must(t, "ask", "test_4", "--engine", url, "--plot", filepath.Join(dir, "x.svg"))
	if status, _, stderr := barograph(t, "ask", "test_4", "--engine", url, "--where", "fcst_lev=P500,P1"); status != fault.Incomplete || !strings.Contains(stderr, "no SAL1L2 has fcst_lev P1;") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}

// TestEquivalencePlot: an ETB is METviewer's picture of the test: pooled over the leads, with its
// intervals, the zero line and the bounds.
func TestEquivalencePlot(t *testing.T) {
	url := metArchive(t, twoModelLines()...)
	svg := filepath.Join(t.TempDir(), "etb.svg")
	lists := strings.Replace(twoLines, `"A TMP RMSE","A TMP ME","RATIO"`, `"A TMP RMSE","A TMP ME","ETB"`, 1)
	plot := metPlot(t, tmpTwo, modelA, sumsOf+`<eqbound_low>-0.5</eqbound_low><eqbound_high>0.25</eqbound_high>`, lists)
	out := must(t, "ask", plot, "--engine", url, "--plot", svg, "--format", "csv")
	texts := strings.ReplaceAll(svgTexts(t, strings.TrimSuffix(svg, ".svg")+"-RMSE.svg"), "\n", " ")
	for _, want := range []string{"1 ETB(A RMSE and A ME)", "no difference", "lower bound of ETB(A RMSE and A ME)", "upper bound of ETB(A RMSE and A ME)", "over all places of the axis", "different and not equivalent"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the picture lacks %q:\n%s", want, texts)
		}
	}
	if !strings.Contains(out, "RMSE,ETB(A RMSE and A ME),1,12,") {
		t.Errorf("want one test of 12 cases:\n%s", out)
	}
}

// TestMetviewerFormat: ask writes the data of a plot in METviewer's columns, all statistics of a question in one table,
// and refuses the format for a picture whose data METviewer writes differently.
func TestMetviewerFormat(t *testing.T) {
	url := metArchive(t, metLine{"A", 12, 1, "TMP", "P850", 4, 25}, metLine{"A", 24, 1, "TMP", "P850", 2, 36})
	got := must(t, "ask", metPlot(t, tmpTwo, modelA, sumsOf, twoLines), "--engine", url, "--format", "metviewer")
	want := strings.ReplaceAll(`model fcst_lead stat_name fcst_var stat_value stat_btcl stat_btcu nstats
A 120000 ME TMP 4.0000000 NA NA 1
A 240000 ME TMP 2.0000000 NA NA 1
A 120000 RMSE TMP 5.0000000 NA NA 1
A 240000 RMSE TMP 6.0000000 NA NA 1
RATIO(A_TMP_RMSE/A_TMP_ME) 120000 RMSE,ME TMP 1.2500000 NA NA 0
RATIO(A_TMP_RMSE/A_TMP_ME) 240000 RMSE,ME TMP 3.0000000 NA NA 0
`, " ", "\t")
	if want = strings.ReplaceAll(want, "_TMP_", " TMP "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	tested := metPlot(t, tmpTwo, modelA, sumsOf, strings.Replace(twoLines, `"RATIO"`, `"ETB"`, 1))
	status, out, stderr := barograph(t, "ask", tested, "--engine", url, "--format", "metviewer")
	if status != 2 || out != "" || !strings.Contains(stderr, "--format metviewer has no columns for the data of") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
}

// TestStatisticsOnOneAxis: the statistics of one axis are in one picture, with one curve for each statistic and model;
// those of --stat have a picture each. The listed values do not change.
func TestStatisticsOnOneAxis(t *testing.T) {
	url := metArchive(t, twoModelLines()...)
	dir := t.TempDir()
	both := `<field name="model"><val>A</val><val>B</val></field>`
	lists := strings.Replace(twoLines, `"A TMP ME","RATIO"`, `"B TMP RMSE","DIFF"),c("A TMP RMSE","A TMP ME","RATIO"`, 1)
	plot, svg := metPlot(t, tmpTwo, both, sumsOf, lists), filepath.Join(dir, "one.svg")
	out := must(t, "ask", plot, "--engine", url, "--plot", svg, "--format", "csv")
	texts := svgTexts(t, svg)
	for _, want := range []string{"\nME A\n", "\nME B\n", "\nRMSE A\n", "\nRMSE B\n", "\nRMSE DIFF(A-B) (right)\n", "\nRATIO(A RMSE/A ME) (right)\n", "\ncurves derived from others\n", "Our title\n", " · ME, RMSE\n"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the picture lacks %q:\n%s", want, texts)
		}
	}
	if !strings.Contains(out, "\nME,A,12,6,2,") || !strings.Contains(out, "\nRMSE,DIFF(A-B),12,") {
		t.Errorf("the statistics are not listed separately:\n%s", out)
	}
	must(t, "ask", plot, "--engine", url, "--plot", filepath.Join(dir, "two.svg"), "--stat", "ME,RMSE")
	if texts := svgTexts(t, filepath.Join(dir, "two-RMSE.svg")); strings.Contains(texts, "ME A") {
		t.Errorf("--stat joins statistics:\n%s", texts)
	}
	must(t, "ask", plot, "--engine", url, "--plot", filepath.Join(dir, "changed.svg"), "--where", "fcst_lev=P850")
	if texts := svgTexts(t, filepath.Join(dir, "changed.svg")); !strings.Contains(texts, "ME, RMSE of TMP at P850") {
		t.Errorf("the derived title names one statistic:\n%s", texts)
	}
	text, err := os.ReadFile(plot)
	if err != nil {
		t.Fatal(err)
	}
	right := strings.Replace(string(text), "</dep1>", `</dep1><dep2><fcst_var name="TMP"><stat>MSE</stat><stat>FBAR</stat></fcst_var></dep2>`, 1)
	right = strings.Replace(right, "</series1>", "</series1><series2>"+both+"</series2>", 1)
	if err := os.WriteFile(plot, []byte(right), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "ask", plot, "--engine", url, "--plot", filepath.Join(dir, "axes.svg"))
	files, err := filepath.Glob(filepath.Join(dir, "axes*.svg"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	texts = svgTexts(t, files[0])
	for _, want := range []string{"\nME A\n", "\nRMSE B\n", "\nMSE A (right)\n", "\nFBAR B (right)\n", "\nMSE, FBAR\n"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the picture of both axes lacks %q:\n%s", want, texts)
		}
	}
}

// TestStylesOfAPlot: the lists of a plot with a value for each curve are drawn for the curves of all statistics and the
// derived ones, in METviewer's order. A hidden curve is named and still listed.
func TestStylesOfAPlot(t *testing.T) {
	url, svg := metArchive(t, twoModelLines()...), filepath.Join(t.TempDir(), "x.svg")
	lists := strings.Replace(twoLines, `"A TMP ME","RATIO"`, `"B TMP RMSE","DIFF"`, 1)
	styles := `<plot_disp>c(TRUE,FALSE,TRUE,TRUE,TRUE)</plot_disp><order_series>c(4,2,3,1,5)</order_series>
<colors>c("#ff0000FF","#00ff00FF","#123456FF","#abcdefFF","#fedcbaFF")</colors><pch>c(20,20,15,17,3)</pch>
<lty>c(1,1,2,0,1)</lty><lwd>c(1,1,3,1,5)</lwd><legend>c("first","","third, a","","")</legend>`
	plot := metPlot(t, tmpTwo, `<field name="model"><val>A</val><val>B</val></field>`, sumsOf+styles, lists)
	out := must(t, "ask", plot, "--engine", url, "--plot", svg, "--format", "csv")
	texts := svgTexts(t, svg)
	for _, want := range []string{"\nRMSE B\nthird, a\nfirst\nRMSE DIFF(A-B) (right)\n", "plot_disp hides ME B"} {
		if !strings.Contains(strings.ReplaceAll(texts, "plot_disp\n", "plot_disp "), want) {
			t.Errorf("the picture lacks %q:\n%s", want, texts)
		}
	}
	text, err := os.ReadFile(svg)
	if err != nil {
		t.Fatal(err)
	}
	for want, n := range map[string]int{ // a line of 1 px has no stroke-width; B has a symbol at two leads and in the legend
		"stroke:#FF0000\"": 2, "#00FF00": 0, "stroke:#123456;stroke-width:3;stroke-dasharray:12,12": 2,
		"stroke:#FEDCBA;stroke-width:5\"": 2, "fill:#ABCDEF": 3,
	} {
		if got := strings.Count(string(text), want); got != n {
			t.Errorf("%q occurs %d times, want %d", want, got, n)
		}
	}
	if !strings.Contains(out, "\nME,B,12,4,") || !strings.Contains(out, "\nRMSE,DIFF(A-B),12,") {
		t.Errorf("the values changed:\n%s", out)
	}
}

// TestUnitsOfAPlot: the label of an axis has the unit of the file.
func TestUnitsOfAPlot(t *testing.T) {
	url, svg := metArchive(t, twoModelLines()...), filepath.Join(t.TempDir(), "x.svg")
	for stat, want := range map[string]string{"RMSE": "root mean square error (K)", "MSE": "MSE (K²)", "ME": "mean error (K)"} {
		must(t, "ask", metPlot(t, `<fcst_var name="TMP"><stat>`+stat+`</stat></fcst_var>`, modelA, sumsOf, ""), "--engine", url, "--plot", svg)
		if texts := svgTexts(t, svg); !strings.Contains(texts+"\n", "\n"+want+"\n") {
			t.Errorf("no label %q:\n%s", want, texts)
		}
	}
}
