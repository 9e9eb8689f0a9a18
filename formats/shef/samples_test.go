package shef_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

// sampleData finds the folder of sample products: $BAROGRAPH_DATA/shef, or ../shared/data/shef next
// to the repository.
func sampleData(tb testing.TB) string {
	tb.Helper()
	for _, dir := range []string{os.Getenv("BAROGRAPH_DATA"), "../../../shared/data"} {
		if dir == "" {
			continue
		}
		if path := filepath.Join(dir, "shef"); exists(path) {
			return path
		}
	}
	tb.Skip("no sample data: set BAROGRAPH_DATA to the folder with shef/, or put it at ../shared/data")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file of testdata, or rewrites it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs:\ngot\n%s\nwant\n%s", name, got, want)
	}
}
