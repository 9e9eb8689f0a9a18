package sqlengine

import "testing"

// TestAppendFirst: after each failure appending is left for longer; a success forgets
// all failures.
func TestAppendFirst(t *testing.T) {
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
