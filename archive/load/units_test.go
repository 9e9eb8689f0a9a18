package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// datedRows returns SL1L2 records with valid times in days and one value.
func datedRows(file string, lead int32, value float64, days ...float64) *record.Batch {
	sl1l2, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(sl1l2, file)
	h := record.DefaultHeader()
	h[record.Model] = "GFS"
	head := b.AddHeader(h)
	for i, d := range days {
		b.AppendTimes(head, lead, int64(d*daySeconds), uint32(i+1)) //nolint:gosec // few
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], value)
		}
	}
	return b
}

func catalogOf(batches ...*record.Batch) *design.Catalog {
	c := design.NewCatalog("s")
	for _, b := range batches {
		c.Add(b)
	}
	return c
}

// TestMarkedRecords: the marks are read only if the load stored a large share of the records.
func TestMarkedRecords(t *testing.T) {
	for before, want := range map[int64]int64{5: 99, 63: 99, 64: 0} {
		r := &loadRun{archive: &counting{marks: 99}}
		r.summary.Stored = 7
		if got, err := r.markedRecords(t.Context(), "s", before); err != nil || got != want {
			t.Errorf("%d records before the load: %d marked records, %v; want %d", before, got, err, want)
		}
	}
}

// counting is an archive with one mark and a catalog.
type counting struct {
	archive.Archive
	marks   int64
	catalog *design.Catalog
	found   []archive.Mark // the marks that MarksOf can find
	asked   int
}

func (c *counting) Marks(context.Context, string) ([]archive.Mark, error) {
	return []archive.Mark{{Path: "m", Digest: "d", Stored: c.marks}}, nil
}

func (c *counting) Catalog(context.Context, string) (*design.Catalog, error) { return c.catalog, nil }

// finder is counting with a lookup of marks.
type finder struct{ *counting }

func (f finder) MarksOf(_ context.Context, _ string, files []archive.Mark) ([]archive.Mark, error) {
	f.asked += len(files)
	return archive.SameFiles(f.found, files), nil
}

// TestMarksAreLookedUp: marks are looked up only if the archive knows more files than the limit,
// and each file is looked up once.
func TestMarksAreLookedUp(t *testing.T) {
	for name, x := range map[string]struct {
		files           int64
		counted, sealed bool
		lookedUp        bool
	}{
		"many": {11, true, true, true}, "as many": {10, true, true, false}, "not counted": {11, false, true, false}, "without a seal": {11, true, false, false},
	} {
		a := finder{&counting{catalog: design.NewCatalog("s"), found: []archive.Mark{{Digest: "d", Path: "found"}}}}
		a.catalog.Files.Records, a.catalog.Counted, a.catalog.Sealed = x.files, x.counted, x.sealed
		m, err := newMarks(t.Context(), a, "s", 10)
		if err != nil || (m.all == nil) != x.lookedUp {
			t.Errorf("%s: %+v, %v", name, m, err)
			continue
		}
		for range 2 {
			for digest, want := range map[string]bool{"d": true, "e": false} {
				if one, known, err := m.find(t.Context(), digest); err != nil || known != want || m.cached(digest).Digest != one.Digest {
					t.Errorf("%s: %s is %+v, %v, %v", name, digest, one, known, err)
				}
			}
		}
		if want := map[bool]int{true: 2}[x.lookedUp]; a.asked != want {
			t.Errorf("%s: %d marks were looked for, want %d", name, a.asked, want)
		}
		if every, err := m.list(t.Context()); err != nil || len(every) != 1 || every[0].Path != "m" {
			t.Errorf("%s: %+v, %v", name, every, err)
		}
	}
	m, err := newMarks(t.Context(), &counting{catalog: &design.Catalog{Counted: true, Sealed: true, Files: record.Digest{Records: 11}}}, "s", 10)
	if err != nil || m.all == nil {
		t.Errorf("an archive that finds none: %+v, %v", m, err)
	}
}

// TestReadingOptions checks which files are read again.
func TestReadingOptions(t *testing.T) {
	known := &marks{all: []archive.Mark{{Path: "p", Digest: "whole"}, {Path: "q", Digest: "part", Quarantined: 1}}, byDigest: map[string]archive.Mark{}}
	for _, m := range known.all {
		known.byDigest[m.Digest] = m
	}
	for _, x := range []struct {
		o                 Options
		trimmed           int64
		whole, part, path bool
	}{
		{Options{}, 0, true, true, true},
		{Options{}, 5, true, true, true},
		{Options{KeepLast: true}, 0, true, false, true},
		{Options{Rehash: true}, 0, true, true, false},
		{Options{Rehash: true}, 5, false, false, false},
	} {
		r := x.o.readOptions(t.Context(), known, &design.Catalog{Trimmed: x.trimmed})
		for digest, want := range map[string]bool{"whole": x.whole, "part": x.part, "new": false} {
			if got, err := r.Skip(digest); got != want || err != nil {
				t.Errorf("%+v, %d trimmed: %s is skipped: %v, %v", x.o, x.trimmed, digest, got, err)
			}
		}
		if (r.Known != nil) != x.path || r.KeepLast != x.o.KeepLast {
			t.Errorf("%+v: %+v", x.o, r)
		}
		if r.Known == nil {
			continue
		}
		if m, ok := r.Known("q"); !ok || m.Digest != "part" {
			t.Errorf("%+v: %+v, %v", x.o, m, ok)
		}
		if _, ok := r.Known("new"); ok {
			t.Errorf("%+v: a new path is known", x.o)
		}
	}
}

// TestStands checks which of two lines with different values replaces the other, and the default
// policy.
func TestStands(t *testing.T) {
	a, b, gone := design.Line{File: "a", Line: 2}, design.Line{File: "b", Line: 1}, design.Line{}
	for _, x := range []struct {
		by         OnConflict
		fresh, old design.Line
		want       bool
	}{
		{Refuse, a, b, false},
		{Refuse, b, a, false},
		{Refuse, a, gone, false},
		{First, a, b, true},
		{First, b, a, false},
		{First, a, a, false},
		{First, a, gone, false},
		{Last, a, b, false},
		{Last, b, a, true},
		{Last, a, a, true},
		{Last, a, gone, true},
	} {
		if got := x.by.replaces(x.fresh, x.old); got != x.want {
			t.Errorf("%s: %v against %v stands: %v", x.by, x.fresh, x.old, got)
		}
	}
	for _, x := range []struct {
		given OnConflict
		keeps bool
		want  OnConflict // "" = refused
	}{{"", false, Refuse}, {Last, false, Last}, {Keep, false, Keep}, {"", true, Keep}, {Keep, true, Keep}, {Refuse, true, ""}, {First, true, ""}} {
		o := Options{OnConflict: x.given}
		if err := o.applyPolicy(&design.Catalog{KeepsConflicts: x.keeps}); (err != nil) != (x.want == "") || err == nil && o.OnConflict != x.want {
			t.Errorf("%q in a subset that keeps all %v: %q, %v", x.given, x.keeps, o.OnConflict, err)
		}
	}
}

// TestWindow: dropped rows are neither stored nor counted. The window counts its memory and
// releases it.
func TestWindow(t *testing.T) {
	var released []*record.Batch
	standing := true
	w := newWindow("s", func(_, _ archive.Position) bool { return standing }, func(b *record.Batch) { released = append(released, b) })
	one, two := datedRows("a", 0, 1, 1, 2), datedRows("b", 0, 2, 2, 3)
	w.add(one)
	w.add(two) // the later row of day 2 replaces the earlier one
	count := func() (rows int, values []float64) {
		for b := range w.withoutDropped {
			rows += b.Len()
			values = append(values, b.Num[0]...)
		}
		return rows, values
	}
	if rows, values := count(); rows != 3 || !slices.Equal(values, []float64{1, 2, 2}) || w.rows != 4 || w.catalog.Digest().Records != 3 {
		t.Errorf("%d rows of %d, values %v, %d are counted", rows, w.rows, values, w.catalog.Digest().Records)
	}
	if w.bytes != footprint(one)+footprint(two) {
		t.Errorf("%d bytes, want %d and %d", w.bytes, footprint(one), footprint(two))
	}
	standing = false
	w.add(datedRows("c", 0, 3, 3))
	if rows, values := count(); rows != 3 || !slices.Equal(values, []float64{1, 2, 2}) {
		t.Errorf("%d rows, values %v", rows, values)
	}
	n := 0
	for range w.withoutDropped {
		if n++; true {
			break
		}
	}
	if w.reset(); n != 1 || len(released) != 3 || w.rows != 0 || w.bytes != 0 || len(w.batches) != 0 || len(w.droppedRows) != 0 || w.catalog.Digest().Records != 0 {
		t.Errorf("%d batches came; after reset %+v; %d were released", n, w, len(released))
	}
	if w.add(datedRows("d", 0, 4, 2)); w.rows != 1 || w.catalog.Digest().Records != 1 {
		t.Errorf("after reset: %+v", w)
	}
	if got := describe(archive.Position{Batch: datedRows("a", 6*3600, 1, 0, 1), I: 1}); got != "SL1L2 model=GFS interp_pnts=0 fcst_valid_beg=1970-01-02T00:00:00Z fcst_lead=6 h" {
		t.Error(got)
	}
}

// TestFootprint: each column counts by its capacity, and texts also by their length.
func TestFootprint(t *testing.T) {
	mpr, _ := record.TypeByName("MPR")
	b := &record.Batch{Type: mpr}
	last := footprint(b)
	for name, x := range map[string]struct {
		add  func()
		want int
	}{
		"times": {func() {
			b.Valid, b.ValidEnd, b.ObsBeg, b.ObsEnd = make([]int64, 3), make([]int64, 3), make([]int64, 3), make([]int64, 3)
		}, 96},
		"leads":     {func() { b.Lead, b.ObsLead = make([]int32, 3), make([]int32, 3) }, 24},
		"lines":     {func() { b.Line = make([]uint32, 5) }, 20},
		"numbers":   {func() { b.Num = [][]float64{make([]float64, 4), make([]float64, 2)} }, 48},
		"texts":     {func() { b.Text = [][]string{{"abc", "", "de"}} }, 3*16 + 5},
		"repeating": {func() { b.Group, b.GroupEnd = make([]float64, 7), make([]uint32, 2) }, 64},
		"rows":      {func() { b.HeaderIndex = make([]uint32, 3, 4) }, 4*4 + 3*40},
		"headers":   {func() { b.Headers = make([]record.Header, 2) }, 2 * 16 * int(record.NumFields)},
	} {
		if x.add(); footprint(b)-last != x.want {
			t.Errorf("%s: %d bytes, want %d", name, footprint(b)-last, x.want)
		}
		last = footprint(b)
	}
	// A batch that is more than three quarters full is kept as it is.
	for n, want := range map[int]bool{75: false, 76: true, 100: true, 1: false} {
		b := datedRows("a", 0, 1, make([]float64, n)...)
		b.HeaderIndex = append(make([]uint32, 0, 100), b.HeaderIndex...)
		got := compact(b)
		if (got == b) != want || got.Len() != n {
			t.Errorf("%d of 100 rows are kept as they are: %v, %d rows", n, got == b, got.Len())
		}
	}
}

// TestGauge: waitBelow waits while more bytes than the limit wait.
func TestGauge(t *testing.T) {
	g := newWaitingMemory()
	if g.add(10) != 10 || g.add(-4) != 6 || g.add(0) != 6 {
		t.Error("bytes are not added up")
	}
	if err := g.waitBelow(t.Context(), 6); err != nil {
		t.Error(err)
	}
	<-g.decreased // the token of the subtraction
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.waitBelow(ctx, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("more than the limit waits: %v", err)
	}
	go g.add(-1)
	if err := g.waitBelow(t.Context(), 5); err != nil {
		t.Error(err)
	}
}

// TestInterruptedReadingIsNotCached: the batches of a file that was not read to its end are removed before the next reading.
func TestInterruptedReadingIsNotCached(t *testing.T) {
	p, f, b := NewParseCache(1<<20), &File{Path: "a"}, datedRows("a", 0, 1, 1, 2)
	p.add(f, b)
	if file, batches := p.file("a"); file != nil || batches != nil {
		t.Errorf("%+v, %d batches of an interrupted reading", file, len(batches))
	}
	p.add(f, b)
	p.end(f)
	if file, batches := p.file("a"); file != f || len(batches) != 1 {
		t.Errorf("%+v, %d batches; want 1", file, len(batches))
	}
}

// TestParsedLimit: up to its limit the cache keeps everything, above it nothing.
func TestParsedLimit(t *testing.T) {
	b := datedRows("a", 0, 1, 1, 2)
	size := footprint(b)
	for most, kept := range map[int]bool{2 * size: true, 2*size - 1: false} {
		p, f := NewParseCache(most), &File{Path: "a"}
		p.add(f, b)
		p.add(f, b)
		p.end(f)
		if file, batches := p.file("a"); p.HasFiles() != kept || (file == f) != kept || len(batches) != map[bool]int{true: 2}[kept] {
			t.Errorf("%d bytes may be kept: %v, %d batches", most, p.HasFiles(), len(batches))
		}
	}
	var none *ParseCache
	none.add(nil, nil)
	none.end(nil)
	if file, batches := none.file("a"); none.HasFiles() || file != nil || batches != nil {
		t.Error("nothing keeps something")
	}
	if NewParseCache(1).HasFiles() {
		t.Error("nothing was read")
	}
}

// TestCommitIsChecked: new and existing records together must be as many as the commit received.
func TestCommitIsChecked(t *testing.T) {
	s := archive.CommitResult{New: 3, Replaced: map[string]int64{"a": 2, "b": 1}}
	for given, want := range map[int64]bool{5: false, 6: true, 7: false} {
		if err := checkCommit(given, s); (err == nil) != want || err != nil && !errors.Is(err, ErrNotConserved) {
			t.Errorf("%d were given: %v", given, err)
		}
	}
}

// TestOrigin checks its size, whether an archive already contains it, and how many bytes were read.
func TestOrigin(t *testing.T) {
	c := catalogOf(datedRows("a", 0, 1, 1, 2, 3, 4))
	o := &Origin{Catalog: c, Marks: []archive.Mark{{Digest: "a", Bytes: 30}, {Digest: "b", Bytes: 10}}}
	if o.Bytes() != 40 || (&Origin{}).Bytes() != 1 {
		t.Errorf("%d bytes, of no files %d", o.Bytes(), (&Origin{}).Bytes())
	}
	for read, want := range map[int64]int64{0: 0, 1: 10, 3: 30, 4: 40, 8: 40} {
		if got := (&originReader{from: o, read: read}).BytesRead(); got != want {
			t.Errorf("after %d records %d bytes are read, want %d", read, got, want)
		}
	}
	all := map[string]archive.Mark{"a": {}, "b": {}, "c": {}}
	if !o.isContained(all, catalogOf(datedRows("b", 0, 1, 1, 2, 3, 4))) {
		t.Error("an archive of the same records and marks does not hold it")
	}
	if o.isContained(all, catalogOf(datedRows("b", 0, 1, 1, 2, 3))) {
		t.Error("an archive of fewer records holds it")
	}
	delete(all, "b")
	if o.isContained(all, c) {
		t.Error("an archive without a mark holds it")
	}
}

// TestDigestOfABeginning: the digest covers the first bytes; a shorter file has none.
func TestDigestOfABeginning(t *testing.T) {
	dir := t.TempDir()
	whole, part := filepath.Join(dir, "whole"), filepath.Join(dir, "part")
	if err := errors.Join(os.WriteFile(whole, []byte("abcdef"), 0o600), os.WriteFile(part, []byte("abc"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got := digestOf(whole, 3); len(got) != 32 || got != digestOf(part, 3) || got == digestOf(whole, 4) {
		t.Errorf("%q", got)
	}
	if digestOf(part, 4) != "" || digestOf(filepath.Join(dir, "none"), 0) != "" {
		t.Error("bytes that are not there have a digest")
	}
}

// TestPairing: a record is correct if some line has the archive's values, whatever other lines
// contain.
func TestPairing(t *testing.T) {
	held := datedRows("archive", 0, 1, 1, 2, 3)
	for name, x := range map[string]struct {
		lines []*record.Batch
		from  int64
		want  string // the differences: "file:line missing"
	}{
		"the same":               {[]*record.Batch{datedRows("a", 0, 1, 1, 2)}, 0, ""},
		"another value":          {[]*record.Batch{datedRows("a", 0, 2, 2)}, 0, "a:1 false"},
		"right before":           {[]*record.Batch{datedRows("a", 0, 1, 2), datedRows("b", 0, 2, 2)}, 0, ""},
		"right behind":           {[]*record.Batch{datedRows("a", 0, 2, 2), datedRows("b", 0, 1, 2)}, 0, ""},
		"wrong twice":            {[]*record.Batch{datedRows("a", 0, 2, 2), datedRows("b", 0, 3, 2)}, 0, "a:1 false"},
		"lost":                   {[]*record.Batch{datedRows("a", 0, 1, 1, 5)}, 0, "a:2 true"},
		"lost before the cut":    {[]*record.Batch{datedRows("a", 0, 1, 5)}, 5*daySeconds + 1, ""},
		"lost at the cut":        {[]*record.Batch{datedRows("a", 0, 1, 5)}, 5 * daySeconds, "a:1 true"},
		"changed before the cut": {[]*record.Batch{datedRows("a", 0, 2, 2)}, 5 * daySeconds, "a:1 false"},
	} {
		got := ""
		for pass := range uint64(3) {
			c := design.NewCatalog("s")
			c.TrimmedBefore = x.from
			p := newPairing(pass, 3, c)
			p.each(held, func(i int, k record.Key) { p.archived[k] = p.hash.Digest(i) })
			for _, b := range x.lines {
				p.each(b, func(i int, k record.Key) { p.compare(b, i, k) })
			}
			for _, m := range p.different {
				got += fmt.Sprintf("%s:%d %v", m.Line.File, m.Line.Line, m.Missing)
			}
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestVerifiedMarks: each mark adds up, and all marks together report no more records than were
// loaded.
func TestVerifiedMarks(t *testing.T) {
	whole := archive.Mark{Path: "a", Read: 6, Stored: 3, Replaced: 2, Quarantined: 1}
	for name, x := range map[string]struct {
		m       archive.Mark
		brought int64
		want    string
	}{
		"whole":        {whole, 3, ""},
		"more brought": {whole, 4, ""},
		"less brought": {whole, 2, "the marks of 1 file report 3 records, the catalog reports 2"},
		"a line lost":  {archive.Mark{Path: "a", Read: 7, Stored: 3, Replaced: 2, Quarantined: 1}, 3, "does not add up"},
		"negative":     {archive.Mark{Path: "a", Read: 3, Stored: 4, Replaced: -1}, 4, "does not add up"},
	} {
		v := &VerifyResult{}
		v.marks([]archive.Mark{x.m}, x.brought)
		if said := strings.Join(v.Problems, "\n"); (said == "") != (x.want == "") || !strings.Contains(said, x.want) {
			t.Errorf("%s: %q, want %q", name, said, x.want)
		}
	}
}
