package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScaffold: a made-up engine compiles, stands in the list of engines, and
// its test says what is missing.
func TestScaffold(t *testing.T) {
	files, err := scaffold(filepath.Join("..", ".."), "madeup")
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, text := range files {
		want += strings.Count(string(text), "MISSING: ")
	}
	if all := string(files[filepath.Join("engine", "all", "all.go")]); !strings.Contains(all, "\"github.com/barograph/barograph/engine/madeup\"") || !strings.Contains(all, "madeup.Driver(),") {
		t.Errorf("engine/all does not list it:\n%s", all)
	}
	binary, dir := compiled(t, files)
	out, err := command(t, dir, binary, "-test.run", "^TestConformance$").CombinedOutput()
	if got := strings.Count(string(out), ": missing: "); err == nil || got != want || want < 10 || !strings.Contains(string(out), "loader.go:") {
		t.Errorf("%d of %d things are said to be missing, %v:\n%s", got, want, err, out)
	}
	if !strings.Contains(string(out), "--- FAIL: TestConformance/design=normalized") {
		t.Errorf("the suite did not run:\n%s", out)
	}
	for _, bad := range []string{"", "New", "a/b", "../x", "all", "sql-lite"} {
		if _, err := scaffold(filepath.Join("..", ".."), bad); err == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}

// compiled compiles the tests of the made-up engine, whose files lie over the repository.
func compiled(t *testing.T, files map[string][]byte) (binary, dir string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range files {
		copied := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(copied, text, 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[filepath.Join(root, path)] = copied
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(config, list, 0o644); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "madeup.test")
	if out, err := command(t, root, "go", "test", "-c", "-vet=off", "-overlay", config, "-o", binary, "./engine/madeup").CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	return binary, dir
}

func command(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	return cmd
}
