package own

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestReporting: a long step reports how much is done with the remaining time, or the time until then.
func TestReporting(t *testing.T) {
	said := make(chan string, 1000)
	r := &runner{Program: Program{Progress: func(text string) { said <- text }, ProgressEach: 5 * time.Millisecond}}
	failed := errors.New("failed")
	wait := func(want string) func() error {
		return func() error {
			for text := range said {
				if text == want {
					return failed
				}
			}
			return nil
		}
	}
	for want, done := range map[string]func() (int64, int64){
		"loading t: 99 %, about 0s left": func() (int64, int64) { return 99, 100 }, "loading t: 0s so far": nil,
	} {
		if err := r.reporting("loading t", done, wait(want)); !errors.Is(err, failed) {
			t.Errorf("%q is not reported: %v", want, err)
		}
	}
}

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
