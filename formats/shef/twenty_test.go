package shef_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/shef"
)

// TestTwenty checks where the manual and the decoders disagree. docs/results/shef-decoders.md
// describes the same rows. Values are station, element and number. Problems are numbers of appendix
// J, and a w marks a warning (0 = no number).
func TestTwenty(t *testing.T) {
	const head = ".B CHI 20261110 Z DH12/HG/TA\n"
	for i, c := range []struct {
		name, text, values, problems string
		lost                         int64
	}{
		{"no blank after a station of a body (4.5.3)", head + "AAAA1/2.5/70\nBBB 1/2\n.END", "BBB HG 1|BBB TA 2", "13", 3},
		{"a comma after it", head + "AAAA1,3.5/71\nBBB 1/2\n.END", "BBB HG 1|BBB TA 2", "13", 2},
		{"a colon in a body toggles (5.3.2)", head + "AAA 1:a:/2 :b\n.END", "AAA HG 1|AAA TA 2", "", 0},
		{"a packed line with a comment", head + "AAA 2/7 : note, BBB 3/7\n.END", "AAA HG 2|AAA TA 7", "", 0},
		{"a missing value or a trace after a slash (5.3.5)", ".A AAA 20261110 /PPDRWZZ/ M/PC/ T\n.AR AAA 20261110 /PP/ M/HG 3", "AAA PP M|AAA PC 0.001|AAA PP M|AAA HG 3", "87w 87w 87w", 0},
		{"day 366 of a common year", ".A AAA 20260710 DJ26366/HG 1\n.A BBB 20260710 DJ365/HG 1", "BBB HG 1", "16", 2},
		{"NUL in a line", ".A AAA 20261110 /HG 1\x00.5/TA 70", "AAA HG 1.5|AAA TA 70", "49w", 0},
		{"NUL before a message", "\x00.A AAA 20261110 /HG 1", "AAA HG 1", "", 0},
		{"lines that end in only CR", head[:len(head)-1] + "\rAAA 1/2\rBBB 3\r.END\r", "AAA HG 1|AAA TA 2|BBB HG 3", "", 0},
		{"one bare CR within CR LF", strings.ReplaceAll(head, "\n", "\r\n") + "AAA 1\rBBB 2\r\n.END\r\n", "AAA HG 1|BBB HG 2", "", 0},
		{"51 blanks (5.3.1)", ".A AAA 20261110 /HG 1" + strings.Repeat(" ", 51) + "/TA 2", "AAA HG 1", "0", 1},
		{".EN and .ENDS (4.6)", head + "AAA 1\n.EN\n.ENDS\nBBB 2\n.END", "AAA HG 1|BBB HG 2", "8 8", 2},
		{"an indented .END (4.6)", head + "AAA 1\n .END\nBBB 2\n.END", "AAA HG 1|BBB HG 2", "6", 1},
		{"no .END", head + "AAA 1\n.A BBB 20261110 /HG 2", "AAA HG 1|BBB HG 2", "46w", 0},
		{"continued out of sequence (4.1.1)", ".A AAA 20261110 /HG 1\n.A2 /TA 2\n.A1 /PC 3.0", "AAA HG 1|AAA TA 2|AAA PC 3", "0w 0w", 0},
		{"a line of more than 1000 bytes (5.3.6)", ".A AAA 20261110 /HG 1" + strings.Repeat("/ ", 500) + "/TA 2", "AAA HG 1|AAA TA 2", "0w", 0},
		{"small letters", ".b chi 20261110 z dh12/hg/ta\naaa 1/2\n.end", "AAA HG 1|AAA TA 2", "", 0},
		{"a byte beyond ASCII", ".A A\xa0A 20261110 /HG 1\n.A BBB 20261110 /HG 2", "BBB HG 2", "13", 2},
		{"a byte order mark or Ctrl-Z before a message", "\ufeff.A AAA 20261110 /HG 1\n\x1a.A BBB 20261110 /HG 2", "AAA HG 1|BBB HG 2", "", 0},
		{"two values of one element and time (5.1.4)", ".A AAA 20261110 /HG 1/HG 2", "AAA HG 1|AAA HG 2", "", 0},
	} {
		var values, problems []string
		lost := int64(0)
		if err := shef.ReadAll(strings.NewReader(c.text), "row", shef.Options{Now: day}, func(r *shef.Result) error {
			for _, g := range r.Values {
				value := fmt.Sprint(g.Value)
				if g.IsMissing() {
					value = "M"
				}
				values = append(values, fmt.Sprint(g.Station, " ", g.Code.PE(), " ", value))
			}
			for _, p := range r.Problems {
				problems = append(problems, fmt.Sprint(p.Number, map[bool]string{true: "w"}[p.Warning]))
			}
			lost += r.Account.Lost
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(problems)
		if got := strings.Join(values, "|"); got != c.values || strings.Join(problems, " ") != c.problems || lost != c.lost {
			t.Errorf("row %d, %s: %q, %q, %d lost; want %q, %q, %d", i+1, c.name, got, problems, lost, c.values, c.problems, c.lost)
		}
	}
}
