package asterixdb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/asterixdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// plans checks, by the plans of the server, how each flavour accesses the data: for example, keys must be a search of
// the primary index.
func plans(t *testing.T, d *databases) {
	scan := func(object string) archive.Access { return access(object, archive.FullScan, "") }
	index := func(object, name string) archive.Access { return access(object, archive.IndexScan, name) }
	keys := access("doc_sal1l2", archive.KeyLookup, "documents")
	for _, tc := range []struct {
		query  string
		design design.Name
		want   map[flavour.Name][]archive.Access
	}{
		{"indexes=epoch", design.Document, map[flavour.Name][]archive.Access{
			flavour.EpochRange: {index("doc_sal1l2", "by_epoch")}, flavour.EpochList: {index("doc_sal1l2", "by_epoch")}, flavour.Keys: {keys},
		}},
		{"indexes=iso", design.Document, map[flavour.Name][]archive.Access{
			flavour.ISORange: {index("doc_sal1l2", "by_iso")}, flavour.ISOList: {index("doc_sal1l2", "by_iso")}, flavour.Keys: {keys},
		}},
		{"indexes=none", design.Document, map[flavour.Name][]archive.Access{
			flavour.EpochRange: {scan("doc_sal1l2")}, flavour.EpochList: {scan("doc_sal1l2")}, flavour.Keys: {keys},
		}},
		{"", design.Normalized, map[flavour.Name][]archive.Access{
			flavour.SQL: {scan("stat_header"), index("line_data_sal1l2", "by_header")},
		}},
	} {
		t.Run(string(tc.design)+"?"+tc.query, func(t *testing.T) {
			a := openDesign(t, d.url(t, tc.query), tc.design)
			f := few(t)
			enginetest.StoreMarked(t, a, "a", []archive.Mark{f.Mark()}, f.Batches...)
			for f, want := range tc.want {
				checkPlan(t, a, f, want)
			}
		})
	}
}

// checkPlan compares how a question in a flavour reaches the data of subset a with what is wanted.
func checkPlan(t *testing.T, a archive.Archive, f flavour.Name, want []archive.Access) {
	t.Helper()
	q, err := question.Find("test_3")
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.Phrase(t.Context(), q.InSubset("a"), f)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := a.Explain(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(plan.Access, want) {
		t.Errorf("%s: the plan reaches %+v, want %+v\n%s", f, plan.Access, want, plan.Text)
	}
}

// laterIndexes adds an index to a database without indexes: the next load makes it, and a reading command does not.
func laterIndexes(t *testing.T, d *databases) {
	url, f := d.url(t, "indexes=none"), few(t)
	enginetest.StoreMarked(t, openDesign(t, url, design.Document), "a", []archive.Mark{f.Mark()}, f.Batches...)
	a := openDesign(t, strings.Replace(url, "indexes=none", "indexes=epoch", 1), design.Document)
	checkPlan(t, a, flavour.EpochRange, []archive.Access{access("doc_sal1l2", archive.FullScan, "")})
	enginetest.StoreMarked(t, a, "b", []archive.Mark{f.Mark()}, f.Batches...)
	checkPlan(t, a, flavour.EpochRange, []archive.Access{access("doc_sal1l2", archive.IndexScan, "by_epoch")})
}

func access(object string, m archive.Method, index string) archive.Access {
	return archive.Access{Object: object, Method: m, Index: index, Examined: -1, Kept: -1}
}

// openDesign opens the archive of a design, which is closed with the test.
func openDesign(t testing.TB, url string, n design.Name) archive.Archive {
	t.Helper()
	e, err := engine.Registry{asterixdb.Driver()}.Open(t.Context(), url, engine.Options{})
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

func header(mask, level string) record.Header {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType] = "V01", "GFS", "GFS"
	h[record.FcstVar], h[record.FcstLev], h[record.VxMask] = "HGT", level, mask
	return h
}

// few returns a file of a few records.
func few(t *testing.T) enginetest.File {
	t.Helper()
	lt, ok := record.TypeByName("SAL1L2")
	if !ok {
		t.Fatal("no line type SAL1L2")
	}
	return enginetest.Generate(1, 1, enginetest.Series{Type: lt, Header: header("G2/NHX", "P500"), Valid: []int64{1546300800, 1546322400}, Lead: []int32{0, 21600}})[0]
}
