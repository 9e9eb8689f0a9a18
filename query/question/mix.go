package question

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// MostOfMix is how many different questions of a mix are asked, the most frequent ones.
const MostOfMix = 40

// mix gathers questions and how often each comes.
type mix struct {
	qs    []*Question
	of    map[string]*Question // by what they ask
	notes []string
	lost  int // statements that are not understood
}

// Mix reads what users asked: the METviewer plots of a folder, or those that a
// file names, a line each; or a query log, of METviewer or of a server, in which
// METviewer's and METexpress's SQL is found. Each question comes once and weighs
// as often as it was asked. The notes say what was not understood.
func Mix(path string) ([]*Question, []string, error) {
	m := &mix{of: map[string]*Question{}}
	err := m.read(path)
	if err == nil && len(m.qs) == 0 {
		err = &fault.Error{File: path, Problem: strings.TrimSuffix("holds no question; "+strings.Join(m.notes, "; "), "; "), Cure: "name a folder of METviewer plots (.xml), or a log of METviewer's SQL"}
	}
	if err != nil {
		return nil, m.notes, err
	}
	if m.lost > 0 {
		m.notes = append(m.notes, fmt.Sprintf("%d statements of line data are not understood, and left out", m.lost))
	}
	name(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), m.qs)
	slices.SortStableFunc(m.qs, func(a, b *Question) int { return b.Weight - a.Weight })
	if rare := m.qs[min(len(m.qs), MostOfMix):]; len(rare) > 0 {
		n := 0
		for _, q := range rare {
			n += q.Weight
		}
		m.notes = append(m.notes, fmt.Sprintf("%d rarer questions, asked %d times, are left out", len(rare), n))
	}
	return m.qs[:min(len(m.qs), MostOfMix)], m.notes, nil
}

func (m *mix) read(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(file) == ".xml" {
				m.plot(file)
			}
			return err
		})
	}
	f, err := os.Open(path)
	if err != nil {
		return &fault.Error{File: path, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	defer f.Close() //nolint:errcheck // only read
	return m.log(path, bufio.NewReader(f))
}

// plot adds the questions of a METviewer plot.
func (m *mix) plot(file string) {
	qs, notes, err := FromPlotFile(file)
	if err != nil {
		notes = []string{err.Error()}
	}
	for _, n := range notes {
		m.notes = append(m.notes, fault.Name(filepath.Base(file))+": "+n)
	}
	for _, q := range qs {
		m.add(q)
	}
}

// add counts a question. How its answer is drawn makes no other question.
func (m *mix) add(q *Question) {
	key := fmt.Sprintf("%s %v %v %v %v", q.Type.Name, q.Header, q.Valid, q.Lead, q.Clock)
	if same := m.of[key]; same != nil {
		same.Weight++
		return
	}
	m.of[key], m.qs = q, append(m.qs, q)
}

var (
	// newEntry begins an entry of a log: a date, a thread's command, or a remark of the slow log.
	newEntry = regexp.MustCompile(`^(?:#|\d{6} +\d|\d{4}-\d\d-\d\d|\s+\d+ (?:Query|Quit|Connect|Prepare|Execute|Close|Init DB)\b|SET timestamp|[A-Z]+ +\[)`)
	selects  = regexp.MustCompile(`(?i)\bSELECT\b`)
	union    = regexp.MustCompile(`(?i)\bUNION(?:\s+ALL)?\b`)
	lineData = regexp.MustCompile(`(?i)\bFROM\b[^()]*\bline_data_(\w+)`)
	where    = regexp.MustCompile(`(?is)\bWHERE\b(.*?)(?:\bGROUP\s+BY\b.*|\bORDER\s+BY\b.*|\bLIMIT\b.*|;.*|$)$`)
	and      = regexp.MustCompile(`(?i)\bAND\b`)
	// idle is a condition that narrows nothing: a missing value, the join, what is always so.
	idle     = regexp.MustCompile(`(?i)!=|\bstat_header_id\b|^\s*1\s*=\s*1\s*$`)
	statName = regexp.MustCompile(`(?i)'(\w+)'\s+stat_name`)
)

// mostStatement bounds a statement of a log, in bytes.
const mostStatement = 1 << 20

// log reads a list of plots, or the statements of a log.
func (m *mix) log(path string, r *bufio.Reader) error {
	var statement strings.Builder
	at := 0
	finish := func() {
		m.statement(statement.String(), at)
		statement.Reset()
	}
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		text := strings.TrimSpace(line)
		switch begins := selects.FindStringIndex(line); {
		case strings.HasSuffix(text, ".xml") && begins == nil:
			if !filepath.IsAbs(text) {
				text = filepath.Join(filepath.Dir(path), text)
			}
			m.plot(text)
		case begins != nil && (statement.Len() == 0 || newEntry.MatchString(line)):
			finish()
			at = n
			statement.WriteString(line[begins[0]:])
		case newEntry.MatchString(line):
			finish()
		case statement.Len() > 0 && statement.Len() < mostStatement:
			statement.WriteString(line)
		}
		if strings.HasSuffix(text, ";") || err != nil {
			finish()
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// statement adds the questions of a statement: one for each SELECT of line data.
func (m *mix) statement(sql string, line int) {
	for _, part := range union.Split(sql, -1) {
		if !strings.Contains(strings.ToLower(part), "line_data_") {
			continue
		}
		q, err := fromSQL(part, line)
		if err == nil {
			m.add(q)
			continue
		}
		if m.lost++; m.lost <= 3 {
			m.notes = append(m.notes, err.Error())
		}
	}
}

// fromSQL reads METviewer's SQL, or METexpress's: what it asks for stands in
// its conditions.
func fromSQL(sql string, line int) (*Question, error) {
	no := func(format string, args ...any) error {
		return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
	}
	from, conditions := lineData.FindStringSubmatch(sql), where.FindStringSubmatch(sql)
	if from == nil || conditions == nil {
		return nil, no("no SELECT of line data with a WHERE")
	}
	t, ok := record.TypeByName(strings.ToUpper(from[1]))
	if !ok {
		return nil, no("line type %s is not read", from[1])
	}
	b := &builder{p: &metviewer.Plot{}, q: &Question{Type: t, Weight: 1}, read: map[*string]Times{}}
	for _, c := range ands(conditions[1]) {
		if idle.MatchString(c) {
			continue
		}
		f, ok := compared(c)
		if f.Line = line; !ok {
			return nil, no("the condition %q is not understood", strings.TrimSpace(c))
		}
		if err := b.narrow(f, f.List); err != nil {
			return nil, err
		}
	}
	stat := DefaultStat(t)
	if s := statName.FindStringSubmatch(sql); s != nil && isStat(b.q, s[1]) {
		stat = s[1]
	}
	b.q.Drawing = NewDrawing(t, stat, "")
	b.q.Title = strings.Join(strings.Fields(fmt.Sprintln(stat, t.Name, strings.Join(b.q.Header[record.FcstVar], ", "), strings.Join(b.q.Header[record.FcstLev], ", "), strings.Join(b.q.Header[record.VxMask], ", "))), " ")
	b.q.Select()
	return b.q, b.q.Check()
}

// ands parts conditions at the ANDs that stand outside of quotes and brackets,
// and belong to no BETWEEN.
func ands(text string) (out []string) {
	depth, quoted, between, begin := 0, false, false, 0
	words := and.FindAllStringIndex(text, -1)
	for i := 0; i <= len(text); i++ {
		if i == len(text) {
			out = append(out, text[begin:])
			break
		}
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && len(text)-i > 7 && strings.EqualFold(text[i:i+7], "BETWEEN"):
			between = true
		case depth == 0 && slices.ContainsFunc(words, func(w []int) bool { return w[0] == i }):
			if between {
				between = false
				continue
			}
			out = append(out, text[begin:i])
			begin = i + len("AND")
		}
	}
	return slices.DeleteFunc(out, func(c string) bool { return strings.TrimSpace(c) == "" })
}
