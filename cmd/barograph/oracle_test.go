//go:build !oracle

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// TestWithoutOracle: a build without the tag reports how to build one with Oracle, in the list of
// engines and in one line before it reads any file.
func TestWithoutOracle(t *testing.T) {
	const cure = "go build -tags oracle ./cmd/barograph"
	if code, out, _ := barograph(t, "list", "engines"); code != 0 || !strings.Contains(out, "this build of Barograph has no Oracle; build one that has it: "+cure) {
		t.Errorf("list engines: status %d, without the cure %q", code, cure)
	}
	const url = "oracle://me:secret@127.0.0.1:1/x"
	file := filepath.Join(t.TempDir(), "empty.vsdb") // an empty file would be refused if it were read
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"show", url}, {"met", file, "--engine", url}, {"load", file, "--engine", url}, {"verify", url}, {"ask", "test_1", "--engine", url},
	} {
		code, _, stderr := barograph(t, args...)
		if code != fault.Unreachable || !strings.Contains(stderr, cure) || strings.Contains(stderr, "secret") || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
			t.Errorf("%v: status %d, %q", args, code, stderr)
		}
	}
}
