package sqlengine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
)

func TestDecodeStar(t *testing.T) {
	text := func(all ...string) (out []any) {
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
		q      tables.StarQuery
		values []any
		want   tables.StarRow
		bad    bool
	}{
		{q: tables.Q3, values: text("1998", "2001001", "amalgimporto #1  ", "45162.45"), want: tables.StarRow{Year: 1998, BrandID: 2001001, Brand: "amalgimporto #1", Cents: 4516245}},
		{q: tables.Q52, values: text("2000", "NULL", "NULL", "-0.05"), want: tables.StarRow{Year: 2000, Cents: -5}},
		{q: tables.Q55, values: text("7", "x", "NULL"), want: tables.StarRow{BrandID: 7, Brand: "x", Null: true}},
		{q: tables.ScanAll, values: text("52700277.14"), want: tables.StarRow{Cents: 5270027714}},
		{q: tables.ScanAll, values: text("NULL"), want: tables.StarRow{Null: true}},
		{q: tables.ScanAll, values: text("1", "2"), bad: true},
		{q: tables.ScanAll, values: text("1.005"), bad: true},
		{q: tables.Q3, values: text("1998", "a", "b", "1"), bad: true},
	} {
		got, err := decodeStar(c.q, c.values)
		if (err != nil) != c.bad || err == nil && got != c.want {
			t.Errorf("%s %q: %+v, %v; want %+v", c.q, c.values, got, err, c.want)
		}
	}
}

// TestOpenStar: a question is an error before a load has finished, and at another placement.
func TestOpenStar(t *testing.T) {
	p := tables.Placement{Paths: []string{"/a", "/b"}, Partitions: 4, Workers: 3}
	note, fails := "", error(nil)
	open := func(p tables.Placement, readOnly bool) (*tables.Star, error) {
		return OpenStar(t.Context(), &StarEngine{
			Location: "here", ReadOnly: readOnly,
			ReadNote: func(context.Context) (string, error) { return note, nil },
			Load: func(_ context.Context, _ tables.StarFiles, kept string) (tables.StarLoadResult, error) {
				note = kept
				return tables.StarLoadResult{}, fails
			},
			Rows: func(_ context.Context, _ tables.StarQuery, f func(row []any) error) error { return f([]any{"1.50"}) },
		}, p)
	}
	ask := func(s *tables.Star) error {
		rows, err := s.Ask(t.Context(), tables.ScanAll)
		if err == nil && (len(rows) != 1 || rows[0].Cents != 150) {
			t.Errorf("%+v", rows)
		}
		return err
	}
	load := func(s *tables.Star) error {
		_, err := s.Load(t.Context(), tables.StarFiles{})
		return err
	}
	h, err := open(p, false)
	if err != nil || ask(h) == nil {
		t.Fatal("a question to missing tables is answered", err)
	}
	if err := errors.Join(load(h), ask(h)); err != nil {
		t.Error(err)
	}
	if _, err := h.Ask(t.Context(), "q1"); err == nil {
		t.Error("an unknown question is answered")
	}
	again := p
	again.Workers = 0 // Workers is not part of a loaded placement
	if h, err = open(again, true); err != nil || ask(h) != nil {
		t.Error("a question to loaded tables is not answered", err)
	}
	if err := load(h); !errors.Is(err, engine.ErrReadOnly) {
		t.Error(err)
	}
	other := tables.Placement{Paths: p.Paths, Partitions: 2}
	if _, err := open(other, false); !errors.Is(err, tables.ErrPlacement) {
		t.Error(err)
	}
	other.Replace = true
	if h, err = open(other, false); err != nil || !errors.Is(ask(h), tables.ErrPlacement) {
		t.Error("a question to tables of another placement is answered", err)
	}
	if fails = errors.New("no"); load(h) == nil || ask(h) == nil {
		t.Error("a question to tables of a failed load is answered")
	}
	note = "a comment"
	if _, err := open(p, false); err == nil {
		t.Error("an invalid note was accepted")
	}
}

// TestLoadStarErrors: a missing or damaged file is an error, and so are missing files.
func TestLoadStarErrors(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.parquet")
	if err := os.WriteFile(broken, []byte("PAR1 no such thing PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(_ context.Context, _ tables.StarTable, rows *StarRows) (n int64, err error) {
		for rows.Next() {
			n++
		}
		return n, nil
	}
	for _, path := range []string{broken, filepath.Join(dir, "none.parquet")} {
		files := tables.StarFiles{Parquet: map[tables.StarTable][]string{tables.StoreSales: {path}, tables.DateDim: {path}, tables.Item: {path}}}
		if out, err := LoadStar(t.Context(), files, read); err == nil {
			t.Errorf("%s: %v", path, out.Rows)
		}
	}
	if _, err := LoadStar(t.Context(), tables.StarFiles{}, read); err == nil {
		t.Error("no files are no error")
	}
}
