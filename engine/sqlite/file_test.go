package sqlite

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// A file whose header is damaged in at most three bytes was SQLite's, and so was one of complete pages that begins with
// the kind of a page.
func TestIsSQLite(t *testing.T) {
	const magic = "SQLite format 3\x00"
	changed := func(n int) string {
		b := []byte(magic)
		for i := range n {
			b[15-i] ^= 0x55
		}
		return string(b)
	}
	page := func(first byte, size int) string { return string(append([]byte{first}, make([]byte, size-1)...)) }
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a header":               {magic, true},
		"three changed bytes":    {changed(3), true},
		"four changed bytes":     {changed(4), false},
		"a page of a table":      {page(13, 8192), true},
		"a page of an index":     {page(10, 2*8192), true},
		"inner pages":            {page(2, 8192), true},
		"inner pages of a table": {page(5, 8192), true},
		"an overflow page":       {page(0, 8192), true},
		"another kind":           {page(1, 8192), false},
		"half a page":            {page(13, 4096), false},
		"a short file":           {magic[:15], false},
		"no byte":                {"", false},
	} {
		path := filepath.Join(t.TempDir(), "a")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if isSQLite(path) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
	if isSQLite(filepath.Join(t.TempDir(), "none")) {
		t.Error("a missing file")
	}
}

// A file that is open for writing has the documented settings; a reader sets no mode of a file.
func TestSettingsOfAConnection(t *testing.T) {
	for readOnly, want := range map[bool]string{
		false: "trusted_schema=OFF cell_size_check=ON cache_size=-3072 temp_store=MEMORY page_size=8192 journal_mode=WAL synchronous=FULL wal_autocheckpoint=4000",
		true:  "trusted_schema=OFF cell_size_check=ON cache_size=-3072 temp_store=MEMORY",
	} {
		if got := strings.Join((&database{cache: 3, readOnly: readOnly}).pragmas(), " "); got != want {
			t.Errorf("read-only %t: %s", readOnly, got)
		}
	}
	e := openFile(t, filepath.Join(t.TempDir(), "new", "a.db"), engine.Options{})
	about, err := e.About(t.Context())
	if err != nil || about.Settings["cache_size"] != "-65536" || about.Settings["page_size"] != "8192" || about.Settings["temp_store"] != "2" || about.Acknowledged != "on disk: flushed, each commit" {
		t.Errorf("%+v, %v", about, err)
	}
	d := Driver()
	if !d.Recognizes("", []byte("SQLite format 3\x00\x10")) || d.Recognizes("", []byte("SQLite format 2\x00")) {
		t.Error("the beginning of a file")
	}
}

// The square root of a negative number or of NULL is NULL, and integers have square roots.
func TestSquareRoots(t *testing.T) {
	for _, c := range []struct{ x, want any }{{4.0, 2.0}, {int64(9), 3.0}, {0.0, 0.0}, {nil, nil}, {"4", nil}} {
		if got := squareRoot(c.x); got != c.want {
			t.Errorf("of %v: %v", c.x, got)
		}
	}
	if f, ok := squareRoot(-1.0).(float64); !ok || !math.IsNaN(f) {
		t.Error("of -1")
	}
}

// A file that is not on read-only media is opened with its log. The test does not cover read-only media.
func TestReadMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if mode, err := readMode(path); err != nil || mode != "ro" {
		t.Errorf("%q, %v", mode, err)
	}
}

// Rows of one series and time that differ only in other columns are stored together: 16, 4 or one in a statement.
func TestChunksOfEqualRows(t *testing.T) {
	newLines := func(n int, change func(b *record.Batch)) *sqlengine.Lines {
		b := records("G2", 0, n, 1)
		if change != nil {
			change(b)
		}
		l := &sqlengine.Lines{Grouper: &design.Grouper{Batches: []*record.Batch{b}, Headers: b.Headers}, Design: design.Normalized, FileIDs: []int64{1}, HeaderIDs: []int64{1}}
		for i := range n {
			l.Rows = append(l.Rows, design.Row{Row: int32(i), Valid: b.Valid[i]})
		}
		return l
	}
	for name, c := range map[string]struct {
		change func(b *record.Batch)
		rows   func(r []design.Row)
		want   int
	}{
		"equal":              {nil, nil, 6},
		"the first alone":    {func(b *record.Batch) { b.ValidEnd[1]++ }, nil, 1},
		"an end":             {func(b *record.Batch) { b.ValidEnd[4]++ }, nil, 4},
		"a lead":             {func(b *record.Batch) { b.ObsLead[2] = 1 }, nil, 2},
		"a begin":            {func(b *record.Batch) { b.ObsBeg[3]-- }, nil, 3},
		"an end of obs":      {func(b *record.Batch) { b.ObsEnd[5]-- }, nil, 5},
		"another header":     {nil, func(r []design.Row) { r[2].Header = 1 }, 2},
		"another valid time": {nil, func(r []design.Row) { r[3].Valid++ }, 3},
	} {
		l := newLines(6, c.change)
		if c.rows != nil {
			c.rows(l.Rows)
		}
		if got := alike(l, l.Rows); got != c.want {
			t.Errorf("%s: %d rows are equal, want %d", name, got, c.want)
		}
	}
	if got := alike(newLines(1, nil), newLines(1, nil).Rows); got != 1 {
		t.Errorf("one row: %d", got)
	}
	two := newLines(2, nil)
	two.Batches, two.FileIDs, two.Rows[1].Batch = append(two.Batches, two.Batches[0]), []int64{1, 2}, 1
	if got := alike(two, two.Rows); got != 1 {
		t.Errorf("rows of two files: %d are equal", got)
	}
	if two.FileIDs[1] = 1; alike(two, two.Rows) != 2 {
		t.Error("rows of one file in two batches")
	}
	if !slices.Equal(chunks[:], []int{16, 4, 1}) {
		t.Error(chunks)
	}
	lt := &lineTable{shared: []sqlengine.Column{{Name: "a"}, {Name: "b"}}, varying: []sqlengine.Column{{Name: "c"}}}
	if got := lt.insert("t", 2); got != "INSERT INTO t (a, b, c) VALUES (?1,?2,?3), (?1,?2,?4)" {
		t.Error(got)
	}
}

// A full disk, a damaged file and a page with a wrong checksum have a place and a cure; other errors stay.
func TestErrorsOfAFile(t *testing.T) {
	d := &database{path: "a.db"}
	for _, c := range []struct {
		err  error
		code int
		text string
	}{
		{sqlite3.Error{Code: sqlite3.ErrFull}, fault.Failed, "disk is full"},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, SystemErrno: syscall.ENOSPC}, fault.Failed, "disk is full"},
		{sqlite3.Error{Code: sqlite3.ErrIoErr, ExtendedCode: sqlite3.ErrIoErr.Extend(32)}, fault.Differs, "a page does not match its checksum"},
		{sqlite3.Error{Code: sqlite3.ErrCorrupt}, fault.Differs, "a.db"},
		{sqlite3.Error{Code: sqlite3.ErrNotADB}, fault.Differs, "a.db"},
	} {
		if err := d.explain(c.err); fault.Code(err) != c.code || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: status %d, %v", c.err, fault.Code(err), err)
		}
	}
	for _, other := range []error{errors.New("x"), sqlite3.Error{Code: sqlite3.ErrIoErr}, sqlite3.Error{Code: sqlite3.ErrBusy, SystemErrno: syscall.ENOSPC}} {
		if err := d.explain(other); err != other { //nolint:errorlint // the same error
			t.Errorf("%v: %v", other, err)
		}
	}
}

// Check finds one changed page and names the table. An intact archive has no problem.
func TestCheckFindsDamagedPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	e := openFile(t, path, engine.Options{})
	a := openDesign(t, e, design.Normalized)
	l, err := a.Loader(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	commit(t, l, "s", records("G2", 0, 200, 1))
	if err := errors.Join(l.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(text []byte) ([]string, error) {
		t.Helper()
		copied := filepath.Join(t.TempDir(), "b.db")
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, ok := openDesign(t, openFile(t, copied, engine.Options{ReadOnly: true}), design.Normalized).(interface {
			Check(ctx context.Context, subset string) ([]string, error)
		})
		if !ok {
			t.Fatal("the archive has no checksums")
		}
		return c.Check(t.Context(), "s")
	}
	if found, err := check(text); err != nil || len(found) > 0 {
		t.Errorf("intact: %q, %v", found, err)
	}
	at := bytes.LastIndex(text, []byte("1970-01-01 00:00:00"))
	if at < 2*pageBytes {
		t.Fatal("no lines")
	}
	damaged := slices.Clone(text)
	damaged[at] ^= 1
	found, err := check(damaged)
	if err != nil || len(found) == 0 || !strings.HasPrefix(found[0], "table s/") || !strings.Contains(found[0], " or its index: ") {
		t.Errorf("a changed time: %q, %v", found, err)
	}
}
