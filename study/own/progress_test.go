package own

import (
	"strings"
	"testing"
	"time"
)

// TestProgress: the remaining time follows from the steps that are done. Before the first and after the last step
// nothing is reported, nor twice within ten seconds.
func TestProgress(t *testing.T) {
	var said []string
	r := &runner{Program: Program{Progress: func(text string) { said = append(said, text) }}}
	began := time.Now().Add(-30 * time.Second)
	for n := range 5 {
		r.progress("timing", n, 4, began)
	}
	r.shown = time.Now().Add(-time.Minute)
	r.progress("timing", 3, 4, began)
	if got := strings.Join(said, "|"); got != "timing: 1 of 4, about 1m30s left|timing: 3 of 4, about 10s left" {
		t.Error(got)
	}
}
