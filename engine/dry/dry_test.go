package dry

import (
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver: Driver(),
		URL:    func(*testing.T) string { return "dry:" },
	})
}
