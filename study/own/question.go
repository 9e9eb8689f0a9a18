package own

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// Question is a question in SQL.
type Question struct {
	Name, Title string
	File        string
	Line        int
	Texts       map[string]string // by engine; "" = for all engines without a text of their own
	places      map[string]place  // where each of Texts is, by the same keys
	params      []param
}

type place struct {
	file string
	line int
}

type param struct {
	name   string
	values []string
}

// ParameterSets is the number of sets of parameter values. The study uses them in turn.
func (q *Question) ParameterSets() int {
	n := 1
	for _, p := range q.params {
		n = max(n, len(p.values))
	}
	return n
}

// Text returns the query for an engine, with a set of parameter values.
func (q *Question) Text(engine string, set int) string {
	text, ok := q.Texts[engine]
	if !ok {
		text = q.Texts[""]
	}
	for _, p := range q.params {
		text = strings.ReplaceAll(text, "${"+p.name+"}", p.values[set%len(p.values)])
	}
	return text
}

// hasText reports whether the question can be sent to an engine.
func (q *Question) hasText(engine string) bool {
	_, ok := q.Texts[engine]
	return ok || q.Texts[""] != ""
}

// textFile returns the name of the file for the text of one engine.
func (q *Question) textFile(engine string) string {
	return strings.TrimSuffix(q.Name, ".sql") + "." + engine + ".sql"
}

// Place returns the file and line of the text for an engine.
func (q *Question) Place(engine string) (string, int) {
	if p, ok := q.places[engine]; ok {
		return p.file, p.line
	}
	return q.File, q.Line
}

// questionError returns the error of a question in a file.
func questionError(file string, line int, problem, cure string) error {
	return &fault.Status{Code: fault.Usage, Err: &fault.Error{File: file, Line: line, Problem: problem, Cure: cure}}
}

// Questions reads SQL files and folders of them. A file NAME.ENGINE.sql has the
// text of the question NAME for one engine.
func Questions(paths, engines []string) ([]*Question, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, &fault.Error{File: path, Problem: "cannot be read", Err: err, Cure: "name SQL files, or a folder of them"}
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found, err := sqlFiles(path)
		if err != nil || len(found) == 0 {
			return nil, &fault.Error{File: path, Problem: "has no file *.sql", Err: err, Cure: "name SQL files, or a folder of them"}
		}
		files = append(files, found...)
	}
	var out []*Question
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name, engine := strings.TrimSuffix(filepath.Base(file), ".sql"), ""
		if dot := strings.LastIndexByte(name, '.'); dot > 0 && slices.Contains(engines, name[dot+1:]) {
			name, engine = name[:dot], name[dot+1:]
		}
		if out, err = parse(out, file, name, engine, string(text)); err != nil {
			return nil, err
		}
	}
	return out, checkComplete(out, engines)
}

// sqlFiles lists the files *.sql of a folder by name. It does not use filepath.Glob, because the name of the folder may
// contain *, ? or [.
func sqlFiles(dir string) (found []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".sql" {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, err
}

// checkComplete returns an error if there is no question, or if a question has texts only for some engines, has values
// for a name that its text does not contain, or has a text that is not a query. It also refuses a text for an engine
// that is not in engines, unless engines is nil.
func checkComplete(all []*Question, engines []string) error {
	if len(all) == 0 {
		return fault.Misuse("--queries", "name no question", "name SQL files, or a folder of them; or a ready set: --set")
	}
	for _, q := range all {
		for engine := range q.Texts {
			if file, line := q.Place(engine); engine != "" && engines != nil && !slices.Contains(engines, engine) {
				return questionError(file, line, "a text is for "+engine+", which cannot store your own tables",
					"name engines of this list: "+strings.Join(engines, ", "))
			}
			if err := q.checkText(engine); err != nil {
				return err
			}
		}
		if !q.hasText(reference) {
			return questionError(q.File, q.Line, q.Name+" has texts only for some engines",
				"add a text for all engines, or for duckdb, which computes the reference")
		}
		for _, p := range q.params {
			if name := "${" + p.name + "}"; !strings.Contains(q.Texts[""]+q.Texts[reference], name) {
				return questionError(q.File, q.Line, q.Name+" has values for "+name+", but its text does not contain it",
					"write "+name+" into the text, or omit the line with the values")
			}
		}
	}
	return nil
}

// checkText returns an error if a text has a placeholder without a value, or is not a query.
func (q *Question) checkText(engine string) error {
	file, line := q.Place(engine)
	if m := placeholder.FindString(q.Text(engine, 0)); m != "" {
		return questionError(file, line, m+" has no value",
			"write a line before the question: -- param "+strings.Trim(m, "${}")+": 1 | 2 | 3")
	}
	cure := "write a query that starts with SELECT or WITH"
	if filepath.Base(file) == q.textFile(engine) {
		cure += "; statements for a table, such as CREATE INDEX, belong in the folder of --tables, and queries in another folder"
	}
	all := tokens(q.Texts[engine])
	if len(all) == 0 { // only hints, such as /*!40101 SET NAMES utf8 */ in the output of mysqldump
		return questionError(file, line, q.Name+" is a hint without a query", cure)
	}
	if first := all[0]; !first.is("select") && !first.is("with") {
		return questionError(file, line, "starts with "+strings.ToUpper(first.text), cure)
	}
	return nil
}

var (
	directive   = regexp.MustCompile(`^--\s*(name|title|for|param\s+[A-Za-z_][A-Za-z_0-9]*):\s*(.*?)\s*$`)
	placeholder = regexp.MustCompile(`\$\{[^}]*\}`)
)

// parse reads the questions of a file. A semicolon ends a question, and comment lines before it
// describe it:
//
//	-- name: top_pages
//	-- title: the ten pages that are seen most
//	-- for: postgres, mariadb
//	-- param day: 2024-01-01 | 2024-01-02
//
// parse names the questions name, name-2 and so on unless they have a name of their own. engine is the engine of their
// texts; "" = all engines without a text of their own. parse appends the questions to out. It adds a text for some
// engines to the question of the same name in out.
func parse(out []*Question, file, name, engine, text string) ([]*Question, error) {
	number, previous := 0, "" // statements that are counted, and the name of the statement before
	for from := 0; from < len(text); {
		var s statement
		if s, from = nextStatement(text, from); s.sql == "" {
			continue
		}
		sql, line, head := s.sql, s.line, s.head
		number++
		q := &Question{Name: name, File: file, Line: line, Texts: map[string]string{}, places: map[string]place{}}
		if number > 1 {
			q.Name = fmt.Sprintf("%s-%d", name, number)
		}
		defaultName := q.Name
		engines, named := []string{engine}, []string(nil) // named: by lines -- for
		for i, comment := range strings.Split(head, "\n") {
			m := directive.FindStringSubmatch(strings.TrimSpace(comment))
			if m == nil {
				continue
			}
			switch m[1] {
			case "name":
				q.Name = m[2]
			case "title":
				q.Title = m[2]
			case "for":
				list := strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' })
				if len(list) == 0 {
					return nil, questionError(file, line-strings.Count(head, "\n")+i, "for names no engine", "write -- for: postgres, mariadb")
				}
				named = append(named, list...)
				engines = named
			default:
				p := param{name: strings.TrimSpace(strings.TrimPrefix(m[1], "param"))}
				for v := range strings.SplitSeq(m[2], "|") {
					p.values = append(p.values, strings.TrimSpace(v))
				}
				if m[2] == "" {
					return nil, questionError(file, line-strings.Count(head, "\n")+i, p.name+" has no value",
						"write -- param "+p.name+": 1 | 2 | 3")
				}
				q.params = append(q.params, p)
			}
		}
		// A text for some engines is not counted. Without a name of its own it belongs to the previous question.
		if named != nil {
			if number--; previous != "" && q.Name == defaultName {
				q.Name = previous
			}
		}
		var err error
		if out, err = q.add(out, engines, sql); err != nil {
			return nil, err
		}
		previous = q.Name
	}
	return out, nil
}

// statement is a statement of a file of SQL.
type statement struct {
	sql  string // without comments, except hints
	line int
	head string // the comments before it
}

// nextStatement returns the first statement of text[from:], and the offset at which the next statement begins. The sql
// is empty if the statement is.
func nextStatement(text string, from int) (s statement, next int) {
	all := tokens(text[from:])
	if len(all) == 0 {
		return s, len(text)
	}
	end := len(text)
	for _, t := range all {
		if t.text == ";" {
			end = from + t.at
			break
		}
	}
	first := from + all[0].at
	s.sql, s.line, s.head = withoutComments(text[from:end]), 1+strings.Count(text[:first], "\n"), text[from:first]
	return s, min(end+1, len(text))
}

// add appends a question, or adds its text for some engines to the existing question of the same name.
func (q *Question) add(out []*Question, engines []string, sql string) ([]*Question, error) {
	i := slices.IndexFunc(out, func(o *Question) bool { return o.Name == q.Name })
	if i < 0 {
		i, out = len(out), append(out, q)
	}
	to := out[i]
	if slices.Contains(engines, "") && to != q {
		to.File, to.Line, to.Title = q.File, q.Line, q.Title
	}
	if len(q.params) > 0 {
		to.params = q.params
	}
	for _, e := range engines {
		if p, ok := to.places[e]; ok {
			problem := fmt.Sprintf("%s has a second text for the same engine; the first is in %s:%d", q.Name, p.file, p.line)
			return nil, questionError(q.File, q.Line, problem, "give it another name: -- name: "+q.Name+"_2")
		}
		to.Texts[e], to.places[e] = sql, place{q.File, q.Line}
	}
	return out, nil
}
