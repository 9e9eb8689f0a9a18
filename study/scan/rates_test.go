package scan

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestRateMeter: each path is reported before, meanwhile and after its measurement, with the remaining time of the
// others. After an interruption no further path is measured.
func TestRateMeter(t *testing.T) {
	var said []string
	ctx, stop := context.WithCancel(t.Context())
	measured := 0
	m := newRateMeter(func(s string) { said = append(said, s) }, 3, func(path string) (float64, string, error) {
		if measured++; measured == 2 {
			stop()
		}
		time.Sleep(30 * time.Millisecond)
		return 5e6, "read " + path, nil
	})
	m.reportInterval = 8 * time.Millisecond
	if rate, how, err := m.read(ctx, "/a"); rate != 5e6 || how != "read /a" || err != nil {
		t.Errorf("%g, %s, %v", rate, how, err)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{"measuring how fast it is read: path 1 of 3, /a", "measuring path 1 of 3, /a: 0s so far", "path 1 of 3, /a: 5.0 MB/s, about 0s left"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, path := range []string{"/b", "/c"} {
		if _, _, err := m.read(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if measured != 2 {
		t.Errorf("%d paths were measured", measured)
	}
}
