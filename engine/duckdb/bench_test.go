package duckdb_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/duckdb"
	"barograph/load"
	"barograph/question"
	"barograph/synth"
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

// seed writes the smallest data set that has the recorded rows of every case.
func seed(b *testing.B) []string {
	b.Helper()
	specs, err := synth.VSDB{Seed: 1, Preset: "seed"}.Files()
	if err != nil {
		b.Fatal(err)
	}
	root := b.TempDir()
	if _, err := synth.WriteAll(b.Context(), root, specs, 0, nil); err != nil {
		b.Fatal(err)
	}
	var files []string
	for _, s := range specs {
		files = append(files, filepath.Join(root, filepath.FromSlash(s.Path)))
	}
	return files
}

// archive opens a new archive.
func archive(b *testing.B, n design.Name) engine.Archive {
	b.Helper()
	e, err := engine.Registry{duckdb.Driver()}.Open(b.Context(), "duckdb:"+filepath.Join(b.TempDir(), "archive.db"), engine.Options{})
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
	for _, n := range slices.Sorted(maps.Keys(duckdb.Driver().Offers)) {
		b.Run("engine=duckdb/design="+string(n), func(b *testing.B) {
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

// BenchmarkAsk asks every case in every flavour on the smallest archive that has
// the recorded rows. That the answers are right is TestConformance's.
func BenchmarkAsk(b *testing.B) {
	qs, err := question.Cases()
	if err != nil {
		b.Fatal(err)
	}
	files := seed(b)
	for i := range qs {
		qs[i] = qs[i].In("a")
	}
	for _, n := range slices.Sorted(maps.Keys(duckdb.Driver().Offers)) {
		a := archive(b, n)
		fill(b, a, files)
		for _, q := range qs {
			for _, f := range duckdb.Driver().Offers[n] {
				b.Run(fmt.Sprintf("engine=duckdb/design=%s/case=%s/flavour=%s", n, q.Name, f), func(b *testing.B) {
					p, err := a.Phrase(b.Context(), q, f)
					if err != nil {
						b.Fatal(err)
					}
					var into answer.Builder
					for b.Loop() {
						if err := a.Ask(b.Context(), p, &into); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(into.Rows), "rows")
				})
			}
		}
	}
}
