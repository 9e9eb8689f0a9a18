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
