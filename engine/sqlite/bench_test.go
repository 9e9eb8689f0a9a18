package sqlite_test

import (
	"path/filepath"
	"testing"

	"barograph/engine/sqlite"
	"barograph/enginetest"
)

func fresh(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "archive.db") }

func Benchmark(b *testing.B) { enginetest.Benchmark(b, sqlite.Driver(), fresh) }

func BenchmarkRealDay(b *testing.B) { enginetest.BenchmarkRealDay(b, sqlite.Driver(), fresh) }
