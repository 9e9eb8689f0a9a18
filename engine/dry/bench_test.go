package dry

import (
	"testing"

	"barograph/engine/enginetest"
)

func Benchmark(b *testing.B) {
	enginetest.Benchmark(b, Driver(), func(*testing.B) string { return "dry:" })
}
