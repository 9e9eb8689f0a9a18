package curve_test

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/stat"
)

// metviewerText is the data of a question's picture in METviewer's columns.
func metviewerText(t *testing.T, q *question.Question, rows []row, name string) (string, error) {
	t.Helper()
	q.Header[record.FcstVar] = []string{"TMP"}
	d, err := curve.ComputePoints(q, answerOf(t, q, rows), name, 1)
	if err != nil {
		t.Fatal(err)
	}
	table, err := d.Metviewer()
	if err != nil {
		return "", err
	}
	var text string
	for _, row := range table {
		text += strings.Join(row, "\t") + "\n"
	}
	return text, nil
}

// tabbed joins lines; a tab is written as |.
func tabbed(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "|", "\t")
}

// TestMetviewerColumns compares the data of pictures with METviewer's files: of aggregated sums those of METcalcpy 2.1, as
// METplotpy's test/taylor_diagram/plot_dlwr_sample.data has them; of finished and of computed statistics those of METviewer's SQL
// and of METcalcpy's sum_stat, as METplotpy's test/line/line.data has them. The values were
// computed by hand.
func TestMetviewerColumns(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Derived = []question.Derived{{Operation: stat.Diff, A: []int{0}, B: []int{1}}, {Operation: stat.Ratio, A: []int{2}, B: []int{1}, StatA: "RMSE", StatB: "MSE"}}
	q.Drawing.Curves[0].Values = [][]string{{"B"}, {"A"}, {"A", "B"}}
	two := drawn("overall")
	two.Drawing.Axis, two.Drawing.Curves = "valid_hour", []question.Group{{Field: "model", Values: [][]string{{"B"}, {"A"}}}, {Field: "fcst_lead", Values: [][]string{{"6"}}}}
	two.Drawing.Derived = []question.Derived{{Operation: stat.Diff, A: []int{0, 0}, B: []int{1, 0}}}
	less := drawn("overall") // minus without series: the columns whose values differ make the curves
	less.Drawing.Curves, less.Drawing.Baseline = nil, "B"
	group := drawn("median")
	group.Drawing.Curves[0].Values = [][]string{{"A", "B"}}
	for _, c := range []struct {
		name string
		q    *question.Question
		want string
	}{
		{"group of records", group, tabbed( // each with its own value
			"model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|stat_name|stat_value|stat_ncl|stat_ncu|stat_bcl|stat_bcu",
			"A|1970-01-01 00:00:00|1970-01-01 06:00:00|60000|TMP|RMSE|1.0000000|NA|NA|NA|NA",
			"B|1970-01-01 00:00:00|1970-01-01 06:00:00|60000|TMP|RMSE|2.0000000|NA|NA|NA|NA",
			"A|1970-01-01 06:00:00|1970-01-01 12:00:00|60000|TMP|RMSE|5.0000000|NA|NA|NA|NA",
			"B|1970-01-01 06:00:00|1970-01-01 12:00:00|60000|TMP|RMSE|4.0000000|NA|NA|NA|NA",
			"A|1970-01-01 12:00:00|1970-01-01 18:00:00|60000|TMP|RMSE|9.0000000|NA|NA|NA|NA")},
		{"sums", q, tabbed(
			"model|fcst_lead|stat_name|fcst_var|stat_value|stat_btcl|stat_btcu|nstats",
			"B|60000|RMSE|TMP|3.1622777|NA|NA|2",
			"A|60000|RMSE|TMP|5.6035703|NA|NA|3",
			"A:B|60000|RMSE|TMP|5.0284903|NA|NA|5",
			"DIFF(B TMP RMSE-A TMP RMSE)|60000|RMSE|TMP|-1.1966213|NA|NA|0",
			"RATIO(Group_y1_1 TMP RMSE/A TMP MSE)|60000|RMSE,MSE|TMP|0.1784577|NA|NA|0")},
		{"minus without series", less, tabbed(
			"model|fcst_lead|stat_name|fcst_var|stat_value|stat_btcl|stat_btcu|nstats",
			"DIFF(A TMP RMSE-B TMP RMSE)|60000|RMSE|TMP|1.1966213|NA|NA|0")},
		{"two fields", two, tabbed( // METcalcpy writes the name into the field in which the curves differ
			"model|fcst_lead|valid_hour|stat_name|fcst_var|stat_value|stat_btcl|stat_btcu|nstats",
			"B|60000|6|RMSE|TMP|2.0000000|NA|NA|1",
			"B|60000|12|RMSE|TMP|4.0000000|NA|NA|1",
			"A|60000|6|RMSE|TMP|1.0000000|NA|NA|1",
			"A|60000|12|RMSE|TMP|5.0000000|NA|NA|1",
			"A|60000|18|RMSE|TMP|9.0000000|NA|NA|1",
			"DIFF(B 60000 TMP RMSE-A 60000 TMP RMSE)|60000|6|RMSE|TMP|1.0000000|NA|NA|0",
			"DIFF(B 60000 TMP RMSE-A 60000 TMP RMSE)|60000|12|RMSE|TMP|-1.0000000|NA|NA|0")},
		{"each record", drawn("median"), tabbed( // a record of two groups has one row, with its own value
			"model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|stat_name|stat_value|stat_ncl|stat_ncu|stat_bcl|stat_bcu",
			"B|1970-01-01 00:00:00|1970-01-01 06:00:00|60000|TMP|RMSE|2.0000000|NA|NA|NA|NA",
			"B|1970-01-01 06:00:00|1970-01-01 12:00:00|60000|TMP|RMSE|4.0000000|NA|NA|NA|NA",
			"A|1970-01-01 00:00:00|1970-01-01 06:00:00|60000|TMP|RMSE|1.0000000|NA|NA|NA|NA",
			"A|1970-01-01 06:00:00|1970-01-01 12:00:00|60000|TMP|RMSE|5.0000000|NA|NA|NA|NA",
			"A|1970-01-01 12:00:00|1970-01-01 18:00:00|60000|TMP|RMSE|9.0000000|NA|NA|NA|NA")},
	} {
		got, err := metviewerText(t, c.q, theRows, "RMSE")
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
}

// TestMetviewerPictures: pictures of a line type have the rows of METviewer's own data files: METcalcpy's statistics of all
// records of a curve, each repeating value of each record, or each record.
func TestMetviewerPictures(t *testing.T) {
	pct := []line{{[]float64{5, 3}, []float64{0, 1, 2, 0.5, 0, 2, 1}}, {[]float64{5, 3}, []float64{0, 1, 2, 0.5, 2, 0, 1}}}
	sums := line{[]float64{10, 0, 0, 2, 4, 1, 1}, nil}
	for _, c := range []struct {
		picture, axis, method, lineType string
		lines                           []line
		want                            string // without times
	}{
		{"taylor", "", "overall", "SL1L2", []line{sums, sums}, "model|stat_name|fcst_var|stat_value|stat_btcl|stat_btcu|nstats gfs|FBAR|NA|0.0000000|NA|NA|2 gfs|FSTDEV|NA|2.0519567|NA|NA|2 gfs|OBAR|NA|0.0000000|NA|NA|2 gfs|OSTDEV|NA|1.0259784|NA|NA|2 gfs|PR_CORR|NA|1.0000000|NA|NA|2 gfs|RMSE|NA|1.0000000|NA|NA|2"},
		{"performance", "fcst_lead", "overall", "CTC", []line{{[]float64{100, 20, 10, 20, 50, 0.5}, nil}}, "model|fcst_lead|stat_name|fcst_var|stat_value|stat_btcl|stat_btcu|nstats gfs|240000|FAR|NA|0.3333333|NA|NA|1 gfs|240000|PODY|NA|0.5000000|NA|NA|1"},
		{"roc", "", "overall", "PCT", pct, "model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|bin_size|i_value|thresh_i|oy_i|on_i gfs|||240000|NA|NA|1|0|1|2 gfs|||240000|NA|NA|2|0.5|0|2 gfs|||240000|NA|NA|1|0|1|2 gfs|||240000|NA|NA|2|0.5|2|0"},
		{"rank_histogram", "", "overall", "PHIST", []line{{[]float64{4, 0.5, 2}, []float64{3, 1}}}, "model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|bin_size|i_value|bin_i gfs|||240000|NA|0.5|1|3 gfs|||240000|NA|0.5|2|1"},
		{"revision", "fcst_valid_beg", "median", "SL1L2", []line{sums, sums}, "model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|stat_name|stat_value|stat_ncl|stat_ncu|stat_bcl|stat_bcu gfs|||240000|NA|MAE|1.0000000|NA|NA|NA|NA gfs|||240000|NA|MAE|1.0000000|NA|NA|NA|NA"},
		{"eclv", "", "median", "ECLV", []line{{[]float64{4, 0.3, 0, 2}, []float64{0.1, 0.2, 0.5, 0.6}}}, "model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|bin_size|i_value|x_pnt_i|y_pnt_i gfs|||240000|NA|NA|1|0.1|0.2 gfs|||240000|NA|NA|2|0.5|0.6"},
		{"", "fcst_lead", "overall", "VL1L2", []line{{[]float64{10, 0, 0, 0, 0, 0, 9, 4}, nil}}, "model|fcst_lead|stat_name|fcst_var|stat_value|stat_btcl|stat_btcu|nstats gfs|240000|VL1L2_BIAS|NA|1.0000000|NA|NA|1"},
		{"reliability", "", "overall", "PCT", pct, ""},
	} {
		name := "MAE"
		if c.picture == "" { // the table of statistics has BIAS of VL1L2, METviewer VL1L2_BIAS
			name = "VL1L2_BIAS"
		}
		q, a := asked(t, c.lineType, &question.Drawing{Picture: c.picture, Axis: c.axis, Method: c.method, Stats: []string{name}}, c.lines...)
		d, err := curve.ComputePoints(q, a, name, 1)
		if err != nil {
			t.Fatal(c.picture, err)
		}
		table, err := d.Metviewer()
		var got []string
		for _, row := range table {
			got = append(got, regexp.MustCompile(`\d+-\d+-\d+ \d+:\d+:\d+`).ReplaceAllString(strings.Join(row, "|"), ""))
		}
		if strings.Join(got, " ") != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.picture, err, strings.Join(got, " "), c.want)
		}
	}
}

// TestMetviewerLimits: limits of BCRMSE are roots of those of bcmse, as the statistic is. A negative limit has no root.
func TestMetviewerLimits(t *testing.T) {
	lt, _ := record.TypeByName("CNT")
	var l line
	for column, value := range map[string]float64{"total": 10, "bcmse": 4, "bcmse_bcl": -1, "bcmse_bcu": 9, "me": -1, "me_ncl": -2, "me_ncu": -0.5} {
		c, ok := lt.Column(column)
		if !ok {
			t.Fatal(column)
		}
		for len(l.fixed) <= c.Slot {
			l.fixed = append(l.fixed, math.NaN())
		}
		l.fixed[c.Slot] = value
	}
	for name, want := range map[string]string{"BCRMSE": "2|NA|NA|NA|3", "ME": "-1|-2|-0.5|NA|NA"} {
		q, a := asked(t, "CNT", &question.Drawing{Axis: "fcst_lead", Method: "median", FromColumns: true, Stats: []string{name}}, l)
		d, err := curve.ComputePoints(q, a, name, 1)
		if err != nil {
			t.Fatal(err)
		}
		table, err := d.Metviewer()
		if err != nil || len(table) != 2 || !strings.HasSuffix(strings.Join(table[1], "|"), "|"+name+"|"+want) {
			t.Errorf("%v, %v, want %s", table, err, want)
		}
	}
}

// TestMetviewerLeads: data of VSDB files have their leads in hours, as METviewer's tables have.
func TestMetviewerLeads(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Curves = []question.Group{{Field: "fcst_lead", Values: [][]string{{"6"}}}}
	q.Drawing.Axis = "valid_hour"
	for version, want := range map[string]string{"V01": "6\t6\tRMSE\tTMP\t", "V12.0.0": "60000\t6\tRMSE\tTMP\t"} {
		q.Header[record.Version] = []string{version}
		got, err := metviewerText(t, q, theRows[:1], "RMSE")
		if lines := strings.Split(got, "\n"); err != nil || len(lines) < 2 || !strings.HasPrefix(lines[1], want) || !slices.Equal(strings.Split(lines[0], "\t")[:3], []string{"fcst_lead", "valid_hour", "stat_name"}) {
			t.Errorf("%s: %v\n%s", version, err, got)
		}
	}
}
