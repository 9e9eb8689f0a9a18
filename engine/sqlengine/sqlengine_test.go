package sqlengine

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

func TestColumnNamesAreUnique(t *testing.T) {
	for _, lt := range record.Types() {
		for _, n := range []design.Name{design.Normalized, design.Wide, design.Document} {
			_, cols, ok := DesignTable(n, lt)
			if !ok {
				t.Fatalf("%s: no table", n)
			}
			seen := map[string]bool{}
			for _, c := range cols {
				if name := strings.ToLower(c.Name); seen[name] {
					t.Errorf("%s, %s: two columns are named %s", n, lt.Name, name)
				}
				seen[strings.ToLower(c.Name)] = true
			}
		}
	}
}

func TestLineColumnsAreMETviewers(t *testing.T) {
	lt, _ := record.TypeByName("sal1l2")
	want := "stat_header_id, data_file_id, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end, total, fabar, oabar, foabar, ffabar, ooabar, mae, cov_thresh, alpha"
	if got := ColumnList("", LineColumns(lt)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := InsertText("t", CatalogColumns(), 2), "INSERT INTO t (id, catalog) VALUES (?, ?), (?, ?)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTimesOfEveryDay(t *testing.T) {
	for day := time.Date(1899, 12, 31, 23, 59, 58, 0, time.UTC); day.Year() < 2105; day = day.Add(24*time.Hour + time.Second) {
		for _, layout := range []string{time.DateTime, design.ISO} {
			if got, err := AsTime(day.Format(layout)); err != nil || got != day.Unix() {
				t.Fatalf("%s: %d, %v; want %d", day.Format(layout), got, err, day.Unix())
			}
		}
	}
	if got, err := AsTime("-21600"); err != nil || got != -21600 {
		t.Errorf("-21600: %d, %v", got, err)
	}
	for _, bad := range []string{"", "noon", "2019-01-01", "2019-13-01 00:00:00", "2019-01-01 00:00:00.5", "2019/01/01 00:00:00", "x019-01-01 00:00:00"} {
		if v, err := AsTime([]byte(bad)); err == nil {
			t.Errorf("%q is parsed as %d", bad, v)
		}
	}
}

func TestDecoderValues(t *testing.T) {
	lt, _ := record.TypeByName("MPR")
	cols, err := question.Columns(lt, "model", "fcst_valid_beg", "fcst_lead", "obs_lead", "fcst", "obs", "obs_sid")
	if err != nil {
		t.Fatal(err)
	}
	q := &archive.Query{Question: &question.Question{Type: lt, Columns: cols}, LeadCoding: flavour.HMS}
	var into answer.Builder
	d := NewResultDecoder(design.Normalized, q, &into)
	for k, v := range []any{[]byte("GFS"), time.Unix(1546300800, 0), int32(1080000), int64(-13000), nil, -9999.0, "KDEN"} {
		if err := d.AddValue(k, v); err != nil {
			t.Fatal(err)
		}
	}
	d.EndRow()
	if got, want := into.Answer.Row(0), "GFS | 2019-01-01T00:00:00Z | 388800 | -5400 | NA | NA | KDEN"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := d.AddValue(2, 1.5); err == nil || !strings.Contains(err.Error(), "fcst_lead") {
		t.Errorf("a lead of 1.5: error %v", err)
	}
}

func TestNumbersFromText(t *testing.T) {
	for _, f := range []float64{0.1, 26.9635266, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		text := strconv.FormatFloat(f, 'g', -1, 64)
		if got, err := AsNumber([]byte(text)); err != nil || got != f {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if f, err := AsNumber(uint32(7)); err != nil || f != 7 {
		t.Errorf("uint32: %v, %v", f, err)
	}
}

func TestInterner(t *testing.T) {
	n := NewInterner[string]()
	n.Add("a", 4)
	id, fresh := n.ID("a")
	if id != 4 || fresh {
		t.Errorf("a: %d, fresh %v", id, fresh)
	}
	n.ID("b")
	if id, fresh := n.ID("b"); id != 5 || !fresh {
		t.Errorf("b: %d, fresh %v", id, fresh)
	}
	n.Settle(true)
	if id, fresh := n.ID("b"); id != 5 || fresh {
		t.Errorf("b after Settle(true): %d, fresh %v", id, fresh)
	}
	n.ID("c")
	n.Settle(false)
	n.ID("d")
	if keys, first := n.Uncommitted(); len(keys) != 1 || keys[0] != "d" || first != 6 {
		t.Errorf("Uncommitted = %v from %d", keys, first)
	}
}

// fresh is a server with an empty archive. It counts the queries for marks.
type fresh struct{ queries int }

func (*fresh) Exec(context.Context, string, ...any) error { return nil }

func (f *fresh) Rows(_ context.Context, text string, _ []any, _ func([]any) error) error {
	if strings.Contains(text, "digest IN") {
		f.queries++
	}
	return nil
}

// TestFirstLoadQueriesNoMarks: a load into an empty archive has written all marks itself, and queries only those that
// it replaces.
func TestFirstLoadQueriesNoMarks(t *testing.T) {
	a := &Archive{Design: design.Wide, Dialect: &flavour.Dialect{Name: "x", Table: func(_, table string) string { return table }}}
	q, version := &fresh{}, int64(1)
	l := a.NewLoader("a", LoadSession{
		Transaction:  func(_ context.Context, f func(q Querier) error) error { return f(q) },
		Version:      func(context.Context, Querier) (int64, error) { return version, nil },
		StoreCatalog: func(context.Context, Querier, []byte) error { return nil },
		Insert:       func(context.Context, Querier, string, []Column, Next) error { return nil },
	})
	for i, step := range []struct {
		file        string
		others, ask int
	}{{"a", 0, 0}, {"b", 0, 0}, {"a", 0, 1}, {"c", 0, 1}, {"d", 1, 1}} {
		version += int64(step.others) // commits of other loaders; the archive of this server stays an empty one
		done := []archive.Mark{{Path: step.file, Digest: strings.Repeat(step.file, 32), Loaded: time.Unix(1, 0)}}
		if _, err := l.Commit(t.Context(), archive.Commit{Complete: done}); err != nil || q.queries != step.ask {
			t.Errorf("commit %d, of %s: %d queries, %v; want %d", i, step.file, q.queries, err, step.ask)
		}
	}
}

// old is a server with an archive of one file, which counts the statements about marks by digest.
type old struct{ lists, named int }

func (o *old) Exec(_ context.Context, text string, _ ...any) error {
	if strings.Contains(text, "digest IN") {
		o.named++
	}
	return nil
}

func (o *old) Rows(_ context.Context, text string, _ []any, f func([]any) error) error {
	if !strings.Contains(text, "_marks") || strings.Contains(text, "MAX(") {
		return nil
	}
	if strings.Contains(text, "digest IN") {
		o.named++
	} else {
		o.lists++
	}
	return f([]any{"a", strings.Repeat("a", 32), int64(1), int64(1), int64(1), int64(0), int64(0), "2020-01-01T00:00:00Z"})
}

// TestSecondLoadNamesKnownMarksOnly: a load of new files into an old archive reads the digests of all marks once. Its
// statements name only existing marks.
func TestSecondLoadNamesKnownMarksOnly(t *testing.T) {
	a := &Archive{Design: design.Wide, Dialect: &flavour.Dialect{Name: "x", Table: func(_, table string) string { return table }}}
	q := &old{}
	l := a.NewLoader("a", LoadSession{
		Transaction:  func(_ context.Context, f func(q Querier) error) error { return f(q) },
		Version:      func(context.Context, Querier) (int64, error) { return 1, nil },
		StoreCatalog: func(context.Context, Querier, []byte) error { return nil },
		Insert:       func(context.Context, Querier, string, []Column, Next) error { return nil },
	})
	l.catalog, l.catalogVersion = &design.Catalog{}, 1
	l.catalog.Files.Records = 1
	for i, step := range []struct {
		file  string
		named int
	}{{"b", 0}, {"c", 0}, {"a", 2}} { // its mark is read, and replaced
		done := []archive.Mark{{Path: step.file, Digest: strings.Repeat(step.file, 32), Loaded: time.Unix(1, 0)}}
		l.stale = false // as Commit does
		if err := l.write(t.Context(), q, &archive.Commit{Complete: done}, done, &archive.CommitResult{Replaced: map[string]int64{}}); err != nil || q.lists != 1 || q.named != step.named {
			t.Errorf("commit %d, of %s: %v; %d lists, %d statements that name files, want %d", i, step.file, err, q.lists, q.named, step.named)
		}
	}
}
