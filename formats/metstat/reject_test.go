package metstat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

func TestRejects(t *testing.T) {
	long := "V12 " + strings.Repeat("x ", maxLine)
	for _, c := range []struct{ name, line, reason string }{
		{"cut in the header", "V12.0.0 GFS NA 1080000 20241101_180000 20241101_180000 000000 20241101_180000 20241101_180000 RH", `the line is truncated: it has 10 of the 24 header columns and ends in "RH"`},
		{"unknown type", plain24 + "XYZ 1 2", `unknown line type "XYZ"`},
		{"type in lower case", plain24 + "sl1l2 1 2 3 4 5 6 7", `unknown line type "sl1l2"`},
		{"type of VSDB", plain24 + "ENSCNT 1 2 3 4 5 6", `unknown line type "ENSCNT"`},
		{"too many", plain24 + "FHO 1 0 0 0 0", "1 column too many: FHO has at most 4 in MET 12"},
		{"too few", plain24 + "SL1L2 1 2 3", "the line is truncated: it has 3 columns of SL1L2, but MET V12.0.0 writes 7"},
		{"too few of an old version", "V4.1.2" + plain24[7:] + "SL1L2 1 2 3", "the line is truncated: it has 3 columns of SL1L2, but MET V4.1.2 writes 6 or 7"},
		{"as few as an older version", plain24 + "SL1L2 1 2 3 4 5 6", "the line is truncated: it has 6 columns of SL1L2, but MET V12.0.0 writes 7"},
		{"no values", plain24 + "FHO", "the line is truncated: it has 0 columns of FHO, but MET V12.0.0 writes 4"},
		{"no number", plain24 + "FHO 1 0 abc 0", `column h_rate: "abc" is not a number`},
		{"infinity", plain24 + "FHO 1 0 -inf 0", `column h_rate: "-inf" is not a finite number (NA is a missing one)`},
		{"not a number", plain24 + "SL1L2 10 1 2 3 4 5 -nan", `column mae: "-nan" is not a finite number (NA is a missing one)`},
		{"not a number in a count", plain24 + "FHO NaN 0 0 0", `column total: "NaN" is not a finite number (NA is a missing one)`},
		{"negative total", plain24 + "FHO -99 0 0 0", `column total: "-99" is not a count: a whole number from 0 to 9007199254740991`},
		{"total of 2^53", plain24 + "FHO 9007199254740992 0 0 0", `column total: "9007199254740992" is not a count: a whole number from 0 to 9007199254740991`},
		{"huge total", plain24 + "FHO 1e308 0 0 0", `column total: "1e308" is not a count: a whole number from 0 to 9007199254740991`},
		{"rate above 1", plain24 + "FHO 10 0 1.00001 0", `column h_rate: "1.00001" is not a number from 0 to 1`},
		{"negative sum of squares", plain24 + "SL1L2 10 1 2 3 -4 5 6", `column ffbar: "-4" is not a finite number that is not negative`},
		{"negative cell", plain24 + "PCT 9 2 0 1 -2 1", `column on_i[1]: "-2" is not a number of cases, from 0 to 9007199254740991`},
		{"out of range", plain24 + "FHO 1 0 1e999 0", `column h_rate: "1e999" is not a number`},
		{"fraction in the total of a table", plain24 + "CTC 10.5 1.5 2 3 4 0.25", `column total: "10.5" is not a count: a whole number from 0 to 9007199254740991`},
		{"fraction in a count", plain24 + "FHO 1.5 0 0 0", `column total: "1.5" is not a count: a whole number from 0 to 9007199254740991`},
		{"bad lead", strings.Replace(plain24, "060000", "066000", 1) + "FHO 1 0 0 0", `column FCST_LEAD: "066000" is not a lead: [-]H…[MMSS] is expected`},
		{"bad obs lead", strings.Replace(plain24, "000000", "1h", 1) + "FHO 1 0 0 0", `column OBS_LEAD: "1h" is not a lead of an observation: H…[MMSS] is expected`},
		{"bad time", strings.Replace(plain24, "20241101_180000", "20241131_180000", 1) + "FHO 1 0 0 0", `column FCST_VALID_BEG: "20241131_180000" is not a time from 1678 to 2261: YYYYMMDD_HHMMSS is expected`},
		{"no time", plain24[:strings.LastIndex(plain24, "20241101_180000")] + "NA TMP K Z2 TMP K Z2 ANLYS FULL NEAREST 1 NA NA NA NA FHO 1 0 0 0", `column OBS_VALID_END: "NA" is not a time from 1678 to 2261: YYYYMMDD_HHMMSS is expected`},
		{"negative obs lead", strings.Replace(plain24, "000000", "-010000", 1) + "FHO 1 0 0 0", `column OBS_LEAD: "-010000" is not a lead of an observation: H…[MMSS] is expected`},
		{"before 1678", strings.Replace(plain24, "20241101_180000", "16771231_235959", 1) + "FHO 1 0 0 0", `column FCST_VALID_BEG: "16771231_235959" is not a time from 1678 to 2261: YYYYMMDD_HHMMSS is expected`},
		{"after 2261", strings.ReplaceAll(plain24, "20241101_180000", "99991231_000000") + "FHO 1 0 0 0", `column FCST_VALID_BEG: "99991231_000000" is not a time from 1678 to 2261: YYYYMMDD_HHMMSS is expected`},
		{"initial time before 1678", strings.ReplaceAll(plain24, "20241101_180000", "16780101_050000") + "FHO 1 0 0 0", "the initialization time (valid time minus lead) is 1677-12-31 23:00:00, outside the years 1678 to 2261"},
		{"initial time after 2261", strings.Replace(strings.ReplaceAll(plain24, "20241101_180000", "22611231_235959"), "060000", "-240000", 1) + "FHO 1 0 0 0", "the initialization time (valid time minus lead) is 2262-01-01 23:59:59, outside the years 1678 to 2261"},
		{"bad points", strings.Replace(plain24, "NEAREST 1", "NEAREST x", 1) + "FHO 1 0 0 0", `column INTERP_PNTS: "x" is not a number of points`},
		{"bad alpha", strings.Replace(plain24, "NA NA NA NA", "NA NA NA a", 1) + "FHO 1 0 0 0", `column ALPHA: "a" is not a number from 0 to 1`},
		{"alpha above 1", strings.Replace(plain24, "NA NA NA NA", "NA NA NA 1.05", 1) + "FHO 1 0 0 0", `column ALPHA: "1.05" is not a number from 0 to 1`},
		{"group cut", plain24 + "RHIST 9 3 1 2", "the line is truncated: n_rank is 3, but only 2 values follow"},
		{"group too long", plain24 + "RHIST 9 3 1 2 3 4", "1 column too many: RHIST has at most 2 in MET 12"},
		{"huge group", plain24 + "MCTC 9 4294967296 1 2 3 4 0.5", "the line is truncated: n_cat is 4.294967296e+09, but only 5 values follow"},
		{"negative group", plain24 + "MCTC 9 -1 1 2 3 4 0.5", `column n_cat: "-1" is not a count: a whole number from 0 to 9007199254740991`},
		{"before the group", plain24 + "PSTD 9 2 1 2 3", "the line is truncated: it has 5 columns of PSTD, but 17 precede the repeating ones"},
		{"no number in a group", plain24 + "PCT 9 2 0 1 >=2 1", `column on_i[1]: ">=2" is not a number`},
		{"old order", plain24 + "MPR 9 4 KDEN 39.8 -104.7 850 NA 280.5 281 NA 2", "the line is truncated: it has 11 columns of MPR, but MET V12.0.0 writes 15"},
		{"no version", "hello world", `the line begins with "hello", not with a version of MET`},
		{"not UTF-8", plain24 + "FHO 1 0 0 0\xff", "the line is not UTF-8 text"},
		{"NUL", plain24 + "FHO 1 0 0 0\x00", "the line contains a NUL byte"},
		{"long", long, "the line is longer than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := readAll(t, head24+c.line+"\n"+plain24+"FHO 1 0 0 0\n", 0)
			var rejects []record.Reject
			stored := 0
			for _, b := range all {
				rejects = append(rejects, b.Rejects...)
				stored += b.Len()
			}
			if len(rejects) != 1 || stored != 1 {
				t.Fatalf("%d rejects, %d stored, want 1 and 1", len(rejects), stored)
			}
			r := rejects[0]
			if r.Reason != c.reason {
				t.Errorf("reason %q\nwant   %q", r.Reason, c.reason)
			}
			want := c.line[:min(len(c.line), record.MaxRejectText)]
			if r.File != "x.stat" || r.Line != 2 || r.Text != want {
				t.Errorf("reject %s:%d %q", r.File, r.Line, r.Text)
			}
		})
	}
}

func TestForeignFiles(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{"VERSION AMODEL BMODEL DESC STORM_ID\nV12.0 x y\nV12.0 z\n", "the preceding header line looks like one of TC-Pairs, but lacks column BASIN"},
		{"VERSION MODEL N_VALID GRID_RES DESC FCST_LEAD FIELD\nV12.0 x y\nV12.0 z\n", "the preceding header line looks like one of MODE, but lacks column FCST_VALID"},
		{"VERSION MODEL DESC FCST_LEAD FCST_VALID T_DELTA OBJECT_ID\nV12.0 x y\nV12.0 z\n", "the preceding header line looks like one of MTD, but lacks column FCST_RAD"},
		{"VERSION MODEL DESC FCST_LEAD LEVEL\nV12.0 x y\nV12.0 z\n", `the preceding header line is not MET's: column 5 is "LEVEL", but FCST_VALID_BEG is expected`},
		{"VERSION MODEL\nV12.0 x y\nV12.0 z\n", "the preceding header line is truncated: it ends before column FCST_LEAD"},
		{plain24 + "XYZ\nV8.0 z\n", ""},
	} {
		all := readAll(t, c.text, 0)
		if len(all) != 1 || len(all[0].Rejects) != 2 || all[0].Type != nil {
			t.Fatalf("%q: want one batch of two rejects", c.text)
		}
		for _, r := range all[0].Rejects {
			if c.reason == "" && !strings.HasSuffix(r.Reason, "(the file has no header line before it; 24 columns were assumed)") || c.reason != "" && r.Reason != c.reason {
				t.Errorf("reason %q", r.Reason)
			}
		}
	}
}

// A last line without a line end may be cut inside its last number.
func TestLastLineWithoutLineEnd(t *testing.T) {
	full := plain24 + "SL1L2 1 2 3 4 5 6 7"
	for _, c := range []struct {
		text         string
		stored, kept int
	}{
		{head24 + full, 0, 1},
		{head24 + full + "\n" + full, 1, 2},
		{head24 + full + "\n" + full[:60], 1, 1},
		{head24 + full + "\n", 1, 1},
		{head24 + full + "\r", 0, 1},
		{head24 + plain24 + "SL1L2 1 2 3 4 5 6", 0, 0},
		{head24[:60], 0, 0},
		{head24 + full + "\n\x00\x00\x00", 1, 1},
	} {
		for keep, want := range map[bool]int{false: c.stored, true: c.kept} {
			r := NewReader(strings.NewReader(c.text), "x.stat", Options{KeepLast: keep})
			stored, rejects := 0, []record.Reject(nil)
			for _, b := range drain(t, r) {
				stored += b.Len()
				rejects = append(rejects, b.Rejects...)
			}
			if stored != want || int(r.Lines()) != stored+len(rejects) || !keep && !strings.HasSuffix(c.text, "\n") && len(rejects) != 1 {
				t.Errorf("keep %v: %d stored, want %d, of %q; rejects %v", keep, stored, want, c.text, rejects)
			}
		}
	}
}

// TestQuotedTokens: a reason quotes a token of up to 40 bytes completely, and the beginning of a longer one.
func TestQuotedTokens(t *testing.T) {
	for n, want := range map[int]string{1: "x", 40: strings.Repeat("x", 40), 41: strings.Repeat("x", 40) + "...", 500: strings.Repeat("x", 40) + "..."} {
		token := []byte(strings.Repeat("x", n) + " next")[:n]
		if got := shorten(token); string(got) != want {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
}

// TestDamagedTimes: a time with a wrong character at any place is refused, also if the rest is a valid time.
func TestDamagedTimes(t *testing.T) {
	const valid = "20240112_121212"
	for i := range valid {
		for _, c := range []byte{'x', ' ', '/', ':'} {
			tok := []byte(valid)
			tok[i] = c
			if u, ok := parseTime(tok); ok || u != 0 {
				t.Errorf("%s is the time %d", tok, u)
			}
		}
	}
	for _, tok := range []string{valid[:14], valid + "0", ""} {
		if u, ok := parseTime([]byte(tok)); ok || u != 0 {
			t.Errorf("%q is the time %d", tok, u)
		}
	}
}

// TestReasonNamesColumnOfFile: a reason quotes the column that the file has, not the one of the translation into STAT.
func TestReasonNamesColumnOfFile(t *testing.T) {
	const validBoth, obsValid = "20120410_180000 060000 060000 20120410_180000 060000", "NA 060000 060000 2012 060000"
	for _, c := range []struct{ text, reason string }{
		{strings.Replace(modeCTS, " 2 >=5.0", " 2.5 >=5.0", 1), `column FCST_RAD: "2.5" is not a number of points`},
		{strings.Replace(modeCTS, " 300000 ", " 3x ", 1), `column FCST_LEAD: "3x" is not a lead: `},
		{strings.Replace(modeCTS, "20120410_180000", "2012", 1), `column FCST_VALID: "2012" is not a time from 1678 to 2261: `},
		{strings.Replace(modeCTS, validBoth, obsValid, 1), `column OBS_VALID: "2012" is not a time from 1678 to 2261: `},
		{strings.Replace(modeCTS, "20120410_180000 060000 2", "2012 060000 2", 1), `column OBS_VALID: "2012" is not a time `},
		{tcHead + tcLine("6h", "TCDIAG 1 1 A B C 0"), `column LEAD: "6h" is not a lead: `},
		// TOTAL … N_DIAG are six columns; TCMPR has 66 before MET 11.0, and 71 since.
		{tcHead + tcLine("6", "TCDIAG 1 1"), "the line is truncated: it has 2 columns of TCDIAG, but 6 precede the repeating ones"},
		{tcHead + tcLine("6", "TCDIAG 1 1 A B C 0 N 5"), "1 column too many: TCDIAG has at most 6 in MET 12"},
		{
			tcHead + strings.Replace(tcLine("6", "TCMPR 1 1"), "V11.1", "V10.1", 1),
			"the line is truncated: it has 2 columns of TCMPR, but MET V10.1.0 writes 66 or 71",
		},
		{tcHead + tcLine("6", "PROBRIRW 1 2"), "the line is truncated: it has 2 columns of PROBRIRW, but 21 precede the repeating ones"},
		{ // the lead is −2³¹ s
			tcHead + strings.Replace(tcLine("NA", "TCDIAG 1 1 A B C 0"), "20220926_000000", "20901014_091408", 1),
			`column LEAD: "-5965231408" is not a lead: `,
		},
	} {
		b := readAll(t, c.text, 0)[0]
		if len(b.Rejects) != 1 || !strings.HasPrefix(b.Rejects[0].Reason, c.reason) {
			t.Errorf("%v, want %s", b.Rejects, c.reason)
		}
	}
}

// TestLongHeaderLine: the lines below a header line that is too long have none of the layouts that the reader knows.
func TestLongHeaderLine(t *testing.T) {
	long := strings.TrimSuffix(head22, "\n") + strings.Repeat(" X", maxLine/2) + "\n"
	var reasons []string
	for _, b := range readAll(t, head24+long+plain24+"FHO 1 0 0 0\n"+head24+plain24+"FHO 1 0 0 0\n", 0) {
		for _, r := range b.Rejects {
			reasons = append(reasons, fmt.Sprint(r.Line, ": ", r.Reason))
		}
		if b.Type != nil && (b.Len() != 1 || b.Line[0] != 5) {
			t.Errorf("lines %v are stored, want only the last", b.Line)
		}
	}
	want := []string{"2: the line is longer than 1048576 bytes", "3: the preceding header line is longer than 1048576 bytes"}
	if !slices.Equal(reasons, want) {
		t.Errorf("reasons %q, want %q", reasons, want)
	}
}
