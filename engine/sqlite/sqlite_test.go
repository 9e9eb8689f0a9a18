package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     sqlite.Driver(),
		URL:        func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "archive.db") },
		Reopenable: true,
	})
}
