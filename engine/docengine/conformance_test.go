package docengine_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/pebble"
)

// TestEngineOfDocuments runs the suite with Pebble, the smallest engine of this package: a fault in the code that all
// stores of documents share must fail a test here. TestConformance of package pebble adds kills.
func TestEngineOfDocuments(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver: pebble.Driver(),
		URL:    func(t *testing.T) string { return "pebble:" + filepath.Join(t.TempDir(), "archive") },
	})
}
