package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTargetsExist: each target that the command names is a function of its package.
func TestTargetsExist(t *testing.T) {
	for _, target := range targets() {
		files, err := filepath.Glob(filepath.Join("../..", target.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "func "+target.name+"(")
		}
		if !found {
			t.Errorf("%s: no function %s in %s", target.what, target.name, target.pkg)
		}
	}
}

// TestMoveFile: a file that cannot be written into the other folder stays. There, a link to /dev/full, which is always
// full, has its name.
func TestMoveFile(t *testing.T) {
	name, folder := filepath.Join(t.TempDir(), "input"), t.TempDir()
	moved := filepath.Join(folder, "input")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", moved); err != nil {
		t.Fatal(err)
	}
	if err := moveFile(name, folder); err == nil {
		t.Error("a full disk is not reported")
	}
	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	if err := moveFile(name, folder); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(moved); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the old file: %v", err)
	}
}
