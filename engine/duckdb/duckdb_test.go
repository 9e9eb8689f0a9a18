package duckdb_test

import (
	"path/filepath"
	"testing"

	"barograph/engine/duckdb"
	"barograph/engine/enginetest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     duckdb.Driver(),
		URL:        func(t *testing.T) string { return "duckdb:" + filepath.Join(t.TempDir(), "archive.db") },
		Reopenable: true,
	})
}
