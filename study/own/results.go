package own

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// resultsFolder, in the run folder, has the proven results, ENGINE.QUERY.csv (--save-results).
const resultsFolder = "results"

// result is a file of a query's rows as an engine returned them: CSV with texts in double quotes, so that an empty
// text differs from NULL, which is nothing. It gets its name when the rows are proven. Nil writes nothing.
type result struct {
	path string
	file *os.File
	to   *bufio.Writer
}

// result creates the file of a result; nil = results are not saved.
func (r *runner) result(p *participant, k, set int) (*result, error) {
	if !r.SaveResults || r.folder.Dir == "" {
		return nil, nil //nolint:nilnil // nil writes nothing
	}
	q := r.Questions[k]
	name := url.PathEscape(p.name) + "." + url.PathEscape(q.Name)
	if q.ParameterSets() > 1 {
		name += "." + strconv.Itoa(set+1)
	}
	dir := filepath.Join(r.folder.Dir, resultsFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	out := &result{path: filepath.Join(dir, name+".csv")}
	var err error
	if out.file, err = os.Create(out.path + ".tmp"); err != nil {
		return nil, err
	}
	out.to = bufio.NewWriter(out.file)
	var header []any
	for _, name := range r.names[k] {
		header = append(header, name)
	}
	out.row(header)
	return out, nil
}

// row writes a row. The writer keeps an error until close.
func (x *result) row(row []any) {
	if x == nil {
		return
	}
	for i, v := range row {
		if i > 0 {
			x.to.WriteByte(',') //nolint:errcheck // close reports it
		}
		x.to.WriteString(cell(v)) //nolint:errcheck // likewise
	}
	x.to.WriteByte('\n') //nolint:errcheck // likewise
}

// cell is a value in CSV.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return string(answer.MomentOf(v))
	case answer.Decimal, answer.Date, answer.Moment:
		return fmt.Sprint(v)
	case string, answer.Untyped, []byte:
		text := fmt.Sprintf("%s", v)
		return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
	}
	return fmt.Sprint(v)
}

// close names the file if its rows were proven, and removes it otherwise.
func (x *result) close(proven bool) error {
	if x == nil {
		return nil
	}
	err := errors.Join(x.to.Flush(), x.file.Close())
	if err != nil || !proven {
		return errors.Join(err, os.Remove(x.file.Name()))
	}
	return os.Rename(x.file.Name(), x.path)
}

// define runs the statements of TABLE.ENGINE.sql in the folder of the tables, such as CREATE INDEX, after the
// engine has loaded the table. They are part of the load, and are listed among the engine's settings. They are only
// listed if now is false, because the table is kept.
func (r *runner) define(ctx context.Context, p *participant, t *tables.Table, out *run.Archive, now bool) error {
	path := r.definitions[t.Name+"."+p.scheme]
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for from := 0; from < len(text); {
		var s statement
		if s, from = nextStatement(string(text), from); s.sql == "" {
			continue
		}
		short := strings.Join(strings.Fields(s.sql), " ")
		if err := r.statement(ctx, p, s.sql, short, now); err != nil {
			return &fault.Error{File: path, Line: s.line, Problem: p.scheme + " cannot run the statement", Err: err, Cure: "correct it; until then the queries of " + t.Name + " are left out"}
		}
		if out.Settings == nil {
			out.Settings = map[string]string{}
		}
		out.Settings[fmt.Sprintf("%s:%d", filepath.Base(path), s.line)] = short
	}
	return nil
}

func (r *runner) statement(ctx context.Context, p *participant, text, short string, now bool) error {
	if !now {
		return nil
	}
	r.Progress(p.name + ": " + short)
	return r.reporting(p.name+": "+short, p.running(ctx), func() error { return exec(ctx, p.own, text) })
}

// definitionKey returns TABLE.ENGINE for a file TABLE.ENGINE.sql with statements for a table; "" for any other file,
// and for a file with a query of the study.
func (r *runner) definitionKey(path string) string {
	table, scheme, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".sql"), ".")
	if filepath.Ext(path) != ".sql" || !slices.Contains(Names(r.Registry), scheme) {
		return ""
	}
	for _, q := range r.Questions {
		for _, p := range q.lines {
			if file, err := filepath.Abs(p.file); err == nil && file == path {
				return ""
			}
		}
	}
	return tables.Name(table) + "." + scheme
}

// Folder creates the run folder of a program, or resumes the run that the same command started in it. A resumed run
// keeps its timed repetitions and its complete tables, and reads the files and proves the results again. fresh
// describes the run if it is not resumed.
func Folder(dir string, fresh run.Run, says func(string)) (*run.Folder, error) {
	return run.Resume(dir, fresh, false, func(s *run.Sample) bool { return s.Rep > 0 && s.Measured() != nil }, says)
}
