package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

// TestWriteCurves: a table has every statistic. JSON is an object for one and an array for several.
func TestWriteCurves(t *testing.T) {
	all := []*run.VerificationPlot{{Stat: "RMSE", Axis: run.ByLead}, {Stat: "ME", Axis: run.ByLead}}
	var out bytes.Buffer
	if err := (&env{stdout: &out}).writeCurves("", "table", all); err != nil {
		t.Fatal(err)
	}
	if rmse, me := strings.Index(out.String(), "RMSE"), strings.Index(out.String(), "ME "); rmse < 0 || me < rmse {
		t.Errorf("%s", out.String())
	}
	for n, want := range map[int]string{1: "{", 2: "["} {
		out.Reset()
		if err := (&env{stdout: &out}).writeCurves("", "json", all[:n]); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.HasPrefix(text, want) || strings.Count(text, `"ME"`) != n-1 || !json.Valid(out.Bytes()) {
			t.Errorf("%d statistics: %s", n, text)
		}
	}
}
