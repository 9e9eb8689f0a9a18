package curve_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
)

// shown is a picture with an interval, a value that the records do not define, labels and a derived curve.
func shown(axis run.Axis) *run.VerificationPlot {
	nan := math.NaN()
	return &run.VerificationPlot{Stat: "RMSE", Axis: axis, LabelAxis: run.ByThresh, Series: []run.Series{
		{Name: "gfs", X: []float64{24, 36000}, Y: run.Values{1.23456785, nan}, Low: run.Values{1, nan}, High: run.Values{2.5, nan}, Records: []int{31, 0}, Labels: []string{">5", ">10"}},
		{Name: "ecm", Derivation: "DIFF(a-b)", X: []float64{24}, Y: run.Values{-0.5}, Low: run.Values{nan}, High: run.Values{nan}, Records: []int{1}},
	}}
}

// TestText: a table has METviewer's seven decimals, the unit of the axis, and NA for what is not defined.
func TestText(t *testing.T) {
	for axis, head := range map[run.Axis]string{run.ByLead: "fcst_lead (h)", run.ByLevel: "fcst_lev (hPa)", run.ByTime: "fcst_valid_beg", run.ByInit: "fcst_init_beg"} {
		at := []string{"24", "36000"}
		if axis == run.ByTime || axis == run.ByInit {
			at = []string{"1970-01-01T00:00:24Z", "1970-01-01T10:00:00Z"}
		}
		var b bytes.Buffer
		if err := curve.Text(&b, shown(axis)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(b.String()) {
			cells := slices.DeleteFunc(strings.Split(strings.TrimSpace(line), "  "), func(s string) bool { return strings.TrimSpace(s) == "" })
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			got = append(got, strings.Join(cells, "|"))
		}
		want := []string{
			"series|" + head + "|N|RMSE|interval",
			"gfs >5|" + at[0] + "|31|1.2345679|1.0000000 … 2.5000000",
			"gfs >10|" + at[1] + "|0|NA|NA",
			"DIFF(a-b)|" + at[0] + "|1|-0.5000000|NA",
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestRows: a row has its statistic, curve, position, count, value, interval and label.
func TestRows(t *testing.T) {
	for axis, kind := range map[run.Axis]question.Kind{run.ByLead: question.Number, run.ByTime: question.Time, run.ByInit: question.Time} {
		second := shown(axis)
		second.Stat, second.Series = "ME", second.Series[1:]
		a := curve.Rows([]*run.VerificationPlot{shown(axis), second})
		var names []string
		for _, c := range a.Columns {
			names = append(names, c.Name)
		}
		if a.Rows != 4 || a.Columns[2].Kind != kind || strings.Join(names, " ") != "statistic series "+string(axis)+" n value low high fcst_thresh" {
			t.Errorf("%d rows of %q", a.Rows, names)
		}
		var got []string
		for i := range a.Rows {
			v := a.Vectors
			got = append(got, fmt.Sprint(v[0].Text[i], v[1].Text[i], v[2].Num[i], v[2].Seconds[i], v[3].Num[i], v[4].Num[i], v[5].Num[i], v[6].Num[i], v[7].Text[i]))
		}
		want := []string{
			fmt.Sprint("RMSE", "gfs", 24., 24, 31., 1.23456785, 1., 2.5, ">5"),
			fmt.Sprint("RMSE", "gfs", 36000., 36000, 0., math.NaN(), math.NaN(), math.NaN(), ">10"),
			fmt.Sprint("RMSE", "DIFF(a-b)", 24., 24, 1., -0.5, math.NaN(), math.NaN(), ""),
			fmt.Sprint("ME", "DIFF(a-b)", 24., 24, 1., -0.5, math.NaN(), math.NaN(), ""),
		}
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
