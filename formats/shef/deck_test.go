package shef_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// deckDiffers lists the stations of the National Weather Service's test deck for which the decoder
// deviates from shef-parser 1.11.0, with the reason.
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
	"BB0103": "4.4.3: DV concerns only codes with V; values after QMV without DV are certain",
	"BB0120": "table 2, as BB0096",
	"BB0331": "5.1.1: MM is a code for missing, not M with the qualifier M",
	"BB0332": "5.1.1, as BB0331",
	"EE0017": "4.4.3: DV concerns only codes with V, PP is daily; shefit agrees",
	"EE0018": "4.4.3, as EE0017: PC; shefit agrees",
	"EE0025": "4.4.4: DIE off the end of a month is an error; the deck marks the value as bad",
	"EE0031": "5.2.6: the year is added to the local time; shef-parser stops",
	"EE0036": "5.2.1: DR in a .E message; shef-parser stops",
	"EE0121": "4.4.3, as EE0017",
}

// year finds the years of a record's times.
var year = regexp.MustCompile(`\b(2\d\d\d)-`)

// yearBefore subtracts one from the first n years of a line. For a date of month and day,
// shef-parser uses that year where 4.1.4 requires the next one.
func yearBefore(line string, n int) string {
	return year.ReplaceAllStringFunc(line, func(y string) string {
		v, err := strconv.Atoi(y[:4])
		if n--; n < 0 || err != nil {
			return y
		}
		return strconv.Itoa(v-1) + "-"
	})
}

// TestDeck compares every record of the deck with shef-parser's. It must be equal, differ only in
// the year by 4.1.4, or belong to a station of deckDiffers. Every listed station must be needed.
func TestDeck(t *testing.T) {
	dir := filepath.Join(sampleData(t), "hec")
	got, _ := lines(t, filepath.Join(dir, "testing/nws_test.shefit_subset.shef"))
	want := expected(t, filepath.Join(dir, "expected/nws_test.shefit_subset.fmt1.txt"))
	left := make(map[string]int)
	for _, line := range want {
		left[line]++
	}
	take := func(lines []string, as func(string) string) (matched int, rest []string) {
		for _, line := range lines {
			if k := as(line); left[k] > 0 {
				left[k]--
				matched++
			} else {
				rest = append(rest, line)
			}
		}
		return matched, rest
	}
	same, rest := take(got, func(line string) string { return line })
	next, rest := take(rest, func(line string) string { return yearBefore(line, 1) })
	created, rest := take(rest, func(line string) string { return yearBefore(line, 2) })
	needed, ours, theirs := make(map[string]bool), 0, 0
	listed := func(line, whose string) int {
		station, _, _ := strings.Cut(line, " ")
		if deckDiffers[station] == "" {
			t.Errorf("only %s: %s", whose, line)
		}
		needed[station] = true
		return 1
	}
	for _, line := range rest {
		ours += listed(line, "ours")
	}
	for line, n := range left {
		for range n {
			theirs += listed(line, "theirs")
		}
	}
	for station := range deckDiffers {
		if !needed[station] {
			t.Errorf("%s is listed, and all its records are the same", station)
		}
	}
	t.Logf("%d records of shef-parser: %d the same, %d a year later by 4.1.4, %d of %d listed stations, which have %d of ours",
		len(want), same, next+created, theirs, len(deckDiffers), ours)
}

// iemRecord is a record of pyIEM 1.28.1.
type iemRecord struct {
	Station string    `json:"station"`
	Valid   time.Time `json:"valid"`
	Var     string    `json:"var"`
	Text    string    `json:"str_value"`
	Value   *float64  `json:"num_value"`
	Depth   *float64  `json:"depth"`
	Created time.Time `json:"created"`
}

type iemCase struct {
	File    string      `json:"file"`
	Now     string      `json:"utcnow"`
	Records []iemRecord `json:"records"`
}

// iemOnly lists, by text or by station, what pyIEM decodes and the manual does not allow. pyIEM's
// qualifiers are empty in all cases.
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

// iemLacks lists the stations for which the manual requires more values than pyIEM has.
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
	cases, same, theirs, ours := 0, 0, 0, 0
	for s.Scan() {
		var c iemCase
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases++
		t.Run(filepath.Base(c.File), func(t *testing.T) {
			a, b, o := c.compare(t, filepath.Join(dir, "product_examples", c.File))
			same, theirs, ours = same+a, theirs+b, ours+o
		})
	}
	t.Logf("%d cases, %d records: %d the same, %d listed; %d further ones of ours, listed", cases, same+theirs, same, theirs, ours)
}

// iemCreated lists the stations for which pyIEM has a time of creation and the manual has none.
var iemCreated = map[string]string{
	"AESI4": "4.2: DC concerns only what follows it",
	"JFFI4": "4.2, as AESI4",
	"WILN7": "4.2, as AESI4",
}

type iemKey struct {
	station, code string
	at, created   int64
	value         float64
}

// compare compares every record of a case with ours. It returns the number of equal records, and of
// listed records that only pyIEM or only our decoder has.
func (c *iemCase) compare(t *testing.T, name string) (same, theirs, ours int) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	now, err := time.Parse("2006-01-02 15:04:05-07:00", c.Now)
	if err != nil {
		now = day // used only if the case has no records
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
		have[iemKey{g.Station.String(), g.Code.String(), g.Time, g.Created, math.Round(v * 1e4)}]++
	}
	for _, w := range c.Records {
		v, created := -9999.0, int64(record.NoTime)
		if w.Value != nil {
			v = *w.Value
		}
		if !w.Created.IsZero() && iemCreated[w.Station] == "" {
			created = w.Created.Unix()
		}
		if w.Depth != nil {
			t.Errorf("%s %s: a paired value, which pyIEM parts", w.Station, w.Var)
		}
		k := iemKey{w.Station, w.Var, w.Valid.Unix(), created, math.Round(v * 1e4)}
		switch {
		case have[k] > 0:
			have[k]--
			same++
		case iemOnly[w.Text] == "" && iemOnly[w.Station] == "":
			t.Errorf("pyIEM has %s %s %s %q", w.Station, w.Valid.Format(time.DateTime), w.Var, w.Text)
		default:
			theirs++
		}
	}
	for k, n := range have {
		if n > 0 && iemLacks[k.station] == "" {
			t.Errorf("pyIEM lacks %+v", k)
		}
		ours += n
	}
	return same, theirs, ours
}

// TestCutBody: a heading that begins with a dot ends the second table of RTPBOU (4.1.1), before its
// first station. shefit and pyIEM decode the same 20 values. The 45 stations after it, with six
// pieces each, are counted as lost.
func TestCutBody(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(sampleData(t), "pyiem/product_examples/SHEF/RTPBOU.txt"))
	if err != nil {
		t.Fatal(err)
	}
	stations := bytes.Count(text, []byte(":DH3"))
	r := decode(t, string(text), day)
	if a := r.Account; len(r.Values) != 20 || stations != 45 || a.Lost != int64(6*stations) {
		t.Errorf("%d values, %d stations, %d pieces lost: %v", len(r.Values), stations, a.Lost, r.Problems)
	}
}

// TestEdge compares every case of the shared file of edge cases with the golden file, which follows
// the manual.
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
