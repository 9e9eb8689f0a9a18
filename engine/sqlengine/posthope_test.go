package sqlengine

import "testing"

// TestHope: after each failure an insert is left for longer; a success forgets
// all failures.
func TestHope(t *testing.T) {
	var h hope
	waited := func() (n int) {
		for !h.dares() {
			n++
		}
		return n
	}
	for _, want := range []int{0, 1, 3, 7, 15, 31, 63, 127, 255, 255} {
		if got := waited(); got != want {
			t.Fatalf("waited for %d merges, want %d", got, want)
		}
		h.told(false)
	}
	waited()
	h.told(true)
	if n := waited(); n != 0 {
		t.Errorf("waited for %d merges after a success", n)
	}
	h.told(false)
	if n := waited(); n != 1 {
		t.Errorf("waited for %d merges, want 1", n)
	}
}
