package question_test

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// row is what conditions refer to.
type row struct {
	header record.Header
	valid  int64
	lead   int32
}

// condition is an SQL condition and what it means, computed without package question.
type condition struct {
	text  string
	holds func(r *row) bool
}

// texts are values of header fields.
func texts() []string {
	return []string{"A", "B b", "it's", "x AND y", "(p)", "c OR d", "!=5", "A,B", "A:B", "p;q", "*"}
}

// randomTerm makes a condition on one field.
func randomTerm(r *rand.Rand) condition {
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	day := func(t int64) string { return "'" + time.Unix(t, 0).UTC().Format(time.DateTime) + "'" }
	hourOf := func(t int64) int { return time.Unix(t, 0).UTC().Hour() }
	at := func() int64 { return int64(r.IntN(40)-20) * 6 * 3600 }
	first, second := at(), at()
	switch r.IntN(10) {
	case 0, 1, 2: // a header field equals a value, or one of several
		f := []record.Field{record.Model, record.VxMask, record.FcstThresh}[r.IntN(3)]
		var values []string
		for range 1 + r.IntN(3) {
			values = append(values, texts()[r.IntN(len(texts()))])
		}
		text := fmt.Sprintf("h.%s = %s", f, quote(values[0]))
		if len(values) > 1 || r.IntN(2) == 0 {
			var quoted []string
			for _, v := range values {
				quoted = append(quoted, quote(v))
			}
			text = fmt.Sprintf("BINARY h.%s IN (%s)", f, strings.Join(quoted, ", "))
		}
		return condition{text, func(x *row) bool { return slices.Contains(values, x.header[f]) }}
	case 3:
		return condition{"ld.fcst_valid_beg BETWEEN " + day(first) + " AND " + day(second), func(x *row) bool {
			return x.valid >= first && x.valid <= second
		}}
	case 4:
		op := []string{"<", "<=", ">", ">=", "="}[r.IntN(5)]
		return condition{"ld.fcst_init_beg " + op + " " + day(first), func(x *row) bool {
			init := x.valid - int64(x.lead)
			return op == "<" && init < first || op == "<=" && init <= first || op == "=" && init == first ||
				op == ">" && init > first || op == ">=" && init >= first
		}}
	case 5:
		return condition{"ld.fcst_valid_beg IN (" + day(first) + "," + day(second) + "," + day(first) + ")", func(x *row) bool {
			return x.valid == first || x.valid == second
		}}
	case 6:
		low, high := r.IntN(24), r.IntN(24)
		return condition{fmt.Sprintf("HOUR(ld.fcst_valid_beg) BETWEEN %d AND %d", low, high), func(x *row) bool {
			return hourOf(x.valid) >= low && hourOf(x.valid) <= high
		}}
	case 7:
		hour := r.IntN(24)
		return condition{fmt.Sprintf("HOUR(ld.fcst_init_beg) IN (%d, %d)", hour, hour/2), func(x *row) bool {
			h := hourOf(x.valid - int64(x.lead))
			return h == hour || h == hour/2
		}}
	}
	if r.IntN(3) == 0 {
		return condition{fmt.Sprintf("UNIX_TIMESTAMP(ld.fcst_valid_beg) IN (%d, '%d')", first, second), func(x *row) bool {
			return x.valid == first || x.valid == second
		}}
	}
	leads := []int32{int32(r.IntN(9)-2) * 6, int32(r.IntN(9)-2) * 6}
	return condition{fmt.Sprintf("ld.fcst_lead IN (%d, %d, 480000)", leads[0]*10000, leads[1]*10000), func(x *row) bool {
		return x.lead == leads[0]*3600 || x.lead == leads[1]*3600 || x.lead == 48*3600
	}}
}

// randomCondition joins terms by AND and OR, with and without brackets.
func randomCondition(r *rand.Rand, depth int) condition {
	if depth == 0 || r.IntN(3) == 0 {
		return randomTerm(r)
	}
	all := []condition{randomCondition(r, depth-1)}
	for range r.IntN(3) {
		all = append(all, randomCondition(r, depth-1))
	}
	or := r.IntN(4) == 0
	var parts []string
	for _, c := range all {
		parts = append(parts, c.text)
		if strings.Contains(c.text, " OR ") || r.IntN(3) == 0 { // without brackets OR would bind less than AND
			parts[len(parts)-1] = "(" + c.text + ")"
		}
	}
	joined := strings.Join(parts, map[bool]string{true: " OR ", false: " and "}[or])
	return condition{joined, func(x *row) bool {
		fails := func(c condition) bool { return !c.holds(x) }
		if or {
			return slices.ContainsFunc(all, func(c condition) bool { return c.holds(x) })
		}
		return !slices.ContainsFunc(all, fails)
	}}
}

// ofPlot returns the questions of a plot with a condition, and the notes.
func ofPlot(t *testing.T, c condition) ([]*question.Question, string) {
	t.Helper()
	var text strings.Builder
	if err := xml.EscapeText(&text, []byte(c.text)); err != nil {
		t.Fatal(err)
	}
	spec, err := metviewer.ParsePlotSpec("p.xml", []byte(`<plot_spec><plot><template>series_plot.R_tmpl</template><dep><dep1>
		<fcst_var name="TMP"><stat>RMSE</stat></fcst_var></dep1></dep><agg_stat><agg_sl1l2>true</agg_sl1l2></agg_stat>
		<indep name="fcst_lead"/><plot_cond>`+text.String()+`</plot_cond></plot></plot_spec>`))
	if err != nil {
		t.Fatal(err)
	}
	qs, notes := question.FromPlots(spec)
	return qs, strings.Join(notes, " ")
}

// ofLog returns the questions of a log with one statement that has a condition, and the notes.
func ofLog(t *testing.T, c condition) ([]*question.Question, string) {
	t.Helper()
	text := c.text
	if strings.Contains(text, " OR ") {
		text = "(" + text + ")"
	}
	file := filepath.Join(t.TempDir(), "day.sql")
	sql := "SELECT 'RMSE' stat_name FROM stat_header h, line_data_sl1l2 ld WHERE " + text +
		"\n AND ld.stat_header_id = h.stat_header_id AND h.fcst_var = 'TMP' AND ld.mae != -9999 ORDER BY ld.fcst_lead;\n"
	if err := os.WriteFile(file, []byte(sql), 0o600); err != nil {
		t.Fatal(err)
	}
	qs, notes, err := question.ReadMix(file)
	return qs, fmt.Sprint(notes, err)
}

// TestRandomConditions: a question of a plot or of a log has the records that satisfy its condition. A condition that no
// question can have omits the plot, or the statement counts as unread.
func TestRandomConditions(t *testing.T) {
	for name, source := range map[string]func(*testing.T, condition) ([]*question.Question, string){"plot": ofPlot, "log": ofLog} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 59))
			questions, matches, n := 0, 0, 3000
			if testing.Short() {
				n = 600
			}
			for range n {
				c := randomCondition(r, 3)
				qs, notes := source(t, c)
				if len(qs) == 0 {
					if !strings.Contains(notes, "plot is omitted") && !strings.Contains(notes, "contains no question") {
						t.Errorf("%s: %v", c.text, notes)
					}
					continue
				}
				questions++
				matches += compareMatches(t, r, c, qs[0])
			}
			if questions < n/3 || matches < 10*n/3 {
				t.Errorf("%d questions, %d matching records", questions, matches)
			}
		})
	}
}

// compareMatches compares a question with its condition on random records, and returns how many match.
func compareMatches(t *testing.T, r *rand.Rand, c condition, q *question.Question) (matches int) {
	t.Helper()
	m := answer.NewMatcher(q)
	for range 200 {
		x := row{header: record.DefaultHeader(), valid: int64(r.IntN(40)-20) * 6 * 3600, lead: int32(r.IntN(9)-2) * 6 * 3600}
		if r.IntN(4) == 0 {
			x.valid += int64(r.IntN(7200) - 3600)
		}
		x.header[record.FcstVar] = "TMP"
		for _, f := range []record.Field{record.Model, record.VxMask, record.FcstThresh} {
			x.header[f] = texts()[r.IntN(len(texts()))]
		}
		got, want := m.Header(&x.header) && m.Times(x.valid, x.lead), c.holds(&x)
		if got != want {
			t.Fatalf("%s: %v, want %v, of %q valid %d lead %d", c.text, got, want, x.header, x.valid, x.lead)
		}
		if got {
			matches++
		}
	}
	return matches
}
