package mariadb

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// Words that MySQL 8 does not know.
var mariadbOnly = regexp.MustCompile(`nopad|(COLUMN|INDEX) IF NOT EXISTS|SQL_CACHE|in_predicate|optimizer_max|query_cache|wsrep`)

// TestMySQLsWords: the statements that make a database, in every design, and a
// table of records under keys hold none of MariaDB's own words where the server is
// another one, and all of them where it is MariaDB. No MySQL is run.
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
				a := opened.(*archive) //nolint:forcetypeassert // it opens no other
				for _, text := range a.createSubset("s") {
					look(d.words(text))
				}
				if n == design.Normalized {
					look(d.words("ALTER TABLE x ADD COLUMN IF NOT EXISTS y INT INVISIBLE"))
					continue
				}
				for _, lt := range record.Types() {
					look(d.words(a.typeTable("s", lt)))
				}
				look(a.Dialect.DocTable("s", "doc_x", "TRUE", []question.Column{{Name: "model", Kind: question.Text}}))
			}
			u, err := url.Parse("mariadb://root@127.0.0.1:1/mv_")
			if err != nil {
				t.Fatal(err)
			}
			look((kv{d, configs(u, nil)}).dialect().KeyType)
		}
		if !mysql && found == 0 {
			t.Error("MariaDB's words were not found: the test looks for the wrong ones")
		}
	}
	if !strings.Contains(Driver().NotRun, "MySQL 8") {
		t.Error("list engines does not say that no MySQL was run")
	}
}
