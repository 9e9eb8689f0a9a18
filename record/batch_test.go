package record

import (
	"math"
	"strings"
	"testing"
)

// pctBatch makes a batch of PCT records: repeating columns of changing length.
func pctBatch(t *testing.T, n int) *Batch {
	t.Helper()
	pct, ok := TypeByName("PCT")
	if !ok {
		t.Fatal("no PCT")
	}
	b := &Batch{}
	b.Reset(pct, "f")
	b.AddHeader(DefaultHeader())
	for i := range n {
		b.AppendTimes(0, int32(i)*3600, 0, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(i*10+k))
		}
		for k := range i + 1 {
			b.Group = append(b.Group, float64(k))
		}
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	return b
}

func TestReplaceRowKeepsTheOthers(t *testing.T) {
	b, src := pctBatch(t, 4), pctBatch(t, 6)
	before := [][]float64{b.Clone().Repeats(0), b.Clone().Repeats(2), b.Clone().Repeats(3)}
	b.ReplaceRow(1, src, 5)
	if len(b.Repeats(1)) != 6 || b.Num[0][1] != src.Num[0][5] {
		t.Errorf("row 1 holds %v %v", b.Repeats(1), b.Num[0][1])
	}
	for i, row := range []int{0, 2, 3} {
		if got := b.Repeats(row); len(got) != len(before[i]) {
			t.Errorf("row %d holds %v, held %v", row, got, before[i])
		}
	}
}

func TestDigestDoesNotDependOnOrderAndAddsUp(t *testing.T) {
	b := pctBatch(t, 5)
	var h Hasher
	whole := h.DigestOf(b)
	reversed := &Batch{}
	reversed.Reset(b.Type, "other file")
	reversed.AddHeader(b.Headers[0])
	for i := b.Len() - 1; i >= 0; i-- {
		reversed.AppendRow(b, i, 0)
	}
	if got := h.DigestOf(reversed); got != whole {
		t.Errorf("reversed %v, want %v", got, whole)
	}
	h.SetBatch(b)
	rest := whole
	for i := range b.Len() {
		rest.Sub(h.Digest(i))
	}
	if rest != (Digest{}) {
		t.Errorf("the digests of the rows do not add up: %v is left", rest)
	}
}

func TestDigestSeesEveryValueAndKeySeesIdentityAlone(t *testing.T) {
	var h Hasher
	b := pctBatch(t, 1)
	key, sum := func() Key { h.SetBatch(b); return h.Key(0) }(), h.DigestOf(b)
	for name, change := range map[string]struct {
		f        func(*Batch)
		identity bool
	}{
		"value":         {func(b *Batch) { b.Num[0][0] = math.Nextafter(b.Num[0][0], 1e9) }, false},
		"missing value": {func(b *Batch) { b.Num[0][0] = Missing() }, false},
		"repeat":        {func(b *Batch) { b.Group[0]++ }, false},
		"lead":          {func(b *Batch) { b.Lead[0]++ }, true},
		"valid":         {func(b *Batch) { b.Valid[0]++ }, true},
		"obs window":    {func(b *Batch) { b.ObsEnd[0]++ }, true},
		"header":        {func(b *Batch) { b.Headers[0][VxMask] = "G2" }, true},
		"neighbours":    {func(b *Batch) { b.Headers[0][Model], b.Headers[0][Descr] = "N", "ANA" }, true}, // not NA, NA run together
	} {
		c := b.Clone()
		change.f(c)
		h.SetBatch(c)
		if (h.Key(0) != key) != change.identity || h.DigestOf(c) == sum {
			t.Errorf("%s: identity changed %v, want %v; digest changed %v", name, h.Key(0) != key, change.identity, h.DigestOf(c) != sum)
		}
	}
	zero := b.Clone()
	zero.Num[0][0] = 0
	minus := b.Clone()
	minus.Num[0][0] = math.Copysign(0, -1)
	if h.DigestOf(zero) != h.DigestOf(minus) {
		t.Error("−0 and 0 have different digests, though they compare equal")
	}
}

func TestHeaderCompareIsATotalOrder(t *testing.T) {
	a, b := DefaultHeader(), DefaultHeader()
	b[Alpha] = "0.05"
	if a.Compare(&a) != 0 || a.Compare(&b)*b.Compare(&a) != -1 {
		t.Errorf("%d %d %d", a.Compare(&a), a.Compare(&b), b.Compare(&a))
	}
}

func TestPairs(t *testing.T) {
	for _, v := range []float64{6.065, -21.0058, 1.1353, -2.9999, 0.5, -0.001, 12, NoValue} {
		if at, value := SplitPair(v); JoinPair(at, value) != v {
			t.Errorf("%v is %d and %v, which is %v", v, at, value, JoinPair(at, value))
		}
	}
}

// KeyAndDigest returns what Key and Digest return.
func TestBoth(t *testing.T) {
	typ, _ := TypeByName("MPR") // it has identity columns
	b := &Batch{}
	b.Reset(typ, "a")
	h := b.AddHeader(DefaultHeader())
	b.AppendTimes(h, 0, 0, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], float64(k))
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], "x")
	}
	var hash Hasher
	hash.SetBatch(b)
	if k, d := hash.KeyAndDigest(0); k != hash.Key(0) || d != hash.Digest(0) {
		t.Error(k, d)
	}
}

// A row has plain times if the forecast and the observation have one valid time and the observation has no lead; one other
// time is enough to make them not plain.
func TestHasPlainTimes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *Batch)
		want   bool
	}{
		"one time":             {func(*Batch) {}, true},
		"end of the forecast":  {func(b *Batch) { b.ValidEnd[0]++ }, false},
		"begin of observation": {func(b *Batch) { b.ObsBeg[0]-- }, false},
		"end of observation":   {func(b *Batch) { b.ObsEnd[0]++ }, false},
		"lead of observation":  {func(b *Batch) { b.ObsLead[0] = 3600 }, false},
	} {
		b := pctBatch(t, 1)
		c.change(b)
		if got := b.HasPlainTimes(0); got != c.want {
			t.Errorf("%s: plain times: %v, want %v", name, got, c.want)
		}
	}
}

// UnmarshalText reads what String prints, and refuses every other text.
func TestTextOfDigest(t *testing.T) {
	for _, want := range []Digest{{}, {Hi: 1, Lo: 2, Records: 3}, {Hi: math.MaxUint64, Lo: math.MaxUint64, Records: -4}} {
		var got Digest
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%s is read as %s, %v", want, got, err)
		}
	}
	good := Digest{Hi: 0xab, Lo: 0xcd, Records: 5}.String()
	for _, text := range []string{
		"", "x", good[1:], good[:32], good + "6x", " " + good, good + " ", strings.ToUpper(good), strings.Replace(good, "/5", "/05", 1),
	} {
		if err := new(Digest).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as a digest", text)
		}
	}
}
