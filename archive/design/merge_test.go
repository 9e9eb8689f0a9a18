package design

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestMergedCatalogs: a merge adds up what is counted, joins sets, and keeps a warning of either catalog. It does not
// change the other catalog, nor later with it.
func TestMergedCatalogs(t *testing.T) {
	observed := func(b *record.Batch) { b.ObsBeg[0]-- }
	for name, c := range map[string]struct {
		one, other *Catalog
		plain      bool
	}{
		"plain times in both":   {describe("GFS", 1, nil, 0, 6), describe("GFS", 1, nil, 12), true},
		"only in the other one": {describe("GFS", 1, observed, 0, 6), describe("GFS", 1, nil, 12), false},
		"only in the first one": {describe("GFS", 1, nil, 0, 6), describe("GFS", 1, observed, 12), false},
	} {
		one, other := c.one, c.other
		one.Objects, other.Objects = 3, 4
		one.Trimmed, other.Trimmed = 10, 20
		one.TrimmedBefore, other.TrimmedBefore = 500, 400
		one.Files, other.Files = record.Digest{Hi: 1, Lo: 2, Records: 3}, record.Digest{Hi: 10, Lo: 20, Records: 30}
		before, err := other.Encode()
		if err != nil {
			t.Fatal(err)
		}
		sum := one.Digest()
		sum.Add(other.Digest())
		one.Merge(other)
		if one.Objects != 7 || one.Trimmed != 30 || one.TrimmedBefore != 500 || one.Files != (record.Digest{Hi: 11, Lo: 22, Records: 33}) || one.Digest() != sum {
			t.Errorf("%s: %d objects, %d trimmed before %d, files %s, records %s", name, one.Objects, one.Trimmed, one.TrimmedBefore, one.Files, one.Digest())
		}
		g := one.Groups[0]
		if g.PlainTimes != c.plain || g.First != day || g.Last != day+12*3600 || g.Step != 6*3600 || len(g.Valid) != 3 {
			t.Errorf("%s: plain %v, from %d to %d by %d, %d times", name, g.PlainTimes, g.First-day, g.Last-day, g.Step, len(g.Valid))
		}
		one.Merge(describe("GFS", 5, func(b *record.Batch) {
			b.Headers[0][record.VxMask], b.Headers[0][record.FcstLev], b.Headers[0][record.Descr], b.Lead[0] = "A", "A", "A", 1
		}, 1))
		if after, err := other.Encode(); err != nil || string(after) != string(before) {
			t.Errorf("%s: the other catalog was\n%s\nand is\n%s", name, before, after)
		}
	}
	for i := range 16 {
		one, other := NewCatalog("s"), NewCatalog("s")
		bit := func(k int) bool { return i>>k&1 == 1 }
		one.MoreConflicts, other.MoreConflicts, one.KeepsConflicts, other.KeepsConflicts = bit(0), bit(1), bit(2), bit(3)
		one.Counted, other.Counted, one.Sealed, other.Sealed = bit(0), bit(1), bit(2), bit(3)
		one.Merge(other)
		if one.MoreConflicts != (bit(0) || bit(1)) || one.KeepsConflicts != (bit(2) || bit(3)) || one.Counted != (bit(0) && bit(1)) || one.Sealed != (bit(2) && bit(3)) {
			t.Errorf("%04b: more %v, keeps %v, counted %v, sealed %v", i, one.MoreConflicts, one.KeepsConflicts, one.Counted, one.Sealed)
		}
	}
}

// TestMergedIntoNothing: an empty catalog becomes the other one, and later changes of one of them do not reach the other.
func TestMergedIntoNothing(t *testing.T) {
	stored := describe("GFS", 1, nil, 0, 6)
	stored.Design, stored.Program, stored.Schema = Wide, "v1", 1
	stored.AddQuarantine(Quarantine{File: "f", Digest: "1", Lines: 2})
	text, err := stored.Encode()
	if err != nil {
		t.Fatal(err)
	}
	other, err := ParseCatalog(text)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCatalog("s")
	if c.ParsedText() != nil || string(other.ParsedText()) != string(text) {
		t.Errorf("a new catalog was parsed from %q, a parsed one from %q", c.ParsedText(), other.ParsedText())
	}
	c.Merge(other)
	if string(c.ParsedText()) != string(text) {
		t.Errorf("the text is %q, want %q", c.ParsedText(), text)
	}
	if got, err := c.Encode(); err != nil || string(got) != string(text) {
		t.Errorf("%s, %v; want\n%s", got, err, text)
	}
	c.Add(batchOf("x", entry{"OTHER", 0, 0, 1}))
	for _, g := range c.Groups {
		g.Masks[0], g.Levels[0], g.FurtherFields[0], g.Leads[0], g.Valid[0] = "x", "x", "x", -1, -1
	}
	if got, err := other.Encode(); err != nil || string(got) != string(text) {
		t.Errorf("%s, %v; want\n%s", got, err, text)
	}
	// The text of a catalog with groups stays; a commit without a schema does not change the archive's.
	more := describe("NAM", 1, nil, 0)
	if more.Merge(other); more.ParsedText() != nil || more.Schema != 1 || more.Design != Wide || more.Program != "v1" {
		t.Errorf("%s, schema %d, %s, %q", more.Design, more.Schema, more.Program, more.ParsedText())
	}
	if more.Merge(NewCatalog("s")); more.Schema != 1 || more.Design != Wide || more.Program != "v1" {
		t.Errorf("%s, schema %d, %s", more.Design, more.Schema, more.Program)
	}
}

// TestSealOfACatalog: a catalog that is not sealed gets no seal, and a sealed one whose seal was removed or changed is not
// intact.
func TestSealOfACatalog(t *testing.T) {
	c := describe("GFS", 1, nil, 0, 6)
	text, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), `,"seal":"`)
	if at < 0 || len(text) != at+len(`,"seal":"0123456789abcdef"}`) {
		t.Fatalf("the seal is not at the end: %s", text)
	}
	c.Sealed = false
	if plain, err := c.Encode(); err != nil || strings.Contains(string(plain), "seal") {
		t.Errorf("%s, %v", plain, err)
	}
	for name, changed := range map[string]string{
		"without its seal": string(text[:at]) + "}",
		"another seal":     string(text[:at]) + `,"seal":"0123456789abcdef"}`,
		"a seal too many":  strings.Replace(string(text), `"sealed":true`, `"sealed":false`, 1),
	} {
		parsed, err := ParseCatalog([]byte(changed))
		if err != nil || parsed.Intact() {
			t.Errorf("%s: %v, intact", name, err)
		}
	}
	if _, err := ParseCatalog([]byte("{")); err == nil {
		t.Error("half of a catalog is parsed")
	}
	for schema, ok := range map[string]bool{"1": true, "2": true, "3": false} {
		if _, err := ParseCatalog([]byte(`{"subset":"s","schema":` + schema + `}`)); (err == nil) != ok {
			t.Errorf("schema %s: %v", schema, err)
		}
	}
}

// TestGroupOrder: groups are ordered by line type, version, model, observation type and variable.
func TestGroupOrder(t *testing.T) {
	c := NewCatalog("s")
	var want []string
	for _, lt := range []string{"CTC", "SL1L2"} {
		for _, version := range []string{"V1", "V2"} {
			for _, model := range []string{"A", "B"} {
				for _, obs := range []string{"X", "Y"} {
					for _, variable := range []string{"RH", "TMP"} {
						want = append(want, strings.Join([]string{lt, version, model, obs, variable}, " "))
					}
				}
			}
		}
	}
	for i := range want { // in disorder: 7 and 32 have no common divisor
		f := strings.Fields(want[i*7%len(want)])
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = f[1], f[2], f[3], f[4]
		b := &record.Batch{}
		b.Reset(mustType(f[0]), "")
		b.AppendTimes(b.AddHeader(h), 0, day, 1)
		c.Merge(catalogOf(b))
	}
	var got []string
	for _, g := range c.Groups {
		got = append(got, g.String())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestTimesOfAGroup: the span and the step of the valid times, in any order, and which times are possible or listed.
func TestTimesOfAGroup(t *testing.T) {
	for _, c := range []struct {
		times             []int64
		first, last, step int64
		possible, never   []int64
	}{
		{[]int64{50}, 50, 50, 0, []int64{50}, []int64{49, 51}},
		{[]int64{50, 50}, 50, 50, 0, []int64{50}, []int64{49, 51}},
		{[]int64{50, 20}, 20, 50, 30, []int64{20, 50}, []int64{19, 35, 80, -10}},
		{[]int64{0, 12, 30}, 0, 30, 6, []int64{0, 6, 12, 18, 24, 30}, []int64{-6, 3, 36}},
		{[]int64{30, 12, 0}, 0, 30, 6, []int64{0, 6, 30}, []int64{-6, 3, 36}},
		{[]int64{-7, 7, 0}, -7, 7, 7, []int64{-7, 0, 7}, []int64{-14, 1, 14}},
	} {
		g := &Group{Last: -1}
		for _, v := range c.times {
			g.addTime(v)
		}
		if g.First != c.first || g.Last != c.last || g.Step != c.step {
			t.Errorf("%v: from %d to %d by %d, want %d to %d by %d", c.times, g.First, g.Last, g.Step, c.first, c.last, c.step)
		}
		for _, v := range c.possible {
			if !g.MayContain(v) || g.HasTime(v) != slices.Contains(c.times, v) {
				t.Errorf("%v: %d is possible: %v, is listed: %v", c.times, v, g.MayContain(v), g.HasTime(v))
			}
		}
		for _, v := range c.never {
			if g.MayContain(v) || g.HasTime(v) {
				t.Errorf("%v: %d is possible: %v, is listed: %v", c.times, v, g.MayContain(v), g.HasTime(v))
			}
		}
	}
	if (*Group)(nil).MayContain(0) || (*Group)(nil).HasTime(0) {
		t.Error("no group has a time")
	}
	for _, c := range [][3]int64{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {12, 18, 6}, {12, -18, 6}, {7, 5, 1}, {6, 3, 3}} {
		if got := gcd(c[0], c[1]); got != c[2] {
			t.Errorf("the greatest common divisor of %d and %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// TestAddedRecords: the leads and times of a group are those of all its records, in any order, and each record is
// reported with its identity.
func TestAddedRecords(t *testing.T) {
	b := batchOf("f", entry{"A", 6, 0, 1}, entry{"B", 6, 0, 1}, entry{"A", 6, 12, 1}, entry{"A", 0, 12, 1}, entry{"B", 3, 0, 1}, entry{"B", 3, 6, 1}, entry{"A", 6, 0, 2})
	c := NewCatalog("s")
	var h record.Hasher
	h.SetBatch(b)
	n := 0
	c.AddEach(b, func(i int, k record.Key) {
		if i != n || k != h.Key(i) {
			t.Errorf("record %d is reported as %d with %x, want %x", n, i, k, h.Key(n))
		}
		n++
	})
	if n != b.Len() {
		t.Errorf("%d records are reported", n)
	}
	want := map[string]struct {
		leads []int32
		valid Moments
		n     int64
	}{"A": {[]int32{0, 21600}, Moments{0, 43200}, 4}, "B": {[]int32{10800, 21600}, Moments{0, 21600}, 3}}
	for _, g := range c.Groups {
		if w := want[g.Model]; !slices.Equal(g.Leads, w.leads) || !slices.Equal(g.Valid, w.valid) || g.Digest.Records != w.n {
			t.Errorf("%s: leads %v, times %v, %d records", g.Model, g.Leads, g.Valid, g.Digest.Records)
		}
	}
	if got := c.Records(); len(got) != 1 || got["SL1L2"] != 7 {
		t.Errorf("records %v", got)
	}
	if c.KeepsConflicts {
		t.Error("the batch does not keep conflicts")
	}
	b.KeepConflicts = true
	c.Add(b)
	b.KeepConflicts = false
	if c.Add(b); !c.KeepsConflicts || c.Records()["SL1L2"] != 21 {
		t.Errorf("keeps conflicts: %v, records %v", c.KeepsConflicts, c.Records())
	}
	empty := NewCatalog("s")
	empty.Add(&record.Batch{KeepConflicts: true})
	if len(empty.Groups) != 0 || empty.KeepsConflicts {
		t.Errorf("of no records: %+v", empty)
	}
}

// TestRowsOfAnArchiveWithoutTimes: an earlier version did not store valid times; the estimate then counts all of them.
func TestRowsOfAnArchiveWithoutTimes(t *testing.T) {
	c := describe("GFS", 1, nil, 0, 6, 12, 18)
	q := &question.Question{Type: mustType("SL1L2"), Valid: question.Times{List: []int64{day, day + 7}}}
	if got := c.estimateRows(q); got != 1 {
		t.Errorf("about %v records at one of four times", got)
	}
	c.Groups[0].Valid = nil
	if got := c.estimateRows(q); got != 4 {
		t.Errorf("about %v records of 4 without known times", got)
	}
}
