package own

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/run"
)

// goodName is a table's name that needs no quotes in any engine.
var goodName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// isData reports whether a file holds rows, and whether as CSV.
func isData(name string) (base string, csv, ok bool) {
	for _, end := range []string{".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz"} {
		if b, found := strings.CutSuffix(strings.ToLower(name), end); found {
			return b, end != ".parquet", true
		}
	}
	return "", false, false
}

// findTables finds the tables of a folder: each file is one, and so is each
// folder of files.
func findTables(dir string) (out []*engine.OwnTable, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if star, _, err := engine.OpenStarFiles(dir); err == nil { // as barograph synth tpcds writes it
		for _, name := range engine.StarTables() {
			out = append(out, &engine.OwnTable{Name: string(name), Files: star.Parquet[name]})
		}
		return out, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, &fault.Error{File: dir, Problem: "cannot be read", Err: err, Cure: "name a folder of Parquet or CSV files"}
	}
	for _, e := range entries {
		t := &engine.OwnTable{Name: strings.ToLower(e.Name())}
		if e.IsDir() {
			if t.Files, t.CSV, err = filesOf(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
		} else if base, csv, ok := isData(e.Name()); ok {
			t.Name, t.CSV, t.Files = base, csv, []string{filepath.Join(dir, e.Name())}
		}
		if len(t.Files) == 0 {
			continue
		}
		if !goodName.MatchString(t.Name) {
			return nil, &fault.Error{File: t.Files[0], Problem: "would be a table called " + t.Name, Cure: "rename it: letters, digits and _"}
		}
		if i := slices.IndexFunc(out, func(o *engine.OwnTable) bool { return o.Name == t.Name }); i >= 0 {
			return nil, &fault.Error{File: t.Files[0], Problem: "and " + out[i].Files[0] + " would be one table", Cure: "put files of one table into a folder of its name, in one format"}
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, &fault.Error{File: dir, Problem: "holds no Parquet or CSV file", Cure: "name a folder of them: NAME.parquet, or NAME/*.parquet, is the table NAME"}
	}
	return out, nil
}

// filesOf are the files of a table's folder, and whether they are CSV.
func filesOf(dir string) (files []string, csv bool, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, false, err
	}
	for _, e := range entries {
		_, is, ok := isData(e.Name())
		if !ok || e.IsDir() {
			continue
		}
		if len(files) > 0 && is != csv {
			return nil, false, &fault.Error{File: dir, Problem: "holds Parquet and CSV files", Cure: "put files of one format into the folder of a table"}
		}
		files, csv = append(files, filepath.Join(dir, e.Name())), is
	}
	return files, csv, nil
}

// prepare has the reference find a table's columns, and write its rows as the
// engines take them, with the types that all have.
func prepare(ctx context.Context, ref *engine.Own, t *engine.OwnTable, work string) (out run.OwnTable, err error) {
	out = run.OwnTable{Name: t.Name, Files: t.Files}
	for _, f := range t.Files {
		info, err := os.Stat(f)
		if err != nil {
			return out, err
		}
		out.Bytes += info.Size()
	}
	if err := ref.Describe(ctx, t); err != nil {
		return out, err
	}
	for _, c := range t.Columns {
		out.Columns = append(out.Columns, c.Name+" ("+string(c.Kind)+")")
	}
	t.Parquet = filepath.Join(work, t.Name+".parquet")
	if err := nothing(ctx, ref, "COPY (SELECT * FROM "+flavour.Ident(t.Name)+") TO "+flavour.Quote(t.Parquet)+" (FORMAT parquet)"); err != nil {
		return out, err
	}
	err = ref.Ask(ctx, "SELECT count(*) FROM "+flavour.Ident(t.Name), func(row []any) error {
		n, ok := row[0].(int64)
		if out.Rows = n; !ok || n == 0 {
			return &fault.Error{File: t.Files[0], Problem: "holds no row", Cure: "name files that do"}
		}
		return nil
	})
	return out, err
}

// nothing carries out a statement whose reply does not matter.
func nothing(ctx context.Context, ref *engine.Own, text string) error {
	return ref.Ask(ctx, text, func([]any) error { return nil })
}
