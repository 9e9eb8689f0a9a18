package mariadb

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Words that not every version of MySQL 8 knows. Aurora of MySQL 8.0.28 has no EXCEPT.
var mariadbOnly = regexp.MustCompile(`nopad|uca1400|(COLUMN|INDEX) IF NOT EXISTS|OR REPLACE (TABLE|PROCEDURE)|RETURNING|SET STATEMENT|ANALYZE FORMAT|EXECUTE IMMEDIATE|NEXTVAL|/\*M!|ALGORITHM|SQL_CACHE|max_statement_time|in_predicate|optimizer_max|query_cache|wsrep|INNODB_SYS|EXCEPT |INTERSECT `)

// TestMySQLsWords: for MySQL, the statements that create a database in every design, and a table of records under keys,
// contain none of the words that only MariaDB knows. No MySQL runs.
func TestMySQLsWords(t *testing.T) {
	for version, want := range map[string]bool{
		"10.11.19-MariaDB-0+deb12u1": false, "5.5.5-10.6.12-MariaDB": false, "8.0.36": true, "8.0.mysql_aurora.3.05.2": true, "8.4.0-commercial": true,
	} {
		if isMySQL(version) != want {
			t.Errorf("%s: MySQL %v", version, !want)
		}
	}
	for _, mysql := range []bool{false, true} {
		found := 0
		look := func(text string) {
			if words := mariadbOnly.FindAllString(text, -1); words != nil {
				if found++; mysql {
					t.Errorf("%q in\n%s", words, text)
				}
			}
		}
		for _, storage := range []string{myISAM, innoDB} {
			d := &database{prefix: "mv_", mysql: mysql, engine: storage, indexes: true}
			for _, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
				opened, err := d.Open(t.Context(), n)
				if err != nil {
					t.Fatal(err)
				}
				a := opened.(*openArchive) //nolint:forcetypeassert // it opens no other
				for _, text := range a.createSubset("s") {
					look(d.translate(text))
				}
				if n == design.Normalized {
					look(d.translate("ALTER TABLE x ADD COLUMN IF NOT EXISTS y INT INVISIBLE"))
					continue
				}
				for _, lt := range record.Types() {
					look(d.translate(a.typeTable("s", lt)))
				}
				look(a.Dialect.DocTable("s", "doc_x", "TRUE", []question.Column{{Name: "model", Kind: question.Text}}))
			}
			u, err := url.Parse("mariadb://root@127.0.0.1:1/mv_")
			if err != nil {
				t.Fatal(err)
			}
			look((kvTables{d, configs(u, nil)}).dialect(kv.Table{}).KeyType)
			look(d.explain())
			if !mysql {
				continue
			}
			_, posting := postTables{d, nil}.Open(t.Context(), posts.Tables{})
			_, scanning := scans{d}.Open(t.Context(), tables.Placement{})
			for _, err := range []error{posting, scanning} {
				if err == nil || !strings.Contains(err.Error(), "is not MariaDB") {
					t.Error(err)
				}
			}
		}
		if !mysql && found == 0 {
			t.Error("the test found none of MariaDB's words: its list is wrong")
		}
	}
	steps, err := accesses([]byte(`{"query_block": {"nested_loop": [{"table": {"table_name": "h", "access_type": "ALL", "rows_examined_per_scan": 239}}]}}`), func(name string) string { return name })
	if err != nil || len(steps) != 1 || steps[0].Examined != 239 || steps[0].Counted {
		t.Errorf("MySQL's plan is read as %+v, %v", steps, err)
	}
	if !strings.Contains(Driver().Untested, "MySQL 8") {
		t.Error("list engines does not report that no test used MySQL")
	}
}

// TestPlacesOfMariaDBsWords lists the files of this package that contain words that MySQL does not know. In these files
// translate replaces the words, the server's version decides, or MySQL is refused. Another file must be checked first.
func TestPlacesOfMariaDBsWords(t *testing.T) {
	known := map[string]string{
		"archive.go": "SQL_CACHE",                                                        // where the server has a query cache
		"cluster.go": "wsrep",                                                            // Galera is MariaDB's
		"dialect.go": "nopad", "kv.go": "nopad", "own.go": "nopad", "schema.go": "nopad", // by translate
		"lines.go": "COLUMN IF NOT EXISTS", "metviewer.go": "INDEX IF NOT EXISTS", // by translate
		"mariadb.go": "query_cache SQL_CACHE wsrep in_predicate optimizer_max", // of MariaDB's sessions, and settings that are reported
		"mysqls.go":  "nopad COLUMN IF NOT EXISTS INDEX IF NOT EXISTS in_predicate optimizer_max query_cache ANALYZE FORMAT",
		"post.go":    "OR REPLACE PROCEDURE nopad INNODB_SYS", "scan.go": "ANALYZE FORMAT INNODB_SYS", // refused
		"server.go": "query_cache wsrep", // the lab's servers
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`(?m)^\s*//.*$`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, words := range mariadbOnly.FindAllString(comment.ReplaceAllString(string(text), ""), -1) {
			if !strings.Contains(known[file], words) {
				t.Errorf("%s: %q", file, words)
			}
		}
	}
}

// TestTranslate: words are translated, but not in names and literals.
func TestTranslate(t *testing.T) {
	d := &database{mysql: true}
	quotedTexts := ident("a` ADD COLUMN IF NOT EXISTS") + ", 'it''s utf8mb4_nopad_bin', "
	text := "ALTER TABLE " + quotedTexts + "ADD COLUMN IF NOT EXISTS b TEXT COLLATE utf8mb4_nopad_bin"
	if got, want := d.translate(text), "ALTER TABLE "+quotedTexts+"ADD COLUMN b TEXT COLLATE utf8mb4_0900_bin"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
