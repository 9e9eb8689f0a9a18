package host

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/barograph/barograph/record"
)

// wireBatch is a batch of random records, some with missing values and with texts of every length.
func wireBatch(r *rand.Rand, t *record.LineType, n int) *record.Batch {
	b := &record.Batch{}
	b.Reset(t, "a.stat")
	h := record.DefaultHeader()
	for i := range 3 {
		h[record.Model] = "model " + strconv.Itoa(i)
		b.AddHeader(h)
	}
	for i := range n {
		b.AppendTimes(uint32(r.IntN(3)), int32(r.IntN(100))*3600, int64(r.IntN(1e9))-5e8, uint32(i))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], r.NormFloat64())
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], string(make([]byte, r.IntN(300))))
		}
		if t.Group != nil {
			b.Group = append(b.Group, r.Float64(), math.Inf(1))
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

// TestBatchesOverTheWire: every record of a stream of batches arrives as it was sent, although a text is sent once.
func TestBatchesOverTheWire(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var e encoder
	var d decoder
	for _, name := range []string{"SL1L2", "PCT", "CTS", "ORANK", "SL1L2"} {
		lt, ok := record.TypeByName(name)
		if !ok {
			t.Fatal(name)
		}
		for _, n := range []int{0, 1, 200} {
			sent, got := wireBatch(r, lt, n), &record.Batch{}
			e.buf = nil
			e.batch(sent)
			if err := d.batch(slices.Clone(e.buf), got); err != nil {
				t.Fatalf("%s, %d records: %v", name, n, err)
			}
			if got.Type != sent.Type || got.File != sent.File || got.Len() != n || !slices.Equal(got.Headers, sent.Headers) {
				t.Fatalf("%s: %d records of %v, sent were %d", name, got.Len(), got.Type, n)
			}
			for _, columns := range [][2]any{
				{got.HeaderIndex, sent.HeaderIndex},
				{got.Lead, sent.Lead},
				{got.Valid, sent.Valid},
				{got.ValidEnd, sent.ValidEnd},
				{got.ObsLead, sent.ObsLead},
				{got.ObsBeg, sent.ObsBeg},
				{got.ObsEnd, sent.ObsEnd},
				{got.Line, sent.Line},
				{got.Num, sent.Num},
				{got.Text, sent.Text},
				{got.Group, sent.Group},
				{got.GroupEnd, sent.GroupEnd},
			} {
				if n > 0 && reflect.ValueOf(columns[1]).Len() > 0 && !reflect.DeepEqual(columns[0], columns[1]) {
					t.Errorf("%s, %d records: %v, sent was %v", name, n, columns[0], columns[1])
				}
			}
		}
	}
}

// TestMalformedBatches: a truncated message, or one with an unknown line type, is an error and no panic.
func TestMalformedBatches(t *testing.T) {
	lt, _ := record.TypeByName("ORANK")
	var e encoder
	e.batch(wireBatch(rand.New(rand.NewPCG(3, 4)), lt, 5))
	for n := range e.buf {
		var d decoder
		if err := d.batch(slices.Clone(e.buf[:n]), &record.Batch{}); !errors.Is(err, errChunk) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(e.buf), err)
		}
	}
	var unknown encoder
	unknown.text("NO_SUCH_TYPE")
	var d decoder
	if err := d.batch(unknown.buf, &record.Batch{}); !errors.Is(err, errChunk) {
		t.Errorf("an unknown line type: %v", err)
	}
}
