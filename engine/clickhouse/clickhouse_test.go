package clickhouse

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/enginetest"
	"github.com/barograph/barograph/enginetest/scantest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestDialect(t *testing.T) { enginetest.Dialect(t, Driver(), dialect(), *update) }

func config() enginetest.Config {
	return enginetest.Config{
		Driver:     Driver(),
		URL:        func(t *testing.T) string { return "clickhouse:" + filepath.Join(t.TempDir(), "archive") },
		Reopenable: true,
		Brief:      true, // a process for each archive, and tables made in several statements
	}
}

func TestConformance(t *testing.T) {
	enginetest.Installed(t, Driver())
	enginetest.Run(t, config())
}

func TestScans(t *testing.T) {
	enginetest.Installed(t, Driver())
	scantest.Run(t, scantest.Config{Driver: Driver(), URL: config().URL})
}
