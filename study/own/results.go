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

// resultsFolder is the subfolder of the run folder that contains the proven results as ENGINE.QUERY.csv, if the user
// wants them (--save-results).
const resultsFolder = "results"

// result is a CSV file of a query's rows as an engine returned them. Texts are in double quotes, so an empty text
// differs from NULL, which is an empty field. The file has a temporary name until its rows are proven. The methods of a
// nil result do nothing.
type result struct {
	path   string
	file   *os.File // has the temporary name
	writer *bufio.Writer
}

// result creates the file of a result. It returns nil if results are not saved.
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
	out.writer = bufio.NewWriter(out.file)
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
			x.writer.WriteByte(',') //nolint:errcheck // close reports it
		}
		x.writer.WriteString(csvField(v)) //nolint:errcheck // likewise
	}
	x.writer.WriteByte('\n') //nolint:errcheck // likewise
}

// csvField returns a value as a field of CSV.
func csvField(v any) string {
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

// close gives the file its final name if its rows were proven, and removes it otherwise.
func (x *result) close(proven bool) error {
	if x == nil {
		return nil
	}
	err := errors.Join(x.writer.Flush(), x.file.Close())
	if err != nil || !proven {
		return errors.Join(err, os.Remove(x.file.Name()))
	}
	return os.Rename(x.file.Name(), x.path)
}

// define executes the statements of TABLE.ENGINE.sql in the folder of the tables, such as CREATE INDEX, after the
// engine has loaded the table. It adds them to the engine's settings in the run folder. If execute is false, it only
// adds them, because the engine keeps the table of the interrupted run, which executed them.
func (r *runner) define(ctx context.Context, p *participant, t *tables.Table, out *run.Archive, execute bool) error {
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
		if execute {
			if err := r.executeStatement(ctx, p, s.sql, short); err != nil {
				return &fault.Error{
					File: path, Line: s.line, Problem: p.scheme + " cannot run the statement", Err: err,
					Cure: "correct it; until then the study omits the queries of " + t.Name + " on this engine",
				}
			}
		}
		if out.Settings == nil {
			out.Settings = map[string]string{}
		}
		out.Settings[fmt.Sprintf("%s:%d", filepath.Base(path), s.line)] = short
	}
	return nil
}

// executeStatement executes a statement and reports its progress. short is the statement in one line.
func (r *runner) executeStatement(ctx context.Context, p *participant, text, short string) error {
	r.Progress(p.name + ": " + short)
	return r.withProgress(p.name+": "+short, p.engineStep(ctx), func() error { return exec(ctx, p.own, text) })
}

// definitionKey returns TABLE.ENGINE for a file TABLE.ENGINE.sql with statements for a table. It returns "" for any
// other file, and for a file with a query of the study.
func (r *runner) definitionKey(path string) string {
	table, scheme, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".sql"), ".")
	if filepath.Ext(path) != ".sql" || !slices.Contains(Names(r.Registry), scheme) {
		return ""
	}
	for _, q := range r.Questions {
		for _, p := range q.places {
			if file, err := filepath.Abs(p.file); err == nil && file == path {
				return ""
			}
		}
	}
	return tableName(table) + "." + scheme
}

// Folder creates the run folder of a program, or resumes the run that the same command started in it and that was
// interrupted or ended by its time limit. A resumed run keeps its timed repetitions and its complete tables, and reads
// the files and proves the results again. newRun describes a run that is not resumed.
func Folder(dir string, newRun run.Run, progress func(string)) (*run.Folder, error) {
	isTimed := func(s *run.Sample) bool { return s.Rep > 0 && s.Measured() != nil }
	r, _, err := run.Read(dir)
	isEndedByLimit := err == nil && slices.ContainsFunc(r.Warnings, isTimeLimitReached)
	return run.Resume(dir, newRun, isEndedByLimit, isTimed, progress)
}
