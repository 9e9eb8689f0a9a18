package sqlengine

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/kv"
)

// textSession is a session whose statements record their texts and arguments, and return one row: for each column that
// the text selects, its name.
type textSession struct{ args [][]byte }

func (s *textSession) Prepare(_ context.Context, text string) (Statement, error) {
	return &textStatement{s, text}, nil
}
func (*textSession) DuplicateKey(error) bool { return false }
func (*textSession) Close() error            { return nil }

type textStatement struct {
	s    *textSession
	text string
}

func (st *textStatement) Exec(_ context.Context, args [][]byte) (int64, error) {
	st.s.args = slices.Clone(args)
	return 1, nil
}

func (st *textStatement) Query(_ context.Context, _ [][]byte, _ int, each func(values [][]byte) error) error {
	columns, _, _ := strings.Cut(strings.TrimPrefix(st.text, "SELECT "), " FROM ")
	var values [][]byte
	for name := range strings.SplitSeq(columns, ", ") {
		values = append(values, []byte(name))
	}
	return each(values)
}

// fakeKVConn connects to a table of 50 fields over a textSession.
func fakeKVConn(t *testing.T, s *textSession) *kv.Conn {
	t.Helper()
	d := &KVDialect{
		Quote: func(name string) string { return name }, Param: func(i int) string { return "$" + strconv.Itoa(i) }, MaxParams: 1000,
	}
	table := kv.Table{Name: "t", Layout: kv.Columns}
	for i := range 50 {
		table.Fields = append(table.Fields, fmt.Sprintf("field%d", i))
	}
	r, err := OpenKV(t.Context(), d, table, func(context.Context) (Session, error) { return s, nil })
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestReadsChosenFields: after a read of all fields, a read of one field returns that field.
func TestReadsChosenFields(t *testing.T) {
	c := fakeKVConn(t, &textSession{})
	var row kv.Row
	if err := c.Read(t.Context(), []byte("k"), nil, &row); err != nil || row.Len() != 50 {
		t.Fatalf("%d fields, %v", row.Len(), err)
	}
	for field := range 50 {
		row.Reset()
		if err := c.Read(t.Context(), []byte("k"), kv.Fields{field}, &row); err != nil {
			t.Fatal(err)
		}
		if v, _ := row.Value(field); row.Len() != 1 || string(v) != fmt.Sprintf("field%d", field) {
			t.Errorf("field %d is %q", field, v)
		}
	}
}

// TestWritesEmptyTexts: an empty text does not become NULL, in an insert or in an update.
func TestWritesEmptyTexts(t *testing.T) {
	s := &textSession{}
	c := fakeKVConn(t, s)
	for name, write := range map[string]func(context.Context, []byte, *kv.Row) error{"insert": c.Insert, "update": c.Update} {
		var row kv.Row // has no memory yet
		row.AddString(0, "")
		if err := write(t.Context(), []byte("k"), &row); err != nil {
			t.Fatal(err)
		}
		values := s.args[:1]
		if name == "insert" {
			values = s.args[1:2]
		}
		if values[0] == nil {
			t.Errorf("%s writes NULL", name)
		}
	}
}
