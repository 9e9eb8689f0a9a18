package number

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tok := range []string{
		"0", "-0", "-0.0", "+0", "00012", "10512.", ".5", "-.5", "0.27E+02", "0.269635266E+02", "-0.707643435E+00", "0.1E-02",
		"1e-5", "1E5", "3600.", "278.12345", "9007199254740992", "9007199254740993", "9007199254740991e22", "1e22", "1e23", "1e-22", "1e-23",
		"0.1", "0.3", "123456789012345678", "1234567890123456789", "12345678901234567890", "0.00000000000000000000000012345678901234567",
		"179769313486231570e291", "4.9e-324", "2.4703282292062327e-324", "1e-400", "2.2250738585072011e-308", "5e-324", "1e-99999999999",
		"9007199254740993e-3", "900719925474099.3", "-900719925474099.3", "9999999999999999", "18446744073709551617", "1.8446744073709551617",
		"0.00000000000000000000000012", "36893488147419103233e-5", "0e999999", "0.000000000000000000000000000000e5", "7.0000000000000000000000000000001", "+12.5",
	} {
		want, err := strconv.ParseFloat(tok, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Parse([]byte(tok)); !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("Parse(%q) = %v, %v, want %v", tok, got, ok, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tok := range []string{
		"", "-", "+", ".", "-.", "e5", ".e5", "1e", "1e+", "1e+-2", "1.2.3", ".1.2", "..1", "-.1.", "1,5", "NA", "nan", "NaN", "inf", "-Inf", "Infinity",
		"0x1p4", "1_000", "12a", "1 2", " 1", "1 ", "--1", "1e5.0", "1d5", "==0.1", "1:", ":", "/", "1/", ".:", "1./", "1e:", "1e5:", "1e/", "1e+/", "1E-", "123456789012345678901234567890:", "1e309", "-1e400", "1e99999999999999999999", "١",
	} {
		if f, ok := Parse([]byte(tok)); ok || f != 0 {
			t.Errorf("Parse(%q) = %v, %v; want 0 and a refusal", tok, f, ok)
		}
	}
}

// check compares Parse with strconv; the two may differ only in what they
// accept, as the package comment says.
func check(tok string) error {
	want, err := strconv.ParseFloat(tok, 64)
	if strings.ContainsAny(tok, "xXnNiI_") {
		err = errors.New("a form of strconv alone")
	}
	got, ok := Parse([]byte(tok))
	if ok != (err == nil) {
		return fmt.Errorf("Parse(%q): accepted %v, strconv says %w", tok, ok, err)
	}
	if ok && math.Float64bits(got) != math.Float64bits(want) {
		return fmt.Errorf("Parse(%q) = %x, want %x", tok, math.Float64bits(got), math.Float64bits(want))
	}
	return nil
}

// random returns a token of one of the shapes that files hold, or of any bits.
func random(r *rand.Rand) string {
	sign := [...]string{"", "-", "+"}[r.IntN(3)]
	digits := func(n int) string {
		b := make([]byte, r.IntN(n+1))
		for i := range b {
			b[i] = byte('0' + r.IntN(10))
		}
		return string(b)
	}
	switch r.IntN(5) {
	case 0: // MET
		return sign + digits(7) + "." + digits(5)
	case 1: // Fortran E15.9
		return fmt.Sprintf("%s0.%09dE%+03d", sign, r.IntN(1e9), r.IntN(80)-40)
	case 2: // around the limits of the fast path
		return sign + digits(24) + "." + digits(24) + "e" + strconv.Itoa(r.IntN(60)-30)
	case 3: // any float64, shortest and with too many digits
		f := math.Float64frombits(r.Uint64())
		return strconv.FormatFloat(f, "eg"[r.IntN(2)], [...]int{-1, 17, 25}[r.IntN(3)], 64)
	default:
		return strconv.FormatUint(r.Uint64()>>r.IntN(64), 10) + [...]string{"", ".", "e-10", "E22", "e-22"}[r.IntN(5)]
	}
}

func TestParseEqualsStrconv(t *testing.T) {
	n := 500_000
	if testing.Short() {
		n = 100_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		if err := check(random(r)); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.27E+02", "-.5", "1e-400", "9007199254740993", "1..2", "0x1", "1_0", "nan", "00000000000000000000.1e22"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, tok string) {
		if err := check(tok); err != nil {
			t.Error(err)
		}
	})
}

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "-0"},
		{1, "1"},
		{-1.5, "-1.5"},
		{3600, "3600"},
		{278.12345, "278.12345"},
		{0.05, "0.05"},
		{-0.00001, "-0.00001"},
		{0.0018777, "0.0018777"},
		{1.87e-7, "1.87e-07"},
		{1e15, "1000000000000000"},
		{1e21, "1e+21"},
		{math.NaN(), "NA"},
		{math.Inf(1), "+Inf"},
		{0.30000000000000004, "0.30000000000000004"},
		{-7.00001, "-7.00001"},
		{1038240, "1038240"},
		{0.00001, "0.00001"},
		{0.0000123456789, "0.0000123456789"}, // no exponent down to 1e-5
		{0.00000999999, "9.99999e-06"},
		{123456789012345680000, "123456789012345680000"}, // nor below 1e21
		{-1e10, "-10000000000"},
		{9999999999.99999, "9999999999.99999"},
		{0.1, "0.1"},
		{0.02, "0.02"},
		{0.003, "0.003"},
		{0.0004, "0.0004"},
		{math.Inf(-1), "-Inf"},
	} {
		if got := string(Append(nil, c.f)); got != c.want {
			t.Errorf("Append(%v) = %q, want %q", c.f, got, c.want)
		}
	}
}

func TestAppendRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var buf []byte
	for range 500_000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = float64(r.Int64N(1e12)-5e11) / 1e5
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		buf = Append(buf[:0], f)
		got, ok := Parse(buf)
		if !ok || math.Float64bits(got) != math.Float64bits(f) {
			t.Fatalf("%x written as %q comes back as %v", math.Float64bits(f), buf, got)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	toks := [][]byte{[]byte("0.269635266E+02"), []byte("278.12345"), []byte("1234567890.12345678901234567890e-30"), []byte("NA")}
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		for _, tok := range toks {
			f, _ := Parse(tok)
			buf = Append(buf[:0], f)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, tok := range []string{"0.269635266E+02", "278.12345", "1038240", "0.12345678901234567e-30"} {
		b.Run("token="+tok, func(b *testing.B) {
			t := []byte(tok)
			b.SetBytes(int64(len(t)))
			for b.Loop() {
				Parse(t)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, f := range []float64{278.12345, 1038240, 26.9635266} {
		b.Run(fmt.Sprint("number=", f), func(b *testing.B) {
			buf := make([]byte, 0, 32)
			for b.Loop() {
				buf = Append(buf[:0], f)
			}
		})
	}
}
