package vsdb

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/barograph/barograph/record"
)

// isBlank reports whether c separates fields. It repeats the rule of the package comment.
func isBlank(c rune) bool { return c == ' ' || c == '\t' || c == '\r' }

var runTogether = regexp.MustCompile(`([0-9.])-([0-9.])`)

// slowNumbers reads the numbers of a line with an '=' in the simplest way: it cuts the line at '=', separates
// the numbers that run together, splits at blanks and calls strconv.
func slowNumbers(t *testing.T, line string) []float64 {
	t.Helper()
	_, right, _ := strings.Cut(line, "=")
	for range 2 { // neighbors overlap
		right = runTogether.ReplaceAllString(right, "$1 -$2")
	}
	var nums []float64
	for _, tok := range strings.FieldsFunc(right, isBlank) {
		v, err := strconv.ParseFloat(strings.NewReplacer("D", "E", "d", "e").Replace(tok), 64)
		if tok != "NA" && err != nil {
			t.Fatalf("%q was stored, but %q is no number: %v", line, tok, err)
		}
		if tok == "NA" || v == missingValue {
			v = math.NaN()
		}
		nums = append(nums, v)
	}
	return nums
}

// checkConservation reads text and checks that every line which is not blank is in
// exactly one of rows and rejects, and that numbers are strconv's.
func checkConservation(t *testing.T, text []byte) {
	t.Helper()
	lines := strings.Split(string(text), "\n")
	seen := make([]bool, len(lines))
	mark := func(n uint32) {
		if n == 0 || int(n) > len(lines) || seen[n-1] || strings.TrimFunc(lines[n-1], isBlank) == "" {
			t.Fatalf("line %d of %d: not there, blank or reported twice", n, len(lines))
		}
		seen[n-1] = true
	}
	r := NewReader(iotest.HalfReader(bytes.NewReader(text)), "fuzz", Options{Rows: 5})
	var b record.Batch
	reported := int64(0)
	for {
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBatch(t, &b)
		reported += int64(b.Lines)
		for i, n := range b.Line {
			mark(n)
			checkRow(t, &b, i, lines[n-1])
		}
		for _, rej := range b.Rejects {
			mark(rej.Line)
			if rej.Reason == "" || !strings.Contains(lines[rej.Line-1], rej.Text) {
				t.Fatalf("reject %+v of %q", rej, lines[rej.Line-1])
			}
		}
	}
	for i, line := range lines {
		if !seen[i] && strings.TrimFunc(line, isBlank) != "" {
			t.Fatalf("line %d is lost: %q", i+1, line)
		}
	}
	if reported != r.Lines() {
		t.Fatalf("%d lines in batches, %d counted", reported, r.Lines())
	}
}

// checkRow compares a row with what the plain way reads in its line.
func checkRow(t *testing.T, b *record.Batch, i int, line string) {
	t.Helper()
	for _, col := range b.Num {
		if math.IsInf(col[i], 0) {
			t.Fatalf("%q: infinite", line)
		}
	}
	switch b.Type.Name {
	case "SL1L2", "SAL1L2", "VL1L2", "VAL1L2", "GRAD":
	default:
		return
	}
	if !strings.Contains(line, "=") {
		return
	}
	nums := slowNumbers(t, line)
	for k, col := range b.Num {
		v := math.NaN()
		if k < len(nums) {
			v = nums[k]
		}
		if math.Float64bits(col[i]) != math.Float64bits(v) && !(math.IsNaN(col[i]) && math.IsNaN(v)) {
			t.Fatalf("%q: number %d is %v, want %v", line, k, col[i], v)
		}
	}
}

func seeds() []string {
	return []string{
		"V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 HGT P500 =   3600.   0.269635266E+02   0.268790391E+02   0.132613515E+05   0.132623015E+05   0.133132874E+05\n",
		"V01 GFS 00 2019010100 GFS G2 SL1L2 TSOILT       =   3735.   0.278056467E+03  -0.278056467E+03   1 2 3\n",
		"V01 GFS 45 2014080221 STAGE2 G218/NWC SL1L2 APCP/03 SFC=    2556 0.2401E-01-0.6913E-01 0.0000E+00\r\n",
		"V01 GFS 45 2014080221 STAGE2 G218/LMV FHO>=.50 APCP/03 SFC =   5789 0.00000 0.00000 0.00249\n",
		"V01 GFS/2 45 2014080221 STAGE4 G218/RFC RELI APCP/03 SFC =  60582 0.00000 0.00000 0.000502",
		"V01 GFS/3 384 2019010100 ADPUPA G236 VL1L2 VWND P1000-850 83. 1.-2. NA -9999 ***** 7\n\n \t\r\nx",
		"V01 GEFS/3 24 2019010100 GEFS G2 HIST T P500 = 1 2 3 4\nV01 GEFS/3 24 2019010100 GEFS G2 RELP T P500 = 1 2 3\n",
		"V01 GEFS/3 24 2019010100 GEFS G2 ECON T P500 = 1 2 3 4\nV01 GEFS 24 2019010100 GEFS G2 RPS T P500 1D-02 2 3\n",
		"V01 GEFS/3 24 2019010100 GEFS G2 BSS T P500 = 1\nV01 GEFS 24 2019010100 GEFS G2 RMSE T P500 = 0.5-100\nV01 G 1 2019010100 O M FSS>1 V = 1 2 3 4\n",
		"V01 G\xff 24 2019010100 A B SL1L2 C D = 1e999 0x1 1_0 Inf\n\x00",
		"V01 GFS 24 2019010100 GFS G2 GRAD T P500 = 1 2 3 4 5 6 7 8 9 10 11\n= = =\n=\n",
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(checkConservation)
}

// Random damage to valid lines loses none of them.
func TestConservationUnderMutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	base := generated(60, 9)
	for _, s := range seeds() {
		base = append(base, s...)
	}
	const bytesOfInterest = " \t\r\n=-+.0123456789EDN*/>\x00\xff"
	for range 500 {
		text := bytes.Clone(base)
		for range rng.IntN(40) {
			at := rng.IntN(len(text))
			c := bytesOfInterest[rng.IntN(len(bytesOfInterest))]
			switch rng.IntN(4) {
			case 0:
				text[at] = c
			case 1:
				text = append(text[:at], text[at+1:]...)
			case 2:
				text = append(text[:at], append([]byte{c}, text[at:]...)...)
			case 3:
				end := min(at+rng.IntN(80), len(text))
				text = append(text[:at], append(bytes.Clone(text[at:end]), text[at:]...)...)
			}
		}
		checkConservation(t, text)
	}
}
