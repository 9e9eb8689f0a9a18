package flavour

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"barograph/design"
	"barograph/question"
	"barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// catalog is that of an archive that holds what the cases ask for, as the real
// one does: four levels of HGT and one more variable, three masks and more.
func catalog(t *testing.T) *design.Catalog {
	t.Helper()
	c := design.NewCatalog("a")
	for _, g := range []struct {
		lineType, variable string
		masks, levels      []string
	}{
		{"SAL1L2", "HGT", []string{"G2", "G2/NHX", "G2/PNA", "G2/SHX", "G2/TRO"}, []string{"P1000", "P250", "P500", "P700"}},
		{"VAL1L2", "WIND", []string{"G2/NHX", "G2/SHX"}, []string{"P500"}},
	} {
		lt, ok := record.TypeByName(g.lineType)
		if !ok {
			t.Fatalf("no line type %s", g.lineType)
		}
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType] = "V01", "GFS", "GFS"
		h[record.FcstVar], h[record.ObsVar] = g.variable, g.variable
		var b record.Batch
		b.Reset(lt, "")
		for _, mask := range g.masks {
			for _, level := range g.levels {
				h[record.VxMask], h[record.FcstLev], h[record.ObsLev] = mask, level, level
				head := b.AddHeader(h)
				for _, valid := range []int64{1514764800, 1514786400, 1552176000} { // 2018-01-01 00 and 06, 2019-03-10 00
					b.AppendTimes(head, 21600, valid, 1)
				}
			}
		}
		c.Add(&b)
	}
	return c
}

// TestGolden holds the text of every case, design and flavour against the files
// in testdata/<dialect>/<case>.sql; -update rewrites them. Long lists are
// shortened to their ends and a digest.
func TestGolden(t *testing.T) {
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	c := catalog(t)
	for _, d := range []struct {
		dialect *Dialect
		designs []design.Name
	}{
		{DuckDB(), []design.Name{design.Normalized, design.Document, design.Wide}},
		{SQLite(), []design.Name{design.Normalized, design.Document}},
		{Postgres(), []design.Name{design.Normalized, design.Document, design.Wide}},
		{MariaDBIn(""), []design.Name{design.Normalized, design.Document, design.Wide}},
		{AsterixDBIn("barograph", false), []design.Name{design.Normalized, design.Document}},
		{Oracle(), []design.Name{design.Normalized, design.Document}},
	} {
		asked := cases
		if d.dialect.Name != "oracle" { // of which no means are asked
			asked = append(slices.Clip(cases), question.Verification("a"))
		}
		for _, q := range asked {
			t.Run(d.dialect.Name+"/"+q.Name, func(t *testing.T) {
				golden(t, filepath.Join("testdata", d.dialect.Name, q.Name+".sql"), phrased(t, d.dialect, d.designs, q.In("a"), c))
			})
		}
	}
}

// phrased is the text of a question under all designs and flavours.
func phrased(t *testing.T, d *Dialect, designs []design.Name, q *question.Question, c *design.Catalog) string {
	var b strings.Builder
	for _, n := range designs {
		for _, f := range Names() {
			if f == CachedSQL { // the text of sql; neither engine caches answers
				continue
			}
			p, err := Put(d, n, f, q, c)
			if errors.Is(err, ErrCannotExpress) {
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", n, f, err)
			}
			fmt.Fprintf(&b, "-- %s, %s\n%s\n", n, f, lists.ReplaceAllStringFunc(p.Text, func(l string) string { return shorten(l, ", ") }))
			for i, a := range p.Args {
				text := fmt.Sprintf("%s", a)
				if list, ok := a.([]string); ok {
					text = strings.Join(list, ",")
				}
				fmt.Fprintf(&b, "-- ?%d = %s\n", i+1, shorten(text, ","))
			}
			if len(p.Keys) > 0 {
				fmt.Fprintf(&b, "-- %d keys\n", len(p.Keys))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

var lists = regexp.MustCompile(`\([^()]{100,}\)|IN \[[^\[\]]{100,}\]`)

// shorten keeps the ends of a list of more than six elements.
func shorten(list, separator string) string {
	items := strings.Split(list, separator)
	if len(items) <= 6 {
		return list
	}
	cut := strings.Join(items[2:len(items)-2], separator)
	return fmt.Sprintf("%s%s… %d more, %016x …%s%s", strings.Join(items[:2], separator), separator, len(items)-4, xxh3.HashString(cut),
		separator, strings.Join(items[len(items)-2:], separator))
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./flavour -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("the text differs from %s; go test ./flavour -update rewrites it\n--- want\n%s\n--- got\n%s", file, want, got)
	}
}

func TestDuckDBNames(t *testing.T) {
	schemas := map[string]string{}
	for _, subset := range []string{"", "a", "A", "^a", "^A", "aB", "mv_gfs_grid2obs_vsdb1", "^_", "^_pg_catalog", "pg_catalog", "PG_CATALOG", "main", "Main", "Ω\"'%::"} {
		schema := DuckDBSchema(subset)
		if got := DuckDBSubset(schema); got != subset {
			t.Errorf("%q: schema %q, back %q", subset, schema, got)
		}
		folded := strings.ToLower(schema)
		if other, ok := schemas[folded]; ok {
			t.Errorf("%q and %q share the schema %q", subset, other, folded)
		}
		schemas[folded] = subset
	}
	if got := DuckDBSchema("mv_gfs"); got != "mv_gfs" {
		t.Errorf("got %s", got)
	}
}

func TestPostgresNames(t *testing.T) {
	long := strings.Repeat("é", 40)
	schemas := map[string]string{}
	for _, subset := range []string{"", "a", "A", "pg_x", "PG_x", "^_pg_x", "^", "^_", "public", "information_schema", "^_information_schema", "a.b", `a"b`, long, long + "x", "x" + long, strings.Repeat("m", 61), strings.Repeat("m", 62), strings.Repeat("m", 64)} {
		schema := PostgresSchema(subset)
		if schema == "" || len(schema) > 63 || !utf8.ValidString(schema) || strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
			t.Errorf("%q: PostgreSQL takes no schema %q", subset, schema)
		}
		if other, ok := schemas[schema]; ok {
			t.Errorf("%q and %q share the schema %q", subset, other, schema)
		}
		schemas[schema] = subset
	}
	if got := PostgresSchema("mv_gfs"); got != "mv_gfs" {
		t.Errorf("got %s", got)
	}
}

func TestSQLiteNames(t *testing.T) {
	for _, subset := range []string{"", "a", "A", "mv_gfs_grid2obs_vsdb1", "sqlite_x", "SQLITE_x", "^_a", "^", "^_sqlite_x", "a/b", "Ω\"'%", "information_schema"} {
		name := SQLiteName(subset, "stat_header")
		if got, ok := SQLiteSubset(name, "stat_header"); !ok || got != subset {
			t.Errorf("%q: table %q, back %q, %v", subset, name, got, ok)
		}
	}
	if got := SQLiteName("mv_gfs", "stat_header"); got != "mv_gfs/stat_header" {
		t.Errorf("got %s", got)
	}
}

func TestMariaDBNames(t *testing.T) {
	for _, prefix := range []string{"", "mv_"} {
		for _, subset := range []string{"", "a", "A", "mv_gfs", "mysql", "MySQL", "sys", "ycsb", "YCSB", "^_a", "^", "a^00001", "é🌀", "a ", " a", "a/b.c", "Ω`\"'%", "--"} {
			name := MariaDBName(prefix, subset)
			if got := MariaDBSubset(name); got != subset {
				t.Errorf("%q: database %q, back %q", subset, name, got)
			}
		}
	}
	if got := MariaDBName("x_", MariaDBRecords); got == MariaDBRecords {
		t.Errorf("a subset and the tables of records share the database %s", got)
	}
	if got := MariaDBIn("x_").Table("gfs", "stat_header"); got != "`x_gfs`.`stat_header`" {
		t.Errorf("got %s", got)
	}
}
