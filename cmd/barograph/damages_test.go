package main

import (
	"context"
	"database/sql"
	"encoding/json"
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
	"unicode"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/damages"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/serve"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "github.com/mattn/go-sqlite3"
)

const damageSeed = 20261122

// fewRecords writes some lines of every line type that has something of its own.
func fewRecords(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, "synth", "vsdb", "--since", "2019-01-01", "--models", "gfs", "--stattypes", "anom,pres", "--out", filepath.Join(dir, "all"))
	n := 0
	err := filepath.WalkDir(filepath.Join(dir, "all"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || n == 3 {
			return err
		}
		n++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(text), "\n")
		var some strings.Builder
		for i := 0; i < len(lines); i += len(lines)/40 + 1 {
			some.WriteString(lines[i])
		}
		return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.vsdb", n)), []byte(some.String()), 0o600)
	})
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "all")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// verdicts runs verify, and tells of a subset, or of all, what it says.
func verdictOf(t *testing.T, url string, args ...string) (status int, says string) {
	t.Helper()
	status, stdout, stderr := barograph(t, append([]string{"verify", url, "--json"}, args...)...)
	var all []verdict
	if json.Unmarshal([]byte(stdout), &all) == nil {
		for _, v := range all {
			if len(v.Problems) > 0 {
				return status, v.Problems[0]
			}
		}
	}
	return status, strings.TrimSpace(stderr)
}

// TestDamages: single damages that are drawn from a seed are all found, of
// records, marks and the catalog by the engine's own words, and by a bit of a file.
func TestDamages(t *testing.T) {
	plainRunOnly(t)
	n := 2 * len(damages.Kinds())
	if enginetest.Nightly() {
		n = 200
	}
	files := fewRecords(t)
	for _, x := range []struct{ engine, design string }{
		{"duckdb", "normalized"}, {"duckdb", "document"}, {"duckdb", "wide"}, {"sqlite", "normalized"}, {"sqlite", "document"}, {"pebble", "keyvalue"},
	} {
		t.Run(x.engine+" "+x.design, func(t *testing.T) {
			dir := t.TempDir()
			whole := filepath.Join(dir, "whole")
			for range 2 { // the second finds nothing to do, and clears up behind the first
				must(t, "load", files, "--engine", x.engine+":"+whole, "--design", x.design)
			}
			if status, says := verdictOf(t, x.engine+":"+whole); status != 0 {
				t.Fatalf("undamaged, and reported: %s", says)
			}
			var list damageList
			for i := range n {
				path := filepath.Join(dir, fmt.Sprint(i))
				copyArchive(t, whole, path)
				r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
				d, err := damageOf(t, r, x.engine, path, damages.Kinds()[i%len(damages.Kinds())])
				if err != nil {
					t.Fatalf("damage %d of %s: %+v, %v", i, x.engine, d, err)
				}
				status, says := verdictOf(t, x.engine+":"+path)
				list.add(t, x.engine, x.design, d, status == fault.Differs, strings.ReplaceAll(says, path, "ARCHIVE"))
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			list.keep(t)
		})
	}
}

// TestMisplacedBlocks: no command crashes, hangs, or fails otherwise than with the status of
// a damaged archive, where parts of an archive that fit their checksums are in wrong places:
// blocks of DuckDB, pages of SQLite, files of Pebble, swapped or duplicated, or those of
// another archive. The page goes on with the other archive.
func TestMisplacedBlocks(t *testing.T) {
	plainRunOnly(t)
	n := 8
	if enginetest.Nightly() {
		n = 100
	}
	files := fewRecords(t)
	for _, x := range []struct {
		engine, design string
		head, size     int // of a file and its blocks; 0 = the archive is a folder
	}{
		{"duckdb", "wide", 3 * 4096, 256 << 10}, {"sqlite", "normalized", 0, 8192}, {"sqlite", "document", 0, 8192}, {"pebble", "keyvalue", 0, 0},
	} {
		t.Run(x.engine+" "+x.design, func(t *testing.T) {
			t.Chdir(t.TempDir())
			url := x.engine + ":a.db"
			for _, archive := range []string{"other.db", "intact.db"} { // the other one has one file's records
				from := map[string]string{"other.db": filepath.Join(files, "1.vsdb"), "intact.db": files}[archive]
				for range 3 { // several tables of Pebble
					must(t, "load", from, "--engine", x.engine+":"+archive, "--design", x.design, "--window", "10")
				}
			}
			outcomes := map[string]int{}
			for i := range n {
				r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
				if err := os.RemoveAll("a.db"); err != nil {
					t.Fatal(err)
				}
				copyArchive(t, "intact.db", "a.db")
				what := misplace(t, r, x.head, x.size, i%3)
				for _, args := range [][]string{
					{"verify", url}, {"show", url}, {"ask", "all_sal1l2_hgt", "--engine", url, "--design", x.design},
				} {
					status, _, stderr := barograph(t, args...)
					outcomes[fmt.Sprint(args[0], " ", status)]++
					if status != 0 && status != fault.Differs || strings.Contains(stderr, "Stack Trace") {
						t.Errorf("%s: %v: status %d: %s", what, args, status, stderr)
					}
				}
				pageGoesOn(t, url, x.engine+":intact.db", x.design)
			}
			t.Logf("seed %d, %d archives: %v", uint64(damageSeed), n, outcomes)
		})
	}
}

// misplace puts a part of the archive a.db into the place of another one: 0 = they are
// swapped, 1 = it is duplicated, 2 = it is one of other.db.
func misplace(t *testing.T, r *rand.Rand, head, size, how int) string {
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
	if size == 0 {
		mine, _ := filepath.Glob("a.db/[0-9]*")
		others, _ := filepath.Glob("other.db/[0-9]*")
		x, y := two(len(mine))
		from := read(mine[y])
		switch how {
		case 0:
			write(mine[y], read(mine[x]))
		case 2:
			mine[y] = others[r.IntN(len(others))]
			from = read(mine[y])
		}
		write(mine[x], from)
		return fmt.Sprint("way ", how, ": ", mine[x], " is ", mine[y])
	}
	file, other := read("a.db"), read("other.db")
	x, y := two((len(file) - head) / size)
	from := append([]byte(nil), file[head+y*size:head+(y+1)*size]...)
	switch how {
	case 0:
		copy(file[head+y*size:], file[head+x*size:head+(x+1)*size])
	case 2:
		y = r.IntN((len(other) - head) / size)
		from = other[head+y*size : head+(y+1)*size]
	}
	copy(file[head+x*size:], from)
	write("a.db", file)
	return fmt.Sprint("way ", how, ": block ", x, " is ", y)
}

// pageGoesOn serves both archives.
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

func copyArchive(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// damageOf damages an embedded archive; where there is nothing of a kind, a value.
func damageOf(t *testing.T, r *rand.Rand, engine, path string, k damages.Kind) (damages.Damage, error) {
	t.Helper()
	switch {
	case k == damages.Byte:
		return damages.File(r, path, 0, func(name string) bool { // Pebble's settings, and a list of files that another one replaced, hold nothing of the archive
			base := filepath.Base(name)
			lists, _ := filepath.Glob(filepath.Join(path, "MANIFEST-*"))
			return base != "LOCK" && !strings.HasPrefix(base, "OPTIONS") && (!strings.HasPrefix(base, "MANIFEST") || name == slices.Max(lists))
		})
	case engine == "pebble":
		return damages.Pairs(r, path, k)
	}
	schema := `archive.`
	dsn, driver, columns := path, "duckdb", "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'archive'"
	if engine == "sqlite" {
		schema = ""
		dsn, driver, columns = "file:"+path+"?vfs=barograph-sums", "sqlite3", "SELECT m.name, p.name, p.type FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return damages.Damage{}, err
	}
	defer db.Close()
	s := damages.Store{DB: db, Columns: columns, Schema: schema, Quote: `"`, RowID: "rowid", Bind: "?"}
	d, err := s.Damage(t.Context(), r, k)
	if errors.Is(err, damages.ErrNone) {
		d, err = s.Damage(t.Context(), r, damages.Value)
	}
	return d, errors.Join(err, db.Close())
}

// damageList is what became of damages.
type damageList struct {
	lines  []string
	missed int
}

func (l *damageList) add(t *testing.T, engine, design string, d damages.Damage, found bool, says string) {
	t.Helper()
	if !found {
		l.missed++
		t.Errorf("not found: %+v", d)
		says = "NOT FOUND"
	}
	one := func(s string) string {
		return strings.Map(func(c rune) rune {
			if unicode.IsPrint(c) {
				return c
			}
			return '·'
		}, strings.Join(strings.Fields(s), " "))
	}
	l.lines = append(l.lines, strings.Join([]string{engine, design, string(d.Kind), one(d.Place), one(d.Before), one(d.After), one(says)}, "\t"))
}

// keep adds the list to the file that BAROGRAPH_DAMAGES names.
func (l *damageList) keep(t *testing.T) {
	t.Helper()
	t.Logf("%d of %d damages found", len(l.lines)-l.missed, len(l.lines))
	name := os.Getenv("BAROGRAPH_DAMAGES")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(strings.Join(l.lines, "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUndamaged: what was loaded in parts, by a load that was interrupted, replaced by
// later values, pruned, or made by a version that kept neither seal nor digests, is whole.
func TestUndamaged(t *testing.T) {
	plainRunOnly(t)
	n, ofServers := 2, 1
	if enginetest.Nightly() {
		n, ofServers = 100, 100
	}
	files := fewRecords(t)
	one, err := os.ReadFile(filepath.Join(files, "1.vsdb"))
	if err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(t.TempDir(), "later.vsdb")
	first, rest, _ := strings.Cut(string(one), "\n")
	if err := os.WriteFile(later, []byte(first+"\n"+strings.ReplaceAll(rest, ".", ".1")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ engine, design string }{
		{"sqlite", "document"}, {"sqlite", "normalized"}, {"duckdb", "wide"}, {"duckdb", "normalized"}, {"duckdb", "document"}, {"pebble", "keyvalue"},
	} {
		t.Run(x.engine+" "+x.design, func(t *testing.T) {
			for i := range n {
				path := filepath.Join(t.TempDir(), "a.db")
				u := undamaged{url: x.engine + ":" + path, design: x.design, subset: "archive", files: files, later: later}
				u.delete = func(r *rand.Rand) error {
					if x.design != "normalized" {
						_, err := damageOf(t, r, x.engine, path, damages.Row)
						return err
					}
					driver, dsn, table := "duckdb", path, "archive.line_data_sal1l2"
					if x.engine == "sqlite" {
						driver, dsn, table = "sqlite3", "file:"+path+"?vfs=barograph-sums", `"archive/line_data_sal1l2"`
					}
					db, err := sql.Open(driver, dsn)
					if err != nil {
						return err
					}
					return errors.Join(pruneLead(t, db, table), db.Close())
				}
				if x.engine == "sqlite" {
					u.migrate = func() error {
						db, err := sql.Open("sqlite3", "file:"+path+"?vfs=barograph-sums")
						if err == nil {
							_, err = db.ExecContext(t.Context(), `UPDATE "archive/barograph_`+x.design+`_catalog" SET catalog = json_remove(catalog, '$.seal', '$.sealed', '$.files')`)
							err = errors.Join(err, db.Close())
						}
						return err
					}
				}
				u.verify(t, i)
			}
		})
	}
	for _, x := range damagedServers() {
		t.Run(x.engine, func(t *testing.T) {
			url := sharedServer(t, x.engine)
			db, err := x.open(url)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, design := range x.designs {
				t.Run(design, func(t *testing.T) {
					for i := range ofServers {
						u := undamaged{url: url, design: design, subset: fmt.Sprintf("%s_w%d", design[:1], i), files: files, later: later}
						u.delete = func(r *rand.Rand) error {
							s := x.store(u.subset)
							if s.DB = db; design == "normalized" {
								return pruneLead(t, db, s.Schema+"line_data_sal1l2")
							}
							_, err := s.Damage(t.Context(), r, damages.Row)
							return err
						}
						u.verify(t, i)
					}
				})
			}
		})
	}
}

// undamaged is an archive that nobody harms.
type undamaged struct {
	url, design, subset string
	files, later        string
	delete              func(*rand.Rand) error // records, on purpose
	migrate             func() error           // makes it one of an earlier version; nil = not tried
}

// pruneLead deletes records of a normalized table, and no header, as METviewer's
// prune does.
func pruneLead(t *testing.T, db *sql.DB, table string) error {
	t.Helper()
	var lead sql.NullInt64
	err := db.QueryRowContext(t.Context(), "SELECT MAX(fcst_lead) FROM "+table).Scan(&lead)
	if err == nil {
		_, err = db.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM %s WHERE fcst_lead = %d", table, lead.Int64))
	}
	return err
}

// interrupt begins to load the files, three records a commit, and ends that when it
// has reported its progress so often after the first commit.
func (u *undamaged) interrupt(t *testing.T, after int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e, err := all.Registry().Open(ctx, u.url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.Of(e).Open(ctx, design.Name(u.design))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	files, err := formats.Expand([]string{u.files})
	if err != nil {
		t.Fatal(err)
	}
	_, err = load.Run(ctx, a, u.subset, files, load.Options{Window: 3, Progress: func(p load.Progress) {
		if p.Committed > 0 {
			after--
		}
		if after == 0 {
			cancel()
		}
	}})
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
}

// verify makes the archive in steps that are drawn, and verifies it.
func (u *undamaged) verify(t *testing.T, i int) {
	t.Helper()
	r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
	load := func(more ...string) {
		if status, _, stderr := barograph(t, append([]string{"load", "--engine", u.url, "--design", u.design, "--subset", u.subset}, more...)...); status != 0 && status != 4 {
			t.Fatalf("%d: %s", status, stderr)
		}
	}
	var done []string
	for range 1 + r.IntN(4) {
		step := []string{"a part", "again", "replaced", "migrated", "pruned", "interrupted"}[(r.IntN(6)+i)%6]
		done = append(done, step)
		switch step {
		case "a part":
			load(filepath.Join(u.files, fmt.Sprintf("%d.vsdb", 1+r.IntN(3))), "--window", fmt.Sprint(1+r.IntN(20)))
		case "interrupted":
			u.interrupt(t, 1+r.IntN(12))
		case "again":
			load(u.files)
		case "replaced":
			load(u.later, "--on-conflict", "last")
		case "migrated":
			load(u.files)
			if u.migrate != nil {
				if err := u.migrate(); err != nil {
					t.Fatal(err)
				}
			}
			load(u.later)
		case "pruned":
			load(u.files)
			if err := u.delete(r); err != nil {
				t.Fatal(err)
			}
			must(t, "verify", u.url, "--subset", u.subset, "--prune", "--force")
		}
	}
	if status, says := verdictOf(t, u.url, "--subset", u.subset); status != 0 {
		t.Errorf("%d, after %v, is reported: %s", i, done, says)
	}
}
