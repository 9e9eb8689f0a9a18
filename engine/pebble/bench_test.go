package pebble

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/enginetest"
)

func fresh(b *testing.B) string { return "pebble:" + filepath.Join(b.TempDir(), "archive") }

func Benchmark(b *testing.B) { enginetest.Benchmark(b, Driver(), fresh) }

func BenchmarkRealDay(b *testing.B) { enginetest.BenchmarkRealDay(b, Driver(), fresh) }

func BenchmarkNights(b *testing.B) { enginetest.BenchmarkNights(b, Driver(), fresh, design.KeyValue) }

func BenchmarkSmallFiles(b *testing.B) {
	enginetest.BenchmarkSmallFiles(b, Driver(), fresh, design.KeyValue)
}
