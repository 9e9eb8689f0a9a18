package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/results/measure"

	"github.com/creack/pty"
)

// TestQuickstartFitsATerminal: the final output of a quickstart fits a terminal of 100 columns and
// 40 lines, and no line wraps.
func TestQuickstartFitsATerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("NOT TESTED in short mode: the quickstart loads 508,220 lines; the plain run tests it")
	}
	screen, tty, err := pty.Open()
	if err != nil {
		t.Skipf("NOT TESTED: no pseudo-terminal: %v", err)
	}
	defer screen.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		var text strings.Builder
		for part := make([]byte, 1<<16); ; {
			n, err := screen.Read(part)
			text.Write(part[:n])
			if err != nil { // EIO: the other side is closed
				read <- text.String()
				return
			}
		}
	}()
	engines := all.Registry()
	if !enginetest.Nightly() { // by day two fast engines: CI prints a quickstart of the others
		engines = slices.DeleteFunc(engines, func(d engine.Driver) bool { return d.Scheme == "clickhouse" || d.Scheme == "sqlite" })
	}
	out := filepath.Join(t.TempDir(), "q")
	status := execute(t.Context(), &env{args: []string{"quickstart", "--reps", "1", "--out", out}, stdin: strings.NewReader(""), stdout: tty, stderr: tty, terminal: true, engines: engines})
	tty.Close()
	drawn := <-read
	if _, err := os.Stat(filepath.Join(out, "report.html")); status != 0 || err != nil {
		t.Fatalf("status %d, %v\n%s", status, err, drawn)
	}
	lines := remainingLines(drawn)
	if len(lines) > 40 {
		t.Errorf("%d lines are left on the terminal", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 && !strings.Contains(line, out) { // the path is the user's
			t.Errorf("a line of %d columns: %s", n, line)
		}
	}
	for _, want := range []string{"results equal the reference", "is the best: ", "configuration", "report: ", "to explore the run, type: "} {
		if !strings.Contains(strings.Join(strings.Fields(drawn), " ")+" ", want) { // a sentence may wrap anywhere
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log("\n" + strings.Join(lines, "\n"))
	}
}

// TestQuickRepsSuffice: quickReps repetitions can show a difference between all configurations that a quickstart may have.
func TestQuickRepsSuffice(t *testing.T) {
	n := 0
	for _, d := range all.Registry() {
		if (d.Place == engine.Embedded || d.Place == engine.Memory) && archive.IsOffered(&d) {
			for _, design := range archive.Designs(&d) {
				n += len(archive.Flavours(&d, design))
			}
		}
	}
	if need := measure.RepsFor(n - 1); n < 26 || need > quickReps {
		t.Errorf("%d configurations need %d repetitions, quickstart has %d", n, need, quickReps)
	}
}

// remainingLines returns the lines that remain on a terminal. A progress bar redraws its line.
func remainingLines(drawn string) (lines []string) {
	at := 0
	for _, part := range regexp.MustCompile(`\x1b\[\d*A|\n|[^\x1b\n]+|\x1b\[[0-9;?]*[A-Za-z]`).FindAllString(strings.ReplaceAll(drawn, "\r\n", "\n"), -1) {
		for len(lines) <= at {
			lines = append(lines, "")
		}
		switch {
		case part == "\n":
			at++
		case strings.HasSuffix(part, "A"):
			at = max(0, at-1)
		case strings.HasSuffix(part, "J"):
			lines = lines[:at]
		case part[0] != '\x1b':
			lines[at] += strings.Trim(part, "\r")
		}
	}
	return lines
}

// TestProgramName: the command that quickstart prints last starts the program again, also if Go's build cache has another
// folder than usual.
func TestProgramName(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	for path, want := range map[string]string{
		"/usr/bin/barograph":                     "barograph",
		"/home/me/x-d/barograph":                 "barograph",
		"":                                       "barograph",
		"/tmp/go-build12/b001/exe/barograph":     "go run ./cmd/barograph",
		"/build/0a/" + hash + "-d/barograph":     "go run ./cmd/barograph",
		"/root/.cache/go-build/0a/x-d/barograph": "go run ./cmd/barograph",
	} {
		if got := programName(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
