package synth

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// day is one full synthetic day with the dates of the real one.
func day(seed uint64) VSDB { return VSDB{Seed: seed, From: date(2019, 1, 1)} }

// batches parses files and calls do with each batch; it fails on any reject.
func batches(t testing.TB, files []FileSpec, do func(f FileSpec, b *record.Batch)) {
	t.Helper()
	var buf []byte
	var b record.Batch
	for _, f := range files {
		buf = f.Append(buf[:0])
		r := vsdb.NewReader(bytes.NewReader(buf), f.Path, vsdb.Options{})
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
			do(f, &b)
		}
		if lines := int64(bytes.Count(buf, []byte("\n"))); r.Lines() != lines {
			t.Fatalf("%s: %d of %d lines read", f.Path, r.Lines(), lines)
		}
	}
}

func filesOfVSDB(t testing.TB, v VSDB) []FileSpec {
	t.Helper()
	files, err := v.Files()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A synthetic day has the files of the real day of 2019-01-01, line for line:
// the numbers are those of the real files (358,824 lines in 30 files).
func TestDayHasTheLinesOfTheRealDay(t *testing.T) {
	want := map[string]int{
		"anom/00Z/gfs/gfs_": 8745, "anom/06Z/gfs/gfs_": 8745, "anom/12Z/gfs/gfs_": 8745, "anom/18Z/gfs/gfs_": 8745,
		"anom/00Z/ecm/ecm_": 3465, "anom/12Z/ecm/ecm_": 3465,
		"pres/00Z/gfs/gfs_": 24115, "pres/06Z/gfs/gfs_": 24115, "pres/12Z/gfs/gfs_": 24115, "pres/18Z/gfs/gfs_": 24115,
		"pres/00Z/ecm/ecm_": 7350, "pres/12Z/ecm/ecm_": 7350,
		"sfc/00Z/gfs/gfs_": 11889, "sfc/06Z/gfs/gfs_": 11901, "sfc/12Z/gfs/gfs_": 11901, "sfc/18Z/gfs/gfs_": 11901,
		"sfc/00Z/ecm/ecm_": 1260, "sfc/12Z/ecm/ecm_": 1260,
		"grid2obs/00Z/gfs/gfs_air_": 21837, "grid2obs/06Z/gfs/gfs_air_": 21590,
		"grid2obs/12Z/gfs/gfs_air_": 21842, "grid2obs/18Z/gfs/gfs_air_": 21644,
		"grid2obs/00Z/gfs/gfs_sfc_": 7106, "grid2obs/06Z/gfs/gfs_sfc_": 7105,
		"grid2obs/12Z/gfs/gfs_sfc_": 7105, "grid2obs/18Z/gfs/gfs_sfc_": 7105,
		"grid2obs/00Z/ecm/ecm_air_": 17707, "grid2obs/12Z/ecm/ecm_air_": 17729,
		"grid2obs/00Z/ecm/ecm_sfc_": 2436, "grid2obs/12Z/ecm/ecm_sfc_": 2436,
	}
	got, types := map[string]int{}, map[string]int{}
	seen := map[record.Key]bool{}
	var h record.Hasher
	batches(t, filesOfVSDB(t, day(1)), func(f FileSpec, b *record.Batch) {
		got[strings.TrimSuffix(strings.TrimPrefix(f.Path, "vsdb_data/"), "20190101.vsdb")] += b.Len()
		types[b.Type.Name] += b.Len()
		h.SetBatch(b)
		for i := range b.Len() {
			k := h.Key(i)
			if seen[k] {
				t.Fatalf("%s:%d: a record with this identity was made before", f.Path, b.Line[i])
			}
			seen[k] = true
		}
	})
	if !maps.Equal(got, want) {
		for k := range want {
			if got[k] != want[k] {
				t.Errorf("%s: %d lines, want %d", k, got[k], want[k])
			}
		}
	}
	if w := map[string]int{"SL1L2": 262004, "SAL1L2": 38100, "VL1L2": 54910, "VAL1L2": 3810}; !maps.Equal(types, w) {
		t.Errorf("%v, want %v", types, w)
	}
}

// Partial sums agree with one another, in every record of a day.
func TestPartialSumsAreConsistent(t *testing.T) {
	type state struct {
		header int
		valid  int64
	}
	headers := map[record.Header]int{}
	observed := map[state][3]float64{} // total, o, oo
	batches(t, filesOfVSDB(t, day(2)), func(f FileSpec, b *record.Batch) {
		column := func(names ...string) []float64 {
			for _, n := range names {
				if c, ok := b.Type.Column(n); ok {
					return b.Num[c.Slot]
				}
			}
			t.Fatalf("%s has none of %v", b.Type.Name, names)
			return nil
		}
		total := column("total")
		fo, ff, oo := column("fobar", "foabar", "uvfobar", "uvfoabar"), column("ffbar", "ffabar", "uvffbar", "uvffabar"), column("oobar", "ooabar", "uvoobar", "uvooabar")
		fm, om := column("fbar", "fabar", "ufbar", "ufabar"), column("obar", "oabar", "uobar", "uoabar")
		number := make([]int, len(b.Headers))
		for i, h := range b.Headers {
			h[record.Version] = b.Type.Name
			if _, ok := headers[h]; !ok {
				headers[h] = len(headers)
			}
			number[i] = headers[h]
		}
		var mae []float64
		if _, ok := b.Type.Column("mae"); ok {
			mae = column("mae")
		}
		for i := range b.Len() {
			at := func() string { return f.Path + " " + b.Header(i)[record.FcstVar] + " " + b.Header(i)[record.FcstLev] }
			// 9 digits: each mean square is right to 5e-9 of itself.
			rounding := 2.1e-8 * (ff[i] + oo[i])
			mse := ff[i] + oo[i] - 2*fo[i]
			switch {
			case total[i] < 1 || total[i] != math.Trunc(total[i]):
				t.Fatalf("%s: total %v", at(), total[i])
			case fo[i]*fo[i] > ff[i]*oo[i]*(1+2e-8):
				t.Fatalf("%s: Cauchy-Schwarz: %v² > %v·%v", at(), fo[i], ff[i], oo[i])
			case fm[i]*fm[i] > ff[i]+rounding || om[i]*om[i] > oo[i]+rounding:
				t.Fatalf("%s: a mean is beyond the root mean square", at())
			case mse < 0:
				t.Fatalf("%s: MSE = %v", at(), mse)
			case mae != nil && !math.IsNaN(mae[i]) && mae[i]*mae[i] > mse+rounding:
				t.Fatalf("%s: MAE %v > RMSE %v", at(), mae[i], math.Sqrt(mse))
			case mae != nil && mae[i] < math.Abs(fm[i]-om[i])-1e-8*math.Abs(om[i]):
				t.Fatalf("%s: MAE %v < |ME| %v", at(), mae[i], math.Abs(fm[i]-om[i]))
			}
			k, o := state{number[b.HeaderIndex[i]], b.Valid[i]}, [3]float64{total[i], om[i], oo[i]}
			if before, ok := observed[k]; ok && before != o {
				t.Fatalf("%s: two leads of one valid time saw different observations: %v, %v", at(), before, o)
			}
			observed[k] = o
		}
	})
}

// The anomaly correlation falls with lead, on average over 40 days, near the
// values of the real GFS, and ECM is a little better.
func TestAnomalyCorrelationFallsWithLead(t *testing.T) {
	acc := func(model string) map[int]float64 {
		v := VSDB{Seed: 3, From: date(2019, 1, 1), To: date(2019, 2, 9), Models: []string{model}, StatTypes: []string{Anom}}
		files := filesOfVSDB(t, v)
		files = slices.DeleteFunc(files, func(f FileSpec) bool { return !strings.Contains(f.Path, "/00Z/") })
		lt, _ := record.TypeByName("SAL1L2")
		sums := map[int]*stat.Aggregate{}
		row := make([]float64, lt.NumCols())
		batches(t, files, func(_ FileSpec, b *record.Batch) {
			for i := range b.Len() {
				h := b.Header(i)
				if h[record.FcstVar] != "HGT" || h[record.FcstLev] != "P500" || h[record.VxMask] != "G2/NHX" {
					continue
				}
				lead := int(b.Lead[i]) / 3600
				if sums[lead] == nil {
					sums[lead] = stat.NewAggregate(lt)
				}
				for k := range row {
					row[k] = b.Num[k][i]
				}
				sums[lead].Add(row)
			}
		})
		values := map[int]float64{}
		for lead, a := range sums {
			x, ok, err := a.Stat("ANOM_CORR")
			if !ok || err != nil {
				t.Fatal(model, lead, ok, err)
			}
			values[lead] = x
		}
		return values
	}
	gfs, ecm := acc("gfs"), acc("ecm")
	leads := slices.Sorted(maps.Keys(gfs))
	for i, lead := range leads[1:] {
		if gfs[lead] >= gfs[leads[i]] {
			t.Errorf("ACC rises from %d h (%v) to %d h (%v)", leads[i], gfs[leads[i]], lead, gfs[lead])
		}
	}
	for lead, want := range map[int]float64{0: 0.99998, 24: 0.998, 72: 0.965, 120: 0.86, 144: 0.80, 240: 0.49, 384: 0.21} {
		if math.Abs(gfs[lead]-want) > 0.06 {
			t.Errorf("GFS ACC at %d h = %.3f, want about %.3f", lead, gfs[lead], want)
		}
	}
	for _, lead := range []int{72, 120, 240} {
		if ecm[lead] <= gfs[lead] {
			t.Errorf("ACC at %d h: ECM %v, GFS %v", lead, ecm[lead], gfs[lead])
		}
	}
}

func TestRangesAndSettings(t *testing.T) {
	v := VSDB{From: date(2019, 1, 1), To: date(2019, 1, 3), Models: []string{"gfs"}, StatTypes: []string{Anom, Grid2obs}}
	if n := len(filesOfVSDB(t, v)); n != 3*(4+8) {
		t.Errorf("%d files for 3 days, want 36", n)
	}
	v.Scale = 2
	files := filesOfVSDB(t, v)
	if n := len(files); n != 6*(4+8) || !strings.HasSuffix(files[n-1].Path, "20190106.vsdb") {
		t.Errorf("%d files at scale 2, the last %s", n, files[n-1].Path)
	}
	for _, bad := range []VSDB{
		{},
		{From: date(2019, 1, 2), To: date(2019, 1, 1)},
		{From: date(2019, 1, 2), Models: []string{"nope"}},
		{From: date(2019, 1, 2), StatTypes: []string{"nope"}},
		{From: date(2019, 1, 2), Scale: -1},
		{Preset: "nope"},
	} {
		if _, err := bad.Files(); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// A record does not depend on the other records of the archive.
func TestRecordsDoNotDependOnTheRange(t *testing.T) {
	long := filesOfVSDB(t, VSDB{Seed: 4, From: date(2018, 12, 30), To: date(2019, 1, 1), StatTypes: []string{Anom}})
	content := map[string][]byte{}
	for _, f := range long {
		content[f.Path] = f.Append(nil)
	}
	short := filesOfVSDB(t, VSDB{Seed: 4, From: date(2019, 1, 1), StatTypes: []string{Anom}})
	for _, f := range short {
		if !bytes.Equal(f.Append(nil), content[f.Path]) {
			t.Errorf("%s differs between ranges", f.Path)
		}
	}
	for _, f := range filesOfVSDB(t, VSDB{Seed: 4, Preset: "seed"}) {
		if full, ok := content[f.Path]; ok {
			lines := map[string]bool{}
			for line := range bytes.Lines(full) {
				lines[string(line)] = true
			}
			for line := range bytes.Lines(f.Append(nil)) {
				if !lines[string(line)] {
					t.Fatalf("%s: the preset has a line that the full file has not: %s", f.Path, line)
				}
			}
		}
	}
}

func TestWaveIsSmoothAndBounded(t *testing.T) {
	before := wave(7, -3)
	for x := -3.0; x < 50; x += 0.01 {
		w := wave(7, x)
		if math.Abs(w) > 1 || math.Abs(w-before) > 0.05 {
			t.Fatalf("wave(%v) = %v after %v", x, w, before)
		}
		before = w
	}
}

var seedTime = time.Date(2019, 1, 24, 0, 0, 0, 0, time.UTC)

func TestFirstAfterGap(t *testing.T) {
	if seedTime.Unix() != firstAfterGap {
		t.Errorf("firstAfterGap = %d, want %d", firstAfterGap, seedTime.Unix())
	}
}

// Before 1970 the remainder of Unix seconds is negative; hours of the day are not.
func TestDayBefore1970(t *testing.T) {
	for _, c := range []struct {
		valid int64
		hour  int
	}{{0, 0}, {-1, 23}, {-18 * 3600, 6}, {-86400, 0}, {86399, 23}} {
		if got := hourOf(c.valid); got != c.hour {
			t.Errorf("the hour of %d is %d, want %d", c.valid, got, c.hour)
		}
	}
	before := filesOfVSDB(t, VSDB{Seed: 1, From: date(1959, 12, 31), Models: []string{"ecm"}})
	after := filesOfVSDB(t, VSDB{Seed: 1, From: date(2019, 1, 1), Models: []string{"ecm"}})
	lines := func(files []FileSpec) (n int) {
		batches(t, files, func(_ FileSpec, b *record.Batch) { n += b.Len() })
		return n
	}
	if a, b := lines(before), lines(after); len(before) != len(after) || a != b {
		t.Errorf("%d files and %d records before 1970, %d and %d after", len(before), a, len(after), b)
	}
}

// A name that a user gives twice makes no file twice: two workers would write it at the same time.
func TestNamesGivenTwice(t *testing.T) {
	v := VSDB{From: date(2019, 1, 1), Models: []string{"gfs", "gfs"}, StatTypes: []string{Sfc, Anom, Anom}}
	m := MET{From: date(2024, 10, 31), Models: []string{"GFS", "GFS"}, Leads: []int{12, 6, 12, 0}}
	for _, files := range [][]FileSpec{filesOfVSDB(t, v), metFiles(t, m)} {
		paths := map[string]bool{}
		for _, f := range files {
			if paths[f.Path] {
				t.Error(f.Path)
			}
			paths[f.Path] = true
		}
		if len(files) != 8 && len(files) != 6 {
			t.Errorf("%d files", len(files))
		}
	}
	for _, leads := range [][]int{{-6}, {6, 10_001}} {
		if _, err := (MET{From: date(2024, 10, 31), Leads: leads}).Files(); err == nil || !strings.Contains(err.Error(), "0 and 10000 hours") {
			t.Errorf("leads %v: %v", leads, err)
		}
	}
}
