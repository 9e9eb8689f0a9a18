package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/results/run"
)

func TestFileNamesStayInTheirFolder(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{
		{"test_3", "duckdb", "wide", "epoch-range"},
		{"../../x"},
		{"..", "x"},
		{"..%2Fx"},
		{"a/b"},
		{"a%2Fb"},
		{"a", "b.c"},
		{"a.b", "c"},
		{""},
		{"", ""},
		{"."},
		{"/etc/passwd"},
		{`a\b`},
		{"a\x00b"},
		{"a\nb"},
		{"a b"},
		{"a+b"},
		{"Nordsee Ä"},
		{"CON:"},
		{strings.Repeat("ä", 300)},
		{strings.Repeat("ä", 301)},
		{"\xff"},
	} {
		name := run.FileName(parts...)
		if old, ok := seen[name]; ok {
			t.Errorf("%q and %q are both %q", old, parts, name)
		}
		seen[name] = parts
		path := filepath.Join(t.TempDir(), name+".json")
		if filepath.Base(path) != name+".json" || strings.HasPrefix(name, ".") {
			t.Errorf("%q becomes %q", parts, name)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Errorf("%q: %v", parts, err)
		}
	}
	if got := run.FileName("test_3", "duckdb", "wide", "epoch-range"); got != "test_3.duckdb.wide.epoch-range" {
		t.Errorf("got %s", got)
	}
}
