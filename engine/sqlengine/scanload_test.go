package sqlengine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine"
)

func TestDecodeStar(t *testing.T) {
	text := func(all ...string) (out [][]byte) {
		for _, s := range all {
			if s == "NULL" {
				out = append(out, nil)
			} else {
				out = append(out, []byte(s))
			}
		}
		return out
	}
	for _, c := range []struct {
		q      engine.StarQuery
		values [][]byte
		want   engine.StarRow
		bad    bool
	}{
		{q: engine.Q3, values: text("1998", "2001001", "amalgimporto #1  ", "45162.45"), want: engine.StarRow{Year: 1998, BrandID: 2001001, Brand: "amalgimporto #1", Cents: 4516245}},
		{q: engine.Q52, values: text("2000", "NULL", "NULL", "-0.05"), want: engine.StarRow{Year: 2000, Cents: -5}},
		{q: engine.Q55, values: text("7", "x", "NULL"), want: engine.StarRow{BrandID: 7, Brand: "x", Null: true}},
		{q: engine.ScanAll, values: text("52700277.14"), want: engine.StarRow{Cents: 5270027714}},
		{q: engine.ScanAll, values: text("NULL"), want: engine.StarRow{Null: true}},
		{q: engine.ScanAll, values: text("1", "2"), bad: true},
		{q: engine.ScanAll, values: text("1.005"), bad: true},
		{q: engine.Q3, values: text("1998", "a", "b", "1"), bad: true},
	} {
		got, err := DecodeStar(c.q, c.values)
		if (err != nil) != c.bad || err == nil && got != c.want {
			t.Errorf("%s %q: %+v, %v; want %+v", c.q, c.values, got, err, c.want)
		}
	}
}

// TestStarHeld: nobody asks before a load has ended, or under another placement.
func TestStarHeld(t *testing.T) {
	p := engine.Placement{Paths: []string{"/a", "/b"}, Partitions: 4, Workers: 3}
	h, err := HoldStar("here", p, "")
	if err != nil || h.Usable(engine.Q3) == nil {
		t.Fatal("tables that are not there can be asked", err)
	}
	h.End()
	if err := h.Usable(engine.Q3); err != nil {
		t.Error(err)
	}
	if h.Usable("q1") == nil {
		t.Error("an unknown question can be asked")
	}
	again := p
	again.Workers = 0 // is no part of what is loaded
	if h, err = HoldStar("here", again, h.Note()); err != nil || h.Usable(engine.Q3) != nil {
		t.Error("tables that are there cannot be asked", err)
	}
	h.Begin()
	if h.Usable(engine.Q3) == nil {
		t.Error("tables can be asked while they are loaded")
	}
	other := engine.Placement{Paths: p.Paths, Partitions: 2}
	if _, err := HoldStar("here", other, h.Note()); !errors.Is(err, engine.ErrPlacement) {
		t.Error(err)
	}
	other.Anew = true
	if h, err = HoldStar("here", other, h.Note()); err != nil || !errors.Is(h.Usable(engine.Q3), engine.ErrPlacement) {
		t.Error("tables of another placement can be asked", err)
	}
	if _, err := HoldStar("here", p, "a comment"); err == nil {
		t.Error("a note that is none was taken")
	}
}

// TestLoadStarTells: a file that is missing, or is none, is told; so is a
// store that fails, and nothing is counted for it.
func TestLoadStarTells(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.parquet")
	if err := os.WriteFile(broken, []byte("PAR1 no such thing PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(_ context.Context, _ engine.StarTable, rows *StarRows) (n int64, err error) {
		for rows.Next() {
			n++
		}
		return n, nil
	}
	for _, path := range []string{broken, filepath.Join(dir, "none.parquet")} {
		files := engine.StarFiles{Parquet: map[engine.StarTable][]string{engine.StoreSales: {path}, engine.DateDim: {path}, engine.Item: {path}}}
		if out, err := LoadStar(t.Context(), files, read); err == nil {
			t.Errorf("%s: %v", path, out.Rows)
		}
	}
	if _, err := LoadStar(t.Context(), engine.StarFiles{}, read); err == nil {
		t.Error("no files are no error")
	}
}
