package own

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
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

// A resumed run keeps the tables that an engine has loaded completely. After an engine has loaded a table, executed its
// definitions and counted its rows, the run stores a marker in the engine: a table with one row, which contains the
// load time and a checksum of the table's files, types and definitions. The marker is in the same schema or file as
// the tables, so whatever replaces them also removes the marker.

// markerOf returns the name of a table's marker. It contains a hash, because a table name may be too long for a suffix.
func markerOf(table string) string {
	sum := sha256.Sum256([]byte(table))
	return "barograph_loaded_" + hex.EncodeToString(sum[:8])
}

// checksum returns a checksum of everything that determines what an engine loads: the name, the columns and the files
// of a table, and its definitions for the engine.
func (r *runner) checksum(p *participant, t *tables.Table) (string, error) {
	k := slices.IndexFunc(r.folder.Run.Own.Tables, func(o run.OwnTable) bool { return o.Name == t.Name })
	described := &r.folder.Run.Own.Tables[k]
	var definitions []byte
	if path := r.definitions[t.Name+"."+p.scheme]; path != "" {
		var err error
		if definitions, err = os.ReadFile(path); err != nil {
			return "", err
		}
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q", t.Name, described.Columns, definitions)
	for _, f := range described.Sources {
		fmt.Fprintf(sum, " %s %d", f.SHA256, f.Rows)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// mark stores the marker of a loaded table.
func (r *runner) mark(ctx context.Context, p *participant, t *tables.Table, checksum string, loadNanos int64) error {
	marker := &tables.Table{
		Name:    markerOf(t.Name),
		Parquet: filepath.Join(r.work, markerOf(t.Name)+".parquet"),
		Columns: []tables.Column{
			{Name: "checksum", Kind: tables.Text, Digits: len(checksum)},
			{Name: "load_ns", Kind: tables.Integer},
		},
		Each: func(_ context.Context, f func(row []any) error) error {
			return f([]any{checksum, strconv.FormatInt(loadNanos, 10)})
		},
	}
	row := fmt.Sprintf("SELECT %s AS checksum, %d::BIGINT AS load_ns", flavour.Quote(checksum), loadNanos)
	if err := exec(ctx, r.ref, "COPY ("+row+") TO "+flavour.Quote(marker.Parquet)+parquet); err != nil {
		return err
	}
	return p.own.Load(ctx, marker)
}

// unmark removes a table and its marker from an engine. It removes the marker first, so no marker outlives its table.
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

// isLoaded reports whether an engine still has a table of the interrupted run, and returns its load time in
// nanoseconds. The marker must have the same checksum, and the table the same counts, extreme values and sums as the
// files.
func (r *runner) isLoaded(
	ctx context.Context, p *participant, t *tables.Table, checksum string,
) (loadNanos int64, ok bool) {
	err := p.own.Ask(ctx, "SELECT checksum, load_ns FROM "+p.ident(markerOf(t.Name)), func(row []any) (err error) {
		ok = fmt.Sprint(row[0]) == checksum
		loadNanos, err = strconv.ParseInt(fmt.Sprint(row[1]), 10, 64)
		return err
	})
	if err != nil || !ok {
		return 0, false
	}
	inFiles := aggregates(t, flavour.Ident) + " FROM read_parquet(" + flavour.DuckDBFile(t.Parquet) + ")"
	want, err := rows(ctx, r.ref, inFiles, nil, nil)
	if err != nil {
		return 0, false
	}
	got, err := rows(ctx, p.own, aggregates(t, p.ident)+" FROM "+p.ident(t.Name), nil, nil)
	if err != nil {
		return 0, false
	}
	shape := answer.Shape{Width: 1 + 3*len(t.Columns), Limit: -1}
	_, err = answer.CompareLoose(answer.Expect(want, shape), got, answer.Tolerance)
	return loadNanos, err == nil
}

// aggregates returns a SELECT of the number of rows and, for each column, of the number of values, the smallest and
// the largest value. Booleans and integers are exceptions. For booleans it counts the true values, because not every
// engine orders booleans. For integers it replaces the largest value by a sum of remainders, which detects a changed
// value between the extremes and does not overflow.
func aggregates(t *tables.Table, ident func(string) string) string {
	out := []string{"count(*)"}
	for _, c := range t.Columns {
		name := ident(c.Name)
		smallest, largest := "min("+name+")", "max("+name+")"
		switch c.Kind {
		case tables.Bool:
			smallest, largest = "sum(CASE WHEN "+name+" THEN 1 ELSE 0 END)", "0"
		case tables.Integer:
			largest = "sum(" + name + " % 1000003)"
		case tables.Decimal, tables.Float, tables.Date, tables.Time, tables.Text:
		}
		out = append(out, "count("+name+")", smallest, largest)
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

// inputChecksums returns checksums of what the engines of the run use: the queries, with the values of their parameters,
// and the files with statements for a table.
func (r *runner) inputChecksums() map[string]string {
	all := map[string]string{}
	for _, q := range r.Questions {
		text := fmt.Appendf(nil, "%q", q.params)
		for _, p := range r.participants {
			own, ok := q.Texts[p.scheme]
			if !ok {
				own = q.Texts[""]
			}
			text = fmt.Appendf(text, " %q", own)
		}
		sum := sha256.Sum256(text)
		all["query "+q.Name] = hex.EncodeToString(sum[:])
	}
	for key, path := range r.definitions {
		if !slices.ContainsFunc(r.participants, func(p *participant) bool { return strings.HasSuffix(key, "."+p.scheme) }) {
			continue
		}
		sum, err := sha256Of(path)
		if err != nil {
			sum = "unreadable" // the load reports it
		}
		all["file "+filepath.Base(path)] = sum
	}
	return all
}

// checkSameInputs refuses to resume a run if its files, queries or statements have changed since it timed queries.
// before has those of the interrupted run. Run folders of earlier versions have no checksums.
func (r *runner) checkSameInputs(before *run.Own) error {
	now := r.folder.Run.Own
	checksums := r.inputChecksums()
	if len(before.Tables) == 0 || len(r.folder.Samples()) == 0 {
		now.Checksums = checksums
		return nil
	}
	refuse := func(kind, name string) error {
		problem := "contains timings of other " + kind + ": " + name + " has changed since"
		return &fault.Error{File: r.folder.Dir, Problem: problem, Cure: "name another folder"}
	}
	find := func(all []run.OwnTable, name string) (t run.OwnTable) {
		if k := slices.IndexFunc(all, func(o run.OwnTable) bool { return o.Name == name }); k >= 0 {
			t = all[k]
		}
		return t
	}
	for _, t := range slices.Concat(now.Tables, before.Tables) {
		a, b := find(before.Tables, t.Name), find(now.Tables, t.Name)
		if (a.Name == "" || a.Problem != "") && (b.Name == "" || b.Problem != "") {
			continue // no timing depends on a table that was never read
		}
		if !slices.Equal(a.Sources, b.Sources) || !slices.Equal(a.Columns, b.Columns) {
			return refuse("files", "table "+t.Name)
		}
	}
	both := maps.Clone(checksums)
	maps.Copy(both, before.Checksums)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if len(before.Checksums) > 0 && before.Checksums[name] != checksums[name] {
			return refuse("queries or statements", name)
		}
	}
	now.Checksums = checksums
	return nil
}
