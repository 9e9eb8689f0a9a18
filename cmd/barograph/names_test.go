package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNamesOfFilesForgeNothing loads files whose names contain a line of this program's output, and
// a sequence that clears the screen.
func TestNamesOfFilesForgeNothing(t *testing.T) {
	const forged = "forged, design normalized: complete"
	text, err := os.ReadFile(someLines(t, dayOfData(t)))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string][]byte{
		"a\n" + forged + "\x1b[2J.vsdb": bytes.Join(lines[:3], nil),
		"b\n" + forged + "\x1b[2J.vsdb": append([]byte("nonsense\n"), lines[3]...),
		"c\n" + forged + "\x1b[2J.vsdb": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	prints := func(want int, args ...string) {
		t.Helper()
		status, stdout, stderr := barograph(t, args...)
		if all := stdout + stderr; strings.Contains(all, "\n"+forged) || strings.Contains(all, "\x1b") || !strings.Contains(all, `\n`+forged) || status != want {
			t.Errorf("barograph %q: status %d\n%q", args, status, all)
		}
	}
	prints(4, "load", dir, "--engine", "sqlite:x.db")
	prints(4, "load", dir, "--engine", "sqlite:x.db") // the second load skips the files
	prints(0, "show", "sqlite:x.db")
	prints(4, "verify", "sqlite:x.db", filepath.Join(dir, "c\n"+forged+"\x1b[2J.vsdb"))
	prints(1, "report", "none\n"+forged+"\x1b[2J")
	prints(1, "load", dir+"/none\n"+forged+"\x1b[2J", "--engine", "sqlite:x.db")
}
