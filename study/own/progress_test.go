package own

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/results/run"
)

// TestWithProgress: withProgress prints the percentage and the remaining time of a long step, or the elapsed time.
func TestWithProgress(t *testing.T) {
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
	built := int64(50)
	for want, done := range map[string]func() (string, int64, int64){
		"loading t: 99 %, about 0s left": func() (string, int64, int64) { return "", 99, 100 }, "loading t: 0s so far": nil,
		"loading t: building index: 99 %, about 0s left": func() (string, int64, int64) {
			built = min(built+1, 99)
			return "building index", built, 100
		},
	} {
		if err := r.withProgress("loading t", done, wait(want)); !errors.Is(err, failed) {
			t.Errorf("%q is not reported: %v", want, err)
		}
	}
}

// TestReportCount: reportCount estimates the remaining time from the completed steps. It reports nothing before the
// first step, after the last step, and within ten seconds after a report.
func TestReportCount(t *testing.T) {
	var said []string
	r := &runner{Program: Program{Progress: func(text string) { said = append(said, text) }}}
	began := time.Now().Add(-30 * time.Second)
	for n := range 5 {
		r.reportCount("timing", n, 4, began)
	}
	r.reportedAt = time.Now().Add(-time.Minute)
	r.reportCount("timing", 3, 4, began)
	if got := strings.Join(said, "|"); got != "timing: 1 of 4, about 1m30s left|timing: 3 of 4, about 10s left" {
		t.Error(got)
	}
}

// TestProgressOfReading: while a CSV file is read, position returns the stage and the number of bytes read.
func TestProgressOfReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	text := "a,b\n" + strings.Repeat("1,2\n", 1<<20)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	s := source{out: &run.OwnTable{Bytes: 3 * int64(len(text))}}
	s.stage.Store(&stage{"finding the types", int64(len(text)), r.position})
	for range 1 << 18 {
		if _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
	}
	part, n, all := s.position()
	if n -= int64(len(text)); part != "finding the types" || n < 1<<20 || n > 1<<21 || all != 3*int64(len(text)) {
		t.Errorf("%q: %d of %d", part, n, all)
	}
	if err := r.close(); err != nil || r.position() != 0 {
		t.Error(r.position(), err)
	}
}
