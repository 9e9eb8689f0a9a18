package pebble

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     Driver(),
		URL:        func(t *testing.T) string { return "pebble:" + filepath.Join(t.TempDir(), "archive") },
		Reopenable: true,
	})
}
