package formats

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
)

// readAll reads all texts, and returns each as "name: text".
func readAll(t *testing.T, texts *Texts) (all []string) {
	t.Helper()
	for path, r := range texts.All() {
		text, err := io.ReadAll(r)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		all = append(all, filepath.Base(path)+": "+string(text))
	}
	return all
}

// TestTexts: a folder is replaced by its files except hidden, incomplete and processed ones; gzip is decompressed, and
// standard input is read where it was named.
func TestTexts(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.shef.gz", "in/c", ".hidden", "in/.git/x", "done/d", "in/failed/e", "f.tmp", "g.part", "doner/h"} {
		write(t, dir, name, "text of "+name)
	}
	single := write(t, t.TempDir(), "done.part", "single")
	var reports []error
	texts, err := NewTexts(t.Context(), []string{Stdin, dir, single}, strings.NewReader("input"), func(err error) { reports = append(reports, err) })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-: input", "a.shef.gz: text of a.shef.gz", "b.txt: text of b.txt", "h: text of doner/h", "c: text of in/c", "done.part: single"}
	if got := readAll(t, texts); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if len(reports) > 0 || texts.Incomplete() != nil {
		t.Errorf("%v, %v", reports, texts.Incomplete())
	}
	t.Chdir(dir)
	if texts, err = NewTexts(t.Context(), []string{"."}, nil, nil); err != nil || !slices.Equal(texts.Paths, []string{"a.shef.gz", "b.txt", "doner/h", "in/c"}) {
		t.Errorf("of the folder .: %q, %v", texts.Paths, err)
	}
	n := 0
	for range texts.All() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d files before the stop", n)
	}
	if _, err := NewTexts(t.Context(), []string{filepath.Join(dir, "missing")}, nil, nil); err == nil || !strings.Contains(err.Error(), "missing cannot be read") {
		t.Errorf("%v", err)
	}
}

// TestUnreadTexts: a file that is missing, empty, damaged or ends early is reported once; the others are read. Standard
// input may be empty.
func TestUnreadTexts(t *testing.T) {
	dir := t.TempDir()
	empty, good, bad := write(t, dir, "a", ""), write(t, dir, "b", "text"), write(t, dir, "c", "\x1f\x8bno gzip")
	packed, err := os.ReadFile(write(t, dir, "long.gz", strings.Repeat("0123456789", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	early, gone := write(t, dir, "d", string(packed[:len(packed)-9])), write(t, dir, "e", "gone")
	var reports []string
	texts, err := NewTexts(t.Context(), []string{Stdin, empty, good, bad, early, gone}, strings.NewReader(""), func(err error) {
		reports = append(reports, err.Error())
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is reported again
		if got := readAll(t, texts); len(got) != 4 || got[0] != "-: " || got[2] != "b: text" || !strings.HasPrefix(got[3], "d: 0123456789") {
			t.Errorf("%.40q", got)
		}
	}
	for i, want := range []string{empty + " is empty", bad + " is damaged gzip", early + " cannot be read to its end", gone} {
		if len(reports) != 4 || !strings.Contains(reports[i], want) {
			t.Errorf("report %d of %q, want %s", i, reports, want)
		}
	}
	if err := texts.Incomplete(); fault.Code(err) != fault.Incomplete || !strings.HasPrefix(err.Error(), "4 files could not be read") {
		t.Errorf("%v", err)
	}
	canceled, stop := context.WithCancel(t.Context())
	failed := false
	texts = &Texts{ctx: canceled, unread: map[string]bool{}, Report: func(error) { failed = true }}
	stop()
	broken := errors.New("interrupted")
	if _, err := (&textReader{texts: texts, path: "x", r: iotest.ErrReader(broken)}).Read(make([]byte, 1)); !errors.Is(err, broken) || failed {
		t.Errorf("an interrupted read is reported as a fault of its file: %v", err)
	}
}

// TestOpenText: a text is read as it is, or decompressed. A folder is not a text.
func TestOpenText(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "plain", "b.gz": "packed", "c": "x", "d": ""} {
		f, err := OpenText(write(t, dir, name, text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if f, err := OpenText(dir); err == nil {
		f.Close()
		t.Error("a folder is opened as a text")
	}
}

// TestLongInput: standard input is read in blocks of any size without loss.
func TestLongInput(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 1000)
	for _, block := range []int{1, 7, 4096} {
		// The stream returns its last bytes together with its end.
		r := &cancellableReader{ctx: t.Context(), r: iotest.DataErrReader(iotest.HalfReader(bytes.NewReader(text)))}
		var got []byte
		p := make([]byte, 4096)
		for {
			n, err := r.Read(p)
			got, p = append(got, p[:n]...), p[:block]
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(got, text) {
			t.Errorf("blocks of %d: %d bytes of %d", block, len(got), len(text))
		}
	}
}

// TestSpecFiles: the files of a load_spec are those of its list, or those directly in its folders. Folders without files
// and excluded files are reported, and a load_spec without any file is an error.
func TestSpecFiles(t *testing.T) {
	dir := t.TempDir()
	stat, object := write(t, dir, "a/x.stat", statHeader+statLine), write(t, dir, "a/mode_obj.txt", "x")
	write(t, dir, "a/notes.md", "x")
	write(t, dir, "a/below/y.stat", statHeader+statLine)
	folders := func(names ...string) *metviewer.LoadSpec {
		return &metviewer.LoadSpec{File: "spec.xml", Template: filepath.Join(dir, "{m}"), Values: []metviewer.LoadValue{{Name: "m", Values: names}}}
	}
	files := func(paths ...string) *metviewer.LoadSpec { return &metviewer.LoadSpec{File: "spec.xml", Files: paths} }
	with := func(s *metviewer.LoadSpec, noStat, noMode bool) *metviewer.LoadSpec {
		s.NoStat, s.NoMode = noStat, noMode
		return s
	}
	for name, c := range map[string]struct {
		spec  *metviewer.LoadSpec
		files []string
		says  string // of the report or the error
	}{
		"a list":           {files(stat, object), []string{object, stat}, ""},
		"a folder":         {folders("a"), []string{object, stat}, ""},
		"no MODE":          {with(folders("a"), false, true), []string{stat}, "spec.xml: load_stat, load_mode and load_mtd exclude 1 of 2 files"},
		"no stat":          {with(folders("a"), true, false), []string{object}, "spec.xml: load_stat, load_mode and load_mtd exclude 1 of 2 files"},
		"nothing left":     {with(folders("a"), true, true), nil, "exclude all of the 2 files"},
		"missing folders":  {folders("a", "b", "c"), []string{object, stat}, "spec.xml: 2 of 3 folders contain no VSDB or MET file: " + filepath.Join(dir, "b") + ", " + filepath.Join(dir, "c")},
		"one is missing":   {folders("a", "b"), []string{object, stat}, "spec.xml: 1 of 2 folders contain no VSDB or MET file: " + filepath.Join(dir, "b")},
		"only missing":     {folders("b", "c"), nil, "none of its 2 folders contains a VSDB or MET file (the first is " + filepath.Join(dir, "b")},
		"many are missing": {folders("a", "b", "c", "d", "e", "f"), []string{object, stat}, filepath.Join(dir, "f")},
		"more are missing": {folders("a", "b", "c", "d", "e", "f", "g"), []string{object, stat}, filepath.Join(dir, "f") + ", …"},
	} {
		said := ""
		got, err := SpecFiles(c.spec, func(text string) { said += text })
		if err != nil {
			said += err.Error()
		}
		if !slices.Equal(got, c.files) || (err != nil) != (c.files == nil) || !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%s: %q, %q", name, got, said)
		}
	}
}
