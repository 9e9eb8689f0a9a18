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
		sql           string
		by            []int
		limit, offset int
		comparison    string
	}{
		{"SELECT 1", nil, -1, 0, "any order"},
		{"SELECT a FROM (SELECT b FROM t ORDER BY b LIMIT 3) x", nil, -1, 0, "any order"},
		{"SELECT sum(n) OVER (ORDER BY b) FROM t", nil, -1, 0, "any order"},
		{"SELECT a -- ORDER BY n\nFROM t WHERE b = 'ORDER BY x'", nil, -1, 0, "any order"},
		{"SELECT a FROM t ORDER BY n DESC, brand LIMIT 10", []int{2, 1}, 10, 0, "the order"},
		{"SELECT a FROM t ORDER BY d.d_year NULLS FIRST, 3 desc, \"Brand\" limit 5 offset 3", []int{0, 2, 1}, 5, 3, "the order"},
		{"SELECT a FROM t ORDER BY n, lower(brand) OFFSET 2 ROWS FETCH FIRST 4 ROWS ONLY", []int{2, 3}, 4, 2, "the order, also by lower(brand)"},
		{"SELECT a FROM t ORDER BY n + 1 DESC NULLS LAST", []int{3}, -1, 0, "the order, also by n + 1"},
		{"SELECT a FROM t ORDER BY n LIMIT 2, 3", []int{2}, 3, 2, "the order"},
		{"SELECT a FROM t FETCH NEXT ROW ONLY", nil, 1, 0, "any order"},
		{"SELECT t.limit AS offset, fetch AS n FROM settings ORDER BY t.last, n LIMIT 4", []int{3, 2}, 4, 0, "the order, also by t.last"},
		{"SELECT name FROM settings ORDER BY n NULLS LAST", []int{2}, -1, 0, "the order"},
		{"SELECT a FROM t WHERE x > 10. ORDER BY n LIMIT 5", []int{2}, 5, 0, "the order"},
		{"SELECT a FROM t WHERE x > 10. LIMIT 5", nil, 5, 0, "any order"},
	} {
		o := orderingOf(c.sql)
		by, hidden := o.columns(names)
		comparison := o.comparison(by, hidden)
		if !slices.Equal(by, c.by) || o.limit != c.limit || o.offset != c.offset || comparison != c.comparison || o.unknown {
			t.Errorf("%s: %v, %+v, %s", c.sql, by, o, comparison)
		}
	}
}

// TestWithoutLimit: withoutLimit removes the limit of a query and adds columns for the magnitude of its sums.
// orderDependence finds the clause because of which the order of the rows matters.
func TestWithoutLimit(t *testing.T) {
	for _, c := range []struct{ sql, want, depends string }{
		{"SELECT a FROM t ORDER BY a LIMIT 3", "SELECT a FROM t ORDER BY a", ""},
		{
			"SELECT k, sum(x - 1.5) AS s FROM t GROUP BY k",
			"SELECT k, sum(x - 1.5) AS s, sum(abs(x) + abs(1.5)) AS barograph_sum_1\nFROM t GROUP BY k", "",
		},
		{"SELECT sum(a) - sum(b)d FROM t", "SELECT sum(a) - sum(b)d, sum(abs(a)) + sum(abs(b)) AS barograph_sum_0\nFROM t", ""},
		{
			"SELECT sum(CASE WHEN a - b > 0 THEN a ELSE -b END) FROM t",
			"SELECT sum(CASE WHEN a - b > 0 THEN a ELSE -b END), " +
				"sum(abs(CASE WHEN a - b > 0 THEN a ELSE -b END)) AS barograph_sum_0\nFROM t", "",
		},
		{"SELECT avg(DISTINCT x) / 2 FROM t", "SELECT avg(DISTINCT x) / 2, avg(abs(x)) / 2 AS barograph_sum_0\nFROM t", ""},
		{
			"SELECT sum(x - (SELECT avg(x) FROM t)) s FROM t",
			"SELECT sum(x - (SELECT avg(x) FROM t)) s, sum(abs(x) + abs((SELECT avg(x) FROM t))) AS barograph_sum_0\nFROM t", "",
		},
		{"SELECT *, sum(x) OVER () FROM t LIMIT 2", "SELECT *, sum(x) OVER () FROM t", ""},
		{"SELECT a FROM t ORDER BY length(a), a LIMIT 2", "SELECT a, length(a) AS barograph_0\nFROM t ORDER BY length(a), a", ""},
		{"SELECT DISTINCT a FROM t", "", ""},
		{"SELECT a FROM t UNION ALL SELECT sum(b) FROM t", "", ""},
		{"SELECT row_number() OVER (ORDER BY v) FROM t", "SELECT row_number() OVER (ORDER BY v) FROM t", "OVER (ORDER BY v)"},
		{"SELECT n FROM (SELECT n FROM t ORDER BY v LIMIT 3) x", "SELECT n FROM (SELECT n FROM t ORDER BY v LIMIT 3) x", "ORDER BY v LIMIT 3"},
		{"SELECT any_value(v) AS a FROM t", "SELECT any_value(v) AS a FROM t", "any_value(v)"},
		{"SELECT a AS offset FROM t", "SELECT a AS offset FROM t", ""},
		{"SELECT a limit FROM t", "", ""},
		{"SELECT sum(v) * 1e-6 AS s FROM t", "SELECT sum(v) * 1e-6 AS s, sum(abs(v)) * 1e-6 AS barograph_sum_0\nFROM t", ""},
		{"SELECT sum(v * 1.5E-3 - 2) FROM t", "SELECT sum(v * 1.5E-3 - 2), sum(abs(v * 1.5E-3) + abs(2)) AS barograph_sum_0\nFROM t", ""},
		{
			"SELECT sum(x) FILTER (WHERE a - b > 0) AS s FROM t",
			"SELECT sum(x) FILTER (WHERE a - b > 0) AS s, sum(abs(x)) FILTER (WHERE a - b > 0) AS barograph_sum_0\nFROM t", "",
		},
		{"SELECT sum(x) / 2 half FROM t", "SELECT sum(x) / 2 half, sum(abs(x)) / 2 AS barograph_sum_0\nFROM t", ""},
		{"SELECT sum(x) \"half\" FROM t", "SELECT sum(x) \"half\", sum(abs(x)) AS barograph_sum_0\nFROM t", ""},
		{"SELECT row_number() OVER () AS a FROM t", "SELECT row_number() OVER () AS a FROM t", "row_number() OVER ()"},
		{"SELECT lag(a) OVER (PARTITION BY g) FROM t", "SELECT lag(a) OVER (PARTITION BY g) FROM t", "lag(a) OVER (PARTITION BY g)"},
		{"SELECT lag(a) OVER w FROM t WINDOW w AS (ORDER BY v)", "SELECT lag(a) OVER w FROM t WINDOW w AS (ORDER BY v)", "w AS (ORDER BY v)"},
		{
			"SELECT count(*) FILTER (WHERE a > 0) OVER (PARTITION BY g) FROM t",
			"SELECT count(*) FILTER (WHERE a > 0) OVER (PARTITION BY g) FROM t", "",
		},
	} {
		o := orderingOf(c.sql)
		_, hidden := o.columns([]string{"a"})
		text, _, _ := withoutLimit(c.sql, &o, hidden, true)
		text = strings.TrimSpace(text)
		isWanted := text == c.want || strings.ReplaceAll(text, "\n", " ") == c.want
		if !isWanted || orderDependence(c.sql) != c.depends {
			t.Errorf("%s:\n%q, %q", c.sql, text, orderDependence(c.sql))
		}
	}
}

// TestLacksNulls: lacksNulls finds each term of an ORDER BY without NULLS FIRST or NULLS LAST.
func TestLacksNulls(t *testing.T) {
	for _, c := range []struct {
		sql  string
		want bool
	}{
		{"SELECT a FROM t", false},
		{"SELECT nulls FROM t ORDER BY nulls", true},
		{"SELECT a, b FROM t ORDER BY a NULLS LAST, b", true},
		{"SELECT a, b FROM t ORDER BY a NULLS LAST, b DESC NULLS FIRST LIMIT 3", false},
		{"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 3) x ORDER BY a NULLS LAST", true},
		{"SELECT sum(a) OVER (ORDER BY f(a, b) NULLS LAST ROWS 2 PRECEDING) FROM t", false},
	} {
		if got := lacksNulls(tokens(c.sql)); got != c.want {
			t.Errorf("%s: %v", c.sql, got)
		}
	}
}

// TestTablesOf: tablesOf finds the tables of a query, and no columns with the name of a table.
func TestTablesOf(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT sum(price) AS s FROM clicks", "clicks"},
		{"SELECT a, price FROM clicks WHERE extract(year FROM day) > 2", "clicks"},
		{"SELECT a FROM \"Clicks\" JOIN (SELECT b FROM price) USING (b), day", "clicks price day"},
		{"SELECT a FROM clicks, (price JOIN day ON price.b = f(a, b)) GROUP BY b", "clicks price day"},
		{"WITH x AS (SELECT a FROM price) SELECT day FROM x", "price x"},
		{"WITH x AS (FROM price) SELECT day FROM x", "price x"},
		{"SELECT a FROM clicks JOIN price ON a = b STRAIGHT_JOIN day", "clicks price day"},
		{"SELECT a FROM clicks WHERE a IN price AND a IN (1, 2)", "clicks price"},
	} {
		if got := strings.Join(tablesOf(c.sql), " "); got != c.want {
			t.Errorf("%s: %q", c.sql, got)
		}
	}
}

// TestHintsAreKept: a query keeps its hints, which engines read, and loses its comments.
func TestHintsAreKept(t *testing.T) {
	const text = "-- a comment\nSELECT /*+ INDEX(t) */ a /* b */, /*!50000 SQL_NO_CACHE */ b FROM t -- c\nWHERE x = '/* y */';"
	all, err := parse(nil, "q.sql", "q", "", text)
	if err != nil {
		t.Fatal(err)
	}
	if got := all[0].Texts[""]; got != "SELECT /*+ INDEX(t) */ a , /*!50000 SQL_NO_CACHE */ b FROM t\nWHERE x = '/* y */'" {
		t.Errorf("%q", got)
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
		"b.sql", "-- title: what is sold\n-- param day: 1 | 2 | 3\n-- param up: 'x;y'\n"+
			"SELECT n -- of a day\nFROM t\nWHERE d = ${day} AND u < ${up};\n",
		"b.sqlite.sql", "SELECT m FROM t WHERE d = ${day}",
		"many.sql", "SELECT 1;\n-- name: second\nSELECT 2;\n-- for: postgres\n-- for: mariadb\nSELECT 2.0;\n\nSELECT 3;\n",
		"two.sql", "SELECT 1;\nSELECT 2;\n",
		"two.sqlite.sql", "SELECT 1.0;\n-- for: mariadb\nSELECT 1.5;\n",
		"v1.2.sql", "SELECT 12")
	all, err := Questions([]string{dir}, []string{"postgres", "mariadb", "sqlite"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, q := range all {
		names = append(names, q.Name)
	}
	if want := []string{"b", "many", "second", "many-3", "two", "two-2", "v1.2"}; !slices.Equal(names, want) {
		t.Fatalf("%q, not %q", names, want)
	}
	b := all[0]
	if b.Title != "what is sold" || b.ParameterSets() != 3 || b.Line != 4 ||
		b.Text("duckdb", 4) != "SELECT n\nFROM t\nWHERE d = 2 AND u < 'x;y'" ||
		b.Text("sqlite", 2) != "SELECT m FROM t WHERE d = 3" {
		t.Errorf("%+v: %q", b, b.Text("duckdb", 4))
	}
	if q := all[4]; q.Text("sqlite", 0) != "SELECT 1.0" || q.Text("mariadb", 0) != "SELECT 1.5" {
		t.Errorf("%+v, %+v", q, all[5])
	}
	if s := all[2]; s.Text("mariadb", 0) != "SELECT 2.0" || s.Text("sqlite", 0) != "SELECT 2" || all[3].Line != 8 {
		t.Errorf("%+v, %+v", s, all[3])
	}
}

func TestQuestionsRefused(t *testing.T) {
	for _, c := range []struct{ text, problem string }{
		{"", "name no question"},
		{"SELECT ${day}", "bad.sql:1: ${day} has no value"},
		{"-- param day: 1\nSELECT 1", "bad.sql:2: bad has values for ${day}"},
		{"-- param day:\nSELECT ${day}", "bad.sql:1: day has no value"},
		{"\n\nDROP TABLE t", "bad.sql:3 starts with DROP; write a query"},
		{"(SELECT 1) UNION (SELECT 2)", "bad.sql:1 starts with (; write a query"},
		{"SELECT 1;\n-- for: postgress\nSELECT 2", "bad.sql:3: a text is for postgress"},
		{"-- for: postgres\nSELECT 1", "has texts only for some engines"},
		{"SELECT 1;\n-- for:\nSELECT 2", "bad.sql:2: for names no engine"},
		{"SELECT 1;\n-- name: bad\nSELECT 2", "bad.sql:3: bad has a second text"},
		{"/*!40101 SET NAMES utf8 */;\nSELECT 1", "bad.sql:1: bad is a hint without a query"},
	} {
		_, err := Questions([]string{write(t, "bad.sql", c.text)}, []string{"postgres"})
		if err == nil || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if _, err := Questions([]string{t.TempDir()}, nil); err == nil {
		t.Error("an empty folder")
	}
}

// TestTableStatementsAmongQueries: a file NAME.ENGINE.sql among the queries is the text of a query. If it has statements
// for the table NAME, the error names the folder in which own reads those.
func TestTableStatementsAmongQueries(t *testing.T) {
	for _, withQuery := range []bool{true, false} {
		dir := write(t, "x.sqlite.sql", "CREATE INDEX i ON x (a);")
		if withQuery {
			if err := os.WriteFile(filepath.Join(dir, "x.sql"), []byte("SELECT a FROM x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Questions([]string{dir}, []string{"sqlite"})
		if err == nil || !strings.Contains(err.Error(), "x.sqlite.sql:1 starts with CREATE") || !strings.Contains(err.Error(), "belong in the folder of --tables") {
			t.Errorf("with a query x %v: %v", withQuery, err)
		}
	}
}

// TestQuestionsInBrackets: Questions reads a folder whose name is a pattern of filepath.Glob.
func TestQuestionsInBrackets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queries[1]")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.sql"), []byte("SELECT 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := Questions([]string{dir}, nil); err != nil || len(all) != 1 {
		t.Errorf("%d questions, %v", len(all), err)
	}
}

// TestSets: every question of the ready sets can be read, and an unknown set is refused with a proposal.
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
