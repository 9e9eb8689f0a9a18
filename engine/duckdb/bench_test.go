package duckdb_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
)

func fresh(b *testing.B) string { return "duckdb:" + filepath.Join(b.TempDir(), "archive.db") }

func Benchmark(b *testing.B) { enginetest.Benchmark(b, duckdb.Driver(), fresh) }

func BenchmarkRealDay(b *testing.B) { enginetest.BenchmarkRealDay(b, duckdb.Driver(), fresh) }

func BenchmarkSmallFiles(b *testing.B) {
	enginetest.BenchmarkSmallFiles(b, duckdb.Driver(), fresh, design.Wide)
}

func BenchmarkNights(b *testing.B) {
	enginetest.BenchmarkNights(b, duckdb.Driver(), fresh, design.Wide)
}
