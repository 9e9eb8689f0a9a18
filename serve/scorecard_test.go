package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/serve"
)

// scorecardPage serves an archive of VSDB lines. Each group is version, model, type of observations and variable, with a
// number of cases, and the forecast and the observation of all of them.
func scorecardPage(t *testing.T, groups ...string) *page {
	t.Helper()
	dir, text := t.TempDir(), ""
	for _, group := range groups {
		var version, model, obType, variable string
		var cases int
		var f, o float64
		if _, err := fmt.Sscan(group, &version, &model, &obType, &variable, &cases, &f, &o); err != nil {
			t.Fatal(err)
		}
		for day := range cases {
			text += fmt.Sprintf("%s %s 24 202401%02d00 %s G2/NHX SL1L2 %s P500 = 10 %g %g %g %g %g\n", version, model, day+1, obType, variable, f, o, f*o, f*f, o*o)
		}
	}
	file := filepath.Join(dir, "models.vsdb")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	fillArchive(t, filepath.Join(dir, "a.pebble"), []string{file})
	return newPage(t, filepath.Join(dir, "a.pebble"))
}

// scorecard reads the rows of a scorecard.
func (p *page) scorecard(query string) (rows []serve.Row, status int) {
	p.t.Helper()
	status, text := p.get("/api/v1/scorecard?archive=a.pebble&line_type=SL1L2&"+query, nil)
	for line := range strings.Lines(text) {
		var row serve.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			p.t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows, status
}

// TestUntestedCells: equal forecasts and constant differences are tested. A cell that is not tested has a reason.
func TestUntestedCells(t *testing.T) {
	p := scorecardPage(t, "V01 A A EQUAL 10 2 1", "V02 A A EQUAL 10 2 1", "V01 A A MORE 10 3 1", "V02 A A MORE 10 2 1", "V01 A A FEW 7 2 1", "V02 A A FEW 7 3 1")
	for _, name := range []string{"RMSE", "PR_CORR"} {
		rows, status := p.scorecard("by=version&candidate=V02&baseline=V01&stat=" + name)
		if status != http.StatusOK || len(rows) != 3 {
			t.Fatalf("%s: %d, %+v", name, status, rows)
		}
		for _, row := range rows {
			c := row.Cells[0]
			got := fmt.Sprint(c.N, " ", c.Untested)
			if c.Value != nil && c.P != nil {
				got += fmt.Sprint(" ", *c.Value, " ", *c.P, " ", c.Better)
			}
			want := map[string]string{"EQUAL": "10  0 1 0", "MORE": "10  -1 0 1", "FEW": "7 too few cases"}[row.Variable]
			if name == "PR_CORR" { // constant forecasts do not correlate
				want = map[string]string{"EQUAL": "10 no value", "MORE": "10 no value", "FEW": "7 no value"}[row.Variable]
			}
			if len(row.Cells) != 1 || got != want {
				t.Errorf("%s of %s: %q, not %q", name, row.Variable, got, want)
			}
		}
	}
}

// TestObservationsOfScorecard: both models are compared with the same observations or each with its own analysis, also if
// the archive has other observations. The order of the models has no effect.
func TestObservationsOfScorecard(t *testing.T) {
	for _, c := range []struct {
		groups []string
		want   string // type of observations, number of cases and difference of each row
	}{
		{[]string{"V01 A A TMP 9 1 0", "V01 B ADPUPA TMP 9 2 0"}, ""},
		{[]string{"V01 A B TMP 9 1 0", "V01 B A TMP 9 2 0"}, ""},
		{[]string{"V01 A A TMP 9 1 0", "V01 B B TMP 9 3 0"}, " 9 2"},
		{[]string{"V01 A A TMP 9 1 0", "V01 B AAA TMP 9 7 0", "V01 B B TMP 9 3 0", "V01 B ZZZ TMP 9 8 0"}, " 9 2"},
		{[]string{"V01 A A TMP 9 1 0", "V01 A ADPUPA TMP 8 5 0", "V01 B ADPUPA TMP 8 9 0", "V01 B B TMP 9 3 0"}, " 9 2, ADPUPA 8 4"},
		{[]string{"V01 A A TMP 9 1 0", "V01 A B TMP 9 5 0", "V01 B B TMP 9 8 0"}, "B 9 3"},
	} {
		p := scorecardPage(t, c.groups...)
		for query, sign := range map[string]float64{"candidate=A&baseline=B": -1, "candidate=B&baseline=A": 1} {
			var got []string
			status, text := p.get("/api/v1/scorecard?archive=a.pebble&line_type=SL1L2&"+query, nil)
			if status == http.StatusOK {
				rows, _ := p.scorecard(query)
				for _, r := range rows {
					got = append(got, fmt.Sprintf("%s %d %g", r.ObType, r.Cells[0].N, sign**r.Cells[0].Value))
				}
			}
			slices.Sort(got)
			if strings.Join(got, ", ") != c.want || status != map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[c.want == ""] {
				t.Errorf("%q, %s: %d %q, not %q: %.200s", c.groups, query, status, got, c.want, text)
			}
		}
	}
}
