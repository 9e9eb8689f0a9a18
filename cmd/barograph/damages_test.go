package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/enginetest/damages"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"

	_ "github.com/duckdb/duckdb-go/v2"
	_ "github.com/mattn/go-sqlite3"
)

const damageSeed = 20261122

// fewRecords writes some lines of every line type that has its own columns.
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

// verdictOf runs verify and returns the first problem of the archive, or the error.
func verdictOf(t *testing.T, url string, args ...string) (status int, message string) {
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

// TestDamages: verify finds every single damage that is drawn from a seed. It damages records,
// marks and the catalog with the engine's own statements, and single bits of files.
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
			intact := filepath.Join(dir, "whole")
			for range 2 { // the second load finds no new files, and lets the engine clean up after the first
				must(t, "load", files, "--engine", x.engine+":"+intact, "--design", x.design)
			}
			if status, message := verdictOf(t, x.engine+":"+intact); status != 0 {
				t.Fatalf("undamaged, and reported: %s", message)
			}
			var list damageList
			for i := range n {
				path := filepath.Join(dir, fmt.Sprint(i))
				copyArchive(t, intact, path)
				r := rand.New(rand.NewPCG(damageSeed, uint64(i))) //nolint:gosec // a test's
				d, err := damageOf(t, r, x.engine, path, damages.Kinds()[i%len(damages.Kinds())])
				if err != nil {
					t.Fatalf("damage %d of %s: %+v, %v", i, x.engine, d, err)
				}
				status, _ := verdictOf(t, x.engine+":"+path)
				list.add(t, x.engine, x.design, d, status == fault.Differs)
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
			list.keep(t)
		})
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

// damageOf damages an embedded archive. If nothing of the kind exists, it damages a value.
func damageOf(t *testing.T, r *rand.Rand, engine, path string, k damages.Kind) (damages.Damage, error) {
	t.Helper()
	switch {
	case k == damages.Byte:
		return damages.File(r, path, 0, func(name string) bool { // Pebble's settings and replaced lists of files contain no data of the archive
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

// damageList counts the outcomes of damages.
type damageList struct {
	outcomes    map[string]*outcome // by "engine\tdesign\tkind"
	found, done int
}

// outcome counts the damages of one kind.
type outcome struct{ found, harmless, refused int }

// add counts a damage that verify must find.
func (l *damageList) add(t *testing.T, engine, design string, d damages.Damage, found bool) {
	t.Helper()
	status := 0
	if found {
		status = fault.Differs
	} else {
		t.Errorf("not found: %+v", d)
	}
	l.count(engine, design, string(d.Kind), status)
}

// count counts a damage by the status of verify.
func (l *damageList) count(engine, design, kind string, status int) {
	key := engine + "\t" + design + "\t" + kind
	if l.outcomes == nil {
		l.outcomes = map[string]*outcome{}
	}
	if l.outcomes[key] == nil {
		l.outcomes[key] = &outcome{}
	}
	l.done++
	switch status {
	case 0:
		l.outcomes[key].harmless++
	case fault.Differs:
		l.found++
		l.outcomes[key].found++
	default:
		l.outcomes[key].refused++
	}
}

// keep adds the table to the file that BAROGRAPH_DAMAGES names.
func (l *damageList) keep(t *testing.T) {
	t.Helper()
	t.Logf("seed %d: %d of %d damages found", uint64(damageSeed), l.found, l.done)
	var rows strings.Builder
	for _, key := range slices.Sorted(maps.Keys(l.outcomes)) {
		o := l.outcomes[key]
		fmt.Fprintf(&rows, "%s\t%d\t%d\t%d\n", key, o.found, o.harmless, o.refused)
	}
	t.Logf("engine, design, kind, found, harmless, refused:\n%s", rows.String())
	name := os.Getenv("BAROGRAPH_DAMAGES")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(rows.String())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUndamaged: verify reports no damage of archives that were loaded in several steps, by an
// interrupted load, with later values, pruned, or by a version without seal and digests.
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

// undamaged is an archive that the test changes only in allowed ways.
type undamaged struct {
	url, design, subset string
	files, later        string
	delete              func(*rand.Rand) error // deletes records deliberately
	migrate             func() error           // turns it into an archive of an earlier version; nil = not tested
}

// pruneLead deletes records of a normalized table and keeps the headers, as METviewer's prune does.
func pruneLead(t *testing.T, db *sql.DB, table string) error {
	t.Helper()
	var lead sql.NullInt64
	err := db.QueryRowContext(t.Context(), "SELECT MAX(fcst_lead) FROM "+table).Scan(&lead)
	if err == nil {
		_, err = db.ExecContext(t.Context(), fmt.Sprintf("DELETE FROM %s WHERE fcst_lead = %d", table, lead.Int64))
	}
	return err
}

// interrupt starts to load the files with three records per commit. After the first commit it counts the reports of
// progress, and cancels the load at the report with the number after.
func (u *undamaged) interrupt(t *testing.T, after int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e, err := all.Registry().Open(ctx, u.url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(ctx, design.Name(u.design))
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

// verify makes the archive in random steps, and verifies it.
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
	if status, message := verdictOf(t, u.url, "--subset", u.subset); status != 0 {
		t.Errorf("%d, after %v, is reported: %s", i, done, message)
	}
}
