package own

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOrdering(t *testing.T) {
	names := []string{"d_year", "Brand", "n"}
	for _, c := range []struct {
		sql   string
		by    []int
		limit int
		words string
	}{
		{"SELECT 1", nil, 0, "any order"},
		{"SELECT a FROM (SELECT b FROM t ORDER BY b LIMIT 3) x", nil, 0, "any order"},
		{"SELECT sum(n) OVER (ORDER BY b) FROM t", nil, 0, "any order"},
		{"SELECT a -- ORDER BY n\nFROM t WHERE b = 'ORDER BY x'", nil, 0, "any order"},
		{"SELECT a FROM t ORDER BY n DESC, brand LIMIT 10", []int{2, 1}, 10, "the order"},
		{"SELECT a FROM t ORDER BY d.d_year NULLS FIRST, 3 desc, \"Brand\" limit 5 offset 3", []int{0, 2, 1}, 5, "the order"},
		{"SELECT a FROM t ORDER BY n, lower(brand)", []int{2}, 0, "the order by n; lower ( brand ) is no column of the answer"},
		{"SELECT a FROM t ORDER BY n + 1", nil, 0, "any order: n + 1 is no column of the answer"},
		{"SELECT a FROM t ORDER BY 4", nil, 0, "any order: 4 is no column of the answer"},
	} {
		o := orderingOf(c.sql)
		got, words := o.columns(names)
		if !slices.Equal(got.By, c.by) || got.Limit != c.limit || words != c.words {
			t.Errorf("%s: %+v, %s", c.sql, got, words)
		}
	}
}

// write writes files, NAME followed by their text, into a new folder.
func write(t *testing.T, all ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(all); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, all[i]), []byte(all[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestQuestions(t *testing.T) {
	dir := write(t,
		"b.sql", "-- title: what is sold\n-- param day: 1 | 2 | 3\n-- param up: 'x;y'\nSELECT n -- of a day\nFROM t\nWHERE d = ${day} AND u < ${up};\n",
		"b.sqlite.sql", "SELECT m FROM t WHERE d = ${day}",
		"many.sql", "SELECT 1;\n-- name: second\nSELECT 2;\n-- for: postgres, mariadb\nSELECT 2.0;\n\nSELECT 3;\n",
		"v1.2.sql", "SELECT 12")
	all, err := Questions([]string{dir}, []string{"postgres", "mariadb", "sqlite"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, q := range all {
		names = append(names, q.Name)
	}
	if want := []string{"b", "many", "second", "many-3", "v1.2"}; !slices.Equal(names, want) {
		t.Fatalf("%q, not %q", names, want)
	}
	b := all[0]
	if b.Title != "what is sold" || b.Values() != 3 || b.Line != 4 || b.Text("duckdb", 4) != "SELECT n\nFROM t\nWHERE d = 2 AND u < 'x;y'" || b.Text("sqlite", 2) != "SELECT m FROM t WHERE d = 3" {
		t.Errorf("%+v: %q", b, b.Text("duckdb", 4))
	}
	if s := all[2]; s.Text("mariadb", 0) != "SELECT 2.0" || s.Text("sqlite", 0) != "SELECT 2" || all[3].Line != 7 {
		t.Errorf("%+v, %+v", s, all[3])
	}
}

func TestQuestionsRefused(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "name no question"},
		{"SELECT ${day}", "bad.sql:1: ${day} has no value"},
		{"-- param day: 1\nSELECT 1", "bad.sql:2: ${day} is not in"},
		{"-- param day:\nSELECT ${day}", "bad.sql:1: day has no value"},
		{"\n\nDROP TABLE t", "bad.sql:3: DROP … is no question"},
		{"SELECT a FROM t LIMIT 10", "bad.sql:1: LIMIT without ORDER BY"},
		{"-- for: postgres\nSELECT 1", "is put for some engines alone"},
		{"SELECT 1;\n-- name: bad\nSELECT 2", "bad.sql:3: bad is put twice"},
	} {
		_, err := Questions([]string{write(t, "bad.sql", c.text)}, []string{"postgres"})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if _, err := Questions([]string{t.TempDir()}, nil); err == nil {
		t.Error("an empty folder")
	}
}

// TestSets reads the ready sets.
func TestSets(t *testing.T) {
	for name, want := range map[string]int{"clicks": 30, "documents": 5, "star": 3} {
		all, err := Set(name)
		if err != nil || len(all) != want {
			t.Errorf("%s: %d questions, %v", name, len(all), err)
		}
	}
	if _, err := Set("click"); err == nil || !strings.Contains(err.Error(), "clicks") {
		t.Error(err)
	}
}
