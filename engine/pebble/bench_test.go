package pebble

import (
	"path/filepath"
	"testing"

	"barograph/engine/enginetest"
)

func Benchmark(b *testing.B) {
	enginetest.Benchmark(b, Driver(), func(b *testing.B) string { return "pebble:" + filepath.Join(b.TempDir(), "archive") })
}
