package record

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// orankBatch is a batch of ORANK records, which have texts, numbers and repeating columns. Every column of every row has
// its own value, and no row has plain times.
func orankBatch(t *testing.T, n int) *Batch {
	t.Helper()
	orank, ok := TypeByName("ORANK")
	if !ok {
		t.Fatal("no ORANK")
	}
	b := &Batch{}
	b.Reset(orank, "orank.stat")
	b.AddHeader(DefaultHeader())
	for i := range n {
		b.AppendTimes(0, int32(i)*60, int64(i)*1000, uint32(i+1))
		b.ValidEnd[i], b.ObsLead[i], b.ObsBeg[i], b.ObsEnd[i] = int64(i)*1000+1, int32(i)*60+2, int64(i)*1000+3, int64(i)*1000+4
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(100*i+k))
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], strings.Repeat("t", i+1)+string(rune('a'+k)))
		}
		for k := range i % 3 {
			b.Group = append(b.Group, float64(i)+float64(k)/10)
		}
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	return b
}

// sameRow reports every difference between row i of b and row j of o except their headers.
func sameRow(t *testing.T, what string, b *Batch, i int, o *Batch, j int) {
	t.Helper()
	type times struct {
		lead, obsLead                   int32
		valid, validEnd, obsBeg, obsEnd int64
		line                            uint32
	}
	of := func(b *Batch, i int) times {
		return times{b.Lead[i], b.ObsLead[i], b.Valid[i], b.ValidEnd[i], b.ObsBeg[i], b.ObsEnd[i], b.Line[i]}
	}
	if got, want := of(b, i), of(o, j); got != want {
		t.Errorf("%s: times and line %+v, want %+v", what, got, want)
	}
	for k := range b.Num {
		if b.Num[k][i] != o.Num[k][j] {
			t.Errorf("%s: number %d is %v, want %v", what, k, b.Num[k][i], o.Num[k][j])
		}
	}
	for k := range b.Text {
		if b.Text[k][i] != o.Text[k][j] {
			t.Errorf("%s: text %d is %q, want %q", what, k, b.Text[k][i], o.Text[k][j])
		}
	}
	if !slices.Equal(b.Repeats(i), o.Repeats(j)) {
		t.Errorf("%s: repeating columns %v, want %v", what, b.Repeats(i), o.Repeats(j))
	}
}

// TestAppendRow: a row is appended with every time, its line and every column.
func TestAppendRow(t *testing.T) {
	src := orankBatch(t, 5)
	b := &Batch{}
	b.Reset(src.Type, "")
	b.AddHeader(Header{})
	own := b.AddHeader(DefaultHeader())
	if own != 1 {
		t.Fatalf("the second header has index %d", own)
	}
	for at, i := range []int{4, 1, 2} {
		b.AppendRow(src, i, own)
		sameRow(t, "an appended row", b, at, src, i)
		if b.Len() != at+1 || *b.Header(at) != DefaultHeader() {
			t.Errorf("%d rows, header %q", b.Len(), *b.Header(at))
		}
	}
	for i := range src.Len() {
		if want := int64(i)*1000 - int64(i)*60; src.Init(i) != want {
			t.Errorf("the initialization time is %d, want %d", src.Init(i), want)
		}
	}
	sums := mprBatch(t, []float64{1}, "a")
	if got := sums.Repeats(0); got != nil {
		t.Errorf("repeating columns of a line type without them: %v", got)
	}
}

// TestReplaceRow: a row gets the line and the values of another one, with more, fewer or as many repeating columns. Its
// times and all other rows stay as they are.
func TestReplaceRow(t *testing.T) {
	for i := range 5 {
		for j := range 5 {
			b, before, src := orankBatch(t, 5), orankBatch(t, 5), orankBatch(t, 5)
			for k := range src.Num {
				src.Num[k][j] = -src.Num[k][j] - 1
			}
			b.ReplaceRow(i, src, j)
			for row := range b.Len() {
				if row != i {
					sameRow(t, "another row", b, row, before, row)
				}
			}
			if b.Valid[i] != before.Valid[i] || b.Lead[i] != before.Lead[i] {
				t.Errorf("row %d by row %d: valid time %d, lead %d", i, j, b.Valid[i], b.Lead[i])
			}
			if !b.EqualValues(i, src, j) || b.Line[i] != src.Line[j] {
				t.Errorf("row %d by row %d: %s; line %d", i, j, b.Difference(i, src, j), b.Line[i])
			}
		}
	}
	b, src := mprBatch(t, []float64{1, 2, 3}, "a", "b", "c"), mprBatch(t, []float64{8, 9}, "x", "y")
	b.ReplaceRow(1, src, 1)
	if !b.EqualValues(1, src, 1) || b.Line[1] != 2 {
		t.Errorf("without repeating columns: %s; line %d", b.Difference(1, src, 1), b.Line[1])
	}
	before := mprBatch(t, []float64{1, 2, 3}, "a", "b", "c")
	sameRow(t, "the first row", b, 0, before, 0)
	sameRow(t, "the last row", b, 2, before, 2)
}

// TestReset: nothing of the previous content is left, and the columns are those of the new line type.
func TestReset(t *testing.T) {
	b := orankBatch(t, 3)
	b.Lines, b.KeepConflicts, b.OmittedColumns = 5, true, map[string]int{"x": 1}
	b.Reject("f", 1, "bad", []byte("text"))
	for _, name := range []string{"MPR", "PCT", "ORANK", "SL1L2"} {
		lt, _ := TypeByName(name)
		b.Reset(lt, "g.stat")
		if len(b.Num) != lt.NumCols() || len(b.Text) != lt.TextCols() {
			t.Errorf("%s: %d columns of numbers and %d of texts", name, len(b.Num), len(b.Text))
		}
		v := reflect.ValueOf(*b)
		for i := range v.NumField() {
			switch f, field := v.Field(i), v.Type().Field(i).Name; {
			case field == "Type" || field == "File":
			case field == "Num" || field == "Text":
				for k := range f.Len() {
					if f.Index(k).Len() > 0 {
						t.Errorf("%s: column %d of %s has %d values", name, k, field, f.Index(k).Len())
					}
				}
			case f.Kind() == reflect.Slice && f.Len() == 0 || f.IsZero():
			default:
				t.Errorf("%s: %s is %v", name, field, f)
			}
		}
		if b.Type != lt || b.File != "g.stat" {
			t.Errorf("type %s, file %s", b.Type.Name, b.File)
		}
	}
	if b.Reset(nil, "h"); len(b.Num) != 0 || len(b.Text) != 0 || b.Type != nil {
		t.Errorf("without a line type: %d and %d columns", len(b.Num), len(b.Text))
	}
}

// TestClone: a clone is equal to the batch, and neither its changed values nor its appended rows change the batch.
func TestClone(t *testing.T) {
	b, want := orankBatch(t, 4), orankBatch(t, 4)
	for _, x := range []*Batch{b, want} {
		x.OmittedColumns = map[string]int{"x": 1}
		x.Reject("f", 1, "bad", []byte("text"))
	}
	c := b.Clone()
	if !reflect.DeepEqual(c, want) {
		t.Fatalf("%+v\nwant\n%+v", c, want)
	}
	c.AppendRow(want, 1, 0) // would overwrite a neighbor in shared memory
	for i := range want.Len() {
		sameRow(t, "a row before an appended one", c, i, want, i)
	}
	sameRow(t, "the appended row", c, 4, want, 1)
	c = b.Clone() // the appended row has moved the columns of the first clone
	c.OmittedColumns["x"], c.Rejects[0].Line, c.Headers[0][Model] = 7, 7, "other"
	for i := range c.Len() {
		c.HeaderIndex[i], c.Lead[i], c.Valid[i], c.ValidEnd[i], c.ObsLead[i], c.ObsBeg[i], c.ObsEnd[i], c.Line[i] = 7, 7, 7, 7, 7, 7, 7, 7
		for k := range c.Num {
			c.Num[k][i] = 7
		}
		for k := range c.Text {
			c.Text[k][i] = "other"
		}
		c.GroupEnd[i] = 7
	}
	for k := range c.Group {
		c.Group[k] = 7
	}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("a change of the clone changed the batch: %+v\nwant\n%+v", b, want)
	}
	if empty := (&Batch{}).Clone(); !reflect.DeepEqual(empty, &Batch{}) {
		t.Errorf("a clone of nothing is %+v", empty)
	}
}

// TestPairsOfTheManual: the examples of SplitPair's comment, and its limits.
func TestPairsOfTheManual(t *testing.T) {
	for _, c := range []struct {
		pair  float64
		depth int
		value float64
	}{
		{6.065, 6, 65},
		{-21.0058, 21, -5.8},
		{-2.9999, 2, NoValue},
		{2.9999, 2, 999.9}, // a missing value is negative
		{-3, 3, 0},
		{0.0001, 0, 0.1},
		{1.0000001, 1, 0.0001},
		{NoValue, NoValue, NoValue},
		{MaxPairDepth + 0.1234567, MaxPairDepth, 123.4567},
	} {
		depth, value := SplitPair(c.pair)
		if depth != c.depth || value != c.value || math.Signbit(value) != (c.value < 0) {
			t.Errorf("%v is %v at %d, want %v at %d", c.pair, value, depth, c.value, c.depth)
		}
		if pair := JoinPair(c.depth, c.value); pair != c.pair && c.pair != -3 {
			t.Errorf("%v at %d is %v, want %v", c.value, c.depth, pair, c.pair)
		}
	}
}
