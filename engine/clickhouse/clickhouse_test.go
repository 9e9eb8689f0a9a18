package clickhouse

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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

// TestDigests changes bytes in files for which ClickHouse has no digests: a column gets another name, or a table loses
// its rows. Opening or reading the archive must then report that it is damaged, with a cure.
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
			damaged, ok := errors.AsType[*fault.Error](err)
			if !ok || damaged.Problem != "archive "+path+" is damaged" || damaged.Cure == "" {
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

// TestWriteFile: a file whose new content cannot be written completely keeps its content. The temporary file is a link
// to /dev/full, which is always full.
func TestWriteFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), digestsFile)
	if err := writeFile(name, "old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", name+".new"); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(name, "new"); err == nil {
		t.Error("a full disk is not reported")
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() { // reading /dev/full would not end
		t.Fatalf("the temporary file has replaced the file: %v", err)
	}
	for _, want := range []string{"old", "new"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want {
			t.Errorf("the file contains %q, not %q: %v", text, want, err)
		}
		if _, err := os.Lstat(name + ".new"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the temporary file remains: %v", err)
		}
		if err := writeFile(name, "new"); err != nil {
			t.Error(err)
		}
	}
}

// TestErrorsOfDamage: only errors about the content of files are reported as damage, and not a lack of resources.
func TestErrorsOfDamage(t *testing.T) {
	for name, isDamage := range map[string]bool{
		"CHECKSUM_DOESNT_MATCH": true, "CORRUPTED_DATA": true, "CANNOT_READ_ALL_DATA": true, "CANNOT_DECOMPRESS": true,
		"CANNOT_PARSE_TEXT": true, "NO_FILE_IN_DATA_PART": true, "UNEXPECTED_END_OF_FILE": true,
		"CANNOT_ALLOCATE_MEMORY": false, "CANNOT_SCHEDULE_TASK": false, "CANNOT_OPEN_FILE": false,
		"CANNOT_WRITE_TO_FILE_DESCRIPTOR": false, "CANNOT_FSYNC": false, "MEMORY_LIMIT_EXCEEDED": false,
	} {
		err := (&database{path: "a"}).describeError(fmt.Errorf("Code: 1. DB::Exception: text. (%s)", name))
		if (fault.Code(err) == fault.Differs) != isDamage {
			t.Errorf("damage is %t, want %t: %v", !isDamage, isDamage, err)
		}
	}
}

// TestErrorsOfAFullDisk: a full disk is reported as one, whether the library or this program wrote last.
func TestErrorsOfAFullDisk(t *testing.T) {
	for _, err := range []error{
		&fs.PathError{Op: "write", Path: "a/digests", Err: syscall.ENOSPC},
		errors.New("Code: 74. DB::ErrnoException: Cannot write: , errno: 28, strerror: No space left on device"),
		errors.New("Code: 243. DB::Exception: Cannot reserve 1.00 MiB. (NOT_ENOUGH_SPACE)"),
	} {
		if got := (&database{path: "a"}).describeError(err); !strings.Contains(got.Error(), "its disk is full") || !errors.Is(got, err) {
			t.Error(got)
		}
	}
}

// TestLockOfAKilledWriter: an archive is opened for reading after the process of a killed program has released its lock.
func TestLockOfAKilledWriter(t *testing.T) {
	d := &database{path: t.TempDir(), unlock: func() error { return nil }}
	status := filepath.Join(d.path, "status")
	definition := filepath.Join(d.path, "metadata", databaseName+".sql")
	err := errors.Join(os.WriteFile(status, nil, 0o600), os.Mkdir(filepath.Dir(definition), 0o700),
		os.WriteFile(definition, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	locked := func(kind int) *os.File {
		t.Helper()
		f, err := os.Open(status)
		if err == nil {
			err = syscall.Flock(int(f.Fd()), kind|syscall.LOCK_NB)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	writer, tries := locked(syscall.LOCK_EX), 0
	err = retryLocked(func() error {
		if tries++; tries == 2 {
			_ = writer.Close()
		}
		_, err := d.readOnlyFolder(t.TempDir())
		return err
	})
	if err != nil || tries != 2 {
		t.Fatalf("%d tries, %v", tries, err)
	}
	_ = locked(syscall.LOCK_SH).Close() // the reader's lock is shared
	if err := d.unlock(); err != nil {
		t.Error(err)
	}
	_ = locked(syscall.LOCK_EX).Close()

	if err := errors.Join(os.Remove(status), os.Symlink("status", status)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.readOnlyFolder(t.TempDir()); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a lock file that cannot be opened: %v", err)
	}
}
