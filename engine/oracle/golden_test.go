//go:build oracle

package oracle

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// records are n of one series and valid time, at leads 0, 6, 12 … hours.
func records(file, lineType, model string, n int) *record.Batch {
	lt, _ := record.TypeByName(lineType)
	b := &record.Batch{}
	b.Reset(lt, file)
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.VxMask], h[record.FcstVar], h[record.FcstLev] = "V01", model, "G2/NHX", "HGT", "P500"
	head := b.AddHeader(h)
	for i := range n {
		b.AppendTimes(head, int32(i)*21600, 1546300800, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(10*i+k)+0.5)
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], "")
		}
		if lt.Group != nil {
			b.Group = append(b.Group, 0.1, 7)
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

// stored stores batches of one file, with its mark.
func stored(t *testing.T, a archive.Archive, batches ...*record.Batch) archive.CommitResult {
	t.Helper()
	mark := archive.Mark{Path: batches[0].File, Digest: "00112233445566778899aabbccddeeff", Bytes: 100, Read: 5, Stored: 5, Loaded: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return enginetest.StoreMarked(t, a, "a", []archive.Mark{mark}, batches...)
}

// openedOver opens a stand-in that logs.
func openedOver(t *testing.T, n design.Name, log *statementLog) archive.Archive {
	t.Helper()
	e, err := engine.Registry{over(log)}.Open(t.Context(), "oracle:"+filepath.Join(t.TempDir(), "standin.db"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return a
}

// TestStatements compares all statements of an archive with testdata/<design>.sql, in their order: DDL, loading, a
// merge, catalog, marks, counts, size, dump, a question and its plan. -update rewrites the files. The questions of all
// cases and flavours are in testdata/dialect, see TestDialect.
func TestStatements(t *testing.T) {
	for _, n := range []design.Name{design.Normalized, design.Document} {
		t.Run(string(n), func(t *testing.T) {
			log := &statementLog{}
			a := openedOver(t, n, log)
			title := func(s string) { log.add("\n-- ## %s", s) }
			title("two line types of one file, one of them with repeating columns")
			stored(t, a, records("dir/one.stat", "SAL1L2", "GFS", 3), records("dir/one.stat", "PCT", "GFS", 2))
			title("a file that replaces three records and brings one")
			if s := stored(t, a, records("dir/two.stat", "SAL1L2", "GFS", 4)); s.New != 1 || s.Replaced["dir/two.stat"] != 3 {
				t.Errorf("stored %+v", s)
			}
			lifeOf(t, a, title)
			golden(t, filepath.Join("testdata", string(n)+".sql"), logged(log))
		})
	}
}

// lifeOf asks an archive everything that is no question of a case.
func lifeOf(t *testing.T, a archive.Archive, title func(string)) {
	t.Helper()
	title("subsets")
	_, err := a.Subsets(t.Context())
	must(t, err)
	title("marks")
	_, err = a.Marks(t.Context(), "a")
	must(t, err)
	title("contents")
	_, err = a.Contents(t.Context(), "a")
	must(t, err)
	title("size")
	_, err = a.Size(t.Context())
	must(t, err)
	title("dump")
	for _, err := range a.Dump(t.Context(), "a") {
		must(t, err)
	}
	q, err := question.Find("test_1")
	must(t, err)
	f := flavour.ISORange
	if a.(*openArchive).Design == design.Document {
		f = flavour.Keys
	}
	title("a question, its catalog first, and its plan")
	query, err := a.Phrase(t.Context(), q.InSubset("a"), f)
	must(t, err)
	var into answer.Builder
	must(t, a.Ask(t.Context(), query, &into))
	_, err = a.Explain(t.Context(), query)
	must(t, err)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var (
	today = regexp.MustCompile(`first "20[2-9]\d-\d\d-\d\d \d\d:\d\d:\d\d"`)
	long  = regexp.MustCompile(`\([^()]{400,}\)`)
)

// logged is the log without what changes from run to run; long lists are cut.
func logged(l *statementLog) string {
	text := today.ReplaceAllString(strings.Join(l.lines, "\n")+"\n", `first "(now)"`)
	return long.ReplaceAllStringFunc(text, func(s string) string {
		items := strings.Split(s, ", ")
		if len(items) < 30 || !strings.Contains(s, "TIMESTAMP") && !strings.ContainsAny(s[1:2], "0123456789'") {
			return s
		}
		return strings.Join(items[:2], ", ") + ", … , " + items[len(items)-1]
	})
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; go test ./engine/oracle -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("the statements differ from %s; go test ./engine/oracle -update rewrites it\n--- got\n%s", file, got)
	}
}
