package load_test

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/record"
)

// A file that was cut inside its last number gives no wrong value. If only the line end of its last
// line is missing, KeepLast loads this line, also after a load without KeepLast.
func TestLastLineIsKeptOnlyWhereAsked(t *testing.T) {
	dir := t.TempDir()
	text := line(0, 0, 1) + line(6, 0, 2)
	path := write(t, dir, "cut.vsdb", strings.TrimSuffix(text, "\n"))
	clean, a := memory(t), memory(t)
	mustLoad(t, clean, load.Options{}, write(t, dir, "whole.vsdb", text))
	var reasons []string
	o := load.Options{Reject: func(r record.Reject) { reasons = append(reasons, r.Reason) }}
	if s := mustLoad(t, a, o, path); s.Stored != 1 || s.Quarantined != 1 || reasons[0] != record.MaybeTruncated {
		t.Errorf("stored %d, quarantined %d, %v", s.Stored, s.Quarantined, reasons)
	}
	o.KeepLast = true
	if s := mustLoad(t, a, o, path); s.Stored != 1 || s.Duplicates != 1 || len(s.Skipped) != 0 {
		t.Errorf("with KeepLast: %+v", s)
	}
	if digest(t, a) != digest(t, clean) {
		t.Error("the archive is not that of the whole file")
	}
	if s := mustLoad(t, a, o, path); len(s.Skipped) != 1 {
		t.Errorf("loaded a third time: %+v", s)
	}
}

// A load read a file before it was complete, and quarantined the cut line. Loading the complete
// file removes this line from quarantine. A file with other bytes under the same path keeps the
// entry.
func TestCompleteFileSupersedesItsBeginning(t *testing.T) {
	for name, a := range layouts(t) {
		dir := t.TempDir()
		text := line(0, 0, 1) + line(6, 0, 2) + line(12, 0, 3)
		path := write(t, dir, "a.vsdb", text[:len(line(0, 0, 1))+40])
		quarantined := func() (lines int64, entries int) {
			c, err := a.Catalog(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range c.Quarantine {
				if q.Lines > 0 {
					entries++
				}
			}
			marks, err := a.Marks(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range marks {
				lines += m.Quarantined
			}
			return lines, entries
		}
		mustLoad(t, a, load.Options{}, path)
		if lines, entries := quarantined(); lines != 1 || entries != 1 {
			t.Errorf("%s, half of it: %d lines, %d entries", name, lines, entries)
		}
		write(t, dir, "a.vsdb", text)
		if s := mustLoad(t, a, load.Options{}, path); s.Stored != 2 || len(s.IncompleteFiles) != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if lines, entries := quarantined(); lines != 0 || entries != 0 {
			t.Errorf("%s, complete: %d lines, %d entries", name, lines, entries)
		}
		checkIntact(t, a, path)
		if s := mustLoad(t, a, load.Options{}, path); len(s.Skipped) != 1 || len(s.IncompleteFiles) != 0 {
			t.Errorf("%s, again: %+v", name, s)
		}

		rolling := write(t, dir, "b.vsdb", line(0, 1, 1)+"V01 GFS 2x nonsense\n")
		mustLoad(t, a, load.Options{}, rolling)
		write(t, dir, "b.vsdb", line(0, 2, 1)+line(0, 3, 1)+line(0, 4, 1))
		mustLoad(t, a, load.Options{}, rolling)
		if lines, entries := quarantined(); lines != 1 || entries != 1 {
			t.Errorf("%s, other bytes: %d lines, %d entries; the line is lost", name, lines, entries)
		}
	}
}

// The first line of a file with a byte order mark is read.
func TestByteOrderMark(t *testing.T) {
	a := memory(t)
	if s := mustLoad(t, a, load.Options{}, write(t, t.TempDir(), "a.vsdb", "\xef\xbb\xbf"+line(0, 0, 1)+line(6, 0, 2))); s.Stored != 2 {
		t.Errorf("%+v", s)
	}
}

// The archive remembers quarantined lines. A second load of the same file reports them.
func TestSecondLoadTellsTheQuarantine(t *testing.T) {
	a, path := memory(t), write(t, t.TempDir(), "a.vsdb", line(0, 0, 1)+"V01 GFS 2x nonsense\n")
	if s := mustLoad(t, a, load.Options{}, path); len(s.SkippedWithQuarantine) != 0 || s.Quarantined != 1 {
		t.Errorf("first: %+v", s)
	}
	twin := write(t, t.TempDir(), "b.vsdb", line(0, 0, 1)+"V01 GFS 2x nonsense\n")
	if s := mustLoad(t, a, load.Options{}, path, twin); len(s.SkippedWithQuarantine) != 1 || s.SkippedWithQuarantine[0].Quarantined != 1 || s.SkippedWithQuarantine[0].Read != 2 || s.Quarantined != 0 {
		t.Errorf("second: %+v", s)
	}
}

// A file of blank lines is not loaded, whatever its size. Lines after blank lines are loaded and
// keep their line numbers.
func TestBlanks(t *testing.T) {
	a, blanks := memory(t), strings.Repeat("\n", 70_000)
	files := []string{write(t, t.TempDir(), "a.vsdb", blanks), write(t, t.TempDir(), "b.vsdb", "\n")}
	s := mustLoad(t, a, load.Options{}, files...)
	if len(s.Failed) != 2 || len(s.Files) != 0 {
		t.Fatalf("%+v", s)
	}
	for _, err := range s.Failed {
		if text := err.Error(); !strings.Contains(text, "contains only blanks") || strings.Contains(text, "cannot be read") {
			t.Error(text)
		}
	}
	var lines []uint32
	o := load.Options{Reject: func(r record.Reject) { lines = append(lines, uint32(r.Line)) }}
	path := write(t, t.TempDir(), "c.vsdb", blanks+line(0, 0, 1)+"V01 GFS 2x nonsense\n")
	if s := mustLoad(t, a, o, path); s.Stored != 1 || len(lines) != 1 || lines[0] != 70_002 {
		t.Errorf("%+v, lines %v", s, lines)
	}
}

// Empty files contain no records; a load lists them as failed and never marks them.
func TestEmptyFilesAreListed(t *testing.T) {
	dir := t.TempDir()
	a, files := memory(t), []string(nil)
	for i := range 8 {
		files = append(files, write(t, dir, string(rune('a'+i))+".stat", ""))
	}
	for range 2 {
		if s := mustLoad(t, a, load.Options{}, files...); len(s.Failed) != 8 || len(s.Skipped) > 0 || len(s.Files) > 0 {
			t.Errorf("%d failed, %d skipped, %d loaded; want 8, 0, 0", len(s.Failed), len(s.Skipped), len(s.Files))
		}
	}
}
