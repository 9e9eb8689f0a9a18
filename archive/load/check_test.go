package load

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// scripted is an archive whose replies a test sets. Each Dump returns the next element of dumps;
// after the last one, it returns the last one again.
type scripted struct {
	archive.Archive
	marks   int64 // number of records that its marks report
	holds   int64 // number of records that its catalog counts
	lost    int64 // number of these that it does not contain
	dumps   [][]*record.Batch
	looks   int
	commits int
}

func (s *scripted) Marks(context.Context, string) ([]archive.Mark, error) {
	return []archive.Mark{{Stored: s.marks}}, nil
}

func (s *scripted) Contents(context.Context, string) (archive.Contents, error) {
	return archive.Contents{Records: map[string]int64{"SL1L2": s.holds - s.lost}}, nil
}

func (s *scripted) Catalog(context.Context, string) (*design.Catalog, error) {
	c := design.NewCatalog("s")
	c.Groups = []*design.Group{{LineType: "SL1L2", Digest: record.Digest{Records: s.holds}}}
	return c, nil
}

// countingLoader is the loader of scripted. It counts the commits.
type countingLoader struct {
	archive.Loader
	of *scripted
}

func (t countingLoader) Commit(context.Context, archive.Commit) (archive.CommitResult, error) {
	t.of.commits++
	return archive.CommitResult{}, nil
}

func (s *scripted) Dump(context.Context, string) iter.Seq2[*record.Batch, error] {
	batches := s.dumps[min(s.looks, len(s.dumps)-1)]
	s.looks++
	return func(yield func(*record.Batch, error) bool) {
		for _, b := range batches {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// TestCheck: each check finds a violation of conservation in its own place, and reports no intact
// load.
func TestCheck(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	rows := func(valid ...int64) []*record.Batch {
		b := &record.Batch{}
		b.Reset(sl1l2, "a")
		head := b.AddHeader(record.DefaultHeader())
		for _, v := range valid {
			b.AppendTimes(head, 0, v, 1)
		}
		return []*record.Batch{b}
	}
	whole := archive.Mark{Path: "a", Read: 10, Stored: 7, Replaced: 2, Quarantined: 1}
	for name, c := range map[string]struct {
		mark   func(m *archive.Mark) // changes the mark of the file
		stored int64                 // number of records that commits reported
		a      scripted              // the archive afterwards; it had 5 records before
		says   string                // "" = conserved
		looks  int
	}{
		"all is well":                 {stored: 7, a: scripted{marks: 12, holds: 12}},
		"a file lost a line":          {mark: func(m *archive.Mark) { m.Read++ }, stored: 7, a: scripted{marks: 12, holds: 12}, says: "the sum of a file"},
		"a file stored less than 0":   {mark: func(m *archive.Mark) { m.Stored, m.Replaced = -1, 10 }, stored: -1, a: scripted{marks: 4, holds: 4}, says: "the sum of a file"},
		"commits stored less":         {stored: 6, a: scripted{marks: 12, holds: 12}, says: "the total; commits stored 6"},
		"commits stored more":         {stored: 8, a: scripted{marks: 12, holds: 12}, says: "the total; commits stored 8"},
		"the archive grew by less":    {stored: 7, a: scripted{marks: 11, holds: 11}, says: "the archive grew by 6 records"},
		"the archive did not grow":    {stored: 7, a: scripted{marks: 5, holds: 5}, says: "the archive grew by 0 records"},
		"a tenth is counted":          {stored: 7, a: scripted{marks: 12, holds: 12, lost: 1}, says: "has 11 records, but its catalog counts 12"},
		"its marks report more":       {stored: 7, a: scripted{marks: 13, holds: 12}, says: "has 12 records, but its marks report 13"},
		"another loader's records":    {stored: 7, a: scripted{marks: 13, holds: 13, dumps: [][]*record.Batch{rows(1, 2, 3)}}, looks: 1},
		"twins":                       {stored: 7, a: scripted{marks: 13, holds: 13, dumps: [][]*record.Batch{rows(1, 2, 2)}}, says: "1 record is in the archive more than once", looks: 2},
		"twins at the first look":     {stored: 7, a: scripted{marks: 13, holds: 13, dumps: [][]*record.Batch{rows(1, 2, 2), rows(1, 2)}}, looks: 2},
		"other twins each time":       {stored: 7, a: scripted{marks: 13, holds: 13, dumps: [][]*record.Batch{rows(1, 1, 2), rows(1, 2, 2)}}, looks: 2},
		"the same twin and one gone":  {stored: 7, a: scripted{marks: 13, holds: 13, dumps: [][]*record.Batch{rows(1, 1, 2, 2), rows(1, 2, 2)}}, says: "1 record is", looks: 2},
		"the first look is not asked": {stored: 7, a: scripted{marks: 12, holds: 12, dumps: [][]*record.Batch{rows(1, 1)}}},
	} {
		m := whole
		if c.mark != nil {
			c.mark(&m)
		}
		r := &loadRun{archive: &c.a, marks: &marks{}, loader: countingLoader{of: &c.a}, options: Options{Log: slog.New(slog.DiscardHandler)}, files: map[string]*archive.Mark{}, committedRecords: c.stored}
		r.addToSummary(&m)
		err := r.check(t.Context(), "s", 5)
		if (err == nil) != (c.says == "") || err != nil && (!errors.Is(err, ErrNotConserved) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if c.a.looks != c.looks || c.a.commits != max(c.looks-1, 0) {
			t.Errorf("%s: the archive was read %d times, want %d; %d commits were waited for", name, c.a.looks, c.looks, c.a.commits)
		}
	}
}
