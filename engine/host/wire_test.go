package host

import (
	"bytes"
	"encoding/gob"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// wireValue is a random value, or one whose bits a conversion could change: missing, another NaN, infinite, −0, or the
// smallest and the greatest number.
func wireValue(r *rand.Rand) float64 {
	special := []float64{
		record.Missing(), math.Float64frombits(0xFFF8_0000_0000_0001), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0,
		math.SmallestNonzeroFloat64, math.MaxFloat64,
	}
	if k := r.IntN(2 * len(special)); k < len(special) {
		return special[k]
	}
	return r.NormFloat64()
}

// bits returns the bits of values. NaN differs from itself, and −0 equals 0; their bits do not.
func bits(values []float64) []uint64 {
	return lists.Map(values, math.Float64bits)
}

// wireBatch is a batch of random records with texts of 0 to 299 random bytes.
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
			b.Num[k] = append(b.Num[k], wireValue(r))
		}
		for k := range b.Text {
			text := make([]byte, r.IntN(300))
			for i := range text {
				text[i] = byte(r.IntN(256))
			}
			b.Text[k] = append(b.Text[k], string(text))
		}
		if t.Group != nil {
			b.Group = append(b.Group, wireValue(r), wireValue(r))
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

// TestBatchesOverTheWire: every record of a stream of batches arrives as it was sent, with the same bits in each number,
// although a text is sent once.
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
				{lists.Map(got.Num, bits), lists.Map(sent.Num, bits)},
				{got.Text, sent.Text},
				{bits(got.Group), bits(sent.Group)},
				{got.GroupEnd, sent.GroupEnd},
			} {
				if n > 0 && reflect.ValueOf(columns[1]).Len() > 0 && !reflect.DeepEqual(columns[0], columns[1]) {
					t.Errorf("%s, %d records: %v, sent was %v", name, n, columns[0], columns[1])
				}
			}
		}
	}
}

// TestRowsOverTheWire: the numbers of an answer, and those of its lists, arrive with the same bits.
func TestRowsOverTheWire(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	columns := []question.Column{{Name: "value", Kind: question.Number}, {Name: "list", Kind: question.List}}
	var sent, got answer.Builder
	sent.Reset(columns)
	for i := range 100 {
		sent.Num(0, wireValue(r))
		list := sent.Vector(1)
		for range i % 4 {
			list.Num = append(list.Num, wireValue(r))
		}
		list.End = append(list.End, len(list.Num))
		sent.Row()
	}
	got.Reset(columns)
	var e encoder
	e.rows(&sent.Answer, 0, sent.Rows)
	var d decoder
	if err := d.rows(e.buf, &got); err != nil || got.Rows != sent.Rows {
		t.Fatalf("%d rows of %d, %v", got.Rows, sent.Rows, err)
	}
	for k := range columns {
		g, s := got.Vectors[k], sent.Vectors[k]
		if !slices.Equal(bits(g.Num), bits(s.Num)) || !slices.Equal(g.End, s.End) {
			t.Errorf("%s: %v, sent was %v", columns[k].Name, g, s)
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

// TestImpossibleBatches: a batch whose indices do not fit its other parts is refused, because a reader would panic.
func TestImpossibleBatches(t *testing.T) {
	t.Parallel()
	lt, ok := record.TypeByName("PCT")
	if !ok {
		t.Fatal("PCT")
	}
	for name, change := range map[string]func(b *record.Batch){
		"as sent":                             func(*record.Batch) {},
		"a header that does not exist":        func(b *record.Batch) { b.HeaderIndex[1] = uint32(len(b.Headers)) },
		"a group that ends in the one before": func(b *record.Batch) { b.GroupEnd[2] = b.GroupEnd[1] - 1 },
		"a group beyond all groups":           func(b *record.Batch) { b.GroupEnd[2] = uint32(len(b.Group)) + 1 },
		"fewer groups than records":           func(b *record.Batch) { b.GroupEnd = b.GroupEnd[:2] },
	} {
		b := wireBatch(rand.New(rand.NewPCG(3, 4)), lt, 3)
		change(b)
		var e encoder
		e.batch(b)
		var d decoder
		if err := d.batch(e.buf, &record.Batch{}); (err == nil) != (name == "as sent") || err != nil && !errors.Is(err, errChunk) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDamagedBatches: changed bytes of a message cause an error or other records, and no panic.
func TestDamagedBatches(t *testing.T) {
	lt, _ := record.TypeByName("ORANK")
	r := rand.New(rand.NewPCG(5, 6))
	var e encoder
	e.batch(wireBatch(r, lt, 3))
	for at := range e.buf {
		damaged := slices.Clone(e.buf)
		damaged[at] ^= byte(1 + r.IntN(255))
		var d decoder
		b := &record.Batch{}
		if err := d.batch(damaged, b); err != nil && !errors.Is(err, errChunk) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
	for _, text := range [][]byte{{1}, {2}, {0, 2, 'a'}, {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}} {
		d := decoder{buf: text}
		if got := d.text(); got != "" || !errors.Is(d.err, errChunk) {
			t.Errorf("%v: %q, %v", text, got, d.err)
		}
	}
}

// TestQuestionsOverTheWire: a question keeps its line type and its columns, of which some repeat in a record.
func TestQuestionsOverTheWire(t *testing.T) {
	lt, _ := record.TypeByName("PCT")
	q := &question.Question{Name: "q", Type: lt}
	q.Header[record.Model] = []string{"gfs"}
	q.SelectColumns()
	w, err := newWireQuery(&archive.Query{Question: q, Text: "SELECT", Args: []any{"a", []string{"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	sent := wireQuery{}
	if err := errors.Join(gob.NewEncoder(&b).Encode(w), gob.NewDecoder(&b).Decode(&sent)); err != nil {
		t.Fatal(err)
	}
	got, err := sent.query(nil)
	if err != nil || got.Text != "SELECT" || got.Question.Name != "q" || got.Question.Type != lt || !reflect.DeepEqual(got.Question.Columns, q.Columns) ||
		!reflect.DeepEqual(got.Question.Order, q.Order) || !reflect.DeepEqual(got.Args, []any{"a", []string{"b"}}) {
		t.Errorf("%+v, %v; sent was %+v", got, err, q)
	}
	if q.Type != lt {
		t.Error("the question changed")
	}
	sent.Type = "NO_SUCH_TYPE"
	if _, err := sent.query(nil); err == nil {
		t.Error("an unknown line type is accepted")
	}
	untyped, err := newWireQuery(&archive.Query{Question: &question.Question{Name: "q"}})
	if got, failed := untyped.query(nil); err != nil || failed != nil || got.Question.Type != nil {
		t.Errorf("without a line type: %v, %v", err, failed)
	}
}
