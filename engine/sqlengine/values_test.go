package sqlengine

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// TestStorable: text that an engine does not store is refused with its file, line and cure.
func TestStorable(t *testing.T) {
	b := &record.Batch{File: "a.stat", Line: []uint32{7, 9}}
	for _, c := range []struct {
		zero     bool
		text     string
		storable bool
		reason   string
	}{
		{false, "größe", true, ""},
		{true, "größe", true, ""},
		{true, "a\x00b", true, ""},
		{false, "a\x00b", false, "it is not UTF-8 or has a zero byte"},
		{false, "\x00", false, "it is not UTF-8 or has a zero byte"},
		{true, "gr\xf6\xdfe", false, "it is not UTF-8"},
		{false, "gr\xf6\xdfe", false, "it is not UTF-8 or has a zero byte"},
	} {
		s := Storable{Product: "ExampleSQL", ZeroBytes: c.zero}
		inLine, inName := s.Check(b, 1, c.text), s.Subset(c.text)
		if (inLine == nil) != c.storable || (inName == nil) != c.storable {
			t.Errorf("%q, zero bytes %t: %v; %v", c.text, c.zero, inLine, inName)
		}
		if c.storable {
			continue
		}
		for _, err := range []error{inLine, inName} {
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || !strings.HasSuffix(f.Problem, "text that ExampleSQL does not store, because "+c.reason) || f.Cure == "" {
				t.Errorf("%q: %v", c.text, err)
			}
		}
		if f, _ := errors.AsType[*fault.Error](inLine); f.Line != 9 || f.File != "a.stat" {
			t.Errorf("%q: file %s, line %d", c.text, f.File, f.Line)
		}
	}
}

// TestDriverValues: every type that a driver returns becomes a canonical value, and a value of another kind is an error.
func TestDriverValues(t *testing.T) {
	for _, c := range []struct {
		src  any
		want int64
		ok   bool
	}{
		{int64(-7), -7, true},
		{int32(-7), -7, true},
		{int8(3), 3, true},
		{uint16(9), 9, true},
		{7.0, 7, true},
		{[]byte("12"), 12, true},
		{"-12", -12, true},
		{7.5, 0, false},
		{"x", 0, false},
		{[]byte("1.5"), 0, false},
		{nil, 0, false},
		{true, 0, false},
		{time.Time{}, 0, false},
	} {
		if got, err := AsInteger(c.src); got != c.want || (err == nil) != c.ok {
			t.Errorf("integer of %T %v: %d, %v", c.src, c.src, got, err)
		}
	}
	for _, c := range []struct {
		src  any
		want float64
		ok   bool
	}{
		{0.1, 0.1, true},
		{float32(0.5), 0.5, true},
		{int64(3), 3, true},
		{int16(-3), -3, true},
		{uint8(3), 3, true},
		{"1e-3", 0.001, true},
		{[]byte("-2.5"), -2.5, true},
		{"x", 0, false},
		{true, 0, false},
		{time.Time{}, 0, false},
	} {
		if got, err := AsNumber(c.src); got != c.want || (err == nil) != c.ok {
			t.Errorf("number of %T %v: %v, %v", c.src, c.src, got, err)
		}
	}
	if f, err := AsNumber(nil); err != nil || !math.IsNaN(f) {
		t.Errorf("number of NULL: %v, %v", f, err)
	}
	for _, c := range []struct {
		src  any
		want string
		ok   bool
	}{{"a", "a", true}, {[]byte("a"), "a", true}, {[]byte("b"), "b", true}, {int64(-12), "-12", true}, {nil, "", true}, {1.5, "", false}} {
		if got, err := AsText(c.src, "a"); got != c.want || (err == nil) != c.ok {
			t.Errorf("text of %T %v: %q, %v", c.src, c.src, got, err)
		}
	}
	for _, c := range []struct {
		src  any
		want int64
	}{{int64(5), 5}, {time.Unix(7, 5), 7}, {uint32(9), 9}, {"1970-01-02 00:00:01", 86401}, {[]byte("1970-01-02T00:00:01Z"), 86401}} {
		if got, err := AsTime(c.src); err != nil || got != c.want {
			t.Errorf("time of %T %v: %d, %v", c.src, c.src, got, err)
		}
	}
	for _, bad := range []string{
		"2019-01-01 00:00:0x", "2019-01-0100:00:00", "2019-01-01 00-00:00", "2019-01-01 00:00-00", "2019-01x01 00:00:00",
		"2019-00-01 00:00:00", "2019-01-00 00:00:00", "2019-01-32 00:00:00", "2019-01-01T00:00:00z", "2019-01-01 00:00:0",
	} {
		if v, err := AsTime(bad); err == nil || v != 0 {
			t.Errorf("%q is the time %d, %v", bad, v, err)
		}
	}
}

// TestScan: a row is scanned into variables of four types, and the first value of another kind ends the scan.
func TestScan(t *testing.T) {
	var s string
	var n int64
	var i int
	var f float64
	if err := Scan([]any{[]byte("a"), int64(1 << 40), "7", []byte("0.5"), "more"}, &s, &n, &i, &f); err != nil || s != "a" || n != 1<<40 || i != 7 || f != 0.5 {
		t.Errorf("%q %d %d %v: %v", s, n, i, f, err)
	}
	if err := Scan([]any{"x", "b"}, &n, &s); err == nil || s != "a" {
		t.Errorf("an error does not end the scan: %q, %v", s, err)
	}
	var b bool
	if err := Scan([]any{true}, &b); err == nil {
		t.Error("a row is scanned into a bool")
	}
}

// TestAsRepeats: a list, its JSON and NULL are decoded, and appended to earlier values.
func TestAsRepeats(t *testing.T) {
	for _, c := range []struct {
		src  any
		want int
	}{{[]float64{1, 2}, 2}, {"[1,2,3]", 3}, {[]byte("[1]"), 1}, {nil, 0}, {"", 0}} {
		got, err := AsRepeats(c.src, []float64{9})
		if err != nil || len(got) != c.want+1 || got[0] != 9 || c.want > 0 && got[1] != 1 {
			t.Errorf("%v: %v, %v", c.src, got, err)
		}
	}
	for _, bad := range []any{"[1", 1.5} {
		if got, err := AsRepeats(bad, nil); err == nil {
			t.Errorf("%v: %v", bad, got)
		}
	}
}

// TestMissingNumber: METviewer's code for a missing number is NaN, other numbers stay.
func TestMissingNumber(t *testing.T) {
	if !math.IsNaN(missingToNaN(-9999)) || missingToNaN(-9998) != -9998 || missingToNaN(0) != 0 {
		t.Error("-9999 alone is missing")
	}
}

// answers is a server that returns, for each query that contains a key, a column of texts. It counts its queries.
type answers struct {
	texts   map[string][]string
	queries int
}

func (*answers) Exec(context.Context, string, ...any) error { return nil }

func (s *answers) Rows(_ context.Context, text string, _ []any, f func([]any) error) error {
	s.queries++
	for _, cell := range s.texts[text] {
		if err := f([]any{cell}); err != nil {
			return err
		}
	}
	return nil
}

// TestHasTable: a table that was found once is not queried again, a missing one is. A view with the name of a table of
// an archive is refused, one with another name is not.
func TestHasTable(t *testing.T) {
	newArchive := func(views ...string) (*Archive, *answers) {
		s := &answers{texts: map[string][]string{"tables": {"s.stat_header", "s.notes"}, "views": views}}
		return &Archive{
			Pool:           s,
			TablesQuery:    func(string) (string, []any) { return "tables", nil },
			NonTablesQuery: func(string) (string, []any) { return "views", nil },
			ListedName:     func(subset, table string) string { return subset + "." + table },
		}, s
	}
	a, s := newArchive("s.report", "other.line_data_sl1l2")
	for i, c := range []struct {
		table   string
		has     bool
		queries int
	}{{"stat_header", true, 2}, {"stat_header", true, 2}, {"data_file", false, 3}, {"data_file", false, 4}, {"notes", true, 4}} {
		if has, err := a.HasTable(t.Context(), s, "s", c.table); err != nil || has != c.has || s.queries != c.queries {
			t.Errorf("call %d, %s: %t, %v after %d queries; want %t after %d", i, c.table, has, err, s.queries, c.has, c.queries)
		}
	}
	for _, view := range []string{"line_data_sl1l2", "doc_sl1l2", "wide_sl1l2", "stat_header", "data_file", "Barograph_marks"} {
		a, s := newArchive("s." + view)
		if has, err := a.HasTable(t.Context(), s, "s", "stat_header"); has || err == nil || !strings.Contains(err.Error(), "s."+view+" is a view") {
			t.Errorf("%s: %t, %v", view, has, err)
		}
	}
}

// TestMarkAsJSON: a mark that is stored as JSON is read if the digest next to it is its own.
func TestMarkAsJSON(t *testing.T) {
	want := archive.Mark{Path: "a.stat", Digest: "ab", Bytes: 7, Read: 3, Stored: 3, Loaded: time.Unix(5, 0).UTC()}
	text, err := json.Marshal(&want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeMarkJSON([]any{"ab", string(text)}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, row := range [][]any{{"cd", string(text)}, {"ab", "{"}, {1.5, string(text)}} {
		if got, err := decodeMarkJSON(row); err == nil {
			t.Errorf("%v is read as %+v", row, got)
		}
	}
}

// TestDamagedCatalog: a catalog or mark that cannot be read is a damaged archive, with the status of different results.
// An error that is explained already stays.
func TestDamagedCatalog(t *testing.T) {
	if err := corruptError("x", nil); err != nil {
		t.Error(err)
	}
	known := error(&fault.Error{Problem: "is known"})
	if err := corruptError("x", known); err != known { //nolint:errorlint // the same error
		t.Errorf("%v", err)
	}
	err := corruptError("the catalog of subset a", errors.New("unexpected end"))
	if fault.Code(err) != fault.Differs || !strings.Contains(err.Error(), "the catalog of subset a is damaged: unexpected end") {
		t.Errorf("%v, status %d", err, fault.Code(err))
	}
	a := &Archive{Design: design.Wide, Dialect: &flavour.Dialect{Name: "x", Table: func(_, table string) string { return table }}}
	const query = "SELECT catalog FROM barograph_wide_catalog"
	for text, isEmpty := range map[string]bool{"": true, "{": false} {
		c, err := a.readCatalog(t.Context(), &answers{texts: map[string][]string{query: {text}}}, "a")
		if isEmpty != (err == nil) || isEmpty && (c.Subset != "a" || len(c.Groups) > 0) {
			t.Errorf("catalog %q: %+v, %v", text, c, err)
		}
	}
	if c, err := a.readCatalog(t.Context(), &answers{}, "a"); err != nil || c.Subset != "a" {
		t.Errorf("no catalog: %+v, %v", c, err)
	}
}

// TestOwnNames: each design has its own tables in a subset, unless the engine names them.
func TestOwnNames(t *testing.T) {
	a := &Archive{Design: design.Document}
	if got := a.OwnName(MarksTable); got != "barograph_document_marks" {
		t.Error(got)
	}
	a.NameOwn = strings.ToUpper
	if got := a.OwnName(MarksTable); got != "BAROGRAPH_MARKS" {
		t.Error(got)
	}
}

// TestUnknownDesignHasNoTable: a design of another engine has no table, and METviewer's file types follow the name.
func TestUnknownDesignHasNoTable(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	if name, cols, ok := DesignTable(design.KeyValue, lt); ok || name != "" || cols != nil {
		t.Errorf("%q, %v", name, cols)
	}
	for name, want := range map[string]int64{
		"mode_060000L_cts.txt": 2, "mode_obj.txt": 3, "GFS.vsdb": 6, "gfs.vsdb.GZ": 6, "mtd_2d.txt": 8, "mtd_3d_pair_cluster.txt": 9,
		"mtd_3d_pair_simple.txt": 10, "mtd_3d_single_cluster.txt": 11, "mtd_3d_single_simple.txt": 12, "tc.tcst": 13, "a.stat": 7, "": 7,
	} {
		if got := FileKind(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

// TestColumnsThatAlwaysHaveAValue: a column that identifies a document or a record, or one of METviewer's files, is never
// NULL; a number of a record may be.
func TestColumnsThatAlwaysHaveAValue(t *testing.T) {
	optional := func(cols []Column) string {
		var names []string
		for _, c := range cols {
			if !c.NotNull && !c.Primary {
				names = append(names, c.Name)
			}
		}
		return strings.Join(names, " ")
	}
	lt, _ := record.TypeByName("SAL1L2")
	for name, c := range map[string]struct {
		cols []Column
		want string
	}{
		"documents": {DocColumns(), ""}, "headers": {HeaderColumns(), ""}, "files": {FileColumns(), "mod_date"},
	} {
		if got := optional(c.cols); got != c.want {
			t.Errorf("%s: %q may be NULL, want %q", name, got, c.want)
		}
	}
	if got := optional(LineColumns(lt)); !strings.HasPrefix(got, "line_num ") || !strings.Contains(got, "fabar") {
		t.Errorf("lines: %q may be NULL", got)
	}
}
