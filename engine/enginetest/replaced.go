package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// replaced replaces an open archive by another one. From then on each call must return an error that names
// the file or folder, and no call may change the other archive.
func (s *suite) replaced(t *testing.T) {
	s.attacked(t, "archive replaced while it is open").Times = 2
	raw, files := s.URL(t), crashFiles()
	path := databasePath(t, raw)
	h := s.open(t, raw, engine.Options{})
	mustStore(t, h, "a", files, 6)
	h.close(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.CopyFS(other, os.DirFS(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	other = filepath.Join(other, filepath.Base(path))
	for _, readOnly := range []bool{true, false} {
		h := s.open(t, raw, engine.Options{ReadOnly: readOnly})
		h.closed = true // closing need not be possible any more
		if err := os.Rename(path, path+".was"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		calls := map[string]func() error{
			"a catalog": func() error { _, err := h.Catalog(t.Context(), "a"); return err },
			"a dump":    func() error { _, err := dump(t.Context(), h, "a"); return err },
		}
		if !readOnly {
			calls["a commit"] = func() error { _, err := store(t.Context(), h, "b", files, 6); return err }
		}
		for what, call := range calls {
			err := call()
			text := fmt.Sprint(err)
			if !hasCure(err) || !strings.Contains(text, path) || !strings.Contains(text, "was replaced by another one while it was open") {
				t.Errorf("read-only %t: %s: %v", readOnly, what, err)
			}
		}
		_, _ = h.Close(), h.engine.Close()
		var d record.Digest
		d, err := s.reread(t.Context(), raw, true)
		if err != nil || d != expect(files) {
			t.Errorf("read-only %t: the other archive is now %s, %v", readOnly, d, err)
		}
		if err := os.Rename(path, other); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".was", path); err != nil {
			t.Fatal(err)
		}
	}
}
