package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

const (
	statHeader = "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n"
	statLine   = "V12.0.0 GFS NA 060000 20241101_180000 20241101_180000 000000 20241101_180000 20241101_180000 TMP K Z2 TMP K Z2 ANLYS FULL NEAREST 1 NA NA NA NA SL1L2 1 2 3 4 5 6 7\n"
	vsdbLine   = "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 = 3600. 0.1E+02 0.2E+02 0.3E+02 0.4E+02 0.5E+02\n"
	ensLine    = "V01 GEFS/1 24 2019010100 GFS G2 RELP APCP SFC = 0.25\n"
)

// write puts text into dir/name, packed where the name ends in .gz, and returns the path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if strings.HasSuffix(name, gzipSuffix) {
		w := gzip.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text = b.String()
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// read returns the records of all batches of f and the rejects, and closes it.
func read(t *testing.T, f *File) (records []string, rejects []record.Reject) {
	t.Helper()
	defer f.Close()
	var b record.Batch
	for {
		err := f.Next(&b)
		if errors.Is(err, io.EOF) {
			return records, rejects
		}
		if err != nil {
			t.Fatal(err)
		}
		rejects = append(rejects, b.Rejects...)
		for i := range b.Len() {
			records = append(records, b.Type.Name+" "+b.Header(i)[record.Model])
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, text string
		kind       Kind
		want       string
	}{
		{"a.vsdb", vsdbLine, VSDB, "SAL1L2 GFS"},
		{"a.vsdb.gz", vsdbLine, VSDB, "SAL1L2 GFS"},
		{"a.stat", statHeader + statLine, MetStat, "SL1L2 GFS"},
		{"a.stat.gz", statHeader + statLine, MetStat, "SL1L2 GFS"},
		{"a_sl1l2.txt", statHeader + statLine, MetStat, "SL1L2 GFS"},
		{"a_seeps_mpr.txt.gz", statHeader + statLine, MetStat, "SL1L2 GFS"},
		{"stat", "\n\n" + statHeader + statLine, MetStat, "SL1L2 GFS"},
		{"stat.gz", statLine, MetStat, "SL1L2 GFS"},
		{"vsdb", vsdbLine, VSDB, "SAL1L2 GFS"},
		{"vsdb.gz", "\r\n" + vsdbLine, VSDB, "SAL1L2 GFS"},
		{"gefs_7/x.vsdb", ensLine, VSDB, "RELP GEFS_7"},
		{"gefs/x.vsdb", ensLine, VSDB, "RELP GEFS"},
		{"header.stat", statHeader, MetStat, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, dir, c.name, c.text)
			f, err := new(Opener).Open(path)
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind != c.kind || f.Path != path || f.Size != info.Size() || f.Gzip != strings.HasSuffix(c.name, gzipSuffix) {
				t.Errorf("%+v", f)
			}
			records, rejects := read(t, f)
			if got := strings.Join(records, ","); got != c.want || len(rejects) > 0 {
				t.Errorf("records %q, want %q; rejects %v", got, c.want, rejects)
			}
			if f.BytesRead() != f.Size || f.Lines() != int64(len(records)) {
				t.Errorf("%d of %d bytes, %d lines", f.BytesRead(), f.Size, f.Lines())
			}
		})
	}
}

// Open detects gzip by the first bytes: the suffix .gz may be missing, or wrong.
func TestGzipIsDetectedByItsBytes(t *testing.T) {
	dir := t.TempDir()
	packedPath := write(t, dir, "x.gz", vsdbLine)
	for from, to := range map[string]string{packedPath: "b.vsdb", write(t, dir, "plain", vsdbLine): "c.vsdb.gz"} {
		to = filepath.Join(dir, to)
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
		f, err := new(Opener).Open(to)
		if err != nil {
			t.Fatal(err)
		}
		if records, _ := read(t, f); len(records) != 1 {
			t.Errorf("%s: %d records", to, len(records))
		}
	}
}

func TestOpenFaults(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"a.txt", "hello world\n", "neither its name nor its first line"},
		{"a", "a\n", "neither its name nor its first line"},
		{"b", "b", "neither its name nor its first line"}, // one byte is not empty
		{"empty.stat", "", "is empty"},
		{"empty.vsdb.gz", "", "is empty"},
		{"newlines.stat", "\n\r\n\n", "contains only blanks"},
		{"blanks.vsdb", " \t ", "contains only blanks"},
		{"newline.vsdb.gz", "\n", "contains only blanks"},
		{"mark.vsdb", "\xef\xbb\xbf\n", "contains only blanks"},
		{"a.stat.bz2", "BZh91AY", "is packed with bzip2; unpack it first"},
		{"a.stat.xz", "\xfd7zXZ\x00", "is packed with xz"},
		{"a.stat.Z", "\x1f\x9d\x90", "is packed with compress"},
		{"wide.stat", "\xff\xfeV\x001\x00", "is UTF-16; write it as UTF-8"},
		{"b.stat", "\x1f\x8b\x08", "is an incomplete gzip file"},
	} {
		path := write(t, dir, c.name, c.text)
		_, err := new(Opener).Open(path)
		checkFault(t, err, path, c.want)
	}
	_, err := new(Opener).Open(filepath.Join(dir, "none.stat"))
	checkFault(t, err, filepath.Join(dir, "none.stat"), "cannot be opened: no such file")
	_, err = new(Opener).Open(dir)
	checkFault(t, err, dir, "is a folder")

	whole := write(t, dir, "cut.stat.gz", strings.Repeat(statLine, 1000))
	if err := os.Truncate(whole, 100); err != nil {
		t.Fatal(err)
	}
	_, err = new(Opener).Open(whole)
	checkFault(t, err, whole, "cannot be read to its end: unexpected EOF")
}

// Open refuses pipes, devices and broken links without opening them, and its error names the path.
// Expand keeps them and finds the files next to them.
func TestSpecialFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good.vsdb", vsdbLine)
	pipe, null, link, name, nothing := filepath.Join(dir, "pipe.vsdb"), filepath.Join(dir, "null.stat"), filepath.Join(dir, "pipelink.stat"), filepath.Join(dir, "gfs_\xff.vsdb"), filepath.Join(dir, "nothing.stat")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("NOT TESTED: this file system has no pipes:", err)
	}
	for _, err := range []error{
		os.Symlink(os.DevNull, null), os.Symlink(pipe, link), os.Symlink("gone", nothing), os.WriteFile(name, []byte(vsdbLine), 0o600),
	} {
		if err != nil {
			t.Skip("NOT TESTED: this file system has no links, or no such names:", err)
		}
	}
	for path, want := range map[string]string{
		pipe: "is not a regular file but a pipe", null: "is not a regular file but a device", link: "is not a regular file but a pipe",
		nothing: "is a broken link: no such file",
	} {
		_, err := new(Opener).Open(path)
		checkFault(t, err, path, want)
	}
	_, err := new(Opener).Open(name)
	checkFault(t, err, strconv.Quote(name), "the name is not UTF-8")
	for _, paths := range [][]string{{dir}, {good, name, nothing, null, pipe, link}, {filepath.Join(dir, "*")}} {
		files, err := Expand(paths)
		if want := []string{name, good, nothing, null, pipe}; err != nil || !slices.Equal(files, want) { // the link is the pipe again
			t.Errorf("Expand(%q) = %q, %v, want %q", paths, files, err, want)
		}
	}
}

// FilesIn lists only the files directly in a folder: METdbLoad does not read the subfolders of a load_spec's folder.
func TestWithin(t *testing.T) {
	dir := t.TempDir()
	want := []string{write(t, dir, "a.stat", statLine), write(t, dir, "b.vsdb.gz", vsdbLine)}
	write(t, dir, "c/d.stat", statLine)
	write(t, dir, "readme.txt", "")
	if got := FilesIn(dir); !slices.Equal(got, want) {
		t.Errorf("FilesIn = %q, want %q", got, want)
	}
	if got := FilesIn(filepath.Join(dir, "none")); len(got) > 0 {
		t.Errorf("of a folder that is not there: %q", got)
	}
}

func checkFault(t *testing.T, err error, file, want string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.File != file || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want a fault in %s: %s", err, file, want)
	}
}

// uncompressed returns a text in gzip's format, without compression.
func uncompressed(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// TestDamagedGzip: a file whose checksum is wrong has no record, because any of its values may be wrong. It makes no
// difference whether the file is read completely at once, or its text kept in memory. A short text is unpacked once.
func TestDamagedGzip(t *testing.T) {
	const long = maxText/len(statLine) + 1
	for _, lines := range []int{3, 1000, long} {
		text := uncompressed(t, strings.Repeat(statLine, lines))
		path := filepath.Join(t.TempDir(), "a.stat.gz")
		for _, damage := range []byte{1, 0} {
			text[len(text)-8] ^= damage // of the checksum
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			text[len(text)-8] ^= damage
			f, err := new(Opener).Open(path)
			if damage > 0 {
				checkFault(t, err, path, "cannot be read to its end: gzip: invalid checksum; check the file or fetch it again")
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if isUnpacked := f.BytesRead() == f.Size; isUnpacked != (lines < long) {
				t.Errorf("%d lines: %d of %d bytes are unpacked", lines, f.BytesRead(), f.Size)
			}
			if got, _ := read(t, f); len(got) != lines || f.BytesRead() != f.Size || !f.Gzip {
				t.Errorf("%d records, %d of %d bytes; want %d records", len(got), f.BytesRead(), f.Size, lines)
			}
		}
	}
}

// TestLongestTextInMemory: a gzip text of at most maxText bytes is unpacked once, a longer one twice.
func TestLongestTextInMemory(t *testing.T) {
	for length, isUnpacked := range map[int]bool{maxText - 1: true, maxText: true, maxText + 1: false} {
		text := strings.Repeat(statLine, length/len(statLine))
		text += strings.Repeat("\n", length-len(text))
		path := filepath.Join(t.TempDir(), "a.stat.gz")
		if err := os.WriteFile(path, uncompressed(t, text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := new(Opener).Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if (f.BytesRead() == f.Size) != isUnpacked {
			t.Errorf("%d bytes: %d of %d bytes are unpacked by Open", length, f.BytesRead(), f.Size)
		}
		if got, _ := read(t, f); len(got) != length/len(statLine) {
			t.Errorf("%d bytes: %d records", length, len(got))
		}
	}
}

// An opener that is used for many files gives what Open gives for each.
func TestOpener(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i := range 12 {
		name, text := fmt.Sprintf("%02d.stat", i), statHeader+strings.Repeat(statLine, i)
		if i%2 == 0 {
			name, text = fmt.Sprintf("x_%d/%02d.vsdb", i, i), strings.Repeat(ensLine, max(i, 1))+"\n"
		}
		if i%3 == 0 {
			name += gzipSuffix
		}
		paths = append(paths, write(t, dir, name, text))
	}
	o := Opener{Rows: 4}
	for i, p := range paths {
		f, err := o.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := read(t, f)
		f, err = new(Opener).Open(p)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := read(t, f)
		if !slices.Equal(got, want) || len(got) != i && i > 0 {
			t.Errorf("%s: %d records, want %d", p, len(got), i)
		}
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.stat", "a_sl1l2.txt", "b/c.vsdb", "b/d/e.vsdb.gz", "b/readme.txt", "b/x.xml", "odd.dat", "b/f.stat", "empty/x.csv"} {
		write(t, dir, name, "")
	}
	if err := os.Symlink(filepath.Join(dir, "a.stat"), filepath.Join(dir, "b", "again.stat")); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{[]string{"."}, "a.stat a_sl1l2.txt b/c.vsdb b/d/e.vsdb.gz b/f.stat"},
		{[]string{"b"}, "b/again.stat b/c.vsdb b/d/e.vsdb.gz b/f.stat"},
		{[]string{"b/", "b/c.vsdb", filepath.Join(dir, "b", "c.vsdb"), "b/../b/f.stat"}, "b/again.stat b/c.vsdb b/d/e.vsdb.gz b/f.stat"},
		{[]string{"odd.dat", "a.stat"}, "a.stat odd.dat"},
		{[]string{"*.stat", "b/?.*"}, "a.stat b/c.vsdb b/f.stat b/x.xml"},
		{[]string{"[ab]"}, "b/again.stat b/c.vsdb b/d/e.vsdb.gz b/f.stat"},
		{nil, ""},
	} {
		got, err := Expand(c.paths)
		want := strings.Fields(filepath.FromSlash(c.want))
		if len(c.paths) == 4 { // the absolute name sorts first
			want[1] = filepath.Join(dir, "b", "c.vsdb")
			slices.Sort(want)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Expand(%q) = %q, %v, want %q", c.paths, got, err, want)
		}
	}
	write(t, dir, "more/G.STAT.xz", "")
	write(t, dir, "more/.hidden", "")
	write(t, dir, "more/i.vsdb.part", "")
	write(t, dir, "more/h.tar.gz", "")
	var aside []string
	got, err := ExpandReporting([]string{"b", "more"}, func(path string) { aside = append(aside, filepath.ToSlash(path)) })
	if err != nil || len(got) != 5 || strings.Join(aside, " ") != "b/readme.txt b/x.xml more/h.tar.gz more/i.vsdb.part" {
		t.Errorf("%q, %v; left aside %q", got, err, aside)
	}
	for path, want := range map[string]string{
		"none.stat": "cannot be read: no such file", "*.grib": "no VSDB or MET file found", "empty": "no VSDB or MET file found", "[": "is not a valid pattern",
	} {
		_, err := Expand([]string{"a.stat", path})
		checkFault(t, err, path, want)
	}
}

// Expand keeps one of several names of a file, also if the names differ by links to files or to folders. A file in the
// root folder has the right target.
func TestExpandKnowsLinks(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "real")
	file := filepath.Join(folder, "a.vsdb")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(file, nil, 0o600), os.Symlink(folder, filepath.Join(dir, "folder")),
		os.Symlink(file, filepath.Join(dir, "link.vsdb")), os.Symlink("none", filepath.Join(dir, "nothing.vsdb"))); err != nil {
		t.Fatal(err)
	}
	got, err := Expand([]string{filepath.Join(dir, "folder"), dir, file})
	if want := []string{filepath.Join(dir, "folder", "a.vsdb"), filepath.Join(dir, "nothing.vsdb")}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if x := (expansion{folders: map[string]string{}}); x.target("/a.vsdb") != "/a.vsdb" {
		t.Error(x.target("/a.vsdb"))
	}
}

// Folders behind links are read, each file once, and a loop of links ends.
func TestExpandFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "store/d1/a.vsdb", "")
	write(t, dir, "store/d2/deep/b.vsdb", "")
	write(t, dir, "lk/data/c.vsdb", "")
	for link, to := range map[string]string{
		"lk/data/d1": "../../store/d1", "lk/data/d2": "../../store/d2", "store/d2/deep/up": "../../d2", "lk/data/loop": "..", "store/d1/itself": ".", "lk/data/gone": "nowhere",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var aside []string
	got, err := ExpandReporting([]string{"lk/data"}, func(path string) { aside = append(aside, path) })
	if want := []string{"lk/data/c.vsdb", "lk/data/d1/a.vsdb", "lk/data/d2/deep/b.vsdb"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if len(aside) == 0 || aside[0] != "lk/data/gone" {
		t.Errorf("left aside: %q; want the link to nothing", aside)
	}
	texts, err := NewTexts(t.Context(), []string{"lk/data"}, nil, func(error) {})
	if err != nil || len(texts.Paths) != 4 { // it takes any name
		t.Errorf("%q, %v", texts.Paths, err)
	}
}

// A file that is small is read once: what has been written to it since is not
// in the records, nor in what Hash saw.
func TestSmallFileIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.vsdb")
	line := "V01 GFS 06 2019010106 GFS G2 SL1L2 T P500 = 10 1 2 3 4 5\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	var o Opener
	f, err := o.Begin(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(line+strings.Replace(line, " 06 ", " 12 ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	if n, err := f.Hash(&seen, nil); n != int64(len(line)) || err != nil || seen.String() != line {
		t.Error(n, err, seen.String())
	}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	var b record.Batch
	if err := f.Next(&b); err != nil || b.Len() != 1 {
		t.Error(b.Len(), err)
	}
	if err := f.Next(&b); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
