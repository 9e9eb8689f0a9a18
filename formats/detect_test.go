package formats

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestFormatByName: the last part of a file's name identifies its format, in any letter case.
func TestFormatByName(t *testing.T) {
	for kind, names := range map[Kind]string{
		VSDB: "a.vsdb A.VSDB .vsdb a.vsdb.gz a.vsdb.GZ a.stat.vsdb d/a.vsdb a.vsdb.bz2 a.vsdb.xz a.vsdb.zst a.vsdb.zip a.vsdb.z a.vsdb.Z a.vsdb.lz4",
		MetStat: "a.stat a.tcst a.STAT.gz a.tcst.bz2 a_sl1l2.txt a_SL1L2.TXT a_seeps_mpr.txt a_cts.txt.gz a_obj.txt a_2d.txt a_3d_pair_cluster.txt a_3d_pair_simple.txt " +
			"a_3d_single_cluster.txt a_3d_single_simple.txt _ctc.txt",
		"": "vsdb stat a.dat a.txt a_xyz.txt asl1l2.txt sl1l2.txt aobj.txt a_sl1l2 a_sl1l2.dat a.stat.txt a.gz a.vsdb.rar a.vsdb.gz.gz a.vsdb.tar.gz d.stat/a a.vsdb.tmp a.status _3d.txt",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := byName(filepath.FromSlash(name)); got != kind {
				t.Errorf("%s is %q, want %q", name, got, kind)
			}
		}
	}
}

// TestFormatByText: the first line that is not blank identifies the format.
func TestFormatByText(t *testing.T) {
	for text, want := range map[string]Kind{
		"VERSION": MetStat, "VERSION MODEL\n": MetStat, "\xef\xbb\xbfVERSION MODEL": MetStat, "\n \r\n\tVERSION MODEL\nx": MetStat,
		"VERSIONS MODEL": "", "MODEL VERSION": "", "": "", "\n \n": "", "V": "",
		"V12.0.0 GFS NA 060000 20241101_180000":                MetStat,
		"V5 GFS 060000 x 20241101_180000 20241101_180000 more": MetStat,
		"V12.0.0 GFS NA 060000":                                "",
		"V12.0.0 GFS NA\n060000 20241101_180000":               "",
		"V12.0.0 GFS NA 060000 20241101_18000":                 "",
		"V12.0.0 GFS NA 060000 20241101_1800000":               "",
		"V12.0.0 GFS NA 060000 20241101-180000":                "",
		"V GFS NA 060000 20241101_180000":                      "",
		"V.1 GFS NA 060000 20241101_180000":                    "",
		"W12 GFS NA 060000 20241101_180000":                    "",
		"V12-0 GFS NA 060000 20241101_180000":                  "",
		"V01 GFS 24 2019010100":                                VSDB,
		"V01 GFS 24 2019010100 GFS G2\nmore":                   VSDB,
		"V01 GFS 2019010100":                                   "",
		"V01 GFS 24 201901010":                                 "",
		"V01 GFS 24 20190101000":                               "",
		"V01 GFS 24 20190101x0":                                "",
		"V01.1 GFS 24 2019010100":                              "",
		"V0x GFS 24 2019010100":                                "",
		"01 GFS 24 2019010100":                                 "",
	} {
		if got := byText([]byte(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestUnsupportedFiles: compressed and UTF-16 files are refused with what they are.
func TestUnsupportedFiles(t *testing.T) {
	for text, want := range map[string]string{
		"BZh9": "is packed with bzip2", "\xfd7zXZ": "is packed with xz", "\x28\xb5\x2f\xfd": "is packed with zstd", "PK\x03\x04": "is packed with zip",
		"\x1f\x9d": "is packed with compress", "\x04\x22\x4d\x18": "is packed with lz4", "\xfe\xff\x00V": "is UTF-16", "\xff\xfeV\x00": "is UTF-16",
	} {
		path := write(t, t.TempDir(), "a.stat", text)
		_, err := new(Opener).Open(path)
		checkFault(t, err, path, want)
	}
	for mode, want := range map[fs.FileMode]string{fs.ModeNamedPipe: "a pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device", fs.ModeDevice | fs.ModeCharDevice: "a device"} {
		if got := describeMode(mode | 0o644); got != want {
			t.Errorf("%v is %s, want %s", mode, got, want)
		}
	}
	if err := new(Opener).read(&File{Kind: "grib"}, nil); err == nil || err.Error() != `no reader for format "grib"` {
		t.Error(err)
	}
}

// TestBlanks: blanks before the first record do not matter, however many there are. A file of nothing but blanks is an
// error when it is opened, or if it is longer than what Open examines, when it is read.
func TestBlanks(t *testing.T) {
	for _, n := range []int{1, 65535, 65536, 65537, 200_000} {
		for name, c := range map[string]struct{ begin, end, want string }{
			"blank.stat":   {"", "", "contains only blanks"},
			"marked.stat":  {"\xef\xbb\xbf", "", "contains only blanks"},
			"record.stat":  {"", statHeader + statLine, "SL1L2 GFS"},
			"record2.stat": {"\xef\xbb\xbf", "\n" + statHeader + statLine, "SL1L2 GFS"},
			"record.vsdb":  {"", vsdbLine, "SAL1L2 GFS"},
			"blank.vsdb":   {"", "", "contains only blanks"},
		} {
			for _, suffix := range []string{"", gzipSuffix} {
				path := write(t, t.TempDir(), name+suffix, c.begin+strings.Repeat("\n", n)+c.end)
				f, err := new(Opener).Open(path)
				if err == nil && c.end == "" {
					err = f.Next(new(record.Batch))
				}
				if c.end == "" {
					checkFault(t, err, path, c.want)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, rejects := read(t, f); strings.Join(got, ",") != c.want || len(rejects) > 0 {
					t.Errorf("%s after %d blanks: %q, %v", name, n, got, rejects)
				}
			}
		}
	}
	path := write(t, t.TempDir(), "nul.stat", "\x00\n")
	if f, err := new(Opener).Open(path); err != nil {
		t.Error(err)
	} else if _, rejects := read(t, f); len(rejects) != 1 {
		t.Errorf("a line with a NUL byte: %v", rejects)
	}
}

// TestHash: Hash and the reader see the same bytes of a file that is read at once, and of one that is not.
func TestHash(t *testing.T) {
	for _, lines := range []int{1, 1000} {
		text := statHeader + strings.Repeat(statLine, lines)
		f, err := new(Opener).Begin(write(t, t.TempDir(), "a.stat", text))
		if err != nil {
			t.Fatal(err)
		}
		var all bytes.Buffer
		if n, err := f.Hash(&all, make([]byte, 1000)); err != nil || n != int64(len(text)) || all.String() != text {
			t.Errorf("%d lines: %d bytes, %v", lines, n, err)
		}
		full := errors.New("full")
		if _, err := f.Hash(failingWriter{full}, make([]byte, 1000)); !errors.Is(err, full) {
			t.Errorf("%d lines: %v", lines, err)
		}
		if f.source.f != nil {
			if _, err := f.source.f.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Start(); err != nil {
			t.Fatal(err)
		}
		if got, _ := read(t, f); len(got) != lines {
			t.Errorf("%d records, want %d", len(got), lines)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestTextInMemory: a gzip file is unpacked once if its text has less than 4 MiB.
func TestTextInMemory(t *testing.T) {
	for size, once := range map[int]bool{4<<20 - 1: true, 4<<20 + 1: false} {
		text := statHeader + strings.Repeat(" ", size-len(statHeader)-len(statLine)-1) + "\n" + statLine
		path := filepath.Join(t.TempDir(), "a.stat.gz")
		if err := os.WriteFile(path, uncompressed(t, text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := new(Opener).Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if isUnpacked := f.BytesRead() == f.Size; isUnpacked != once {
			t.Errorf("a text of %d bytes: %d of %d bytes are read when the file is open", size, f.BytesRead(), f.Size)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnusualPaths: a file with the characters of a pattern in its name, a pattern below a file, and the path of a file as
// that of a folder.
func TestUnusualPaths(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "a[1]*.stat", statLine)
	write(t, dir, "a1.stat", statLine)
	if got, err := Expand([]string{file}); err != nil || !slices.Equal(got, []string{file}) {
		t.Errorf("%q, %v", got, err)
	}
	_, err := Expand([]string{filepath.Join(file, "*.stat")})
	checkFault(t, err, filepath.Join(file, "*.stat"), "cannot be read: not a directory")
	if got := FilesIn(file); !slices.Equal(got, []string{file}) {
		t.Errorf("%q", got)
	}
	if _, err := OpenFile(dir); err == nil {
		t.Error("a folder is opened as a file")
	}
	_, err = OpenFile(filepath.Join(dir, "none"))
	checkFault(t, err, filepath.Join(dir, "none"), "cannot be opened: no such file")
	if got := absolute(filepath.Join(dir, "none")); got != filepath.Join(dir, "none") {
		t.Error(got)
	}
}

// TestSkippedFiles: of the files of a folder that are not read, the incomplete ones of a format are reported, but no
// others that are hidden or incomplete.
func TestSkippedFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.vsdb", "b.stat.tmp", "c.vsdb.part", "d.tmp", "e.part", ".f", "g.txt", "sub/h.stat.gz.tmp", "sub/i"} {
		write(t, dir, name, "x")
	}
	var skipped []string
	got, err := ExpandReporting([]string{dir}, func(path string) {
		below, _ := filepath.Rel(dir, path)
		skipped = append(skipped, filepath.ToSlash(below))
	})
	if err != nil || len(got) != 1 || strings.Join(skipped, " ") != "b.stat.tmp c.vsdb.part g.txt sub/h.stat.gz.tmp sub/i" {
		t.Errorf("%q, %v; skipped %q", got, err, skipped)
	}
}

// TestWalk: Walk reports a folder and everything below it, also behind links to folders, but each folder behind a link
// once. An error of its function ends it.
func TestWalk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "real/x", "")
	for link, to := range map[string]string{"top/again": "../real", "top/link": "../real", "top/file": "../real/x", "top/up": ".", "top/gone": "none"} {
		path := filepath.Join(dir, filepath.FromSlash(link))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := Walk(filepath.Join(dir, "top"), func(path string, _ fs.DirEntry, err error) error {
		below, _ := filepath.Rel(dir, path)
		got = append(got, filepath.ToSlash(below))
		return err
	})
	if want := "top top/again top/again/x top/file top/gone"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v; want %s", got, err, want)
	}
	stop := errors.New("stop")
	if err := Walk(dir, func(_ string, e fs.DirEntry, _ error) error {
		if e.Name() == "x" {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Error(err)
	}
	if err := Walk(filepath.Join(dir, "none"), func(_ string, _ fs.DirEntry, err error) error { return err }); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
