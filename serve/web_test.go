package serve_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBundle: the embedded files equal those that the sources produce, byte for byte.
func TestBundle(t *testing.T) {
	out := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "tool", "esbuild", "web/app.ts", "web/app.css", "--bundle", "--minify", "--target=es2022", "--format=esm", "--legal-comments=none", "--outdir="+out)
	if text, err := cmd.CombinedOutput(); err != nil {
		if !slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), "browser") && strings.Contains(string(text), "dial tcp") {
			t.Skipf("NOT TESTED: the bundle: esbuild is not available: %.300s", text)
		}
		t.Fatalf("%v: %s", err, text)
	}
	for made, kept := range map[string]string{filepath.Join(out, "app.js"): "app.js", filepath.Join(out, "app.css"): "app.css", "web/index.html": "index.html", "web/vendor/uplot/LICENSE": "uplot-licence.txt"} {
		if !bytes.Equal(read(t, made), read(t, filepath.Join("web/dist", kept))) {
			t.Errorf("web/dist/%s is not what %s says: go generate ./serve", kept, made)
		}
	}
}

// TestVendored: vendored files equal those of the registry, and each folder contains its license.
func TestVendored(t *testing.T) {
	sums := bufio.NewScanner(bytes.NewReader(read(t, "web/vendor/SHA256SUMS")))
	listed := []string{"SHA256SUMS"}
	for sums.Scan() {
		want, name, _ := strings.Cut(sums.Text(), "  ")
		listed = append(listed, name)
		if sum := sha256.Sum256(read(t, filepath.Join("web/vendor", name))); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s was changed", name)
		}
	}
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join("web/vendor", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			name, _ := filepath.Rel("web/vendor", path)
			if info, err := os.Stat(path); err != nil || !info.IsDir() && !slices.Contains(listed, name) {
				t.Errorf("%s is not in SHA256SUMS (%v)", name, err)
			} else if info.IsDir() {
				read(t, filepath.Join(path, "LICENSE"))
			}
		}
	}
}

// TestTypes: tsc, which npm ci --ignore-scripts installs in serve/web, reports no error.
func TestTypes(t *testing.T) {
	if _, err := os.Stat("web/node_modules/.bin/tsc"); err != nil {
		text := "NOT TESTED: the types of serve/web: run npm ci --ignore-scripts there"
		if slices.Contains(strings.Split(os.Getenv("BAROGRAPH_REQUIRE"), ","), "tsc") {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	if out, err := exec.CommandContext(t.Context(), "web/node_modules/.bin/tsc", "-p", "web").CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
