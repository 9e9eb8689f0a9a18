package record

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"
)

// TestEncodingOfDigests: archives store digests and keys, and a later version must compute the same ones. The bytes
// below are written by hand: the name of the line type, the digest of the header, all times, the columns of the
// identity, then the other columns and the repeating ones. Numbers have eight bytes, a text has its length in four.
func TestEncodingOfDigests(t *testing.T) {
	number := func(b []byte, values ...float64) []byte {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	text := func(b []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	header := DefaultHeader()
	header[Model], header[Descr] = "GFS", strings.Repeat("d", 300)
	var of []byte
	for _, s := range header {
		of = append(binary.LittleEndian.AppendUint16(of, uint16(len(s))), s...)
	}
	headerKey := xxh3.Hash128(of)
	begin := func(name string) []byte {
		b := []byte(name)
		for _, v := range []int64{int64(headerKey.Hi), int64(headerKey.Lo), 3600, 7200, 7201, -60, 7100, 7300} {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		return b
	}
	for _, c := range []struct {
		lineType         string
		fill             func(b *Batch)
		identity, values func(b []byte) []byte
	}{
		{
			"SEEPS_MPR", func(b *Batch) {
				b.Text = [][]string{{"KDEN"}, {"NA"}}
				b.Num = [][]float64{{40}, {-105}, {math.Copysign(0, -1)}, {2}, {0}, {1}, {0.5}, {0.25}, {3}, {4}, {5}}
			},
			func(b []byte) []byte { return number(text(b, "KDEN"), 40, -105) },
			// −0 counts as 0
			func(b []byte) []byte { return number(text(number(b, 0, 2), "NA"), 0, 1, 0.5, 0.25, 3, 4, 5) },
		},
		{
			"RHIST", func(b *Batch) {
				b.Num, b.Group, b.GroupEnd = [][]float64{{9}, {2}}, []float64{4, math.Float64frombits(0xfff8_0000_0000_0077)}, []uint32{2}
			},
			func(b []byte) []byte { return b },
			func(b []byte) []byte { return number(b, 9, 2, 4, math.NaN()) }, // all NaN are equal
		},
	} {
		lt, _ := TypeByName(c.lineType)
		b := &Batch{}
		b.Reset(lt, "")
		b.AppendTimes(b.AddHeader(header), 3600, 7200, 1)
		b.ValidEnd[0], b.ObsLead[0], b.ObsBeg[0], b.ObsEnd[0] = 7201, -60, 7100, 7300
		c.fill(b)
		identity := c.identity(begin(c.lineType))
		key, all := xxh3.Hash128(identity), xxh3.Hash128(c.values(identity))
		var h Hasher
		h.SetBatch(b)
		for range 2 { // the hasher reuses its memory
			if got := h.Key(0); got != key {
				t.Errorf("%s: key %x, want %x", c.lineType, got, key)
			}
			if got := h.Digest(0); got != (Digest{Hi: all.Hi, Lo: all.Lo, Records: 1}) {
				t.Errorf("%s: digest %s, want %x", c.lineType, got, all)
			}
			if got := h.HeaderKey(0); got != headerKey {
				t.Errorf("%s: header %x, want %x", c.lineType, got, headerKey)
			}
		}
	}
}

// TestLongFields: a field of 256 zero bytes is not taken for an empty one that such a field follows.
func TestLongFields(t *testing.T) {
	one, other := DefaultHeader(), DefaultHeader()
	one[Model], one[Descr] = strings.Repeat("\x00", 256), ""
	other[Model], other[Descr] = "", strings.Repeat("\x00", 256)
	a, scratch := one.hash(nil)
	if b, _ := other.hash(scratch); a == b {
		t.Error("two different headers have one digest")
	}
}

// TestDigestsAddUp: sums are modulo 2¹²⁸, with a carry from the lower half to the upper one.
func TestDigestsAddUp(t *testing.T) {
	const most = math.MaxUint64
	for _, c := range []struct{ a, b, sum Digest }{
		{Digest{1, 2, 3}, Digest{10, 20, 30}, Digest{11, 22, 33}},
		{Digest{0, most, 1}, Digest{0, 1, 1}, Digest{1, 0, 2}},
		{Digest{most, most, 1}, Digest{0, 1, -1}, Digest{0, 0, 0}},
		{Digest{most, 5, 1}, Digest{2, most, 0}, Digest{2, 4, 1}},
	} {
		sum := c.a
		if sum.Add(c.b); sum != c.sum {
			t.Errorf("%s + %s = %s, want %s", c.a, c.b, sum, c.sum)
		}
		if sum.Sub(c.b); sum != c.a {
			t.Errorf("%s − %s = %s, want %s", c.sum, c.b, sum, c.a)
		}
	}
}

// TestDigestInJSON: a digest is one text in JSON, and an error names the text that is not one.
func TestDigestInJSON(t *testing.T) {
	text, err := json.Marshal(map[string]Digest{"held": {Hi: 0x1f, Lo: 2, Records: 30}})
	if want := `{"held":"000000000000001f0000000000000002/30"}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	var back map[string]Digest
	if err := json.Unmarshal(text, &back); err != nil || back["held"] != (Digest{0x1f, 2, 30}) {
		t.Errorf("%v, %v", back, err)
	}
	if err := new(Digest).UnmarshalText([]byte("12/3")); err == nil || err.Error() != `"12/3" is not a digest of records` {
		t.Error(err)
	}
}

// TestDefaultHeader: every field has the text for an absent value.
func TestDefaultHeader(t *testing.T) {
	for f, text := range DefaultHeader() {
		want := "NA"
		if Field(f) == InterpPnts {
			want = "0"
		}
		if text != want {
			t.Errorf("%s is %q, want %q", Field(f), text, want)
		}
	}
	var a, b Header
	a[Version], b[Version] = "V10", "V9" // bytewise, and the first field that differs decides
	a[Alpha], b[Alpha] = "2", "1"
	if a.Compare(&b) >= 0 {
		t.Errorf("V10 and V9: %d", a.Compare(&b))
	}
}

// TestIdentityColumns: the columns that distinguish the records of one header and time, in their order.
func TestIdentityColumns(t *testing.T) {
	for _, lt := range Types() {
		var names []string
		for _, c := range lt.IdentityColumns() {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); got != identities[lt.Name] {
			t.Errorf("%s: %q, want %q", lt.Name, got, identities[lt.Name])
		}
	}
	if lt, ok := TypeByName("SL1L3"); ok {
		t.Errorf("SL1L3 is %s", lt.Name)
	}
}

// TestColumnLists: the signs of a list of columns.
func TestColumnLists(t *testing.T) {
	got := columns("a *b# c$ *d$ e~ f±")
	want := []Column{
		{Name: "a"},
		{Name: "b", Kind: Count, InIdentity: true},
		{Name: "c", Kind: Text},
		{Name: "d", Kind: Text, InIdentity: true},
		{Name: "e"},
		{Name: "e_bcl"},
		{Name: "e_bcu"},
		{Name: "f"},
		{Name: "f_ncl"},
		{Name: "f_ncu"},
		{Name: "f_bcl"},
		{Name: "f_bcu"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("column %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestGroupsOfFewRepetitions: no count makes a negative number of values, and the texts describe the lengths.
func TestGroupsOfFewRepetitions(t *testing.T) {
	for _, c := range []struct {
		g     *Group
		times string
		want  map[int]int
	}{
		{repeatedGroup("n", "x", "y"), "n times", map[int]int{-2: 0, -1: 0, 0: 0, 1: 2, 3: 6}},
		{binnedGroup("n", "x", "y", "z"), "n - 1 times, then once more the first one", map[int]int{-1: 0, 0: 0, 1: 1, 2: 4, 3: 7}},
		{squareGroup("n", "x"), "n * n times", map[int]int{0: 0, 1: 1, 3: 9}},
	} {
		for n, want := range c.want {
			if got := c.g.Len(n); got != want {
				t.Errorf("%s: %d values for n = %d, want %d", c.times, got, n, want)
			}
		}
		if c.g.Times != c.times {
			t.Errorf("%s, want %s", c.g.Times, c.times)
		}
	}
}
