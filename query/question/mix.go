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
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// MaxMixQuestions is the number of different questions that ReadMix keeps, the most frequent ones.
const MaxMixQuestions = 40

// mixReader collects questions and counts how often each occurs.
type mixReader struct {
	qs               []*Question
	byConditions     map[string]*Question // by conditions, as text
	notes            []string
	unreadStatements int // number of statements that could not be read
}

// ReadMix reads questions that users asked, from one of these sources: a folder of METviewer plots;
// a file that lists such plots, one per line; a query log of METviewer or of a server that contains
// METviewer's or METexpress's SQL. Each different question is returned once, with the number of its
// occurrences as Weight. The notes list what could not be read.
func ReadMix(path string) ([]*Question, []string, error) {
	m := &mixReader{byConditions: map[string]*Question{}}
	err := m.read(path)
	if err == nil && len(m.qs) == 0 {
		err = &fault.Error{
			File: path, Problem: strings.Join(append([]string{"contains no question"}, m.notes...), "; "),
			Cure: "name a folder of METviewer plots (.xml), or a log of METviewer's SQL",
		}
	}
	if err != nil {
		return nil, m.notes, err
	}
	if m.unreadStatements > 0 {
		m.notes = append(m.notes, fmt.Sprintf("%d statements of line data could not be read and were omitted", m.unreadStatements))
	}
	assignNames(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), m.qs)
	slices.SortStableFunc(m.qs, func(a, b *Question) int { return b.Weight - a.Weight })
	if rare := m.qs[min(len(m.qs), MaxMixQuestions):]; len(rare) > 0 {
		n := lists.Sum(slices.Values(lists.Map(rare, func(q *Question) int { return q.Weight })))
		m.notes = append(m.notes, fmt.Sprintf("%d rarer questions, which occur %d times, were omitted", len(rare), n))
	}
	return m.qs[:min(len(m.qs), MaxMixQuestions)], m.notes, nil
}

func (m *mixReader) read(path string) error {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		// The separator at the end makes WalkDir read a folder behind a symbolic link.
		return filepath.WalkDir(path+string(filepath.Separator), func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(file) == ".xml" {
				m.addPlot(file)
			}
			return err
		})
	}
	f, err := os.Open(path)
	if err != nil {
		return &fault.Error{File: path, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	defer f.Close() //nolint:errcheck // only read
	return m.readLog(path, bufio.NewReader(f))
}

// addPlot adds the questions of a METviewer plot.
func (m *mixReader) addPlot(file string) {
	qs, notes, err := FromPlotFile(file)
	if err != nil {
		notes = []string{err.Error()}
	}
	m.notes = append(m.notes, lists.Map(notes, func(n string) string { return fault.Name(filepath.Base(file)) + ": " + n })...)
	for _, q := range qs {
		m.add(q)
	}
}

// add counts a question. Questions that differ only in their drawing count as the same.
func (m *mixReader) add(q *Question) {
	key := fmt.Sprintf("%s %q %v %v %v %q %q %v", q.Type.Name, q.Header, q.Valid, q.Lead, q.TimeFilter, q.Subset, q.MoreSubsets, q.Mean)
	if same := m.byConditions[key]; same != nil {
		same.Weight++
		return
	}
	m.byConditions[key], m.qs = q, append(m.qs, q)
}

var (
	// logEntryPattern matches the start of a log entry: a date, a thread's command, or a comment of the slow log.
	logEntryPattern = regexp.MustCompile(`^(?:#|\d{6} +\d|\d{4}-\d\d-\d\d|\s+\d+ (?:Query|Quit|Connect|Prepare|Execute|Close|Init DB)\b|SET timestamp|[A-Z]+ +\[)`)
	selectPattern   = regexp.MustCompile(`(?i)\bSELECT\b`)
	unionPattern    = regexp.MustCompile(`(?i)\bUNION(?:\s+ALL)?\b`)
	lineDataPattern = regexp.MustCompile(`(?i)\bFROM\b[^()]*?\bline_data_(\w+)`)
	wherePattern    = regexp.MustCompile(`(?is)\bWHERE\b(.*?)(?:\bGROUP\s+BY\b.*|\bORDER\s+BY\b.*|\bLIMIT\b.*|$)$`)
	// statementPattern matches a statement up to a semicolon that is not in quotes.
	statementPattern = regexp.MustCompile(`(?:[^;'"]|'[^']*'|"[^"]*"|['"])+`)
	andPattern       = regexp.MustCompile(`(?i)\bAND\b`)
	// alwaysTruePattern matches conditions that METviewer adds to every statement: that a value is not missing, the join
	// of the tables, 1=1.
	alwaysTruePattern = regexp.MustCompile(`(?i)^[\s(]*(?:(?:\w+\.)?\w+\s*(?:!=|<>)\s*'?-9999'?|` +
		`(?:\w+\.)?stat_header_id\s*=\s*(?:\w+\.)?stat_header_id|1\s*=\s*1)[\s)]*$`)
	statNamePattern = regexp.MustCompile(`(?i)'(\w+)'\s+stat_name`)
	// continuedPattern matches a text after which a line that begins with SELECT belongs to the same statement.
	continuedPattern = regexp.MustCompile(`(?i)(?:\(|\bUNION(?:\s+(?:ALL|DISTINCT))?)\s*$`)
)

// maxStatement limits the statements of a log, in bytes. A longer one counts as unread, because a part of it would lack
// conditions.
const maxStatement = 1 << 20

// readLog reads a list of plots, or the SQL statements of a log.
func (m *mixReader) readLog(path string, r *bufio.Reader) error {
	var statement strings.Builder
	firstLine := 0
	finish := func() {
		m.addStatements(statement.String(), firstLine)
		statement.Reset()
	}
	for n := 1; ; n++ {
		line, err := r.ReadString('\n')
		text := strings.TrimSpace(line)
		switch start := selectPattern.FindStringIndex(line); {
		case strings.HasSuffix(text, ".xml") && start == nil:
			if !filepath.IsAbs(text) {
				text = filepath.Join(filepath.Dir(path), text)
			}
			m.addPlot(text)
		// A SELECT begins another statement in three cases:
		//   - No statement is open.
		//   - Its line is an entry of the log.
		//   - It is the first word of its line, and the open statement does not end with "(" or UNION [ALL]. The last 40 bytes
		//     are enough to see that.
		case start != nil && (statement.Len() == 0 || logEntryPattern.MatchString(line) ||
			strings.TrimSpace(line[:start[0]]) == "" &&
				!continuedPattern.MatchString(statement.String()[max(0, statement.Len()-40):])):
			finish()
			firstLine = n
			statement.WriteString(line[start[0]:])
		case logEntryPattern.MatchString(line):
			finish()
		case statement.Len() > 0 && statement.Len() < maxStatement:
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

// addStatements adds a question for each SELECT of line data in one or more statements.
func (m *mixReader) addStatements(sql string, line int) {
	for _, statement := range statementPattern.FindAllString(sql, -1) {
		for _, part := range unionPattern.Split(statement, -1) {
			if !strings.Contains(strings.ToLower(part), "line_data_") {
				continue
			}
			err := fmt.Errorf("line %d: the statement is longer than %d MiB", line, maxStatement>>20)
			var q *Question
			if len(sql) < maxStatement {
				q, err = fromSQL(part, line)
			}
			if err == nil {
				m.add(q)
				continue
			}
			if m.unreadStatements++; m.unreadStatements <= 3 {
				m.notes = append(m.notes, err.Error())
			}
		}
	}
}

// fromSQL reads a question from the conditions of METviewer's or METexpress's SQL.
func fromSQL(sql string, line int) (*Question, error) {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
	}
	from, conditions := lineDataPattern.FindStringSubmatch(sql), wherePattern.FindStringSubmatch(sql)
	if from == nil || conditions == nil {
		return nil, refuse("no SELECT of line data with a WHERE")
	}
	t, ok := record.TypeByName(strings.ToUpper(from[1]))
	if !ok {
		return nil, refuse("line type %s is not supported", from[1])
	}
	b := &builder{p: &metviewer.Plot{}, q: &Question{Type: t, Weight: 1}, parsedTimes: map[*string]Times{}}
	for _, c := range splitAnd(conditions[1]) {
		if alwaysTruePattern.MatchString(c) {
			continue
		}
		f, ok := parseComparison(c)
		if f.Line = line; !ok {
			return nil, refuse("the condition %q could not be read", strings.TrimSpace(c))
		}
		if err := b.addCondition(f, f.List); err != nil {
			return nil, err
		}
	}
	stat := DefaultStat(t)
	if s := statNamePattern.FindStringSubmatch(sql); s != nil && isStat(b.q, s[1]) {
		stat = s[1]
	}
	b.q.Drawing = NewDrawing(t, stat, "")
	title := []string{stat, t.Name}
	for _, f := range []record.Field{record.FcstVar, record.FcstLev, record.VxMask} {
		title = append(title, strings.Fields(strings.Join(b.q.Header[f], ", "))...)
	}
	b.q.Title = strings.TrimSpace(strings.Join(title, " "))
	b.q.SelectColumns()
	return b.q, b.q.Check()
}

// splitAnd splits conditions at each AND that is outside of quotes and brackets and does not belong
// to a BETWEEN.
func splitAnd(text string) (out []string) {
	depth, quoted, between, begin := 0, false, false, 0
	words := andPattern.FindAllStringIndex(text, -1)
	for i := range len(text) {
		for len(words) > 0 && words[0][0] < i {
			words = words[1:]
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
		case depth == 0 && len(words) > 0 && words[0][0] == i:
			if between {
				between = false
				continue
			}
			out = append(out, text[begin:i])
			begin = i + len("AND")
		}
	}
	return slices.DeleteFunc(append(out, text[begin:]), func(c string) bool { return strings.TrimSpace(c) == "" })
}
