package load_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// refusedLines loads files with the default policy or another one, and returns the number of refused lines.
func refusedLines(t *testing.T, a archive.Archive, o load.Options, files ...string) int64 {
	t.Helper()
	s := mustLoad(t, a, o, files...)
	return s.Refused(o.OnConflict, func(design.Conflict) {})
}

// TestRefusedLinesAreDecidedLater: a load with another policy reads the files of refused lines again, and decides about
// these lines. Later loads do not report them any more.
func TestRefusedLinesAreDecidedLater(t *testing.T) {
	for policy, want := range map[load.OnConflict][]float64{load.First: {1}, load.Last: {2}, load.Keep: {1, 2}} {
		for name, a := range layouts(t) {
			dir := t.TempDir()
			files := []string{write(t, dir, "a.vsdb", line(0, 0, 1)), write(t, dir, "b.vsdb", line(0, 0, 2)+line(6, 0, 2)), write(t, dir, "c.vsdb", line(12, 0, 1))}
			for range 2 {
				if n := refusedLines(t, a, load.Options{}, files...); n != 1 {
					t.Errorf("%s, %s: %d lines are refused, want 1", policy, name, n)
				}
			}
			s := mustLoad(t, a, load.Options{OnConflict: policy}, files...)
			if s.Read != 2 || len(s.Skipped) != 2 || s.Conflicts+s.Kept != 1 || s.Incomplete(s.Refused(policy, func(design.Conflict) {})) != nil {
				t.Errorf("%s, %s: read %d, skipped %d, conflicts %d, kept %d", policy, name, s.Read, len(s.Skipped), s.Conflicts, s.Kept)
			}
			if got := values(t, a, 0); !slices.Equal(got, want) {
				t.Errorf("%s, %s: the archive has %v, want %v", policy, name, got, want)
			}
			for _, o := range []load.Options{{}, {OnConflict: policy}} {
				if s := mustLoad(t, a, o, files...); len(s.Skipped) != 3 || s.Refused(o.OnConflict, func(design.Conflict) {}) != 0 {
					t.Errorf("%s, %s, again: %d files are skipped", policy, name, len(s.Skipped))
				}
			}
			checkIntact(t, a, files...)
		}
	}
}

// TestRefusedLineOfACorrectedFile: after a load of the corrected file nothing reports the refused line of its earlier
// version. If the corrected file has refused lines, they are reported, whatever commit stores them.
func TestRefusedLineOfACorrectedFile(t *testing.T) {
	for _, window := range []int{1, 100} {
		a, dir := memory(t), t.TempDir()
		first, file := write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 1)), write(t, dir, "b.vsdb", line(0, 0, 2))
		o := load.Options{Window: window}
		if n := refusedLines(t, a, o, first, file); n != 1 {
			t.Errorf("window %d: %d lines are refused, want 1", window, n)
		}
		write(t, dir, "b.vsdb", line(12, 0, 1)+line(6, 0, 2)+line(0, 0, 3)+line(18, 0, 1))
		for range 2 {
			if n := refusedLines(t, a, o, first, file); n != 2 {
				t.Errorf("window %d, another version: %d lines are refused, want 2", window, n)
			}
		}
		write(t, dir, "b.vsdb", line(0, 0, 1))
		for range 2 {
			if n := refusedLines(t, a, o, first, file); n != 0 {
				t.Errorf("window %d, the corrected version: %d lines are refused, want none", window, n)
			}
		}
	}
}

// TestFirstAfterAnInterruption: an interrupted load has stored a value of the file that comes last. The next load finds
// its line, although the file has no mark, and the value of a file that has arrived meanwhile wins.
func TestFirstAfterAnInterruption(t *testing.T) {
	for _, age := range []time.Duration{0, time.Hour} { // the digest of an old file is not computed again
		a, dir := memory(t), t.TempDir()
		last := write(t, dir, "b.vsdb", line(0, 0, 2)+line(6, 0, 2)+line(12, 0, 2))
		if _, err := load.Run(t.Context(), &unmarked{a}, "s", []string{last}, load.Options{OnConflict: load.First}); err != nil {
			t.Fatal(err)
		}
		first := write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 1))
		for _, path := range []string{first, last} {
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		s := mustLoad(t, a, load.Options{OnConflict: load.First, Window: 1}, first, last)
		if s.Conflicts != 4 || s.Duplicates != 1 || s.Stored != 0 {
			t.Errorf("age %v: conflicts %d, duplicates %d, stored %d; want 4, 1, 0", age, s.Conflicts, s.Duplicates, s.Stored)
		}
		holdsFbar(t, a, map[int32]float64{0: 1, 6: 1, 12: 2})
	}
}

// TestDamagedGzipStoresNothing: the checksum of a gzip file is at its end, and a wrong one means that any value may be
// wrong. Nothing of the file is stored, and the repaired file is loaded as if the damaged one had never existed.
func TestDamagedGzipStoresNothing(t *testing.T) {
	var text strings.Builder
	for i := range 9000 { // more records than a batch has
		text.WriteString(line(i%400, i/400, float64(i)))
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(packed.Bytes())
	damaged[len(damaged)-8] ^= 1 // of the checksum
	a, dir := memory(t), t.TempDir()
	for _, bytes := range [][]byte{damaged, packed.Bytes()[:packed.Len()-9]} {
		file := write(t, dir, "a.vsdb.gz", string(bytes))
		s := mustLoad(t, a, load.Options{}, file)
		if len(s.Failed) != 1 || !strings.Contains(s.Failed[0].Error(), "cannot be read to its end") || s.Read != 0 || records(t, a) != 0 {
			t.Errorf("read %d, failed %v, %d records", s.Read, s.Failed, records(t, a))
		}
	}
	if s := mustLoad(t, a, load.Options{}, write(t, dir, "a.vsdb.gz", packed.String())); s.Stored != 9000 || len(s.Failed) != 0 {
		t.Errorf("stored %d, failed %v", s.Stored, s.Failed)
	}
}

// TestFailedLookupMarksNoFile: if a file's mark cannot be looked up, the load ends, and does not take the file for one
// without records.
func TestFailedLookupMarksNoFile(t *testing.T) {
	dir, broken := t.TempDir(), errors.New("broken")
	var files []string
	for i := range 3 {
		files = append(files, write(t, dir, fmt.Sprintf("f%d.vsdb", i), line(i, 0, 1)))
	}
	for range 300 {
		o := load.ReadOptions{Skip: func(string) (bool, error) { return false, broken }}
		err := load.Read(t.Context(), files, o, func(*load.File, *record.Batch) error { return nil }, func(f *load.File) error {
			t.Errorf("%s counts as a file that was read to its end", f.Path)
			return nil
		})
		if !errors.Is(err, broken) || t.Failed() {
			t.Fatal(err)
		}
	}
}

// TestPruneOfRecordsThatWereLoadedAgain: records older than those that a removal removed are loaded and then deleted.
// Prune forgets the mark of their file, and the next load stores them again.
func TestPruneOfRecordsThatWereLoadedAgain(t *testing.T) {
	a := removing(t)["sqlite normalized"]
	first := dated(t, "a.vsdb", daysTo(10)...)
	retained(t, a, load.Retention{MaxAge: 4 * day, Force: true}, first)
	old := write(t, t.TempDir(), "b.vsdb", line(6, 2, 1)+line(6, 3, 1))
	mustLoad(t, a, load.Options{}, old)
	pruned := without(a, 6)
	p, err := load.Prune(t.Context(), pruned, "s", agree)
	if err != nil || p.Lost != 2 || !slices.ContainsFunc(p.Files, func(m archive.Mark) bool { return m.Path == old }) {
		t.Fatalf("%+v, %v", p, err)
	}
	if v, err := load.Verify(t.Context(), pruned, "s"); err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestPruneReadsTheLastLine: a load has accepted a last line without a line end. If its record is deleted, Prune forgets
// the mark of the file.
func TestPruneReadsTheLastLine(t *testing.T) {
	a, file := memory(t), write(t, t.TempDir(), "a.vsdb", strings.TrimSuffix(line(0, 0, 1)+line(6, 0, 1), "\n"))
	mustLoad(t, a, load.Options{KeepLast: true}, file)
	pruned := without(a, 6)
	if p, err := load.Prune(t.Context(), pruned, "s", agree); err != nil || p.Lost != 1 || len(p.Files) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if v, err := load.Verify(t.Context(), pruned, "s"); err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestCopyOfARetainedArchive: a copy also counts removed records. They are not records of another loader, and the load
// does not read the copy again because of them.
func TestCopyOfARetainedArchive(t *testing.T) {
	from, to := removing(t)["sqlite document"], memory(t)
	mustLoad(t, from, load.Options{}, dated(t, "a.vsdb", daysTo(20)...))
	retained(t, from, load.Retention{MaxAge: 10 * day, Force: true})
	o, err := load.NewOrigin(t.Context(), from, "s", "origin")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	s := mustLoad(t, to, load.Options{Origin: o, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if s.Stored != 11 || s.Catalog.Trimmed != 9 || strings.Contains(log.String(), "another loader") {
		t.Errorf("stored %d, removed %d, log %q", s.Stored, s.Catalog.Trimmed, log.String())
	}
}

// TestCopyKeepsConflicts: a copy of a subset that keeps conflicts keeps them, whatever policy the caller chose.
func TestCopyKeepsConflicts(t *testing.T) {
	a := memory(t)
	mustLoad(t, a, load.Options{OnConflict: load.Keep}, contradicting(t)...)
	o, err := load.NewOrigin(t.Context(), a, "s", "origin")
	if err != nil {
		t.Fatal(err)
	}
	copied := memory(t)
	for range 2 { // the second copy finds duplicates
		mustLoad(t, copied, load.Options{Origin: o, OnConflict: load.Last})
		o.Marks = append(slices.Clone(o.Marks), archive.Mark{Path: "x", Digest: "x", Loaded: time.Unix(1, 0)})
	}
	if digest(t, copied) != digest(t, a) {
		t.Error("the copy differs")
	}
}

// TestNoteOfAnInterruptedLoad: the name of an interrupted load stays until a load with the same command has finished.
func TestNoteOfAnInterruptedLoad(t *testing.T) {
	a, dir := memory(t), t.TempDir()
	files := []string{write(t, dir, "a.vsdb", line(0, 0, 1)), write(t, dir, "b.vsdb", line(0, 1, 1)), write(t, dir, "c.vsdb", line(0, 2, 1))}
	year, night := &design.Loading{PID: 7, Command: "load year"}, &design.Loading{PID: 8, Command: "load night"}
	if _, err := load.Run(t.Context(), &failing{a, 3}, "s", files, load.Options{Window: 1, Loading: year}); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	note := func() string {
		c, err := a.Catalog(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if c.Loading == nil {
			return ""
		}
		return c.Loading.Command
	}
	o := load.Options{Window: 1, Loading: night, InFlight: func(design.Loading) bool { return false }}
	mustLoad(t, a, o, write(t, dir, "d.vsdb", line(0, 3, 1)), write(t, dir, "e.vsdb", line(0, 4, 1)))
	if note() != year.Command {
		t.Errorf("after another load the catalog names %q", note())
	}
	o.Loading = &design.Loading{PID: 9, Command: "load year"}
	if mustLoad(t, a, o, files...); note() != "" {
		t.Errorf("after the same load the catalog names %q", note())
	}
}
