package load_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
)

const day = 24 * time.Hour

// removing returns the archives of layouts that can remove records.
func removing(t *testing.T) map[string]archive.Archive {
	t.Helper()
	out := layouts(t)
	delete(out, "memory")
	return out
}

// dated writes one file with a line for each day.
func dated(t *testing.T, name string, days ...int) string {
	t.Helper()
	var text strings.Builder
	for _, d := range days {
		text.WriteString(line(24, d, 1))
	}
	return write(t, t.TempDir(), name, text.String())
}

// daysTo lists 0 … n−1.
func daysTo(n int) (out []int) {
	for d := range n {
		out = append(out, d)
	}
	return out
}

// retained loads files and then removes old records.
func retained(t *testing.T, a archive.Archive, r load.Retention, files ...string) *load.Removal {
	t.Helper()
	r.Before, r.Limit = mustLoad(t, a, load.Options{}, files...).Before, load.DefaultLimit
	out, err := load.Retain(t.Context(), a, "s", r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func records(t *testing.T, a archive.Archive) int64 {
	t.Helper()
	return digest(t, a).Records
}

const year2109 = 90*365 + 22 // days after 2019-01-01

// One wrong date removes nothing, in the first load or in a later one. The date may be in the
// future, or an earlier one far from all other records.
func TestOneWrongDateRemovesNothing(t *testing.T) {
	for _, wrong := range []int{year2109, 6 * 365} {
		for name, a := range removing(t) {
			r := load.Retention{MaxAge: 400 * day}
			out := retained(t, a, r, dated(t, "first.vsdb", append(daysTo(29), wrong)...))
			if n := records(t, a); n != 30 {
				t.Fatalf("%s, day %d: %d records stay of 30 (%+v)", name, wrong, n, out)
			}
			if future := wrong == year2109; future && (out.Later != 1 || out.Refused) || !future && fault.Code(out.Err()) != fault.Incomplete {
				t.Errorf("%s, day %d: %+v, %v", name, wrong, out, out.Err())
			}
			if retained(t, a, r, dated(t, "next.vsdb", 29)); records(t, a) != 31 {
				t.Errorf("%s, day %d: %d records stay of 31 after another load", name, wrong, records(t, a))
			}
			checkIntact(t, a)
		}
	}
}

// A forecast's valid time may be as far ahead of the clock as its lead.
func TestNewestTimeIsAtMostTheLeadAhead(t *testing.T) {
	a := removing(t)["sqlite document"]
	now := time.Date(2019, 1, 10, 12, 0, 0, 0, time.UTC)
	out := retained(t, a, load.Retention{MaxAge: 3 * day, Now: now, Force: true}, dated(t, "a.vsdb", 0, 8, 10, 11)) // leads are a day
	if want := now.Add(12 * time.Hour); !out.Newest.Equal(want) || out.Later != 1 || out.Records != 1 {
		t.Errorf("%+v; want the newest %s", out, want)
	}
}

// A daily load removes a day, however large its share. A removal that the load does not explain is
// refused unless it is forced.
func TestRemovalThatTheLoadDoesNotExplainIsRefused(t *testing.T) {
	for name, a := range removing(t) {
		week := load.Retention{MaxAge: 7*day - 1}
		retained(t, a, week, dated(t, "week.vsdb", daysTo(7)...))
		for d := 7; d < 10; d++ {
			if out := retained(t, a, week, dated(t, fmt.Sprint(d), d)); out.Records != 1 || out.Refused {
				t.Errorf("%s, day %d: %+v", name, d, out)
			}
		}
		short := load.Retention{MaxAge: 2 * day}
		out := retained(t, a, short)
		if err := out.Err(); fault.Code(err) != fault.Incomplete || out.Records != 4 || out.Days != 4 || !strings.Contains(err.Error(), "--force") {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
		if n := records(t, a); n != 7 {
			t.Errorf("%s: %d records after the refusal, want 7", name, n)
		}
		short.Force = true
		if out := retained(t, a, short); out.Records != 4 || out.Err() != nil || records(t, a) != 3 {
			t.Errorf("%s, forced: %+v", name, out)
		}
		checkIntact(t, a)
	}
}

// Preview lists exactly the records that Retain then removes, and writes nothing.
func TestPreviewListsTheRemoval(t *testing.T) {
	for name, a := range removing(t) {
		mustLoad(t, a, load.Options{}, dated(t, "a.vsdb", daysTo(20)...))
		before, next := digest(t, a), dated(t, "b.vsdb", 20, 21)
		r := load.Retention{MaxAge: 10 * day, Limit: load.DefaultLimit}
		p, err := r.Preview(t.Context(), a, "s", []string{next}, load.Options{})
		if err != nil || !p.Refused || p.Records != 11 || p.Total != 22 || len(p.Groups) != 1 || p.Added != 2 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if digest(t, a) != before {
			t.Errorf("%s: the preview changed the archive", name)
		}
		if out := retained(t, a, load.Retention{MaxAge: 10 * day, Force: true}, next); out.Records != p.Records || !out.Cutoff.Equal(p.Cutoff) {
			t.Errorf("%s: %+v was removed, %+v was listed", name, out, p)
		}
	}
}

// Only a load with Rehash restores removed records.
func TestRemovedFilesComeBackWithRehashOnly(t *testing.T) {
	for name, a := range removing(t) {
		files := []string{dated(t, "a.vsdb", daysTo(5)...), dated(t, "b.vsdb", 5, 6)}
		mustLoad(t, a, load.Options{}, files...)
		all := digest(t, a)
		retained(t, a, load.Retention{MaxAge: 3 * day, Force: true}, files...)
		if s := mustLoad(t, a, load.Options{}, files...); records(t, a) != 4 || len(s.Skipped) != 2 {
			t.Errorf("%s: %d records after the load of each night, %d files skipped", name, records(t, a), len(s.Skipped))
		}
		if s := mustLoad(t, a, load.Options{Rehash: true}, files...); s.Stored != 3 || s.Duplicates != 4 || digest(t, a) != all {
			t.Errorf("%s: with Rehash %+v", name, s)
		}
		checkIntact(t, a, files...)
	}
}

// Preview counts only the records that the load would store: a line type that a load_spec excludes has no newest time.
func TestPreviewOmitsExcludedLineTypes(t *testing.T) {
	for name, a := range removing(t) {
		mustLoad(t, a, load.Options{}, dated(t, "a.vsdb", daysTo(20)...))
		next := write(t, t.TempDir(), "b.vsdb", line(24, 20, 1)+strings.Replace(line(24, 30, 1), "SL1L2", "SAL1L2", 1))
		o := load.Options{Accept: func(lineType string) bool { return lineType == "SL1L2" }}
		r := load.Retention{MaxAge: 10 * day, Limit: load.DefaultLimit}
		p, err := r.Preview(t.Context(), a, "s", []string{next}, o)
		if err != nil || p.Records != 10 || p.Total != 21 || p.Added != 1 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		absent := []string{next, filepath.Join(t.TempDir(), "none.vsdb"), filepath.Join(t.TempDir(), "neither.vsdb")}
		_, err = r.Preview(t.Context(), a, "s", absent, o)
		if text := fmt.Sprint(err); !strings.Contains(text, "none.vsdb") || !strings.Contains(text, "neither.vsdb") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// losing is an archive that counts one record less than it reports in its catalog.
type losing struct{ archive.Archive }

func (l losing) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c, err := l.Archive.Contents(ctx, subset)
	c.Records["SL1L2"]--
	return c, err
}

// Retain counts what remains if it removed a large share of the records, and reports a loss.
func TestRetainDetectsLostRecords(t *testing.T) {
	a := removing(t)["sqlite document"]
	mustLoad(t, a, load.Options{}, dated(t, "a.vsdb", daysTo(20)...))
	if _, err := load.Retain(t.Context(), losing{a}, "s", load.Retention{MaxAge: 10 * day, Force: true}); !errors.Is(err, load.ErrNotConserved) || !strings.Contains(err.Error(), "had 20 records, 9 were removed, and 10 remain") {
		t.Error(err)
	}
	if _, err := load.Retain(t.Context(), losing{a}, "s", load.Retention{MaxAge: 9 * day, Force: true}); err != nil { // 1 of 11 records
		t.Error(err)
	}
}

// A copy that is repeated counts the removed records of the origin once.
func TestRepeatedCopyCountsRemovedRecordsOnce(t *testing.T) {
	a, to := removing(t)["sqlite document"], memory(t)
	mustLoad(t, a, load.Options{}, dated(t, "a.vsdb", daysTo(20)...))
	retained(t, a, load.Retention{MaxAge: 10 * day, Force: true})
	for i := range 3 {
		o, err := load.NewOrigin(t.Context(), a, "s", "origin")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := load.Run(t.Context(), to, "s", nil, load.Options{Origin: o}); err != nil {
			t.Fatal(err)
		}
		if c, err := to.Catalog(t.Context(), "s"); err != nil || c.Trimmed != 9 {
			t.Errorf("copy %d: %d records are counted as removed, %v", i, c.Trimmed, err)
		}
		mustLoad(t, a, load.Options{}, dated(t, fmt.Sprint(i), 20+i))
	}
}
