package duckdb_test

import (
	"path/filepath"
	"testing"

	"barograph/engine/duckdb"
	"barograph/enginetest"
	"barograph/enginetest/scantest"
)

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Config{
		Driver:     duckdb.Driver(),
		URL:        func(t *testing.T) string { return "duckdb:" + filepath.Join(t.TempDir(), "archive.db") },
		Reopenable: true,
	})
}

func TestScans(t *testing.T) {
	scantest.Run(t, scantest.Config{
		Driver: duckdb.Driver(),
		URL:    func(t *testing.T) string { return "duckdb:" + filepath.Join(t.TempDir(), "star.db") },
	})
}
