package question

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
)

// TestQuery: a query string gives the same question again; those of the seven cases have fewer than 600 characters.
func TestQuery(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range cases {
		text := URLQuery(q).Encode()
		v, err := url.ParseQuery(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromURLQuery(v)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(text) > 600 || fmt.Sprint(got.Header) != fmt.Sprint(q.Header) || !reflect.DeepEqual(got.Lead, q.Lead) || !reflect.DeepEqual(got.Valid, q.Valid) {
			t.Errorf("%s, %d characters: %s", q.Name, len(text), text)
		}
	}
	const drawn = "axis=valid_hour&equal_places=true&event_equal=true&fcst_init_beg=2024-01-01T00%3A00%3A00Z..2024-01-02T00%3A00%3A00Z&fcst_lead=6%2C1h30m0s&init_hour=0%2C12&line_type=SL1L2&minus=A&model=A&model=B&series=model%2Cvx_mask&stat=ME&valid_hour=6"
	for _, text := range []string{drawn, "line_type=PCT&picture=reliability", "line_type=RHIST&picture=rank_histogram&series=model", "line_type=SL1L2&picture=box&stat=ME"} {
		v, _ := url.ParseQuery(text)
		q, err := FromURLQuery(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := URLQuery(q).Encode(); got != strings.Replace(text, "6%2C1h30m0s", "1h30m%2C6", 1) {
			t.Error(got)
		}
		again, err := YAML(q)
		if err != nil || q.Drawing.Picture != "" && !strings.Contains(string(again), "picture: "+q.Drawing.Picture+"\n") || q.Drawing.ShowsLineType() && strings.Contains(string(again), "stat:") {
			t.Errorf("%v\n%s", err, again)
		}
	}
	for text, says := range map[string]string{
		"": "line_type", "line_type=X": "not known", "line_type=SL1L2&picture=roc": "PCT", "line_type=PCT&picture=pie": "rank_histogram", "line_type=SL1L2&colour=red": "colour", "line_type=SL1L2&line_type=CTC": "twice", "line_type=SL1L2&valid_hour=25": "25", "line_type=SL1L2&valid_hour=x": "numbers", "line_type=SL1L2&fcst_valid_beg=x": "time",
	} {
		v, _ := url.ParseQuery(text)
		if _, err := FromURLQuery(v); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestPicturesAsPlots: METviewer's plot XML of a picture gives the same question again.
func TestPicturesAsPlots(t *testing.T) {
	for name, types := range LineTypesOfPictures() {
		if types == nil {
			types = []string{"SL1L2"}
		}
		for _, lineType := range types {
			v := url.Values{"line_type": {lineType}, "fcst_var": {"T"}, "fcst_lead": {"24"}, "picture": {name}}
			q, err := FromURLQuery(v)
			if err != nil {
				t.Fatal(err)
			}
			if d := q.Drawing; !d.ShowsLineType() {
				d.Stats, d.Axis = []string{"RMSE"}, "fcst_lead"
			} else if name == "roc" && lineType == "CTC" {
				d.Axis = "fcst_thresh"
			}
			text, err := PlotXML(q, 1)
			if name == "taylor" || name == "scorecard" || lineType == "NBRCTS" {
				if err == nil || !strings.Contains(err.Error(), "cannot express a picture "+name) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			spec, err := metviewer.ParsePlotSpec("x.xml", text)
			if err != nil {
				t.Fatal(err)
			}
			got, notes := FromPlots(spec)
			if len(got) != 1 || len(notes) > 0 {
				t.Errorf("%s of %s: %d questions, %v\n%s", name, lineType, len(got), notes, text)
				continue
			}
			want := URLQuery(q)
			back := URLQuery(got[0])
			if got[0].Drawing.ShowsLineType() {
				back.Del("stat") // which METviewer's template names
			}
			if back.Encode() != want.Encode() {
				t.Errorf("%s of %s: %s, was %s\n%s", name, lineType, back.Encode(), want.Encode(), text)
			}
		}
	}
}

// TestPlotXMLRefuses: the error names the property that a plot_spec cannot express.
func TestPlotXMLRefuses(t *testing.T) {
	float := 0.5
	for want, change := range map[string]func(d *Drawing){
		"":                                      func(*Drawing) {},
		"fixed fields that are equalized":       func(d *Drawing) { d.Equalize = []Group{{Field: "vx_mask", Values: [][]string{{"E", "W"}}}} },
		"the right axis of another":             func(d *Drawing) { d.RightAxis = true },
		"differences of curves":                 func(d *Drawing) { d.Baseline = "A" },
		"conditions on values of what is drawn": func(d *Drawing) { d.ValueConditions = []ValueCondition{{"total", ">", float}} },
		"cases that are the same at all places": func(d *Drawing) { d.EqualizeAcrossAxis = true },
		"a value with a colon":                  func(d *Drawing) { d.Curves = []Group{{Field: "model", Values: [][]string{{"A:B"}}}} },
		"a bootstrap of blocks of 5 records":    func(d *Drawing) { d.Block = 5 },
		"a drawing that depends on its answer":  func(d *Drawing) { d.Curves = []Group{{Field: "model"}} },
		"a picture scorecard of SL1L2":          func(d *Drawing) { d.Picture = "scorecard" },
	} {
		q, err := FromURLQuery(url.Values{"line_type": {"SL1L2"}, "fcst_var": {"T"}, "stat": {"RMSE"}, "axis": {"fcst_lead"}})
		if err != nil {
			t.Fatal(err)
		}
		change(q.Drawing)
		if _, err := PlotXML(q, 1); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "cannot express ") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
