package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// The name of a table has at most 70 bytes with the longest table; a long subset keeps its first bytes and gets a digest.
func TestNamesOfTables(t *testing.T) {
	for subset, long := range map[string]bool{"": false, "gfs": false, strings.Repeat("a", 30): false, strings.Repeat("a", 31): true, strings.Repeat("é", 16): true} {
		name := tableName(subset, "t")
		if !strings.HasSuffix(name, "/t") || (name == subset+"/t") == long {
			t.Errorf("%q: %q", subset, name)
		}
		if digest := strings.TrimSuffix(name[strings.IndexByte(name, '^')+1:], "/t"); long && (len(digest) != 16 || len(name) != 20+1+16+2) {
			t.Errorf("%q: %q", subset, name)
		}
	}
	if tableName(strings.Repeat("a", 31), "t") == tableName(strings.Repeat("a", 32), "t") {
		t.Error("two subsets have one table")
	}
	if got := tableName("aaaaaaaaaaaaaaaaaaaé"+strings.Repeat("b", 20), "t"); !strings.HasPrefix(got, "aaaaaaaaaaaaaaaaaaa^") {
		t.Errorf("half a letter: %q", got)
	}
	for text, want := range map[string]string{`a'b\`: `'a\'b\\'`, "": "''"} {
		if got := quote(text); got != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	if got := ident(`a"b\`); got != `"a\"b\\"` {
		t.Error(got)
	}
}

// Types are NOT NULL unless a value may be missing; numbers that increase store differences.
func TestTypesOfColumns(t *testing.T) {
	grad, _ := record.TypeByName("GRAD")
	for _, c := range []struct {
		column sqlengine.Column
		want   string
	}{
		{sqlengine.Column{Type: sqlengine.Integer}, "Int32"},
		{sqlengine.Column{Type: sqlengine.BigInt}, "Int64 CODEC(Delta(8), ZSTD(1))"},
		{sqlengine.Column{Type: sqlengine.Count}, "Nullable(Float64)"},
		{sqlengine.Column{Type: sqlengine.Double}, "Nullable(Float64)"},
		{sqlengine.Column{Type: sqlengine.Timestamp, NotNull: true}, "DateTime64(0, 'UTC') CODEC(Delta(8), ZSTD(1))"},
		{sqlengine.Column{Type: sqlengine.Timestamp}, "Nullable(DateTime64(0, 'UTC'))"},
		{sqlengine.Column{Type: sqlengine.Doubles}, "Array(Float64)"},
		{sqlengine.Column{Type: sqlengine.Text, From: sqlengine.Header}, "LowCardinality(String)"},
		{sqlengine.Column{Type: sqlengine.Text, From: sqlengine.Data}, "LowCardinality(String)"},
		{sqlengine.Column{Type: sqlengine.Text, From: sqlengine.DocID}, "String"},
	} {
		if got := typeName(c.column, grad) + codec(c.column); got != c.want {
			t.Errorf("%+v: %s", c.column, got)
		}
	}
	entries := typeName(sqlengine.Column{Type: sqlengine.Entries}, grad)
	if !strings.HasPrefix(entries, "Array(Tuple(fcst_lead Int32, fcst_valid_end Nullable(Int64), obs_lead Nullable(Int32), obs_valid_beg Nullable(Int64), obs_valid_end Nullable(Int64), ") ||
		!strings.HasSuffix(entries, "),\n  entries String EPHEMERAL") || strings.Contains(entries, "repeats") {
		t.Error(entries)
	}
	mpr, _ := record.TypeByName("MPR")
	pct, _ := record.TypeByName("PCT")
	if got := entriesType(mpr); !strings.Contains(got, ", obs_sid String, ") {
		t.Error(got)
	}
	if got := entriesType(pct); !strings.HasSuffix(got, ", repeats Array(Nullable(Float64))))") {
		t.Error(got)
	}
	for n, want := range map[design.Name][]string{
		design.Normalized: {"ORDER BY (stat_header_id, fcst_valid_beg, fcst_lead) SETTINGS"},
		design.Wide:       {"INDEX valid fcst_valid_beg TYPE minmax", "ORDER BY (fcst_var, fcst_lev, vx_mask, model, fcst_valid_epoch, fcst_lead) SETTINGS"},
		design.Document:   {"INDEX valid ", "INDEX epoch ", "ORDER BY id SETTINGS", ", index_granularity = 256"},
	} {
		_, cols, _ := sqlengine.DesignTable(n, grad)
		text := typeTable(n, "t", cols, grad)
		for _, part := range append(want, "CREATE TABLE IF NOT EXISTS t (", "fsync_after_insert = 1") {
			if !strings.Contains(text, part) {
				t.Errorf("%s lacks %q: %s", n, part, text)
			}
		}
	}
	used := []question.Column{{Name: "fbar"}, {Name: "obar"}, {Name: "fbar"}}
	if got := docTable(func(s, t string) string { return s + "." + t })("s", "doc", "x = 1", used); got != "s.doc AS r ARRAY JOIN r.data.fbar AS d_fbar, r.data.obar AS d_obar\n   WHERE x = 1" {
		t.Error(got)
	}
	if got := comparableList("a.", []sqlengine.Column{{Name: "x"}, {Name: "y", Type: sqlengine.Double}, {Name: "z", Type: sqlengine.Count}}); got != "a.x, ifNull(a.y, inf), ifNull(a.z, inf)" {
		t.Error(got)
	}
}

// A plan's table is scanned completely unless an index leaves fewer granules.
func TestAccessesOfAPlan(t *testing.T) {
	plan := strings.Split(`Expression
  ReadFromMergeTree (barograph.s/stat_header)
  Indexes:
    Granules: 3/3
│ └─ ReadFromMergeTree (barograph.s/line_data_sl1l2)
    Granules: 9/9
    Granules: 4/9`, "\n")
	want := []archive.Access{
		{Object: "stat_header", Method: archive.FullScan, Examined: -1, Kept: -1},
		{Object: "line_data_sl1l2", Method: archive.PrunedScan, Examined: -1, Kept: -1},
	}
	if got := accesses("s", plan); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := accesses("s", []string{"Granules: 1/2", "Granules: x"}); got != nil {
		t.Errorf("%+v", got)
	}
}

// Values of ClickHouse's types become those that all SQL engines read; NULL is nil.
func TestValuesOfBlocks(t *testing.T) {
	number, integer, small, text := new(proto.ColFloat64).Nullable(), new(proto.ColInt64).Nullable(), new(proto.ColInt32).Nullable(), new(proto.ColStr).Nullable()
	number.Append(proto.NewNullable(0.5))
	number.Append(proto.Null[float64]())
	integer.Append(proto.NewNullable(int64(7)))
	integer.Append(proto.Null[int64]())
	small.Append(proto.NewNullable(int32(8)))
	small.Append(proto.Null[int32]())
	text.Append(proto.NewNullable("a"))
	text.Append(proto.Null[string]())
	plain := &proto.ColStr{}
	plain.Append("b")
	list := new(proto.ColFloat64).Array()
	list.Append([]float64{1, 2})
	lists := proto.NewArray[proto.Nullable[float64]](new(proto.ColFloat64).Nullable())
	lists.Append([]proto.Nullable[float64]{proto.NewNullable(1.0), proto.Null[float64]()})
	price := new(proto.ColDecimal128).Nullable()
	price.Append(proto.NewNullable(proto.Decimal128{Low: 1205}))
	price.Append(proto.Null[proto.Decimal128]())
	for _, c := range []struct {
		column proto.ColResult
		i      int
		want   string
	}{
		{number, 0, "0.5"},
		{number, 1, "<nil>"},
		{integer, 0, "7"},
		{integer, 1, "<nil>"},
		{text, 0, "a"},
		{text, 1, "<nil>"},
		{small, 0, "8"},
		{small, 1, "<nil>"},
		{plain, 0, "[98]"},
		{list, 0, "[1 2]"},
		{lists, 0, "[1 NaN]"},
		{price, 0, "12.05"},
		{price, 1, "<nil>"},
		{&proto.ColInt64{-3}, 0, "-3"},
		{&proto.ColInt32{-3}, 0, "-3"},
		{&proto.ColUInt64{3}, 0, "3"},
		{&proto.ColUInt8{4}, 0, "4"},
		{&proto.ColFloat64{1.5}, 0, "1.5"},
		{&proto.ColUInt16{4}, 0, "columns of ClickHouse's type UInt16 are not supported"},
	} {
		if got := fmt.Sprint(value(c.column, c.i)); got != c.want {
			t.Errorf("%s: %s, want %s", c.column.Type(), got, c.want)
		}
	}
	for n, want := range map[int64]string{0: "0.00", 5: "0.05", 99: "0.99", 100: "1.00", 1234: "12.34", -5: "-0.05", -1234: "-12.34"} {
		if got := cents(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// A block counts the bytes of texts, lists and documents, because one frame must be shorter than 4 GiB.
func TestBytesOfABlock(t *testing.T) {
	s := newSink([]sqlengine.Column{
		{Name: "a", Type: sqlengine.Text}, {Name: "b", Type: sqlengine.Doubles}, {Name: "c", Type: sqlengine.Entries}, {Name: "d", Type: sqlengine.Double}, {Name: "e", Type: sqlengine.BigInt},
	})
	if got := strings.Join(s.names(), " "); got != "a b entries d e" {
		t.Error(got)
	}
	s.Text(0, "abc")
	s.List(1, []float64{1, 2})
	s.JSON(2, []byte("[1]"))
	s.Number(3, 0.5)
	s.Integer(4, 5)
	if s.bytes != 3+16+3 {
		t.Errorf("%d bytes", s.bytes)
	}
	s.Null(3)
	s.Null(4)
	s.Number(3, math.Inf(1))
	s.Time(4, 86400)
	if n := s.columns[3].Data.Rows(); n != 3 || s.columns[4].Data.Rows() != 3 {
		t.Errorf("%d and %d rows", n, s.columns[4].Data.Rows())
	}
}

// fakeSession is a session that may break.
type fakeSession struct {
	session
	broken, closed bool
}

func (s *fakeSession) usable() bool { return !s.broken }
func (s *fakeSession) close() error { s.closed = true; return nil }

// A pool keeps usable sessions and closes broken ones.
func TestPoolOfSessions(t *testing.T) {
	var made []*fakeSession
	p := &pool{connect: func(context.Context) (session, error) {
		made = append(made, &fakeSession{})
		return made[len(made)-1], nil
	}}
	broken := errors.New("broken")
	use := func(breaks bool) error {
		return p.withSession(t.Context(), func(s session) error {
			if !breaks {
				return nil
			}
			s.(*fakeSession).broken = true
			return broken
		})
	}
	for range 3 {
		if err := use(false); err != nil {
			t.Error(err)
		}
	}
	if err := use(true); !errors.Is(err, broken) || len(made) != 1 || !made[0].closed {
		t.Errorf("%v, %d sessions", err, len(made))
	}
	if err := use(false); err != nil || len(made) != 2 || made[1].closed {
		t.Errorf("%v, %d sessions", err, len(made))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.withSession(ctx, func(session) error { return nil }); !errors.Is(err, context.Canceled) || len(made) != 2 {
		t.Errorf("canceled: %v", err)
	}
	if err := p.Exec(t.Context(), "SELECT ?", 1); err == nil {
		t.Error("arguments are accepted")
	}
	if err := p.close(); err != nil || !made[1].closed || p.idle != nil {
		t.Error(err)
	}
}

// The parameters of a URL and the number of threads are arguments of the library.
func TestArgumentsOfTheLibrary(t *testing.T) {
	d := &database{path: "/a"}
	u, err := url.Parse("clickhouse:a?max_memory_usage=5&other=1")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	got, err := d.arguments(dir, u, engine.Options{Threads: 3})
	config := "--config-file=" + filepath.Join(dir, "config.xml")
	if want := []string{"--path=/a", config, "--max_threads=3", "--max_memory_usage=5"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err = d.arguments(dir, &url.URL{}, engine.Options{}); err != nil || !slices.Equal(got, []string{"--path=/a", config}) {
		t.Errorf("%q, %v", got, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "config.xml"))
	if err != nil || string(text) != "<clickhouse>"+writeConfig+"</clickhouse>" {
		t.Errorf("%s, %v", text, err)
	}
	folder := t.TempDir()
	if Driver().Recognizes(folder, nil) {
		t.Error("an empty folder is recognized")
	}
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "metadata"), 0o700), os.WriteFile(filepath.Join(folder, "metadata", "barograph.sql"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if !Driver().Recognizes(folder, nil) {
		t.Error("a folder with the database is not recognized")
	}
	calls, locked := 0, errors.New("Cannot lock file x")
	if err := retryLocked(func() error { calls++; return locked }); !errors.Is(err, locked) || calls != 4 {
		t.Errorf("%v after %d calls", err, calls)
	}
	calls = 0
	if err := retryLocked(func() error {
		if calls++; calls == 2 {
			return nil
		}
		return locked
	}); err != nil || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
	calls = 0
	if err := retryLocked(func() error { calls++; return os.ErrNotExist }); !errors.Is(err, os.ErrNotExist) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// A file that differs from the released library is refused, with what to do. A stamp of the same file avoids the
// comparison.
func TestSumOfTheLibrary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "package", "libchdb.so")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	err := checkLibrary(path)
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.File != path || !strings.Contains(f.Problem, "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881") || !strings.Contains(f.Cure, "remove "+filepath.Dir(filepath.Dir(path))+" ") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(path + ".checked"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a wrong library was recorded: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for stamp, valid := range map[string]bool{
		fmt.Sprintln(librarySHA256, info.Size(), info.ModTime().UnixNano()):   true,
		fmt.Sprintln(librarySHA256, info.Size()+1, info.ModTime().UnixNano()): false,
		fmt.Sprintln(librarySHA256, info.Size(), info.ModTime().UnixNano()+1): false,
	} {
		if err := os.WriteFile(path+".checked", []byte(stamp), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := checkLibrary(path); (err == nil) != valid {
			t.Errorf("stamp %q: %v", stamp, err)
		}
	}
	if err := checkLibrary(path + ".none"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
