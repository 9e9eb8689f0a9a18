package own

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/query/flavour"
)

// inMemory opens a DuckDB in memory until the test ends.
func inMemory(t *testing.T) *tables.Tables {
	t.Helper()
	db, err := all.Registry().Open(t.Context(), "duckdb::memory:", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	own, err := tables.DatabasesOf(db).Own(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(own.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return own
}

// TestReordered: reordered writes a large file in slices. Each row is in one slice, and any two rows have opposite
// orders under upward and downward, because rows that tie must be returned in both orders.
func TestReordered(t *testing.T) {
	ref := inMemory(t)
	for name, want := range map[string]bool{"a": true, "file_row_number": false} {
		dir := t.TempDir()
		table := &tables.Table{Name: "t", Parquet: filepath.Join(dir, "t.parquet"), Rows: 1000, Columns: []tables.Column{{Name: name}}}
		rows := "COPY (SELECT i AS " + name + " FROM range(1000) r(i)) TO "
		if err := exec(t.Context(), ref, rows+flavour.Quote(table.Parquet)+parquet); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(table.Parquet)
		if err != nil {
			t.Fatal(err)
		}
		v := &variants{runner: &runner{ref: ref, work: dir}, sliceBytes: info.Size() / 7}
		orders := map[string][]string{}
		for _, how := range []string{upward, downward} {
			files, err := v.reordered(t.Context(), table, how, "")
			if err != nil || len(files) > 1 != want {
				t.Fatalf("%s: %d files, %v", name, len(files), err)
			}
			for _, file := range files {
				if err := ref.Ask(t.Context(), "SELECT * FROM "+flavour.Quote(file), func(row []any) error {
					orders[how] = append(orders[how], fmt.Sprintf("%03d", row[0]))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		up, down := orders[upward], orders[downward]
		ordered := slices.Sorted(slices.Values(up))
		if slices.Reverse(down); !slices.Equal(up, down) || slices.Equal(up, ordered) || len(slices.Compact(slices.Clone(ordered))) != 1000 {
			t.Errorf("%s: upward %v…, downward ends with %v", name, up[:9], down[:9])
		}
	}
}

// TestLoaded: engines that load without Each report how many rows they have stored. ClickHouse counts its rows. DuckDB
// estimates them from the size of its file, and reports less than all until the load ends.
func TestLoaded(t *testing.T) {
	for scheme, want := range map[string][2]int64{"duckdb": {10_000, 99_000}, "clickhouse": {100_000, 100_000}} {
		t.Run(scheme, func(t *testing.T) {
			d, _ := all.Registry().Find(scheme)
			enginetest.Installed(t, *d)
			dir := t.TempDir()
			db, err := all.Registry().Open(t.Context(), scheme+":"+filepath.Join(dir, "x"), engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			o, err := tables.DatabasesOf(db).Own(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			ref := inMemory(t)
			table := &tables.Table{
				Name: "t", Parquet: filepath.Join(dir, "t.parquet"), Rows: 100_000,
				Columns: []tables.Column{{Name: "a", Kind: tables.Integer}},
			}
			const rows = "COPY (SELECT (hash(i) % 1000000007)::BIGINT AS a FROM range(100000) r(i)) TO "
			if err := exec(t.Context(), ref, rows+flavour.Quote(table.Parquet)+parquet); err != nil {
				t.Fatal(err)
			}
			before := o.Loaded(t.Context(), table)
			if err := o.Load(t.Context(), table); err != nil {
				t.Fatal(err)
			}
			if n := o.Loaded(t.Context(), table); before >= want[0] || n < want[0] || n > want[1] {
				t.Errorf("%d rows before, %d rows after the load", before, n)
			}
		})
	}
}

// TestRefusedMagnitude: if DuckDB refuses the magnitude of a sum, the study still compares the order of the rows.
func TestRefusedMagnitude(t *testing.T) {
	const text = "SELECT sum(k ORDER BY k) AS s FROM range(3) r(k) GROUP BY k % 2 ORDER BY max(k)"
	order := orderingOf(text)
	x, err := expectedResult(t.Context(), inMemory(t), text, []string{"s"}, &order)
	if err != nil || !slices.Equal(x.hidden, []string{"max(k)"}) || x.scaled || x.result.Len() != 2 {
		t.Errorf("%+v, %v", x, err)
	}
}
