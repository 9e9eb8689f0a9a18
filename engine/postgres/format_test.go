package postgres

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestStreamOfCopy: a COPY is the signature of PostgreSQL's binary format, the rows, and -1 as the number of fields,
// however the reader cuts it. An error of a row ends it.
func TestStreamOfCopy(t *testing.T) {
	rows := func(n, size int) func(dst []byte) ([]byte, error) {
		return func(dst []byte) ([]byte, error) {
			if n--; n < 0 {
				return dst, io.EOF
			}
			return append(dst, bytes.Repeat([]byte{byte(n)}, size)...), nil
		}
	}
	const signature = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	for _, c := range []struct{ n, size int }{{0, 1}, {1, 1}, {3, 10}, {2, copyChunk}, {5, copyChunk/2 + 1}} {
		var want []byte
		for i := range c.n {
			want = append(want, bytes.Repeat([]byte{byte(c.n - 1 - i)}, c.size)...)
		}
		text := signature + string(want) + "\xff\xff"
		for name, r := range map[string]io.Reader{
			"complete": newCopyReader(rows(c.n, c.size)), "byte by byte": iotest.OneByteReader(newCopyReader(rows(c.n, c.size))),
			"half": iotest.HalfReader(newCopyReader(rows(c.n, c.size))),
		} {
			if got, err := io.ReadAll(r); err != nil || string(got) != text {
				t.Errorf("%d rows of %d bytes, %s: %d bytes, %v; want %d", c.n, c.size, name, len(got), err, len(text))
			}
		}
	}
	broken := errors.New("broken")
	if got, err := io.ReadAll(newCopyReader(func([]byte) ([]byte, error) { return nil, broken })); !errors.Is(err, broken) || string(got) != signature {
		t.Errorf("%q, %v", got, err)
	}
	// the reader encodes at most one row beyond a chunk before the bytes are read
	made := 0
	r := newCopyReader(func(dst []byte) ([]byte, error) { made++; return append(dst, make([]byte, copyChunk/4)...), nil })
	buffer := make([]byte, len(copySignature)+1)
	for range 2 {
		if _, err := r.Read(buffer); err != nil {
			t.Fatal(err)
		}
	}
	if made != 4 || copyChunk != 65536 {
		t.Errorf("%d rows were encoded for a chunk", made)
	}
	g := &gate{r: strings.NewReader("abc")}
	if n, err := g.Read(make([]byte, 2)); n != 2 || err != nil {
		t.Error(n, err)
	}
	if g.shut = true; true {
		if n, err := g.Read(make([]byte, 2)); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Error(n, err)
		}
	}
}

// TestValuesOfCopy: values have a length of 32 bits and are big-endian; NULL has the length -1. Timestamps are
// microseconds since 2000-01-01; arrays have dimensions, a flag, the type, a length and a lower bound.
func TestValuesOfCopy(t *testing.T) {
	row := &copyRow{cols: []sqlengine.Column{{Type: sqlengine.Integer}, {Type: sqlengine.BigInt}}}
	for name, c := range map[string]struct {
		put  func()
		want string
	}{
		"null":          {func() { row.Null(0) }, "\xff\xff\xff\xff"},
		"text":          {func() { row.Text(0, "ab") }, "\x00\x00\x00\x02ab"},
		"integer":       {func() { row.Integer(0, -2) }, "\x00\x00\x00\x04\xff\xff\xff\xfe"},
		"bigint":        {func() { row.Integer(1, 258) }, "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x01\x02"},
		"double":        {func() { row.Number(0, 1) }, "\x00\x00\x00\x08\x3f\xf0\x00\x00\x00\x00\x00\x00"},
		"time":          {func() { row.Time(0, 946684800) }, "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00"},
		"a second":      {func() { row.Time(0, 946684801) }, "\x00\x00\x00\x08\x00\x00\x00\x00\x00\x0f\x42\x40"},
		"before 2000":   {func() { row.Time(0, 946684799) }, "\x00\x00\x00\x08\xff\xff\xff\xff\xff\xf0\xbd\xc0"},
		"empty array":   {func() { row.List(0, nil) }, "\x00\x00\x00\x0c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\xbd"},
		"array":         {func() { row.List(0, []float64{1}) }, "\x00\x00\x00\x20\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x02\xbd\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x08\x3f\xf0\x00\x00\x00\x00\x00\x00"},
		"jsonb":         {func() { row.JSON(0, []byte("[]")) }, "\x00\x00\x00\x03\x01[]"},
		"a large array": {func() { row.List(0, make([]float64, 2)); row.dst = row.dst[:4] }, "\x00\x00\x00\x2c"},
	} {
		row.dst = nil
		if c.put(); string(row.dst) != c.want {
			t.Errorf("%s: %q, want %q", name, row.dst, c.want)
		}
	}
	if got := floats(appendFloats(nil, []float64{1, -2.5, 3})[4:], []float64{9}); !slices.Equal(got, []float64{9, 1, -2.5, 3}) {
		t.Errorf("%v", got)
	}
	withNull := append(appendFloats(nil, []float64{1})[4:], 0xff, 0xff, 0xff, 0xff)
	if got := floats(withNull, nil); len(got) != 2 || got[0] != 1 || !math.IsNaN(got[1]) {
		t.Errorf("%v", got)
	}
	if got := floats(appendFloats(nil, nil)[4:], nil); got != nil {
		t.Errorf("an empty array: %v", got)
	}
}

// TestValuesOfReplies: values are decoded by their type. Another type, or a NULL that no column may be, is refused.
func TestValuesOfReplies(t *testing.T) {
	big := func(v int64) []byte { return appendBig(nil, v)[4:] }
	for _, c := range []struct {
		raw  []byte
		oid  uint32
		want int64
		ok   bool
	}{
		{big(-5), pgtype.Int8OID, -5, true},
		{appendInt(nil, -5)[4:], pgtype.Int4OID, -5, true},
		{big(-5), pgtype.Int4OID, 0, false},
		{appendInt(nil, 5)[4:], pgtype.Int8OID, 0, false},
		{nil, pgtype.Int8OID, 0, false},
		{big(5), pgtype.TextOID, 0, false},
	} {
		if v, ok := integer(c.raw, c.oid); v != c.want || ok != c.ok {
			t.Errorf("integer %v of type %d: %d, %t", c.raw, c.oid, v, ok)
		}
	}
	for us, want := range map[int64]int64{0: 946684800, 1_000_000: 946684801, 1: 946684800, -1: 946684799, -1_000_000: 946684799, -1_000_001: 946684798} {
		if v, ok := moment(big(us), pgtype.TimestampOID); v != want || !ok {
			t.Errorf("%d microseconds: %d, %t", us, v, ok)
		}
	}
	if v, ok := moment(big(7), pgtype.Int8OID); v != 7 || !ok {
		t.Errorf("an epoch: %d", v)
	}
	if _, ok := moment(big(7)[:4], pgtype.TimestampOID); ok {
		t.Error("half a timestamp")
	}
	if f, ok := number(appendFloat(nil, 0.5)[4:], pgtype.Float8OID); f != 0.5 || !ok {
		t.Errorf("%v", f)
	}
	if f, ok := number(appendInt(nil, 3)[4:], pgtype.Int4OID); f != 3 || !ok {
		t.Errorf("%v", f)
	}
	if _, ok := number(appendFloat(nil, 0.5)[4:], pgtype.Float4OID); ok {
		t.Error("another type is a number")
	}
}

// TestCellsOfReplies: the binary format and the text format of the simple protocol give the same values.
func TestCellsOfReplies(t *testing.T) {
	lt, _ := record.TypeByName("GRAD")
	newDecoder := func(kind question.Kind) (*sqlengine.ResultDecoder, *answer.Builder, *question.Column) {
		q := &question.Question{Type: lt, Columns: []question.Column{{Name: "c", Kind: kind, Role: question.Data}}}
		into := &answer.Builder{}
		into.Reset(q.Columns)
		return sqlengine.NewResultDecoder(design.Wide, &archive.Query{Question: q}, into), into, &q.Columns[0]
	}
	binaryField := func(oid uint32) pgconn.FieldDescription {
		return pgconn.FieldDescription{DataTypeOID: oid, Format: pgtype.BinaryFormatCode}
	}
	textField := func(oid uint32) pgconn.FieldDescription {
		return pgconn.FieldDescription{DataTypeOID: oid, Format: pgtype.TextFormatCode}
	}
	for name, c := range map[string]struct {
		kind  question.Kind
		field pgconn.FieldDescription
		raw   []byte
		want  string // "" = refused
	}{
		"text":                   {question.Text, textField(pgtype.TextOID), []byte("GFS"), "[GFS]"},
		"no text":                {question.Text, textField(pgtype.Int4OID), []byte("1"), ""},
		"number":                 {question.Number, binaryField(pgtype.Float8OID), appendFloat(nil, 0.5)[4:], "[0.5]"},
		"number as text":         {question.Number, textField(pgtype.Float8OID), []byte("0.5"), "[0.5]"},
		"bad number":             {question.Number, textField(pgtype.Float8OID), []byte("x"), ""},
		"missing number":         {question.Number, binaryField(pgtype.Float8OID), nil, "[NaN]"},
		"missing number as text": {question.Number, textField(pgtype.Float8OID), nil, "[NaN]"},
		"time":                   {question.Time, binaryField(pgtype.TimestampOID), appendTime(nil, 86400)[4:], "[86400]"},
		"time as text":           {question.Time, textField(pgtype.TimestampOID), []byte("1970-01-02 00:00:00"), "[86400]"},
		"bad time":               {question.Time, textField(pgtype.TimestampOID), []byte("1970-01-02"), ""},
		"epoch":                  {question.Time, binaryField(pgtype.Int8OID), appendBig(nil, 86400)[4:], "[86400]"},
		"epoch as text":          {question.Time, textField(pgtype.Int8OID), []byte("86400"), "[86400]"},
		"missing time":           {question.Time, textField(pgtype.TimestampOID), nil, ""},
		"lead":                   {question.Duration, binaryField(pgtype.Int4OID), appendInt(nil, 3600)[4:], "[3600]"},
		"lead as text":           {question.Duration, textField(pgtype.Int4OID), []byte("3600"), "[3600]"},
		"a time is no lead":      {question.Duration, textField(pgtype.TimestampOID), []byte("1970-01-02 00:00:00"), ""},
		"missing lead":           {question.Duration, binaryField(pgtype.Int4OID), nil, ""},
		"bad lead":               {question.Duration, textField(pgtype.Int4OID), []byte("1.5"), ""},
		"no list":                {question.List, binaryField(pgtype.TextOID), nil, ""},
	} {
		d, into, column := newDecoder(c.kind)
		ok := decodeCell(d, 0, column, &c.field, c.raw)
		if ok != (c.want != "") {
			t.Errorf("%s: accepted %t", name, ok)
		}
		if !ok {
			continue
		}
		v := into.Vector(0)
		got := fmt.Sprint(v.Num)
		switch c.kind {
		case question.Text:
			got = fmt.Sprint(v.Text)
		case question.Time, question.Duration:
			got = fmt.Sprint(v.Seconds)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestIndexesOfPartitions: partitions that follow one another have different tablespaces, also before 1970.
func TestIndexesOfPartitions(t *testing.T) {
	for _, c := range []struct {
		p    partitioning
		name string
		want int
	}{
		{partitioning{hash: 8}, "5", 5},
		{partitioning{period: "day"}, "19700103", 2},
		{partitioning{period: "day"}, "19600101", 0},
		{partitioning{period: "month"}, "20190301", 12*2019 + 3},
		{partitioning{period: "year"}, "20190101", 2019},
	} {
		if got := c.p.index(c.name); got != c.want {
			t.Errorf("%+v %s: %d, want %d", c.p, c.name, got, c.want)
		}
	}
	lt, _ := record.TypeByName("GRAD")
	c := &design.Catalog{Groups: []*design.Group{{LineType: "GRAD", First: 0, Last: 3 * 86400, Step: 2 * 86400}, {LineType: "SL1L2", First: 9 * 86400, Last: 9 * 86400}}}
	if got := (partitioning{period: "day"}).periods(c, lt); !slices.Equal(got, []int64{0, 2 * 86400}) {
		t.Errorf("days with records: %v", got)
	}
	if got := (partitioning{period: "month"}).periods(c, lt); !slices.Equal(got, []int64{0}) {
		t.Errorf("months: %v", got)
	}
	if (partitioning{hash: 2}).periods(c, lt) != nil || (partitioning{period: "day"}).periods(nil, lt) != nil {
		t.Error("partitions by hash, and of no records")
	}
	for text, want := range map[string]string{`a'\`: `'a''\\'::bytea`, "é": `'\xc3a9'::bytea`, "\x7f": "'\x7f'::bytea"} {
		if got := byteLiteral(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
