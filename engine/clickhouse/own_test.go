package clickhouse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/answer"
)

// TestCells: columnReader reads a column of a result by its type. It returns no reader for a type that it does not
// support, so the query is refused.
func TestCells(t *testing.T) {
	noon := time.Date(2019, 1, 1, 12, 0, 0, 0, time.UTC)
	whole := proto.NewColNullable(new(proto.ColInt64))
	whole.AppendArr([]proto.Nullable[int64]{proto.NewNullable(int64(7)), {}})
	money := proto.NewColNullable(new(proto.ColDecimal64))
	money.AppendArr([]proto.Nullable[proto.Decimal64]{proto.NewNullable(proto.Decimal64(-5)), {}})
	wide := proto.ColDecimal256{{Low: proto.UInt128{Low: 1}}, {Low: proto.UInt128{Low: 1<<64 - 100, High: 1<<64 - 1}, High: proto.UInt128{Low: 1<<64 - 1, High: 1<<64 - 1}}}
	moment := new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro).WithLocation(time.UTC)
	moment.Append(noon)
	nothing := proto.NewColNullable(new(proto.ColNothing))
	nothing.Append(proto.Nullable[proto.Nothing]{})
	text := proto.NewLowCardinality(new(proto.ColStr))
	text.Append("GFS")
	for name, test := range map[string]struct {
		column proto.ColResult
		want   []any
	}{
		"whole":    {whole, []any{int64(7), nil}},
		"byte":     {&proto.ColUInt8{1, 0}, []any{uint8(1), uint8(0)}},
		"float":    {&proto.ColFloat64{0.1}, []any{0.1}},
		"bool":     {&proto.ColBool{true}, []any{true}},
		"decimal":  {money, []any{answer.Decimal("-0.05"), nil}},
		"wide":     {&wide, []any{answer.Decimal("0.01"), answer.Decimal("-1.00")}},
		"sum":      {&proto.ColInt128{{Low: 12, High: 0}}, []any{answer.Decimal("12")}},
		"moment":   {moment, []any{noon}},
		"nothing":  {nothing, []any{nil}},
		"array":    {&proto.ColArr[int64]{Data: &proto.ColInt64{1, 2}, Offsets: proto.ColUInt64{2}}, []any{[]int64{1, 2}}},
		"map":      {proto.NewMap[string, string](new(proto.ColStr), new(proto.ColStr)), nil},
		"unsigned": {&proto.ColUInt128{{Low: 1}}, nil},
	} {
		cells := columnReader(test.column)
		if (cells == nil) != (test.want == nil) {
			t.Errorf("%s: a reader %t", name, cells != nil)
			continue
		}
		for i, want := range test.want {
			if got := decimalText(cells(i), 2); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, row %d: %v (%T), not %v", name, i, got, got, want)
			}
		}
	}
}

// TestFilesNamedLikePatterns: ClickHouse reads exactly the file that is named, also if its path looks like a pattern.
func TestFilesNamedLikePatterns(t *testing.T) {
	enginetest.Installed(t, Driver())
	e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+filepath.Join(t.TempDir(), "archive"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d, root := engine.Find[*database](e), t.TempDir()
	made := func(folder string, rows int) string {
		t.Helper()
		plain, file := filepath.Join(root, "plain.parquet"), filepath.Join(root, folder, "x.parquet")
		text := fmt.Sprintf("INSERT INTO FUNCTION file(%s, Parquet) SELECT number AS n FROM numbers(%d)", quote(plain), rows)
		if err := errors.Join(d.Exec(t.Context(), text), os.MkdirAll(filepath.Dir(file), 0o700), os.Rename(plain, file)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, name := range []string{"ax", "b1", "c1"} { // the patterns match them
		made(name, 5)
	}
	own, err := tables.DatabasesOf(e).Own(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a*", "b?", "c{1,2}", "d[1]", "plain"} {
		table := &tables.Table{Name: fmt.Sprint("t", i), Parquet: made(name, 3), Columns: []tables.Column{{Name: "n", Kind: tables.Integer}}}
		if err := own.Load(t.Context(), table); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, err := sqlengine.QueryNumber(t.Context(), d, "SELECT count() FROM "+ownDatabase+"."+table.Name)
		if err != nil || n != 3 {
			t.Errorf("%s: %d rows, %v", name, n, err)
		}
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
}

// TestLoadAtAnotherPlacement: a load removes the tables from the disks of the earlier placement, and makes nothing there.
func TestLoadAtAnotherPlacement(t *testing.T) {
	enginetest.Installed(t, Driver())
	home, old, fresh := t.TempDir(), t.TempDir(), t.TempDir()
	note := `{"Paths": ["` + old + `"], "Partitions": 1}`
	if err := errors.Join(os.WriteFile(filepath.Join(home, starNote), []byte(note), 0o600), os.Mkdir(starFolderOn(old), 0o700)); err != nil {
		t.Fatal(err)
	}
	star := &starTables{Placement: tables.Placement{Paths: []string{fresh}, Partitions: 1}, home: home}
	if _, err := star.load(t.Context(), tables.StarFiles{}, "new"); err == nil || !strings.Contains(err.Error(), "has no Parquet files") {
		t.Error(err)
	}
	if err := star.close(); err != nil {
		t.Error(err)
	}
	for folder, want := range map[string]bool{old: false, fresh: true} {
		if _, err := os.Stat(starFolderOn(folder)); (err == nil) != want {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// TestFilesAreNotMapped: a load reads the user's file in pieces. If it maps the file into memory, the process of
// ClickHouse grows by the size of the file, whatever its memory limit is.
func TestFilesAreNotMapped(t *testing.T) {
	enginetest.Installed(t, Driver())
	dir := t.TempDir()
	e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+filepath.Join(dir, "archive"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	own, err := tables.DatabasesOf(e).Own(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	number := func(text string) (n int64) {
		t.Helper()
		if err := own.Ask(t.Context(), text, func(row []any) error {
			n, err = sqlengine.AsInteger(row[0])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	mapped := func() int64 {
		return number("SELECT toInt64(sum(value)) FROM system.events WHERE event = 'CreatedReadBufferMMap'")
	}
	file := filepath.Join(dir, "t.parquet")
	number("INSERT INTO FUNCTION file('" + file + "', Parquet) SELECT toInt64(number) AS n FROM numbers(1000)")
	table := &tables.Table{Name: "t", Parquet: file, Rows: 1000, Columns: []tables.Column{{Name: "n", Kind: tables.Integer}}}
	before := mapped()
	if err := own.Load(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	if n := mapped() - before; n > 0 {
		t.Errorf("%d files were mapped", n)
	}
	if n := number("SELECT count() FROM t"); n != 1000 {
		t.Errorf("%d rows were loaded", n)
	}
	if n := number("SELECT toInt64(count()) FROM file('" + file + "', Parquet)"); n != 1000 || mapped() == before {
		t.Error("the counter of mapped files does not work")
	}
}
