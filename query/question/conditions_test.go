package question

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// parsed parses one question, which has a name and the line type SL1L2.
func parsed(text string) (*Question, error) {
	qs, err := Parse("q.yaml", []byte("name: x\nline_type: SL1L2\n"+text+"\n"))
	if err != nil {
		return nil, err
	}
	return qs[0], nil
}

// A condition that the question cannot contain is an error. Without the error the answer would have more records than
// the user requested.
func TestRefusedConditions(t *testing.T) {
	for text, problem := range map[string]string{
		"fcst_valid_beg: 2019-01-01..2019-01-02/500ms":                                "is not a duration of whole seconds",
		"fcst_valid_beg: 2019-01-01..2019-01-02/-500ms":                               "is not a duration of whole seconds",
		"fcst_valid_beg: 2019-01-01..2019-01-02/0h":                                   "is not a duration of whole seconds",
		"fcst_valid_beg: {step: 6h}":                                                  "neither a list nor a range",
		"fcst_valid_beg: {list: ['2019-01-01'], step: 6h}":                            "neither a list nor a range",
		"fcst_valid_beg: {list: ['2019-01-01'], first: 1970-01-01, last: 1970-01-01}": "neither a list nor a range",
		"fcst_valid_beg: 2019-01-01T00:00:00.5Z":                                      "is not a time",
		"fcst_lead: 500ms":                                                            "is not a lead",
		"fcst_lead: 1h0.5s":                                                           "is not a lead",
		"where: {model: GFS, MODEL: ECM}":                                             "given twice",
		"where: {fcst_lev: [P500, null]}":                                             "has an empty value",
		"series: {model: [GFS, null]}":                                                "has an empty value",
		"series: {model: [[GFS, null]]}":                                              "has an empty value",
		"mean: RMSE":                                                                  "names no column to group by",
		"only: total>=NaN":                                                            "is not a condition",
	} {
		if _, err := parsed(text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: error %v, want %q", text, err, problem)
		}
	}
}

// Each value of a condition counts once, in every source of a question. A flavour that derives ids would otherwise
// return a record twice.
func TestDuplicateValues(t *testing.T) {
	q, err := parsed("where: {model: [GFS, ECM, GFS]}\nfcst_valid_beg: {list: ['2019-01-02', '2019-01-01', '2019-01-02']}\nvalid_hour: [0, 0, 6]\n" +
		"order_by: [model, fcst_valid_beg, model]")
	if err != nil {
		t.Fatal(err)
	}
	v, err := FromURLQuery(url.Values{
		"line_type": {"SL1L2"}, "model": {"GFS", "ECM", "GFS"}, "fcst_valid_beg": {"2019-01-02,2019-01-01,2019-01-02"}, "valid_hour": {"6,0,0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Order) != 2 {
		t.Errorf("order %v", q.Order)
	}
	for _, q := range []*Question{q, v} {
		if !slices.Equal(q.Header[record.Model], []string{"GFS", "ECM"}) || !slices.Equal(q.Valid.List, []int64{1546300800, 1546387200}) ||
			!slices.Equal(q.TimeFilter.ValidHour, []int{0, 6}) {
			t.Errorf("%q %v %v", q.Header[record.Model], q.Valid, q.TimeFilter.ValidHour)
		}
	}
}

// The zero value of Times means all times, so the range that consists of the first second of 1970 must not become it.
func TestRangeOfOneSecond(t *testing.T) {
	q, err := parsed("fcst_valid_beg: 1970-01-01..1970-01-01\nfcst_init_beg: 1970-01-01..1970-01-01/6h")
	if err != nil {
		t.Fatal(err)
	}
	for _, times := range []Times{q.Valid, q.TimeFilter.Init} {
		if times.IsAll() || !times.Contains(0) || times.Contains(1) {
			t.Errorf("%+v", times)
		}
	}
	same(t, q)
}

// A field of series without values has a curve for each value that occurs.
func TestSeriesWithoutValues(t *testing.T) {
	for _, text := range []string{"series: {model: , vx_mask: [G2]}", "series: {model: null, vx_mask: [G2]}", "series: {model: [], vx_mask: [G2]}"} {
		q, err := parsed(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if q.Header[record.Model] != nil || len(q.Drawing.Curves) != 2 || len(q.Drawing.Curves[0].Values) != 0 {
			t.Errorf("%s: models %q, curves %v", text, q.Header[record.Model], q.Drawing.Curves)
		}
	}
}

// YAML reads 0100 and 1.50 as numbers; a value keeps the text that the user wrote.
func TestValuesKeepTheirText(t *testing.T) {
	q, err := parsed("series: {model: [0100, 1.50, 08, 1e3, True, .inf], fcst_lev: 0}\nwhere: {vx_mask: [0100, 1.50, 08, 1e3, True, .inf]}\n" +
		"fcst_valid_beg: {first: 20190101_060000, last: 20190102_000000}\nfcst_init_beg: 20190101_000000")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0100", "1.50", "08", "1e3", "True", ".inf"}
	if !slices.Equal(q.Header[record.VxMask], want) || !slices.Equal(q.Header[record.Model], want) || q.Header[record.FcstLev][0] != "0" {
		t.Errorf("where %q, series %q and %q", q.Header[record.VxMask], q.Header[record.Model], q.Header[record.FcstLev])
	}
	if q.Valid.First != 1546322400 || q.Valid.Last != 1546387200 || !slices.Equal(q.TimeFilter.Init.List, []int64{1546300800}) {
		t.Errorf("valid %v, init %v", q.Valid, q.TimeFilter.Init)
	}
}

// A changed condition keeps only curves of its own values. GFS and gfs are two values.
func TestAdaptComparesValuesExactly(t *testing.T) {
	q, err := parsed("series: {model: [gfs, ecm]}")
	if err != nil {
		t.Fatal(err)
	}
	before := *q
	q.Header[record.Model] = []string{"GFS"}
	q.Adapt(&before)
	if got := q.Drawing.Curves[0].Values; len(got) != 1 || got[0][0] != "GFS" {
		t.Errorf("curves of %v, want one of GFS", got)
	}
}

// Two conditions of a plot on the same hours that exclude each other omit the plot, as does a range without hours.
func TestContradictingHours(t *testing.T) {
	for cond, problem := range map[string]string{
		"HOUR(ld.fcst_valid_beg) = 6 AND HOUR(ld.fcst_valid_beg) >= 12":             "contradicts another condition",
		"HOUR(ld.fcst_valid_beg) BETWEEN 12 AND 18 AND HOUR(ld.fcst_valid_beg) < 6": "contradicts another condition",
		"HOUR(ld.fcst_valid_beg) BETWEEN 18 AND 12":                                 "valid_hour: ends before it begins",
	} {
		qs, notes := plotOf(t, rmse+byLead+"<plot_cond>"+strings.ReplaceAll(cond, "<", "&lt;")+"</plot_cond>")
		if len(qs) != 0 || !strings.Contains(strings.Join(notes, "\n"), problem) {
			t.Errorf("%s: %d questions, %v", cond, len(qs), notes)
		}
	}
}

// A range of hours is within a day.
func TestRangesOfHours(t *testing.T) {
	for limits, want := range map[string]string{
		"0 AND 2": "[0 1 2]", "'06' AND '06'": "[6]", "22 AND 23": "[22 23]", "22 AND 24": "", "-1 AND 2": "", "-99999999999999999999 AND 2": "", "'a' AND 5": "", "5 AND 'a'": "",
	} {
		qs, notes := plotOf(t, rmse+byLead+"<plot_cond>HOUR(ld.fcst_valid_beg) BETWEEN "+limits+"</plot_cond>")
		switch {
		case want == "" && (len(qs) != 0 || !strings.Contains(strings.Join(notes, "\n"), "is not an hour from 00 to 23")),
			want != "" && (len(qs) != 1 || fmt.Sprint(qs[0].TimeFilter.ValidHour) != want):
			t.Errorf("%s: %d questions, %v", limits, len(qs), notes)
		}
	}
}

// plot_cond is SQL: a colon combines no values there, a value in a list twice counts once, and a time has colons.
func TestColonsInPlotCond(t *testing.T) {
	for cond, want := range map[string]string{
		"h.model = 'A:B'":                                                 "[A:B] []",
		"h.model IN ('A:B', 'C', 'A:B')":                                  "[A:B C] []",
		"(h.model = 'A:B' OR h.model='C')":                                "[A:B C] []",
		"UNIX_TIMESTAMP(ld.fcst_valid_beg) = 1546300800":                  "[] [1546300800]",
		"UNIX_TIMESTAMP(ld.fcst_valid_beg) IN (1546300800, '1546322400')": "[] [1546300800 1546322400]",
	} {
		qs, notes := plotOf(t, rmse+byLead+"<plot_cond>"+cond+"</plot_cond>")
		if len(qs) != 1 || fmt.Sprint(qs[0].Header[record.Model], qs[0].Valid.List) != want {
			t.Errorf("%s: %+v, %v", cond, qs, notes)
		}
	}
}

// An asterisk in SQL is no pattern, and the range from an empty text has more values than its last one. Without an error,
// the answer would have more records than requested.
func TestUnsupportedValuesOfSQL(t *testing.T) {
	for _, cond := range []string{
		"h.model = '*'", "h.model IN ('*')", "h.fcst_var = 'PROB(TMP>*)'", "h.vx_mask BETWEEN '' AND 'M'", "h.vx_mask BETWEEN '' AND ''",
		"ld.fcst_lead BETWEEN '' AND '240000'", "ld.fcst_valid_beg BETWEEN '' AND '2019-01-01'", "HOUR(ld.fcst_init_beg) BETWEEN '' AND '6'",
	} {
		if qs, notes := plotOf(t, rmse+byLead+"<plot_cond>"+cond+"</plot_cond>"); len(qs) != 0 || !strings.Contains(strings.Join(notes, "\n"), "is not supported") {
			t.Errorf("plot_cond %s: %d questions, %v", cond, len(qs), notes)
		}
		if qs, notes := readLogText(t, "SELECT total FROM stat_header h, line_data_sl1l2 ld WHERE "+cond+";\n"); len(qs) != 0 || !strings.Contains(notes, "could not be read") {
			t.Errorf("%s in a log: %d questions, %s", cond, len(qs), notes)
		}
	}
}

// A pattern of variables does not replace an earlier condition on the variable.
func TestPatternAfterVariable(t *testing.T) {
	qs, notes := plotOf(t, rmse+byLead+`<plot_fix><field name="fcst_var"><set><val>PROB(*)</val></set></field></plot_fix>`)
	if len(qs) != 0 || !strings.Contains(strings.Join(notes, "\n"), "contradicts") {
		t.Errorf("%d questions, %v", len(qs), notes)
	}
}

// A comparison without a lower limit also accepts times before 1970.
func TestOpenRangesOfTimes(t *testing.T) {
	qs, notes := plotOf(t, rmse+byLead+"<plot_cond>ld.fcst_valid_beg &lt; '1980-01-01'</plot_cond>")
	if len(qs) != 1 {
		t.Fatal(notes)
	}
	if year1950 := int64(-631152000); !qs[0].Valid.Contains(year1950) || qs[0].Valid.Contains(315532800) {
		t.Errorf("%+v", qs[0].Valid)
	}
}

// readLogText reads a log with this text.
func readLogText(t *testing.T, text string) (qs []*Question, notes string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "day.sql")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	qs, all, err := ReadMix(file)
	if err != nil {
		return nil, err.Error()
	}
	return qs, strings.Join(all, "\n")
}

// A condition of a log is read, or the statement counts as unread. Only the conditions that METviewer adds to every
// statement are skipped.
func TestConditionsOfLogs(t *testing.T) {
	const statement = "SELECT ld.fbar FROM stat_header h, line_data_sl1l2 ld WHERE "
	for cond, isRead := range map[string]bool{
		"h.model = 'GFS' AND ld.stat_header_id = h.stat_header_id AND ld.rmse != -9999 AND ld.mae <> -9999": true,
		"h.model = 'GFS' AND h.stat_header_id=ld.stat_header_id and 1=1":                                    true,
		"h.model != 'GFS'":                            false,
		"h.model <> 'GFS'":                            false,
		"h.model = 'GFS' AND h.vx_mask != 'FULL'":     false,
		"ld.stat_header_id = 5 AND h.model = 'GFS'":   false,
		"h.model = 'GFS' AND h.stat_header_id IN (5)": false,
		"h.fcst_thresh = '!=5' AND h.model = 'GFS'":   true,
		"h.model IN ('GFS', 'GFS')":                   true,
	} {
		qs, notes := readLogText(t, statement+cond+";\n")
		switch {
		case !isRead && (len(qs) != 0 || !strings.Contains(notes, "could not be read")):
			t.Errorf("%s: %d questions, %s", cond, len(qs), notes)
		case isRead && (len(qs) != 1 || !slices.Equal(qs[0].Header[record.Model], []string{"GFS"})):
			t.Errorf("%s: %d questions, %s", cond, len(qs), notes)
		case strings.Contains(cond, "thresh") && !slices.Equal(qs[0].Header[record.FcstThresh], []string{"!=5"}):
			t.Errorf("%s: %q", cond, qs[0].Header[record.FcstThresh])
		}
	}
}

// A statement of more than 1 MiB is not read, because its last conditions would be missing. One that follows another
// without a semicolon is not a part of it.
func TestStatementsOfLogs(t *testing.T) {
	const statement = "SELECT ld.fbar FROM stat_header h, line_data_sl1l2 ld\nWHERE h.model = 'GFS'\n"
	qs, notes := readLogText(t, "SELECT ld.fbar FROM stat_header h, line_data_sl1l2 ld WHERE h.model = 'ECM';\n"+
		statement+strings.Repeat("AND 1 = 1\n", 110_000)+"AND h.vx_mask = 'FULL'\n;\n")
	if len(qs) != 1 || !strings.Contains(notes, "longer than 1 MiB") {
		t.Errorf("%d questions, %s", len(qs), notes)
	}
	one := strings.ReplaceAll(statement, "\n", " ") + "ORDER BY ld.fcst_lead\n"
	qs, notes = readLogText(t, one+strings.ReplaceAll(one, "GFS", "ECM")+one)
	if len(qs) != 2 || qs[0].Weight != 2 {
		t.Errorf("%d questions, %s", len(qs), notes)
	}
}

// A semicolon outside of quotes separates statements that are on one line. The line type is that of the table, not a text
// in a condition.
func TestStatementsOnOneLine(t *testing.T) {
	const a, b = "SELECT a FROM stat_header h, line_data_sl1l2 ld WHERE h.model = 'A'", "SELECT b FROM stat_header h, line_data_sal1l2 ld WHERE h.model = 'B'"
	for text, want := range map[string]string{
		a + "; " + b + ";":                                "SL1L2 [A], SAL1L2 [B]",
		a + ";" + b + " UNION " + a + ";" + a:             "SL1L2 [A], SAL1L2 [B]",
		"USE mv; " + a + "; SET x = 1":                    "SL1L2 [A]",
		strings.Replace(a, "'A'", "'A; B'", 1):            "SL1L2 [A; B]",
		a + " AND h.vx_mask = \"C;D\"; " + b:              "SL1L2 [A], SAL1L2 [B]",
		strings.Replace(a, "'A'", "'x line_data_ctc'", 1): "SL1L2 [x line_data_ctc]",
	} {
		qs, notes := readLogText(t, text+"\n")
		var got []string
		for _, q := range qs {
			got = append(got, fmt.Sprint(q.Type.Name, " ", q.Header[record.Model]))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %s; %s", text, got, want, notes)
		}
	}
}

// Questions are the same if each condition has the same values: ['A B'] is not ['A', 'B'].
func TestDifferentQuestionsOfLogs(t *testing.T) {
	const statement = "SELECT ld.fbar FROM stat_header h, line_data_sl1l2 ld WHERE h.model IN "
	if qs, notes := readLogText(t, statement+"('A B');\n"+statement+"('A', 'B');\n"); len(qs) != 2 {
		t.Errorf("%d questions, %s", len(qs), notes)
	}
}

// Leads before the initialization are codes with a sign, as design.LeadHMS writes them.
func TestNegativeLeadsOfMETviewer(t *testing.T) {
	q := &Question{}
	if got := q.MetviewerValues("fcst_lead", []string{"-6", "-0.5", "1.5", "0", "108"}); !slices.Equal(got, []string{"-60000", "-3000", "13000", "0", "1080000"}) {
		t.Errorf("%q", got)
	}
}

// PlotXML writes no value that METviewer would read as several values.
func TestColonInFixedValue(t *testing.T) {
	q, err := parsed("where: {model: GFS, fcst_var: TMP, vx_mask: 'A:B'}\nstat: RMSE\naxis: fcst_lead\nseries: {model: GFS}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PlotXML(q, 1); err == nil || !strings.Contains(err.Error(), "a value with a colon") {
		t.Error(err)
	}
}

// Values of series are compared with those of the answer as texts, so each value has one form.
func TestFormsOfSeriesValues(t *testing.T) {
	q, err := parsed("series: {init_hour: [00, 06, 12], fcst_lead: [06, 24.0, 0.5, -6], fcst_valid_beg: [2019-01-01, 2019010206, '2019-01-03T00:00:00Z']}")
	if err != nil {
		t.Fatal(err)
	}
	const want = "[{init_hour [[0] [6] [12]]} {fcst_lead [[6] [24] [0.5] [-6]]} " +
		"{fcst_valid_beg [[2019-01-01T00:00:00Z] [2019-01-02T06:00:00Z] [2019-01-03T00:00:00Z]]}]"
	if got := fmt.Sprint(q.Drawing.Curves); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	same(t, q)
	for text, problem := range map[string]string{
		"init_hour: [24]": "is not a number of hours", "valid_hour: [-1]": "is not a number of hours", "init_hour: [0.5]": "is not a number of hours",
		"fcst_lead: [soon]": "is not a number of hours", "fcst_init_beg: [soon]": "is not a time",
	} {
		if _, err := parsed("series: {" + text + "}"); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
