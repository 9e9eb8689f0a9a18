//go:build oracle

package oracle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

func TestDialect(t *testing.T) { enginetest.Dialect(t, Driver(), dialect(), *update) }

func TestNames(t *testing.T) {
	long := strings.Repeat("é", 60)
	names := map[string]string{}
	for _, subset := range []string{"", "a", "A", `a"b`, "a^qb", "^", "^^", "a/b", long, long + "x", "x" + long, "^" + strings.Repeat("m", 79), strings.Repeat("m", 80), strings.Repeat("m", 81)} {
		name := objectName(subset, "line_data_probrirw_stat_header_id_idx")
		if len(name) > 128 || strings.ContainsAny(name, "\"\x00") || strings.ToValidUTF8(name, "") != name {
			t.Errorf("%q: Oracle takes no name %q", subset, name)
		}
		if other, ok := names[name]; ok {
			t.Errorf("%q and %q share the name %q", subset, other, name)
		}
		names[name] = subset
	}
	if got := objectName("mv_gfs", "stat_header"); got != "mv_gfs/stat_header" {
		t.Errorf("got %s", got)
	}
}

// TestDialectTraps: an empty text is NULL, which equals nothing, and a list has
// at most 1,000 members.
func TestDialectTraps(t *testing.T) {
	q, err := question.Find("test_1")
	if err != nil {
		t.Fatal(err)
	}
	in := q.InSubset("a")
	in.Header[record.Model] = []string{""}
	in.Header[record.VxMask] = []string{"", "G2/NHX", "G2/SHX"}
	in.Lead = nil
	for lead := range int32(2001) {
		in.Lead = append(in.Lead, 3600*lead)
	}
	for _, tc := range []struct {
		design design.Name
		how    flavour.Name
		want   []string
	}{
		{design.Normalized, flavour.MetviewerSQL, []string{"WHERE h.model || '' IS NULL", "(h.vx_mask || '' IS NULL OR h.vx_mask || '' IN ('G2/NHX', 'G2/SHX'))", "'9990000')\n       OR ld.fcst_lead || '' IN ('10000000'"}},
		{design.Normalized, flavour.SQL, []string{"h.model IS NULL", "(h.vx_mask IS NULL OR h.vx_mask IN ('G2/NHX', 'G2/SHX'))"}},
		{design.Document, flavour.EpochRange, []string{"r.model IS NULL", "r.vx_mask NULLS FIRST", ", 3596400)\n       OR d.fcst_lead IN (3600000, "}},
	} {
		p, err := flavour.Build(dialect(), tc.design, tc.how, in, design.NewCatalog("a"))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range tc.want {
			if !strings.Contains(p.Text, w) {
				t.Errorf("%s %s lacks %q", tc.design, tc.how, w)
			}
		}
		for _, bad := range []string{"= ''", "('',", "('')", " % "} {
			if strings.Contains(p.Text, bad) {
				t.Errorf("%s %s has %q", tc.design, tc.how, bad)
			}
		}
		for l := range strings.SplitSeq(p.Text, " IN (") {
			if list, _, _ := strings.Cut(l, ")"); strings.Count(list, ",") >= 1000 {
				t.Errorf("%s %s has a list of %d", tc.design, tc.how, strings.Count(list, ",")+1)
			}
		}
	}
}

// Records of VSDB and of MET beside records without a version: the last are no VSDB.
func TestDialectVersions(t *testing.T) {
	q, err := question.Find("test_1")
	if err != nil {
		t.Fatal(err)
	}
	c := enginetest.CasesCatalog(t)
	in := q.InSubset("a")
	b := &record.Batch{}
	b.Reset(in.Type, "")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.FcstVar], h[record.VxMask], h[record.FcstLev] = "", "GFS", "HGT", "G2/NHX", "P1000"
	b.AppendTimes(b.AddHeader(h), 0, 1514764800, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], 1)
	}
	c.Add(b)
	p, err := flavour.Build(dialect(), design.Normalized, flavour.SQL, in, c)
	if err != nil {
		t.Fatal(err)
	}
	if want := "OR (h.version <> 'V01' OR h.version IS NULL) AND"; !strings.Contains(p.Text, want) {
		t.Errorf("lacks %q:\n%s", want, p.Text)
	}
}

// TestSubsetNamedLikeSQL: statements contain the name of a subset unchanged, also if it contains words of SQL.
func TestSubsetNamedLikeSQL(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	_, cols, _ := sqlengine.DesignTable(design.Document, lt)
	for _, subset := range []string{"a IF NOT EXISTS b", "a PRIMARY KEY NOT NULL b", "a:1"} {
		plain, other := table("a", "doc", cols).text, table(subset, "doc", cols).text
		if want := strings.ReplaceAll(plain, `"a/`, `"`+subset+"/"); other != want {
			t.Errorf("got %s\nwant %s", other, want)
		}
		name := dialect().Table(subset, "doc")
		question := "SELECT 1 FROM " + name + " WHERE model = 'it''s :1' AND id IN (JSON_TABLE(%s FORMAT JSON))"
		got, want := withoutParameters(fmt.Sprintf(question, ":1")), fmt.Sprintf(question, "'[]'")
		if got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
