package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

// maxRows limits the rows of a result, because the results are kept in memory.
const maxRows = 1_000_000

// query sends a question to an engine once, within the timeout, with a set of parameter values. It calls each for every
// row of the result, unless each is nil. Its errors name the file and line of the query.
func (r *runner) query(
	ctx context.Context, p *participant, q *Question, set int, each func(row []any),
) (l *answer.Loose, err error) {
	if !q.hasText(p.scheme) {
		return nil, &fault.Error{
			File: q.File, Line: q.Line,
			Problem: q.Name + " has no text for " + p.scheme,
			Cure:    "write it into " + q.textFile(p.scheme),
		}
	}
	if p.own == nil {
		return nil, p.reopenError()
	}
	err = r.withTimeout(ctx, q, p.scheme, func(ctx context.Context) (err error) {
		l, err = rows(ctx, p.own, q.Text(p.scheme, set), each, nil)
		return err
	})
	if err != nil {
		err = withPlace(q, p.scheme, err)
	}
	return l, err
}

// rows returns the rows of a query. It calls each for every row before it stores the row, and ends the query early
// when enough returns true. Both may be nil.
func rows(
	ctx context.Context, o *tables.Tables, text string, each func(row []any), enough func(l *answer.Loose) bool,
) (*answer.Loose, error) {
	var out answer.Loose
	err := o.Ask(ctx, text, func(row []any) error {
		if out.Len() == maxRows {
			return fmt.Errorf("the result has more than %s, and all must fit into memory: "+
				"aggregate them, or add ORDER BY with LIMIT", run.CountOf(maxRows, "row"))
		}
		if each != nil {
			each(row)
		}
		if out.Add(row); enough != nil && enough(&out) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return &out, err
}

var errEnough = errors.New("enough rows")

// withPlace adds the file and line of a query to its error.
func withPlace(q *Question, scheme string, err error) error {
	file, line := q.Place(scheme)
	f, ok := errors.AsType[*fault.Error](err)
	if hasPlace := ok && f.File != ""; hasPlace || errors.Is(err, engine.ErrUnreachable) {
		return err
	}
	cure := cureOf(err, "change the query, or write a text for "+scheme+" into "+q.textFile(scheme))
	return &fault.Error{File: file, Line: line, Problem: scheme + " cannot run " + q.Name, Err: oneLine{err}, Cure: cure}
}

// oneLine is an error of an engine with its text on one line, without the excerpt of the query that DuckDB adds.
type oneLine struct{ error }

// Error returns the text.
func (e oneLine) Error() string {
	text, _, _ := strings.Cut(e.error.Error(), "\nLINE ")
	return strings.Join(strings.Fields(text), " ")
}

// Unwrap returns the error.
func (e oneLine) Unwrap() error { return e.error }

// cureOf returns the cure of an engine's error: more memory if DuckDB had too little, and the cure otherwise for any
// other error.
func cureOf(err error, otherwise string) string {
	if strings.Contains(err.Error(), "Out of Memory Error") {
		return "write a larger --memory, or a memory_limit into the URL of the engine duckdb"
	}
	return otherwise
}

// computeReference runs every query with DuckDB on the files. It skips a query that fails and continues with the
// others.
func (r *runner) computeReference(ctx context.Context) error {
	n := len(r.Questions)
	r.Progress(fmt.Sprintf("DuckDB over the files: %s, with %s of memory", english.Plural(n, "query", ""), r.Memory))
	r.want, r.names, r.skipped = make([][]*answer.Expected, n), make([][]string, n), make([]error, n)
	v, began := &variants{runner: r, unique: map[string]string{}, sliceBytes: sliceBytes}, time.Now()
	for k, q := range r.Questions {
		r.reportCount("DuckDB over the files", k, n, began)
		out := run.OwnQuestion{
			Name: q.Name, Title: q.Title,
			File: q.File, Line: q.Line,
			ParameterSets: q.ParameterSets(),
			Texts:         q.Texts,
			ComparedWith:  map[string]string{},
		}
		for set := range q.ParameterSets() {
			var e *answer.Expected
			err := r.withProgress("DuckDB over the files: "+q.Name, nil, func() error {
				return r.withTimeout(ctx, q, reference, func(ctx context.Context) (err error) {
					e, err = v.expect(ctx, k, set, &out)
					return err
				})
			})
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.skip(k, err)
				break
			}
			if r.want[k] = append(r.want[k], e); set == 0 {
				out.Rows = e.Len()
			}
		}
		r.folder.Run.Own.Questions = append(r.folder.Run.Own.Questions, out)
	}
	return v.run(ctx)
}

// skip omits a query on all engines, because of an error of DuckDB over the files.
func (r *runner) skip(k int, err error) {
	r.skipped[k] = withPlace(r.Questions[k], reference, err)
	r.Progress("skipped " + r.Questions[k].Name + ": " + fault.Text(r.skipped[k]))
}

// missingTable returns the reason why an engine cannot run a query: a table is missing.
func (p *participant) missingTable(q *Question) error {
	for _, name := range tablesOf(q.Text(p.scheme, 0)) {
		if err := p.missing[name]; err != nil {
			return err
		}
	}
	return nil
}

// prove runs every query on every engine without timing it, and compares each result with that of DuckDB on the files.
// The verdict on an engine does not depend on the other engines. For DuckDB's own results the run folder names an
// engine that confirms them.
func (r *runner) prove(ctx context.Context) error {
	for _, p := range r.measured() {
		r.Progress(fmt.Sprintf("%s: proving %s", p.name, english.Plural(len(r.Questions), "query", "")))
		p.proven = make([]bool, len(r.Questions))
		began := time.Now()
		for k, q := range r.Questions {
			r.reportCount(p.name, k, len(r.Questions), began)
			proof, err := answer.Proof{}, cmp.Or(r.skipped[k], p.missingTable(q))
			for set := 0; set < q.ParameterSets() && err == nil; set++ {
				var got *answer.Loose
				var saved *result
				if saved, err = r.result(p, k, set); err != nil {
					return err
				}
				err = r.withProgress(p.name+": "+q.Name, nil, func() (err error) {
					got, err = r.query(ctx, p, q, set, saved.row)
					return err
				})
				if err == nil {
					proof, err = answer.CompareLoose(r.want[k][set], got, r.Tolerance)
				}
				if err := saved.close(err == nil); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.proven[k] = err == nil; err != nil {
				if err := r.folder.Add(run.Sample{Cell: run.OwnCell(p.name, q.Name), Phase: run.Warm}.Judge(nil, proof, err)); err != nil {
					return err
				}
				continue
			}
			r.folder.Run.Own.Questions[k].ComparedWith[p.name] = run.OverFiles
		}
	}
	for k := range r.Questions {
		agreed := r.folder.Run.Own.Questions[k].ComparedWith
		witness := run.Unconfirmed
		for _, p := range r.measured() {
			if p.scheme != reference && p.proven[k] {
				witness = p.name
				break
			}
		}
		for _, p := range r.measured() {
			if p.scheme == reference && p.proven[k] {
				agreed[p.name] = witness
			}
		}
	}
	return nil
}
