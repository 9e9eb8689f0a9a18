package load_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
)

// contradicting writes three files. They have different values for leads 0, 6 and 12; lead 6
// conflicts within one file. Leads 18 and 24 are duplicates.
func contradicting(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	return []string{
		write(t, dir, "a.vsdb", line(0, 0, 1)+line(18, 0, 5)+line(6, 0, 1)+line(6, 0, 2)),
		write(t, dir, "b.vsdb", line(0, 0, 2)+line(12, 0, 1)+line(18, 0, 5)+line(24, 0, 6)),
		write(t, dir, "c.vsdb", line(12, 0, 2)+line(24, 0, 6)+line(0, 0, 3)),
	}
}

// places lists conflicts as "file:line" of the existing record and "file:line" of the dropped one.
func places(list []design.Conflict) []string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%s:%d %s:%d", filepath.Base(c.Existing.File), c.Existing.Line, filepath.Base(c.Dropped.File), c.Dropped.Line))
	}
	slices.Sort(out)
	return out
}

// checkTexts checks that the text of a conflict of contradicting names the dropped line's value, and then the existing
// one's.
func checkTexts(t *testing.T, conflicts []design.Conflict) {
	t.Helper()
	fbar := map[string]int{"a.vsdb:1": 1, "a.vsdb:3": 1, "a.vsdb:4": 2, "b.vsdb:1": 2, "b.vsdb:2": 1, "c.vsdb:1": 2, "c.vsdb:3": 3}
	for _, c := range conflicts {
		value := func(l design.Line) int { return fbar[fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)] }
		want := fmt.Sprintf(": fbar %d, not %d", value(c.Dropped), value(c.Existing))
		if !strings.HasPrefix(c.What, "SL1L2 ") || !strings.HasSuffix(c.What, want) {
			t.Errorf("%s instead of %s: the report says %q, want %q", c.Existing, c.Dropped, c.What, want)
		}
	}
}

// The archive and the report do not depend on the order of files, the number of workers or the
// commits.
func TestConflictsAreSettledByPath(t *testing.T) {
	for _, tc := range []struct {
		o    load.OnConflict
		want []string
		fbar map[int32]float64 // by lead, hours
	}{
		{load.Refuse, []string{"a.vsdb:1 b.vsdb:1", "a.vsdb:1 c.vsdb:3", "a.vsdb:3 a.vsdb:4", "b.vsdb:2 c.vsdb:1"}, map[int32]float64{0: 1, 6: 1, 12: 1}},
		{load.First, []string{"a.vsdb:1 b.vsdb:1", "a.vsdb:1 c.vsdb:3", "a.vsdb:3 a.vsdb:4", "b.vsdb:2 c.vsdb:1"}, map[int32]float64{0: 1, 6: 1, 12: 1}},
		{load.Last, []string{"a.vsdb:4 a.vsdb:3", "b.vsdb:1 a.vsdb:1", "c.vsdb:1 b.vsdb:2", "c.vsdb:3 b.vsdb:1"}, map[int32]float64{0: 3, 6: 2, 12: 2}},
	} {
		for trial := range 8 {
			a, files := memory(t), contradicting(t)
			r := rand.New(rand.NewPCG(1, uint64(trial)))
			r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			var reported []design.Conflict
			s := mustLoad(t, a, load.Options{
				OnConflict: tc.o, Workers: 1 + trial%3, Window: []int{1, 2, 5, 100}[trial%4],
				Conflict: func(c design.Conflict) { reported = append(reported, c) },
			}, files...)
			if s.Read != 11 || s.Stored != 5 || s.Duplicates != 2 || s.Conflicts != 4 {
				t.Errorf("%s, trial %d: read %d, stored %d, same %d, other %d; want 11 = 5 + 2 + 4", tc.o, trial, s.Read, s.Stored, s.Duplicates, s.Conflicts)
			}
			c, err := a.Catalog(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if got := places(reported); !slices.Equal(got, tc.want) || !slices.Equal(places(c.Conflicts), tc.want) {
				t.Errorf("%s, trial %d: reported %q, the archive reports %q, want %q", tc.o, trial, got, places(c.Conflicts), tc.want)
			}
			checkTexts(t, reported)
			checkTexts(t, c.Conflicts)
			holdsFbar(t, a, tc.fbar)
		}
	}
}

// For loads one after the other, the path decides as well, if the files still exist. If a file no
// longer exists, its records in the archive count as the earlier ones.
func TestConflictsWithTheArchive(t *testing.T) {
	for _, tc := range []struct {
		o     load.OnConflict
		gone  bool // the file that was loaded first no longer exists
		first int  // index of the file that is loaded first
		want  float64
		place string
	}{
		{load.Refuse, false, 0, 1, "a.vsdb:1 b.vsdb:1"},
		{load.Refuse, false, 1, 2, "b.vsdb:1 a.vsdb:1"},
		{load.First, false, 0, 1, "a.vsdb:1 b.vsdb:1"},
		{load.First, false, 1, 1, "a.vsdb:1 b.vsdb:1"},
		{load.Last, false, 0, 2, "b.vsdb:1 a.vsdb:1"},
		{load.Last, false, 1, 2, "b.vsdb:1 a.vsdb:1"},
		{load.Refuse, true, 1, 2, ".:0 a.vsdb:1"},
		{load.First, true, 1, 2, ".:0 a.vsdb:1"},
		{load.Last, true, 1, 1, "a.vsdb:1 .:0"},
	} {
		a, dir := memory(t), t.TempDir()
		files := []string{write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 9)), write(t, dir, "b.vsdb", line(0, 0, 2)+line(6, 0, 9))}
		mustLoad(t, a, load.Options{OnConflict: tc.o}, files[tc.first])
		if tc.gone {
			if err := os.Remove(files[tc.first]); err != nil {
				t.Fatal(err)
			}
		}
		s := mustLoad(t, a, load.Options{OnConflict: tc.o}, files[1-tc.first])
		if s.Stored != 0 || s.Duplicates != 1 || s.Conflicts != 1 {
			t.Errorf("%+v: stored %d, same %d, other %d; want 0, 1, 1", tc, s.Stored, s.Duplicates, s.Conflicts)
		}
		c, err := a.Catalog(t.Context(), "s")
		if err != nil || len(c.Conflicts) != 1 || places(c.Conflicts)[0] != tc.place {
			t.Errorf("%+v: the archive reports %v, %v", tc, places(c.Conflicts), err)
		}
		holdsFbar(t, a, map[int32]float64{0: tc.want})
	}
}

// holdsFbar checks values by lead, hours.
func holdsFbar(t *testing.T, a archive.Archive, want map[int32]float64) {
	t.Helper()
	for b, err := range a.Dump(t.Context(), "s") {
		if err != nil {
			t.Fatal(err)
		}
		c, _ := b.Type.Column("fbar")
		for i := range b.Len() {
			if fbar, ok := want[b.Lead[i]/3600]; ok && b.Num[c.Slot][i] != fbar {
				t.Errorf("lead %d has fbar %v, want %v", b.Lead[i]/3600, b.Num[c.Slot][i], fbar)
			}
		}
	}
}

// After a killed load, the records that it stored are duplicates and not conflicts.
func TestResumedLoadAlarmsNobody(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 20 {
		files = append(files, write(t, dir, fmt.Sprintf("f%02d.vsdb", i), line(0, i, 1)+line(6, i, 2)))
	}
	a := memory(t)
	forgetful := &unmarked{a}
	if _, err := load.Run(t.Context(), forgetful, "s", files[:10], load.Options{Window: 3}); err != nil {
		t.Fatal(err)
	}
	s := mustLoad(t, a, load.Options{Window: 7}, files...)
	if s.Stored != 20 || s.Duplicates != 20 || s.Conflicts != 0 {
		t.Errorf("stored %d, same %d, other %d; want 20, 20, 0", s.Stored, s.Duplicates, s.Conflicts)
	}
}

// unmarked is an archive that stores no marks, as if each load had died before its marks.
type unmarked struct{ archive.Archive }

type unmarkedLoader struct{ archive.Loader }

func (u *unmarked) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := u.Archive.Loader(ctx, subset)
	return unmarkedLoader{l}, err
}

func (l unmarkedLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	c.Complete = nil
	return l.Loader.Commit(ctx, c)
}
