package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

// A user's script creates the table of load and run. A sweep compares layouts and scripts of one
// engine, and the run folder and the report name each script.
func TestYCSBOwnDDL(t *testing.T) {
	scripts := map[string][2]string{
		"postgres": {"CREATE UNLOGGED TABLE usertable (ycsb_key text COLLATE \"C\" PRIMARY KEY, field0 text, field1 " +
			"text);\n", "CREATE TABLE usertable (ycsb_key text COLLATE \"C\" PRIMARY KEY, field0 text, field1 text) PARTITION " +
			"BY HASH (ycsb_key);\n" +
			"CREATE TABLE usertable_0 PARTITION OF usertable FOR VALUES WITH (MODULUS 2, REMAINDER 0);\nCREATE TABLE " +
			"usertable_1 PARTITION OF usertable FOR VALUES WITH (MODULUS 2, REMAINDER 1);\n"},
		"mariadb": {
			"CREATE TABLE usertable (ycsb_key varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, field0 " +
				"text, field1 text) ENGINE=Aria;\n",
			"CREATE TABLE usertable (ycsb_key varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY, field0 " +
				"text, field1 text) PARTITION BY KEY (ycsb_key) PARTITIONS 2;\n",
		},
	}
	for scheme, texts := range scripts {
		t.Run(scheme, func(t *testing.T) {
			url, dir := sharedPlace(t, scheme), t.TempDir()
			first, second := filepath.Join(dir, "first.sql"), filepath.Join(dir, "second.sql")
			for i, name := range []string{first, second} {
				if err := os.WriteFile(name, []byte(texts[i]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			table := []string{"--engine", url, "-p", "recordcount=100", "-p", "operationcount=100", "-p", "fieldcount=2"}
			do := func(command string, more ...string) []string {
				return append(append([]string{"ycsb", command}, table...), more...)
			}
			if _, _, errs := barograph(t, do("load", "--ddl", first)...); !strings.Contains(errs, "first.sql (SHA-256 ") {
				t.Errorf("the load does not name its script: %s", errs)
			}
			out := filepath.Join(dir, "single")
			must(t, do("run", "--ddl", first, "--out", out)...)
			must(t, do("run")...)
			if code, _, errs := barograph(t, do("run", "--ddl", second)...); code == 0 || !strings.Contains(errs,
				"second.sql is not the script that created the table usertable") {
				t.Errorf("another script: status %d, %s", code, errs)
			}
			if code, _, errs := barograph(t, do("load", "--ddl", first, "--layout", "hash")...); code != fault.Usage ||
				!strings.Contains(errs, "exclude each other") {
				t.Errorf("hash with a script: status %d, %s", code, errs)
			}
			swept := filepath.Join(dir, "swept")
			must(t, do("sweep", "--ddl", scheme+"="+first, "--ddl", second, "--layout", "columns,hash", "--threads", "2",
				"--load", "--out", swept)...)
			r, samples, err := run.Read(swept)
			if err != nil {
				t.Fatal(err)
			}
			var forms []string
			for _, s := range samples {
				if s.Cell.Engine == scheme {
					forms = append(forms, s.Cell.Value("layout"))
				}
				if s.Verdict != run.Equal {
					t.Errorf("%s: %s %s", s.Cell, s.Verdict, s.Problem)
				}
			}
			slices.Sort(forms)
			if len(forms) != 4 || forms[0] != "columns" || !strings.HasPrefix(forms[1], "first.sql@") || forms[2] != "hash" ||
				!strings.HasPrefix(forms[3], "second.sql@") {
				t.Errorf("the sweep ran %v", forms)
			}
			page, err := os.ReadFile(filepath.Join(swept, report.FileName))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range r.Archives {
				switch {
				case a.Engine != scheme:
				case a.Table == nil || !strings.Contains(a.Table.Definition, "usertable"):
					t.Errorf("%s: the table is not described: %+v", a.Design, a.Table)
				case strings.Contains(a.Design, "@") && !strings.HasPrefix(a.Table.Schema, "ycsb_"):
					t.Errorf("%s is in the schema %q", a.Design, a.Table.Schema)
				case strings.Contains(a.Design, "@") && (!slices.Contains(texts[:], a.Table.DDL) || !strings.Contains(string(page), a.Table.DDLDigest) || !strings.Contains(string(page), scheme+" · "+a.Design)):
					t.Errorf("the folder or the report lacks the script of %s", a.Design)
				}
			}
			// a second sweep finds the tables of the first one
			must(t, do("sweep", "--ddl", first, "--ddl", second, "--layout", "columns,hash", "--threads", "2")...)
		})
	}
}

// A --ddl without an engine, or whose file is not a script, is refused before anything is opened.
func TestYCSBDDLFlags(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "a.sql")
	if err := os.WriteFile(script, []byte("CREATE TABLE usertable (ycsb_key text PRIMARY KEY, field0 text)"),
		0o600); err != nil {
		t.Fatal(err)
	}
	sqlite, pebble := "sqlite:"+filepath.Join(dir, "a.db"), "pebble:"+filepath.Join(dir, "a.pebble")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"load", "--engine", sqlite, "--ddl", filepath.Join(dir, "none.sql")}, "none.sql cannot be read"},
		{[]string{"load", "--engine", sqlite, "--ddl", dir}, "is not a script"},
		{[]string{"load", "--engine", sqlite, "--ddl", "postgres=" + script}, "belongs to postgres, which no --engine names"},
		{[]string{"load", "--engine", sqlite, "--ddl", script, "--ddl", script}, "occurs twice"},
		{[]string{"load", "--engine", sqlite, "--ddl", script}, "sqlite does not support it"},
		{
			[]string{"load", "--engine", sqlite, "--ddl", "sqlite/document=" + script, "--layout", "columns"},
			"omit one of them",
		},
		{
			[]string{"sweep", "--engine", sqlite, "--engine", pebble, "--ddl", script},
			"does not name its engine, and there are several",
		},
		{[]string{"sweep", "--engine", sqlite, "--layout", "columns,columns"}, "is not a list of different layouts"},
	} {
		if code, _, errs := barograph(t, append([]string{"ycsb"}, c.args...)...); code != fault.Usage ||
			!strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %q is wanted: %s", c.args, code, c.want, errs)
		}
	}
}

// One sweep can use several layouts of an embedded engine.
func TestYCSBSweepsLayouts(t *testing.T) {
	db := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	out := must(t, "ycsb", "sweep", "--engine", db, "--layout", "columns,document", "--load", "--threads", "1", "-p",
		"recordcount=50", "-p", "operationcount=50")
	for _, want := range []string{"sqlite · columns", "sqlite · document"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing: %s", want, out)
		}
	}
}
