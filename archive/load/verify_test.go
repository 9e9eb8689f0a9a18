package load_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// spoilt is an archive that was changed after it was loaded.
type spoilt struct {
	archive.Archive
	records func(*record.Batch) *record.Batch
	catalog func(*design.Catalog)
	marks   func([]archive.Mark)
	end     error // of Dump, after the records
}

func (s *spoilt) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		for b, err := range s.Archive.Dump(ctx, subset) {
			if s.records != nil && err == nil {
				b = s.records(b.Clone())
			}
			if !yield(b, err) {
				return
			}
		}
		if s.end != nil {
			yield(nil, s.end)
		}
	}
}

func (s *spoilt) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c, err := s.Archive.Contents(ctx, subset)
	c.Objects = 0
	for b, failed := range s.Dump(ctx, subset) {
		if failed == nil {
			c.Objects += int64(b.Len())
		}
	}
	return c, err
}

func (s *spoilt) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	c, err := s.Archive.Catalog(ctx, subset)
	if s.catalog != nil && err == nil {
		s.catalog(c)
	}
	return c, err
}

func (s *spoilt) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	m, err := s.Archive.Marks(ctx, subset)
	if s.marks != nil {
		s.marks(m)
	}
	return m, err
}

// TestVerify: Verify reports every change of an archive, and nothing for an unchanged one. Compare,
// which reads the files, names the record.
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	files := []string{write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)+line(12, 0, 3)), write(t, dir, "b.vsdb", line(0, 1, 4)+line(0, 0, 1))}
	whole := memory(t)
	mustLoad(t, whole, load.Options{}, files...)
	for name, c := range map[string]struct {
		spoil spoilt
		says  string // "" = intact
		names string // the record that Compare names
	}{
		"nothing":      {},
		"a value":      {spoil: spoilt{records: func(b *record.Batch) *record.Batch { b.Num[1][2] += 1e-12; return b }}, says: "have different values", names: "a.vsdb:3 "},
		"a lead":       {spoil: spoilt{records: func(b *record.Batch) *record.Batch { b.Lead[1] = 18 * 3600; return b }}, says: "fcst_lead 18h", names: "a.vsdb:2 lost"},
		"a valid time": {spoil: spoilt{records: func(b *record.Batch) *record.Batch { b.Valid[0]++; return b }}, says: "fcst_valid_beg 2019-01-01T00:00:01Z", names: "a.vsdb:1 lost"},
		"a lost row":   {spoil: spoilt{records: func(b *record.Batch) *record.Batch { return b.Filter(func(i int) bool { return i != 3 }) }}, says: "1 of 4 records is lost", names: "b.vsdb:1 lost"},
		"a level":      {spoil: spoilt{catalog: func(c *design.Catalog) { c.Groups[0].Levels[0] = "P501" }}, says: "does not know of fcst_lev P500"},
		"a count":      {spoil: spoilt{catalog: func(c *design.Catalog) { c.Groups[0].Digest.Records-- }}, says: "1 more record than the loads stored"},
		"a step":       {spoil: spoilt{catalog: func(c *design.Catalog) { c.Groups[0].Last-- }}, says: "does not know of fcst_valid_beg"},
		"a mark":       {spoil: spoilt{marks: func(m []archive.Mark) { m[1].Stored++ }}, says: "b.vsdb does not add up"},
	} {
		t.Run(name, func(t *testing.T) {
			c.spoil.Archive = whole
			v, err := load.Verify(t.Context(), &c.spoil, "s")
			if err != nil {
				t.Fatal(err)
			}
			if said := strings.Join(v.Problems, "\n"); (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
				t.Errorf("problems %q, want %q", said, c.says)
			}
			misfits, n, _, err := load.Compare(t.Context(), &c.spoil, "s", files, false)
			if err != nil || (n > 0) != (c.names != "") || int(n) != len(misfits) {
				t.Fatalf("%d records differ, %d are named: %v", n, len(misfits), err)
			}
			for _, m := range misfits {
				place := strings.TrimPrefix(m.Line.File, dir+"/") + ":" + string(rune('0'+m.Line.Line)) + " "
				if m.Missing {
					place += "lost"
				}
				if place != c.names || !strings.Contains(m.Record, "fcst_lev=P500") {
					t.Errorf("%s %s is named, want %s", place, m.Record, c.names)
				}
			}
		})
	}
}

// TestVerifyWithoutItsServer: a connection that is lost while Verify reads is an error, and no damage of the archive.
func TestVerifyWithoutItsServer(t *testing.T) {
	stored := memory(t)
	mustLoad(t, stored, load.Options{}, write(t, t.TempDir(), "a.vsdb", line(0, 0, 1)))
	lost := &spoilt{Archive: stored, end: fmt.Errorf("%w: EOF", engine.ErrUnreachable)}
	if v, err := load.Verify(t.Context(), lost, "s"); !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("%+v, %v", v, err)
	}
	lost.end = errors.New("a page does not fit its checksum")
	if v, err := load.Verify(t.Context(), lost, "s"); err != nil || len(v.Problems) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestArchiveOfAnEarlierVersion: its catalog has no counts until the next load has read the
// archive.
func TestArchiveOfAnEarlierVersion(t *testing.T) {
	dir := t.TempDir()
	a := memory(t)
	mustLoad(t, a, load.Options{}, write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)))
	want, err := a.Catalog(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	old := &spoilt{Archive: a, catalog: func(c *design.Catalog) {
		c.Counted, c.Objects = false, 0
		for _, g := range c.Groups {
			g.Digest, g.Valid = record.Digest{}, nil
		}
	}}
	if v, err := load.Verify(t.Context(), old, "s"); err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "earlier version") {
		t.Errorf("%+v, %v", v, err)
	}
	sum, err := load.Run(t.Context(), &once{spoilt: old}, "s", []string{write(t, dir, "b.vsdb", line(12, 0, 3))}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := sum.Catalog.Digest().Records; got != want.Digest().Records+1 || !sum.Catalog.Counted {
		t.Errorf("%d records are counted, want %d", got, want.Digest().Records+1)
	}
	if v, err := load.Verify(t.Context(), a, "s"); err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// once behaves like an archive of an earlier version until its catalog was read.
type once struct {
	*spoilt
	read bool
}

func (o *once) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	if o.read {
		return o.Archive.Catalog(ctx, subset)
	}
	o.read = true
	return o.spoilt.Catalog(ctx, subset)
}

// TestSurvey counts the records of files without an archive, and the quarantined lines by reason.
func TestSurvey(t *testing.T) {
	dir := t.TempDir()
	c, marks, failed, err := load.Survey(t.Context(), []string{write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 2, 2)+line(6, 3, 2)+"nonsense\n"), dir + "/none.vsdb"}, load.ReadOptions{}, nil)
	if err != nil || len(marks) != 2 || len(failed) != 1 {
		t.Fatalf("%d files, failed %v, %v", len(marks), failed, err)
	}
	in := c.Inventory()
	if len(in) != 1 || in[0].Records != 3 || len(in[0].Leads) != 2 || len(in[0].Valid) != 3 {
		t.Errorf("%+v", in)
	}
	if q := c.Quarantine; len(q) != 1 || q[0].Lines != 1 || q[0].Reasons[0].First != 4 {
		t.Errorf("%+v", q)
	}
}

func agree(*load.PruneResult) error { return nil }

// TestPrune: Verify reports a pruned archive. Prune removes the deleted records from the catalog,
// and the mark of their file; nothing else changes. It refuses archives with other changes, and,
// unless forced, the loss of more than a tenth of the records.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	files := []string{write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)), write(t, dir, "b.vsdb", line(0, 1, 4))}
	whole := memory(t)
	mustLoad(t, whole, load.Options{}, files...)
	changed := &spoilt{Archive: whole, records: func(b *record.Batch) *record.Batch { b.Num[1][0]++; return b }}
	if _, err := load.Prune(t.Context(), changed, "s", agree); err == nil || !strings.Contains(err.Error(), "has other changes") {
		t.Error(err)
	}
	pruned := &spoilt{Archive: whole, records: func(b *record.Batch) *record.Batch { return b.Filter(func(i int) bool { return i != 1 }) }}
	if v, err := load.Verify(t.Context(), pruned, "s"); err != nil || len(v.Problems) == 0 {
		t.Errorf("a pruned archive: %+v, %v", v, err)
	}
	limited := func(p *load.PruneResult) error { return p.Err(load.DefaultLimit, false) }
	if p, err := load.Prune(t.Context(), pruned, "s", limited); fault.Code(err) != fault.Differs || p.Lost != 1 || p.Total != 3 {
		t.Errorf("a third of the records is gone: %+v, %v", p, err)
	}
	p, err := load.Prune(t.Context(), pruned, "s", agree)
	if err != nil || p.Lost != 1 || len(p.Files) != 1 || p.Files[0].Path != files[0] {
		t.Fatalf("%+v, %v", p, err)
	}
	if v, err := load.Verify(t.Context(), pruned, "s"); err != nil || len(v.Problems) > 0 || v.Marks != 1 {
		t.Errorf("after pruning: %+v, %v", v, err)
	}
	marks, err := pruned.Marks(t.Context(), "s")
	if err != nil || len(marks) != 1 || marks[0].Path != files[1] {
		t.Errorf("the marks are %+v, %v", marks, err)
	}
}

// TestVerifyMarksAndCatalog: Verify also reports changes of the catalog and the marks that no
// record contradicts.
func TestVerifyMarksAndCatalog(t *testing.T) {
	dir := t.TempDir()
	whole := memory(t)
	mustLoad(t, whole, load.Options{}, write(t, dir, "a.vsdb", line(0, 0, 1)), write(t, dir, "b.vsdb", line(6, 0, 1)))
	text, err := func() ([]byte, error) { c, _ := whole.Catalog(t.Context(), "s"); return c.Encode() }()
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) func(*design.Catalog) {
		return func(c *design.Catalog) {
			r, err := design.ParseCatalog([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			*c = *r
		}
	}
	for name, c := range map[string]struct {
		spoil spoilt
		says  string
	}{
		"read back":              {spoilt{catalog: read(string(text))}, ""},
		"a level without record": {spoilt{catalog: read(strings.Replace(string(text), `"fcst_lev":["P500"`, `"fcst_lev":["P500","P600"`, 1))}, "the catalog differs from"},
		"without its seal":       {spoilt{catalog: read(strings.Replace(string(text), `"sealed":true,`, "", 1))}, "the catalog differs from"},
		"a mark of another path": {spoilt{marks: func(m []archive.Mark) { m[0].Path += "x" }}, "differ from the marks"},
		"a mark instead":         {spoilt{marks: func(m []archive.Mark) { m[0] = m[1] }}, "differ from the marks"},
	} {
		t.Run(name, func(t *testing.T) {
			c.spoil.Archive = whole
			v, err := load.Verify(t.Context(), &c.spoil, "s")
			if said := strings.Join(v.Problems, "\n"); err != nil || (c.says == "") != (said == "") || !strings.Contains(said, c.says) {
				t.Errorf("problems %q, %v, want %q", said, err, c.says)
			}
		})
	}
}

// TestCompareContinuesAfterUnreadableFiles: Compare lists a file that it cannot read, and compares the others.
func TestCompareContinuesAfterUnreadableFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := write(t, dir, "a.vsdb", line(0, 0, 1)), write(t, dir, "c.vsdb", line(6, 0, 2))
	stored := memory(t)
	mustLoad(t, stored, load.Options{}, a)
	list, n, failed, err := load.Compare(t.Context(), stored, "s", []string{a, filepath.Join(dir, "b.vsdb"), b}, false)
	if err != nil || n != 1 || len(list) != 1 || list[0].Line.File != b || len(failed) != 1 || !strings.Contains(failed[0].Error(), "b.vsdb") {
		t.Errorf("%+v, %d, %v, %v", list, n, failed, err)
	}
}

// TestPrunePreview: a preview reports that the real run would be refused, with the exit status of a preview of Retain.
func TestPrunePreview(t *testing.T) {
	err := (&load.PruneResult{Lost: 11, Total: 100}).Err(load.DefaultLimit, true)
	if fault.Code(err) != fault.Incomplete || !strings.Contains(err.Error(), "the real run would be refused: 11 of 100 records") {
		t.Error(err)
	}
}

// TestPruneOfAChangedFile: the earlier version of a file is not at its path any more. Prune forgets its mark, because
// a deleted record may be one of its records. A copy of the earlier version then restores the record.
func TestPruneOfAChangedFile(t *testing.T) {
	dir := t.TempDir()
	earlier := line(0, 0, 1) + line(6, 0, 2)
	stored := memory(t)
	mustLoad(t, stored, load.Options{}, write(t, dir, "a.vsdb", earlier))
	file := write(t, dir, "a.vsdb", line(12, 0, 3))
	mustLoad(t, stored, load.Options{}, file)
	pruned := &spoilt{Archive: stored, records: func(b *record.Batch) *record.Batch { return b.Filter(func(i int) bool { return b.Lead[i] != 6*3600 }) }}
	p, err := load.Prune(t.Context(), pruned, "s", agree)
	if err != nil || p.Lost != 1 || len(p.Files) != 1 || p.Files[0].Read != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if marks, err := pruned.Marks(t.Context(), "s"); err != nil || len(marks) != 1 || marks[0].Read != 1 {
		t.Errorf("the marks are %+v, %v", marks, err)
	}
}

// loadedMeanwhile calls load when a loader is opened.
type loadedMeanwhile struct {
	*spoilt
	load func()
}

func (m *loadedMeanwhile) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	m.load()
	return m.spoilt.Loader(ctx, subset)
}

// TestPruneDuringALoad: a load that commits after Prune has counted the records keeps its records in the catalog.
func TestPruneDuringALoad(t *testing.T) {
	dir := t.TempDir()
	stored := memory(t)
	mustLoad(t, stored, load.Options{}, write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)))
	pruned := &spoilt{Archive: stored, records: func(b *record.Batch) *record.Batch { return b.Filter(func(i int) bool { return i != 1 }) }}
	a := &loadedMeanwhile{pruned, func() { mustLoad(t, stored, load.Options{}, write(t, dir, "b.vsdb", line(12, 0, 3))) }}
	if _, err := load.Prune(t.Context(), a, "s", agree); err == nil || !strings.Contains(err.Error(), "a load changed subset s meanwhile") {
		t.Error(err)
	}
	if c, err := stored.Catalog(t.Context(), "s"); err != nil || c.Digest().Records != 3 {
		t.Errorf("the catalog counts %d records, %v", c.Digest().Records, err)
	}
}

// TestPruneOfARecordInTwoFiles: Prune forgets each file that contains a deleted record. The mark of a file that stored
// it would otherwise report more records than the archive has.
func TestPruneOfARecordInTwoFiles(t *testing.T) {
	dir := t.TempDir()
	first, second := write(t, dir, "b.vsdb", line(0, 0, 1)+line(6, 0, 2)), write(t, dir, "a.vsdb", line(6, 0, 2))
	stored := memory(t)
	mustLoad(t, stored, load.Options{}, first)
	mustLoad(t, stored, load.Options{}, second)
	pruned := &spoilt{Archive: stored, records: func(b *record.Batch) *record.Batch { return b.Filter(func(i int) bool { return b.Lead[i] == 0 }) }}
	p, err := load.Prune(t.Context(), pruned, "s", agree)
	if err != nil || p.Lost != 1 || len(p.Files) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if v, err := load.Verify(t.Context(), pruned, "s"); err != nil || len(v.Problems) > 0 || v.Marks != 0 {
		t.Errorf("after pruning: %+v, %v", v, err)
	}
}

// lostCatalog is an archive whose catalog cannot be read.
type lostCatalog struct{ archive.Archive }

func (lostCatalog) Catalog(context.Context, string) (*design.Catalog, error) {
	return nil, engine.DamagedError("a.db", errors.New("the catalog is damaged"))
}

// TestSalvageWithoutCatalog: the records are copied even if the catalog cannot be read, and the result reports that.
func TestSalvageWithoutCatalog(t *testing.T) {
	dir := t.TempDir()
	from, to := memory(t), memory(t)
	files := []string{write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)), write(t, dir, "b.vsdb", line(12, 0, 3)+line(12, 0, 4))}
	mustLoad(t, from, load.Options{OnConflict: load.Keep}, files...)
	s, err := load.Salvage(t.Context(), lostCatalog{from}, "s", "a.db", to)
	if err != nil {
		t.Fatal(err)
	}
	if s.Records != 4 || s.Copied != 3 || len(s.Files) != 2 || len(s.Losses) != 1 || s.Losses[0].Place != "the catalog" || len(s.Missing) != 1 ||
		!strings.Contains(s.Missing[0], "counts 4 records, 3 were copied, 1 conflicts with") {
		t.Errorf("%+v", s)
	}
	if v, err := load.Verify(t.Context(), to, "s"); err != nil || len(v.Problems) > 0 || v.Found.Records != 3 {
		t.Errorf("%+v, %v", v, err)
	}
	empty := &spoilt{Archive: from, catalog: func(c *design.Catalog) { *c = *design.NewCatalog("s") }} // the catalog's row is lost
	if s, err := load.Salvage(t.Context(), empty, "s", "a.db", memory(t)); err != nil || s.Copied != 3 || len(s.Missing) == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
