package load_test

import (
	"strings"
	"testing"

	"barograph/load"
	"barograph/record"
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
