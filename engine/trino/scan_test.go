package trino_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/scantest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/engine/trino"
	"github.com/barograph/barograph/query/flavour"
)

// metastore replies to the statements of a load like Trino, without reading the files. It knows only store_sales.
type metastore struct {
	mu                sync.Mutex
	location, comment string // quoted; "" = the table does not exist, or has no comment
}

var (
	created   = regexp.MustCompile(`^CREATE TABLE \S+store_sales .* COMMENT ('.*') WITH \(.*external_location = ('(?:[^']|'')*')`)
	commented = regexp.MustCompile(`^COMMENT ON TABLE \S+store_sales IS ('.*')$`)
)

// reply returns the value in the only row of the result; nil = no rows. failed is the name of an error.
func (m *metastore) reply(text string) (value any, failed string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := created.FindStringSubmatch(text); c != nil {
		m.comment, m.location = c[1], c[2]
	}
	if c := commented.FindStringSubmatch(text); c != nil {
		m.comment = c[1]
	}
	switch {
	case strings.HasPrefix(text, "SELECT count(*)"):
		return 1, ""
	case strings.HasPrefix(text, "DROP TABLE") && strings.HasSuffix(text, "store_sales"):
		m.location, m.comment = "", ""
	case strings.HasPrefix(text, "SELECT coalesce(comment") && m.location != "":
		return strings.ReplaceAll(strings.Trim(m.comment, "'"), "''", "'"), ""
	case strings.HasPrefix(text, "SHOW CREATE TABLE") && m.location == "":
		return nil, "TABLE_NOT_FOUND"
	case strings.HasPrefix(text, "SHOW CREATE TABLE"):
		comment := ""
		if m.comment != "" {
			comment = "COMMENT " + m.comment + "\n"
		}
		return "CREATE TABLE hive.a_star.store_sales (\n   part integer\n)\n" + comment + "WITH (\n   external_location = " +
			m.location + ",\n   format = 'PARQUET',\n   partitioned_by = ARRAY['part']\n)", ""
	}
	return nil, ""
}

// newMetastore starts a metastore and returns its host and port.
func newMetastore(t *testing.T) (m *metastore, address string) {
	t.Helper()
	m = &metastore{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		value, failed := m.reply(string(text))
		reply := map[string]any{"id": "1"}
		if failed != "" {
			reply["error"] = map[string]string{"errorName": failed, "message": string(text)}
		} else if value != nil {
			reply["data"] = [][]any{{value}}
		}
		_ = json.NewEncoder(w).Encode(reply)
	}))
	t.Cleanup(s.Close)
	return m, strings.TrimPrefix(s.URL, "http://")
}

// withStar opens the tables and calls f.
func withStar(t *testing.T, url string, p tables.Placement, f func(*tables.Star) error) error {
	t.Helper()
	e, err := engine.Registry{trino.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		return err
	}
	defer e.Close()
	star, err := tables.DatabasesOf(e).Star.Open(t.Context(), p)
	if err != nil {
		return err
	}
	return errors.Join(f(star), star.Close())
}

// load loads files at a placement.
func load(t *testing.T, url string, p tables.Placement, files tables.StarFiles) error {
	t.Helper()
	p.Replace = true
	return withStar(t, url, p, func(star *tables.Star) error {
		_, err := star.Load(t.Context(), files)
		return err
	})
}

// size returns the number of bytes of tables that are loaded at a placement.
func size(t *testing.T, url string, p tables.Placement) (total int64) {
	t.Helper()
	err := withStar(t, url, p, func(star *tables.Star) error {
		sizes, err := star.Size(t.Context())
		for _, n := range sizes {
			total += n
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return total
}

// anotherAddress loads tables at one address of a server, and opens and replaces them at another one.
func anotherAddress(t *testing.T, first, second string, files tables.StarFiles) {
	t.Helper()
	p := tables.Placement{Paths: enginetest.Disks(t, 2), Partitions: 3}
	if err := load(t, first, p, files); err != nil {
		t.Fatal(err)
	}
	if a, b := size(t, first, p), size(t, second, p); a == 0 || a != b {
		t.Errorf("%d bytes at the first address, %d at the second", a, b)
	}
	if err := load(t, second, p, files); err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Paths {
		if in, err := os.ReadDir(path); err != nil || len(in) != 1 {
			t.Errorf("%s contains %v, %v; want the folder of one load", path, in, err)
		}
	}
}

// TestFolders: Barograph finds and removes the files of all earlier loads, and no others.
func TestFolders(t *testing.T) {
	files, _ := scantest.StarFolder(t)
	t.Run("another address", func(t *testing.T) { secondAddress(t, files) })
	t.Run("interrupted load", func(t *testing.T) { interrupted(t, files) })
	t.Run("earlier versions", func(t *testing.T) { earlier(t, files) })
}

// secondAddress: the files of tables are found at every address of their server.
func secondAddress(t *testing.T, files tables.StarFiles) {
	_, address := newMetastore(t)
	anotherAddress(t, "trino://"+address+"/a", "trino://"+strings.Replace(address, "127.0.0.1", "[::ffff:127.0.0.1]", 1)+"/a", files)
}

// interrupted: a load removes the files of an interrupted one from all its paths.
func interrupted(t *testing.T, files tables.StarFiles) {
	_, address := newMetastore(t)
	url, old := "trino://"+address+"/a", enginetest.Disks(t, 2)
	bad := files
	bad.Parquet = maps.Clone(files.Parquet)
	bad.Parquet[tables.Item] = []string{filepath.Join(t.TempDir(), "missing.parquet")}
	if err := load(t, url, tables.Placement{Paths: old, Partitions: 4}, bad); err == nil {
		t.Fatal("a missing file was loaded")
	}
	if len(scantest.FilesBelow(t, old[1])) == 0 {
		t.Fatal("the failed load has written nothing")
	}
	next := tables.Placement{Paths: enginetest.Disks(t, 1), Partitions: 2}
	if err := withStar(t, url, next, func(star *tables.Star) error {
		if _, err := star.Ask(t.Context(), tables.ScanAll); err == nil {
			t.Error("the tables of an incomplete load were read")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := load(t, url, next, files); err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if names := scantest.FilesBelow(t, path); len(names) > 0 {
			t.Errorf("%q remain", names)
		}
	}
}

// earlier: tables of an earlier version, whose folder has another name, are read and replaced. Files of others are not
// removed.
func earlier(t *testing.T, files tables.StarFiles) {
	for name, ours := range map[string]bool{"barograph-trino-0123456789abcdef": true, "sales": false} {
		m, address := newMetastore(t)
		url, p := "trino://"+address+"/a", tables.Placement{Paths: enginetest.Disks(t, 2), Partitions: 2}
		for i, part := range []string{"part-0000", "part-0001"} {
			dir := filepath.Join(p.Paths[i], name, part)
			if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "000001.parquet"), []byte("abc"), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		m.location = flavour.Quote("local://" + filepath.Join(p.Paths[0], name, "store_sales"))
		if ours {
			note, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			m.comment = flavour.Quote(string(note))
			if n := size(t, url, p); n != 6 {
				t.Errorf("the tables have %d bytes", n)
			}
		}
		if err := load(t, url, tables.Placement{Paths: enginetest.Disks(t, 1), Partitions: 1}, files); err != nil {
			t.Fatal(err)
		}
		for _, path := range p.Paths {
			if names := scantest.FilesBelow(t, path); (len(names) == 0) != ours {
				t.Errorf("%s: %q", name, names)
			}
		}
	}
}
