package duckdb_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// open opens an archive at a URL; it is closed with t.
func open(t *testing.T, url string, n design.Name) archive.Archive {
	t.Helper()
	e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// series makes records of one SL1L2 series: leads 0, 6, 12 … h at each valid time.
func series(path string, leads int, valid ...int64) *record.Batch {
	t, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(t, path)
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.FcstVar], h[record.ObsVar] = "V01", "GFS", "T", "T"
	head := b.AddHeader(h)
	for _, v := range valid {
		for l := range leads {
			b.AppendTimes(head, int32(l*6*3600), v, uint32(b.Len()+1))
			for k := range b.Num {
				f := float64(b.Len()) + float64(k)/8
				if k > 2 && b.Len()%5 == 0 {
					f = record.Missing()
				}
				b.Num[k] = append(b.Num[k], f)
			}
		}
	}
	return b
}

// digest returns the digest of all records of a subset.
func digest(t testing.TB, a archive.Archive, subset string) (d record.Digest) {
	t.Helper()
	var h record.Hasher
	for b, err := range a.Dump(t.Context(), subset) {
		if err != nil {
			t.Fatal(err)
		}
		d.Add(h.DigestOf(b))
	}
	return d
}

func designs() []design.Name {
	return []design.Name{design.Normalized, design.Document, design.Wide}
}

// A subset may have the name of the file, or of one of DuckDB's own databases. DuckDB would also read "a".t as a table
// of the database a, and refuse the ambiguous name.
func TestSubsetsNamedLikeDatabases(t *testing.T) {
	for _, n := range designs() {
		t.Run(string(n), func(t *testing.T) {
			a := open(t, "duckdb:"+filepath.Join(t.TempDir(), "gfs.db"), n)
			b := series("f", 3, 0, 3600)
			for _, subset := range []string{"gfs", "GFS", "temp", "system", "memory", "main", "information_schema", "pg_catalog", ""} {
				enginetest.StoreBatches(t, a, subset, b)
				if d := digest(t, a, subset); d.Records != int64(b.Len()) {
					t.Errorf("%q holds %s", subset, d)
				}
				q := &question.Question{Name: "all", Subset: subset, Type: b.Type, Valid: question.Times{List: []int64{0, 3600}}}
				q.Columns, _ = question.Columns(b.Type, "fcst_lead", "fbar")
				for _, f := range enginetest.Offered(duckdb.Driver())[n] {
					p, err := a.Phrase(t.Context(), q, f)
					if err != nil {
						t.Fatalf("%q, %s: %v", subset, f, err)
					}
					var into answer.Builder
					if err := a.Ask(t.Context(), p, &into); err != nil || into.Rows != b.Len() {
						t.Errorf("%q, %s: %d rows, %v", subset, f, into.Rows, err)
					}
				}
			}
		})
	}
}

// Documents and pages that are larger than DuckDB's chunks of 2048 rows.
func TestLargeDocuments(t *testing.T) {
	for _, n := range designs() {
		t.Run(string(n), func(t *testing.T) {
			a := open(t, "duckdb::memory:", n)
			want := record.Digest{}
			var h record.Hasher
			wide, long := series("f", 5000, 0, 3600), series("g", 2, times(7200, 60, 5000)...)
			for _, b := range []*record.Batch{wide, long} {
				want.Add(h.DigestOf(b))
				enginetest.StoreBatches(t, a, "a", b)
			}
			if got := digest(t, a, "a"); got != want {
				t.Errorf("the archive holds %s, want %s", got, want)
			}
			again := enginetest.StoreBatches(t, a, "a", long, wide)
			if again.New != 0 || again.Replaced["f"] != int64(wide.Len()) || again.Replaced["g"] != int64(long.Len()) {
				t.Errorf("loading again: %+v", again)
			}
			if got := digest(t, a, "a"); got != want {
				t.Errorf("after loading again the archive holds %s, want %s", got, want)
			}
		})
	}
}

func times(first, step int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = first + int64(i)*step
	}
	return out
}

// A file in an older format of DuckDB can be read and written.
func TestOlderFile(t *testing.T) {
	url := "duckdb:" + filepath.Join(t.TempDir(), "old.db")
	e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), url+"?storage_compatibility_version=v1.0.0", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
	if err != nil {
		t.Fatal(err)
	}
	first, second := series("f", 5, times(0, 3600, 3000)...), series("g", 9, times(0, 3600, 3000)...)
	enginetest.StoreBatches(t, a, "a", first)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	a = open(t, url, design.Wide)
	if s := enginetest.StoreBatches(t, a, "a", second); s.Replaced["g"] != int64(first.Len()) {
		t.Errorf("%+v, want %d replaced", s, first.Len())
	}
	var h record.Hasher
	if got, want := digest(t, a, "a"), h.DigestOf(second); got != want {
		t.Errorf("the archive holds %s, want %s", got, want)
	}
}

// TestNewFileAppearsWhole: a new file appears complete, never in a state that DuckDB refuses. No kill can leave such a
// file. Opening it removes folders that killed processes left next to it.
func TestNewFileAppearsWhole(t *testing.T) {
	const least = 3 * 4096 // DuckDB's headers
	for range 5 {
		path := filepath.Join(t.TempDir(), "archive.db")
		left := path + ".new-1"
		if err := errors.Join(os.Mkdir(left, 0o755), os.Chtimes(left, time.Time{}, time.Now().Add(-time.Hour))); err != nil {
			t.Fatal(err)
		}
		seen := make(chan int64)
		go func() {
			for {
				if info, err := os.Stat(path); err == nil {
					seen <- info.Size()
					return
				}
			}
		}()
		open(t, "duckdb:"+path, design.Wide)
		if size := <-seen; size < least {
			t.Errorf("the file was seen with %d bytes", size)
		}
		if beside, _ := filepath.Glob(path + ".new-*"); len(beside) > 0 {
			t.Errorf("next to it: %v", beside)
		}
	}
}

// TestPathNamedLikeADamage: a file that is no archive is not reported as a damaged archive, which the user could remove,
// because of a word in its path.
func TestPathNamedLikeADamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "corrupt", "FATAL Error.txt")
	text := strings.Repeat("a text of the user's\n", 1000)
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, o := range []engine.Options{{}, {ReadOnly: true}} {
		_, err := duckdb.Driver().Open(t.Context(), &url.URL{Scheme: "duckdb", Opaque: url.PathEscape(path)}, o)
		if !errors.Is(err, engine.ErrUnreachable) || fault.Code(err) == fault.Differs {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestUsersFilesNextToAnArchive: opening an archive removes the remains of a kill. It does not remove a user's file or
// folder with such a name.
func TestUsersFilesNextToAnArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	old := time.Now().Add(-time.Hour)
	for name, kept := range map[string]bool{
		"archive.db.new-backup": true, "archive.db.new-20261101/archive.db": true, "archive.db.new-2/made.db": false, "archive.db.new-3/made.db.wal": false,
	} {
		file := filepath.Join(filepath.Dir(path), name)
		mine := path + strings.SplitN(strings.TrimPrefix(name, "archive.db"), "/", 2)[0]
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("x"), 0o600), os.Chtimes(mine, old, old))
		if err != nil {
			t.Fatal(err)
		}
		e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+path, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(file); (err == nil) != kept {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOneLoaderPerSubset(t *testing.T) {
	a := open(t, "duckdb::memory:", design.Wide)
	l, err := a.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Loader(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "another loader") {
		t.Errorf("a second loader: %v", err)
	}
	if other, err := a.Loader(t.Context(), "b"); err != nil {
		t.Errorf("a loader of another subset: %v", err)
	} else if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	enginetest.StoreBatches(t, a, "a", series("f", 1, 0))
}

// A commit that fails leaves nothing in the archive or in the loader, and the loader accepts the records again.
func TestCommitAgainAfterFailure(t *testing.T) {
	for _, n := range designs() {
		t.Run(string(n), func(t *testing.T) {
			a := open(t, "duckdb::memory:", n)
			l, err := a.Loader(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			b := series("f", 3, 0)
			if err := l.Add(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			gone, stop := context.WithCancel(t.Context())
			stop()
			if _, err := l.Commit(gone, archive.Commit{}); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled commit: %v", err)
			}
			if d := digest(t, a, "a"); d.Records != 0 {
				t.Errorf("a cancelled commit left %s", d)
			}
			if err := l.Add(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if s, err := l.Commit(t.Context(), archive.Commit{}); err != nil || s.New != 3 {
				t.Errorf("the second commit: %+v, %v", s, err)
			}
		})
	}
}

func TestTextThatIsNotUTF8(t *testing.T) {
	a := open(t, "duckdb::memory:", design.Wide)
	l, err := a.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	b := series("latin1.stat", 1, 0)
	b.Headers[0][record.Descr] = "Z\xfcrich"
	if err := l.Add(t.Context(), b); err == nil || !strings.Contains(err.Error(), "latin1.stat") || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("text in Latin-1: %v", err)
	}
}

// The file of a path is data to DuckDB, never a statement.
func TestFileWithAwkwardName(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `it's; "quoted"`)
	path := filepath.Join(dir, `a';DROP "x.db`)
	a := open(t, (&engineURL{path}).String(), design.Normalized)
	b := series(`dir/it's "here".vsdb`, 2, 0)
	enginetest.StoreBatches(t, a, `a';DROP "x`, b)
	if d := digest(t, a, `a';DROP "x`); d.Records != 2 {
		t.Errorf("the archive holds %s", d)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if n, err := a.Size(t.Context()); err != nil || n <= 0 {
		t.Errorf("size %d, %v", n, err)
	}
}

// engineURL writes the URL of a file, escaped.
type engineURL struct{ path string }

func (u *engineURL) String() string {
	var b strings.Builder
	b.WriteString("duckdb:")
	for i := range len(u.path) {
		if c := u.path[i]; c == '/' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
		} else {
			const hex = "0123456789ABCDEF"
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

// No header value can become a statement.
func TestHeaderValuesAreQuoted(t *testing.T) {
	for _, n := range designs() {
		a := open(t, "duckdb::memory:", n)
		b := series("f", 2, 0)
		evil := `x'); DROP SCHEMA "a" CASCADE; --`
		b.Headers[0][record.VxMask] = evil
		enginetest.StoreBatches(t, a, "a", b)
		q := &question.Question{Name: "evil", Subset: "a", Type: b.Type, Valid: question.Times{List: []int64{0}}}
		q.Header[record.VxMask] = []string{evil}
		q.Columns, _ = question.Columns(b.Type, "vx_mask", "fbar")
		for _, f := range enginetest.Offered(duckdb.Driver())[n] {
			p, err := a.Phrase(t.Context(), q, f)
			if err != nil {
				t.Fatal(err)
			}
			var into answer.Builder
			if err := a.Ask(t.Context(), p, &into); err != nil || into.Rows != 2 || into.Vector(0).Text[0] != evil {
				t.Errorf("%s, %s: %d rows, %v", n, f, into.Rows, err)
			}
			if plan, err := a.Explain(t.Context(), p); err != nil || plan.Text == "" {
				t.Errorf("%s, %s: plan %q, %v", n, f, plan.Text, err)
			}
		}
		if d := digest(t, a, "a"); d.Records != 2 {
			t.Errorf("%s: the archive holds %s", n, d)
		}
	}
}

func TestOpenFaults(t *testing.T) {
	r := engine.Registry{duckdb.Driver()}
	for _, tc := range []struct {
		url  string
		o    engine.Options
		want string
	}{
		{"duckdb:", engine.Options{}, "names no file"},
		{"duckdb::memory:", engine.Options{ReadOnly: true}, "read-only"},
		{"duckdb::memory:?memory_limit=plenty", engine.Options{}, "cannot be opened"},
	} {
		if _, err := r.Open(t.Context(), tc.url, tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want an error with %q", tc.url, err, tc.want)
		}
	}
	path := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(path, []byte("V01 GFS 24 2019010100 …, which is no database"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Open(t.Context(), "duckdb:"+path, engine.Options{}); !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("a text file: %v", err)
	}
}

func TestKeysAreBoundAsOneList(t *testing.T) {
	a := open(t, "duckdb::memory:", design.Document)
	b := series("f", 2, 0, 3600)
	enginetest.StoreBatches(t, a, "a", b)
	q := &question.Question{Name: "keys", Subset: "a", Type: b.Type, Valid: question.Times{List: []int64{0, 1800, 3600}}}
	q.Columns, _ = question.Columns(b.Type, "fcst_lead")
	p, err := a.Phrase(t.Context(), q, flavour.Keys)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Keys) != 3 || len(p.Args) != 1 || p.DeriveTime <= 0 {
		t.Errorf("%d keys, %d arguments, derived in %v", len(p.Keys), len(p.Args), p.DeriveTime)
	}
}

// TestLoadIsBounded: loads have a memory limit, which queries do not have. A memory limit in the URL of the archive
// remains during loads.
func TestLoadIsBounded(t *testing.T) {
	for _, given := range []string{"", "?memory_limit=300MB"} {
		e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+filepath.Join(t.TempDir(), "a.db")+given, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
		if err != nil {
			t.Fatal(err)
		}
		limit := func() string {
			about, err := e.About(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return about.Settings["memory_limit"]
		}
		before := limit()
		one, err := a.Loader(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		two, err := a.Loader(t.Context(), "two")
		if err != nil {
			t.Fatal(err)
		}
		during := limit()
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
		still := limit()
		if err := two.Close(); err != nil {
			t.Fatal(err)
		}
		if after := limit(); after != before || still != during || (during == before) != (given != "") {
			t.Errorf("%q: %s, in the load %s, after the first of two loaders %s, after the last %s", given, before, during, still, after)
		}
	}
}

// TestStaleLog: a log of another file is named, with what to do, and nothing is made or lost.
func TestStaleLog(t *testing.T) {
	dir := t.TempDir()
	file, log := filepath.Join(dir, "x.db"), filepath.Join(dir, "x.db.wal")
	other := filepath.Join(dir, "other.db")
	empty := func(file string) { // of the storage version whose files have an identifier
		e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+file, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	empty(other)
	db, err := sql.Open("duckdb", other)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "PRAGMA disable_checkpoint_on_shutdown; CREATE TABLE t AS SELECT 1 i"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(other + ".wal")
	if err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{false, true} {
		if there {
			empty(file)
		}
		if err := os.WriteFile(log, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{true, false} {
			if readOnly && !there {
				continue
			}
			_, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+file, engine.Options{ReadOnly: readOnly})
			if err == nil || !strings.Contains(err.Error(), log+" does not belong to "+file) || !strings.Contains(err.Error(), "move the log to another folder") {
				t.Errorf("there %t, read-only %t: %v", there, readOnly, err)
			}
		}
		if is, err := os.ReadFile(log); err != nil || !bytes.Equal(is, text) {
			t.Errorf("there %t: the log was changed, %v", there, err)
		}
		if _, err := os.Stat(file); !there && err == nil {
			t.Error("a file was made next to the log")
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	}
}

// TestShortenedFile: after a checkpoint DuckDB removes free blocks from the end of the file, and its header still counts
// them. That is no damage, as long as only free blocks are missing.
func TestShortenedFile(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "a.db"), filepath.Join(t.TempDir(), "copy.db")
	e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+path, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	enginetest.StoreBatches(t, a, "s", series("x.vsdb", 3, times(0, 86400, 400)...))
	if err := errors.Join(a.Close(), e.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	shortened := 0
	for i := range 12 {
		texts := []string{"CREATE TABLE big AS SELECT hash(range) AS h FROM range(500000)", "DROP TABLE big"}
		for _, text := range []string{texts[i%2], "FORCE CHECKPOINT"} {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		file, err := os.ReadFile(path) // as a kill leaves it
		if err != nil {
			t.Fatal(err)
		}
		head := file[4096:]
		if later := file[8192:]; binary.LittleEndian.Uint64(later[8:]) > binary.LittleEndian.Uint64(head[8:]) {
			head = later
		}
		if blocks := binary.LittleEndian.Uint64(head[32:]); blocks <= uint64(len(file)-3*4096)/(256<<10) {
			continue
		}
		shortened++
		for _, missing := range []int{0, 256 << 10} { // the last block of a shortened file is not free
			if err := os.WriteFile(copied, file[:len(file)-missing], 0o600); err != nil {
				t.Fatal(err)
			}
			problems, err := duckdb.CheckFile(t.Context(), copied)
			if err != nil || (len(problems) > 0) != (missing > 0) {
				t.Errorf("shortened by DuckDB, and by %d further bytes: %v, %q", missing, err, problems)
			}
		}
	}
	if shortened == 0 {
		t.Error("DuckDB never shortened the file")
	}
}
