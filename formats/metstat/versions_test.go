package metstat

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/record"
)

// writtenColumns are the numbers of fixed columns that MET's versions write, each from a version on: MET's
// data/table_files/met_header_columns_V2.0.txt to V12.0.txt, without layouts in another order. Columns of TC-Pairs
// include five of the common ones (STORM_ID, CYCLONE, STORM_NAME, INIT_MASK, VALID_MASK), which the reader stores like those of the type.
const writtenColumns = `
CNT 2.0:71 4.2:77 5.1:88 6.1:94 9.1:97 11.0:100
CTC 2.0:5 11.0:6
CTS 2.0:60 4.2:93 11.0:97
DMAP 9.0:21 10.1:24
ECNT 8.0:12 10.0:16 11.0:25 12.0:27
GRAD 6.1:8 8.1:10
MCTC 3.0:2 10.1:3
MCTS 3.0:16 10.1:20
MPR 6.1:13 12.0:15
NBRCTS 2.0:60 4.2:93
ORANK 3.0:12 4.2:15 6.0:16 8.0:19 10.0:20 12.0:22
ORANK 5.0:13 5.1:15
RPS 9.0:8 9.1:9
SAL1L2 4.1:6 4.2:7
SL1L2 4.1:6 4.2:7
SSVAR 4.0:12 4.1:35
TCMPR 5.1:71 11.0:76
VAL1L2 2.0:8 11.0:10 12.0:14
VCNT 7.0:55 11.0:63 12.0:76
VL1L2 2.0:8 7.0:10 12.0:14
FHO 2.0:4
RHIST 8.0:2
RELP 6.1:2
`

// TestColumnsOfVersions: a line has all columns of MET 12, or as many as MET wrote before a version that wrote more. The
// number is also accepted in older versions, because development versions were in use.
func TestColumnsOfVersions(t *testing.T) {
	before := map[string]map[int]string{} // by line type and number of columns: the first version that wrote more
	for line := range strings.Lines(strings.TrimSpace(writtenColumns)) {
		words := strings.Fields(line)
		if before[words[0]] == nil {
			before[words[0]] = map[int]string{}
		}
		for i, word := range words[1:] {
			_, columns, _ := strings.Cut(word, ":")
			n, err := strconv.Atoi(columns)
			if err != nil {
				t.Fatal(err)
			}
			if i+2 < len(words) {
				before[words[0]][n], _, _ = strings.Cut(words[i+2], ":")
			} else if lt, ok := record.TypeByName(words[0]); !ok || len(lt.Columns) != n && n != 15 { // ORANK has two lines
				t.Fatalf("%s has %d columns", words[0], n)
			}
		}
	}
	number := func(version string) (n int) { // 10.1 is 1001
		major, minor, _ := strings.Cut(version, ".")
		a, _ := strconv.Atoi(major)
		b, _ := strconv.Atoi(minor)
		return 100*a + b
	}
	versions := strings.Fields("2.0 3.0 3.1 4.0 4.1 4.2 5.0 5.1 5.2 6.0 6.1 7.0 7.1 8.0 8.1 9.0 9.1 10.0 10.1 11.0 11.1 12.0 12.1")
	for name, more := range before {
		lt, _ := record.TypeByName(name)
		for _, v := range versions {
			for n := range len(lt.Columns) + 2 {
				want := n == len(lt.Columns) || more[n] != "" && number(v) < number(more[n])
				if got := badLength(lt, n, 0, []byte("V"+v+".1")); (got == "") != want {
					t.Errorf("%s of MET %s with %d columns: %q", name, v, n, got)
				}
			}
		}
	}
	sl1l2, _ := record.TypeByName("SL1L2")
	rhist, _ := record.TypeByName("RHIST")
	for _, c := range []struct {
		lt   *record.LineType
		n    int
		want string
	}{
		{sl1l2, 8, "1 column too many: SL1L2 has at most 7 in MET 12"},
		{sl1l2, 9, "2 columns too many: SL1L2 has at most 7 in MET 12"},
		{sl1l2, 5, "the line is truncated: it has 5 columns of SL1L2, but MET V4.1 writes 6 or 7"},
		{rhist, 1, "the line is truncated: it has 1 columns of RHIST, but MET V4.1 writes 2 in addition to the repeating ones"},
	} {
		if got := badLength(c.lt, c.n, 0, []byte("V4.1")); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestVersions: the number of a version, 100·major + minor.
func TestVersions(t *testing.T) {
	for text, want := range map[string]version{
		"V10.1.2": 1001, "V5.0": 500, "V12": 1200, "V4.10": 410, "V12.0.0-beta": 1200, "V3.0.1": 300, "V8.1x9": 801, "Vx": 0, "V": 0, "V9:1": 900, "V9/1": 900,
		"V123456789012345678901234567890.1": 12300, "V1.123456789012345678901234567890": 223, "V99.1": 9901,
	} {
		if got := versionOf([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// TestEveryDay: a time is a day of the calendar, as for package time.
func TestEveryDay(t *testing.T) {
	for _, year := range []int{1678, 1900, 2000, 2023, 2024, 2261} {
		for month := range 14 {
			for day := range 33 {
				text := fmt.Sprintf("%04d%02d%02d_%02d%02d%02d", year, month, day, day%24, month*4, day)
				want, err := time.Parse("20060102_150405", text)
				got, ok := parseTime([]byte(text))
				if ok != (err == nil) || ok && got != want.Unix() {
					t.Errorf("%s: %d, %t; want %d, %v", text, got, ok, want.Unix(), err)
				}
				if ok && string(appendTime(nil, got)) != text {
					t.Errorf("%s is written as %s", text, appendTime(nil, got))
				}
			}
		}
	}
	for text, want := range map[string]bool{
		"20240101_235959": true, "20240101_240000": false, "20240101_236000": false, "20240101_235960": false, "20240101_000000": true,
	} {
		if _, ok := parseTime([]byte(text)); ok != want {
			t.Errorf("%s: %t", text, ok)
		}
	}
	for seconds, want := range map[int32]string{
		0: "000000", 1: "000001", 59: "000059", 60: "000100", 3599: "005959", 3600: "010000", 86399: "235959", 86400: "240000", 388800: "1080000", 359999999: "999995959",
		-1: "-000001", -10815: "-030015",
	} {
		if got := string(appendLead(nil, seconds)); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
}

// TestAlpha: a significance level has one text, whatever its digits are.
func TestAlpha(t *testing.T) {
	for text, want := range map[string]string{
		"0.05": "0.05", "0.05000": "0.05", ".05": "0.05", "5e-2": "0.05", "0": "0", "0.0": "0", "1": "1", "1.000": "1", "NA": "NA", "-9999": "NA", "-9999.0": "NA",
		"-0.01": "", "1.01": "", "x": "", "": "", "nan": "",
	} {
		got, ok := canonicalAlpha([]byte(text))
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t; want %q", text, got, ok, want)
		}
	}
}

// TestPoints: the interpolation points are a whole number of at most 31 bits, or missing.
func TestPoints(t *testing.T) {
	for text, want := range map[string]string{
		"NA": "0", "0": "0", "4": "4", "2147483647": "2147483647", "2147483648": "", "-1": "", "a": "", "1.5": "", "0x1": "",
	} {
		b := readAll(t, head24+strings.Replace(plain24, "NEAREST 1", "NEAREST "+text, 1)+"FHO 1 0 0 0\n", 0)[0]
		if stored := want != ""; stored != (b.Len() == 1) || stored && b.Header(0)[record.InterpPnts] != want {
			t.Errorf("%s: %d stored, rejects %v", text, b.Len(), b.Rejects)
		}
	}
}
