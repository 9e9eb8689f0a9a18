package duckdb_test

import (
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
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
