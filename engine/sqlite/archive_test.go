package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openFile opens a file for a test.
func openFile(t *testing.T, path string, o engine.Options) *engine.Engine {
	t.Helper()
	e, err := open(t.Context(), &url.URL{Scheme: "sqlite", Opaque: url.PathEscape(path)}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func openDesign(t *testing.T, e *engine.Engine, n design.Name) archive.Archive {
	t.Helper()
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// records makes n records of one series, at leads 0, 6, 12 … hours.
func records(mask string, valid int64, n int, value float64) *record.Batch {
	lt, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(lt, fmt.Sprintf("dir/%s_%d_%g.vsdb", mask, valid, value))
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.VxMask], h[record.FcstVar], h[record.ObsVar] = "V01", "GFS", mask, "HGT", "HGT"
	head := b.AddHeader(h)
	for i := range n {
		b.AppendTimes(head, int32(i)*21600, valid, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], value+float64(i*10+k))
		}
	}
	return b
}

func commit(t *testing.T, l archive.Loader, subset string, batches ...*record.Batch) archive.CommitResult {
	t.Helper()
	c := design.NewCatalog(subset)
	for _, b := range batches {
		c.Add(b)
		if err := l.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	s, err := l.Commit(t.Context(), archive.Commit{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func digest(t *testing.T, a archive.Archive, subset string) record.Digest {
	t.Helper()
	var d record.Digest
	var h record.Hasher
	for b, err := range a.Dump(t.Context(), subset) {
		if err != nil {
			t.Fatal(err)
		}
		d.Add(h.DigestOf(b))
	}
	return d
}

func want(batches ...*record.Batch) record.Digest {
	var d record.Digest
	var h record.Hasher
	for _, b := range batches {
		d.Add(h.DigestOf(b))
	}
	return d
}

// TestJSONBKeepsEveryDouble: JSONB returns every double unchanged. Otherwise this package would have to decode numbers
// from text.
func TestJSONBKeepsEveryDouble(t *testing.T) {
	e := openFile(t, filepath.Join(t.TempDir(), "a.db"), engine.Options{})
	pool := archive.DatabaseOf(e).(*database).pool
	s, err := pool.PrepareContext(t.Context(), "SELECT value ->> 'v' FROM jsonb_each(jsonb(?))")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(5, 6))
	n := 300
	if testing.Short() {
		n = 30
	}
	for range n {
		fs := doubles(r, 1000)
		entries := make([]string, len(fs))
		for i, f := range fs {
			entries[i] = `{"v":` + strconv.FormatFloat(f, 'g', -1, 64) + "}"
		}
		rows, err := s.QueryContext(t.Context(), "["+strings.Join(entries, ",")+"]") //nolint:sqlclosecheck // read to its end
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for ; rows.Next(); i++ {
			var got float64
			if err := rows.Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got != fs[i] {
				t.Errorf("%v became %v", fs[i], got)
			}
		}
		if err := rows.Err(); err != nil || i != len(fs) {
			t.Fatalf("%d of %d doubles were returned, %v", i, len(fs), err)
		}
	}
}

// doubles returns doubles of all kinds: any bits, decimals as in files, whole numbers, neighbors of powers of two and
// ten, and subnormal numbers.
func doubles(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		var f float64
		switch i % 6 {
		case 0:
			f = math.Float64frombits(r.Uint64())
		case 1:
			f = float64(r.Int64N(2e9)-1e9) / math.Pow10(r.IntN(10))
		case 2:
			f = float64(r.Int64()) * math.Pow(2, float64(r.IntN(20)))
		case 3:
			f = math.Nextafter(math.Pow10(r.IntN(600)-300), float64(r.IntN(2))*1e308)
		case 4:
			f = math.Float64frombits(r.Uint64() >> (12 + r.IntN(52)))
		case 5:
			f = math.Nextafter(math.Ldexp(1, r.IntN(2000)-1000), float64(r.IntN(2))*1e308)
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = math.MaxFloat64
		}
		out[i] = f
	}
	return out
}

// TestDesignsAndSubsetsKeepApart: one file can contain both designs, and subsets whose names differ only in letter case.
func TestDesignsAndSubsetsKeepApart(t *testing.T) {
	e := openFile(t, filepath.Join(t.TempDir(), "odd ?#%41 name", "a.db"), engine.Options{})
	names := []string{"a", "A", "sqlite_a", "a/b", `q"'%;`, "Ω", ""}
	slices.Sort(names)
	for i, n := range []design.Name{design.Normalized, design.Document} {
		a := openDesign(t, e, n)
		for k, name := range names {
			enginetest.StoreBatches(t, a, name, records("G2", 1546300800, k+2+i, 1))
		}
		if got, err := a.Subsets(t.Context()); err != nil || !slices.Equal(got, names) {
			t.Errorf("%s: subsets %q, %v", n, got, err)
		}
	}
	for i, n := range []design.Name{design.Normalized, design.Document} {
		for k, name := range names {
			if got, want := digest(t, openDesign(t, e, n), name), want(records("G2", 1546300800, k+2+i, 1)); got != want {
				t.Errorf("%s, %q: %v, want %v", n, name, got, want)
			}
		}
	}
}

// TestLoadersOfTwoProcesses: two processes that load in turns agree on the numbers of headers and on the existing records.
func TestLoadersOfTwoProcesses(t *testing.T) {
	for _, n := range []design.Name{design.Normalized, design.Document} {
		path := filepath.Join(t.TempDir(), "a.db")
		a, b := openDesign(t, openFile(t, path, engine.Options{}), n), openDesign(t, openFile(t, path, engine.Options{}), n)
		la, err := a.Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		commit(t, la, "s", records("X", 0, 3, 1))
		lb, err := b.Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		commit(t, lb, "s", records("Y", 0, 3, 2))
		commit(t, la, "s", records("Z", 0, 3, 3), records("X", 21600, 3, 4))
		s := commit(t, lb, "s", records("Z", 0, 2, 5), records("X", 21600, 4, 6))
		if s.New != 1 || s.Replaced["dir/Z_0_5.vsdb"] != 2 || s.Replaced["dir/X_21600_6.vsdb"] != 3 {
			t.Errorf("%s: stored %+v", n, s)
		}
		z := records("Z", 0, 3, 3)
		for i := range 2 {
			z.ReplaceRow(i, records("Z", 0, 2, 5), i)
		}
		if got, want := digest(t, a, "s"), want(records("X", 0, 3, 1), records("Y", 0, 3, 2), z, records("X", 21600, 4, 6)); got != want {
			t.Errorf("%s: %v, want %v", n, got, want)
		}
		if _, err := a.Loader(t.Context(), "other"); err == nil {
			t.Errorf("%s: two loaders in one process", n)
		}
		for _, l := range []archive.Loader{la, lb} {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestWaitingForALockEnds: a load that waits for the lock of another process ends when its context is canceled.
func TestWaitingForALockEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a := openDesign(t, openFile(t, path, engine.Options{}), design.Normalized)
	enginetest.StoreBatches(t, a, "s", records("X", 0, 3, 1))
	l, err := a.Loader(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	other, err := engine.Find[*database](openFile(t, path, engine.Options{})).connect(lockStep)
	if err != nil {
		t.Fatal(err)
	}
	if err := newConn(other).transaction(t.Context(), func(sqlengine.Querier) error {
		if n, err := a.Size(t.Context()); err != nil || n == 0 {
			t.Errorf("size during a write: %d, %v", n, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 3*lockStep)
		defer stop()
		if err := l.Add(ctx, records("Y", 0, 3, 1)); err != nil {
			t.Error(err)
		}
		if _, err := l.Commit(ctx, archive.Commit{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the commit gave up with %v", err)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	commit(t, l, "s", records("Z", 0, 3, 1)) // without Y, whose commit was canceled
	if got, want := digest(t, a, "s"), want(records("X", 0, 3, 1), records("Z", 0, 3, 1)); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if err := errors.Join(l.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

func TestPathsThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path     string
		readOnly bool
	}{{dir, false}, {text, false}, {text, true}, {"", false}, {":memory:", false}, {filepath.Join(dir, "none.db"), true}, {filepath.Join(text, "a.db"), false}} {
		e, err := open(t.Context(), &url.URL{Scheme: "sqlite", Opaque: url.PathEscape(tc.path)}, engine.Options{ReadOnly: tc.readOnly})
		if err == nil {
			t.Errorf("%q was opened", tc.path)
			_ = e.Close()
			continue
		}
		f, ok := errors.AsType[*fault.Error](err)
		named := tc.path != "" && tc.path != ":memory:"
		if errors.Is(err, engine.ErrUnreachable) != named || (fault.Code(err) == fault.Usage) == named || !ok || f.Cure == "" {
			t.Errorf("%q: %v", tc.path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("a read-only open made a file")
	}
}

// TestPlans: METviewer's BINARY casts prevent the use of the header's indexes. Without the casts, the same question needs
// no scan.
func TestPlans(t *testing.T) {
	e := openFile(t, filepath.Join(t.TempDir(), "a.db"), engine.Options{})
	lt, _ := record.TypeByName("SL1L2")
	q := &question.Question{Name: "q", Subset: "s", Type: lt, Valid: question.Times{First: 0, Last: 86400, Step: 21600}, Lead: []int32{0, 21600}}
	q.Header[record.Model], q.Header[record.FcstVar], q.Header[record.FcstLev] = []string{"GFS"}, []string{"HGT"}, []string{record.NA}
	q.Header[record.VxMask] = []string{"X", "Y"}
	var err error
	if q.Columns, err = question.Columns(lt, "vx_mask", "fcst_valid_beg", "fcst_lead", "fbar"); err != nil {
		t.Fatal(err)
	}
	want := answer.Select(q, records("X", 0, 2, 1))
	for _, n := range []design.Name{design.Normalized, design.Document} {
		a := openDesign(t, e, n)
		enginetest.StoreBatches(t, a, "s", records("X", 0, 3, 1), records("Z", 0, 3, 2))
		for _, f := range enginetest.Offered(Driver())[n] {
			p, err := a.Phrase(t.Context(), q, f)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := a.Explain(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			scans := strings.Contains(plan.Text, "SCAN h") || strings.Contains(plan.Text, "SCAN ld") || strings.Contains(plan.Text, "SCAN r")
			if scans != (f == flavour.MetviewerSQL) {
				t.Errorf("%s, %s: the plan is\n%s", n, f, plan.Text)
			}
			var into answer.Builder
			if err := a.Ask(t.Context(), p, &into); err != nil {
				t.Fatal(err)
			}
			if _, err := answer.Compare(want, &into.Answer); err != nil {
				t.Errorf("%s, %s: %v", n, f, err)
			}
		}
	}
}

func TestCacheParameter(t *testing.T) {
	u := &url.URL{Scheme: "sqlite", Opaque: filepath.Join(t.TempDir(), "a.db"), RawQuery: "cache=7"}
	e, err := open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	about, err := e.About(t.Context())
	if err != nil || about.Settings["cache_size"] != "-7168" || about.Settings["journal_mode"] != "wal" || about.Settings["synchronous"] != "2" {
		t.Errorf("about %+v, %v", about, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	u.RawQuery = "cache=much"
	if _, err := open(t.Context(), u, engine.Options{}); err == nil {
		t.Error("cache=much was accepted")
	}
}

// TestReadersLeaveTheLocks: a reader leaves the locks of the process's other connections. If it closed any descriptor of
// the file, the system would remove all locks of the process on it, and another process could remove the log in use.
func TestReadersLeaveTheLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "archive.db")
	if _, err := openDesign(t, openFile(t, path, engine.Options{}), design.Document).Subsets(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	inode := fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino) //nolint:forcetypeassert // Linux
	countLocks := func() int {
		text, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skipf("NOT TESTED: %v", err)
		}
		return strings.Count(string(text), inode)
	}
	before := countLocks()
	if before == 0 {
		t.Fatal("the writer has no lock on its file")
	}
	openFile(t, path, engine.Options{ReadOnly: true})
	if after := countLocks(); after < before {
		t.Errorf("%d locks are left of %d", after, before)
	}
}

// TestStrangersFile: Barograph refuses an archive with a view in place of a table, or with a trigger. No statement can
// attach another file.
func TestStrangersFile(t *testing.T) {
	for _, evil := range []string{
		`ALTER TABLE "s/line_data_sl1l2" RENAME TO kept; CREATE VIEW "s/line_data_sl1l2" AS SELECT * FROM kept`,
		`CREATE TRIGGER boom AFTER INSERT ON "s/line_data_sl1l2" BEGIN DELETE FROM "s/line_data_sl1l2"; END`,
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		e := openFile(t, path, engine.Options{})
		enginetest.StoreBatches(t, openDesign(t, e, design.Normalized), "s", records("G2", 0, 3, 1))
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite3", "file:"+path+"?vfs=barograph-sums")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), evil); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		e = openFile(t, path, engine.Options{})
		defer e.Close()
		if _, err := openDesign(t, e, design.Normalized).Contents(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "plain tables") {
			t.Errorf("%s: %v", evil, err)
		}
		own, err := tables.DatabasesOf(e).Own(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Ask(t.Context(), "ATTACH '"+path+"2' AS other", func([]any) error { return nil }); err == nil {
			t.Error("another file is attached")
		}
		if err := own.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSalvageAfterDeletions: without the last page of a table, salvage finds all rows on its other pages, also those whose
// numbers are greater than the number of records.
func TestSalvageAfterDeletions(t *testing.T) {
	for _, n := range []design.Name{design.Normalized, design.Document} {
		path := filepath.Join(t.TempDir(), "a.db")
		e := openFile(t, path, engine.Options{})
		l, err := openDesign(t, e, n).Loader(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		const times = 2000
		for i := range times {
			if err := l.Add(t.Context(), records("G2", int64(i)*3600, 1, 1)); err != nil {
				t.Fatal(err)
			}
		}
		c := design.NewCatalog("s")
		for i := times * 3 / 4; i < times; i++ { // the catalog of the rows that remain
			c.Add(records("G2", int64(i)*3600, 1, 1))
		}
		if _, err := l.Commit(t.Context(), archive.Commit{Catalog: c}); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		d := archive.DatabaseOf(e).(*database)
		lt, _ := record.TypeByName("SL1L2")
		name, _, _ := sqlengine.DesignTable(n, lt)
		for _, text := range []string{
			fmt.Sprintf("DELETE FROM %s WHERE rowid <= %d", flavour.Ident(tableName("s", name)), times*3/4), "PRAGMA wal_checkpoint(TRUNCATE)",
		} {
			if _, err := d.pool.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		var root int64
		err = d.pool.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = ?", tableName("s", name)).Scan(&root)
		if err := errors.Join(err, e.Close()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		rootPage := text[(root-1)*pageBytes : root*pageBytes]
		if rootPage[0] != 5 {
			t.Fatalf("%s: the table has one page", n)
		}
		last := int64(binary.BigEndian.Uint32(rootPage[8:])) // the right-most child of the interior page
		text[last*pageBytes-100] ^= 1
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var lost []archive.Loss
		rows := 0
		a := openDesign(t, openFile(t, path, engine.Options{ReadOnly: true}), n)
		for b, err := range archive.Salvage(t.Context(), a, "s", func(l archive.Loss) { lost = append(lost, l) }) {
			if err != nil {
				t.Fatal(err)
			}
			rows += b.Len()
		}
		if len(lost) == 0 || rows < times/8 || rows >= times/4 {
			t.Errorf("%s: salvage found %d of %d rows, and lost %v", n, rows, times/4, lost)
		}
	}
}

// TestStaleLog: SQLite would delete a log without a database. The error names the log, which is kept.
func TestStaleLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(file+"-wal", []byte("commits"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := engine.Registry{Driver()}.Open(t.Context(), "sqlite:"+file, engine.Options{})
	if err == nil || !strings.Contains(err.Error(), file+"-wal does not belong to "+file) {
		t.Error(err)
	}
	if text, err := os.ReadFile(file + "-wal"); err != nil || string(text) != "commits" {
		t.Errorf("the log is %q now, %v", text, err)
	}
}
