package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/internal/fault"

	"github.com/creack/pty"
)

// onTerminal runs a command line whose stderr is a pseudo-terminal, and returns what the command
// drew. A command that does not return fails the test.
func onTerminal(ctx context.Context, t *testing.T, args ...string) (status int, drawn string) {
	t.Helper()
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skipf("NOT TESTED: no pseudo-terminal: %v", err)
	}
	defer screen.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	read, done := make(chan struct{}), make(chan int, 1)
	go func() {
		io.Copy(&text, screen) // it returns EIO when the other side is closed
		close(read)
	}()
	go func() {
		done <- execute(ctx, &env{args: args, stdin: strings.NewReader(""), stdout: io.Discard, stderr: tty, terminal: true, engines: all.Registry()})
	}()
	select {
	case status = <-done:
	case <-time.After(2 * time.Minute):
		t.Fatalf("barograph %s does not end", strings.Join(args, " "))
	}
	tty.Close()
	<-read
	return status, text.String()
}

func TestBarsOnATerminal(t *testing.T) {
	dir := t.TempDir()
	data, db := filepath.Join(dir, "data"), "sqlite:"+filepath.Join(dir, "a.db")
	empty, cut := filepath.Join(dir, "empty"), filepath.Join(dir, "cut.vsdb.gz")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, []byte("\x1f\x8b\x08\x00\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	for _, tc := range []struct {
		name, message string
		ctx           context.Context
		want          int
		args          []string
	}{
		{"synth", "making data", t.Context(), 0, []string{"synth", "vsdb", "--since", "2019-01-01", "--models", "gfs", "--stattypes", "anom", "--out", data}},
		{"synth tpcds", "", t.Context(), 0, []string{"synth", "tpcds", "--sf", "0.01", "--out", filepath.Join(dir, "star")}},
		{"load", "loading", t.Context(), 0, []string{"load", data, "--engine", db}},
		{"load, all skipped", "loading", t.Context(), 0, []string{"load", data, "--engine", db}},
		{"load, the first fails", "loading", t.Context(), fault.Incomplete, []string{"load", cut, data, "--engine", db}},
		{"load, interrupted", "interrupted", gone, fault.Interrupted, []string{"load", data, "--engine", "sqlite:" + filepath.Join(dir, "b.db")}},
		{"met", "proving", t.Context(), 0, []string{"met", data, "--engine", "pebble", "--case", "test_3", "--reps", "1", "--out", filepath.Join(dir, "run")}},
		{"met, interrupted", "interrupted", gone, fault.Interrupted, []string{"met", data, "--engine", "pebble", "--out", filepath.Join(dir, "run2")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, drawn := onTerminal(tc.ctx, t, tc.args...)
			if status != tc.want || !strings.Contains(drawn, tc.message) {
				t.Errorf("status %d, want %d and a word of %q:\n%s", status, tc.want, tc.message, drawn)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "run2")); err == nil {
		t.Error("a run that came to nothing left its folder")
	}
}
