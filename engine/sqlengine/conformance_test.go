package sqlengine_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlite"
)

// TestEngineInTables runs the suite with SQLite, the smallest engine of this package: a fault in the code that all SQL
// engines share must fail a test here. TestConformance of package sqlite adds kills.
func TestEngineInTables(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver: sqlite.Driver(),
		URL:    func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "archive.db") },
	})
}
