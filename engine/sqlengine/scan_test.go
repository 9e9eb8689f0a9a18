package sqlengine

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/tables"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestStarTexts compares the questions in both dialects with a golden file.
func TestStarTexts(t *testing.T) {
	var b strings.Builder
	for _, least := range []bool{false, true} {
		d := StarDialect{Table: func(t tables.StarTable) string { return "star." + string(t) }, NullsLeast: least}
		for _, q := range tables.StarQueries() {
			if least && q == tables.ScanAll {
				continue
			}
			b.WriteString("-- " + string(q) + "\n" + d.Text(q) + ";\n\n")
		}
		if d.Text("q1") != "" {
			t.Error("an unknown question has a text")
		}
	}
	path := filepath.Join("testdata", "star.sql")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the texts are not those of %s:\n%s", path, b.String())
	}
}

func TestCents(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "12": 1200, "12.3": 1230, "-0.05": -5, "52700277.14": 5270027714, "1.2300": 123, ".5": 50, "7.": 700, "46116860184273879.04": 4611686018427387904,
	} {
		if got, err := Cents(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "-", ".", "1.234", "1e3", "NaN", "1.2.3", " 1", "99999999999999999999", "+1"} {
		if n, err := Cents(bad); err == nil {
			t.Errorf("%q is parsed as %d", bad, n)
		}
	}
}
