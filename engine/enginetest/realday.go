package enginetest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
)

// RealDay lists the VSDB files of $BAROGRAPH_DATA/vsdb_data, one real day. It skips a benchmark if they do not exist.
func RealDay(b *testing.B) []string {
	b.Helper()
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		b.Skip("set BAROGRAPH_DATA to a folder that contains vsdb_data, the unpacked real day")
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

// BenchmarkRealDay loads the real day in every design into a new archive at url, including parsing and the
// sync of the last commit.
func BenchmarkRealDay(b *testing.B, d engine.Driver, url func(b *testing.B) string) {
	files := RealDay(b)
	for _, n := range slices.Sorted(maps.Keys(archive.OfferOf(&d).Designs)) {
		b.Run("engine="+d.Scheme+"/design="+string(n), func(b *testing.B) {
			for b.Loop() {
				a, err := openFor(b, d, url(b), n)
				if err != nil {
					b.Fatal(err)
				}
				sum, err := load.Run(b.Context(), a, "a", files, load.Options{})
				if err != nil {
					b.Fatal(err)
				}
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
