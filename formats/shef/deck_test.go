package shef_test

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"barograph/formats/shef"
)

// deckDiffers lists the stations of the National Weather Service's test deck
// where shef-parser 1.11.0 is not followed, with the reason.
var deckDiffers = map[string]string{
	"AA0073": "table 8: L is UTC-9, -8 in summer (version 2.2, note e); the peers have -10",
	"AA0080": "table 8, as AA0073",
	"AA0087": "table 8: BS is UTC-10; the peers have -11",
	"AA0090": "table 8: BD is UTC-9; the peers have -10",
	"AA0147": "error 48: October 1975 is before the table of daylight time; shefit agrees",
	"AA0164": "5.2.6: 0200 on the day of the change is daylight time; shefit agrees",
	"AA0175": "5.3.4: Z is translated to the default duration",
	"AA0280": "error 48, as AA0147",
	"AA0199": "5.2.6: 0201 is the first minute that is left out, 0200 is standard time; shefit agrees",
	"EE0046": "table 12: DIY; shef-parser stops, shefit agrees",
	"EE0051": "table 12, as EE0046",
	"BB0066": "table 1 has no RC: error 62; shefit agrees",
	"BB0071": "4.3: a D element applies to what follows it; values before the bad DRJ are certain",
	"BB0096": "table 2: SF is SFDRZZZ, of seven characters",
	"BB0101": "5.3.4: Z is translated to the default duration",
	"BB0103": "4.4.3: DV concerns codes with V alone; values after QMV without DV are certain",
	"BB0120": "table 2, as BB0096",
	"BB0331": "5.1.1: MM is a code for missing, not M with the qualifier M",
	"BB0332": "5.1.1, as BB0331",
	"EE0017": "4.4.3: DV concerns codes with V alone, PP is daily; shefit agrees",
	"EE0018": "4.4.3, as EE0017: PC; shefit agrees",
	"EE0025": "4.4.4: DIE off the end of a month is an error; the deck marks the value as bad",
	"EE0031": "5.2.6: the year is added to the local time; shef-parser stops",
	"EE0036": "5.2.1: DR in a .E message; shef-parser stops",
	"EE0121": "4.4.3, as EE0017",
}

// year is masked where the date was coded without one: 4.1.4 takes the nearest
// year, the next one included; shef-parser never takes the next.
var year = regexp.MustCompile(`\b(20(2[4-9])|212[67])-`)

func TestDeck(t *testing.T) {
	dir := filepath.Join(sampleData(t), "hec")
	got, _ := lines(t, filepath.Join(dir, "testing/nws_test.shefit_subset.shef"))
	want := expected(t, filepath.Join(dir, "expected/nws_test.shefit_subset.fmt1.txt"))
	used := make(map[string]bool)
	sorted := func(all []string) []string {
		var out []string
		for _, line := range all {
			station, _, _ := strings.Cut(line, " ")
			if deckDiffers[station] != "" {
				used[station] = true
				continue
			}
			out = append(out, year.ReplaceAllString(line, "yyyy-"))
		}
		slices.Sort(out)
		return out
	}
	compareLines(t, sorted(got), sorted(want))
	for station := range deckDiffers {
		if !used[station] {
			t.Errorf("%s is listed and not in the deck", station)
		}
	}
	t.Logf("%d records, %d of %d stations listed", len(want), len(deckDiffers), len(want))
}

// A record of pyIEM 1.28.1.
type iemRecord struct {
	Station string    `json:"station"`
	Valid   time.Time `json:"valid"`
	Var     string    `json:"var"`
	Text    string    `json:"str_value"`
	Value   *float64  `json:"num_value"`
	Depth   *float64  `json:"depth"`
}

type iemCase struct {
	File    string      `json:"file"`
	Now     string      `json:"utcnow"`
	Records []iemRecord `json:"records"`
}

// iemOnly lists what pyIEM has and the manual does not allow, by text or by
// station.
var iemOnly = map[string]string{
	"":      "5.3.5: a null field is no value",
	"MSG":   "5.1.1: not a code for missing; error 84",
	"MM.MM": "5.1.1, as MSG",
	"X":     "5.1.1: not a code for missing; error 37",
	"RYAN7": "4.4.7: one letter can follow a value, not nan; error 84",
	"DTX2":  "table 11: DVH without a number; error 24",
	"DTX3":  "table 11: DVH without a number; error 24",
	"ROBW3": "4.4.1: DD keeps the month, 31 November does not exist; error 16",
}

// iemLacks lists the stations of which the manual has more than pyIEM.
var iemLacks = map[string]string{
	"HBRA2": "5.1.4: repetitions are parsed without an error",
}

func TestPyIEM(t *testing.T) {
	dir := filepath.Join(sampleData(t), "pyiem")
	f, err := os.Open(filepath.Join(dir, "expected_pyiem-1.28.1.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<24)
	cases := 0
	for s.Scan() {
		var c iemCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases++
		t.Run(filepath.Base(c.File), func(t *testing.T) { c.compare(t, filepath.Join(dir, "product_examples", c.File)) })
	}
	t.Logf("%d cases", cases)
}

type iemKey struct {
	station, code string
	at            int64
	value         float64
}

func (c *iemCase) compare(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	now, err := time.Parse("2006-01-02 15:04:05-07:00", c.Now)
	if err != nil {
		now = day // the case does not depend on it, or:
		if len(c.Records) > 0 {
			now = c.Records[0].Valid
		}
	}
	have := make(map[iemKey]int)
	r := decode(t, string(text), now)
	for i := range r.Values {
		g := &r.Values[i]
		v := g.Value
		if v == .001 {
			v = .0001 // pyIEM's trace; 5.1.2 has .001
		}
		have[iemKey{g.Station.String(), g.Code.String(), g.Time, math.Round(v * 1e4)}]++
	}
	for _, w := range c.Records {
		if w.Depth != nil && *w.Depth != 0 {
			t.Logf("%s %s: pyIEM parts paired values", w.Station, w.Var)
		}
		v := -9999.0
		if w.Value != nil {
			v = *w.Value
		}
		k := iemKey{w.Station, w.Var, w.Valid.Unix(), math.Round(v * 1e4)}
		switch {
		case have[k] > 0:
			have[k]--
		case iemOnly[w.Text] == "" && iemOnly[w.Station] == "":
			t.Errorf("pyIEM has %s %s %s %q", w.Station, w.Valid.Format(time.DateTime), w.Var, w.Text)
		}
	}
	for k, n := range have {
		if n > 0 && iemLacks[k.station] == "" {
			t.Errorf("pyIEM lacks %+v", k)
		}
	}
}

// TestEdge: every case of the shared file of edge cases has what the manual
// says, by the golden file.
func TestEdge(t *testing.T) {
	name := filepath.Join(sampleData(t), "edge/edge.shef")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r := decode(t, string(text), day)
	var b []byte
	for i := range r.Values {
		b = shef.AppendText(b, &r.Values[i])
	}
	for _, p := range r.Problems {
		b = append(append(b, p.Error()...), '\n')
	}
	golden(t, "edge.golden", b)
}
