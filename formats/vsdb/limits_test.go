package vsdb

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

const goodLine = "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5. 1 2 3 4 5\n"

// TestSizesOfBatches: by default a batch has 8192 rows, or 1024 rejects, or as many rejects as have 1 MiB of text with
// their reasons.
func TestSizesOfBatches(t *testing.T) {
	const reason = `5 tokens and no '='; VSDB has 9 header tokens, or 8 where the level is empty, and numbers`
	bad := func(n int) string { return "a b c d " + strings.Repeat("e", n-8) + "\n" }
	for name, c := range map[string]struct {
		text string
		rows int
		want []int
	}{
		"rows":                  {strings.Repeat(goodLine, 8193), 0, []int{8192, 1}},
		"negative":              {strings.Repeat(goodLine, 8193), -1, []int{8192, 1}},
		"rejects":               {strings.Repeat(bad(9), 2049), 0, []int{1024, 1024, 1}},
		"rejects of a few rows": {strings.Repeat(bad(9), 7), 3, []int{3, 3, 1}},
		"a MiB of rejects":      {strings.Repeat(bad(4096-len(reason)), 513), 0, []int{256, 256, 1}},
		"long rejects":          {strings.Repeat(bad(60_000), 252), 0, []int{251, 1}}, // 4096 bytes of each are kept
	} {
		batches, _ := readAll(t, strings.NewReader(c.text), "t", Options{Rows: c.rows})
		var got []int
		for _, b := range batches {
			got = append(got, b.Lines)
			for _, r := range b.Rejects {
				if r.Reason != reason {
					t.Fatalf("%s: %s", name, r.Reason)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: batches of %d lines, want %d", name, got, c.want)
		}
	}
}

// TestMemoryOfBatches: the columns of a small file have room for 512 rows, and then for 16 times as many, up to a batch.
func TestMemoryOfBatches(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	for rows, want := range map[int][]int{100: {100}, 2048: {512, 2048}, 8192: {512, 8192}, 20_000: {512, 8192, 20_000}} {
		var b record.Batch
		b.Reset(lt, "t")
		h := b.AddHeader(record.DefaultHeader())
		for _, want := range want {
			reserve(&b, rows)
			room := []int{
				cap(b.HeaderIndex), cap(b.Line), cap(b.Lead), cap(b.ObsLead), cap(b.Valid), cap(b.ValidEnd), cap(b.ObsBeg), cap(b.ObsEnd),
			}
			for k := range b.Num {
				room = append(room, cap(b.Num[k]))
			}
			if slices.Min(room) < want || slices.Max(room) > want+want/8 { // the allocator rounds up
				t.Errorf("%d of %d rows: room for %d rows, want %d", b.Len(), rows, room, want)
			}
			for b.Len() < want {
				b.AppendTimes(h, 0, 0, 1)
				for k := range b.Num {
					b.Num[k] = append(b.Num[k], 0)
				}
			}
		}
	}
}

// TestBoundedHeaders: the reader forgets the headers when it knows 16384, and a header text has at most 512 bytes.
func TestBoundedHeaders(t *testing.T) {
	var text strings.Builder
	for i := range 17_000 {
		text.WriteString(strings.Replace(goodLine, "GFS", fmt.Sprint("M", i), 1))
	}
	r := NewReader(strings.NewReader(text.String()), "t", Options{Rows: 1})
	var b record.Batch
	most, n := 0, 0
	for ; ; n++ {
		if err := r.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if b.Len() != 1 || b.Header(0)[record.Model] != fmt.Sprint("M", n) || len(r.heads) != len(r.series) {
			t.Fatalf("record %d: %v, %d headers, %d series", n, b.Headers, len(r.heads), len(r.series))
		}
		most = max(most, len(r.series))
	}
	if n != 17_000 || most != 16383 {
		t.Errorf("%d records, at most %d headers", n, most)
	}
	const before, after = "V01 GFS ", " GFS G2 SL1L2 T "
	for bytes, refused := range map[int]bool{512: false, 513: true} {
		line := before + "24 2019010100" + after + "P" + strings.Repeat("5", bytes-len(before)-len(after)-1) + "= 5. 1 2 3 4 5\n"
		if !refused {
			one(t, line, Options{})
		} else if got := rejected(t, line).Reason; !strings.HasSuffix(got, " on has 513 bytes; the limit is 512") {
			t.Error(got)
		}
	}
}

// TestMostMembers: an ensemble has from 1 to 1000 members.
func TestMostMembers(t *testing.T) {
	for _, n := range []int{1, 1000} {
		b := one(t, line("HIST", fmt.Sprint("GEFS/", n), strings.Repeat("0 ", n+1)), Options{})
		if got := len(b.Repeats(0)); got != n+1 {
			t.Errorf("%d members: %d numbers", n, got)
		}
	}
}

// TestHeaderTokens: what the tokens of a header may be.
func TestHeaderTokens(t *testing.T) {
	for head, reason := range map[string]string{
		"V1 GFS 24 2019010100 GFS G2 SL1L2 T P500":      "",
		"V123 GFS 24 2019010100 GFS G2 SL1L2 T P500":    "",
		"V1x GFS 24 2019010100 GFS G2 SL1L2 T P500":     `version "V1x" does not have the form V01`,
		"W01 GFS 24 2019010100 GFS G2 SL1L2 T P500":     `version "W01" does not have the form V01`,
		"V01 GFS 9999 2019010100 GFS G2 SL1L2 T P500":   "",
		"V01 GFS 00024 2019010100 GFS G2 SL1L2 T P500":  `lead "00024" is not a number of hours`,
		"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 X":   "10 header tokens left of '='",
		"V01 GFS 24 2019010100 GFS G2 SL1L2":            "7 header tokens left of '='",
		"V=1 GFS 24 2019010100 GFS G2 SL1L2 T P500":     "1 header tokens left of '='",
		"V01 G=S 24 2019010100 GFS G2 SL1L2 T P500":     "2 header tokens left of '='",
		"V01 GFS 24 2019010100 G=S G2 SL1L2 T P500":     "5 header tokens left of '='",
		"V01 GFS 24 2019010100 GFS G=2 SL1L2 T P500":    "6 header tokens left of '='",
		"V01 GFS 24 2019010100 GFS G2 FHO T P500":       `line type "FHO" has no threshold, as in "FHO>.50"`,
		"V01 GFS 24 2019010100 GFS G2 FSS T P500":       `line type "FSS" has no threshold`,
		"V01 GFS 24 2019010100 GFS G2 SL1L2>5 T P500":   `line type "SL1L2>5" of VSDB is not known; known are BSS ECON FHO FSS GRAD HIST RELI RELP RMSE RPS SAL1L2 SL1L2 VAL1L2 VL1L2`,
		"V01 GFS 24 2019010100 GFS G2 SL1L2 T P5\x1f00": "has the control character 0x1f",
	} {
		text := head + " = 5. 1 2 3 4 5\n"
		if reason == "" {
			one(t, text, Options{})
		} else if got := rejected(t, text).Reason; !strings.Contains(got, reason) {
			t.Errorf("%s: %s, want %s", head, got, reason)
		}
	}
}

// TestQuote: a reason quotes a token of up to 40 bytes completely, and the beginning of a longer one.
func TestQuote(t *testing.T) {
	for n, want := range map[int]string{0: `""`, 40: `"` + strings.Repeat("x", 40) + `"`, 41: `"` + strings.Repeat("x", 40) + `"…`} {
		if got := quote(strings.Repeat("x", n)); got != want {
			t.Errorf("%d bytes: %s", n, got)
		}
	}
}

// TestNumericTokens: a token that can only be a number is no level.
func TestNumericTokens(t *testing.T) {
	for tok, want := range map[string]bool{
		"5": true, "-5.": true, "+.5e3": true, ".5D-01": true, "1.0-2.0": true, "*": true, "***": true, "NaN": true, "-inf": true, "+Infinity": true,
		"P500": false, "SFC": false, "e5": false, "5mb": false, "/5": false, ":5": false, "=5": false, "NA": false,
	} {
		if got := isNumeric([]byte(tok)); got != want {
			t.Errorf("%s: %t", tok, got)
		}
	}
}

// TestThreeDigits: a number directly followed by a minus sign and exactly three digits may be one number, whose exponent
// Fortran wrote without its letter.
func TestThreeDigits(t *testing.T) {
	for text, want := range map[string]bool{
		"100": true, "100 5": true, "100E": true, "10": false, "1000": false, "100.": false, "10.0": false, "": false, "1x0": false, "999-1": true,
	} {
		if got := shortExponent([]byte(text)); got != want {
			t.Errorf("-%s: %t", text, got)
		}
	}
	for tok, want := range map[string]float64{"18446744073709551617": 18446744073709551617, "1.8446744073709551617": 1.8446744073709551617, "9007199254740993E-3": 9007199254740.993} {
		if v, n, bad := number([]byte(tok + " 5")); v != want || n != len(tok) || bad != "" {
			t.Errorf("%s: %v, %d bytes, %s", tok, v, n, bad)
		}
	}
	for _, tok := range []string{"1E", "1E+", "1e-x", "--1", "+", ".", "1:", "1/", "1E5:", ":", "0.123456789E+05:"} {
		if v, n, bad := number([]byte(tok)); v != 0 || n != 0 || bad == "" {
			t.Errorf("%s is %v, %d bytes", tok, v, n)
		}
	}
}

// TestWholeCounts: below 100,000 cases the rates determine counts if the products are near to integers.
func TestWholeCounts(t *testing.T) {
	for _, c := range []struct {
		n, product float64
		want       float64
	}{
		{99999, 12345.4, 12345},
		{99999, 12345.49, 12345},
		{100000, 12345.4, 12345.4},
		{100000, 12345.0000005, 12345},
		{100000, 12345.00001, 12345.00001},
		{1000, 500.004, 500},
		{1000, 500.006, 500.006},
		{10, 5.00004, 5},
		{10, 5.00006, 5.00006},
	} {
		for place := range 3 { // one of the three products, the others are integers
			in := [3]float64{1, 2, 3}
			in[place] = c.product
			a, b, d := wholeCounts(c.n, in[0], in[1], in[2])
			if got := [3]float64{a, b, d}[place]; got != c.want {
				t.Errorf("%v of %v cases: %v, want %v", c.product, c.n, got, c.want)
			}
		}
	}
	for numbers, reason := range map[string]string{ // the precision of four rates is 0.02 of 1000 cases
		"1000 0.50050 0.00100 0.500519": "", "1000 0.50050 0.00100 0.500522": "fn_on would be -0.02199", "1000 1 1 1": "", "1000 1.00001 0.5 0.5": "is above 1",
		"1000 0.5 0.5 1.00001": "is above 1", "1000 0.5 1.00001 0.5": "is above 1",
	} {
		text := line("FHO>.50", "GFS", numbers)
		if reason == "" {
			want(t, one(t, text, Options{}), map[string]float64{"fn_on": 0, "total": 1000})
		} else if got := rejected(t, text).Reason; !strings.Contains(got, reason) {
			t.Errorf("%s: %s, want %s", numbers, got, reason)
		}
	}
}

// TestWrittenFields: leads have at least two digits, and a number that is wider than its field is written completely.
func TestWrittenFields(t *testing.T) {
	h := testHeader()
	for lead, want := range map[int]string{-6: "-6", 0: "00", 9: "09", 10: "10", 384: "384"} {
		if got := string(AppendLine(nil, &h, lead, valid, "RPS", nil)); got != "V01 GFS "+want+" 2019010100 GFS G2/NHX RPS HGT P500 =\n" {
			t.Errorf("lead %d: %s", lead, got)
		}
	}
	for _, c := range []struct {
		v               float64
		decimals, width int
		want            string
	}{
		{5, 0, 7, "      5"},
		{-5, 0, 7, "     -5"},
		{1234567, 0, 7, " 1234567"},
		{123456, 0, 7, " 123456"},
		{1e15, 0, 7, " 1000000000000000"},
		{-1e20, 0, 3, " -100000000000000000000"},
		{9007199254740993, 0, 7, " 9007199254740992"},
		{0.5, 5, 8, " 0.50000"},
		{12.5, 5, 8, " 12.50000"},
		{2.5, 0, 5, "    2"},
		{1, 5, 8, " 1.00000"},
		{999999999999999, 0, 7, " 999999999999999"},
		{0, 0, 7, "      0"},
	} {
		if got := string(appendFixed(nil, c.v, c.decimals, c.width)); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
	if got := string(appendNumbers(nil, "FHO>1", []float64{5, math.Inf(1), math.Inf(-1), math.NaN()})); got != "      5          Infinity          -Infinity            -9999." {
		t.Errorf("%q", got)
	}
}
