package vsdb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

const valid = 1546300800 // 2019-01-01 00:00 UTC

// one reads a text that must give one row and no reject.
func one(t *testing.T, text string, o Options) *record.Batch {
	t.Helper()
	batches, _ := readAll(t, strings.NewReader(text), "t.vsdb", o)
	if len(batches) != 1 || batches[0].Len() != 1 {
		for _, b := range batches {
			for _, r := range b.Rejects {
				t.Log("reject: " + r.Reason)
			}
		}
		t.Fatalf("%q: not one row", text)
	}
	return batches[0]
}

// rejected reads a text that must give one reject and no row.
func rejected(t *testing.T, text string) record.Reject {
	t.Helper()
	batches, _ := readAll(t, strings.NewReader(text), "t.vsdb", Options{})
	if len(batches) != 1 || batches[0].Len() != 0 || len(batches[0].Rejects) != 1 {
		t.Fatalf("%.100q: not one reject: %+v", text, batches)
	}
	return batches[0].Rejects[0]
}

// num returns a numeric column of the only row.
func num(t *testing.T, b *record.Batch, name string) float64 {
	t.Helper()
	c, ok := b.Type.Column(name)
	if !ok {
		t.Fatalf("%s has no column %q", b.Type.Name, name)
	}
	return b.Num[c.Slot][0]
}

// want compares columns of the only row; NaN equals NaN.
func want(t *testing.T, b *record.Batch, values map[string]float64) {
	t.Helper()
	for name, v := range values {
		if got := num(t, b, name); got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("%s.%s = %v, want %v", b.Type.Name, name, got, v)
		}
	}
}

func TestHeader(t *testing.T) {
	b := one(t, "V01 GFS/3 24 2019010106 ADPUPA G104/NWC SL1L2 HGT_WV1/0-3 P1000-850 =    83. 1 2 3 4 5 6\n", Options{})
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = "V01", "GFS/3", "ADPUPA", "G104/NWC"
	h[record.FcstVar], h[record.ObsVar] = "HGT_WV1/0-3", "HGT_WV1/0-3"
	h[record.FcstLev], h[record.ObsLev] = "P1000-850", "P1000-850"
	if *b.Header(0) != h {
		t.Errorf("header %q, want %q", *b.Header(0), h)
	}
	if b.Valid[0] != valid+6*3600 || !b.HasPlainTimes(0) || b.Lead[0] != 86400 || b.Line[0] != 1 || b.File != "t.vsdb" {
		t.Errorf("valid %d lead %d line %d file %q", b.Valid[0], b.Lead[0], b.Line[0], b.File)
	}
	want(t, b, map[string]float64{"total": 83, "fbar": 1, "obar": 2, "fobar": 3, "ffbar": 4, "oobar": 5, "mae": 6})
}

// METdbLoad takes leads of 25 and more for HHMMSS, so that init is wrong.
func TestMETdbLoadF1LeadBeyond24h(t *testing.T) {
	for text, hours := range map[string]int64{"00": 0, "6": 6, "06": 6, "24": 24, "25": 25, "30": 30, "48": 48, "100": 100, "384": 384, "0384": 384, "1020": 1020} {
		b := one(t, "V01 GFS "+text+" 2019010100 GFS G2 SL1L2 T P500 = 5. 1 2 3 4 5\n", Options{})
		if b.Lead[0] != int32(hours*3600) || b.Init(0) != valid-hours*3600 {
			t.Errorf("lead %s: %d s, init valid-%d s; want %d h", text, b.Lead[0], valid-b.Init(0), hours)
		}
	}
}

// METdbLoad and VxIngest take the number of cases of TSOILT and WSOILT for the level.
func TestMETdbLoadF3EmptyLevel(t *testing.T) {
	for _, eq := range []string{"       =   ", "=", " =", "= ", "\t=\t", "   "} {
		b := one(t, "V01 GFS 00 2019010100 GFS G2 SL1L2 TSOILT"+eq+"3735.   0.278056467E+03   0.278056467E+03   1 2 3\n", Options{})
		h := b.Header(0)
		if h[record.FcstVar] != "TSOILT" || h[record.FcstLev] != "" || h[record.ObsLev] != "" {
			t.Errorf("%q: variable %q level %q", eq, h[record.FcstVar], h[record.FcstLev])
		}
		want(t, b, map[string]float64{"total": 3735, "fbar": 278.056467, "oobar": 3, "mae": math.NaN()})
	}
}

// A loader that splits a line only at blanks stores the level "SFC="; METexpress still queries that level.
func TestF4GluedEquals(t *testing.T) {
	for _, eq := range []string{"SFC=    ", "SFC=", "SFC =", "SFC   =   ", "SFC ", "SFC\t=\t"} {
		b := one(t, "V01 GFS 45 2014080221 STAGE2 G218/NWC SL1L2 APCP/03 "+eq+"2556 0.2401E-01 0.6913E-01 0.0000E+00 0.4112E-01 0.1017E+00\n", Options{})
		if lev := b.Header(0)[record.FcstLev]; lev != "SFC" {
			t.Errorf("%q: level %q", eq, lev)
		}
		want(t, b, map[string]float64{"total": 2556, "fbar": 0.02401, "obar": 0.06913, "fobar": 0, "oobar": 0.1017})
	}
}

// One header in four spellings is one header of the batch.
func TestSpellingsShareAHeader(t *testing.T) {
	line := func(lev string) string { return "V01  GFS 45 2014080221 GFS G2 SL1L2 T " + lev + " 5 1 2 3 4 5\n" }
	batches, _ := readAll(t, strings.NewReader(line("SFC=")+line("SFC   =")+line("SFC")+strings.Replace(line("SFC ="), "  ", "\t", 1)), "t", Options{})
	if len(batches) != 1 || batches[0].Len() != 4 || len(batches[0].Headers) != 1 {
		t.Errorf("%d batches, %d headers; want 1 and 1", len(batches), len(batches[0].Headers))
	}
}

// '=' is also a character of thresholds, where METdbLoad splits the line.
func TestEqualsInThreshold(t *testing.T) {
	for _, thresh := range []string{">.50", "<=-5", ">=.50", "==5", "<-1.5"} {
		b := one(t, "V01 GFS 45 2014080221 STAGE2 G218/LMV FHO"+thresh+" APCP/03 SFC =   5789 0.00000 0.00000 0.00000\n", Options{})
		h := b.Header(0)
		if h[record.FcstThresh] != thresh || h[record.ObsThresh] != thresh || h[record.FcstVar] != "APCP/03" || h[record.FcstLev] != "SFC" {
			t.Errorf("FHO%s: %q", thresh, *h)
		}
	}
}

// METdataio commits 1dc128b and 6aa7019: digit-hyphen-digit is two numbers,
// but only among the numbers.
func TestRunTogetherNumbers(t *testing.T) {
	for text, values := range map[string][]float64{
		"10 1.0-2.0-3 4 5":                          {10, 1, -2, -3, 4, 5},
		"10.-0.27E+01-0.3E+01-3.5 4.5 5.5":          {10, -2.7, -3, -3.5, 4.5, 5.5},
		"10 0.1E+02-0.3E+01-0.1E-01 0.2E-01 1":      {10, 10, -3, -0.01, 0.02, 1},
		"10 0.1D+02-0.3D-01 -.5 1.D0 .5":            {10, 10, -0.03, -0.5, 1, 0.5},
		"10 0.123456789E-01-0.123456789E-02-.5 1 6": {10, 0.0123456789, -0.00123456789, -0.5, 1, 6},
		"10 -9999.000-9999.000 -0.9999E+04 NA 7":    {10, math.NaN(), math.NaN(), math.NaN(), math.NaN(), 7},
	} {
		for _, head := range []string{"HGT_WV1/10-20 P1000-850 =", "HGT_WV1/10-20 P1000-850 "} {
			b := one(t, "V01 GFS 24 2019010100 GFS G2/NHX SAL1L2 "+head+text+"\n", Options{})
			if h := b.Header(0); h[record.FcstVar] != "HGT_WV1/10-20" || h[record.FcstLev] != "P1000-850" {
				t.Errorf("%q", *h)
			}
			for i, v := range values {
				if got := b.Num[i][0]; got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
					t.Errorf("%s: number %d is %v, want %v", text, i, got, v)
				}
			}
		}
	}
}

// Each line type has a fixed count of numbers; a line with fewer numbers is truncated.
func TestCountOfNumbers(t *testing.T) {
	for typ, counts := range map[string][]int{
		"SL1L2": {6, 7}, "SAL1L2": {6, 7}, "VL1L2": {8, 10}, "VAL1L2": {8}, "GRAD": {10}, "FHO>.5": {4}, "FSS>.5": {4},
		"RMSE": {5}, "BSS": {6}, "RPS": {6}, "RELI": {6}, "HIST": {3}, "RELP": {2}, "ECON": {18},
	} {
		most := counts[len(counts)-1]
		for n := range most + 1 {
			text := line(typ, "GEFS/2", strings.Repeat("0 ", n))
			if slices.Contains(counts, n) {
				one(t, text, Options{})
			} else if r := rejected(t, text); n > 0 && !strings.Contains(r.Reason, fmt.Sprintf("the line is truncated: it has %d numbers of %s, VSDB writes ", n, strings.TrimSuffix(typ, ">.5"))) {
				t.Errorf("%s with %d numbers: %s", typ, n, r.Reason)
			}
		}
	}
}

// Wherever a file is truncated, the reader stores only complete lines, unless the caller wants the last
// one as well.
func TestEveryCut(t *testing.T) {
	text := string(generated(3, 9))
	for n := range len(text) {
		batches, _ := readAll(t, strings.NewReader(text[:n]), "t", Options{})
		rows, rejects := 0, 0
		for _, b := range batches {
			rows, rejects = rows+b.Len(), rejects+len(b.Rejects)
		}
		complete, rest := strings.Count(text[:n], "\n"), 0
		if n > 0 && text[n-1] != '\n' {
			rest = 1
		}
		if rows != complete || rejects != rest {
			t.Fatalf("cut at %d: %d rows, %d rejects, want %d, %d", n, rows, rejects, complete, rest)
		}
	}
	last := strings.TrimSuffix(text, "\n")
	batches, _ := readAll(t, strings.NewReader(last), "t", Options{})
	if r := batches[len(batches)-1].Rejects; len(r) != 1 || r[0].Reason != record.MaybeTruncated || r[0].Line != 3 {
		t.Errorf("%+v", r)
	}
	if batches, _ = readAll(t, strings.NewReader(last), "t", Options{KeepLast: true}); len(batches[len(batches)-1].Rejects) > 0 {
		t.Errorf("%+v", batches[len(batches)-1].Rejects)
	}
}

func TestLineEnds(t *testing.T) {
	line := "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5. 1 2 3 4 5"
	text := "\n" + line + "\r\n" + "  \t \r\n" + "\t" + strings.ReplaceAll(line, " ", "\t ") + "  \t\n\n" + "bad\r\n" + line + "   \n"
	batches, lines := readAll(t, strings.NewReader(text), "t", Options{})
	if lines != 4 || len(batches) != 2 {
		t.Fatalf("%d data lines in %d batches, want 4 in 2", lines, len(batches))
	}
	b := batches[0]
	if fmt.Sprint(b.Line) != "[2 4 7]" || len(b.Headers) != 1 {
		t.Errorf("lines %v, %d headers", b.Line, len(b.Headers))
	}
	for i := range b.Len() {
		if b.Num[5][i] != 5 || b.Num[0][i] != 5 || !math.IsNaN(b.Num[6][i]) {
			t.Errorf("row %d: %v", i, b.Num)
		}
	}
	if r := batches[1].Rejects[0]; r.Line != 6 || r.Text != "bad" || r.File != "t" {
		t.Errorf("reject %+v", r)
	}
}

func TestRejects(t *testing.T) {
	head := "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = "
	long := strings.Repeat("x", 100)
	for _, c := range []struct{ line, reason string }{
		{head, "no number"},
		{head + "5 1 2 3 4 5 6 7", `more than the 7 numbers of a SL1L2 line, the next is "7"`},
		{head + "5 1 NaN 3 4 5", `number 3, "NaN", is not a finite number`},
		{head + "5 1 -Infinity 3 4 5", `number 3, "-Infinity", is not a finite`},
		{head + "5 1 ***** 3 4 5", `number 3, "*****", is a Fortran field that overflowed`},
		{head + "5 1 na 3 4 5", `number 3, "na", is not a number`},
		{head + "5 0x10 3 4 5", `number 2, "0x10", is not a number`},
		{head + "5 1_000 3 4 5", `"1_000", is not a number`},
		{head + "5 1.2.3", `"1.2.3", is not a number`},
		{head + "5 1.0-2.0x", `"1.0-2.0x", is not a number`},
		{head + "5 1.0-", `"1.0-", is not a number`},
		{head + "5 1E 3", `"1E", is not a number`},
		{head + "5 1.0+2.0", `"1.0+2.0", is not a number`},
		{head + "5 1,5", `"1,5", is not a number`},
		{head + "5 = 6", `"=", is not a number`},
		{head + "5 1e400", `"1e400", is beyond the range`},
		{head + "5 0.123-100", `"0.123-100", may be two numbers`},
		{head + "5\x001", `is not a number`},
		{head + "5.5 1 2 3 4 5", "column total: 5.5 is not a count: a whole number from 0 to 9007199254740991"},
		{head + "-1. 1 2 3 4 5", "column total: -1. is not a count: a whole number from 0 to 9007199254740991"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T ***** 1 2 3", `number 1, "*****", is a Fortran field`},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T nan 1 2 3", `number 1, "nan", is not a finite`},
		{"V01 GFS 2x 2019010100 GFS G2 SL1L2 T P500 = 5", `lead "2x" is not a number of hours`},
		{"V01 GFS -6 2019010100 GFS G2 SL1L2 T P500 = 5", `lead "-6" is not a number of hours`},
		{"V01 GFS 240000 2019010100 GFS G2 SL1L2 T P500 = 5", `lead "240000" is not a number of hours`},
		{"V01 GFS 24 2019013200 GFS G2 SL1L2 T P500 = 5", `valid time "2019013200" is not a date`},
		{"V01 GFS 24 0000000000 GFS G2 SL1L2 T P500 = 5", `valid time "0000000000" is not a date`},
		{"V01 GFS 24 1677123123 GFS G2 SL1L2 T P500 = 5 1 2 3 4 5", `valid time "1677123123" is not a date and hour YYYYMMDDHH from 1678 to 2261`},
		{"V01 GFS 24 2262010100 GFS G2 SL1L2 T P500 = 5 1 2 3 4 5", `valid time "2262010100"`},
		{"V01 GFS 24 1678010100 GFS G2 SL1L2 T P500 = 5 1 2 3 4 5", "the initialization time (valid time minus lead) is 1677-12-31 00:00:00, outside the years 1678 to 2261"},
		{"V01 GFS 9999 0001010100 GFS G2 SL1L2 HGT P500 = 100. 1 2 3 4 5", `valid time "0001010100"`},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 9007199254740993 1 2 3 4 5", "column total: 9007199254740993 is not a count"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 1 2 3 4 -.50E+01 5", "column ffbar: -.50E+01 is not"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 9007199254740992 1 2 3 4 5", "column total: 9007199254740992 is not a count"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 1e308 1 2 3 4 5", "column total: 1e308 is not a count"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5 1 2 3 -4 5", "column ffbar: -4 is not a finite number that is not negative"},
		{"V01 GFS/2 24 2019010100 GFS G2 RELI T P500 = 11 2 3 10 20 30", "column on_i[1]: -1 is not a number of cases"},
		{"V01 GFS 24 2019022900 GFS G2 SL1L2 T P500 = 5", `valid time "2019022900"`},
		{"V01 GFS 24 2019010124 GFS G2 SL1L2 T P500 = 5", `valid time "2019010124"`},
		{"V01 GFS 24 201901010000 GFS G2 SL1L2 T P500 = 5", `valid time "201901010000"`},
		{"V01 GFS 24 20190101 GFS G2 SL1L2 T P500 = 5", `valid time "20190101"`},
		{"V01 GFS 24 2019010100 GFS G2 SSVAR T P500 = 5", `line type "SSVAR" of VSDB is not known`},
		{"V01 GFS 24 2019010100 GFS G2 " + long + " T P500 = 5", `line type "` + long[:40] + `"…`},
		{"V01 GFS 24 2019010100 GFS G2 FHO T P500 = 5", `line type "FHO" has no threshold`},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 X = 5", "10 header tokens left of '='"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 = 5", "7 header tokens left of '='"},
		{"V01 GFS 24 2019010100 GFS G2 = 5 1 2 3", "6 header tokens left of '='"},
		{"V01 GFS 24 2019010100 GFS= 5 1 2 3", "5 header tokens left of '='"},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P" + strings.Repeat("5", maxHeader) + " = 5", "header text from \"V01 GFS  GFS G2 SL1L2 T"},
		{"V01 GFS 24 2019010100", "4 tokens and no '='"},
		{"GFS V01 24 2019010100 GFS G2 SL1L2 T P500 = 5", `version "GFS" does not have the form V01`},
		{"V GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5", `version "V"`},
		{"V01 G\xffS 24 2019010100 GFS G2 SL1L2 T P500 = 5", `header token "G\xffS" is not valid UTF-8`},
		{"V01 GFS 24 2019010100 GFS G2 SL1L2 T P5\x0000 = 5", `header token "P5\x0000" has the control character 0x00`},
		{"V01 GFS 24 2019010100 GFS G2\x7f SL1L2 T P500 = 5", `control character 0x7f`},
	} {
		r := rejected(t, c.line+"\n")
		if !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%q\n got %s\nwant %s", c.line, r.Reason, c.reason)
		}
		if r.Text != c.line || r.Line != 1 || r.File != "t.vsdb" || !utf8.ValidString(r.Reason) {
			t.Errorf("%q: reject %+v", c.line, r)
		}
	}
}

// The rest of a file goes on after a bad line.
func TestRejectDoesNotStop(t *testing.T) {
	good := "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5. 1 2 3 4 5\n"
	bad := "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5. 1 2 x\n"
	batches, lines := readAll(t, strings.NewReader(strings.Repeat(good+bad, 10001)), "t", Options{})
	rows, rejects := 0, 0
	for _, b := range batches {
		rows, rejects = rows+b.Len(), rejects+len(b.Rejects)
	}
	if lines != 20002 || rows != 10001 || rejects != 10001 {
		t.Errorf("%d lines, %d rows, %d rejects", lines, rows, rejects)
	}
}

func TestLongLine(t *testing.T) {
	good := "V01 GFS 24 2019010100 GFS G2 SL1L2 T P500 = 5. 1 2 3 4 5"
	const bufferSize = 256 << 10
	for _, n := range []int{MaxLine - 1, MaxLine, MaxLine + 1, bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize + 7} {
		for _, last := range []bool{false, true} {
			padded := good + strings.Repeat(" ", n-len(good)) // a good line but for its length
			text := good + "\n" + padded + "\n" + strings.Repeat(" ", n) + "\n" + good + "\n" + strings.Repeat("x", n)
			if !last {
				text += "\n"
			}
			batches, lines := readAll(t, strings.NewReader(text), "t", Options{})
			rows, rejects := batches[0].Len(), batches[len(batches)-1].Rejects
			wantRows, wantRejects := 3, 1
			if n > MaxLine {
				wantRows, wantRejects = 2, 2
			}
			if lines != 4 || rows != wantRows || len(rejects) != wantRejects {
				t.Fatalf("%d bytes: %d lines, %d rows, %d rejects", n, lines, rows, len(rejects))
			}
			r := rejects[len(rejects)-1]
			if r.Line != 5 || len(r.Text) != record.MaxRejectText {
				t.Errorf("%d bytes: reject of line %d with %d bytes of text", n, r.Line, len(r.Text))
			}
			if n > MaxLine && !strings.Contains(r.Reason, "longer than 65536 bytes") {
				t.Errorf("reason %s", r.Reason)
			}
		}
	}
}

// Nothing depends on how the source cuts its reads.
func TestReadSizes(t *testing.T) {
	text := append(generated(300, 3), "bad line\r\n\n"...)
	text = append(text, generated(20, 4)...)
	inOne, _ := readAll(t, bytes.NewReader(text), "t", Options{})
	for name, src := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(bytes.NewReader(text)),
		"half":     iotest.HalfReader(bytes.NewReader(text)),
		"data+EOF": iotest.DataErrReader(bytes.NewReader(text)),
	} {
		got, _ := readAll(t, src, "t", Options{})
		if len(got) != len(inOne) {
			t.Fatalf("%s: %d batches, want %d", name, len(got), len(inOne))
		}
		var h record.Hasher
		for i := range got {
			if got[i].Type != nil && h.DigestOf(got[i]) != h.DigestOf(inOne[i]) || fmt.Sprint(got[i].Rejects) != fmt.Sprint(inOne[i].Rejects) {
				t.Errorf("%s: batch %d differs", name, i)
			}
		}
	}
}

func TestReadFailure(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, text := range []string{"", "V01 GFS", string(generated(5, 1)), strings.Repeat("x", MaxLine+5)} {
		r := NewReader(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), "t.vsdb", Options{})
		var b record.Batch
		for range 2 { // the second call returns the error again
			err := r.Next(&b)
			var f *fault.Error
			if !errors.Is(err, broken) || !errors.As(err, &f) || f.File != "t.vsdb" {
				t.Errorf("after %d bytes: %v", len(text), err)
			}
		}
	}
	r := NewReader(stuck{}, "t", Options{})
	if err := r.Next(&record.Batch{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that returns nothing: %v", err)
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n", "\r\n \n"} {
		r := NewReader(strings.NewReader(text), "t", Options{})
		if err := r.Next(&record.Batch{}); !errors.Is(err, io.EOF) || r.Lines() != 0 {
			t.Errorf("%q: %v, %d lines", text, err, r.Lines())
		}
	}
}

func TestRowsOption(t *testing.T) {
	const lines = 1000
	for _, rows := range []int{1, 7, 100, 5000} {
		batches, n := readAll(t, bytes.NewReader(generated(lines, 5)), "t", Options{Rows: rows})
		total := 0
		for _, b := range batches {
			total += b.Len()
			if b.Len() > rows {
				t.Errorf("a batch of %d rows, want at most %d", b.Len(), rows)
			}
		}
		if total != lines || n != lines {
			t.Errorf("rows %d: %d records of %d lines", rows, total, n)
		}
	}
}

// Reset reads another file as a new reader would; headers with another
// ensemble suffix are other headers.
func TestReset(t *testing.T) {
	text := "V01 GEFS/20 24 2019010100 GEFS G2 RPS T P500 = 1 2 0.3 4 5 0.6\n"
	r := NewReader(strings.NewReader(text), "a", Options{Ensemble: "1"})
	for i, c := range []struct{ ensemble, model string }{{"1", "GEFS_1"}, {"2", "GEFS_2"}, {"", "GEFS"}, {"", "GEFS"}} {
		if i > 0 {
			r.Reset(strings.NewReader(text), fmt.Sprint("file", i), c.ensemble)
		}
		var b record.Batch
		if err := r.Next(&b); err != nil {
			t.Fatal(err)
		}
		if m := b.Header(0)[record.Model]; m != c.model || r.Lines() != 1 || len(b.Headers) != 1 || b.Line[0] != 1 {
			t.Errorf("file %d: model %q, want %q", i, m, c.model)
		}
	}
}

// A file in which every line has another header is read in bounded memory, and no batch has a header
// twice, also if the numbers of every line are invalid.
func TestHeaderTableOverflow(t *testing.T) {
	const n = 3*maxSeries + 100
	for numbers, wantRows := range map[string]int{"5. 1 2 3 4 5": n, "5. x": 0} {
		var text []byte
		for i := range n {
			text = fmt.Appendf(text, "V01 M%d 24 2019010100 GFS G2 SL1L2 T P500 = %s\n", i/2*7919%n, numbers)
		}
		r := NewReader(bytes.NewReader(text), "t", Options{})
		var b record.Batch
		rows, rejects := 0, 0
		for {
			err := r.Next(&b)
			if errors.Is(err, io.EOF) {
				break
			}
			checkBatch(t, &b)
			rows, rejects = rows+b.Len(), rejects+len(b.Rejects)
			if len(r.series) > maxSeries || len(r.heads) > maxSeries {
				t.Fatalf("%d series and %d headers kept", len(r.series), len(r.heads))
			}
		}
		if rows != wantRows || rows+rejects != n {
			t.Errorf("%d rows and %d rejects, want %d of %d", rows, rejects, wantRows, n)
		}
	}
}

// endless repeats a text for ever.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

func TestNoAllocations(t *testing.T) {
	r := NewReader(&endless{text: generated(4096, 7)}, "t", Options{Rows: 512})
	var b record.Batch
	next := func() {
		if err := r.Next(&b); err != nil || b.Len() != 512 {
			t.Fatal(err, b.Len())
		}
	}
	for range 200 { // until every pending batch has its memory
		next()
	}
	if n := testing.AllocsPerRun(200, next); n != 0 {
		t.Errorf("%v allocations per batch of 512 lines, want 0", n)
	}
}
