package question

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// typed parses one question of a line type.
func typed(lineType, text string) (*Question, error) {
	qs, err := Parse("q.yaml", []byte("name: x\nline_type: "+lineType+"\n"+text+"\n"))
	if err != nil {
		return nil, err
	}
	return qs[0], nil
}

// TestRefusedDrawings: a drawing that cannot be drawn is an error that names the key.
func TestRefusedDrawings(t *testing.T) {
	const two = "stat: [RMSE, ME]\nseries: [{model: [A, B]}, {vx_mask: [E]}]\n"
	for text, want := range map[string]string{
		"SL1L2|picture: pie":                                    "picture pie is not known; choose one of bar, box",
		"SL1L2|picture: roc":                                    "line_type of a picture roc",
		"SL1L2|method: average":                                 "method of SL1L2",
		"CNT|method: overall":                                   "method of CNT",
		"SL1L2|boot_ci: percent":                                "boot_ci",
		"SL1L2|block: -1":                                       "block is negative; write 1 to draw single records, or omit it",
		"SL1L2|axis: total":                                     "axis",
		"SL1L2|series: [model, valid_day]":                      "series",
		"SL1L2|stat: [RMSE, CSI]":                               "stat of SL1L2",
		"SL1L2|ticks: [{value: a}, {value: b, position: .nan}]": "ticks have a position that is not a number",
		"SL1L2|" + two + "derived: [{op: PRODUCT, a: [0, 0], b: [1, 0]}]":           "derived",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [0, 0], b: [2, 0]}]":              "derived DIFF has a side [2 0], which is not a curve of series",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [0, 1], b: [1, 0]}]":              "has a side [0 1]",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [-1, 0], b: [1, 0]}]":             "has a side [-1 0]",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [0], b: [1, 0]}]":                 "has a side [0]",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [0, 0, 0], b: [1, 0]}]":           "has a side [0 0 0]",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [0, 0], b: [1, 0], stat_b: CSI}]": "derived DIFF of SL1L2",
		"SL1L2|" + two + "derived: [{op: DIFF, a: [0, 0], b: [1, 0], stat_a: MAE}]": "is drawn with MAE, which the question does not draw; add MAE to stat",
		"SL1L2|only: total":                             `only "total" is not a condition on a numeric column of SL1L2; write total>=10`,
		"SL1L2|only: total>>10":                         "is not a condition",
		"SL1L2|only: total!=10":                         "is not a condition",
		"SL1L2|only: total>=ten":                        "is not a condition",
		"SL1L2|only: model=5":                           "is not a condition",
		"SL1L2|only: fabar>5":                           "is not a condition",
		"MPR|only: obs_sid=5":                           `only "obs_sid=5" is not a condition on a numeric column of MPR`,
		"SL1L2|interval: 1":                             "interval is not a confidence from 0 to below 1 with at most 100000 replicates; write 0.95, or {confidence: 0.95, replicates: 300, seed: 1}, or 0 for none",
		"SL1L2|interval: -0.1":                          "interval is not a confidence",
		"SL1L2|interval: .nan":                          "interval is not a confidence",
		"SL1L2|interval: {replicates: -1}":              "interval is not a confidence",
		"SL1L2|interval: {replicates: 100001}":          "interval is not a confidence",
		"SL1L2|method: mean\ninterval: {replicates: 1}": "interval has replicates, but method mean does not resample; omit them, or write method: overall",
		"SL1L2|mean: CSI":                               "mean of SL1L2",
		"SL1L2|columns: [model, modle]":                 `"modle" is no header field, no time and no column of SL1L2`,
		"SL1L2|order_by: [modle]":                       `"modle" is no header field`,
		"SL1L2|series: {valid_hour: [24]}":              `"24" is not a number of hours`,
		"SL1L2|series: {init_hour: [1.5]}":              `"1.5" is not a number of hours`,
		"SL1L2|series: {valid_hour: [-1]}":              `"-1" is not a number of hours`,
		"SL1L2|series: {fcst_lead: [soon]}":             `"soon" is not a number of hours`,
		"SL1L2|series: {fcst_init_beg: [soon]}":         `"soon" is not a time`,
		"SL1L2|series: {model: [[]]}":                   "a list has an empty value",
		"SL1L2|styles: [{pch: \"15\"}, {colour: red}]":  "style colour",
		"SL1L2|where: {model: []}":                      "where model has no value or is given twice",
		"SL1L2X|":                                       `line_type: "SL1L2X" is not known`,
	} {
		lineType, rest, _ := strings.Cut(text, "|")
		if _, err := typed(lineType, rest); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "q.yaml") {
			t.Errorf("%s\n%v, want %s", text, err, want)
		}
	}
}

// TestAcceptedDrawings: the limits themselves, and what a drawing has by default.
func TestAcceptedDrawings(t *testing.T) {
	for text, want := range map[string]string{ // statistics, method, from columns, interval, replicates, seed
		"SL1L2|axis: fcst_lead":                                    "[RMSE] overall false 0.95 300 -",
		"SL1L2|interval: 0.9":                                      "[RMSE] overall false 0.9 300 -",
		"SL1L2|interval: 0":                                        "[RMSE] overall false 0 0 -",
		"SL1L2|interval: 0.999":                                    "[RMSE] overall false 0.999 300 -",
		"SL1L2|interval: {replicates: 10}":                         "[RMSE] overall false 0.95 10 -",
		"SL1L2|interval: {replicates: 0}":                          "[RMSE] overall false 0.95 0 -",
		"SL1L2|interval: {replicates: 100000}":                     "[RMSE] overall false 0.95 100000 -",
		"SL1L2|interval: {confidence: 0.5, seed: 3}":               "[RMSE] overall false 0.5 300 3",
		"SL1L2|interval: {confidence: 0, replicates: 9}":           "[RMSE] overall false 0 0 -",
		"SL1L2|method: mean":                                       "[RMSE] mean false 0 0 -",
		"SL1L2|method: sum\ninterval: 0.9":                         "[RMSE] sum false 0.9 0 -",
		"SL1L2|method: median\ninterval: {replicates: 0, seed: 2}": "[RMSE] median false 0.95 0 2",
		"CNT|axis: fcst_lead":                                      "[RMSE] median true 0 0 -",
		"CNT|method: mean":                                         "[RMSE] mean true 0 0 -",
		"CTC|block: 1":                                             "[CSI] overall false 0.95 300 -",
		"CTC|block: 0\nboot_ci: pivotal":                           "[CSI] overall false 0.95 300 -",
		"PCT|picture: roc":                                         "[] overall false 0.95 300 -",
		"PCT|picture: box":                                         "[PSTD_BRIER] overall false 0.95 300 -",
		"PCT|stat: none":                                           "[] overall false 0.95 300 -",
		"MPR|axis: fcst_lead":                                      "[] overall false 0.95 300 -",
		"SL1L2|stat: [rmse, ME]":                                   "[rmse ME] overall false 0.95 300 -",
		"SL1L2|finished: true":                                     "[RMSE] overall true 0.95 300 -",
	} {
		lineType, rest, _ := strings.Cut(text, "|")
		q, err := typed(lineType, rest)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d, seed := q.Drawing, "-"
		if d.Seed != nil {
			seed = fmt.Sprint(*d.Seed)
		}
		if got := fmt.Sprintln(d.Stats, d.Method, d.FromColumns, d.Confidence, d.Replicates, seed); got != want+"\n" {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if q, err := typed("SL1L2", "where: {model: A}"); err != nil || q.Drawing != nil {
		t.Errorf("a question without a key of the drawing has the default drawing: %+v, %v", q, err)
	}
}

// TestValueConditionsOfYAML: a condition on a column is an operator and a number, with blanks around them.
func TestValueConditionsOfYAML(t *testing.T) {
	q, err := typed("SL1L2", `only: ["total>=10", " fbar < -1.5e3", "obar<=0", "mae > .5 ", "ffbar=2"]`)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(q.Drawing.ValueConditions); got != "[{total >= 10} {fbar < -1500} {obar <= 0} {mae > 0.5} {ffbar = 2}]" {
		t.Error(got)
	}
	same(t, q)
}

// TestSeriesRestrictQuestions: curves of a header field restrict the question to their values, unless the question has a
// condition of its own. Curves of leads and times do not.
func TestSeriesRestrictQuestions(t *testing.T) {
	for text, want := range map[string]string{
		"series: {model: [A, [B, A]]}":                 "[A B] [] []",
		"series: {model: [A]}\nwhere: {model: [A, C]}": "[A C] [] []",
		"series: {fcst_lead: [6], init_hour: [0]}":     "[] [] []",
		"series: model": "[] [] []",
		"series: [{model: A}, {vx_mask: [E, W]}]":           "[A] [E W] []",
		"series: {model: A}\nequalize: {vx_mask: [[E, W]]}": "[A] [] []",
	} {
		q, err := typed("SL1L2", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintln(q.Header[record.Model], q.Header[record.VxMask], q.Lead); got != want+"\n" {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		same(t, q)
	}
}

// TestValuesOfGroups: the values of curves have one form, whatever the user writes.
func TestValuesOfGroups(t *testing.T) {
	for text, want := range map[string]string{
		"fcst_lead: ['06', '7.50', -12]":                "[[6] [7.5] [-12]]",
		"valid_hour: ['06', 23.0, 0]":                   "[[6] [23] [0]]",
		"init_hour: [[0, '06'], 12]":                    "[[0 6] [12]]",
		"fcst_valid_beg: [2019-01-01, 20190101_060000]": "[[2019-01-01T00:00:00Z] [2019-01-01T06:00:00Z]]",
		"fcst_init_beg: 2019010112":                     "[[2019-01-01T12:00:00Z]]",
		"fcst_thresh: ['>=025.40', '06']":               "[[>=025.40] [06]]",
	} {
		q, err := typed("SL1L2", "series: {"+text+"}")
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprint(q.Drawing.Curves[0].Values); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestSelectedColumns: the columns of an answer are times, the header fields that the question names in a condition, its
// axis or its curves, and the numbers of the line type.
func TestSelectedColumns(t *testing.T) {
	const numbers = " total fbar obar fobar ffbar oobar mae"
	for text, want := range map[string]string{
		"SL1L2|stat: RMSE":                               "fcst_valid_beg fcst_init_beg fcst_lead" + numbers,
		"SL1L2|where: {vx_mask: E}":                      "fcst_valid_beg fcst_init_beg fcst_lead vx_mask" + numbers,
		"SL1L2|axis: fcst_lev":                           "fcst_valid_beg fcst_init_beg fcst_lead fcst_lev" + numbers,
		"SL1L2|axis: fcst_lead\nseries: [obtype, model]": "fcst_valid_beg fcst_init_beg fcst_lead model obtype" + numbers,
		"CTS|stat: CSI":                                  "fcst_valid_beg fcst_init_beg fcst_lead total csi csi_ncl csi_ncu csi_bcl csi_bcu",
		"CTS|stat: CSI\nonly: baser>0":                   "fcst_valid_beg fcst_init_beg fcst_lead total baser csi csi_ncl csi_ncu csi_bcl csi_bcu",
		"PHIST|picture: rank_histogram":                  "fcst_valid_beg fcst_init_beg fcst_lead total bin_size n_bin bin_i",
	} {
		lineType, rest, _ := strings.Cut(text, "|")
		q, err := typed(lineType, rest)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := strings.Join(lists.Map(q.Columns, func(c Column) string { return c.Name }), " ")
		order := lists.Map(q.Order, func(c Column) string { return c.Name })
		if got != want || !slices.Equal(order, []string{"fcst_valid_beg", "fcst_init_beg"}) {
			t.Errorf("%s:\n%s in the order %v, want\n%s", text, got, order, want)
		}
	}
	// Only a difference of forecast and observed objects pairs objects, which object_id distinguishes.
	for text, want := range map[string]bool{"stat: AREA_DAA": true, "stat: [AREA_AAA, AREA_DAA]": true, "stat: [AREA_DAA, AREA_AAA]": true, "stat: AREA_AAA": false} {
		q, err := typed("MODE_OBJ_SINGLE", text)
		if err != nil {
			t.Fatal(err)
		}
		has := slices.ContainsFunc(q.Columns, func(c Column) bool { return c.Name == "object_id" })
		if has != want {
			t.Errorf("%s: object_id is selected: %t", text, has)
		}
	}
}

// TestSizeOfYAML: a text of exactly 256 KiB, and brackets or lists at the greatest depth, are still read.
func TestSizeOfYAML(t *testing.T) {
	head := "name: x\nline_type: SL1L2\n# "
	complete := head + strings.Repeat("x", 256<<10-len(head))
	if _, err := Parse("q.yaml", []byte(complete)); err != nil {
		t.Errorf("%d bytes: %v", len(complete), err)
	}
	if _, err := Parse("q.yaml", []byte(complete+"x")); err == nil || !strings.Contains(err.Error(), "is not a question: it is longer than 256 KiB") {
		t.Errorf("%d bytes: %v", len(complete)+1, err)
	}
	for text, want := range map[string]string{
		"a: " + strings.Repeat("[", 16) + strings.Repeat("]", 16):    "",
		"a: " + strings.Repeat("[", 17) + strings.Repeat("]", 17):    "it has more than 16 nested brackets",
		"a: " + strings.Repeat("{b: ", 17) + strings.Repeat("}", 17): "it has more than 16 nested brackets",
		"a: " + strings.Repeat("[[]]", 20):                           "",
		"a: ]]]]" + strings.Repeat("[", 17):                          "it has more than 16 nested brackets",
		strings.Repeat("- ", 16) + "a":                               "",
		strings.Repeat("- ", 17) + "a":                               "it has more than 16 nested lists",
		"a:\n" + strings.Repeat("- \t", 17) + "a":                    "it has more than 16 nested lists",
		strings.Repeat("-", 40):                                      "",
		"a: b\nc: &d e\n":                                            "line 2: anchors and aliases are not supported; write the values out",
		"a: b\n\nc: *d\n":                                            "line 3: anchors and aliases are not supported; write the values out",
		"a: '*d &e'":                                                 "",
	} {
		if got := yamlProblem([]byte(text)); got != want {
			t.Errorf("%.40s: %q, want %q", text, got, want)
		}
	}
}

// TestWeights: a weight below 1 counts as 1, and only a larger one is written.
func TestWeights(t *testing.T) {
	for text, want := range map[string]int{"": 1, "weight: 0": 1, "weight: -3": 1, "weight: 1": 1, "weight: 2": 2} {
		q, err := typed("SL1L2", text)
		if err != nil || q.Weight != want {
			t.Errorf("%s: %+v, %v", text, q, err)
			continue
		}
		if written, err := YAML(q); err != nil || strings.Contains(string(written), "weight") != (want > 1) {
			t.Errorf("%s: %v\n%s", text, err, written)
		}
	}
}

// TestShortestYAML: only what differs from the defaults is written, and each value in its shortest form.
func TestShortestYAML(t *testing.T) {
	for _, text := range []string{
		"name: x\ntitle: \"\"\nline_type: SL1L2\n",
		"name: x\ntitle: t\nline_type: SL1L2\nwhere: {model: A, vx_mask: [E, W]}\nfcst_valid_beg: 2019-01-01..2019-01-02/6h\nfcst_lead: [0-12/6, 13h30m]\n",
		"name: x\ntitle: t\nline_type: SL1L2\nfcst_init_beg: 2019-01-01,2019-01-01T06:00:00Z\n",
		"name: x\ntitle: t\nline_type: SL1L2\ncolumns: [total, model]\norder_by: model\n",
		"name: x\ntitle: t\nline_type: SAL1L2\ncolumns: [model, fcst_lead]\nmean: ANOM_CORR\n",
		"name: x\ntitle: t\nline_type: SL1L2\nstat: RMSE\nseries: [model, vx_mask]\n",
		"name: x\ntitle: t\nline_type: SL1L2\nwhere: {model: [A, B, C]}\nstat: RMSE\nseries: {model: [A, [B, C]]}\nmethod: mean\n",
		"name: x\ntitle: t\nline_type: SL1L2\nstat: none\ninterval: {confidence: 0.9, replicates: 300}\n",
	} {
		qs, err := Parse("q.yaml", []byte(text))
		if err != nil {
			t.Errorf("%s%v", text, err)
			continue
		}
		if written, err := YAML(qs...); err != nil || string(written) != text {
			t.Errorf("%v\n%s, want\n%s", err, written, text)
		}
	}
}
