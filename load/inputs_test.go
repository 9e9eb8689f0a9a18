package load_test

import (
	"strings"
	"testing"

	"github.com/barograph/barograph/load"
	"github.com/barograph/barograph/record"
)

// A file that was cut inside its last number gives no wrong value; one whose
// last line only lacks its line end is taken whole where the user says so, also
// after a load that was more careful.
func TestLastLineIsKeptOnlyWhereAsked(t *testing.T) {
	dir := t.TempDir()
	text := line(0, 0, 1) + line(6, 0, 2)
	path := write(t, dir, "cut.vsdb", strings.TrimSuffix(text, "\n"))
	clean, a := memory(t), memory(t)
	mustLoad(t, clean, load.Options{}, write(t, dir, "whole.vsdb", text))
	var reasons []string
	o := load.Options{Reject: func(r record.Reject) { reasons = append(reasons, r.Reason) }}
	if s := mustLoad(t, a, o, path); s.Stored != 1 || s.Quarantined != 1 || reasons[0] != record.PerhapsCut {
		t.Errorf("stored %d, quarantined %d, %v", s.Stored, s.Quarantined, reasons)
	}
	o.KeepLast = true
	if s := mustLoad(t, a, o, path); s.Stored != 1 || s.Same != 1 || len(s.Skipped) != 0 {
		t.Errorf("with KeepLast: %+v", s)
	}
	if digest(t, a) != digest(t, clean) {
		t.Error("the archive is not that of the whole file")
	}
	if s := mustLoad(t, a, o, path); len(s.Skipped) != 1 {
		t.Errorf("loaded a third time: %+v", s)
	}
}

// The archive remembers what it holds in quarantine, and says so to whoever
// loads the same file again.
func TestSecondLoadTellsTheQuarantine(t *testing.T) {
	a, path := memory(t), write(t, t.TempDir(), "a.vsdb", line(0, 0, 1)+"V01 GFS 2x nonsense\n")
	if s := mustLoad(t, a, load.Options{}, path); len(s.Held) != 0 || s.Quarantined != 1 {
		t.Errorf("first: %+v", s)
	}
	twin := write(t, t.TempDir(), "b.vsdb", line(0, 0, 1)+"V01 GFS 2x nonsense\n")
	if s := mustLoad(t, a, load.Options{}, path, twin); len(s.Held) != 1 || s.Held[0].Quarantined != 1 || s.Held[0].Read != 2 || s.Quarantined != 0 {
		t.Errorf("second: %+v", s)
	}
}

// Empty files hold nothing that could be loaded; they are never marked.
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
