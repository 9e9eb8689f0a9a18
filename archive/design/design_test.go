package design

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

var awkward = []string{"GFS", "", "a::b", "50%", "x;y=z", "O'Brien\"", "Ω≥0.5", ":", "%3A", "NA", "0"}

// randomBatch makes records of a type with awkward texts, missing values and several documents.
func randomBatch(r *rand.Rand, t *record.LineType, n int) *record.Batch {
	b := &record.Batch{}
	b.Reset(t, "random")
	for range 4 {
		h := record.DefaultHeader()
		for f := range h {
			if r.IntN(2) == 0 {
				h[f] = awkward[r.IntN(len(awkward))]
			}
		}
		b.AddHeader(h)
	}
	for i := range n {
		b.AppendTimes(uint32(r.IntN(4)), int32(r.IntN(40))*21600, 1546300800+int64(r.IntN(3))*21600, uint32(i+1))
		if r.IntN(3) == 0 {
			b.ObsBeg[i] -= 5400
			b.ObsEnd[i] += 5400
			b.ObsLead[i] = 3600
		}
		for k := range b.Num {
			f := math.Float64frombits(r.Uint64())
			if r.IntN(4) == 0 || math.IsInf(f, 0) {
				f = record.Missing()
			}
			b.Num[k] = append(b.Num[k], f)
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], awkward[r.IntN(len(awkward))])
		}
		if t.Group != nil {
			for range r.IntN(5) {
				b.Group = append(b.Group, r.NormFloat64())
			}
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

func TestKeyRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lt, _ := record.TypeByName("SL1L2")
	b := randomBatch(r, lt, 200)
	for i := range b.Len() {
		subset := awkward[r.IntN(len(awkward))]
		key := string(AppendKey(nil, lt, subset, b.Header(i), b.Valid[i]))
		gotType, gotSubset, gotHeader, gotValid, err := ParseKey(key)
		if err != nil || gotType != lt || gotSubset != subset || gotHeader != *b.Header(i) || gotValid != b.Valid[i] {
			t.Fatalf("%q:\n got %v %q %q %d %v\nwant %q %q", key, gotType, gotSubset, gotHeader, gotValid, err, subset, *b.Header(i))
		}
	}
}

func TestKeyIsTheOriginals(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.VxMask], h[record.ObType] = "V01", "GFS", "G2/NHX", "GFS"
	h[record.FcstVar], h[record.ObsVar], h[record.FcstLev], h[record.ObsLev] = "HGT", "HGT", "P500", "P500"
	got := string(AppendKey(nil, lt, "mv_gfs_grid2obs_vsdb1", &h, 1546300800))
	if want := "DD::V01::SAL1L2::mv_gfs_grid2obs_vsdb1::GFS::G2/NHX::HGT::GFS::P500::1546300800"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// documents groups b and gives each document to f.
func documents(b *record.Batch, f func(*Doc)) {
	g := NewGrouper(b.Type)
	g.Add(b)
	for d := range g.Docs() {
		f(d)
	}
}

func digest(b *record.Batch) record.Digest {
	var h record.Hasher
	return h.DigestOf(b)
}

func TestPayloadAndJSONRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, lt := range record.Types() {
		b := randomBatch(r, lt, 100)
		var viaPayload, viaJSON record.Batch
		viaPayload.Reset(lt, "")
		viaJSON.Reset(lt, "")
		documents(b, func(d *Doc) {
			data := AppendPayload(nil, d.Rows, 0, d.Rows.Len())
			if err := DecodePayload(data, &viaPayload, viaPayload.AddHeader(*d.Header()), d.Valid()); err != nil {
				t.Fatalf("%s: %v", lt.Name, err)
			}
			for cut := 0; cut < len(data); cut += 1 + r.IntN(97) {
				var scratch record.Batch
				scratch.Reset(lt, "")
				if err := DecodePayload(data[:cut], &scratch, 0, 0); err == nil {
					t.Fatalf("%s: a payload cut to %d of %d bytes is taken for whole", lt.Name, cut, len(data))
				}
			}
			if _, err := ParseJSON(AppendJSON(nil, "s", d.Rows), &viaJSON); err != nil {
				t.Fatalf("%s: %v", lt.Name, err)
			}
		})
		if want := digest(b); digest(&viaPayload) != want || digest(&viaJSON) != want {
			t.Errorf("%s: digests differ: records %v, payload %v, JSON %v", lt.Name, want, digest(&viaPayload), digest(&viaJSON))
		}
	}
}

// VxIngest replaced a document by the leads of a later file (F2: 29.7 % of the
// records of a real day lost); here leads of several files end in one document.
func TestVxIngestF2LeadsOfSeveralFilesAreMerged(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	part := func(value float64, leads ...int32) *Doc {
		b := &record.Batch{}
		b.Reset(lt, "")
		b.AddHeader(record.DefaultHeader())
		for _, l := range leads {
			b.AppendTimes(0, l*3600, 0, 1)
			for k := range b.Num {
				b.Num[k] = append(b.Num[k], value)
			}
		}
		return &Doc{Rows: b}
	}
	var into record.Batch
	var replaced []int
	Merge(&into, part(1, 0, 12, 24).Rows, part(2, 6, 12, 48), func(_, j int) { replaced = append(replaced, j) })
	if into.Len() != 5 || len(replaced) != 1 || replaced[0] != 1 {
		t.Fatalf("%d records, replaced %v; want 5 and [1]", into.Len(), replaced)
	}
	for i, want := range []struct {
		lead  int32
		value float64
	}{{0, 1}, {6, 2}, {12, 2}, {24, 1}, {48, 2}} {
		if into.Lead[i] != want.lead*3600 || into.Num[0][i] != want.value {
			t.Errorf("entry %d: lead %d value %v, want %v", i, into.Lead[i], into.Num[0][i], want)
		}
	}
}

func TestCatalogMergesInAnyOrderAndDerivesEveryKey(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	lt, _ := record.TypeByName("SAL1L2")
	a, b := randomBatch(r, lt, 60), randomBatch(r, lt, 60)
	one, two := NewCatalog("s"), NewCatalog("s")
	one.Add(a)
	one.Add(b)
	other := NewCatalog("s")
	other.Add(a)
	two.Add(b)
	two.Merge(other)
	x, _ := one.Encode()
	y, _ := two.Encode()
	if string(x) != string(y) {
		t.Fatalf("catalogs differ:\n%s\n%s", x, y)
	}
	parsed, err := ParseCatalog(x)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, k := range parsed.Keys(&question.Question{Type: lt}) {
		keys[k] = true
	}
	for _, batch := range []*record.Batch{a, b} {
		for i := range batch.Len() {
			if k := string(AppendKey(nil, lt, "s", batch.Header(i), batch.Valid[i])); !keys[k] {
				t.Fatalf("%s is in the archive, but is not derived", k)
			}
			if g := parsed.GroupFor(lt, batch.Header(i)); !g.MayContain(batch.Valid[i]) || !g.HasLead(batch.Lead[i]) {
				t.Fatalf("%s is in the archive, but is held to be new", batch.Header(i))
			}
		}
	}
}

// catalogOf returns the catalog of rows that have only times. It sets their numbers to 0.
func catalogOf(b *record.Batch) *Catalog {
	for i := range b.Num {
		b.Num[i] = make([]float64, b.Len())
	}
	c := NewCatalog("s")
	c.Add(b)
	return c
}

// TestCatalogCounts: a catalog counts a replacement instead of the record that it replaces, in any order of
// merging, and also after it was stored.
func TestCatalogCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	lt, _ := record.TypeByName("SAL1L2")
	b := randomBatch(r, lt, 60)
	var h record.Hasher
	want := h.DigestOf(b)
	c := NewCatalog("s")
	c.Add(b)
	gone := NewCatalog("s")
	for i := range b.Len() {
		gone.Drop(b, i)
	}
	gone.Merge(c) // a duplicate: nothing stays
	if got := gone.Digest(); got != (record.Digest{}) {
		t.Errorf("of nothing %s is held", got)
	}
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseCatalog(text)
	if err != nil {
		t.Fatal(err)
	}
	if again.Merge(gone); again.Digest() != want || !again.Counted {
		t.Errorf("%s is held, want %s", again.Digest(), want)
	}
	old, err := ParseCatalog([]byte(`{"subset":"s","groups":[{"line_type":"SAL1L2"}]}`))
	if err != nil || old.Counted {
		t.Errorf("a catalog of an earlier version is held to count: %v", err)
	}
}

// TestLaterCatalog: ParseCatalog refuses a catalog of a later schema, and reads a catalog of an earlier version,
// which has no schema.
func TestLaterCatalog(t *testing.T) {
	if _, err := ParseCatalog([]byte(`{"subset":"s","program":"v9","schema":99}`)); err == nil || !strings.Contains(err.Error(), "v9, schema 99") {
		t.Error(err)
	}
	if c, err := ParseCatalog([]byte(`{"subset":"s"}`)); err != nil || c.Subset != "s" {
		t.Error(c, err)
	}
}

func TestMoments(t *testing.T) {
	for text, gaps := range map[string]string{
		"":                                    "[]",
		"1704067200":                          "[]",
		"1704067200+21600*4":                  "[]",
		"0+21600*4 86400+21600*3":             "[]",
		"0+6*2 18+6*3 60":                     "[{6 1} {30 4}]",
		"-12+6*4":                             "[]",
		"0+6*4 19 24 30":                      "[]",
		"1704067200+3600*3 1704085200+3600*2": "[{1704074400 2}]",
	} {
		var m Moments
		if err := m.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := fmt.Sprint(m.Gaps(m.Step())); got != gaps {
			t.Errorf("%q: gaps %s, want %s", text, got, gaps)
		}
		again, err := m.MarshalText()
		var n Moments
		if err != nil || n.UnmarshalText(again) != nil || !slices.Equal(m, n) {
			t.Errorf("%q is written as %q (%v)", text, again, err)
		}
	}
	for _, text := range []string{"x", "1+", "1+0*4", "1+6*0", "5 5", "5 4", "0+1*99999999999", "9223372036854775800+6*4"} {
		var m Moments
		if err := m.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for %v", text, m)
		}
	}
}

func TestWhatIsCertainlyNew(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	b := &record.Batch{}
	b.Reset(lt, "")
	h := record.DefaultHeader()
	head := b.AddHeader(h)
	for _, valid := range []int64{6000, 18000} {
		b.AppendTimes(head, 3600, valid, 1)
	}
	c := catalogOf(b)
	for _, f := range []record.Field{record.Version, record.Model, record.ObType, record.FcstVar, record.VxMask, record.FcstLev, record.FcstThresh} {
		other := h
		other[f] = "another"
		if c.GroupFor(lt, &other) != nil {
			t.Errorf("the archive may contain records of another %s", f)
		}
	}
	if sums, _ := record.TypeByName("SL1L2"); c.GroupFor(sums, &h) != nil {
		t.Error("the archive may contain records of another line type")
	}
	for valid, want := range map[int64]bool{0: false, 6000: true, 12000: false, 18000: true, 30000: false} {
		if got := c.GroupFor(lt, &h).MayContain(valid); got != want {
			t.Errorf("valid time %d may be there: %v", valid, got)
		}
	}
	if g := c.GroupFor(lt, &h); !g.HasLead(3600) || g.HasLead(7200) {
		t.Error("leads")
	}
}

// Tests 4 and 5 of the original experiment request levels that do not exist. Keys derives their keys nevertheless.
func TestAbsentKeysAreDerived(t *testing.T) {
	lt, _ := record.TypeByName("SAL1L2")
	b := &record.Batch{}
	b.Reset(lt, "")
	for _, lev := range []string{"P1000", "P700", "P500", "P250"} {
		for _, mask := range []string{"G2", "G2/NHX", "G2/PNA", "G2/SHX", "G2/TRO"} {
			h := record.DefaultHeader()
			h[record.Version], h[record.Model], h[record.VxMask], h[record.ObType] = "V01", "GFS", mask, "GFS"
			h[record.FcstVar], h[record.ObsVar], h[record.FcstLev], h[record.ObsLev] = "HGT", "HGT", lev, lev
			b.AppendTimes(b.AddHeader(h), 0, 1514764800, 1)
		}
	}
	c := catalogOf(b)
	for name, want := range map[string]int{"test_1": 16, "test_2": 320, "test_3": 546, "test_4": 1092, "test_5": 8736} {
		q, err := question.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(c.Keys(q)); got != want {
			t.Errorf("%s: %d keys, want %d", name, got, want)
		}
	}
}

func TestLeadCodes(t *testing.T) {
	for _, tc := range []struct {
		version string
		seconds int32
		code    int64
	}{{"V01", 384 * 3600, 384}, {"V12.0.0", 108 * 3600, 1080000}, {"V12.0.0", 5400, 13000}, {"V8.1", 59, 59}, {"V10", -3600, -10000}, {"V10", -37230, -102030}, {"V10", 37230, 102030}, {"V12.0.0", 0, 0}, {"V01", -7200, -2}} {
		if got := LeadCode(tc.version, tc.seconds); got != tc.code {
			t.Errorf("LeadCode(%s, %d) = %d, want %d", tc.version, tc.seconds, got, tc.code)
		}
		if got := LeadSeconds(tc.version, tc.code); got != int64(tc.seconds) {
			t.Errorf("LeadSeconds(%s, %d) = %d, want %d", tc.version, tc.code, got, tc.seconds)
		}
	}
}
