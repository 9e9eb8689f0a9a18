package curve_test

import (
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

// TestMetviewerColumns compares the data of pictures with METviewer's files: of aggregated sums those of METcalcpy, as
// METplotpy's test/line/line_groups.data has them; of finished and of computed statistics those of METviewer's SQL, as
// METplotpy's test/line/line.data and METcalcpy's test/data/agg_stat_and_boot_data.data have them. The values were
// computed by hand.
func TestMetviewerColumns(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Derived = []question.Derived{{Operation: stat.Diff, A: []int{0}, B: []int{1}}, {Operation: stat.Ratio, A: []int{2}, B: []int{1}, StatA: "RMSE", StatB: "MSE"}}
	q.Drawing.Curves[0].Values = [][]string{{"B"}, {"A"}, {"A", "B"}}
	for _, c := range []struct {
		name string
		q    *question.Question
		want string
	}{
		{"sums", q, tabbed(
			"fcst_var|model|fcst_lead|stat_name|stat_value|stat_bcl|stat_bcu|nstats",
			"TMP|B|60000|RMSE|3.1622777|NA|NA|2",
			"TMP|A|60000|RMSE|5.6035703|NA|NA|3",
			"TMP|A:B|60000|RMSE|5.0284903|NA|NA|5",
			"TMP|DIFF(B TMP RMSE-A TMP RMSE)|60000|RMSE|-1.1966213|NA|NA|0",
			"TMP|RATIO(Group_y1_1 TMP RMSE/A TMP MSE)|60000|RMSE,MSE|0.1784577|NA|NA|0")},
		{"each record", drawn("median"), tabbed(
			"model|fcst_init_beg|fcst_valid_beg|fcst_lead|fcst_var|stat_name|stat_value|total|fbar|obar|fobar|ffbar|oobar|mae",
			"B|1970-01-01 00:00:00|1970-01-01 06:00:00|60000|TMP|RMSE|2.0000000|1|0|0|0|4|0|0",
			"B|1970-01-01 06:00:00|1970-01-01 12:00:00|60000|TMP|RMSE|4.0000000|1|0|0|0|16|0|0")},
	} {
		got, err := metviewerText(t, c.q, theRows, "RMSE")
		if err != nil || c.name == "sums" && got != c.want || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
		}
	}
	if _, err := metviewerText(t, &question.Question{Name: "q", Drawing: &question.Drawing{Picture: "taylor", Method: "overall"}}, theRows, "taylor"); err == nil || !strings.Contains(err.Error(), "--format csv") {
		t.Errorf("a Taylor diagram: %v", err)
	}
}

// TestMetviewerLeads: data of VSDB files have their leads in hours, as METviewer's tables have.
func TestMetviewerLeads(t *testing.T) {
	q := drawn("overall")
	q.Drawing.Curves = []question.Group{{Field: "fcst_lead", Values: [][]string{{"6"}}}}
	q.Drawing.Axis = "valid_hour"
	for version, want := range map[string]string{"V01": "TMP\t6\t6\tRMSE\t", "V12.0.0": "TMP\t60000\t6\tRMSE\t"} {
		q.Header[record.Version] = []string{version}
		got, err := metviewerText(t, q, theRows[:1], "RMSE")
		if lines := strings.Split(got, "\n"); err != nil || len(lines) < 2 || !strings.HasPrefix(lines[1], want) || !slices.Equal(strings.Split(lines[0], "\t")[:3], []string{"fcst_var", "fcst_lead", "valid_hour"}) {
			t.Errorf("%s: %v\n%s", version, err, got)
		}
	}
}
