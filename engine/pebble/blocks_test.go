package pebble

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
)

// openStore opens a store in a folder.
func openStore(t *testing.T, dir string, o engine.Options) *store {
	t.Helper()
	e, err := open(t.Context(), &url.URL{Scheme: "pebble", Opaque: url.PathEscape(dir), RawQuery: "compression=none&cache=1&memtable=1"}, o)
	if err != nil {
		t.Fatal(err)
	}
	s, ok := archive.DatabaseOf(e).(*store)
	if !ok {
		t.Fatal("the database is no store")
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// put writes pairs and flushes them into a table.
func put(t *testing.T, s *store, pairs map[string][]byte) {
	t.Helper()
	for key, value := range pairs {
		if err := s.db.Set([]byte(key), value, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
}

// randomPairs returns pairs of documents whose values fill several blocks.
func randomPairs(n, size int) map[string][]byte {
	random, pairs := rand.New(rand.NewPCG(1, 0)), map[string][]byte{}
	for i := range n {
		value := make([]byte, size)
		for k := range value {
			value[k] = byte(random.Uint32())
		}
		pairs[fmt.Sprintf("%s%04d", idPrefix, i)] = value
	}
	return pairs
}

// Payloads of at least 128 bytes are in a file of values. Smaller ones are with their keys, and so are catalogs, marks
// and records under keys.
func TestPayloadsAreInSeparateFiles(t *testing.T) {
	for _, c := range []struct {
		key  string
		size int
		want bool
	}{
		{idPrefix + "a", minSeparateBytes, true},
		{idPrefix + "a", minSeparateBytes - 1, false},
		{string(catalogKey("s")), 9000, false},
		{string(markKey("s", "d")), 9000, false},
		{string(nextKey("s")), 9000, false},
		{string(rune(kvPrefix)) + "t", 9000, false},
		{"DD:;a", 9000, false},
		{"zz", 9000, false},
	} {
		dir := filepath.Join(t.TempDir(), "a")
		put(t, openStore(t, dir, engine.Options{}), map[string][]byte{c.key: make([]byte, c.size)})
		if got := len(lists.Files(dir, "*.blob")) == 1; got != c.want {
			t.Errorf("%q with %d bytes: separate %t, want %t", c.key, c.size, got, c.want)
		}
	}
	if minSeparateBytes != 128 {
		t.Error("the format page says 128 bytes")
	}
}

// TestCheckFindsEveryDamagedBlock: a flipped bit in any part of a table or a file of values is a problem that names the
// file. A damaged file that the manifest does not name is none: a flush that was interrupted leaves such files.
func TestCheckFindsEveryDamagedBlock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	first := openStore(t, dir, engine.Options{})
	put(t, first, randomPairs(8, 10_000)) // several blocks of values; Pebble looks for a flipped bit in quadratic time
	put(t, first, map[string][]byte{string(catalogKey("s")): make([]byte, 2000)})
	problems := func(dir string) []string {
		t.Helper()
		a := &openArchive{store: openStore(t, dir, engine.Options{ReadOnly: true})}
		found, err := a.Check(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	intact := filepath.Join(t.TempDir(), "intact")
	if err := os.CopyFS(intact, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if found := problems(intact); found != nil {
		t.Errorf("intact: %q", found)
	}
	for _, pattern := range []string{"*.blob", "*.sst"} {
		names := lists.Files(intact, pattern)
		if len(names) == 0 {
			t.Fatal("no ", pattern)
		}
		for part := range 3 {
			name := filepath.Base(names[len(names)-1])
			damaged := filepath.Join(t.TempDir(), "damaged")
			if err := os.CopyFS(damaged, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(damaged, name))
			if err != nil {
				t.Fatal(err)
			}
			text[(2*part+1)*len(text)/6] ^= 1
			if err := os.WriteFile(filepath.Join(damaged, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
			if found := problems(damaged); len(found) != 1 || !strings.HasPrefix(found[0], name+": ") {
				t.Errorf("%s, part %d: %q", name, part, found)
			}
			if part > 0 {
				continue
			}
			orphan := filepath.Join(t.TempDir(), "orphan")
			if err := errors.Join(os.CopyFS(orphan, os.DirFS(dir)), os.WriteFile(filepath.Join(orphan, "999999"+filepath.Ext(name)), text, 0o600)); err != nil {
				t.Fatal(err)
			}
			if found := problems(orphan); found != nil {
				t.Errorf("a file without a name in the manifest: %q", found)
			}
		}
	}
	for _, text := range [][]byte{nil, []byte("short")} {
		if err := checkValues(t.Context(), writeFile(t, "1.blob", text)); err == nil {
			t.Errorf("values of %q", text)
		}
		if err := checkTable(t.Context(), writeFile(t, "1.sst", text)); err == nil {
			t.Errorf("a table of %q", text)
		}
	}
	missing := filepath.Join(dir, "missing")
	if err := errors.Join(checkValues(t.Context(), missing)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := checkTable(t.Context(), missing); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// writeFile writes a file into a temporary folder.
func writeFile(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSizesOfSettings: cache and memtable are MiB within documented limits; each setting reaches Pebble.
func TestSizesOfSettings(t *testing.T) {
	for query, want := range map[string]*settings{
		"":                                    {cache: 256 << 20, memtable: 64 << 20, compression: "fastest"},
		"cache=1&memtable=1&compression=none": {cache: 1 << 20, memtable: 1 << 20, compression: "none"},
		"cache=1048576&memtable=2048":         {cache: 1 << 40, memtable: 2 << 30, compression: "fastest"},
		"cache=3&memtable=5&compression=good": {cache: 3 << 20, memtable: 5 << 20, compression: "good"},
		"cache=0":                             nil,
		"cache=1048577":                       nil,
		"memtable=0":                          nil,
		"memtable=2049":                       nil,
	} {
		u, err := fault.ParseURL("pebble:a?" + query)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse(u)
		if (err == nil) != (want != nil) {
			t.Errorf("%s: %v", query, err)
		}
		if err != nil || want == nil {
			continue
		}
		if s.cache != want.cache || s.memtable != want.memtable || s.compression != want.compression {
			t.Errorf("%s: %+v", query, s)
		}
		o := s.options(engine.Options{ReadOnly: true, Threads: 3})
		if o.CacheSize != want.cache || o.MemTableSize != uint64(want.memtable) || !o.ReadOnly {
			t.Errorf("%s: %+v", query, o)
		}
		if least, most := o.CompactionConcurrencyRange(); least != 1 || most != 3 {
			t.Errorf("from %d to %d threads", least, most)
		}
	}
	if o := (&settings{profile: func() pebble.DBCompressionSettings { return pebble.DBCompressionNone }}).options(engine.Options{}); o.CompactionConcurrencyRange != nil || o.ReadOnly {
		t.Error("without a number of threads, Pebble chooses one")
	}
}

// A scan reads only keys between the first and the last time, or the complete series if their decimal numbers do not sort
// as times do.
func TestKeyRange(t *testing.T) {
	s := &docengine.Series{Prefix: "p::"}
	for _, c := range []struct {
		times    question.Times
		from, to string
	}{
		{question.Times{First: 100, Last: 200}, "p::100", "p::200\x00"},
		{question.Times{List: []int64{150, 170}}, "p::150", "p::170\x00"},
		{question.Times{First: 99, Last: 100}, "p::-", "p:::"},
		{question.Times{First: -5, Last: -1}, "p::-", "p:::"},
		{question.Times{First: -5, Last: 10}, "p::-", "p:::"},
		{question.Times{First: 0, Last: 9}, "p::0", "p::9\x00"},
		{question.Times{}, "p::-", "p:::"},
	} {
		if from, to := keyRange(s, &c.times); string(from) != c.from || string(to) != c.to {
			t.Errorf("%+v: %q to %q", c.times, from, to)
		}
	}
	if got := describeBounds(&question.Times{First: 100, Last: 200}); got != "from 100 to 200" {
		t.Error(got)
	}
	if got := describeBounds(&question.Times{}); got != "from end to end" {
		t.Error(got)
	}
}

// TestLongPlans: a plan shows 20 ids or series, and the number of all others.
func TestLongPlans(t *testing.T) {
	a := &openArchive{store: openStore(t, filepath.Join(t.TempDir(), "a"), engine.Options{})}
	for _, c := range []struct {
		ids, series, lines int
		more               string
	}{{20, 0, 20, ""}, {25, 0, 20, "and 5 more\n"}, {0, 21, 20, "and 1 more\n"}, {0, 3, 3, ""}} {
		q, p := &archive.Query{Question: &question.Question{}, Text: "the text"}, &plan{series: make([]docengine.Series, c.series)}
		for i := range c.ids {
			q.Keys = append(q.Keys, fmt.Sprint("id", i))
		}
		text := a.describe(q, p)
		if !strings.HasPrefix(text, "the text, with one iterator; ") || strings.Count(text, "\nseek id")+strings.Count(text, "\nscan ") != c.lines {
			t.Errorf("%+v: %s", c, text)
		}
		if strings.Contains(text, " more\n") != (c.more != "") || !strings.Contains(text, c.more) {
			t.Errorf("%+v: %s", c, text)
		}
	}
}

// TestFolders: a folder of a database, an empty one, and what a crashed creation left can be opened; others are refused
// with the name of a file that is not Pebble's.
func TestFolders(t *testing.T) {
	for _, c := range []struct {
		files    string
		readOnly bool
		want     string // part of the error; "" = none
	}{
		{"", false, ""},
		{"LOCK MANIFEST-000001 OPTIONS-000003 marker.manifest.000001.MANIFEST-000001 temporary.1 000002.log x.dbtmp", false, ""},
		{"LOCK notes.txt", false, "other files, e.g. notes.txt"},
		{"LOG", false, "e.g. LOG"},
		{"000002.logs", false, "e.g. 000002.logs"},
		{"a.sst", false, "e.g. a.sst"},
		{"", true, "contains no Pebble database"},
		{"LOCK", true, "contains no Pebble database"},
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(c.files) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := checkFolder(dir, c.readOnly)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, engine.ErrUnreachable)) {
			t.Errorf("%q, read-only %t: %v", c.files, c.readOnly, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "a")
	if err := checkFolder(missing, false); err != nil {
		t.Errorf("a new folder: %v", err)
	}
	if err := checkFolder(missing, true); !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("a missing folder: %v", err)
	}
	if err := checkFolder(writeFile(t, "a", nil), false); !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("a file: %v", err)
	}
	d := Driver()
	if d.Recognizes(t.TempDir(), nil) || !d.Recognizes(filepath.Dir(writeFile(t, "MANIFEST-000001", nil)), nil) {
		t.Error("a folder with a manifest is Pebble's")
	}
}

// TestLastingFailures: only errors that a retry cannot repair stop the store.
func TestLastingFailures(t *testing.T) {
	for err, lasting := range map[error]bool{
		syscall.EROFS: true, syscall.EIO: true, syscall.EDQUOT: true, syscall.EFBIG: true, syscall.EAGAIN: false, syscall.EINTR: false, fs.ErrNotExist: false,
	} {
		f := &diskFailure{done: make(chan struct{})}
		f.onBackgroundError(fmt.Errorf("flush: %w", err))
		select {
		case <-f.done:
			if !lasting || !errors.Is(f.err, err) {
				t.Errorf("%v stops the store: %v", err, f.err)
			}
		default:
			if lasting {
				t.Errorf("%v does not stop the store", err)
			}
		}
	}
	for _, c := range []struct {
		err, want error
		text      string
	}{
		{syscall.ENOSPC, syscall.ENOSPC, "disk is full"},
		{syscall.EIO, syscall.EIO, "cannot be written any more"},
		{&fault.Error{Problem: "was moved", Err: engine.ErrUnreachable}, engine.ErrUnreachable, "was moved"},
	} {
		s := &store{dir: "a.pebble", failure: &diskFailure{done: make(chan struct{})}}
		s.failure.record(c.err)
		s.failure.record(errors.New("a later error"))
		if err := s.write(func() error { return nil }); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

// TestPebbleCannotContinue: a message about a damaged file, or without an error of the disk, is a panic of the program.
func TestPebbleCannotContinue(t *testing.T) {
	for _, args := range [][]any{{}, {"x"}, {pebble.ErrCorruption}} {
		func() {
			l := logger{engine.Options{}.Logger(), &diskFailure{done: make(chan struct{})}}
			defer func() {
				if got := fmt.Sprint(recover()); got != "pebble cannot continue: "+fmt.Sprintf("stop %v", args...) {
					t.Errorf("%v: %s", args, got)
				}
			}()
			l.Fatalf("stop %v", args...)
		}()
	}
}

// TestExplain: a damaged or missing file is a damaged archive, another error stays.
func TestExplain(t *testing.T) {
	other := errors.New("other")
	if err := explain("d", nil); err != nil {
		t.Error(err)
	}
	if err := explain("d", other); err != other { //nolint:errorlint // the same error
		t.Error(err)
	}
	for _, err := range []error{pebble.ErrCorruption, docengine.ErrDamaged, fs.ErrNotExist, errors.New("object size mismatch (1 of 2)")} {
		if got := explain("d", fmt.Errorf("x: %w", err)); fault.Code(got) != fault.Differs || !strings.Contains(got.Error(), "d") {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// TestScanStops: a canceled scan reads no further pair.
func TestScanStops(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "a"), engine.Options{})
	put(t, s, randomPairs(200, 10))
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.scanPrefix(ctx, []byte(idPrefix), func(_, _ []byte) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 10 {
		t.Errorf("%d pairs, %v", n, err)
	}
	if err = s.scanPrefix(ctx, []byte(idPrefix), func(_, _ []byte) error { n = -1; return nil }); !errors.Is(err, context.Canceled) || n == -1 {
		t.Errorf("a canceled scan reads: %v", err)
	}
	stop, n := errors.New("stop"), 0
	if err = s.scanPrefix(t.Context(), []byte(idPrefix+"00"), func(_, _ []byte) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("%d pairs, %v", n, err)
	}
	n = 0
	if err = s.scanPrefix(t.Context(), []byte(idPrefix+"00"), func(_, _ []byte) error { n++; return nil }); err != nil || n != 100 {
		t.Errorf("%d of 100 pairs with the prefix, %v", n, err)
	}
}

// TestSizeCountsFlushedRecords: the size includes records that were in memory, and needs no canceled context.
func TestSizeCountsFlushedRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	a := &openArchive{store: openStore(t, dir, engine.Options{})}
	for key, value := range randomPairs(20, 10_000) {
		if err := a.db.Set([]byte(key), value, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := a.Size(t.Context()); err != nil || n < 200_000 || len(lists.Files(dir, "*.blob")) != 1 {
		t.Errorf("%d bytes, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Size(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m, err := a.metrics(t.Context())
	if err != nil || len(m.Totals) != 10 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range m.Totals {
		if (c.Name == "WAL.BytesIn" || c.Name == "TableBytesFlushed" || c.Name == "Flush.Count") && c.Value <= 0 {
			t.Errorf("%+v after a flush", c)
		}
	}
}
