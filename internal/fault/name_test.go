package fault

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNames: no file name forges a line or moves the cursor when it is printed.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"a/é x.vsdb": "a/é x.vsdb", `a"b\n`: `a"b\n`, "a\nb": `a\nb`, "\x1b[2J": `\x1b[2J`, "\u202egnp": `\u202egnp`, "a\xffb": `a\xffb`, "a\tb\u009bc": `a\tb\u009bc`, "\n": `\n`, "": "",
	} {
		if got := Name(name); got != want {
			t.Errorf("Name(%q) = %s", name, got)
		}
	}
	evil := filepath.Join(t.TempDir(), "a\nforged: all is complete\x1b[2J")
	_, open := os.Open(evil)
	link := os.Link(evil, evil+"2")
	for _, err := range []error{
		&Error{File: evil, Line: 3, Problem: "is empty"},
		&Error{Setting: "--out " + evil, Problem: "x"},
		&Error{Problem: "cannot be read", Err: fmt.Errorf("x: %w", errors.Join(open, link))},
		open, fmt.Errorf("load: %w", link),
	} {
		var b bytes.Buffer
		fmt.Fprintln(Redacting(&b), Text(err))
		if got := b.String(); strings.Contains(got, "\nforged") || strings.Contains(got, "\x1b") || !strings.Contains(got, `a\nforged`) {
			t.Errorf("%q is printed", got)
		}
	}
	var b bytes.Buffer
	fmt.Fprint(Redacting(&b), "model \x1b]0;x\a\r of\ta file\n")
	if got := b.String(); got != `model \x1b]0;x\a\r of`+"\ta file\n" {
		t.Errorf("%q is printed", got)
	}
}
