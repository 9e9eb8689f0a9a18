package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"

	_ "github.com/duckdb/duckdb-go/v2" // the test damages the archive with a separate client
)

// TestShowAndVerify: show prints the same contents for an archive as for its files. verify finds a
// change that somebody made.
func TestShowAndVerify(t *testing.T) {
	dir := t.TempDir()
	data, db := filepath.Join(dir, "data"), filepath.Join(dir, "a.db")
	must(t, "synth", "vsdb", "--since", "2024-01-01", "--until", "2024-01-02", "--models", "gfs", "--stattypes", "pres", "--out", data)
	bad := filepath.Join(dir, "bad.vsdb")
	if err := os.WriteFile(bad, []byte("V01 GFS 24 nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, _ := barograph(t, "show", "duckdb:"+db); status != fault.Unreachable || out != "" {
		t.Errorf("an archive that is not there: status %d, %s", status, out)
	}
	if status, _, stderr := barograph(t, "show", filepath.Join(dir, "none")); status == 0 || !strings.Contains(stderr, "none") {
		t.Errorf("neither files nor an archive: status %d, %s", status, stderr)
	}
	if status, _, stderr := barograph(t, "load", data, bad, "--engine", "duckdb:"+db, "--verify"); status != fault.Incomplete {
		t.Fatalf("status %d: %s", status, stderr)
	}
	fromFiles := shownOf(t, fault.Incomplete, data, bad)
	fromArchive := shownOf(t, 0, "duckdb:"+db)
	if f, a := fromFiles[0], fromArchive[0]; f.Digest != a.Digest || f.Records == 0 || a.Quarantined != 1 || len(a.Quarantine) != 1 || a.Design != "normalized" || len(f.Types) != len(a.Types) {
		t.Errorf("files %+v, archive %+v", f, a)
	}
	if out := must(t, "show", "duckdb:"+db); !strings.Contains(out, "bad.vsdb:1: ") || !strings.Contains(out, "fcst_lead") || !strings.Contains(out, "0-240/6 252-384/12") || !strings.Contains(out, "8 times, every 6 h") {
		t.Error(out)
	}
	if out := must(t, "verify", "duckdb:"+db, data); !strings.Contains(out, "is intact") {
		t.Error(out)
	}
	spoil(t, db)
	status, out, stderr := barograph(t, "verify", "duckdb:"+db, data)
	if status != fault.Differs || !strings.Contains(out, "have different values than the loads stored") || !strings.Contains(out, ".vsdb:") || !strings.Contains(stderr, "is not intact in 1 of 1") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
}

func shownOf(t *testing.T, want int, args ...string) (all []subsetContents) {
	t.Helper()
	status, out, stderr := barograph(t, append([]string{"show", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &all); err != nil || status != want || len(all) != 1 {
		t.Fatalf("status %d: %v\n%s%s", status, err, out, stderr)
	}
	return all
}

// spoil changes one value, as anybody who opens the file can.
func spoil(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var table string
	err = db.QueryRowContext(t.Context(), "SELECT '\"' || table_schema || '\".\"' || table_name || '\"' FROM information_schema.columns WHERE column_name = 'fbar' AND table_name LIKE '%sl1l2%'").Scan(&table)
	if err != nil {
		t.Fatal(err)
	}
	r, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET fbar = fbar + 1 WHERE rowid = 7")
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := r.RowsAffected(); n != 1 {
		t.Fatalf("%d rows were changed", n)
	}
}

// catalogOnly is an archive that fails the test if anything but catalog, marks and size is read.
type catalogOnly struct {
	archive.Archive
	t *testing.T
}

func (c catalogOnly) Dump(context.Context, string) iter.Seq2[*record.Batch, error] {
	c.t.Error("the records are read")
	return func(func(*record.Batch, error) bool) {}
}

func (c catalogOnly) Contents(context.Context, string) (archive.Contents, error) {
	c.t.Error("the records are counted")
	return archive.Contents{}, nil
}

type catalogOnlyArchives struct {
	archive.Database
	t *testing.T
}

func (c catalogOnlyArchives) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	a, err := c.Database.Open(ctx, n)
	return catalogOnly{a, c.t}, err
}

// TestShowReadsTheCatalog: show reports the contents of an archive, and draws its picture with the
// holes, without reading the records.
func TestShowReadsTheCatalog(t *testing.T) {
	data, dir := filepath.Join(t.TempDir(), "data"), t.TempDir()
	for _, day := range []string{"2024-01-01", "2024-01-04"} {
		must(t, "synth", "vsdb", "--since", day, "--models", "gfs", "--stattypes", "anom", "--out", data)
	}
	for _, url := range []string{"duckdb:" + filepath.Join(dir, "a.db"), "sqlite:" + filepath.Join(dir, "a.sqlite"), "pebble:" + filepath.Join(dir, "a.pebble")} {
		must(t, "load", data, "--engine", url)
		drivers := slices.Clone(all.Registry())
		for i := range drivers {
			open := drivers[i].Open
			drivers[i].Open = func(ctx context.Context, u *neturl.URL, o engine.Options) (*engine.Engine, error) {
				e, err := open(ctx, u, o)
				if err == nil {
					e.Abilities = slices.Insert(e.Abilities, 0, any(catalogOnlyArchives{archive.DatabaseOf(e), t}))
				}
				return e, err
			}
		}
		picture := filepath.Join(dir, "coverage.svg")
		var out, errs bytes.Buffer
		if status := execute(t.Context(), &env{args: []string{"show", url, "--plot", picture}, stdout: &out, stderr: &errs, engines: drivers}); status != 0 {
			t.Fatal(errs.String())
		}
		svg, err := os.ReadFile(picture)
		if err != nil || !strings.Contains(string(svg), "8 times, 8 missing") || !strings.Contains(string(svg), "GFS HGT") {
			t.Errorf("%s: %v\n%s", url, err, svg)
		}
	}
}

// TestShowLeads: the 48 h lines are missing on 8 of 29 days. show lists these days for files and,
// with --leads, for their archive: in words, in JSON and in the picture. No other lead has holes.
func TestShowLeads(t *testing.T) {
	dir := t.TempDir()
	data, url, picture := filepath.Join(dir, "a.vsdb"), "sqlite:"+filepath.Join(dir, "a.db"), filepath.Join(dir, "c.svg")
	var text strings.Builder
	for day := 1; day <= 29; day++ {
		for _, lead := range []int{24, 48, 72} {
			if lead == 48 && day%4 == 3 || lead == 48 && day == 29 {
				continue
			}
			fmt.Fprintf(&text, "V01 GFS %d 202401%02d00 GFS G2 SL1L2 T P500 = 5 1 2 3 4 5\n", lead, day)
		}
	}
	if err := os.WriteFile(data, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "load", data, "--engine", url)
	const want = "lead hole       GFS 48 h: 8 of 29 times are missing, on 2024-01-03, 2024-01-07, 2024-01-11, 2024-01-15, 2024-01-19, 2024-01-23, 2024-01-27, 2024-01-29\n"
	for _, args := range [][]string{{data}, {url, "--leads"}} {
		out := must(t, append([]string{"show", "--plot", picture}, args...)...)
		svg, err := os.ReadFile(picture)
		if err != nil || strings.Count(out, "lead hole") != 1 || !strings.Contains(out, want) || !strings.Contains(string(svg), "GFS 48 h") || !strings.Contains(string(svg), "21 times, 8 missing") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		if all := shownOf(t, 0, args...); len(all[0].LeadHoles) != 1 || len(all[0].LeadHoles[0].Missing) != 8 {
			t.Errorf("%v: %+v", args, all[0].LeadHoles)
		}
	}
	if out := must(t, "show", url); strings.Contains(out, "lead hole") || !strings.Contains(out, "show --leads") {
		t.Error(out)
	}
}
