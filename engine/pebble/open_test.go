package pebble

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// registry contains only this engine.
func registry() engine.Registry { return engine.Registry{Driver()} }

func TestParameters(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		{"compression=zip", "compression"}, {"cache=0", "cache"}, {"cache=lots", "cache"}, {"memtable=99999", "memtable"},
	} {
		_, err := registry().Open(t.Context(), "pebble:"+filepath.Join(t.TempDir(), "a")+"?"+tc.query, engine.Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: the error is %v, want one that names %s", tc.query, err, tc.want)
		}
	}
	for _, compression := range []string{"none", "fastest", "balanced", "good"} {
		e, err := registry().Open(t.Context(), "pebble:"+filepath.Join(t.TempDir(), "a")+"?cache=1&memtable=1&compression="+compression, engine.Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		about, err := e.About(t.Context())
		if err != nil || about.Settings["compression"] != compression || about.Settings["cache"] != "1048576" {
			t.Errorf("about: %+v, %v", about, err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFolderOfOthersIsRefused: Pebble itself would mix its files with others.
func TestFolderOfOthersIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := registry().Open(t.Context(), "pebble:"+dir, engine.Options{})
	if !errors.Is(err, engine.ErrUnreachable) || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("the error is %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder now contains %v, %v", entries, err)
	}
}

func TestURLWithoutFolder(t *testing.T) {
	if _, err := registry().Open(t.Context(), "pebble:", engine.Options{}); fault.Code(err) != fault.Usage {
		t.Errorf("the error is %v", err)
	}
}

// TestRemoveStaysInItsFolder: Pebble removes obsolete files in the background. If another folder has the name by then, its
// files of these names stay.
func TestRemoveStaysInItsFolder(t *testing.T) {
	at := t.TempDir()
	dir, other := filepath.Join(at, "archive"), filepath.Join(at, "other")
	for _, folder := range []string{dir, other} {
		if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "000004.log"), []byte(folder), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	m := folderFS{vfs.Default, false, &store{}}
	lock, err := m.Lock(filepath.Join(dir, "LOCK"))
	if err := errors.Join(err, os.Rename(dir, dir+".was"), os.Rename(other, dir), m.Remove(filepath.Join(dir, "000004.log"))); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "000004.log")); string(text) != other {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(dir+".was", "000004.log")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadersCloseTheFolder: a reader that was closed leaves no descriptor of its folder.
func TestReadersCloseTheFolder(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("NOT TESTED: this system has no /proc/self/fd")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would close a forgotten folder
	dir := filepath.Join(t.TempDir(), "a")
	for _, readOnly := range []bool{false, true, true} {
		e, err := registry().Open(t.Context(), "pebble:"+dir, engine.Options{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if path, _ := os.Readlink(fd); strings.HasPrefix(path, dir) {
			t.Errorf("%s is open", path)
		}
	}
}

// TestSizeOfALinkedFolder: the size of an archive is that of its files, also if its path is a symbolic link.
func TestSizeOfALinkedFolder(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(filepath.Join(dir, "1.sst"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("NOT TESTED: no symbolic links: ", err)
	}
	for _, path := range []string{dir, link} {
		a := openArchive{store: &store{dir: path, readOnly: true}}
		if size, err := a.Size(t.Context()); size != 1000 || err != nil {
			t.Errorf("%s: %d bytes, %v", path, size, err)
		}
	}
}

// TestMovedFolder: a read after the folder was moved reports this, not a damaged archive.
func TestMovedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	u := &url.URL{Scheme: "pebble", Opaque: url.PathEscape(dir)}
	e, err := open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, insert := records(t, e)
	for i := range 100 {
		if err := insert(i); err != nil {
			t.Fatal(err)
		}
	}
	s, ok := archive.DatabaseOf(e).(*store)
	if !ok {
		t.Fatal("the database is no store")
	}
	if err := errors.Join(s.db.Flush(), e.Close()); err != nil {
		t.Fatal(err)
	}
	for _, moved := range []bool{true, false} {
		if e, err = open(t.Context(), u, engine.Options{ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		s, _ = archive.DatabaseOf(e).(*store)
		if moved {
			err = os.Rename(dir, dir+".was")
		} else {
			for _, table := range lists.Files(dir, "*.sst") {
				err = errors.Join(err, os.Remove(table))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		err = s.explain(s.scanPrefix(t.Context(), []byte{kvPrefix}, func(_, _ []byte) error { return nil }))
		if err == nil || strings.Contains(err.Error(), "was moved or deleted while it was open") != moved || (fault.Code(err) == fault.Differs) == moved {
			t.Errorf("moved: %v, the error is %v", moved, err)
		}
		_ = e.Close() // some files are missing
		if moved {
			err = os.Rename(dir+".was", dir)
		}
		if moved && err != nil {
			t.Fatal(err)
		}
	}
}

// TestEmptyKey: the bare prefix of a table is no record, and a read of it releases its memory.
func TestEmptyKey(t *testing.T) {
	e, err := registry().Open(t.Context(), "pebble:"+filepath.Join(t.TempDir(), "a"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := records(t, e)
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var row kv.Row
	if err := c.Read(t.Context(), nil, nil, &row); !errors.Is(err, kv.ErrNotFound) {
		t.Error(err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("after a read of the empty key: %v", err)
	}
}

// Check also reads the tables of a folder whose name is a pattern. The canceled context ends Check at its first file.
func TestCheckReadsTheTables(t *testing.T) {
	for _, name := range []string{"a", "a[1]"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := &openArchive{store: &store{dir: dir}}
		if _, err := a.Check(ctx, ""); err != nil {
			t.Errorf("%s without tables: %v", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "000001.sst"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Check(ctx, ""); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: no table was read: %v", name, err)
		}
	}
}
