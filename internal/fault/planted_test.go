//go:build !plantedfault

package fault

import "testing"

// Without the build tag no parser has a fault on purpose.
func TestNothingIsPlanted(t *testing.T) {
	if Planted {
		t.Error("this program has planted faults")
	}
}
