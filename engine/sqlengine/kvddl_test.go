package sqlengine

import (
	"slices"
	"testing"
)

// splitScript cuts a script at its semicolons, except those in literals, names and comments. Each statement has its
// line.
func TestSplitScript(t *testing.T) {
	postgres, mariadb := &KVCatalog{DollarQuotes: true}, &KVCatalog{BackslashEscapes: true, HashComments: true}
	for _, c := range []struct {
		catalog *KVCatalog
		text    string
		want    []scriptStatement
	}{
		{postgres, "", nil},
		{postgres, " ;; -- nothing; at all\n;", nil},
		{postgres, "CREATE TABLE t (a text)", []scriptStatement{{1, "CREATE TABLE t (a text)"}}},
		{postgres, "-- a; b\n\nCREATE TABLE t (\n a text /* ; */\n);\nCOMMENT ON TABLE t IS 'a;''b';", []scriptStatement{
			{3, "CREATE TABLE t (\n a text /* ; */\n)"}, {6, "COMMENT ON TABLE t IS 'a;''b'"},
		}},
		{postgres, "DO $x$ BEGIN; END; $x$; SELECT \";\"", []scriptStatement{{1, "DO $x$ BEGIN; END; $x$"}, {1, `SELECT ";"`}}},
		{postgres, `SELECT 'a\'; SELECT 'b'`, []scriptStatement{{1, `SELECT 'a\'`}, {1, "SELECT 'b'"}}},
		{postgres, `SELECT E'a\';b'; SELECT date'2026-01-01'`, []scriptStatement{{1, `SELECT E'a\';b'`}, {1, "SELECT date'2026-01-01'"}}},
		{postgres, `CHECK (a NOT LIKE'\'); SELECT a$b$; SELECT $b$;$b$`, []scriptStatement{{1, `CHECK (a NOT LIKE'\')`}, {1, "SELECT a$b$"}, {1, "SELECT $b$;$b$"}}},
		{mariadb, "SELECT 5--1; SELECT 2 --\t;\n; --", []scriptStatement{{1, "SELECT 5--1"}, {1, "SELECT 2 --\t;"}}},
		{postgres, "/* a /* b; */ c; */ SELECT 1; SELECT 2", []scriptStatement{{1, "SELECT 1"}, {1, "SELECT 2"}}},
		{postgres, "/* a; /* b", nil},
		{mariadb, `SELECT 'a\';b'; # c; d` + "\nSELECT `;`", []scriptStatement{{1, `SELECT 'a\';b'`}, {2, "SELECT `;`"}}},
		{mariadb, "/*!100000 SELECT 1; */ SELECT '", []scriptStatement{{1, "/*!100000 SELECT 1; */ SELECT '"}}},
	} {
		if got := c.catalog.splitScript(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %+v\nwant %+v", c.text, got, c.want)
		}
	}
}
