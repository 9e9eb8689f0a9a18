package synth

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

func metFiles(t testing.TB, m MET) []FileSpec {
	t.Helper()
	files, err := m.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// readMET parses a file and calls do with each batch; it fails on any reject.
func readMET(t testing.TB, f FileSpec, do func(b *record.Batch)) {
	t.Helper()
	content := f.Append(nil)
	r := metstat.NewReader(bytes.NewReader(content), f.Path, metstat.Options{})
	var b record.Batch
	for {
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Rejects) > 0 {
			t.Fatalf("%s:%d: %s", f.Path, b.Rejects[0].Line, b.Rejects[0].Reason)
		}
		do(&b)
	}
	if lines := int64(bytes.Count(content, []byte("\n"))) - 1; r.Lines() != lines {
		t.Fatalf("%s: %d of %d lines read", f.Path, r.Lines(), lines)
	}
}

// The files of one lead have as many lines of each type as the real ones: 2,520 and 780, and the precipitation tables if
// they are requested.
func TestMETFilesAreReadBack(t *testing.T) {
	files := metFiles(t, MET{Seed: 1, From: date(2024, 10, 31), Models: []string{"GFS"}, Leads: []int{6, 78, 120}, CTC: true})
	if len(files) != 6 {
		t.Fatalf("%d files", len(files))
	}
	want := "G2G_v12/20241031-00z/grid_stat/grid_stat_GFS_TMP_vs_ANLYS_TMP_P1000_anom_1200000L_20241031_000000V.stat"
	if files[5].Path != want {
		t.Errorf("%s, want %s", files[5].Path, want)
	}
	for i, f := range files {
		lines := map[string]int{}
		readMET(t, f, func(b *record.Batch) {
			lines[b.Type.Name] += b.Len()
			for k := range b.Len() {
				if b.Lead[k] != []int32{6, 78, 120}[i/2]*3600 || b.Valid[k] != date(2024, 10, 31).Unix() || !b.HasPlainTimes(k) {
					t.Fatalf("%s: lead %d, valid %d", f.Path, b.Lead[k], b.Valid[k])
				}
			}
			checkMET(t, b)
		})
		w := map[string]int{"SL1L2": 2196, "VL1L2": 324, "CTC": 60}
		if i%2 == 1 {
			w = map[string]int{"SAL1L2": 624, "VAL1L2": 156}
		}
		if !maps.Equal(lines, w) {
			t.Errorf("%s: %v, want %v", f.Path, lines, w)
		}
	}
}

// checkMET checks that every statistic that the columns allow is defined and in
// its range.
func checkMET(t *testing.T, b *record.Batch) {
	t.Helper()
	for i := range stat.Table() {
		s := &stat.Table()[i]
		if s.LineType != b.Type.Name || s.Name == "VCNT_ANOM_CORR" { // synthetic speeds need not fit the vectors
			continue
		}
		values, err := stat.PerRecord(s, b.Type, b.Num)
		if err != nil {
			t.Fatal(err)
		}
		for k, x := range values {
			h := b.Header(k)
			if math.IsNaN(x) && b.Type.Name != "CTC" {
				t.Fatalf("%s of %s %s %s is undefined", s.Name, h[record.FcstVar], h[record.FcstLev], h[record.VxMask])
			}
			if strings.Contains(s.Name, "CORR") && (x < 0 || x > 1) {
				t.Fatalf("%s = %v", s.Name, x)
			}
		}
	}
	if b.Type.Name == "CTC" {
		for k := range b.Len() {
			if sum := b.Num[1][k] + b.Num[2][k] + b.Num[3][k] + b.Num[4][k]; sum != b.Num[0][k] || min(b.Num[1][k], b.Num[2][k], b.Num[3][k], b.Num[4][k]) < 0 {
				t.Fatalf("counts %v %v %v %v of %v", b.Num[1][k], b.Num[2][k], b.Num[3][k], b.Num[4][k], b.Num[0][k])
			}
		}
	}
}

func TestMETSettings(t *testing.T) {
	if n := len(metFiles(t, MET{From: date(2024, 10, 31), To: date(2024, 11, 1)})); n != 5*2*20*2 {
		t.Errorf("%d files", n)
	}
	for _, bad := range []MET{{}, {From: date(2024, 2, 1), To: date(2024, 1, 1)}, {From: date(2024, 1, 1), Models: []string{"nope"}}} {
		if _, err := bad.Files(); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	one := metFiles(t, MET{Seed: 5, From: date(2024, 10, 31), Leads: []int{24}})[0]
	if !bytes.Equal(one.Append(nil), one.Append(nil)) {
		t.Error("a file made twice differs")
	}
}

func BenchmarkMET(b *testing.B) {
	f := metFiles(b, MET{Seed: 1, From: date(2024, 10, 31), Leads: []int{24}})[0]
	buf := f.Append(nil)
	b.SetBytes(int64(len(buf)))
	for b.Loop() {
		buf = f.Append(buf[:0])
	}
}
