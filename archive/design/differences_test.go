package design

import (
	"slices"
	"testing"

	"github.com/barograph/barograph/record"
)

// describe returns a catalog of SL1L2 records with these valid times in hours and values. change may change the header
// or the times.
func describe(model string, value float64, change func(b *record.Batch), hours ...int64) *Catalog {
	b := &record.Batch{}
	b.Reset(mustType("SL1L2"), "x.stat")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar], h[record.VxMask], h[record.FcstLev] = "V12.0", model, "ANLYS", "TMP", "FULL", "Z2"
	head := b.AddHeader(h)
	for i, hour := range hours {
		b.AppendTimes(head, 6*3600, day+hour*3600, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], value)
		}
	}
	if change != nil {
		change(b)
	}
	c := NewCatalog("s")
	c.Add(b)
	return c
}

// TestDifferences: each group whose records are not those of the catalog has a line, which names the first cause.
func TestDifferences(t *testing.T) {
	mask := func(b *record.Batch) { b.Headers[0][record.VxMask] = "G2" }
	level := func(b *record.Batch) { b.Headers[0][record.FcstLev] = "P500" }
	lead := func(b *record.Batch) { b.Lead[0] = 12 * 3600 }
	observed := func(b *record.Batch) { b.ObsBeg[0]-- }
	const series = "SL1L2 V12.0 GFS ANLYS TMP: "
	for name, c := range map[string]struct {
		stored      *Catalog
		want        []string
		onlyMissing bool
	}{
		"equal":          {describe("GFS", 1, nil, 0, 6, 12), nil, true},
		"lost":           {describe("GFS", 1, nil, 0, 12), []string{series + "1 of 3 records is lost"}, true},
		"all lost":       {NewCatalog("s"), []string{series + "3 of 3 records are lost"}, true},
		"twice":          {describe("GFS", 1, nil, 0, 6, 6, 12), []string{series + "1 more record than the loads stored"}, false},
		"changed values": {describe("GFS", 2, nil, 0, 6, 12), []string{series + "some of 3 records have different values than the loads stored"}, false},
		"another mask":   {describe("GFS", 1, mask, 6, 12), []string{series + "1 of 3 records is lost", series + "the catalog does not know of vx_mask G2"}, false},
		"another level":  {describe("GFS", 1, level, 6, 12), []string{series + "1 of 3 records is lost", series + "the catalog does not know of fcst_lev P500"}, false},
		"another lead":   {describe("GFS", 1, lead, 6, 12), []string{series + "1 of 3 records is lost", series + "the catalog does not know of fcst_lead 12h0m0s"}, false},
		"another time":   {describe("GFS", 1, nil, 0, 3), []string{series + "1 of 3 records is lost", series + "the catalog does not know of fcst_valid_beg 2024-01-01T03:00:00Z"}, false},
		"an early time":  {describe("GFS", 1, nil, -6, 6), []string{series + "1 of 3 records is lost", series + "the catalog does not know of fcst_valid_beg 2023-12-31T18:00:00Z"}, false},
		"a short lead":   {describe("GFS", 1, func(b *record.Batch) { b.Lead[1] = 0 }, 6, 12), []string{series + "1 of 3 records is lost", series + "the catalog does not know of fcst_lead 0s"}, false},
		"a later time":   {describe("GFS", 1, nil, 0, 18), []string{series + "1 of 3 records is lost", series + "the catalog does not know of fcst_valid_beg 2024-01-01T18:00:00Z"}, false},
		"observed apart": {describe("GFS", 1, observed, 0, 6), []string{series + "1 of 3 records is lost", series + "the catalog does not know of records with separate observation times"}, false},
		"another model": {describe("NAM", 1, nil, 0, 6), []string{
			series + "3 of 3 records are lost", "SL1L2 V12.0 NAM ANLYS TMP: the catalog does not know of its 2 records",
		}, false},
	} {
		catalog := describe("GFS", 1, nil, 0, 6, 12)
		got, onlyLost := catalog.Differences(c.stored)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, c.want)
		}
		if onlyLost != c.onlyMissing {
			t.Errorf("%s: only records are missing: %t", name, onlyLost)
		}
	}
	one := describe("GFS", 1, nil, 0)
	for want, stored := range map[string]*Catalog{
		"1 of 1 record is lost": NewCatalog("s"), "1 record has different values than the loads stored": describe("GFS", 2, nil, 0),
	} {
		if got, _ := one.Differences(stored); !slices.Equal(got, []string{series + want}) {
			t.Errorf("of one record: %q, want %q", got, want)
		}
	}
	apart := describe("GFS", 1, observed, 0, 6)
	if got, _ := apart.Differences(describe("GFS", 1, observed, 0, 6)); got != nil {
		t.Errorf("observed apart in both: %q", got)
	}
}

// TestSeal: a catalog that somebody changed is not intact. A catalog of an earlier version, without a seal, is intact.
func TestSeal(t *testing.T) {
	text, err := describe("GFS", 1, nil, 0, 6).Encode()
	if err != nil {
		t.Fatal(err)
	}
	reformatted := slices.Concat([]byte(" "), text, []byte("\n"))
	changed := slices.Clone(text)
	changed[slices.Index(changed, 'F')] = 'E' // the model
	unsealed := NewCatalog("s")
	unsealed.Sealed = false
	earlier, err := unsealed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text []byte
		want bool
	}{"encoded": {text, true}, "reformatted": {reformatted, true}, "changed": {changed, false}, "of an earlier version": {earlier, true}} {
		catalog, err := ParseCatalog(c.text)
		if err != nil || catalog.Intact() != c.want {
			t.Errorf("%s: intact %t, %v", name, !c.want, err)
		}
	}
	if !NewCatalog("s").Intact() {
		t.Error("a new catalog is not intact")
	}
}

// TestClear: a cleared catalog is a new one, and counts the records that are added then.
func TestClear(t *testing.T) {
	c, fresh := describe("GFS", 1, nil, 0, 6), describe("GFS", 1, nil, 12)
	c.Objects, c.Counted, c.Sealed = 3, false, false
	c.Clear()
	if c.Digest() != (record.Digest{}) || c.Objects != 0 || !c.Counted || !c.Sealed || len(c.Records()) != 0 {
		t.Errorf("%+v", c)
	}
	c.Merge(fresh)
	if differences, _ := c.Differences(fresh); c.Digest() != fresh.Digest() || differences != nil {
		t.Errorf("%s, want %s", c.Digest(), fresh.Digest())
	}
	for keeps, want := range map[bool]int{false: 1, true: 2} {
		if c.KeepsConflicts = keeps; c.RequiredSchema() != want {
			t.Errorf("keeps conflicts %t: schema %d", keeps, c.RequiredSchema())
		}
	}
}

// TestNamesOfTables: a design's tables have the type's name in lower case.
func TestNamesOfTables(t *testing.T) {
	lt := mustType("SL1L2")
	if got := [3]string{LineTable(lt), WideTable(lt), DocTable(lt)}; got != [3]string{"line_data_sl1l2", "wide_sl1l2", "doc_sl1l2"} {
		t.Error(got)
	}
	for n, want := range map[Name]bool{Normalized: true, Wide: true, Memory: true, Document: false, KeyValue: false} {
		if n.Rows() != want {
			t.Errorf("%s stores rows: %t", n, !want)
		}
	}
}
