package record

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// mprBatch is a batch with one MPR record for each number, and for each text an obs_sid.
func mprBatch(t *testing.T, numbers []float64, stations ...string) *Batch {
	t.Helper()
	lt, ok := TypeByName("MPR")
	if !ok {
		t.Fatal("no MPR")
	}
	b := &Batch{}
	b.Reset(lt, "a.stat")
	head := b.AddHeader(Header{Model: "GFS"})
	fcst, _ := lt.Column("fcst")
	station, _ := lt.Column("obs_sid")
	for i, f := range numbers {
		b.AppendTimes(head, 3600, 7200, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], 1)
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], "x")
		}
		b.Num[fcst.Slot][i] = f
		b.Text[station.Slot][i] = stations[i]
	}
	return b
}

// TestEqualValues: two records have equal values, or Difference names the first column that differs.
func TestEqualValues(t *testing.T) {
	nan, negative := Missing(), math.Copysign(0, -1)
	b := mprBatch(t, []float64{290.1, 290.1, 290.3, nan, nan, 0, negative}, "KDEN", "KORD", "KDEN", "KDEN", "KDEN", "KDEN", "KDEN")
	for _, c := range []struct {
		i, j int
		want string // "" = equal
	}{
		{0, 0, ""},
		{3, 4, ""},
		{5, 6, ""},
		{0, 1, "obs_sid KDEN, not KORD"},
		{1, 0, "obs_sid KORD, not KDEN"},
		{0, 2, "fcst 290.1, not 290.3"},
		{0, 3, "fcst 290.1, not NaN"},
		{4, 5, "fcst NaN, not 0"},
	} {
		if equal := b.EqualValues(c.i, b, c.j); equal != (c.want == "") {
			t.Errorf("rows %d and %d are equal: %t; want the difference %q", c.i, c.j, equal, c.want)
		}
		if c.want != "" && b.Difference(c.i, b, c.j) != c.want {
			t.Errorf("rows %d and %d: %q, want %q", c.i, c.j, b.Difference(c.i, b, c.j), c.want)
		}
	}
	pct := pctBatch(t, 2)
	other := pct.Clone()
	if !pct.EqualValues(1, other, 1) {
		t.Error("a copy has different values")
	}
	other.Group[len(other.Group)-1]++
	if pct.EqualValues(1, other, 1) || pct.Difference(1, other, 1) != "the repeating columns differ" {
		t.Errorf("another value that repeats: %s", pct.Difference(1, other, 1))
	}
}

// TestFilter: a filtered batch has the wanted rows with their headers, and the original is as before.
func TestFilter(t *testing.T) {
	b := mprBatch(t, []float64{1, 2, 3}, "a", "b", "c")
	b.KeepConflicts = true
	b.Headers = append(b.Headers, Header{Model: "NAM"})
	b.HeaderIndex[2] = 1
	got := b.Filter(func(i int) bool { return i > 0 })
	if got.Len() != 2 || got.Header(0)[Model] != "GFS" || got.Header(1)[Model] != "NAM" || !got.KeepConflicts || got.File != "a.stat" {
		t.Errorf("%d rows, models %s and %s", got.Len(), got.Header(0)[Model], got.Header(1)[Model])
	}
	if !got.EqualValues(0, b, 1) || !got.EqualValues(1, b, 2) || b.Len() != 3 || !slices.Equal(got.Line, []uint32{2, 3}) {
		t.Errorf("lines %d", got.Line)
	}
}

// TestRejectShortens: the text of a quarantined line is copied, and at most MaxRejectText bytes of it.
func TestRejectShortens(t *testing.T) {
	var b Batch
	for n, want := range map[int]int{0: 0, MaxRejectText - 1: MaxRejectText - 1, MaxRejectText: MaxRejectText, MaxRejectText + 1: MaxRejectText} {
		text := []byte(strings.Repeat("x", n))
		b.Reject("a.vsdb", 7, "short", text)
		clear(text)
		if r := b.Rejects[len(b.Rejects)-1]; r.Text != strings.Repeat("x", want) || r.Line != 7 || r.File != "a.vsdb" || r.Reason != "short" {
			t.Errorf("%d bytes: %+v", n, r)
		}
	}
}

// TestMultimap: a key has its values in the order of insertion, until Replace or Clear.
func TestMultimap(t *testing.T) {
	var m Multimap[string]
	k, other := Key{Hi: 1}, Key{Lo: 1}
	if _, ok := m.First(k); ok || !m.Empty() || slices.Collect(m.All(k)) != nil {
		t.Error("the zero value has values")
	}
	for _, v := range []string{"a", "b", "c"} {
		m.Put(k, v)
	}
	m.Put(other, "d")
	if first, present := m.PutIfAbsent(k, "e"); first != "a" || !present {
		t.Errorf("PutIfAbsent of a key with values: %q, %t", first, present)
	}
	if _, present := m.PutIfAbsent(Key{Hi: 2}, "f"); present {
		t.Error("PutIfAbsent of a key without values finds one")
	}
	if got := slices.Collect(m.All(k)); !slices.Equal(got, []string{"a", "b", "c"}) || m.Empty() {
		t.Errorf("%q", got)
	}
	for stop := range 3 { // a caller may stop after each value
		n := 0
		for range m.All(k) {
			if n++; n > stop {
				break
			}
		}
		if n != stop+1 {
			t.Errorf("%d values before the stop after %d", n, stop+1)
		}
	}
	m.Replace(k, "g")
	if got := slices.Collect(m.All(k)); !slices.Equal(got, []string{"g"}) {
		t.Errorf("after Replace: %q", got)
	}
	if first, ok := m.First(other); first != "d" || !ok {
		t.Errorf("the other key: %q", first)
	}
	m.Put(k, "h")
	m.Clear()
	if len(slices.Collect(m.All(k))) != 0 || !m.Empty() {
		t.Error("Clear leaves values")
	}
	m.Put(k, "i")
	if got := slices.Collect(m.All(k)); !slices.Equal(got, []string{"i"}) {
		t.Errorf("after Clear: %q", got)
	}
}

// TestRecordKey: SetRow prepares one row as SetBatch does for all. A subset that keeps conflicts identifies a record by
// its values, too.
func TestRecordKey(t *testing.T) {
	b := mprBatch(t, []float64{1, 2, 1}, "a", "a", "a")
	b.Headers = append(b.Headers, Header{Model: "NAM"})
	b.HeaderIndex[2] = 1
	var all, one Hasher
	all.SetBatch(b)
	for _, i := range []int{2, 0, 1} {
		one.SetRow(b, i)
		key, digest := one.KeyAndDigest(i)
		if key != all.Key(i) || digest != all.Digest(i) || one.HeaderKey(i) != all.HeaderKey(i) {
			t.Errorf("row %d: SetRow gives another key or digest than SetBatch", i)
		}
	}
	if all.RecordKey(0, false) != all.RecordKey(1, false) || all.RecordKey(0, false) != all.Key(0) {
		t.Error("two records of one identity have different keys")
	}
	if all.RecordKey(0, true) == all.RecordKey(1, true) || all.RecordKey(0, true) == all.RecordKey(2, true) {
		t.Error("two records have the same key in a subset that keeps conflicts")
	}
}

// TestGaugeIdentifiers: an identifier ends before its zero bytes, and a parameter's first two characters are its
// physical element.
func TestGaugeIdentifiers(t *testing.T) {
	for _, text := range []string{"", "A", "KDEN", "ABCDEFG", "ABCDEFGH"} {
		var id ID
		copy(id[:], text)
		if id.String() != text || id.Len() != len(text) {
			t.Errorf("%q: %q of %d", text, id.String(), id.Len())
		}
	}
	p := Parameter([]byte("HGIRZZZ"))
	if p.PE() != "HG" || p.String() != "HGIRZZZ" {
		t.Errorf("%s, %s", p.PE(), p.String())
	}
	for pe, want := range map[string]bool{"HQ": true, "MD": true, "TV": true, "HG": false, "PP": false, "": false} {
		if HasPairedValues(pe) != want {
			t.Errorf("%q has paired values: %t", pe, !want)
		}
	}
	for v, want := range map[float64]bool{NoValue: true, -9998: false, 9999: false, 0: false} {
		if g := (Gauge{Value: v}); g.IsMissing() != want {
			t.Errorf("%v is missing: %t", v, !want)
		}
	}
}

// TestFieldByName: every field is found by its name, and no other name is.
func TestFieldByName(t *testing.T) {
	for f := range NumFields {
		if got, ok := FieldByName(f.String()); !ok || got != f {
			t.Errorf("%s: %v, %t", f, got, ok)
		}
	}
	if f, ok := FieldByName("vx_masks"); ok {
		t.Errorf("vx_masks is %s", f)
	}
}
