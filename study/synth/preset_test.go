package synth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// caseRows counts, in plain text, the lines that match a case.
type caseRows struct {
	lineType, variable string
	levels, masks      []string // empty = all
	times              map[string]bool
	leads              []string // empty = all
	want               int
}

func sixHourly(from, to time.Time, except ...string) map[string]bool {
	times := map[string]bool{}
	for t := from; !t.After(to); t = t.Add(6 * time.Hour) {
		if s := t.Format("2006010215"); !slices.Contains(except, s) {
			times[s] = true
		}
	}
	return times
}

// The seven cases return the recorded numbers of rows, counted in the generated
// text itself and not by any code of ours that reads it.
func TestSeedPresetHasTheRecordedRows(t *testing.T) {
	d16 := sixHourly(date(2018, 1, 1), date(2018, 1, 4).Add(18*time.Hour))
	d16c := sixHourly(date(2018, 2, 1), date(2018, 2, 4).Add(18*time.Hour))
	d271 := sixHourly(date(2019, 1, 1), date(2019, 3, 10), "2019012312", "2019012318")
	if len(d16) != 16 || len(d16c) != 16 || len(d271) != 271 {
		t.Fatal(len(d16), len(d16c), len(d271))
	}
	two := []string{"G2/NHX", "G2/SHX"}
	sixteen := strings.Fields("P10 P20 P30 P50 P70 P100 P150 P200 P250 P300 P400 P500 P700 P850 P925 P1000")
	cases := map[string]*caseRows{
		"test_1":        {"SAL1L2", "HGT", []string{"P1000"}, []string{"G2/NHX"}, d16, nil, 848},
		"test_1_cached": {"SAL1L2", "HGT", []string{"P1000"}, []string{"G2/NHX"}, d16c, nil, 848},
		"test_2":        {"SAL1L2", "HGT", nil, nil, d16, nil, 16960},
		"test_2_cached": {"SAL1L2", "HGT", nil, nil, d16c, nil, 16960},
		"test_3":        {"SAL1L2", "HGT", []string{"P500"}, two, d271, nil, 28718},
		"test_4":        {"SAL1L2", "HGT", []string{"P500", "P750"}, two, d271, nil, 28718},
		"test_5":        {"SAL1L2", "HGT", sixteen, two, d271, []string{"144"}, 2168},
		"test_6":        {"VAL1L2", "WIND", []string{"P500"}, two, d271, nil, 28718},
		"test_9":        {"SAL1L2", "HGT", []string{"P500"}, two, d271, nil, 28718},
		// The rows of the flavours that requested '0' and '6': 51 leads in 541 of 542 documents. In the other one both are
		// missing.
		"test_6 without 00 and 06": {"VAL1L2", "WIND", []string{"P500"}, two, d271, leadWords(12), 27636},
	}
	got := map[string]int{}
	models := map[string]bool{}
	for _, f := range filesOfVSDB(t, VSDB{Seed: 1, Preset: "quickstart"}) { // the preset seed and a second model, which no case includes
		for line := range strings.Lines(string(f.Append(nil))) {
			left, _, _ := strings.Cut(line, "=")
			w := strings.Fields(left)
			models[w[1]] = true
			for name, c := range cases {
				if w[1] == "GFS" && w[6] == c.lineType && w[7] == c.variable && c.times[w[3]] && (c.levels == nil || slices.Contains(c.levels, w[8])) &&
					(c.masks == nil || slices.Contains(c.masks, w[5])) && (c.leads == nil || slices.Contains(c.leads, w[2])) {
					got[name]++
				}
			}
		}
	}
	if len(models) != 2 {
		t.Error("models", models)
	}
	for name, c := range cases {
		if got[name] != c.want {
			t.Errorf("%s: %d rows, want %d", name, got[name], c.want)
		}
	}
}

// leadWords are the leads of GFS from a lead on, as the files spell them.
func leadWords(from int) []string {
	var words []string
	for _, l := range vsdbModels[0].gridLeads {
		if l >= from {
			words = append(words, fmt.Sprintf("%02d", l))
		}
	}
	return words
}

// Same seed, same bytes, whatever the number of workers; another seed, others.
func TestSameSeedSameBytes(t *testing.T) {
	write := func(seed uint64, workers int) (Stats, string) {
		t.Helper()
		root := t.TempDir()
		files := filesOfVSDB(t, VSDB{Seed: seed, Preset: "seed"})[:40]
		var progressed int64
		add := make(chan int64, len(files))
		s, err := WriteAll(t.Context(), root, files, workers, func(n int64) { add <- n })
		if err != nil {
			t.Fatal(err)
		}
		close(add)
		for n := range add {
			progressed += n
		}
		if progressed != s.Bytes || s.Files != len(files) {
			t.Errorf("progress reported %d bytes, %+v", progressed, s)
		}
		return s, root
	}
	one, root := write(1, 1)
	four, _ := write(1, 4)
	other, _ := write(2, 4)
	if one != four {
		t.Errorf("1 worker: %+v, 4 workers: %+v", one, four)
	}
	if one.Digest == other.Digest || one.Lines != other.Lines {
		t.Errorf("seed 1: %+v, seed 2: %+v", one, other)
	}
	var size int64
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, ierr := d.Info()
			size, err = size+info.Size(), ierr
			if strings.HasSuffix(path, ".part") {
				t.Errorf("%s was left", path)
			}
		}
		return err
	})
	if err != nil || size != one.Bytes {
		t.Errorf("%d bytes on disk, %d written, %v", size, one.Bytes, err)
	}
}

func TestWriteAllReportsFailure(t *testing.T) {
	root := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(root, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	files := filesOfVSDB(t, VSDB{Seed: 1, Preset: "seed"})[:3]
	if _, err := WriteAll(t.Context(), root, files, 2, nil); err == nil {
		t.Error("writing below a file succeeded")
	}
}

func TestWriteAllStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	files := filesOfVSDB(t, VSDB{Seed: 1, Preset: "seed"})
	root := t.TempDir()
	s, err := WriteAll(ctx, root, files, 2, func(int64) { cancel() })
	if !errors.Is(err, context.Canceled) || s.Files == 0 || s.Files > 4 {
		t.Errorf("%+v, %v", s, err)
	}
	// The existing files are complete.
	for _, f := range files[:s.Files] {
		got, err := os.ReadFile(filepath.Join(root, f.Path))
		if err == nil && !bytes.Equal(got, f.Append(nil)) {
			t.Errorf("%s is incomplete", f.Path)
		}
	}
}

func BenchmarkVSDB(b *testing.B) {
	files := filesOfVSDB(b, day(1))
	pick := func(part string) []FileSpec {
		return slices.DeleteFunc(slices.Clone(files), func(f FileSpec) bool { return !strings.Contains(f.Path, part) })
	}
	for _, kind := range []string{"anom/00Z/gfs", "pres/00Z/gfs", "sfc/00Z/gfs", "gfs_air", "gfs_sfc"} {
		b.Run("kind="+strings.ReplaceAll(kind, "/", "-"), func(b *testing.B) {
			f := pick(kind)[0]
			buf := f.Append(nil)
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				buf = f.Append(buf[:0])
			}
		})
	}
}

func BenchmarkWriteAll(b *testing.B) {
	files := filesOfVSDB(b, day(1))
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			root := b.TempDir()
			for b.Loop() {
				s, err := WriteAll(b.Context(), root, files, workers, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(s.Bytes)
			}
		})
	}
}

// An error leaves no temporary file.
func TestWriteAllRemovesTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a", "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	files := []FileSpec{{Path: "a/taken", Append: func(dst []byte) []byte { return append(dst, "x\n"...) }}}
	if s, err := WriteAll(t.Context(), root, files, 1, nil); err == nil || s.Files != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "a")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}
