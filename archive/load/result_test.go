package load

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
)

// sized is an archive with a size.
type sized struct {
	archive.Archive
	bytes int64
	err   error
}

func (s sized) Size(context.Context) (int64, error) { return s.bytes, s.err }

// TestResultOfASummary: each number of the summary is in the result, and no password of a failure.
func TestResultOfASummary(t *testing.T) {
	c := catalogOf(datedRows("a", 0, 1, 1, 2))
	c.Objects = 17
	counts := func(n int64) map[string]int64 { return map[string]int64{"x": n} }
	marks := []archive.Mark{{Path: "q", Quarantined: 16}}
	s := &Summary{
		Files: make([]archive.Mark, 1), Skipped: make([]string, 2), Read: 3, Stored: 4, Duplicates: 5, Conflicts: 6, Quarantined: 7, Kept: 8, Bytes: 9,
		NotAccepted: counts(10), OmittedColumns: counts(11), ShortenedTexts: counts(12), Elapsed: 1500 * time.Millisecond, SkippedWithQuarantine: marks,
		IncompleteFiles: []string{"i"}, Failed: []error{errors.New("postgres://me:secret@host/db: refused")}, Catalog: c, Commits: 99,
	}
	want := &Result{
		Subset: "s", Design: "wide", Files: 1, Skipped: 2, Read: 3, Stored: 4, Duplicates: 5, Conflicts: 6, Quarantined: 7, Kept: 8, Bytes: 9,
		NotAccepted: counts(10), OmittedColumns: counts(11), ShortenedTexts: counts(12), Seconds: 1.5, SkippedWithQuarantine: marks, IncompleteFiles: []string{"i"},
		Failed: []string{"postgres://me:xxxxx@host/db: refused"}, Records: map[string]int64{"SL1L2": 2}, Objects: 17, Object: "rows", BytesOnDisk: 18, Digest: c.Digest().String(),
	}
	for _, database := range []string{"", "d"} {
		if want.Database = database; database != "" {
			s.Counted = &archive.Contents{Database: database}
		}
		if got, err := s.Result(t.Context(), sized{bytes: 18}, "s", design.Wide); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v\nwant %+v", got, err, want)
		}
	}
	lost := errors.New("no connection")
	if _, err := s.Result(t.Context(), sized{err: lost}, "s", design.Wide); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}
