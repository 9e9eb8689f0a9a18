package vsdb

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

func testHeader() record.Header {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = "V01", "GFS", "GFS", "G2/NHX"
	h[record.FcstVar], h[record.FcstLev] = "HGT", "P500"
	return h
}

// The lines below are in NCEP's format, byte for byte.
func TestAppendLine(t *testing.T) {
	h := testHeader()
	nan := math.NaN()
	for _, c := range []struct {
		lead  int
		typ   string
		nums  []float64
		level string
		want  string
	}{
		{
			24, "SAL1L2",
			[]float64{3600, 26.9635266, 26.8790391, 13261.3515, 13262.3015, 13313.2874},
			"P500",
			"V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05\n",
		},
		{
			6, "SL1L2",
			[]float64{10512, -0.707643435, 0, 1, -1e-5, 1e9},
			"",
			"V01 GFS 06 2019010100 GFS G2/NHX SL1L2 HGT       =  10512.  -0.707643435E+00   0.000000000E+00   0.100000000E+01  -0.100000000E-04   0.100000000E+10\n",
		},
		{
			384, "VL1L2",
			[]float64{12345678, nan, 2, nan, nan},
			"P500",
			"V01 GFS 384 2019010100 GFS G2/NHX VL1L2 HGT P500 = 12345678.            -9999.   0.200000000E+01            -9999.            -9999.\n",
		},
		{
			120, "FHO>.50",
			[]float64{60582, 0.00213, 2e-5, 0.00271},
			"SFC",
			"V01 GFS 120 2019010100 GFS G2/NHX FHO>.50 HGT SFC =  60582 0.00213 0.00002 0.00271\n",
		},
		{
			120, "FSS>.50",
			[]float64{100, 0.25},
			"SFC",
			"V01 GFS 120 2019010100 GFS G2/NHX FSS>.50 HGT SFC =    100.   0.250000000E+00\n",
		},
		{
			0, "RPS",
			[]float64{0.5, 1e-100},
			"P500",
			"V01 GFS 00 2019010100 GFS G2/NHX RPS HGT P500 =   0.500000000E+00   0.100000000E-99\n",
		},
		{
			0, "RPS",
			[]float64{1e100, math.Inf(-1), 1},
			"P500",
			"V01 GFS 00 2019010100 GFS G2/NHX RPS HGT P500 =   0.100000000E+101          -Infinity   0.100000000E+01\n",
		},
	} {
		h[record.FcstLev] = c.level
		if got := string(AppendLine(nil, &h, c.lead, valid, c.typ, c.nums)); got != c.want {
			t.Errorf("\n got %swant %s", got, c.want)
		}
	}
	if r := rejected(t, string(AppendLine(nil, &h, 0, valid, "RPS", []float64{math.Inf(1)}))); !strings.Contains(r.Reason, "no number of members") && !strings.Contains(r.Reason, "finite") {
		t.Error(r.Reason)
	}
}

// appendE writes the correctly rounded decimal of nine digits.
func TestAppendEEqualsStrconv(t *testing.T) {
	check := func(x float64) {
		t.Helper()
		got := strings.TrimLeft(string(appendE(nil, x)), " ")
		want := strconv.FormatFloat(x, 'e', 8, 64) // d.dddddddde±dd
		mant, exp, _ := strings.Cut(want, "e")
		e, _ := strconv.Atoi(exp)
		if x != 0 {
			e++
		}
		sign := ""
		if math.Signbit(x) {
			sign, mant = "-", mant[1:]
		}
		letters := strconv.Itoa(max(e, -e))
		if len(letters) < 2 {
			letters = "0" + letters
		}
		s := "+"
		if e < 0 {
			s = "-"
		}
		if want = sign + "0." + mant[:1] + mant[2:] + "E" + s + letters; got != want {
			t.Errorf("%v (%x): %s, want %s", x, math.Float64bits(x), got, want)
		}
	}
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, 10, 0.1, 99999999.95, 999999999.5, 0.9999999995, 0.99999999949999, 0.99999999950001, 123456789.5, 123456788.5, 1234567885,
		1e22, 1e23, 1e-22, 5e-324, math.MaxFloat64, 1 << 53, 0.5, 2.5e-13, 1e8, 1e9, 99999999, 999999999, 0.1234567895,
	} {
		check(x)
		check(-x)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 100000 {
		if x := math.Float64frombits(rng.Uint64()); !math.IsNaN(x) && !math.IsInf(x, 0) {
			check(x)
		}
		check((rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(40)-20)))
		// halves of the ninth digit and their neighbors
		half := (float64(rng.IntN(9e8)+1e8) + 0.5) * math.Pow(10, float64(rng.IntN(20)-14))
		check(half)
		check(math.Nextafter(half, 0))
		check(math.Nextafter(half, 1e300))
		check(math.Pow(10, float64(rng.IntN(60)-30)))
	}
}

// Ordinary values need no text of strconv. Their nine digits equal those of strconv.
func TestNineDigitsOfOrdinaryValues(t *testing.T) {
	for _, v := range []float64{1, 273.15, 5512.875, 101325, 0.003, 1e-9, 2.5e12, 999999999, 4.2e21, 5e-14, 5e30} {
		mant, exp, ok := nineDigits(v)
		if m, e := slowDigits(v); !ok || mant != m || exp != e {
			t.Errorf("%v: 0.%d·10^%d, %v; want 0.%d·10^%d", v, mant, exp, ok, m, e)
		}
	}
	for _, v := range []float64{5e-324, 1e-20, 5e-15, 5e31, 1e40, 123456789.5} { // out of range, or half between two
		if _, _, ok := nineDigits(v); ok {
			t.Errorf("%v: nine digits without strconv", v)
		}
	}
}

func TestAppendLineDoesNotAllocate(t *testing.T) {
	h := testHeader()
	nums := []float64{3600, 26.9635266, 123456789.5, 1e-30, 1e60, 0}
	buf := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(1000, func() { buf = AppendLine(buf[:0], &h, 24, valid, "SL1L2", nums) }); n != 0 {
		t.Errorf("%v allocations per line, want 0", n)
	}
}

// numsOf returns the numbers of row i, without the missing ones at the end.
func numsOf(b *record.Batch, i int, into []float64) []float64 {
	into = into[:0]
	for _, col := range b.Num {
		into = append(into, col[i])
	}
	for len(into) > 0 && math.IsNaN(into[len(into)-1]) {
		into = into[:len(into)-1]
	}
	return into
}

// Written, read and written again, a line is the same.
func TestRoundTrip(t *testing.T) {
	text := generated(5000, 11)
	lines := bytes.SplitAfter(text, []byte("\n"))
	batches, _ := readAll(t, bytes.NewReader(text), "t", Options{})
	n := 0
	for _, b := range batches {
		for i := range b.Len() {
			again := AppendLine(nil, b.Header(i), int(b.Lead[i]/3600), b.Valid[i], b.Type.Name, numsOf(b, i, nil))
			if !bytes.Equal(again, lines[b.Line[i]-1]) {
				t.Fatalf("line %d\n got %swant %s", b.Line[i], again, lines[b.Line[i]-1])
			}
			n++
		}
	}
	if n != 5000 {
		t.Errorf("%d lines, want 5000", n)
	}
}

// Every line of a real day, read and written again, has the same tokens.
func TestRealDayRoundTrip(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: one goroutine reads it all")
	}
	files := realDay(t)
	if files == nil {
		t.Skip("no real data: set BAROGRAPH_DATA to a folder with met/vsdb/vxingest_vsdb_20190101.tar.xz")
	}
	squeeze := func(b []byte) []byte { return bytes.Join(bytes.Fields(b), []byte(" ")) }
	same := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var lines [][]byte
		for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
			lines = append(lines, slices.Clone(s.Bytes()))
		}
		r := NewReader(bytes.NewReader(text), name, Options{})
		var b record.Batch
		var out []byte
		for {
			err := r.Next(&b)
			if errors.Is(err, io.EOF) {
				break
			}
			for i := range b.Len() {
				out = AppendLine(out[:0], b.Header(i), int(b.Lead[i]/3600), b.Valid[i], b.Type.Name, numsOf(&b, i, nil))
				got, want := squeeze(out), squeeze(lines[b.Line[i]-1])
				if !bytes.Equal(got, want) {
					t.Fatalf("%s:%d\n got %s\nwant %s", name, b.Line[i], got, want)
				}
				if bytes.Equal(bytes.TrimRight(out, "\n"), lines[b.Line[i]-1]) {
					same++
				}
			}
		}
	}
	t.Logf("%d of 358824 lines are the same byte for byte, the others but for blanks before '='", same)
}
