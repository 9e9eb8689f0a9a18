package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/serve"
)

const staleLog = "stale log"

// misplacements lists the kinds of TestMisplacedBlocks. A part of an archive is swapped with
// another part, is written over another part, or is replaced by a part of another archive, of the
// same archive before its last load, or of another subset. Or the test adds a write-ahead log of
// the earlier archive, or replaces the complete archive by one of another subset.
func misplacements() []string {
	return []string{"swapped", "duplicated", "other.db", "stale.db", "subset.db", staleLog, "replaced"}
}

// TestMisplacedBlocks puts parts of an archive into wrong places. They fit their checksums: blocks
// of DuckDB, pages of SQLite, files of Pebble, and data parts of ClickHouse's tables. No command
// may crash, hang, or fail with a status other than that of a damaged archive. ClickHouse has no
// log; the test uses the digests of the earlier archive instead. In every second archive of
// ClickHouse the digests are missing, as after a kill. Commands may refuse a stale log by name. The
// page must serve the other archive at all times.
func TestMisplacedBlocks(t *testing.T) {
	plainRunOnly(t)
	n := len(misplacements())
	if enginetest.Nightly() {
		n = 300
	}
	files := fewRecords(t)
	for _, x := range []struct {
		engine, design string
		head, size     int // of a file and its blocks; 0 = the archive is a folder
	}{
		{"duckdb", "normalized", 3 * 4096, 256 << 10},
		{"duckdb", "document", 3 * 4096, 256 << 10},
		{"duckdb", "wide", 3 * 4096, 256 << 10},
		{"sqlite", "normalized", 0, 8192},
		{"sqlite", "document", 0, 8192},
		{"pebble", "keyvalue", 0, 0},
		{"clickhouse", "normalized", 0, 0},
		{"clickhouse", "document", 0, 0},
		{"clickhouse", "wide", 0, 0},
	} {
		t.Run(x.engine+" "+x.design, func(t *testing.T) {
			n := n
			if x.engine == "clickhouse" { // each command starts ClickHouse's library
				d, _ := all.Registry().Find(x.engine)
				enginetest.Installed(t, *d)
				n = min(n, 6*len(misplacements()))
				if !enginetest.Nightly() && x.design != "normalized" {
					enginetest.AtNight(t, "the design normalized")
				}
			}
			t.Chdir(t.TempDir())
			url := x.engine + ":a.db"
			makeArchives(t, x.engine, x.design, files)
			var list damageList
			ask := readers(x.engine+":intact.db", x.design)[2]
			status, intact, stderr := barograph(t, ask...)
			if status != 0 {
				t.Fatal(stderr)
			}
			for i := range n {
				r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
				if err := os.RemoveAll("a.db"); err != nil {
					t.Fatal(err)
				}
				copyArchive(t, "intact.db", "a.db")
				for _, log := range []string{"a.db.wal", "a.db-wal", "a.db-shm"} {
					_ = os.Remove(log) // of the archive before this one
				}
				kind := misplacements()[i%len(misplacements())]
				what := misplace(t, r, x.engine, x.head, x.size, kind)
				statuses := map[int]bool{}
				var result string
				var found bool
				for _, args := range readers(url, x.design) {
					status, stdout, stderr := barograph(t, args...)
					statuses[status], result = true, stdout
					found = found || args[0] == "verify" && status == fault.Differs
					refused := kind == staleLog && status == fault.Unreachable && strings.Contains(stderr, "a.db") ||
						found && status == fault.Incomplete && args[0] == "ask" || // ask finds no records, and verify reports the cause
						(kind == "replaced" || found) && status == fault.Usage && strings.Contains(stderr, "choose one of another")
					if status != 0 && status != fault.Differs && !refused || strings.Contains(stderr, "Stack Trace") {
						t.Errorf("%s: %v: status %d: %s", what, args, status, stderr)
					}
				}
				switch {
				case found:
					list.count(x.engine, x.design, kind, fault.Differs)
				case statuses[fault.Unreachable] || statuses[fault.Usage]:
					list.count(x.engine, x.design, kind, fault.Unreachable)
				case statuses[fault.Differs] || result != intact:
					t.Errorf("%s: verify finds nothing, and the result is %q instead of %q", what, result, intact)
				default:
					list.count(x.engine, x.design, kind, 0)
				}
				pageGoesOn(t, url, x.engine+":intact.db", x.design)
			}
			list.keep(t)
		})
	}
}

// readers returns the commands that read a damaged archive; the last one prints a result. design "" = that of the archive.
func readers(url, design string) [][]string {
	ask := []string{"ask", "all_sal1l2_hgt", "--engine", url, "--format", "csv"}
	if design != "" {
		ask = append(ask, "--design", design)
	}
	return [][]string{{"verify", url}, {"show", url}, ask}
}

// makeArchives loads the archives from which misplace takes parts.
func makeArchives(t *testing.T, engine, design, files string) {
	t.Helper()
	one := filepath.Join(files, "1.vsdb")
	load := func(archive, from string, args ...string) {
		for range 3 { // several tables of Pebble
			must(t, append([]string{"load", from, "--engine", engine + ":" + archive, "--design", design, "--window", "10"}, args...)...)
		}
	}
	load("other.db", one)
	load("subset.db", files, "--subset", "another")
	load("stale.db", filepath.Join(files, "2.vsdb"))
	load("stale.db", one)
	copyArchive(t, "stale.db", "intact.db")
	load("intact.db", files)
	switch engine {
	case "duckdb":
		copyArchive(t, "stale.db", "logged.db")
		keepLog(t, engine, "logged.db", "logged.db.wal", "SET wal_autocheckpoint = '1TB'; PRAGMA disable_checkpoint_on_shutdown;",
			"CREATE TABLE archive.added AS SELECT 1 AS x; DELETE FROM archive.barograph_catalog_"+design)
	case "sqlite":
		copyArchive(t, "stale.db", "logged.db")
		keepLog(t, "sqlite3", "file:logged.db?vfs=barograph-sums", "logged.db-wal", "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;",
			`DELETE FROM "archive/barograph_`+design+`_catalog"`)
	case "pebble":
		copyArchive(t, "stale.db", "logged.db")
		db, err := pebble.Open("logged.db", &pebble.Options{})
		if err == nil {
			err = errors.Join(db.DeleteRange([]byte{0}, []byte{255}, pebble.Sync), db.Close())
		}
		logs, _ := filepath.Glob("logged.db/*.log")
		if err != nil || len(logs) == 0 {
			t.Fatal(err, logs)
		}
		copyArchive(t, slices.Max(logs), "stale.log")
	}
	if engine == "clickhouse" {
		copyArchive(t, "stale.db/barograph.sums", "stale.log")
	}
	if info, err := os.Stat("stale.log"); err != nil || info.Size() == 0 {
		t.Fatal("the stale log is empty: ", err)
	}
}

// keepLog changes a database and keeps its write-ahead log as the file stale.log.
func keepLog(t *testing.T, driver, dsn, log, before, change string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, text := range []string{before, change} {
		if _, err := c.ExecContext(context.WithoutCancel(t.Context()), text); err != nil {
			t.Fatal(err)
		}
	}
	copyArchive(t, log, "stale.log")
}

// misplace puts a part of an archive into the place of another one in a.db.
func misplace(t *testing.T, r *rand.Rand, engine string, head, size int, kind string) string {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	two := func(n int) (x, y int) {
		x, y = r.IntN(n), r.IntN(n-1)
		if y >= x {
			y++
		}
		return x, y
	}
	switch kind {
	case staleLog:
		switch engine {
		case "duckdb":
			write("a.db.wal", read("stale.log"))
		case "sqlite":
			write("a.db-wal", read("stale.log"))
		case "clickhouse":
			write("a.db/barograph.sums", read("stale.log"))
		default:
			write("a.db/999999.log", read("stale.log"))
		}
		return kind
	case "replaced":
		if err := os.RemoveAll("a.db"); err != nil {
			t.Fatal(err)
		}
		copyArchive(t, "subset.db", "a.db")
		return kind
	}
	if engine == "clickhouse" {
		return misplacePart(t, r, kind, two)
	}
	if size == 0 {
		mine, _ := filepath.Glob("a.db/[0-9]*")
		x, y := two(len(mine))
		from := read(mine[y])
		switch kind {
		case "swapped":
			write(mine[y], read(mine[x]))
		case "duplicated":
		default:
			others, _ := filepath.Glob(kind + "/[0-9]*")
			mine[y] = others[r.IntN(len(others))]
			from = read(mine[y])
		}
		write(mine[x], from)
		return fmt.Sprint(kind, ": ", mine[x], " is ", mine[y])
	}
	file := read("a.db")
	x, y := two((len(file) - head) / size)
	from := slices.Clone(file[head+y*size : head+(y+1)*size])
	switch kind {
	case "swapped":
		copy(file[head+y*size:], file[head+x*size:head+(x+1)*size])
	case "duplicated":
	default:
		other := read(kind)
		y = r.IntN((len(other) - head) / size)
		from = other[head+y*size : head+(y+1)*size]
	}
	copy(file[head+x*size:], from)
	write("a.db", file)
	return fmt.Sprint(kind, ": block ", x, " is ", y)
}

// misplacePart puts a data part of a table of ClickHouse into the place of another one in a.db. two
// draws two different numbers below n.
func misplacePart(t *testing.T, r *rand.Rand, kind string, two func(n int) (x, y int)) string {
	t.Helper()
	parts := func(archive string) (out []string) {
		out, _ = filepath.Glob(archive + "/store/*/*/*_[0-9]*_[0-9]*")
		if len(out) < 2 {
			t.Fatal("no parts in ", archive)
		}
		return out
	}
	if r.IntN(2) == 0 {
		if err := os.Remove("a.db/barograph.sums"); err != nil {
			t.Fatal(err)
		}
	}
	mine := parts("a.db")
	x, y := two(len(mine))
	to, from := mine[x], mine[y]
	if kind != "swapped" && kind != "duplicated" {
		others := parts(kind)
		from = others[r.IntN(len(others))]
	}
	was := filepath.Join(t.TempDir(), "part")
	if err := os.Rename(to, was); err != nil {
		t.Fatal(err)
	}
	copyArchive(t, from, to)
	if kind == "swapped" {
		if err := os.RemoveAll(from); err != nil {
			t.Fatal(err)
		}
		copyArchive(t, was, from)
	}
	return fmt.Sprint(kind, ": ", to, " is ", from)
}

// pageGoesOn checks that the page serves both archives.
func pageGoesOn(t *testing.T, damaged, intact, design string) {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	s, err := serve.New(serve.Options{Registry: all.Registry(), Host: h.Listener.Addr().String()}, damaged, intact)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h.Config.Handler = s.Handler()
	h.Start()
	defer h.Close()
	jar, _ := cookiejar.New(nil) // it never fails
	get := func(url string) int {
		reply, err := (&http.Client{Jar: jar}).Get(url) //nolint:noctx // it is our own
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		_, _ = io.Copy(io.Discard, reply.Body)
		return reply.StatusCode
	}
	get(s.URL())
	asked := "&design=" + design + "&line_type=SAL1L2&axis=fcst_lead&fcst_var=HGT"
	get(h.URL + "/api/v1/curve.svg?archive=a.db" + asked)
	if status := get(h.URL + "/api/v1/curve.svg?archive=intact.db" + asked); status != http.StatusOK {
		t.Errorf("the intact archive: %d", status)
	}
}

// TestIndexOfOtherRecords: verify compares an index of SQLite with its table. Every page of
// the index is intact, and its entries are those of other columns.
func TestIndexOfOtherRecords(t *testing.T) {
	plainRunOnly(t)
	t.Chdir(t.TempDir())
	must(t, "load", fewRecords(t), "--engine", "sqlite:a.db", "--design", "normalized")
	db, err := sql.Open("sqlite3", "file:a.db?vfs=barograph-sums")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // the pragma applies to one connection
	var name, text string
	const index = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql LIKE '%,%' AND tbl_name LIKE '%line_data_sal1l2'"
	if err := db.QueryRowContext(t.Context(), index).Scan(&name, &text); err != nil {
		t.Fatal(err)
	}
	head, columns, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	first, rest, _ := strings.Cut(columns, ",")
	for _, change := range []string{"PRAGMA writable_schema = ON", "UPDATE sqlite_master SET sql = '" + head + "(" + rest + ", " + first + ")' WHERE name = '" + name + "'"} {
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if status, problem := verdictOf(t, "sqlite:a.db"); status != fault.Differs || !strings.Contains(problem, "missing from index") {
		t.Errorf("status %d: %s", status, problem)
	}
}
