package own

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
)

// A resumed run keeps the tables that an engine has completely. After a table is loaded, defined and counted, the run
// stores a marker in the engine: a table with one row, which has a checksum of the table's files, types and
// definitions, and the load time. The marker is in the same schema or file as the tables, so whatever replaces them
// removes it.

// markerOf returns the name of a table's marker.
func markerOf(table string) string {
	sum := sha256.Sum256([]byte(table))
	return "barograph_loaded_" + hex.EncodeToString(sum[:8])
}

// checksum covers what the load of a table into an engine depends on.
func (r *runner) checksum(p *participant, t *tables.Table) (string, error) {
	k := slices.IndexFunc(r.folder.Run.Own.Tables, func(o run.OwnTable) bool { return o.Name == t.Name })
	var definitions []byte
	if path := r.definitions[t.Name+"."+p.scheme]; path != "" {
		var err error
		if definitions, err = os.ReadFile(path); err != nil {
			return "", err
		}
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q", t.Name, r.folder.Run.Own.Tables[k].Columns, definitions)
	for _, f := range r.folder.Run.Own.Tables[k].Sources {
		fmt.Fprintf(sum, " %s %d", f.SHA256, f.Rows)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// mark stores the marker of a loaded table.
func (r *runner) mark(ctx context.Context, p *participant, t *tables.Table, checksum string, load int64) error {
	m := &tables.Table{
		Name: markerOf(t.Name), Parquet: filepath.Join(r.work, "marker.parquet"),
		Columns: []tables.Column{{Name: "checksum", Kind: tables.Text, Digits: len(checksum)}, {Name: "load_ns", Kind: tables.Integer}},
		Each: func(_ context.Context, f func(row []any) error) error {
			return f([]any{checksum, strconv.FormatInt(load, 10)})
		},
	}
	if err := exec(ctx, r.ref, fmt.Sprintf("COPY (SELECT %s AS checksum, %d::BIGINT AS load_ns) TO %s"+parquet, flavour.Quote(checksum), load, flavour.Quote(m.Parquet))); err != nil {
		return err
	}
	return p.own.Load(ctx, m)
}

// unmark removes what an engine has of a table: the marker first, so that no marker outlives its table.
func (p *participant) unmark(ctx context.Context, t *tables.Table) error {
	for _, name := range []string{markerOf(t.Name), t.Name} {
		if err := exec(ctx, p.own, "DROP TABLE IF EXISTS "+p.ident(name)); err != nil {
			return err
		}
	}
	return nil
}

// ident quotes a name for the engine.
func (p *participant) ident(name string) string {
	if p.own.Ident != nil {
		return p.own.Ident(name)
	}
	return flavour.Ident(name)
}

// kept reports whether an engine still has a table of the interrupted run, and returns its load time in nanoseconds.
// The marker must have the same checksum, and the table the same counts, extreme values and sums as the files.
func (r *runner) kept(ctx context.Context, p *participant, t *tables.Table, checksum string) (load int64, ok bool) {
	err := p.own.Ask(ctx, "SELECT checksum, load_ns FROM "+p.ident(markerOf(t.Name)), func(row []any) (err error) {
		ok = fmt.Sprint(row[0]) == checksum
		load, err = strconv.ParseInt(fmt.Sprint(row[1]), 10, 64)
		return err
	})
	if err != nil || !ok {
		return 0, false
	}
	want, err := rows(ctx, r.ref, aggregates(t, flavour.Ident)+" FROM read_parquet("+flavour.Quote(t.Parquet)+")", nil, nil)
	if err != nil {
		return 0, false
	}
	got, err := rows(ctx, p.own, aggregates(t, p.ident)+" FROM "+p.ident(t.Name), nil, nil)
	if err != nil {
		return 0, false
	}
	_, err = answer.CompareLoose(answer.Expect(want, answer.Shape{Width: 1 + 3*len(t.Columns), Limit: -1}), got, answer.Tolerance)
	return load, err == nil
}

// aggregates returns a SELECT of the number of rows and, for each column, of the number of values, the smallest and
// the largest value. Two types differ: for booleans it counts the true values, because not every engine orders
// booleans, and for integers it sums remainders instead of the largest value, because no such sum overflows.
func aggregates(t *tables.Table, ident func(string) string) string {
	out := []string{"count(*)"}
	for _, c := range t.Columns {
		name := ident(c.Name)
		least, most := "min("+name+")", "max("+name+")"
		switch c.Kind {
		case tables.Bool:
			least, most = "sum(CASE WHEN "+name+" THEN 1 ELSE 0 END)", "0"
		case tables.Integer:
			most = "sum(" + name + " % 1000003)"
		case tables.Decimal, tables.Float, tables.Date, tables.Time, tables.Text:
		}
		out = append(out, "count("+name+")", least, most)
	}
	return "SELECT " + strings.Join(out, ", ")
}

// sha256Of returns the checksum of a stored file.
func sha256Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer f.Close() //nolint:errcheck // it is only read
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", unreadable(path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// checkSameTables refuses to resume a run whose timed results are of other tables than the present ones.
func (r *runner) checkSameTables(before []run.OwnTable) error {
	if len(before) == 0 || len(r.folder.Samples()) == 0 {
		return nil
	}
	for _, t := range r.folder.Run.Own.Tables {
		k := slices.IndexFunc(before, func(o run.OwnTable) bool { return o.Name == t.Name })
		if k < 0 || !slices.Equal(before[k].Sources, t.Sources) || !slices.Equal(before[k].Columns, t.Columns) {
			return &fault.Error{File: r.folder.Dir, Problem: "contains timings of other files: table " + t.Name + " has changed since", Cure: "name another folder"}
		}
	}
	return nil
}
