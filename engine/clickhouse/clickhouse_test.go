package clickhouse

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/internal/fault"
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

// TestDigests: what turned in a file for which ClickHouse keeps no digest, so that a column
// has another name or the rows are no table's, is a damage that is reported with a cure.
func TestDigests(t *testing.T) {
	enginetest.Installed(t, Driver())
	path := filepath.Join(t.TempDir(), "arch[ive")
	open := func(o engine.Options) (*engine.Engine, archive.Archive, error) {
		e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+path, o)
		if err != nil {
			return nil, nil, err
		}
		a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
		return e, a, err
	}
	e, a, err := open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	for _, c := range []struct{ file, from, to string }{
		{"*sal1l2*.sql", "`fcst_valid_end`", "`fcst_valid_enf`"},
		{"*sal1l2*.sql", "UUID '", "UUID '0000"},
		{"barograph_commits.sql", "UUID '", "UUID '0000"},
		{"all_*/columns.txt", "`fcst_lead`", "`fcst_leae`"},
		{"all_*/columns_substreams.txt", "fcst_lead", "fcst_leae"},
	} {
		files, err := fs.Glob(os.DirFS(path), "store/*/*/"+c.file)
		if err != nil {
			t.Fatal(err)
		}
		var file string
		var whole []byte
		for _, name := range files {
			if text, err := os.ReadFile(filepath.Join(path, name)); err == nil && bytes.Contains(text, []byte(c.from)) {
				file, whole = filepath.Join(path, name), text
			}
		}
		if file == "" {
			t.Fatalf("%s is in none of %s", c.from, files)
		}
		before, after, _ := bytes.Cut(whole, []byte(c.from))
		text := slices.Concat(before, []byte(c.to), after[len(c.to)-len(c.from):])
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, o := range []engine.Options{{ReadOnly: true}, {}} {
			e, a, err := open(o)
			if err == nil {
				_, err = archive.BuildCatalog(t.Context(), a, "a")
				e.Close()
			}
			if damaged, ok := errors.AsType[*fault.Error](err); !ok || damaged.Problem != "archive "+path+" is damaged" {
				t.Errorf("%s, %s: %v", c.file, c.to, err)
			}
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, a, err = open(engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if c, err := archive.BuildCatalog(t.Context(), a, "a"); err != nil || c.Digest().Records != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}
