package load

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
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

// trimming is an archive and its loader. It remembers up to when records were to be removed.
type trimming struct {
	archive.Archive
	catalog *design.Catalog
	cutoffs []int64
	err     error
}

func (a *trimming) Catalog(context.Context, string) (*design.Catalog, error) { return a.catalog, nil }
func (a *trimming) Loader(context.Context, string) (archive.Loader, error)   { return a, nil }
func (a *trimming) Add(context.Context, *record.Batch) error                 { return nil }
func (a *trimming) Close() error                                             { return nil }
func (a *trimming) Commit(context.Context, archive.Commit) (archive.CommitResult, error) {
	return archive.CommitResult{}, nil
}

func (a *trimming) Trim(_ context.Context, cutoff int64) error {
	a.cutoffs = append(a.cutoffs, cutoff/daySeconds)
	return a.err
}

// TestRemovalInSteps: one commit removes at most 30 days, and the last one ends at the cutoff. An error ends the removal.
func TestRemovalInSteps(t *testing.T) {
	var days []float64
	for d := 1; d <= 100; d++ {
		days = append(days, float64(d))
	}
	r := Retention{MaxAge: 10 * 24 * time.Hour, Force: true, Now: time.Unix(100*daySeconds, 0)}
	for _, c := range []struct {
		days []float64
		err  error
		want []int64
	}{
		{days, nil, []int64{31, 61, 90}},
		{append([]float64{1}, days[49:]...), nil, []int64{31, 80, 90}}, // no step for the days without records
		{days[90:], nil, nil},
		{days, errors.New("no connection"), []int64{31}},
	} {
		a := &trimming{catalog: catalogOf(datedRows("a", 0, 1, c.days...)), err: c.err}
		if out, err := Retain(t.Context(), a, "s", r); !errors.Is(err, c.err) || !slices.Equal(a.cutoffs, c.want) || out.Cutoff.Unix() != 90*daySeconds {
			t.Errorf("%d days: removed before %d, %+v, %v; want %d", len(c.days), a.cutoffs, out, err, c.want)
		}
	}
}
