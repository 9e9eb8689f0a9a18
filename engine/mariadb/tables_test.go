package mariadb

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/lab"
)

var tableStatement = regexp.MustCompile("(?s)CREATE TABLE .*?;\n")

// All 65 tables of METviewer have the columns, types, defaults and indexes that
// METdbLoad's own database has.
func TestTablesAreMETviewers(t *testing.T) {
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = "../../../shared/data"
	}
	dump := filepath.Join(root, "met/metdbload_site/mv_site_1.sql.xz")
	if _, err := os.Stat(dump); err != nil {
		t.Skip("NOT TESTED: METviewer's 65 tables, without METdbLoad's own database of ../shared/data (or $BAROGRAPH_DATA):", err)
	}
	l := Servers.Lab(t, Driver(), lab.Options{Memory: 1 << 30})
	a := openIn(t, l, "tables_", design.Normalized)
	made, err := a.Loader(t.Context(), "ours")
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
	sql, err := exec.CommandContext(t.Context(), "xz", "-dc", dump).Output()
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.db.writes.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // the test's
	for _, s := range append([]string{"CREATE DATABASE tables_theirs", "USE tables_theirs"}, tableStatement.FindAllString(string(sql), -1)...) {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	for what, query := range map[string]string{
		"columns": "SELECT table_name, column_name, column_type, is_nullable, column_default FROM information_schema.columns WHERE table_schema = ? " +
			"AND table_name NOT LIKE 'barograph%' AND column_name NOT LIKE 'barograph%' ORDER BY table_name, ordinal_position",
		"indexes": "SELECT table_name, index_name, seq_in_index, column_name, sub_part, non_unique FROM information_schema.statistics WHERE table_schema = ? " +
			"AND table_name NOT LIKE 'barograph%' ORDER BY 1, 2, 3",
	} {
		ours, theirs := texts(t, a, query, "tables_ours"), texts(t, a, query, "tables_theirs")
		for _, one := range ours {
			if !slices.Contains(theirs, one) {
				t.Errorf("%s: only in our database: %s", what, one)
			}
		}
		for _, one := range theirs {
			if !slices.Contains(ours, one) {
				t.Errorf("%s: only in METdbLoad's database: %s", what, one)
			}
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s: %d and %d, or in another order", what, len(ours), len(theirs))
		}
	}
	if n := texts(t, a, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'tables_ours' AND table_name NOT LIKE 'barograph%'"); n[0] != "65" {
		t.Errorf("%s tables", n[0])
	}
}
