package dry

import (
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

func Benchmark(b *testing.B) {
	enginetest.Benchmark(b, Driver(), func(*testing.B) string { return "dry:" })
}
