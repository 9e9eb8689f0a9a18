package couchbase

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var longList = regexp.MustCompile(`\[[^\[\]]{120,}\]`)

// TestGolden compares the statements of all cases and flavours with testdata/<case>.n1ql; -update rewrites the
// files. Long lists are shortened to their ends.
func TestGolden(t *testing.T) {
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	d := &database{settings: &settings{bucket: "mdata", scope: "_default", collection: "_default"}}
	clock := cases[0].InSubset("a")
	clock.Name = "clock"
	clock.TimeFilter = question.TimeFilter{
		ValidHour: []int{0, 6}, InitHour: []int{12}, Init: question.Times{First: -86400, Last: 1514851200},
	}
	for _, q := range append(cases, clock) {
		var b strings.Builder
		for _, f := range flavour.Names() {
			p := phrase{keyspace: d.keyspace(), q: q.InSubset("a"), flavour: f, catalog: enginetest.CasesCatalog(t)}
			switch f {
			case flavour.ISOList, flavour.ISORange, flavour.EpochList, flavour.EpochRange, flavour.Keys:
			default:
				continue
			}
			text, err := p.text()
			if errors.Is(err, flavour.ErrCannotExpress) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			text = longList.ReplaceAllStringFunc(text, func(l string) string {
				items := strings.Split(l, ", ")
				return fmt.Sprintf("%s, %s, /* %d in all */ %s", items[0], items[1], len(items), items[len(items)-1])
			})
			fmt.Fprintf(&b, "-- %s\n%s\n\n", f, text)
		}
		golden(t, q.Name, b.String())
	}
	d.scope, d.collection = "verif", "vsdb"
	golden(t, "indexes", strings.Join(indexStatements(d.keyspace()), ";\n")+";\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".n1ql")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and read the difference:\n%s", path, got)
	}
}

func TestRowsOfAReply(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	columns, err := question.Columns(lt, "vx_mask", "fcst_valid_beg", "fcst_lead", "fabar", "oabar")
	if err != nil {
		t.Fatal(err)
	}
	var b answer.Builder
	b.Reset(columns)
	if err := decodeRow([]byte(`{"fabar":0.1,"vx_mask":"G2/NHX","fcst_lead":21600,"fcst_valid_beg":1546300800}`), columns, &b); err != nil {
		t.Fatal(err)
	}
	a := b.Take()
	if a.Rows != 1 || a.Vectors[0].Text[0] != "G2/NHX" || a.Vectors[1].Seconds[0] != 1546300800 || a.Vectors[2].Seconds[0] != 21600 ||
		a.Vectors[3].Num[0] != 0.1 || !math.IsNaN(a.Vectors[4].Num[0]) {
		t.Errorf("decoded %+v", a)
	}
	for _, bad := range []string{`{}`, `{"vx_mask":1,"fcst_valid_beg":0,"fcst_lead":0}`, `{"vx_mask":"a","fcst_valid_beg":"x","fcst_lead":0}`, `{"vx_mask":"a","fcst_valid_beg":0,"fcst_lead":0,"fabar":"1"}`} {
		b.Reset(columns)
		if err := decodeRow([]byte(bad), columns, &b); err == nil {
			t.Errorf("%s was decoded", bad)
		}
	}
}

func TestPlans(t *testing.T) {
	for plan, want := range map[string]archive.Access{
		`{"plan":{"#operator":"Sequence","~children":[{"#operator":"PrimaryScan3","index":"#primary"}]}}`:          {Object: "k", Method: archive.FullScan, Index: "#primary", Examined: -1, Kept: -1},
		`{"plan":{"~child":{"#operator":"IndexScan3","index":"barograph_1","spans":[{"exact":true}]}}}`:            {Object: "k", Method: archive.IndexScan, Index: "barograph_1", Examined: -1, Kept: -1},
		`{"plan":{"~children":[{"#operator":"KeyScan","keys":"$keys"},{"#operator":"Fetch","keyspace":"mdata"}]}}`: {Object: "k", Method: archive.KeyLookup, Examined: -1, Kept: -1},
	} {
		if got := accesses("k", []byte(plan)); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %+v, want %+v", plan, got, want)
		}
	}
}

func TestLongIdsStayApart(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, id := range []string{"short", strings.Repeat("y", longestKey)} {
		if keyOf(id) != id {
			t.Errorf("%q was changed", id)
		}
	}
	a, b := keyOf(long+"a"), keyOf(long+"b")
	if a == b || len(a) > longestKey || len(b) > longestKey {
		t.Errorf("keys %q and %q", a, b)
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	for _, raw := range []string{
		"couchbase://host", "couchbase:///bucket", "couchbase://h/b?durability=some", "couchbase://h/b?tls=maybe", "couchbase://h/b?in_flight=0",
		"couchbase://h/b?kv_timeout=5", "couchbase://h/b?retry=often", "couchbase://h/b?ca=/nowhere", "couchbase://h/b?cert=/nowhere",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parse(u)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Cure == "" {
			t.Errorf("%s: %v; want an error with a cure", raw, err)
		}
	}
	u, _ := url.Parse("couchbase://u:p@a,b/b?tls=true&durability=majority&scope=s&collection=c")
	s, err := parse(u)
	if err != nil || s.connection != "couchbases://a,b" || s.bucket != "b" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestExplainIsNotPrepared: the SDK sends a prepared statement as PREPARE …, which must not precede EXPLAIN.
func TestExplainIsNotPrepared(t *testing.T) {
	a := &openArchive{store: &store{database: &database{settings: &settings{consistency: once}}}}
	text, o := a.explainStatement(&archive.Query{Text: "SELECT 1", Flavour: flavour.Keys, Keys: []string{"DD::1"}})
	if text != "EXPLAIN SELECT 1" || o.prepare || o.keys == nil {
		t.Errorf("%s with %+v", text, o)
	}
	if o := a.options(&archive.Query{Text: "SELECT 1"}); !o.prepare {
		t.Error("questions are not prepared")
	}
}

// TestConsistency: each statement waits for the indexes once, and again after a write.
func TestConsistency(t *testing.T) {
	const waits, not = requestPlus, notBounded
	for name, c := range map[string]struct{ set, first, again, written consistency }{
		"once": {once, waits, not, waits}, "request_plus": {waits, waits, waits, waits}, "not_bounded": {not, not, not, not},
	} {
		d := &database{settings: &settings{consistency: c.set}}
		ask := func(text string) consistency {
			with := d.statementConsistency(text)
			d.recordWait(text, with)
			return with
		}
		first, again := ask("SELECT 1"), ask("SELECT 1")
		other := ask("SELECT 2")
		d.recordWrite()
		if written := ask("SELECT 1"); first != c.first || again != c.again || other != c.first || written != c.written {
			t.Errorf("%s: %v, %v, another %v, after a write %v", name, first, again, other, written)
		}
	}
}

func TestOldestVersion(t *testing.T) {
	for version, old := range map[string]bool{"": false, "7.1.4-3601-enterprise": false, "7.0.5-7659-community": true, "6.6.6-10583": true, "7.6.0": false, "8.0.0": false, "new": false} {
		if err := tooOld("couchbase://x/y", version); (err != nil) != old || old && !strings.Contains(err.Error(), "7.1 or later") {
			t.Errorf("%q: %v", version, err)
		}
	}
}
