package vsdb

import (
	"math"
	"strconv"
	"testing"
)

// TestE15: the fast path for Fortran's numbers reads them exactly as strconv does, and refuses every other form. Each
// character is replaced by those before and after the digits.
func TestE15(t *testing.T) {
	const form = "0.123456789E+05"
	for exp := -99; exp <= 99; exp++ {
		for _, mant := range []string{"123456789", "000000001", "999999999", "100000000"} {
			sign, n := "+", strconv.Itoa(exp)
			if exp < 0 {
				sign, n = "-", strconv.Itoa(-exp)
			}
			if len(n) == 1 {
				n = "0" + n
			}
			text := "0." + mant + "E" + sign + n
			want, _ := strconv.ParseFloat(text, 64)
			got, ok := e15([]byte(text + " "))
			if exact := exp >= -13 && exp <= 31; ok != exact || ok && math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%s: %v, %t; want %v, %t", text, got, ok, want, exact)
			}
		}
	}
	for i := range form {
		for _, c := range []byte("/:x.-+E ") {
			if c == form[i] || i == 12 && c == '-' {
				continue
			}
			b := []byte(form)
			b[i] = c
			if v, ok := e15(b); ok {
				t.Errorf("%q is %v", b, v)
			}
		}
	}
	if v, ok := e15([]byte(form + "1")); ok {
		t.Errorf("a longer number is %v", v)
	}
	if v, ok := e15([]byte(form[:14])); ok {
		t.Errorf("a shorter number is %v", v)
	}
}
