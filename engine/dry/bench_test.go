package dry

import (
	"testing"

	"barograph/enginetest"
)

func Benchmark(b *testing.B) {
	enginetest.Benchmark(b, Driver(), func(*testing.B) string { return "dry:" })
}
