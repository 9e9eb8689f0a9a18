package sqlite_test

import (
	"path/filepath"
	"testing"

	"barograph/engine/sqlite"
	"barograph/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     sqlite.Driver(),
		URL:        func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "archive.db") },
		Reopenable: true,
	})
}
