package own_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/own"
)

// parquetOf returns a Parquet file of rows.
func parquetOf[T any](t *testing.T, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type sale struct {
	ID    int64   `parquet:"id"`
	Price float64 `parquet:"price"`
}

// sales returns a Parquet file with n sales whose ids start at from.
func sales(t *testing.T, from, n int) string {
	t.Helper()
	var rows []sale
	for i := range n {
		rows = append(rows, sale{int64(from + i), float64(i) / 4})
	}
	return parquetOf(t, rows...)
}

// questions parses the questions of a text.
func questions(t *testing.T, text string) []*own.Question {
	t.Helper()
	return questionFiles(t, "q.sql", text)
}

// questionFiles parses the questions of files with the given names and texts.
func questionFiles(t *testing.T, files ...string) []*own.Question {
	t.Helper()
	qs, err := own.Questions([]string{write(t, files...)}, own.Names(all.Registry()))
	if err != nil {
		t.Fatal(err)
	}
	return qs
}

// TestEveryFileIsAccountedFor: the run reads files of nested folders and of Hive's partitions. It assigns each file to
// a table, or lists the file with the reason why it is unused.
func TestEveryFileIsAccountedFor(t *testing.T) {
	type narrow struct {
		ID int32 `parquet:"id"`
	}
	type nested struct {
		ID   int64    `parquet:"id"`
		Tags []string `parquet:"tags,list"`
	}
	tables := write(t,
		"sales/head.parquet", sales(t, 0, 5),
		"sales/day=2024-01-01/p.parquet", sales(t, 10, 10),
		"sales/day=2024-01-02/p.parquet", sales(t, 20, 10),
		"sales/_SUCCESS", "",
		"sales/.p.crc", "",
		"deep/a/b.csv", "x;y\n1;a\n",
		"deep/c.csv", "y,z\nb,2.5\nc,3\n",
		"few/one.parquet", parquetOf(t, narrow{1}, narrow{2}),
		"few/two.parquet", sales(t, 3, 2),
		"tags-of.parquet", parquetOf(t, nested{1, []string{"a"}}),
		"readme.txt", "")
	qs := questions(t, "-- name: rows\nSELECT count(*) AS n, count(day) AS d FROM sales;\n"+
		"-- name: days\nSELECT day, count(*) AS n FROM sales GROUP BY day;\n"+
		"-- name: deep\nSELECT x, y, z FROM deep;\n"+
		"-- name: few\nSELECT sum(id) AS i, count(price) AS p FROM few;\n"+
		"-- name: nested\nSELECT id FROM tags_of")
	r, samples, err := execute(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		if samples[i].Verdict != run.Equal {
			t.Errorf("%s: %s", samples[i].Cell, samples[i].Problem)
		}
	}
	accounting := strings.Join(r.Own.Accounting(), "\n")
	for _, want := range []string{
		"table sales: 3 files, 25 rows: id (whole number), price (floating-point number), day (date)",
		"sales/day=2024-01-01/p.parquet: 10 rows",
		"_SUCCESS: its name starts with _",
		"readme.txt: its name is not that of a Parquet or CSV file",
		"table deep: 2 files, 3 rows: x (whole number), y (text), z (decimal(2, 1))",
		"deep/c.csv: 2 rows, 3 lines, SHA-256 ",
		"table few: 2 files, 4 rows",
		"column price is missing in ",
		"table tags_of: 1 file, 1 row: id (whole number)", "column tags is ignored: its type VARCHAR[]", ".p.crc: its name starts with .",
	} {
		if !strings.Contains(accounting, want) {
			t.Errorf("%q is not in\n%s", want, accounting)
		}
	}
	if rows := r.Own.Questions[1].Rows; rows != 3 || len(r.Own.SkippedFiles) != 3 {
		t.Errorf("%d rows, %v", rows, r.Own.SkippedFiles)
	}
}

// TestUnnamedColumns: a column that the first line of a CSV file does not name has the name of its position, in the
// values too. No other column of the table has this name: neither one of another file nor the key of a folder.
func TestUnnamedColumns(t *testing.T) {
	tables := write(t,
		"one.csv", "\"\",a,,A_\n1,2,3,4\n",
		"few/a.csv", ",a\n1,x\n",
		"few/b.csv", ",a\n2,y\n",
		"few/c.csv", "a,Column 1\nz,3\n",
		"keys/column_1=7/a.csv", ",a\n1,x\n")
	qs := questions(t, "-- name: one\nSELECT column_1, a, column_3, a_ FROM one WHERE column_1 + a + column_3 + a_ = 10;\n"+
		"-- name: few\nSELECT column_1_, a, column_1 FROM few WHERE (a = 'x' AND column_1_ = 1 AND column_1 IS NULL) "+
		"OR (a = 'y' AND column_1_ = 2) OR (a = 'z' AND column_1_ IS NULL AND column_1 = 3);\n"+
		"-- name: keys\nSELECT column_1, column_1_, a FROM keys WHERE column_1 = 7 AND column_1_ = 1")
	r, samples, err := execute(t, own.Program{Engines: inFiles(t), Tables: tables, Questions: qs, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range samples {
		if samples[i].Verdict != run.Equal {
			t.Errorf("%s: %s", samples[i].Cell, samples[i].Problem)
		}
	}
	for i, want := range []int{1, 3, 1} {
		if r.Own.Questions[i].Rows != want {
			t.Errorf("%s: %d rows, not %d", r.Own.Questions[i].Name, r.Own.Questions[i].Rows, want)
		}
	}
	accounting := strings.Join(r.Own.Accounting(), "\n")
	for _, want := range []string{
		"one.csv: the first line does not name column 1; its name here is column_1\n",
		"one.csv: the first line does not name column 3; its name here is column_3\n",
		"a.csv: the first line does not name column 1; its name here is column_1_, also in 1 more file\n",
		"column_1=7/a.csv: the first line does not name column 1; its name here is column_1_\n",
	} {
		if !strings.Contains(accounting+"\n", want) {
			t.Errorf("%q is not in\n%s", want, accounting)
		}
	}
}

// TestLinkedFiles: the run reports the size of a data file, not that of the symbolic link to it.
func TestLinkedFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT TESTED: symbolic links need a privilege on Windows")
	}
	text := "id\n" + strings.Repeat("12345678\n", 1000)
	dir := write(t, "_data/data.csv", text)
	if err := os.Symlink(filepath.Join(dir, "_data", "data.csv"), filepath.Join(dir, "t.csv")); err != nil {
		t.Fatal(err)
	}
	r, _, err := execute(t, own.Program{
		Engines: inFiles(t), Tables: dir, Questions: questions(t, "SELECT count(*) AS n FROM t"), Reps: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if size := int64(len(text)); r.Own.Tables[0].Bytes != size || r.Data.Bytes != size {
		t.Errorf("%d bytes, %d of all tables, not %d", r.Own.Tables[0].Bytes, r.Data.Bytes, size)
	}
}

// TestLinkedFolder: --tables may be a symbolic link to a folder.
func TestLinkedFolder(t *testing.T) {
	dir := write(t, ".data/t.csv", "id\n1\n2\n", ".data/types.sql", "CREATE TABLE t (id BIGINT);")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(".data", link); err != nil {
		t.Skip("NOT TESTED: no symbolic links: ", err)
	}
	r, _, err := execute(t, own.Program{
		Engines: inFiles(t), Tables: link, Types: filepath.Join(link, "types.sql"), Questions: questions(t, "SELECT count(*) AS n FROM t"), Reps: 1,
	})
	if err != nil || len(r.Own.Tables) != 1 || len(r.Own.SkippedFiles) != 1 || r.Own.SkippedFiles[0].Reason != "declares types" {
		t.Errorf("%+v, %v", r.Own, err)
	}
}

// TestTypesAmongTables: a file of types among the tables is no table, whether its path is absolute or relative.
func TestTypesAmongTables(t *testing.T) {
	dir := write(t, "t.csv", "id\n1\n", "types.sql", "CREATE TABLE t (id BIGINT);", "schema.sql", "CREATE TABLE t (id TEXT);")
	t.Chdir(dir)
	for _, types := range []string{"types.sql", filepath.Join(dir, "types.sql")} {
		r, _, err := execute(t, own.Program{
			Engines: inFiles(t), Tables: ".", Types: types, Questions: questions(t, "SELECT id FROM t"), Reps: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		skipped := r.Own.SkippedFiles
		if len(skipped) != 2 || skipped[0].Reason != "is not read, because --types names another file" ||
			skipped[1].Reason != "declares types" {
			t.Errorf("--types %s: %v", types, skipped)
		}
	}
}

// TestBadFiles: the run skips a table that it cannot read, with the file and line of the problem, and runs the queries
// of the other tables.
func TestBadFiles(t *testing.T) {
	good := sales(t, 0, 3)
	truncated := good[:len(good)/2]
	type words struct {
		ID string `parquet:"id"`
	}
	for _, c := range []struct {
		files   []string
		problem string
	}{
		{[]string{"bad/a.parquet", good, "bad/b.parquet", truncated}, "b.parquet cannot be read as table bad"},
		{[]string{"bad/a.parquet", good, "bad/b.parquet", parquetOf(t, words{"x"})}, "b.parquet: column id is a text, and a whole number in "},
		{[]string{"bad.csv", "a,b\n1,2\n3,4,5\n"}, "bad.csv:3 has 3 fields"},
		{[]string{"bad.csv", "a,b\n1,\"2\n3,4\n"}, "bad.csv:2: opens a quote that is not closed"},
		{[]string{"bad.csv", "a\n1\n\xff\n"}, "bad.csv:3 is not UTF-8"},
		{[]string{"bad.csv.gz", "no gzip"}, "bad.csv.gz cannot be read"},
		{[]string{"bad.csv", "a,A\n1,2\n"}, "bad.csv:1 has two columns whose name in lower case is a"},
		{[]string{"bad/x.csv", "a\n1\n", "bad/y.parquet", good}, "have two formats"},
		{[]string{"bad/day=1/a.parquet", good, "bad/id=1/a.parquet", good}, "column id is in the names of folders and in the files"},
		{[]string{"bad.csv", "n\n1.5\n", "schema.sql", "CREATE TABLE bad (n BIGINT)"}, `bad.csv:2: column n: "1.5" is not a whole number`},
		{[]string{"bad.csv", "n\n1.255\n", "schema.sql", "CREATE TABLE bad (n DECIMAL(9, 2))"}, `"1.255" is not a decimal(9, 2)`},
	} {
		r, samples, err := execute(t, own.Program{
			Engines: inFiles(t), Tables: write(t, append(c.files, "good.parquet", good)...),
			Questions: questions(t, "SELECT count(*) AS n FROM good"), Reps: 1,
		})
		if fault.Code(err) != fault.Incomplete || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v", c.problem, err)
		}
		accounting := strings.Join(r.Own.Accounting(), "\n")
		if len(samples) != 2 || samples[0].Verdict != run.Equal || !strings.Contains(accounting, "table bad was skipped: ") {
			t.Errorf("%q: %d samples, %q", c.problem, len(samples), accounting)
		}
		if f := r.Own.Tables[0].Sources[0]; f.SHA256 != "" || f.Lines != 0 {
			t.Errorf("%q: a checksum of a file that was not read to its end: %+v", c.problem, f)
		}
	}
	if os.Getuid() == 0 {
		return // root reads every file
	}
	dir := write(t, "bad.parquet", good, "good.parquet", good)
	if err := os.Chmod(filepath.Join(dir, "bad.parquet"), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := execute(t, own.Program{
		Engines: inFiles(t), Tables: dir, Questions: questions(t, "SELECT count(*) AS n FROM good"), Reps: 1,
	}); fault.Code(err) != fault.Incomplete {
		t.Error(err)
	}
}

// TestCSVValues: the type of a column is the declared type, or the narrowest one that keeps every value.
func TestCSVValues(t *testing.T) {
	enginetest.NotUnderRace(t)
	for _, c := range []struct{ values, declared, want string }{
		{"12345678901234567890,12345678901234567891,12345678901234567890", "", "decimal(20, 0)"},
		{"9223372036854775807,-9223372036854775808", "", "whole number"},
		{strings.Repeat("9", 38), "", "decimal(38, 0)"},
		{strings.Repeat("9", 39), "", "text"},
		{"1.50,2,-0.05", "", "decimal(3, 2)"},
		{"0.30000000000000004,1e-300", "", "floating-point number"},
		{"0.1000000000000000055", "", "decimal(19, 19)"},
		{"1e400", "", "text"},
		{"007,008", "", "text"},
		{"+5", "", "text"},
		{"1_000", "", "text"},
		{"0x10", "", "text"},
		{"true,false", "", "boolean"},
		{"true,FALSE", "", "text"},
		{"2024-02-29", "", "date"},
		{"2024-02-30", "", "text"},
		{"2024-02-29,2024-02-29 10:00:00", "", "text"},
		{"2024-02-29 10:00:00,2024-02-29T10:00:00.25", "", "time"},
		{"2024-02-29 10:00:00.1234567", "", "text"},
		{"2024-02-29T10:00:00Z,2024-02-29T10:00:00+05:30", "", "time with zone, in UTC"},
		{"2024-02-29T10:00:00Z,2024-02-29T10:00:00", "", "text"},
		{"inf,nan,1.5", "", "floating-point number"},
		{"nan", "", "text"},
		{"1,2", "TEXT", "text"},
		{"1.5", "DOUBLE", "floating-point number"},
		{"1.5,2.25", "DECIMAL(10, 2)", "decimal(10, 2)"},
		{"2024-01-01", "DATE NOT NULL", "date"},
	} {
		tables, rows := "", strings.Split(c.values, ",")
		text := "k,v\n"
		for i, v := range rows {
			text += fmt.Sprintf("%d,%s\n", i, v)
		}
		if tables = write(t, "t.csv", text+"99,\n"); c.declared != "" {
			schema := "-- mine\nCREATE TABLE t (k INTEGER PRIMARY KEY, v " + c.declared + ");"
			if err := os.WriteFile(filepath.Join(tables, "schema.sql"), []byte(schema), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, _, err := execute(t, own.Program{
			Engines: inFiles(t), Tables: tables, Questions: questions(t, "SELECT count(DISTINCT v) AS n FROM t"),
			Reps: 1,
		})
		if err != nil && fault.Code(err) != fault.Incomplete { // SQLite refuses decimals of many digits, and NaN
			t.Errorf("%s: %v", c.values, err)
		}
		if r.Own == nil || len(r.Own.Tables) != 1 || len(r.Own.Tables[0].Columns) != 2 || r.Own.Tables[0].Columns[1] != "v ("+c.want+")" {
			t.Errorf("%s: %v, not %s, %v", c.values, r.Own, c.want, err)
		}
		if f := r.Own.Tables[0].Sources[0]; f.Lines != int64(len(rows)+2) || f.Rows != int64(len(rows)+1) || len(f.SHA256) != 64 {
			t.Errorf("%s: %+v", c.values, f)
		}
	}
}

// TestChangedValuesAreDetected: the run refuses a table if DuckDB's reader changes a value or omits a row, and names
// the file and the line.
func TestChangedValuesAreDetected(t *testing.T) {
	changeValue := func(row []any, _ int) bool {
		row[1] = strings.Replace(row[1].(string), "2.25", "2.26", 1)
		return true
	}
	for _, c := range []struct {
		change  func(row []any, n int) (keep bool)
		problem string
	}{
		{changeValue, `t.csv:3: column price: DuckDB reads "2.25" as 2.26 (decimal(3, 2))`},
		{func(_ []any, n int) bool { return n != 1 }, "t.csv:3: column id: "},
		{func(_ []any, n int) bool { return n != 3 }, "t.csv:5: DuckDB's reader omits this line"},
	} {
		faulty := slices.Clone(all.Registry())
		i := slices.IndexFunc(faulty, func(d engine.Driver) bool { return d.Scheme == "duckdb" })
		faulty[i] = wrapped(faulty[i], func(o *tables.Tables) {
			describe := o.Describe
			o.Describe = func(ctx context.Context, table *tables.Table) (map[string]int64, error) {
				rows, err := describe(ctx, table)
				each := table.Each
				table.Each = func(ctx context.Context, f func(row []any) error) error {
					n := -1
					return each(ctx, func(row []any) error {
						if n++; !c.change(row, n) {
							return nil
						}
						return f(row)
					})
				}
				return rows, err
			}
		})
		_, _, err := execute(t, own.Program{
			Registry: faulty, Engines: inFiles(t),
			Tables:    write(t, "t.csv", "id,price\n1,1.50\n2,2.25\n3,3\n4,4\n"),
			Questions: questions(t, "SELECT id FROM t"), Reps: 1,
		})
		if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v", c.problem, err)
		}
	}
}

// wrapped returns a driver whose engines have own tables with a change.
func wrapped(d engine.Driver, change func(o *tables.Tables)) engine.Driver {
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err != nil {
			return nil, err
		}
		databases := tables.DatabasesOf(e)
		openOwn := databases.Own
		databases.Own = func(ctx context.Context, keep bool) (*tables.Tables, error) {
			o, err := openOwn(ctx, keep)
			if err == nil {
				change(o)
			}
			return o, err
		}
		return e, nil
	}
	return d
}
