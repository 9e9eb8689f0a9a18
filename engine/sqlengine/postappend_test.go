package sqlengine

import "testing"

// TestAppendBackoff: after each failure more merges pass before the next attempt to append. A success resets their
// number.
func TestAppendBackoff(t *testing.T) {
	var h appendBackoff
	waited := func() (n int) {
		for !h.worthTrying() {
			n++
		}
		return n
	}
	for _, want := range []int{0, 1, 3, 7, 15, 31, 63, 127, 255, 255} {
		if got := waited(); got != want {
			t.Fatalf("waited for %d merges, want %d", got, want)
		}
		h.recordOutcome(false)
	}
	waited()
	h.recordOutcome(true)
	if n := waited(); n != 0 {
		t.Errorf("waited for %d merges after a success", n)
	}
	h.recordOutcome(false)
	if n := waited(); n != 1 {
		t.Errorf("waited for %d merges, want 1", n)
	}
}
