package flavour

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// day is 2024-01-01T00:00:00Z.
const day = 1704067200

// catalog knows two models of each version given, so that facts differ.
func catalog(plainTimes bool, versions ...string) *design.Catalog {
	c := design.NewCatalog("s")
	for _, version := range versions {
		for _, model := range []string{"GFS", "it's"} {
			t, _ := record.TypeByName("SAL1L2")
			b := &record.Batch{}
			b.Reset(t, "")
			h := record.DefaultHeader()
			h[record.Version], h[record.Model], h[record.VxMask], h[record.ObType] = version, model, "FULL", "ANL"
			h[record.FcstVar], h[record.ObsVar], h[record.FcstLev], h[record.ObsLev] = "HGT", "HGT", "P500", "P500"
			b.AppendTimes(b.AddHeader(h), 6*3600, day, 1)
			if !plainTimes {
				b.ObsBeg[0] -= 60
			}
			for i := range b.Num {
				b.Num[i] = []float64{0}
			}
			c.Add(b)
		}
	}
	return c
}

// ask makes a question; change sets its times, leads and fields.
func ask(t *testing.T, change func(q *question.Question)) *question.Question {
	t.Helper()
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "q", Type: lt, Weight: 1, Drawing: question.NewDrawing(lt, "ANOM_CORR", "fcst_lead")}
	change(q)
	q.SelectColumns()
	return q.InSubset("s")
}

// TestPhrases: each question in each flavour of each design has the text in testdata/phrases.txt, in a plain dialect and
// in one that replaces every default.
func TestPhrases(t *testing.T) {
	other := &Dialect{
		Name: "other", NullsFirst: " NULLS FIRST", EmptyIsNull: true, MaxList: 2, List: [2]string{"[", "]"}, DocAnd: " AND ", MaterializeHint: " OFFSET 0",
		Literal:     func(s string) string { return "$" + s + "$" },
		Select:      func(columns []string) string { return "RETURN {" + strings.Join(columns, "; ") + "}" },
		SortKey:     func(e string) string { return "sortable(" + e + ")" },
		Mod:         func(a, b string) string { return "mod(" + a + "; " + b + ")" },
		Table:       func(subset, table string) string { return "[" + subset + "/" + table + "]" },
		Binary:      func(e string) string { return "BINARY " + e },
		DateTime:    func(v int64) string { return "T" + integer(v) },
		Epoch:       func(e string) string { return "seconds(" + e + ")" },
		Real:        func(e string) string { return e + "::real" },
		Hour:        func(e string) string { return "HOUR(" + e + ")" },
		HeaderField: func(f record.Field) string { return "head." + f.String() },
		LineColumn:  func(name string) string { return "line." + name },
		Equal:       func(e string, values []string) string { return "same(" + e + ", " + strings.Join(values, "|") + ")" },
		Bytewise:    func(e string) string { return "bytes(" + e + ")" },
		Join:        "h.id = ld.id",
		DocFrom:     func(subset, table, where string) string { return subset + ":" + table + " IF " + where },
		DocField:    func(f string) string { return "doc->" + f },
		DocEntry:    func(c string) string { return "entry->" + c },
		DocNumber:   func(c string) string { return "number->" + c },
		DocEqual:    func(e string, values []string) string { return "same(" + e + ", " + strings.Join(values, "|") + ")" },
		DocWhere:    func(subset, table string) []string { return []string{"of " + subset, "in " + table} },
		DocFromLeads: func(subset, table, where string, leads []int32) string {
			return fmt.Sprint(subset, ":", table, " IF ", where, " LEADS ", leads)
		},
		DocKeys: func(keys []string) (string, []any) { return fmt.Sprint(len(keys), " keys"), nil },

		BinaryLiteral: func(s string) string { return "x" + Quote(s) },
	}
	declared := plain()
	declared.Name = "declared"
	declared.DocTable = func(subset, table, where string, used []question.Column) string {
		return subset + "." + table + " WITH " + Join(used, ",", func(c question.Column) string { return c.Name }) + " WHERE " + where
	}
	grid := question.Times{First: day, Last: day + 86400, Step: 43200}
	questions := map[string]*question.Question{
		"1 everything": ask(t, func(*question.Question) {}),
		"2 a grid of times and a lead": ask(t, func(q *question.Question) {
			q.Valid, q.Lead = grid, []int32{21600}
			q.Header[record.Model], q.Header[record.FcstVar], q.Header[record.CovThresh] = []string{"it's"}, []string{"HGT", "TMP", "UGRD"}, []string{""}
		}),
		"3 a range of times and an empty text": ask(t, func(q *question.Question) {
			q.Valid, q.Lead = question.Times{First: day, Last: day + 86400}, []int32{0, 21600, 43200}
			q.Header[record.VxMask] = []string{"", "FULL"}
		}),
		"4 a list of times": ask(t, func(q *question.Question) { q.Valid = question.Times{List: []int64{day, day + 60, day + 100}} }),
		"5 hours and init times": ask(t, func(q *question.Question) {
			q.TimeFilter = question.TimeFilter{ValidHour: []int{0, 12}, InitHour: []int{6}, Init: question.Times{List: []int64{day}}}
		}),
		"6 what does not exist": ask(t, func(q *question.Question) { q.Header[record.FcstVar] = []string{"NONE"} }),
	}
	catalogs := map[string]*design.Catalog{
		"VSDB": catalog(true, "V01"), "MET": catalog(true, "V12.0.0"), "both, other times": catalog(false, "V01", "V12.0.0"), "nothing": catalog(true),
	}
	var out strings.Builder
	for _, d := range []*Dialect{plain(), other, declared} {
		for _, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
			for _, f := range Names() {
				for _, name := range sorted(questions) {
					for _, data := range sorted(catalogs) {
						// All texts are written for the archive of VSDB. The other archives change only conditions on leads, the
						// order and the keys, so they are written only for the dialect other in metviewer-sql and keys.
						// The dialect declared differs from plain only in documents.
						differs := data == "VSDB" || d == other && (f == MetviewerSQL || f == Keys)
						if !differs || d == declared && n != design.Document {
							continue
						}
						p, err := Build(d, n, f, questions[name], catalogs[data])
						if errors.Is(err, ErrCannotExpress) {
							continue
						} else if err != nil {
							t.Fatal(err)
						}
						fmt.Fprintf(&out, "# %s, %s, %s: %s (%s); leads %d, keys %q, %v\n%s\n\n", d.Name, n, f, name, data, p.LeadCoding, p.Keys, p.Args, p.Text)
					}
				}
			}
		}
	}
	for _, d := range []*Dialect{plain(), other} {
		q := ask(t, func(q *question.Question) {
			q.Mean, q.Valid = "ANOM_CORR", grid
			q.Header[record.Model] = []string{"GFS"}
		})
		for _, n := range []design.Name{design.Normalized, design.Document, design.Wide} {
			for _, f := range Names() {
				p, err := Build(d, n, f, q, catalogs["VSDB"])
				if (err == nil) != (f == MeansFlavour(n)) {
					t.Errorf("means, %s, %s, %s: %v", d.Name, n, f, err)
				}
				if err == nil {
					fmt.Fprintf(&out, "# means, %s, %s, %s\n%s\n\n", d.Name, n, f, p.Text)
				}
			}
		}
	}
	const name = "testdata/phrases.txt"
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != string(want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("the phrases differ from %s (-update rewrites it), first at byte %d: got %q", name, at, got[max(0, at-80):min(len(got), at+80)])
	}
}

func sorted[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestCannotExpress: a flavour that a dialect does not offer is an error, not another query.
func TestCannotExpress(t *testing.T) {
	d := plain()
	d.Binary = nil
	c := catalog(true, "V01")
	open := ask(t, func(q *question.Question) { q.Valid = question.Times{First: day, Last: day + 1} })
	for _, x := range []struct {
		d *Dialect
		n design.Name
		f Name
		q *question.Question
	}{
		{d, design.Normalized, MetviewerSQL, ask(t, func(*question.Question) {})},
		{plain(), design.KeyValue, SQL, ask(t, func(*question.Question) {})},
		{plain(), design.Wide, ISOList, open},
		{plain(), design.Wide, EpochList, open},
		{plain(), design.Wide, ISORange, ask(t, func(q *question.Question) { q.Valid = question.Times{List: []int64{1, 2, 4}} })},
	} {
		if p, err := Build(x.d, x.n, x.f, x.q, c); !errors.Is(err, ErrCannotExpress) {
			t.Errorf("%s %s: %v\n%s", x.n, x.f, err, p.Text)
		}
	}
	other := ask(t, func(q *question.Question) { q.Mean = "RMSE" })
	if _, err := Build(plain(), design.Wide, SQL, other, c); !errors.Is(err, ErrCannotExpress) {
		t.Error("a mean of RMSE:", err)
	}
}

// TestLeads: METviewer's codes of a lead.
func TestLeads(t *testing.T) {
	for _, x := range []struct {
		l          LeadCoding
		code, want int64
	}{{Seconds, 7200, 7200}, {Hours, 24, 86400}, {HMS, 240000, 86400}, {HMS, 13000, 5400}, {HMS, -10000, -3600}} {
		if got := x.l.Seconds(x.code); got != x.want {
			t.Errorf("%d of %d: %d, want %d", x.l, x.code, got, x.want)
		}
	}
}

// TestLeadsOfHours: METviewer's table has whole hours for records of VSDB. A question about a lead of 90
// minutes matches none of them, and not the lead of 1 hour.
func TestLeadsOfHours(t *testing.T) {
	q := ask(t, func(q *question.Question) { q.Lead = []int32{5400, 7200} })
	half := ask(t, func(q *question.Question) { q.Lead = []int32{5400} })
	for _, c := range []struct {
		q        *question.Question
		versions []string
		want     string
	}{
		{q, []string{"V01"}, "WHERE ld.fcst_lead IN (2)\n"},
		{half, []string{"V01"}, "WHERE 1 = 0\n"},
		{q, []string{"V12.0.0"}, "WHERE ld.fcst_lead IN (13000, 20000)\n"},
		{half, []string{"V01", "V12.0.0"}, "(h.version = 'V01' AND 1 = 0\n       OR h.version <> 'V01' AND ld.fcst_lead IN (13000))"},
	} {
		p, err := Build(plain(), design.Normalized, SQL, c.q, catalog(true, c.versions...))
		if err != nil || !strings.Contains(p.Text, c.want) {
			t.Errorf("%v: %v, no %q in\n%s", c.versions, err, c.want, p.Text)
		}
	}
}

// TestNames: EscapeCase distinguishes subsets in an engine that ignores case, and a shortened name has a digest of the
// full one.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"mv_gfs": "mv_gfs", "GFS": "^g^f^s", "a^b": "a^^b", "^A": "^^^a", "AZaz09": "^a^zaz09", "": "", "Ä^": "Ä^^", "@[`{": "@[`{",
	} {
		if got := EscapeCase(name); got != want || UnescapeCase(got) != name {
			t.Errorf("%q is %q, and back %q", name, got, UnescapeCase(got))
		}
	}
	for schema, want := range map[string]string{"a^": "a^", "^_x": "_x", "^1": "1", "^z^a": "ZA"} {
		if got := UnescapeCase(schema); got != want {
			t.Errorf("%q is %q, want %q", schema, got, want)
		}
	}
	a, b := ShortenName("ääääääääääääää", "one", 30), ShortenName("ääääääääääääää", "two", 30)
	if len(a) > 30 || a == b || !strings.HasSuffix(a, "_ääääää") || !strings.HasPrefix(a, "^") {
		t.Errorf("%q, %q", a, b)
	}
	if got := ShortenName("ääääääääääääää", "one", 29); !strings.HasSuffix(got, "_äääää") || len(got) != 28 {
		t.Errorf("%q of %d bytes", got, len(got))
	}
}
