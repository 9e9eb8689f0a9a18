package duckdb_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// stranger runs statements on a file, as an attacker who prepares it for a reader.
func stranger(t *testing.T, path string, texts ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range texts {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStrangersView: an archive may have a view with the name of a table, which reads another file of the reader. It is
// refused, for reading and for a load.
func TestStrangersView(t *testing.T) {
	for _, n := range designs() {
		t.Run(string(n), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+path, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			a, err := archive.DatabaseOf(e).Open(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			enginetest.StoreBatches(t, a, "s", series("x.vsdb", 3, times(0, 86400, 4)...))
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			table := map[string]string{"normalized": "line_data_sl1l2", "document": "doc_sl1l2", "wide": "wide_sl1l2"}[string(n)]
			stranger(t, path, "ALTER TABLE s."+table+" RENAME TO kept", "CREATE VIEW s."+table+" AS SELECT k.* FROM s.kept k, read_text('/etc/passwd')")
			a = open(t, "duckdb:"+path, n)
			sl1l2, _ := record.TypeByName("SL1L2")
			q := &question.Question{Name: "all", Type: sl1l2, Subset: "s", Valid: question.Times{List: []int64{0}}}
			q.Columns, _ = question.Columns(sl1l2, "vx_mask", "fbar")
			flavours := enginetest.Offered(duckdb.Driver())[n]
			query, err := a.Phrase(t.Context(), q, flavours[len(flavours)-1])
			if err == nil {
				err = a.Ask(t.Context(), query, &answer.Builder{})
			}
			if err == nil || !strings.Contains(err.Error(), "plain tables") {
				t.Errorf("asked: %v", err)
			}
			err = nil
			for _, e := range a.Dump(t.Context(), "s") {
				err = e
			}
			if err == nil || !strings.Contains(err.Error(), "plain tables") {
				t.Errorf("dumped: %v", err)
			}
		})
	}
}

// TestSealed: after an archive is open, no statement reads or writes another file. A user's own tables can read only
// the named folders.
func TestSealed(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	own := ownTables(t, filepath.Join(dir, "a.db"))
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out.csv")
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, filepath.Join(inside, "x.csv")} {
		if err := os.WriteFile(name, []byte("a,b\n1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) error {
		return own.Ask(ctx, "SELECT * FROM read_csv("+flavour.Quote(name)+")", func([]any) error { return nil })
	}
	if err := own.Confine(ctx, inside); err != nil {
		t.Fatal(err)
	}
	if err := read(filepath.Join(inside, "x.csv")); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		"SELECT * FROM read_csv(" + flavour.Quote(outside) + ")", "SELECT * FROM read_csv('" + inside + "/../out.csv')", "SELECT * FROM read_text('/etc/hostname')",
		"COPY (SELECT 1) TO " + flavour.Quote(filepath.Join(dir, "new.csv")), "SELECT * FROM read_parquet('https://localhost/x.parquet')",
		"ATTACH " + flavour.Quote(filepath.Join(dir, "b.db")), "SET enable_external_access = true", "SET allowed_directories = ['/']", "INSTALL httpfs",
	} {
		if err := own.Ask(ctx, text, func([]any) error { return nil }); err == nil {
			t.Errorf("%s is done", text)
		}
	}
}
