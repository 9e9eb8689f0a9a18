package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// filled are the engine's own words for what the scaffold says is missing,
// file by file: a mark, and what a newcomer writes in its line's place. The
// made-up engine is SQLite's, by nothing but database/sql.
var filled = map[string][][2]string{
	"archive.go": {
		{"own query for the names of tables", "const allTables = \"SELECT name FROM sqlite_schema WHERE type = 'table'\""},
		{"what the archive takes", "return sqlengine.QueryNumber(context.Background(), a.Pool, \"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size\")"},
	},
	"dialect.go": {
		{"as a literal", "DateTime: func(v int64) string { return flavour.Quote(flavour.DateTime(v)) },"},
		{"Unix seconds", "Epoch: func(e string) string { return \"unixepoch(\" + e + \")\" },"},
		{"cannot hold so", "return flavour.EscapeCase(subset) + \"/\" + table"},
	},
	"madeup.go": {
		{"by the engine's driver", "pool, _ := sql.Open(\"sqlite3\", \"file:\"+engine.Path(u)+\"?_txlock=immediate&_busy_timeout=60000\")"},
		{"for its version", "version, err := sqlengine.QueryTexts(ctx, sqlengine.DatabaseSQL{DB: d.pool}, \"SELECT sqlite_version()\")"},
		{"in one line", "Summary: \"made up\","},
	},
	"loader.go": {
		{"other loaders out", "return rand.Int64(), nil // all is read again at each commit; _txlock keeps others out"},
		{"by header and valid time", "return q.Exec(ctx, sqlengine.CreateText(table, cols, typeName))"},
		{"the engine's types", "switch c.Type {"},
		{"the bulk path", `s := &sink{values: make([]any, len(cols))}
	for {
		if ok, err := next(s); err != nil || !ok {
			return err
		}
		if err := q.Exec(ctx, sqlengine.InsertText(table, cols, 1), s.values...); err != nil {
			return err
		}
	}
}

type sink struct{ values []any }

func (s *sink) Null(k int)              { s.values[k] = nil }
func (s *sink) Text(k int, v string)    { s.values[k] = v }
func (s *sink) Integer(k int, v int64)    { s.values[k] = v }
func (s *sink) Number(k int, v float64) { s.values[k] = v }
func (s *sink) Time(k int, v int64)     { s.values[k] = string(sqlengine.AppendDateTime(nil, v)) }
func (s *sink) List(k int, v []float64) { s.values[k] = string(design.AppendRepeats(nil, v)) }
func (s *sink) JSON(k int, v []byte)    { s.values[k] = string(v)`},
		{"what names a row", `RowID: "rowid", PairPrefix: "VALUES ",`},
	},
	"madeup_test.go": {{"a fresh database", "URL: func(t *testing.T) string { return \"madeup:\" + filepath.Join(t.TempDir(), \"a.db\") },"}},
}

// TestFirstTopics: a newcomer who writes what the scaffold asks for, and no
// more, has the suite's first three topics green.
func TestFirstTopics(t *testing.T) {
	if testing.Short() {
		t.Skip("it has no goroutine of its own: left to the run without the race detector")
	}
	files, err := scaffold(filepath.Join("..", ".."), "madeup")
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		files[path] = fill(t, filepath.Base(path), string(text))
	}
	binary, dir := compiled(t, files)
	cmd := command(t, dir, binary, "-test.v", "-test.run", "^TestConformance$/^(driver|design=normalized)$/^(empty|load|values)$")
	out, _ := cmd.CombinedOutput() // it fails, as the plan and doc.go are missing still
	for _, topic := range []string{"empty", "load", "values"} {
		if !strings.Contains(string(out), "--- PASS: TestConformance/design=normalized/"+topic+" ") {
			t.Errorf("%s did not pass:\n%s", topic, out)
		}
	}
}

// fill writes a newcomer's lines in place of the marks.
func fill(t *testing.T, file, text string) []byte {
	t.Helper()
	used := 0
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if _, mark, ok := strings.Cut(line, "// MISSING: "); ok {
			k := slices.IndexFunc(filled[file], func(f [2]string) bool { return strings.Contains(mark, f[0]) })
			if k < 0 {
				if file != "doc.go" && !strings.Contains(mark, "EXPLAIN") { // the first topics want neither
					t.Errorf("%s: nobody writes what is missing: %s", file, mark)
				}
				continue
			}
			used++
			lines[i] = filled[file][k][1]
		}
	}
	if used != len(filled[file]) {
		t.Errorf("%s: %d of %d lines found their place", file, used, len(filled[file]))
	}
	text = strings.Join(lines, "\n")
	if needs, ok := map[string]string{"madeup.go": `_ "github.com/mattn/go-sqlite3"`, "loader.go": `"math/rand/v2"`}[file]; ok {
		text = strings.Replace(text, "import (\n", "import (\n\t"+needs+"\n", 1)
	}
	return []byte(text)
}
