package serve_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/results/compare"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/serve"
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

// TestInterfaces: the page reads only keys that the server's JSON has.
func TestInterfaces(t *testing.T) {
	for name, v := range map[string]any{
		"cells.Cell": compare.Cell{}, "live.Event_": run.Event{}, "loads.Mark": archive.Mark{}, "loads.Loads": serve.Loads{},
		"explore.Holding": serve.Holding{}, "explore.Home": serve.Home{}, "explore.Group": serve.Group{},
		"explore.Type": design.Inventory{}, "explore.Inventory": serve.Inventory{}, "explore.Drawn": serve.CurveReply{},
		"explore.Access": run.Access{}, "explore.Query": serve.QueryReply{}, "explore.Alternative": serve.Alternative{},
		"plot.Series": run.Series{}, "plot.Curves": run.VerificationPlot{}, "runs.Run": serve.Run{},
		"scorecard.Cell": serve.Cell{}, "scorecard.Row": serve.Row{},
	} {
		file, of, _ := strings.Cut(name, ".")
		_, body, ok := strings.Cut(string(read(t, "web/"+file+".ts")), "interface "+of+" {")
		if !ok {
			t.Errorf("web/%s.ts has no interface %s", file, of)
			continue
		}
		for _, key := range keysOf(body) {
			if !hasKey(reflect.TypeOf(v), strings.Split(key, ".")) {
				t.Errorf("web/%s.ts: %s.%s is no key of the JSON of %T", file, of, key, v)
			}
		}
	}
}

// keysOf returns the keys of an interface whose body begins a text. Keys of nested objects follow a period.
func keysOf(body string) (keys []string) {
	var path []string
	last := ""
	for _, m := range regexp.MustCompile(`(\w+)\??:\s|\{|\}|//.*`).FindAllStringSubmatch(body, -1) {
		switch {
		case m[1] != "":
			last = m[1]
			keys = append(keys, strings.Join(append(slices.Clone(path), last), "."))
		case m[0] == "{":
			path = append(path, last)
		case m[0] == "}" && len(path) == 0:
			return keys
		case m[0] == "}":
			path = path[:len(path)-1]
		}
	}
	return keys
}

// hasKey reports whether the JSON of a type has a key, at the end of a path of keys.
func hasKey(t reflect.Type, path []string) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if len(path) == 0 || t.Kind() == reflect.Map || t == reflect.TypeFor[run.Values]() || t == reflect.TypeFor[measure.Estimate]() {
		return true
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == path[0] && hasKey(f.Type, path[1:]) || f.Anonymous && hasKey(f.Type, path) {
			return true
		}
	}
	return t == reflect.TypeFor[run.Sample]() && path[0] == "measured" && hasKey(reflect.TypeFor[run.Measured](), path[1:])
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
