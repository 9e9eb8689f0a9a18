package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlite"
)

func fresh(b *testing.B) string { return "sqlite:" + filepath.Join(b.TempDir(), "archive.db") }

func Benchmark(b *testing.B) { enginetest.Benchmark(b, sqlite.Driver(), fresh) }

func BenchmarkRealDay(b *testing.B) { enginetest.BenchmarkRealDay(b, sqlite.Driver(), fresh) }
