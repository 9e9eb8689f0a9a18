package barograph_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite cmd/barograph/licences.txt.gz")

// legal are files that have to go with a program, and folders that hold such.
var legal = regexp.MustCompile(`(?i)(licen[cs]e|notice|copying|patents)[a-z_-]*(\.(txt|md))?$`)

// TestLicences: the texts that the program prints are those of the modules that
// are linked into it for Linux, and NOTICE names what has none.
func TestLicences(t *testing.T) {
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	holders := map[string][]string{} // of a text
	for module, dirs := range linked(t) {
		files := map[string]bool{}
		for dir := range dirs {
			texts(t, dir, files)
		}
		path, _, _ := strings.Cut(module, " ")
		if len(files) == 0 && !strings.Contains(string(notice), path+": it has NO LICENCE FILE") {
			t.Errorf("%s has no licence file: replace it, or say so in NOTICE", module)
		}
		for file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			plain := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			holders[plain] = append(holders[plain], module+" "+filepath.Base(file))
		}
	}
	var blocks []string
	for text, of := range holders {
		slices.Sort(of)
		blocks = append(blocks, strings.Join(slices.Compact(of), "\n")+"\n\n"+text+"\n")
	}
	slices.Sort(blocks)
	const line = "\n" + "--------------------------------------------------------------------------------\n"
	got := string(notice) + line + strings.Join(blocks, line)
	const file = "cmd/barograph/licences.txt.gz"
	if *update {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, failed := io.WriteString(w, got)
		if err := errors.Join(failed, w.Close(), os.WriteFile(file, packed.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(want); err != nil || string(text) != got {
		t.Errorf("%s is not what the modules say: go test -run TestLicences . -update (%v)", file, err)
	}
}

// linked are the modules of the program on Linux with Oracle, which has all that any build has, each with the folders between
// its own and those of its packages.
func linked(t *testing.T) map[string]map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", "oracle", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}`, "./cmd/barograph")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=1", "GOFLAGS=") // GOFLAGS: of whoever runs the tests
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]map[string]bool{}
	for line := range strings.FieldsFuncSeq(string(out), func(c rune) bool { return c == '\n' }) {
		f := strings.Split(line, "|")
		if modules[f[0]] == nil {
			modules[f[0]] = map[string]bool{}
		}
		for dir := f[2]; len(dir) >= len(f[1]); dir = filepath.Dir(dir) {
			modules[f[0]][dir] = true
		}
	}
	vendored, err := filepath.Glob("serve/web/vendor/*/LICENSE") // what the page is bundled from
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range vendored {
		modules["npm: "+filepath.Base(filepath.Dir(file))] = map[string]bool{filepath.Dir(file): true}
	}
	return modules
}

// texts finds the licences of a folder.
func texts(t *testing.T, dir string, into map[string]bool) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !legal.MatchString(e.Name()):
		case !e.IsDir():
			into[path] = true
		default:
			inner, err := filepath.Glob(filepath.Join(path, "*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range inner {
				into[file] = filepath.Base(file) != "gpl.txt" // of FreeType's two the other is chosen
			}
		}
	}
	maps.DeleteFunc(into, func(_ string, taken bool) bool { return !taken })
}
