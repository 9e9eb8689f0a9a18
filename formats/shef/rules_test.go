package shef_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// decode decodes text as of a time and checks the account.
func decode(tb testing.TB, text string, now time.Time) *shef.Result {
	tb.Helper()
	all := &shef.Result{}
	err := shef.ReadAll(strings.NewReader(text), "test", shef.Options{Now: now}, func(r *shef.Result) error {
		if !r.Account.IsBalanced() {
			tb.Errorf("the account is not balanced: %+v", r.Account)
		}
		all.Values = append(all.Values, r.Values...)
		all.Problems = append(all.Problems, r.Problems...)
		all.Account.Add(&r.Account)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// brief writes a value as "STN 2021-03-27 07:00 HGIRZZZ 1 Z". It appends seconds, "dur N", "dc
// TIME", "rev", "ts N", "p N" and a comment if they differ from the default.
func brief(g *record.Gauge) string {
	at := time.Unix(g.Time, 0).UTC()
	layout := "2006-01-02 15:04"
	if at.Second() != 0 {
		layout += ":05"
	}
	s := fmt.Sprintf("%s %s %s %v %c", g.Station, at.Format(layout), g.Code, g.Value, g.Quality)
	if g.Duration != 0 {
		s += fmt.Sprintf(" dur %d", g.Duration)
	}
	if g.Created != record.NoTime {
		s += time.Unix(g.Created, 0).UTC().Format(" dc 2006-01-02 15:04")
	}
	if g.Revised {
		s += " rev"
	}
	if g.Series != 0 {
		s += fmt.Sprintf(" ts %d", g.Series)
	}
	if g.Probability != -1 {
		s += fmt.Sprintf(" p %v", g.Probability)
	}
	if g.Comment != "" {
		s += fmt.Sprintf(" %q", g.Comment)
	}
	return s
}

// TestRules compares the decoder with the manual, paragraph by paragraph. errors lists the numbers
// of the errors (not warnings) that a message must cause.
func TestRules(t *testing.T) {
	for _, c := range []struct{ rule, text, want, errors string }{
		{
			"5.4.1 ex 1: daylight time in November is over", ".A EGTM7 831120 C DH08/HG 5.75/QR 5.97/PP 2.15",
			"EGTM7 1983-11-20 14:00 HGIRZZZ 5.75 Z|EGTM7 1983-11-20 14:00 QRIRZZZ 5.97 Z|EGTM7 1983-11-20 14:00 PPDRZZZ 2.15 Z dur 2001", "",
		},
		{"5.4.1 ex 2: Zulu by default", ".A CSAT2 830309 DH12/HG 10.25", "CSAT2 1983-03-09 12:00 HGIRZZZ 10.25 Z", ""},
		{
			"5.4.1 ex 3: DM, DH", ".A MASO1 830907 C DH22/QR .12/DM0908/DH09/QR 5.0",
			"MASO1 1983-09-08 03:00 QRIRZZZ 0.12 Z|MASO1 1983-09-08 14:00 QRIRZZZ 5 Z", "",
		},
		{
			"5.4.1 ex 4: hour 24, DM with an hour", ".A BON 810907 P DH24/QID 250./DM090806/QIQ 300./QIQ 310.",
			"BON 1981-09-08 07:00 QIDRZZZ 250 Z dur 2001|BON 1981-09-08 13:00 QIQRZZZ 300 Z dur 1006|BON 1981-09-08 13:00 QIQRZZZ 310 Z dur 1006", "",
		},
		{"5.4.1 ex 5: revision", ".AR SRGT2 831212 C DH08/HG 37.5/HG 47.5", "SRGT2 1983-12-12 14:00 HGIRZZZ 37.5 Z rev|SRGT2 1983-12-12 14:00 HGIRZZZ 47.5 Z rev", ""},
		{
			"5.4.1 ex 6: continuation, send codes", ".A SYRT2 831209 C DH1015/HG 12.7/PP .17\n.A1 TX 107/TN 55",
			"SYRT2 1983-12-09 16:15 HGIRZZZ 12.7 Z|SYRT2 1983-12-09 16:15 PPDRZZZ 0.17 Z dur 2001|SYRT2 1983-12-09 16:15 TAIRZXZ 107 Z|SYRT2 1983-12-09 16:15 TAIRZNZ 55 Z", "",
		},
		{
			"5.4.2 ex 1: comments, missing", ".B TOP 831010 C DH08/HG/PP  : FIRST DATA ROUNDUP\n: ID STAGE\nLVNK1 5.7/+  :LEAVENWORTH, KS\nMTTK1 +/2.75\n.END",
			"LVNK1 1983-10-10 13:00 HGIRZZZ 5.7 Z|LVNK1 1983-10-10 13:00 PPDRZZZ -9999 Z dur 2001|MTTK1 1983-10-10 13:00 HGIRZZZ -9999 Z|MTTK1 1983-10-10 13:00 PPDRZZZ 2.75 Z dur 2001", "",
		},
		{"5.4.2 ex 2: nulls", ".B GEG 830107 P DH0830/SD/SF/TX/XW\nSPAW1 //38/02\n.END", "SPAW1 1983-01-07 16:30 TAIRZXZ 38 Z|SPAW1 1983-01-07 16:30 XWIRZZZ 2 Z", ""},
		{"5.4.2 ex 3: DR, qualifier", ".B PDX 831011 P DH06/HG/DRH-12/HG\nPHIO3 9.7/6.2E :PHILOMATH\n.END", "PHIO3 1983-10-11 13:00 HGIRZZZ 9.7 Z|PHIO3 1983-10-11 01:00 HGIRZZZ 6.2 E", ""},
		{
			"5.4.2 ex 4: override, DUS in the header", ".B PDR 830807 P DH05/SW/PC/DUS/TA\nANRO3 DH0523/0.1/ 72.4/ 7.5\n.END",
			"ANRO3 1983-08-07 12:23 SWIRZZZ 0.1 Z|ANRO3 1983-08-07 12:23 PCIRZZZ 72.4 Z|ANRO3 1983-08-07 12:23 TAIRZZZ 45.5 Z", "",
		},
		{"5.4.2 ex 5: PY at 7 a.m., PPP", ".B FTW 830107 C DH13/PY/PPP\nSRGT2 .25/1.75\n.END", "SRGT2 1983-01-07 13:00 PPDRZZZ 0.25 Z dur 2001|SRGT2 1983-01-07 19:00 PPPRZZZ 1.75 Z dur 5004", ""},
		{
			"5.4.2 ex 6: packed", ".B CHI 831020 /HG/PP\nGUNI2 1.9/ .20,RVRI2 3.5/ .35 :GURNEE\nLSLI2 11.0//  :LA SALLE\n.END",
			"GUNI2 1983-10-20 12:00 HGIRZZZ 1.9 Z|GUNI2 1983-10-20 12:00 PPDRZZZ 0.2 Z dur 2001|RVRI2 1983-10-20 12:00 HGIRZZZ 3.5 Z|RVRI2 1983-10-20 12:00 PPDRZZZ 0.35 Z dur 2001|LSLI2 1983-10-20 12:00 HGIRZZZ 11 Z", "",
		},
		{
			"5.4.2 ex 7: DR of the header on an override", ".B CHI 831010 DH08/HG/DRH+12/HG\nSTN1 1.0/2.0\nSTN2 DH0832/3.0/4.0\n.END",
			"STN1 1983-10-10 08:00 HGIRZZZ 1 Z|STN1 1983-10-10 20:00 HGIRZZZ 2 Z|STN2 1983-10-10 08:32 HGIRZZZ 3 Z|STN2 1983-10-10 20:32 HGIRZZZ 4 Z", "",
		},
		{
			"5.4.2 ex 8: colons on and off", ".B DSM 830111 DH06/TX/DH12/TAIRZP/PP\nDSM : DESMOINES  : 38 / 21 / T : SNOW\n.END",
			"DSM 1983-01-11 06:00 TAIRZXZ 38 Z|DSM 1983-01-11 12:00 TAIRZPZ 21 Z|DSM 1983-01-11 12:00 PPDRZZZ 0.001 Z dur 2001", "",
		},
		{"5.4.3 ex 3: DIE", ".E PDX 840131 P DH07/PPM/DIE01/5.71/6.21/3.73", "PDX 1984-01-31 15:00 PPMRZZZ 5.71 Z dur 3001 ts 1|PDX 1984-02-29 15:00 PPMRZZZ 6.21 Z dur 3001 ts 2|PDX 1984-03-31 15:00 PPMRZZZ 3.73 Z dur 3001 ts 2", ""},
		{"5.4.3 ex 4: decrement", ".E FWHT2 830131 C DH07/HGIRG/DIH-1/5.2/5.0", "FWHT2 1983-01-31 13:00 HGIRGZZ 5.2 Z ts 1|FWHT2 1983-01-31 12:00 HGIRGZZ 5 Z ts 2", ""},
		{
			"5.2.1: DR is not cumulative", ".A STN1 830131 Z DH07/HG 1/DRH+6/HG 2/DRH+12/HG 3/DH08/HG 4",
			"STN1 1983-01-31 07:00 HGIRZZZ 1 Z|STN1 1983-01-31 13:00 HGIRZZZ 2 Z|STN1 1983-01-31 19:00 HGIRZZZ 3 Z|STN1 1983-01-31 08:00 HGIRZZZ 4 Z", "",
		},
		{
			"5.2.2: an hour clears minutes (shef-parser 2.4 a, b)", ".A STN1 20210327 Z DH0735/HG 1/DH09/HG 2/DD2803/HG 3/DM0329/HG 4",
			"STN1 2021-03-27 07:35 HGIRZZZ 1 Z|STN1 2021-03-27 09:00 HGIRZZZ 2 Z|STN1 2021-03-28 03:00 HGIRZZZ 3 Z|STN1 2021-03-29 03:00 HGIRZZZ 4 Z", "",
		},
		{"5.3.5: null after a code (shef-parser 2.4 c: stops)", ".A STN1 20210327 Z DH12/HG 1/HG //HG 2", "STN1 2021-03-27 12:00 HGIRZZZ 1 Z|STN1 2021-03-27 12:00 HGIRZZZ 2 Z", ""},
		{"4.1.4: next year is nearer (2.4 d)", ".A STN1 0105 Z DH12/HG 1", "STN1 2027-01-05 12:00 HGIRZZZ 1 Z", ""},
		{"4.1.4: ten years ahead, ninety back", ".A STN1 361119 Z DH12/HG 1\n.A STN1 361221 Z DH12/HG 1", "STN1 2036-11-19 12:00 HGIRZZZ 1 Z|STN1 1936-12-21 12:00 HGIRZZZ 1 Z", ""},
		{
			"5.2.6: the hour that comes twice (2.4 e)", ".A STN1 20211107 C DH01/HG 1/DH02/HG 2/DRH+1/HG 3/DH0201/HG 4",
			"STN1 2021-11-07 06:00 HGIRZZZ 1 Z|STN1 2021-11-07 07:00 HGIRZZZ 2 Z|STN1 2021-11-07 08:00 HGIRZZZ 3 Z|STN1 2021-11-07 08:01 HGIRZZZ 4 Z", "",
		},
		{"5.2.6: the hour that is left out", ".A STN1 20210314 C DH0200/HG 1/DH0230/HG 2/DH0301/HG 3", "STN1 2021-03-14 08:00 HGIRZZZ 1 Z|STN1 2021-03-14 08:01 HGIRZZZ 3 Z", "44"},
		{"5.2.6: hours are absolute (2.4 e)", ".E STN1 20211106 C DH12/HG/DIH12/1/2/3", "STN1 2021-11-06 17:00 HGIRZZZ 1 Z ts 1|STN1 2021-11-07 05:00 HGIRZZZ 2 Z ts 2|STN1 2021-11-07 17:00 HGIRZZZ 3 Z ts 2", ""},
		{"5.2.6: days from an hour that is left out", ".E STN1 20210314 C DH0230/HG/DID1/1/2\n.E STN1 20210314 C DH0230/DRH+1/HG/DID1/1/2", "STN1 2021-03-15 07:30 HGIRZZZ 2 Z ts 1", "44 44"},
		{"5.2.6: days are local", ".E STN1 20211106 C DH12/HG/DID1/1/2", "STN1 2021-11-06 17:00 HGIRZZZ 1 Z ts 1|STN1 2021-11-07 18:00 HGIRZZZ 2 Z ts 2", ""},
		{"5.2.3: 2007 rule (shefit: 18:00)", ".A STN1 20240320 C DH12/HG 1", "STN1 2024-03-20 17:00 HGIRZZZ 1 Z", ""},
		{"5.2.3: 1987 rule (shefit: last Sunday)", ".A STN1 19900410 C DH12/HG 1", "STN1 1990-04-10 17:00 HGIRZZZ 1 Z", ""},
		{
			"4.4.1: defaults of the hour", ".A STN1 20210327 C /HG 1\n.A STN1 20210327 Z /HG 1\n.A STN1 20210327 DN30/HG 1",
			"STN1 2021-03-28 05:00 HGIRZZZ 1 Z|STN1 2021-03-27 12:00 HGIRZZZ 1 Z|STN1 2021-03-27 12:30 HGIRZZZ 1 Z", "",
		},
		{"7.4.1: HY before 7 a.m. is yesterday's", ".A STN1 20210327 C DH0659/HY 3.2/DH07/HY 3.3", "STN1 2021-03-26 12:00 HGIRZZZ 3.2 Z|STN1 2021-03-27 12:00 HGIRZZZ 3.3 Z", ""},
		{"table 2: PY in Zulu time", ".A STN1 20210327 DH12/PY 1.0/HG 2", "STN1 2021-03-27 12:00 HGIRZZZ 2 Z", "35"},
		{"table 2: QXD is no send code", ".A STN1 20210327 Z DH12/QXD 1.0/QX 2", "STN1 2021-03-27 12:00 QRIRZXZ 2 Z", "30"},
		{"5.1.1: all missing codes (2.4 f)", ".A STN1 20210327 Z DH12/HG M/HG MM/HG mm/HG +/HG -/HG -9999/HG MB", strings.Repeat("STN1 2021-03-27 12:00 HGIRZZZ -9999 Z|", 6) + "STN1 2021-03-27 12:00 HGIRZZZ -9999 B", ""},
		{
			"5.1.2 and error 31: traces (2.4 f)", ".A STN1 20210327 Z DH12/PP T/PC t/SF T/SD T/SW T/HG T/HG 1",
			"STN1 2021-03-27 12:00 PPDRZZZ 0.001 Z dur 2001|STN1 2021-03-27 12:00 PCIRZZZ 0.001 Z|STN1 2021-03-27 12:00 SFDRZZZ 0.001 Z dur 2001|STN1 2021-03-27 12:00 SDIRZZZ 0.001 Z|STN1 2021-03-27 12:00 SWIRZZZ 0.001 Z|STN1 2021-03-27 12:00 HGIRZZZ 1 Z", "31",
		},
		{"5.1.2: hundredths", ".A STN1 20210327 Z DH12/PP 125/PC 5/PP 0/DUS/PP 254", "STN1 2021-03-27 12:00 PPDRZZZ 1.25 Z dur 2001|STN1 2021-03-27 12:00 PCIRZZZ 0.05 Z|STN1 2021-03-27 12:00 PPDRZZZ 0 Z dur 2001|STN1 2021-03-27 12:00 PPDRZZZ 10.0000054 Z dur 2001", ""},
		{"4.4.3: DV, DVZ (2.4 f)", ".A STN1 20210327 Z DH12/PPV 1.1/DVH9/PPV 1.2/DVZ/PPV 1.3/HG 2", "STN1 2021-03-27 12:00 PPVRZZZ 1.2 Z dur 1009|STN1 2021-03-27 12:00 PPVRZZZ 1.3 Z dur 2001|STN1 2021-03-27 12:00 HGIRZZZ 2 Z", "32"},
		{
			"4.4.5, 4.4.6: DU, DQ", ".A STN1 20210327 Z DH12/DUS/HG 2.0/TA 10/DUE/DQG/HG 3.0/HG 4.0E/DQZ/HG 5.0",
			"STN1 2021-03-27 12:00 HGIRZZZ 6.5616798 Z|STN1 2021-03-27 12:00 TAIRZZZ 50 Z|STN1 2021-03-27 12:00 HGIRZZZ 3 G|STN1 2021-03-27 12:00 HGIRZZZ 4 E|STN1 2021-03-27 12:00 HGIRZZZ 5 Z", "",
		},
		{"DUS leaves missing as it is", ".A STN1 20210327 Z DH12/DUS/TA M", "STN1 2021-03-27 12:00 TAIRZZZ -9999 Z", ""},
		{
			"4.4.2, 5.3.2: DC, retained comment, probability", ".AR STN1 20210327 Z DH12/DC202103271300/HGIFFXH 3.0 \"Note: 1/2\"/HG 4.0",
			"STN1 2021-03-27 12:00 HGIFFXH 3 Z dc 2021-03-27 13:00 rev p 0.75 \"Note: 1/2\"|STN1 2021-03-27 12:00 HGIRZZZ 4 Z dc 2021-03-27 13:00 rev", "",
		},
		{"table 9: DJ, DT", ".A STN1 20210327 Z DJ21100/HG 1.0/DT20210401/HG 2", "STN1 2021-04-10 12:00 HGIRZZZ 1 Z|STN1 2021-04-01 12:00 HGIRZZZ 2 Z", ""},
		{"5.2.1: DRE; DRM to a day that is not", ".A STN1 20240131 Z DH12/HG 1/DRE+1/HG 2/DRM+1/HG 3/DRM+2/HG 4", "STN1 2024-01-31 12:00 HGIRZZZ 1 Z|STN1 2024-02-29 12:00 HGIRZZZ 2 Z|STN1 2024-03-31 12:00 HGIRZZZ 4 Z", "16"},
		{"5.2.1: DRE not at the end of a month", ".A STN1 20240130 Z DH12/DRE+1/HG 2", "", "38"},
		{
			"5.3.3: slashes between lines", ".E STN1 0323 Z DH12/HGI/DIH3\n.E1 / / 3.2/\n.E2 3.4/\n.E3 /3.6",
			"STN1 2027-03-23 15:00 HGIRZZZ 3.2 Z ts 2|STN1 2027-03-23 18:00 HGIRZZZ 3.4 Z ts 2|STN1 2027-03-24 00:00 HGIRZZZ 3.6 Z ts 2", "",
		},
		{"5.3.4: Z points to the default", ".A STN1 20210327 Z DH12/HGZZZX 1/PPZ 1.0", "STN1 2021-03-27 12:00 HGIRZXZ 1 Z|STN1 2021-03-27 12:00 PPDRZZZ 1 Z dur 2001", ""},
		{"7.4.6: paired values are passed on", ".A AMIT2 20210124 DH12/TB 6.065/TV -21.0058/MS -2.9999", "AMIT2 2021-01-24 12:00 TBIRZZZ 6.065 Z|AMIT2 2021-01-24 12:00 TVIRZZZ -21.0058 Z|AMIT2 2021-01-24 12:00 MSIRZZZ -2.9999 Z", ""},
		{"4.1.2: strangers", ".B ABI 20210412 C DH07/PP\nX3230986 2.00 , X3211005 1.80 : DESDEMONA\n.END", "X3230986 2021-04-12 12:00 PPDRZZZ 2 Z dur 2001|X3211005 2021-04-12 12:00 PPDRZZZ 1.8 Z dur 2001", ""},
		{"errors never stop the run", ".A STN1 20210332 Z DH12/HG 1\n.A1 HG 2\n.A AB$I2 20210307 DH12/PP 9.96\n.A TOOLONGID 20210307 DH12/HG 9\n.A S1 20210307 /HG 9\n.A STN1 20210307 DH12/XX 1/HG ?/HG 1..2/HG 2O/HG 3", "STN1 2021-03-07 12:00 HGIRZZZ 3 Z", "16 11 13 14 47 62 53 78 21"},
		{"046: a .B message without .END", ".B AAA 20210307 /HG\nSTN1 1\n.B AAA 20210307 /HG\nSTN2 2\n.END", "STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN2 2021-03-07 12:00 HGIRZZZ 2 Z", ""},
		{"041: too many values", ".B AAA 20210307 /HG\nSTN1 1/2/3, STN2 4\n.END", "STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN2 2021-03-07 12:00 HGIRZZZ 4 Z", "41"},
		{"062: an unknown element keeps its place", ".B AAA 20210307 /HG/XX/PP\nSTN1 1/2/.3\n.END", "STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN1 2021-03-07 12:00 PPDRZZZ 0.3 Z dur 2001", "62"},
		{"SHEF_processing 35: order of .E elements", ".E STN1 20210307 DIH6/DH06/HG/1/2", "STN1 2021-03-07 06:00 HGIRZZZ 1 Z ts 1|STN1 2021-03-07 12:00 HGIRZZZ 2 Z ts 2", ""},
		{"SHEF_processing 40: a message is not ended by a comment", ".E STN1 20210307 DH06/HG/DIH6/1\n: note\n\n.E1 2", "STN1 2021-03-07 06:00 HGIRZZZ 1 Z ts 1|STN1 2021-03-07 12:00 HGIRZZZ 2 Z ts 2", ""},
		{"SHEF_processing 42: an interval anew", ".E STN1 20210307 DH06/HG/DIH6/1/2/DH18/DIN30/3/4", "STN1 2021-03-07 06:00 HGIRZZZ 1 Z ts 1|STN1 2021-03-07 12:00 HGIRZZZ 2 Z ts 2|STN1 2021-03-07 18:00 HGIRZZZ 3 Z ts 1|STN1 2021-03-07 18:30 HGIRZZZ 4 Z ts 2", ""},
		{"pyIEM 1163: a shorter code after a longer one", ".B AAA 20210307 /HGIRZXZ/HP/TX/TA\nSTN1 1/2/3/4\n.END", "STN1 2021-03-07 12:00 HGIRZXZ 1 Z|STN1 2021-03-07 12:00 HPIRZZZ 2 Z|STN1 2021-03-07 12:00 TAIRZXZ 3 Z|STN1 2021-03-07 12:00 TAIRZZZ 4 Z", ""},
		{"pyIEM 695: an hour that is missing", ".B AAA 20210307 /HG\nSTN1 DHMSG/1\nSTN2 2\n.END", "STN2 2021-03-07 12:00 HGIRZZZ 2 Z", "2"},
		{"pyIEM 532: prose that looks like it", ".AVIATION...CLEAR\n.A STN1 20210307 /HG 1", "STN1 2021-03-07 12:00 HGIRZZZ 1 Z", "8"},
		{"opendcs: .A that ends in a colon", ".A STN1 20210307 DH12/HG 1:", "STN1 2021-03-07 12:00 HGIRZZZ 1 Z", ""},
		{
			"4.1.1: a dot in column one ends a body; what follows to .END is lost", ".B AAA 20210307 /HG/PP\nSTN1 1/.1\n...NORTH...\nSTN2 2/.2\n\nSTN3 3\n...SOUTH...\nSTN4 4\n.END\nprose\n.B AAA 20210307 /HG\nSTN5 5\n.END",
			"STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN1 2021-03-07 12:00 PPDRZZZ 0.1 Z dur 2001|STN5 2021-03-07 12:00 HGIRZZZ 5 Z", "7 7 68",
		},
		{
			"4.5.3: a blank ends the station of a body", ".B AAA 20210307 /TA/HG/PP\nAAAA1/2.5/70\nBASK372/ 50\nSTN1 1/2/.3\n.END",
			"STN1 2021-03-07 12:00 TAIRZZZ 1 Z|STN1 2021-03-07 12:00 HGIRZZZ 2 Z|STN1 2021-03-07 12:00 PPDRZZZ 0.3 Z dur 2001", "13 13",
		},
		{
			"5.3.2: a comment between station and value parts them; in a word it leaves nothing", ".B AAA 20210307 /TA/HG/PP\nSTNA1:Kansas City:72/50/0.10,ST:x:NB1 1:one:.5\n.END",
			"STNA1 2021-03-07 12:00 TAIRZZZ 72 Z|STNA1 2021-03-07 12:00 HGIRZZZ 50 Z|STNA1 2021-03-07 12:00 PPDRZZZ 0.1 Z dur 2001|STNB1 2021-03-07 12:00 TAIRZZZ 1.5 Z", "",
		},
		{"4.3: CR ends a line, by itself and as CR CR LF", ".B AAA 20210307 /HG\rAAA 1\r\r\nBBB 2\r\rCCC 3\r.END\r", "AAA 2021-03-07 12:00 HGIRZZZ 1 Z|BBB 2021-03-07 12:00 HGIRZZZ 2 Z|CCC 2021-03-07 12:00 HGIRZZZ 3 Z", ""},
		{
			"fill is left out, within a line and before a dot", "\xef\xbb\xbf.A STN1 20210307 /HG 1\x00.5/TA 70\n\x00\x00.A STN2 20210307 /HG 2\n\x1a.A STN3 20210307 /HG 3\n\x1e.A STN4 20210307 /HG 4",
			"STN1 2021-03-07 12:00 HGIRZZZ 1.5 Z|STN1 2021-03-07 12:00 TAIRZZZ 70 Z|STN2 2021-03-07 12:00 HGIRZZZ 2 Z|STN3 2021-03-07 12:00 HGIRZZZ 3 Z|STN4 2021-03-07 12:00 HGIRZZZ 4 Z", "",
		},
		{
			"a message after ETX, SOH, a form feed or another control character", "prose\x03.A STN1 20210307 /HG 1\x0c.A STN2 20210307 /HG 2\x01.A STN3 20210307 /HG 3\x02.A STN4 20210307 /HG 4",
			"STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN2 2021-03-07 12:00 HGIRZZZ 2 Z|STN3 2021-03-07 12:00 HGIRZZZ 3 Z|STN4 2021-03-07 12:00 HGIRZZZ 4 Z", "",
		},
		{
			"5.3.1: text after 51 blanks is lost", ".A STN1 20210307 /HG 1" + strings.Repeat(" ", 51) + "/TA 70/TX 80\n.A STN2 20210307 /HG 1" + strings.Repeat(" ", 50) + "/TA 70",
			"STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN2 2021-03-07 12:00 HGIRZZZ 1 Z|STN2 2021-03-07 12:00 TAIRZZZ 70 Z", "0",
		},
		{
			"5.1.6, 087: a missing value and a trace after a slash", ".AR STN1 20210307 /PPDRWZZ/ M/PP/ T/HG/ MM/HG/-/HG /TA 70/HG /MM 5/HG",
			"STN1 2021-03-07 12:00 PPDRWZZ -9999 Z dur 2001 rev|STN1 2021-03-07 12:00 PPDRZZZ 0.001 Z dur 2001 rev|STN1 2021-03-07 12:00 HGIRZZZ -9999 Z rev|STN1 2021-03-07 12:00 HGIRZZZ -9999 Z rev|STN1 2021-03-07 12:00 TAIRZZZ 70 Z rev|STN1 2021-03-07 12:00 MMIRZZZ 5 Z rev", "",
		},
		{
			"table 9: day 366 of a common year", ".A STN1 20250620 DJ366/HG 1\n.A STN2 20250620 DJ25366/HG 1\n.A STN3 20240620 DJ366/HG 1\n.A STN4 20250105 DJ365/HG 1",
			"STN3 2024-12-31 12:00 HGIRZZZ 1 Z|STN4 2024-12-30 12:00 HGIRZZZ 1 Z", "16 16",
		},
		{
			"4.6: what is not quite .END ends no body", ".B AAA 20210307 /HG\nSTN1 1\n.EN\nSTN2 2\n.ENDS\nSTN3 3\n .END\nSTN4 4\n.END",
			"STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN2 2021-03-07 12:00 HGIRZZZ 2 Z|STN3 2021-03-07 12:00 HGIRZZZ 3 Z|STN4 2021-03-07 12:00 HGIRZZZ 4 Z", "8 8 6",
		},
		{
			"4.1.1: a message that is indented is lost, with what is of it", " .A STN1 20210307 /HG 1\n.A1 TA 2\n.B AAA 20210307 /HG\nSTN2 2\n .B BBB 20210307 /TA\nSTN3 70\n.END\n.AAA 20210307 /HG 1\n.A STN4 20210307 /HG 4",
			"STN2 2021-03-07 12:00 HGIRZZZ 2 Z|STN4 2021-03-07 12:00 HGIRZZZ 4 Z", "6 11 6 8",
		},
		{"4.1.1: out of sequence, in order of arrival", ".A STN1 20210307 /HG 1\n.A3 DH13/TA 3\n.A2 DH14/TA 2", "STN1 2021-03-07 12:00 HGIRZZZ 1 Z|STN1 2021-03-07 13:00 TAIRZZZ 3 Z|STN1 2021-03-07 14:00 TAIRZZZ 2 Z", ""},
		{"4.1.4: a tie of the nearest year, 183 days off on both sides, is the past's", ".A STN1 0702 /HG 1", "STN1 2023-07-02 12:00 HGIRZZZ 1 Z", ""},
		{
			"5.2.3: daylight time ends on the last Sunday of October, 1976 to 2006", ".A STN1 20061029 C DH0200/HG 1/DH0201/HG 2\n.A STN2 19871025 C DH02/HG 1/DH0201/HG 2\n.A STN3 20071028 C DH12/HG 1\n.A STN4 20061105 C DH01/HG 1\n.A STN5 20041030 C DH12/HG 1\n.A STN6 20010401 C DH12/HG 1\n.A STN7 20020401 C DH12/HG 1",
			"STN1 2006-10-29 07:00 HGIRZZZ 1 Z|STN1 2006-10-29 08:01 HGIRZZZ 2 Z|STN2 1987-10-25 07:00 HGIRZZZ 1 Z|STN2 1987-10-25 08:01 HGIRZZZ 2 Z|STN3 2007-10-28 17:00 HGIRZZZ 1 Z|STN4 2006-11-05 07:00 HGIRZZZ 1 Z|STN5 2004-10-30 17:00 HGIRZZZ 1 Z|STN6 2001-04-01 17:00 HGIRZZZ 1 Z|STN7 2002-04-01 18:00 HGIRZZZ 1 Z", "",
		},
		{
			"leniency: slashes that are missing", ".A DVT 20210921 MS DH0800 DVH13 /TAVRZN 69/HG 1 PP .5/PP/.25",
			"DVT 2021-09-21 15:00 TAVRZNZ 69 Z dur 1013|DVT 2021-09-21 15:00 HGIRZZZ 1 Z|DVT 2021-09-21 15:00 PPDRZZZ 0.5 Z dur 2001|DVT 2021-09-21 15:00 PPDRZZZ 0.25 Z dur 2001", "",
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			now := day
			if strings.HasPrefix(c.rule, "4.1.4: a tie") {
				now = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			}
			r := decode(t, c.text, now)
			var got []string
			for i := range r.Values {
				got = append(got, brief(&r.Values[i]))
			}
			if g := strings.Join(got, "|"); g != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.text, strings.ReplaceAll(g, "|", "\n     "), strings.ReplaceAll(c.want, "|", "\n     "))
			}
			var numbers []string
			for _, p := range r.Problems {
				if !p.Warning {
					numbers = append(numbers, fmt.Sprint(p.Number))
				}
			}
			if g := strings.Join(numbers, " "); g != c.errors {
				t.Errorf("%s\nerrors %s, want %s: %v", c.text, g, c.errors, r.Problems)
			}
		})
	}
}

// TestWarnings: text decoded in spite of the manual's rules causes a warning, and lost pieces are
// counted.
func TestWarnings(t *testing.T) {
	long := ".A STN1 20210307     " + strings.Repeat("/HG 1", 196)
	for _, c := range []struct {
		text           string
		warnings, lost int64
	}{
		{long, 1, 0}, // 1001 bytes: 5.3.6
		{strings.Replace(long, "  ", " ", 1), 0, 0},
		{".A STN1 20210307 /HG 1\n.A1 TA 1\n.A1 TX 2", 1, 0},
		{".A STN1 20210307 /HG 1\n.A1 TA 1\n.A2 TX 2", 0, 0},
		{".B AAA 20210307 /HG\nSTNA1:Kansas City:72\n.END", 0, 0},
		{".B AAA 20210307 /HG/TA\nSTNA1:Kansas City:72/50\n.END", 1, 0},
		{".A STN1 20210307 /HG 1\x00\x00.5", 1, 0},
		{".A STN1 20210307 /PP/ T", 1, 0},
		{".A STN1 20210307 /HG 1" + strings.Repeat(" ", 51) + "/TA 70/TX 80", 0, 2},
		{".ENDS\n", 0, 1},
		{" .END\nprose .A STN1 20210307 /HG 1", 0, 0},
		{".B AAA 20210307 /HG\nSTN1 1", 1, 0},
	} {
		if a := decode(t, c.text, day).Account; a.Warnings != c.warnings || a.Lost != c.lost {
			t.Errorf("%.60q: %d warnings, %d lost, want %d, %d", c.text, a.Warnings, a.Lost, c.warnings, c.lost)
		}
	}
}

// TestIsBalanced: an account that lacks one line or piece is not balanced.
func TestIsBalanced(t *testing.T) {
	balanced := shef.Account{Lines: 10, Blank: 1, Comment: 2, Text: 3, Data: 4, Pieces: 20, Extra: 2, ValuePieces: 12, LostPieces: 6, Control: 4, Lost: 6, Errors: 1}
	if !balanced.IsBalanced() {
		t.Fatal("a balanced account is not")
	}
	for i, spoil := range []func(a *shef.Account){
		func(a *shef.Account) { a.Lines++ }, func(a *shef.Account) { a.Blank++ }, func(a *shef.Account) { a.Comment++ }, func(a *shef.Account) { a.Text++ },
		func(a *shef.Account) { a.Data++ }, func(a *shef.Account) { a.Pieces++ }, func(a *shef.Account) { a.Extra++ }, func(a *shef.Account) { a.ValuePieces++ },
		func(a *shef.Account) { a.LostPieces++ }, func(a *shef.Account) { a.Control++ }, func(a *shef.Account) { a.Errors = 0 },
	} {
		a := balanced
		if spoil(&a); a.IsBalanced() {
			t.Errorf("%d: %+v is balanced", i, a)
		}
	}
}

// TestRanges: every stored value is within its text's meaning. A number with more than 10 digits on
// either side of its point causes error 78, as in shefit, and its neighbors are stored.
func TestRanges(t *testing.T) {
	table, err := shef.ReadTables(strings.NewReader("*1\nYW 1e300\n"), "t")
	if err == nil {
		t.Errorf("a factor of 1e300 is taken: %v", table)
	}
	for text, want := range map[string]string{
		"MVIRZZ -4340282346638999992606825777226317824.0000": "78",
		"PP " + strings.Repeat("1", 44) + ".":                "78",
		"HG 12345678901":                                     "78",
		"HG 1.12345678901":                                   "78",
		"HG .12345678901":                                    "78",
		"HG 1234567890.1234567890":                           "1234567890.1234567", // the nearest float64
		"HG -9999999999":                                     "-9999999999",
		"HG 0.1234567891":                                    "0.1234567891",
		"HG 0000000001.5":                                    "1.5",
		"DUS/TA 0.1":                                         "32.18",
		"DUS/TA 1.1":                                         "33.98", // float64 arithmetic gives 33.980000000000004
		"DUS/TA 9999999999":                                  "78",
	} {
		got := ""
		err := shef.ReadAll(strings.NewReader(".A AAA 20261110 Z DH12/"+text+"/DUE/HL 7\n"), "t", shef.Options{}, func(r *shef.Result) error {
			for _, p := range r.Problems {
				got += strconv.Itoa(p.Number)
			}
			for i := range r.Values[:max(len(r.Values)-1, 0)] {
				got += strconv.FormatFloat(r.Values[i].Value, 'f', -1, 64)
			}
			if n := len(r.Values); n == 0 || r.Values[n-1].Value != 7 || !r.Account.IsBalanced() || n+int(r.Account.Lost) != 2 {
				t.Errorf("%s: the neighbor is lost: %+v", text, r)
			}
			return nil
		})
		if err != nil || got != want {
			t.Errorf("%s: %s, want %s: %v", text, got, want, err)
		}
	}
	for v, want := range map[float64]bool{1e10: false, -1e10: false, math.NaN(): false, math.Inf(-1): false, 1e-12: false, 0: true, 999999.1234567891: true, 1e-10: true} {
		if got, ok := shef.Representable(v); ok != want || ok && got != v {
			t.Errorf("%v: %v, %v", v, got, ok)
		}
	}
}

// TestTextAfterValue: text after a value without a slash is lost and counted (HEC's example).
func TestTextAfterValue(t *testing.T) {
	for text, want := range map[string][2]int64{"HG 1 2/TA 3": {2, 1}, "HG 1 TA 3/HL 4": {3, 0}, "HG 1 X/TA 3": {2, 1}, "HG 1 2 3/TA 3": {2, 1}, "HG 1 'a' 2/TA 3": {2, 1}} {
		err := shef.ReadAll(strings.NewReader(".A AAA 20261110 Z DH12/"+text+"\n"), "t", shef.Options{}, func(r *shef.Result) error {
			if a := &r.Account; int64(len(r.Values)) != want[0] || a.Lost != want[1] || !a.IsBalanced() {
				t.Errorf("%s: %d values, %+v, want %d and %d lost", text, len(r.Values), a, want[0], want[1])
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestLostWithoutSlash: a lost value is counted even if no slash separates it from what precedes it.
func TestLostWithoutSlash(t *testing.T) {
	const body = ".B AAA 20261110 Z DH12/HG\n"
	for text, want := range map[string][2]int64{
		".E AAA 20261110 Z DH12/HG 1":                  {0, 1}, // error 45: no interval
		".E AAA 20261110 Z DH12/HG 1/2":                {0, 2},
		".E AAA 20261110 Z DH12/HG/1/2":                {0, 2},
		body + "STN1 1 2/3, STN2 4\n.END":              {2, 2}, // error 41: too many values
		body + "STN1 1/2/3, STN2 4\n.END":              {2, 2},
		".A AAA 20261110 Z DH12/TW 60 DD 20/TA 5":      {2, 1}, // read by Options.Lenient
		".A AAA 20261110 Z DH12/TW 60/DD 20/TA 5":      {2, 1},
		".A AAA 20261110 Z DH12/HG 1 X 2/TA 5":         {2, 1},
		".A AAA 20261110 Z DH12/HG 1 \"a\" \"b\"/TA 5": {2, 1}, // error 86: a comment without a value
	} {
		err := shef.ReadAll(strings.NewReader(text), "t", shef.Options{Now: day, Lenient: true}, func(r *shef.Result) error {
			if a := &r.Account; a.Values != want[0] || a.Lost != want[1] || !a.IsBalanced() {
				t.Errorf("%s: %d values, %d lost, want %d and %d: %v", text, a.Values, a.Lost, want[0], want[1], r.Problems)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestLenient: the two kinds of name fields are treated alike. Only with --lenient, the decoder
// reads what pyIEM reads of a real product after "dd 20". It counts and marks these values.
func TestLenient(t *testing.T) {
	const (
		table = ".BR EAX 1126 C DH07/TAIRZX/TAIRZN/PPDRZZ\nMCI:Kansas City Intl     :DH0700/ MM / 44 / 0.00\nP35:Bethany:72/50/0.1\nSTJ :St. Joseph  :DH0800/ 1 / 2 / 0.3\nBB02:KANSAS CITY:23 4.8/1\n.END\n"
		buoy  = ".A 21C 211023 C DH1025/ff 9/dd 20/TW 60/VV 97\n.A1 T 55.0000/Hw 1.0000/DC2110231038\n: 1000 yards East of Kings Park Beach.\n"
	)
	for _, c := range []struct {
		text    string
		lenient bool
		want    string
		rescued int64
	}{
		{table, false, "MCI TA -9999 Z, MCI TA 44 Z, MCI PP 0 Z, P35 TA 72 Z, P35 TA 50 Z, P35 PP 0.1 Z, STJ TA 1 Z, STJ TA 2 Z, STJ PP 0.3 Z, BB0223 TA 4.8 Z, BB0223 TA 1 Z", 0},
		{buoy, false, "", 0},
		{buoy, true, "21C TW 60 Q, 21C HW 1 Q", 2},
		{".A AAA 20261110 Z DH12/DX 1/HG 2R/TA 3\n.A BBB 20261110 Z DH12/HG 1\n", true, "AAA HG 2 R, AAA TA 3 Q, BBB HG 1 Z", 2},
		{".A AAA 20261110 Z DH12/DM99/HG 2\n", true, "", 0}, // a wrong date makes all times uncertain
	} {
		var got []string
		err := shef.ReadAll(strings.NewReader(c.text), "t", shef.Options{Now: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), Lenient: c.lenient}, func(r *shef.Result) error {
			for i := range r.Values {
				g := &r.Values[i]
				got = append(got, fmt.Sprintf("%s %s %v %c", g.Station, g.Code.PE(), g.Value, g.Quality))
			}
			if !r.Account.IsBalanced() || r.Account.Rescued != c.rescued {
				t.Errorf("%q: %+v, want %d rescued", c.text, r.Account, c.rescued)
			}
			return nil
		})
		if s := strings.Join(got, ", "); err != nil || s != c.want {
			t.Errorf("%q, lenient %v: %s, want %s: %v", c.text, c.lenient, s, c.want, err)
		}
	}
}

// TestYears: no step, relative date or null leads to a time outside of the years that can be coded.
func TestYears(t *testing.T) {
	nulls := strings.Repeat("/", 3_615_290) // 99 years each: as months, their sum exceeds 32 bits and seems to be 1769
	for _, c := range []struct{ text, want, errors string }{
		{".E STN1 21991230 Z DH00/HG/DIH12/1/2/3/4/5/6", "2199-12-30 00 2199-12-30 12 2199-12-31 00 2199-12-31 12 2200-01-01 00 ", "39"},
		{".E STN1 17530101 Z DH12/HG/DIN-30/1/2/3" + strings.Repeat("/", 100) + "4/5", "1753-01-01 12 1753-01-01 11 1753-01-01 11 ", "39"},
		{".A STN1 21991231 Z DH12/DRH+12/HG 1/DRH+99/HG 2", "2200-01-01 00 ", "39"},
		{".A STN1 17530101 J DH00/HG 1/DRS-1/HG 2", "1752-12-31 16 ", "39"},
		{".A STN1 21991231 H DH24/HG 1/DRS+1/HG 2", "2200-01-01 10 ", "39"},
		{".E STN1 20000101 Z DH00/HG/DIY99/1" + nulls + "2/3", "2000-01-01 00 ", "39"},
		{".E STN1 20000131 Z DH00/HG/DIE99/1" + nulls + "2/3", "2000-01-31 00 ", "39"},
		{".E STN1 20000101 Z DH00/HG/DID-99/1" + nulls + "2/3", "2000-01-01 00 ", "39"},
	} {
		r := decode(t, c.text+"\n", day)
		times, errors := "", ""
		for i := range r.Values {
			times += time.Unix(r.Values[i].Time, 0).UTC().Format("2006-01-02 15 ")
		}
		for _, p := range r.Problems {
			if !p.Warning {
				errors += strconv.Itoa(p.Number)
			}
		}
		if times != c.want || errors != c.errors {
			t.Errorf("%.60s: %s, want %s; errors %s, want %s", c.text, times, c.want, errors, c.errors)
		}
	}
}

// TestFilter: a pattern with ! excludes wherever it is in the list, and of the other patterns one must
// match.
func TestFilter(t *testing.T) {
	r := decode(t, ".A LCHA1 1110 /HG 1\n.A LCHX1 1110 /HG 1\n.A OTHR1 1110 /HG 1\n", day)
	for patterns, want := range map[string]string{
		"":               "LCHA1 LCHX1 OTHR1 ",
		"lch*":           "LCHA1 LCHX1 ",
		"LCH*,!LCHX1":    "LCHA1 ",
		"!LCHX1,LCH*":    "LCHA1 ",
		"!LCHX1,LCHX1":   "",
		"!LCHX1":         "LCHA1 OTHR1 ",
		"!LCHX1,!OTHR*":  "LCHA1 ",
		"!OTHR1,LCHX1,X": "LCHX1 ",
	} {
		f := shef.Filter{}
		if patterns != "" {
			f.Stations = strings.Split(patterns, ",")
		}
		values, got := slices.Clone(r.Values), ""
		dropped := f.Apply(&values)
		for i := range values {
			got += values[i].Station.String() + " "
		}
		if got != want || dropped != 3-len(values) {
			t.Errorf("%s selects %s, want %s; %d dropped", patterns, got, want, dropped)
		}
	}
}
