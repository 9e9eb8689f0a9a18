package sqlite_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/enginetest"
	"barograph/engine/sqlite"
	"barograph/load"
)

// realDay lists the VSDB files of $BAROGRAPH_DATA/vsdb_data, one real day.
func realDay(b *testing.B) []string {
	b.Helper()
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		b.Skip("set BAROGRAPH_DATA to a folder that holds vsdb_data, the unpacked real day")
	}
	var files []string
	err := filepath.WalkDir(filepath.Join(root, "vsdb_data"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".vsdb") {
			files = append(files, p)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		b.Skipf("no VSDB files under %s/vsdb_data: %v", root, err)
	}
	return files
}

// archive opens a new archive.
func archive(b *testing.B, n design.Name) engine.Archive {
	b.Helper()
	e, err := engine.Registry{sqlite.Driver()}.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "archive.db"), engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = e.Close() })
	a, err := e.Archives.Open(b.Context(), n)
	if err != nil {
		b.Fatal(err)
	}
	return a
}

// fill loads files and fails if they do not arrive.
func fill(b *testing.B, a engine.Archive, files []string) *load.Summary {
	b.Helper()
	sum, err := load.Run(b.Context(), a, "a", files, load.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}

// BenchmarkLoad loads the real day, parsing and the sync of the last commit included.
func BenchmarkLoad(b *testing.B) {
	files := realDay(b)
	for _, n := range slices.Sorted(maps.Keys(sqlite.Driver().Offers)) {
		b.Run("engine=sqlite/design="+string(n), func(b *testing.B) {
			for b.Loop() {
				a := archive(b, n)
				sum := fill(b, a, files)
				size, err := a.Size(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(sum.Stored)/sum.Elapsed.Seconds(), "records/s")
				b.ReportMetric(float64(size)/1e6, "MB")
			}
		})
	}
}

// BenchmarkSQLite loads generated records and asks every case in every flavour.
func BenchmarkSQLite(b *testing.B) {
	enginetest.Benchmark(b, sqlite.Driver(), func(b *testing.B) string {
		return "sqlite:" + filepath.Join(b.TempDir(), "archive.db")
	})
}
