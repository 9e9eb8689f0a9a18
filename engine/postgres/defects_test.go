package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/enginetest"
	"barograph/engine/postgres"
	"barograph/engine/sqlengine"
	"barograph/flavour"
	"barograph/lab"
	"barograph/load"
	"barograph/question"
	"barograph/record"
)

// The defects of other loaders that only a server can show. What every engine
// is held to (a file marked before its lines, records that replace others,
// every line type loaded into tables that hold some) is in enginetest.

// open opens an archive in a fresh database.
func (d *databases) open(t *testing.T, n design.Name) (engine.Archive, string) {
	t.Helper()
	url := d.url(t)
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Archives.Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = a.Close(), e.Close() })
	return a, url
}

// smallFiles writes n VSDB files of two lines each.
func smallFiles(t *testing.T, n int) []string {
	t.Helper()
	dir := t.TempDir()
	files := make([]string, n)
	for i := range files {
		var b strings.Builder
		for _, lead := range []int{24, 48} {
			fmt.Fprintf(&b, "V01 GFS %d 20190101%02d ANL G2/M%03d SAL1L2 HGT P500 = 100. 1.%d 2. 3. 4. 5.\n", lead, i%4*6, i/4, lead)
		}
		files[i] = filepath.Join(dir, fmt.Sprintf("gfs_%03d.vsdb", i))
		if err := os.WriteFile(files[i], []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func TestDefectsOfLoaders(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{})}
	t.Run("files that are loaded already", d.filesLoadedAlready)
	t.Run("a batch that cannot be written", d.failingBatch)
	t.Run("records as long as they come", d.longRecords)
	t.Run("plans", d.plans)
}

// filesLoadedAlready: METdbLoad reads batches of 101 files; one whose files
// are all loaded makes it skip the next, so that 101 of 404 new files were
// never read.
func (d *databases) filesLoadedAlready(t *testing.T) {
	a, _ := d.open(t, design.Normalized)
	files := smallFiles(t, 505)
	if _, err := load.Run(t.Context(), a, "a", files[101:202], load.Options{}); err != nil {
		t.Fatal(err)
	}
	sum, err := load.Run(t.Context(), a, "a", files, load.Options{Window: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Files) != 404 || len(sum.Skipped) != 101 || sum.Stored != 808 {
		t.Errorf("%d files loaded, %d skipped, %d records stored; want 404, 101, 808", len(sum.Files), len(sum.Skipped), sum.Stored)
	}
	if c, err := a.Contents(t.Context(), "a"); err != nil || c.Total() != 1010 {
		t.Errorf("the archive holds %d records, %v; want 1010", c.Total(), err)
	}
}

// failingBatch: METdbLoad logs an error while it writes and ends with status 0.
func (d *databases) failingBatch(t *testing.T) {
	for _, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
		t.Run(string(n), func(t *testing.T) {
			a, url := d.open(t, n)
			files := smallFiles(t, 40)
			l, err := a.Loader(t.Context(), "a") // makes the subset
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			table := "a.barograph_" + string(n) + "_catalog"
			execute(t, url,
				"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF new.version > 3 THEN RAISE 'no space left on device'; END IF; RETURN new; END $$",
				"CREATE TRIGGER full_disk BEFORE UPDATE ON "+table+" FOR EACH ROW EXECUTE FUNCTION full_disk()")
			sum, err := load.Run(t.Context(), a, "a", files, load.Options{Window: 10, Workers: 1})
			if err == nil || !strings.Contains(err.Error(), "no space left") || sum.Commits != 3 {
				t.Fatalf("the error is %v after %d commits", err, sum.Commits)
			}
			c, err := a.Contents(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			marks, err := a.Marks(t.Context(), "a")
			if err != nil || c.Total() != 30 || len(marks) > 15 {
				t.Errorf("three commits left %d records and %d marks, %v", c.Total(), len(marks), err)
			}
			execute(t, url, "DROP TRIGGER full_disk ON "+table)
			if _, err := load.Run(t.Context(), a, "a", files, load.Options{}); err != nil {
				t.Fatal(err)
			}
			if c, err := a.Contents(t.Context(), "a"); err != nil || c.Total() != 80 {
				t.Errorf("resumed, the archive holds %d records, %v; want 80", c.Total(), err)
			}
		})
	}
}

// longRecords: METdbLoad drops or mangles a PCT or ECLV record that is longer
// than its table, and quotes 'CN.ECLV' where it compares a name, which is never
// true, so that an ECLV record goes nowhere once the table holds one.
func (d *databases) longRecords(t *testing.T) {
	for _, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
		for _, name := range []string{"PCT", "ECLV"} {
			t.Run(string(n)+"/"+name, func(t *testing.T) {
				a, _ := d.open(t, n)
				lt, _ := record.TypeByName(name)
				var want record.Digest
				for i, groups := range []int{3, 1, 999} { // into an empty table, then into one that holds some
					b := longRecord(lt, i, groups)
					l, err := a.Loader(t.Context(), "a")
					if err != nil {
						t.Fatal(err)
					}
					c := engine.Commit{Catalog: design.NewCatalog("a")}
					c.Catalog.Add(b)
					if err := l.Add(t.Context(), b); err != nil {
						t.Fatal(err)
					}
					if s, err := l.Commit(t.Context(), c); err != nil || s.New != 1 {
						t.Fatalf("%+v, %v", s, err)
					}
					if err := l.Close(); err != nil {
						t.Fatal(err)
					}
					var h record.Hasher
					want.Add(h.Sum(b))
				}
				if got, err := load.Digest(t.Context(), a, "a"); err != nil || got != want {
					t.Errorf("the digest is %v, %v; want %v", got, err, want)
				}
			})
		}
	}
}

// longRecord is one record with so many repetitions.
func longRecord(lt *record.LineType, i, groups int) *record.Batch {
	b := &record.Batch{}
	b.Reset(lt, "long.stat")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.FcstVar] = "V11.0", "WRF", "PROB"
	b.AppendTimes(b.AddHeader(h), int32(3600*i), 1546300800, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], float64(groups))
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	for k := range lt.Group.Len(groups) {
		b.Group = append(b.Group, float64(k)/7)
	}
	b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	return b
}

// plans: METviewer's BINARY keeps every index from being used (METviewer F5).
// Each flavour's plan says what it reads.
func (d *databases) plans(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	var series []enginetest.Series
	for i := range 200 {
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar], h[record.FcstLev] = "V01", "GFS", "ANL", "HGT", "P500"
		h[record.VxMask] = fmt.Sprintf("M%03d", i)
		s := enginetest.Series{Type: lt, Header: h, Lead: []int32{0, 86400}}
		for k := range int64(40) {
			s.Valid = append(s.Valid, 1546300800+k*21600)
		}
		series = append(series, s)
	}
	q := &question.Question{Name: "one mask", Subset: "a", Type: lt, Valid: question.Times{First: 1546300800, Last: 1546300800 + 4*21600, Step: 21600}}
	q.Header[record.VxMask] = []string{"M100"}
	q.Header[record.Model] = []string{"GFS"}
	var err error
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg", "fcst_lead", "fabar"); err != nil {
		t.Fatal(err)
	}
	q.Order = q.Columns[:2]
	files := enginetest.Generate(3, 1, series...)
	for n, flavours := range postgres.Driver().Offers {
		a, _ := d.open(t, n)
		l, err := a.Loader(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		c := engine.Commit{Catalog: design.NewCatalog("a")}
		for _, b := range files[0].Batches {
			c.Catalog.Add(b)
			if err := l.Add(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := l.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for _, f := range flavours {
			p, err := a.Phrase(t.Context(), q, f)
			if err != nil {
				t.Fatalf("%s, %s: %v", n, f, err)
			}
			plan, err := a.Explain(t.Context(), p)
			if err != nil {
				t.Fatalf("%s, %s: %v", n, f, err)
			}
			if !strings.Contains(plan.Text, "Buffers:") || !strings.Contains(plan.Text, "actual time") {
				t.Errorf("%s, %s: the plan tells neither time nor pages:\n%s", n, f, plan.Text)
			}
			name, _, _ := sqlengine.Table(n, lt)
			switch scanned := strings.Contains(plan.Text, "Seq Scan on "+name); {
			case f == flavour.MetviewerSQL && strings.Contains(plan.Text, "Index Cond: (convert_to"):
				t.Errorf("an index serves BINARY:\n%s", plan.Text)
			case f != flavour.MetviewerSQL && scanned:
				t.Errorf("%s, %s: the whole table is read:\n%s", n, f, plan.Text)
			}
			var into answer.Builder
			if err := a.Ask(t.Context(), p, &into); err != nil || into.Rows != 10 {
				t.Errorf("%s, %s: %d rows, %v; want 10", n, f, into.Rows, err)
			}
		}
	}
}
