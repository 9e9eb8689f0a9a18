package clickhouse

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/enginetest"
	"github.com/barograph/barograph/enginetest/scantest"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/load"
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

// TestRenamedColumn: a bit that turned in the definition of a table, so that a
// column has another name, is a damage that is told with a cure.
func TestRenamedColumn(t *testing.T) {
	enginetest.Installed(t, Driver())
	path := filepath.Join(t.TempDir(), "archive")
	open := func() (*engine.Engine, engine.Archive) {
		e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+path, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := e.Archives.Open(t.Context(), design.Wide)
		if err != nil {
			t.Fatal(err)
		}
		return e, a
	}
	e, a := open()
	file := filepath.Join(t.TempDir(), "a.vsdb")
	line := "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 = 3600. 0.1E+02 0.2E+02 0.3E+02 0.4E+02 0.5E+02\n"
	if err := os.WriteFile(file, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load.Run(t.Context(), a, "a", []string{file}, load.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(path, "store", "*", "*", "*sal1l2*.sql"))
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	text, err := os.ReadFile(tables[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tables[0], bytes.Replace(text, []byte("`fcst_valid_end`"), []byte("`fcst_valid_enf`"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	e, a = open()
	defer e.Close()
	_, err = load.Digest(t.Context(), a, "a")
	if told, ok := errors.AsType[*fault.Error](err); !ok || told.Cure == "" || told.File != path {
		t.Errorf("%v", err)
	}
}
