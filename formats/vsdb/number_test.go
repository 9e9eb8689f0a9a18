package vsdb

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
)

// sameAsStrconv checks one token that number must read as strconv does.
func sameAsStrconv(t *testing.T, tok string) {
	t.Helper()
	want, err := strconv.ParseFloat(strings.NewReplacer("D", "E", "d", "e").Replace(tok), 64)
	got, n, bad := number([]byte(tok))
	if err != nil {
		if bad == "" {
			t.Errorf("%q: read as %v, strconv reads %v", tok, got, err)
		}
		return
	}
	if want == missingValue {
		want = math.NaN()
	}
	if bad != "" || n != len(tok) || math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%q: %v (%x), %d bytes, %q; want %v (%x)", tok, got, math.Float64bits(got), n, bad, want, math.Float64bits(want))
	}
}

func TestNumberEqualsStrconv(t *testing.T) {
	for _, tok := range []string{
		"0", "-0", "0.", "-0.0", ".0", "+1", "10512.", "0.270925065E+01", "-0.707643435E+00", "0.1E-02", "0.2401E-01",
		"9007199254740991", "9007199254740992", "9007199254740993", "9007199254740993.0", "-9007199254740995E3",
		"1e22", "1e23", "9007199254740993e22", "1e-22", "1e-23", "123456789012345678901234567890", "0.000000000000000000000000000001",
		"4.9e-324", "2.4e-324", "2.5e-324", "2.2250738585072011e-308", "1.7976931348623157e308", "1.7976931348623159e308", "0e99999999999",
		"1e-99999999999", "0.1D+02", "1d-5", "-9999", "-9999.", "-0.9999E+04", "-9999.0000000000000000000000001", "00000000000000000000000000000012",
		"0.123456789E+22", "0.123456789E+30", "0.123456789E+31", "0.123456789E+32", "0.123456789E-13", "0.123456789E-14", "0.123456789E-99",
		"0.123456789D+05", "0.123456789e+05", "0.1234567890E+05", "0.12345678E+05", "0.123456789E+5", "0.123456789E+005", "0.123456789E05",
	} {
		sameAsStrconv(t, tok)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 150000 {
		bits := math.Float64frombits(rng.Uint64())
		x := (rng.Float64() - 0.5) * math.Pow(10, float64(rng.IntN(60)-30))
		switch rng.IntN(6) {
		case 0:
			if !math.IsNaN(bits) && !math.IsInf(bits, 0) {
				sameAsStrconv(t, strconv.FormatFloat(bits, 'e', rng.IntN(25)-1, 64))
			}
		case 1:
			sameAsStrconv(t, strconv.FormatFloat(x, 'f', rng.IntN(20), 64))
		case 2:
			sameAsStrconv(t, fmt.Sprintf("%d.%de%d", rng.Uint64()>>rng.IntN(64), rng.Uint64()>>rng.IntN(64), rng.IntN(80)-40))
		case 3:
			sameAsStrconv(t, fmt.Sprintf("0.%09dE%+03d", rng.IntN(1e9), rng.IntN(199)-99))
		case 4:
			sameAsStrconv(t, strings.TrimLeft(string(appendE(nil, x)), " "))
		case 5: // near a half of the last bit, where roundings differ
			sameAsStrconv(t, strconv.FormatUint(1<<53+rng.Uint64N(1<<20), 10)+"."+strings.Repeat("0", rng.IntN(3))+"5")
		}
	}
}

func TestEightDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200000 {
		tok := []byte(fmt.Sprintf("%08d", rng.IntN(1e8)))
		if rng.IntN(2) == 0 {
			tok[rng.IntN(8)] = byte(rng.IntN(256))
		}
		want := true
		for _, c := range tok {
			want = want && c >= '0' && c <= '9'
		}
		v, n := digits(tok, 0, 0)
		if (n == 8) != want {
			t.Fatalf("%q: %d digits", tok, n)
		}
		if u, _ := strconv.ParseUint(string(tok[:n]), 10, 64); u != v {
			t.Fatalf("%q: %d, want %d", tok, v, u)
		}
	}
}

// TestHour writes hours of several centuries and the ends of a day and a year.
func TestHour(t *testing.T) {
	for _, want := range []string{"1850070412", "1999123123", "2000010100", "2019022809", "2100010101"} {
		at, err := time.Parse("2006010215", want)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendHour([]byte("x "), at.Unix())); got != "x "+want {
			t.Errorf("%q, want %q", got, "x "+want)
		}
	}
}
