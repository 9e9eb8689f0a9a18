package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlite"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     sqlite.Driver(),
		URL:        func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "archive.db") },
		Reopenable: true,
	})
}
