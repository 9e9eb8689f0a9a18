package metstat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/barograph/barograph/record"
)

const (
	head24 = "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_UNITS FCST_LEV OBS_VAR OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n"
	head22 = "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n"
	head21 = "VERSION MODEL FCST_LEAD FCST_VALID_BEG FCST_VALID_END OBS_LEAD OBS_VALID_BEG OBS_VALID_END FCST_VAR FCST_LEV OBS_VAR OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n"

	common24 = "V12.0.0 GFS run1 1080000 20241101_180000 20241101_180000 000000 20241101_173000 20241101_183000 TMP K Z2 T C Z3 ANLYS FULL NEAREST 4 >273 >=0 ==0.25 0.05000 "
	times    = "060000 20241101_180000 20241101_180000 000000 20241101_180000 20241101_180000"
	plain24  = "V12.0.0 GFS NA " + times + " TMP K Z2 TMP K Z2 ANLYS FULL NEAREST 1 NA NA NA NA "
)

// readAll reads text with Options{rows}; the batches are clones.
func readAll(t testing.TB, text string, rows int) []*record.Batch {
	t.Helper()
	return drain(t, NewReader(strings.NewReader(text), "x.stat", Options{Rows: rows}))
}

// drain reads to the end and checks every batch.
func drain(t testing.TB, r *Reader) []*record.Batch {
	t.Helper()
	var all []*record.Batch
	var b record.Batch
	total := int64(0)
	for {
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBatch(t, &b)
		total += int64(b.Lines)
		all = append(all, b.Clone())
	}
	if total != r.Lines() {
		t.Errorf("the batches have %d lines, the reader counted %d", total, r.Lines())
	}
	return all
}

func checkBatch(t testing.TB, b *record.Batch) {
	t.Helper()
	n := b.Len()
	if b.Lines != n+len(b.Rejects) || b.Lines == 0 {
		t.Errorf("%d lines, %d stored, %d rejected", b.Lines, n, len(b.Rejects))
	}
	if b.Type == nil {
		if n > 0 {
			t.Error("records without a type")
		}
		return
	}
	for _, l := range []int{len(b.Lead), len(b.Valid), len(b.ValidEnd), len(b.ObsLead), len(b.ObsBeg), len(b.ObsEnd), len(b.Line)} {
		if l != n {
			t.Errorf("a fixed column of %d rows in a batch of %d", l, n)
		}
	}
	for _, c := range b.Type.Columns {
		l := 0
		if c.Kind == record.Text {
			l = len(b.Text[c.Slot])
		} else {
			l = len(b.Num[c.Slot])
		}
		if l != n {
			t.Errorf("%s.%s: %d rows in a batch of %d", b.Type.Name, c.Name, l, n)
		}
	}
	if b.Type.Group != nil && len(b.GroupEnd) != n {
		t.Errorf("%s: %d ends of groups in a batch of %d", b.Type.Name, len(b.GroupEnd), n)
	}
	seen := map[record.Header]bool{}
	for _, h := range b.Headers {
		if seen[h] {
			t.Errorf("header twice in one batch: %v", h)
		}
		seen[h] = true
	}
}

// one reads a text with one valid line and returns its batch.
func one(t *testing.T, text string) *record.Batch {
	t.Helper()
	all := readAll(t, text, 0)
	if len(all) != 1 || all[0].Len() != 1 {
		for _, b := range all {
			for _, r := range b.Rejects {
				t.Error(r.Reason)
			}
		}
		t.Fatalf("%d batches, want one of one record", len(all))
	}
	return all[0]
}

// num is column name of row 0.
func num(t *testing.T, b *record.Batch, name string) float64 {
	t.Helper()
	c, ok := b.Type.Column(name)
	if !ok {
		t.Fatalf("%s has no column %s", b.Type.Name, name)
	}
	return b.Num[c.Slot][0]
}

func TestHeaderTimesAndValues(t *testing.T) {
	b := one(t, head24+common24+"SL1L2 3600 1.5 -2.25 3 4e-05 5. NA\n")
	want := record.Header{"V12.0.0", "GFS", "run1", "TMP", "K", "Z2", "T", "C", "Z3", "ANLYS", "FULL", "NEAREST", "4", ">273", ">=0", "==0.25", "0.05"}
	if *b.Header(0) != want {
		t.Errorf("header %q, want %q", *b.Header(0), want)
	}
	const valid = 1730484000 // 2024-11-01 18:00 UTC
	if b.Lead[0] != 108*3600 || b.Valid[0] != valid || b.ValidEnd[0] != valid || b.Init(0) != valid-108*3600 {
		t.Errorf("lead %d, valid %d to %d", b.Lead[0], b.Valid[0], b.ValidEnd[0])
	}
	if b.ObsLead[0] != 0 || b.ObsBeg[0] != valid-1800 || b.ObsEnd[0] != valid+1800 || b.HasPlainTimes(0) || b.Line[0] != 2 || b.File != "x.stat" {
		t.Errorf("obs %d from %d to %d, line %d", b.ObsLead[0], b.ObsBeg[0], b.ObsEnd[0], b.Line[0])
	}
	for i, w := range []float64{3600, 1.5, -2.25, 3, 4e-5, 5, math.NaN()} {
		if got := b.Num[i][0]; got != w && !(math.IsNaN(got) && math.IsNaN(w)) {
			t.Errorf("column %s = %v, want %v", b.Type.Columns[i].Name, got, w)
		}
	}
}

func TestLayouts(t *testing.T) {
	const tail = " ANLYS FULL NEAREST 1 NA NA NA NA SL1L2 1 2 3 4 5 6 7\n"
	for _, c := range []struct {
		name, text        string
		descr, units, lev string
	}{
		{"24 columns", head24 + "V8.1 GFS D " + times + " TMP K Z2 TMP K Z2" + tail, "D", "K", "Z2"},
		{"22 columns", head22 + "V8.0 GFS D " + times + " TMP Z2 TMP Z2" + tail, "D", "NA", "Z2"},
		{"21 columns", head21 + "V5.0 GFS " + times + " TMP Z2 TMP Z2" + tail, "NA", "NA", "Z2"},
		{"none", "V8.1 GFS D " + times + " TMP K Z2 TMP K Z2" + tail, "D", "K", "Z2"},
		{"all columns named", strings.TrimSpace(head24) + " TOTAL FBAR OBAR FOBAR FFBAR OOBAR MAE\nV8.1 GFS D " + times + " TMP K Z2 TMP K Z2" + tail, "D", "K", "Z2"},
		{"byte order mark, tabs, CRLF", "\xef\xbb\xbf" + strings.ReplaceAll(strings.TrimSpace(head24), " ", "\t") + "\r\nV8.1\tGFS\tD " + times + " TMP K Z2 TMP K Z2" + strings.TrimSpace(tail) + "\r\n", "D", "K", "Z2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := one(t, strings.Replace(c.text, "Z2ANLYS", "Z2 ANLYS", 1))
			h := b.Header(0)
			if h[record.Descr] != c.descr || h[record.FcstUnits] != c.units || h[record.ObsUnits] != c.units || h[record.FcstLev] != c.lev || h[record.ObsVar] != "TMP" || h[record.Alpha] != "NA" {
				t.Errorf("header %q", *h)
			}
			if num(t, b, "mae") != 7 || b.Lead[0] != 6*3600 {
				t.Errorf("mae %v, lead %d", num(t, b, "mae"), b.Lead[0])
			}
		})
	}
}

func TestHeaderLinesWithinAFile(t *testing.T) {
	const tail = " ANLYS FULL NEAREST 1 NA NA NA NA FHO 1 0.2 0.3 0.4\n"
	all := readAll(t, head24+plain24+"FHO 1 0.2 0.3 0.4\n\n \t\n"+
		head21+"V5.0 GFS "+times+" TMP Z2 TMP Z2"+tail+head24+plain24+"FHO 5 0.6 0.7 0.8\n", 0)
	if len(all) != 1 || all[0].Len() != 3 || all[0].Line[1] != 6 || len(all[0].Headers) != 2 {
		t.Fatalf("%d batches, %d records", len(all), all[0].Len())
	}
}

// A line with other padding has the same header, which the batch has once.
func TestPaddingDoesNotMakeAHeader(t *testing.T) {
	all := readAll(t, head24+plain24+"FHO 1 0.2 0.3 0.4\n"+strings.ReplaceAll(plain24, " ", "   ")+"FHO 1 0.2 0.3 0.4\n"+
		strings.Replace(plain24, "NA NA NA NA", "NA NA NA -9999", 1)+"FHO 1 0.2 0.3 0.4\n", 0)
	if len(all) != 1 || all[0].Len() != 3 || len(all[0].Headers) != 1 {
		t.Fatalf("%d headers, want 1", len(all[0].Headers))
	}
}

// lineOf is a line of MET 12, or of the version that the tail begins with.
func lineOf(tail string) string {
	if version, rest, _ := strings.Cut(tail, " "); version[0] == 'V' && version[1] <= '9' {
		return strings.Replace(plain24, "V12.0.0", version, 1) + rest + "\n"
	}
	return plain24 + tail + "\n"
}

func TestValues(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		tail, column string
		want         float64
	}{
		{"V4.1 SL1L2 10 1 2 3 4 5", "mae", nan},
		{"SL1L2 10 1 2 3 4 5 -9999", "mae", nan},
		{"SL1L2 10 1 2 3 4 5 -9999.00000", "mae", nan},
		{"SL1L2 NA 1 2 3 4 5 6", "total", nan},
		{"SL1L2 3600. 1 2 3 4 5 6", "total", 3600},
		{"SL1L2 10 1 2 3 4 5 0.269635266E+02", "mae", 26.9635266},
		{"VL1L2 10 1 2 3 4 5 6 7 8 9 10 11 12 13", "dir_mse", 13},
		{"V8.1.2 VL1L2 10 1 2 3 4 5 6 7 8 9", "o_speed_bar", 9},
		{"V11.1.0 VL1L2 10 1 2 3 4 5 6 7 8 9", "dir_mse", nan},
		{"VAL1L2 10 1 2 3 4 5 6 7 8 9 10 11 12 13", "dira_mae", 12},
		{"V10.1 VAL1L2 10 1 2 3 4 5 6 7", "fa_speed_bar", nan},
		{"V10.1 CTC 10 1 2 3 4", "ec_value", 0.5},
		{"CTC 10 1 2 3 4 NA", "ec_value", 0.5},
		{"CTC 10 1 2 3 4 0.25", "ec_value", 0.25},
		{"CTC 10 1.5 2 3 4 0.25", "fy_oy", 1.5},
		{"V10.0 MCTC 10 2 1 2 3 4", "ec_value", 0.5},
		{"V10.0 MCTC 18 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "ec_value", 0.25},
		{"MCTC 18 2 1 1 1 1 0.3", "ec_value", 0.3},
		{"V10.0 MCTS 18 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "ec_value", 0.25},
	} {
		t.Run(c.tail, func(t *testing.T) {
			got := num(t, one(t, head24+lineOf(c.tail)), c.column)
			if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%s = %v, want %v", c.column, got, c.want)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		tail string
		want []float64
		last string // a fixed column after the group, or before it
		val  float64
	}{
		{"PCT 9 3 0 1 2 0.5 3 4 1", []float64{0, 1, 2, 0.5, 3, 4, 1}, "n_thresh", 3},
		{"PCT 9 1 0.5", []float64{0.5}, "total", 9},
		{"PCT 0 NA", nil, "total", 0},
		{"PSTD 9 2 0.1 2 3 4 5 6 0.7 0.8 9 10 0.11 12 13 0.14 0.15 0 1", []float64{0, 1}, "bss_smpl", 0.15},
		{"PJC 9 2 0 0.1 0.2 0.3 0.4 0.5 NA 1", []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, math.NaN(), 1}, "n_thresh", 2},
		{"PRC 9 2 0 1 NA 1", []float64{0, 1, math.NaN(), 1}, "n_thresh", 2},
		{"ECLV 9 0.5 0.6 2 0.05 1 0.1 -2", []float64{0.05, 1, 0.1, -2}, "value_baser", 0.6},
		{"RHIST 9 3 1 2 3", []float64{1, 2, 3}, "n_rank", 3},
		{"PHIST 9 0.05 2 4 5", []float64{4, 5}, "bin_size", 0.05},
		{"RELP 9 2 4 5", []float64{4, 5}, "n_ens", 2},
		{"V8.1 ORANK 9 1 SID 34 -118 NA 0 5 0.5 3 2 2 11 12 QC 1 2 3 4 5 6", []float64{11, 12}, "spread_plus_oerr", 6},
		{"ORANK 9 1 SID 34 -118 NA 0 5 0.5 3 2 2 11 12 QC 1 2 3 4 5 6 7 8 9", []float64{11, 12}, "fcst_climo_stdev", 9},
		{"MCTC 10 2 1 2 3 4 0.5", []float64{1, 2, 3, 4}, "n_cat", 2},
	} {
		t.Run(c.tail, func(t *testing.T) {
			b := one(t, head24+lineOf(c.tail))
			if got := b.Repeats(0); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("group %v, want %v", got, c.want)
			}
			if got := num(t, b, c.last); got != c.val {
				t.Errorf("%s = %v, want %v", c.last, got, c.val)
			}
		})
	}
}

func TestWords(t *testing.T) {
	b := one(t, head24+lineOf("V11.1 MPR 9 4 KDEN 39.8 -104.7 850 NA 280.5 281 V NA NA NA"))
	if b.Text[0][0] != "KDEN" || b.Text[1][0] != "V" || num(t, b, "mp_index") != 4 || !math.IsNaN(num(t, b, "fcst_climo_stdev")) {
		t.Errorf("%v %v", b.Text, b.Num)
	}
	b = one(t, head24+plain24+"SSIDX A/1 B 1 48 32 0.99\n")
	if b.Text[0][0] != "A/1" || b.Text[1][0] != "B" || num(t, b, "ss_index") != 0.99 {
		t.Errorf("%v %v", b.Text, b.Num)
	}
}

func TestBatches(t *testing.T) {
	var text strings.Builder
	text.WriteString(head24)
	for i := range 10 {
		fmt.Fprintf(&text, "%sFHO %d 2 3 4\n%sRHIST 9 2 %d 1\n%s\n", plain24, i, plain24, i, "V12 cut")
	}
	for _, rows := range []int{1, 3, 7, 100} {
		count := map[string]int{}
		next := map[string]float64{}
		for _, b := range readAll(t, text.String(), rows) {
			if b.Lines > rows {
				t.Errorf("%d lines in a batch of %d", b.Lines, rows)
			}
			name := ""
			if b.Type != nil {
				name = b.Type.Name
			}
			count[name] += b.Lines
			for i := range b.Len() { // order is kept, headers are right in every batch
				got := b.Num[0][i]
				if name == "RHIST" {
					got = b.Repeats(i)[0]
				}
				if got != next[name] || b.Header(i)[record.Model] != "GFS" {
					t.Errorf("rows %d: %s record %v out of order", rows, name, got)
				}
				next[name]++
			}
		}
		if fmt.Sprint(count) != "map[:10 FHO:10 RHIST:10]" {
			t.Errorf("rows %d: %v", rows, count)
		}
	}
}

// A batch is handed over before its bytes grow without bound; a line without end is one reject.
func TestBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: one goroutine reads it all")
	}
	wide := plain24 + "RHIST 9 100000" + strings.Repeat(" 1", 100000) + "\n"
	r := NewReader(strings.NewReader(strings.Repeat(wide, 200)), "x", Options{Rows: 1 << 30})
	for _, b := range drain(t, r) {
		if b.Lines*len(wide) > batchBytes+len(wide) {
			t.Errorf("%d lines of %d bytes in one batch", b.Lines, len(wide))
		}
	}
	endless := io.MultiReader(strings.NewReader(head24), io.LimitReader(zeros{}, 64<<20))
	r = NewReader(endless, "x", Options{})
	all := drain(t, r)
	if len(all) != 1 || len(all[0].Rejects) != 1 {
		t.Errorf("%d batches", len(all))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestStreamErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	r := NewReader(io.MultiReader(strings.NewReader(head24+plain24+"FHO 1 0.2 0.3 0.4\n"), iotest.ErrReader(broken)), "x.stat", Options{})
	var b record.Batch
	for range 2 {
		if err := r.Next(&b); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "x.stat:2 cannot be read beyond this line: ") {
			t.Errorf("error %v", err)
		}
	}
	for name, text := range map[string]string{"empty": "", "only a header line": head24, "blank": "\n\n  \n"} {
		r := NewReader(iotest.OneByteReader(strings.NewReader(text)), "x", Options{})
		for range 2 {
			if err := r.Next(&b); !errors.Is(err, io.EOF) {
				t.Errorf("%s: error %v, want io.EOF", name, err)
			}
		}
	}
	got := drain(t, NewReader(iotest.OneByteReader(strings.NewReader(head24+plain24+"FHO 1 0.2 0.3 0.4\n")), "x", Options{}))
	if len(got) != 1 || got[0].Len() != 1 {
		t.Error("a stream of single bytes is read otherwise")
	}
}

// A reader that is reset gives what a new one gives.
func TestReset(t *testing.T) {
	texts := []string{
		head24 + plain24 + "FHO 1 0.2 0.3 0.4\n" + plain24 + "XYZ 1\n" + plain24 + "SL1L2 1 2 3 4 5 6 7\n",
		plain24 + "SL1L2 1 2 3 4 5 6 7\n" + plain24 + "MPR 9 4 KDEN 39.8 -104.7 850 NA 280.5 281 V NA NA NA\n",
		"VERSION AMODEL\nV12 x\n", "", head21 + "V5.0 GFS " + times + " TMP Z2 TMP Z2 ANLYS FULL NEAREST 1 NA NA NA NA FHO 1 0.2 0.3 0.4",
	}
	again := NewReader(strings.NewReader(plain24+"FHO 1 0.2 0.3 0.4\n"+head22+plain24+"FHO"), "other", Options{})
	var b record.Batch
	if err := again.Next(&b); err != nil { // left in the middle
		t.Fatal(err)
	}
	for _, text := range texts {
		again.Reset(strings.NewReader(text), "x.stat")
		got, want := drain(t, again), readAll(t, text, 0)
		if len(got) != len(want) {
			t.Fatalf("%d batches, want %d", len(got), len(want))
		}
		for i := range got {
			var hash record.Hasher
			if got[i].Type != want[i].Type || got[i].File != "x.stat" || fmt.Sprint(got[i].Rejects) != fmt.Sprint(want[i].Rejects) || hash.DigestOf(got[i]) != hash.DigestOf(want[i]) {
				t.Errorf("batch %d of %q differs", i, text)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		tok  string
		want int32
		ok   bool
	}{
		{"000000", 0, true},
		{"NA", 0, true},
		{"060000", 21600, true},
		{"1080000", 388800, true},
		{"1200000", 432000, true},
		{"-030015", -10815, true},
		{"0", 0, true},
		{"24", 86400, true}, // hours, as MET reads few digits
		{"384", 1382400, true},
		{"1200", 4320000, true},
		{"9999", 35996400, true},
		{"60000", 0, false}, // 60,000 hours or 06:00:00
		{"-6", -21600, true},
		{"-9999", 0, true}, // missing
		{"003059", 1859, true},
		{"006000", 0, false},
		{"000060", 0, false},
		{"", 0, false},
		{"-", 0, false},
		{"12h", 0, false},
		{"999995959", 359999999, true},
		{"9999959590", 0, false},
		{"+030000", 0, false},
	} {
		got, ok := parseLead([]byte(c.tok))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("parseLead(%q) = %d, %v", c.tok, got, ok)
		}
		if back, _ := parseLead(appendLead(nil, got)); ok && back != got {
			t.Errorf("appendLead(%d) = %q", got, appendLead(nil, got))
		}
	}
	for _, tok := range []string{"20240229_000000", "20000229_235959", "19691231_235959", "16780101_000000", "22611231_235959"} {
		u, ok := parseTime([]byte(tok))
		if back := string(appendTime(nil, u)); !ok || back != tok {
			t.Errorf("%s comes back as %s", tok, back)
		}
	}
	for _, tok := range []string{"20230229_000000", "19000229_000000", "20240230_000000", "20241301_000000", "20240001_000000", "20240100_000000", "20240101_240000", "20240101_006000", "20240101_000060", "20240101 000000", "2024010_000000", "20240x01_000000", "16771231_235959", "22620101_000000"} {
		if _, ok := parseTime([]byte(tok)); ok {
			t.Errorf("%s is taken for a time", tok)
		}
	}
}

// split, eight bytes at a time, finds the tokens that a plain loop finds.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	rd := NewReader(strings.NewReader(""), "", Options{})
	alphabet := []byte(" \t\r\x00\x1f!aZ~\x7f\x80\xa0\xff")
	for range 20_000 {
		rd.line = make([]byte, r.IntN(40))
		for i := range rd.line {
			rd.line[i] = alphabet[r.IntN(len(alphabet))]
		}
		rd.split()
		var want [][]byte
		from := -1
		for i, c := range append(slices.Clip(rd.line), ' ') {
			switch {
			case c > ' ' && from < 0:
				from = i
			case c <= ' ' && from >= 0:
				want, from = append(want, rd.line[from:i]), -1
			}
		}
		if len(want) != len(rd.tok) {
			t.Fatalf("%q: %d tokens, want %d", rd.line, len(rd.tok), len(want))
		}
		for i := range want {
			if !bytes.Equal(want[i], rd.token(i)) {
				t.Fatalf("%q: token %d is %q, want %q", rd.line, i, rd.token(i), want[i])
			}
		}
	}
}

// Lines with the same header, lead and times that differ only in the columns of identity are different
// records: none of them replaces another.
func TestRepeatedHeaders(t *testing.T) {
	var text strings.Builder
	text.WriteString(head24)
	want := 0
	line := func(format string, a ...any) {
		fmt.Fprintf(&text, plain24+format+"\n", a...)
		want++
	}
	for i := range 50 {
		line("MPR 50 %d KDEN 39.8 -104.7 850 NA 280.5 281 2 NA NA NA NA NA", i)
		line("ORANK 50 %d KDEN 34 -118 NA 0 5 0.5 3 2 2 11 12 2 1 2 3 4 5 6 7 8 9", i)
		line("SSVAR 50 50 %d%s", i, strings.Repeat(" 1", 32))
		line("SEEPS_MPR S%d 39.8 -104.7 1 2 2 0 1 1 1 1 1 1", i)
		line("ISC 50 64 1 1 6 %d 1 2 3 4 0.5 6", i)
		line("ISC 50 64 %d 1 6 0 1 2 3 4 0.5 6", i+2)
		line("SSIDX GFS M%d 1 2 3 0.5", i)
		line("GENMPR 50 %d AL01 24 0.5 20241101_000000 6 10 20 30 11 21 31 100 060000 000000 FYOY FYOY", i)
	}
	for _, name := range []string{"SL1L2 1 2 3 4 5 6 7", "SAL1L2 1 2 3 4 5 6 7", "FHO 1 0.2 0.3 0.4", "PCT 9 1 0.5", "PRC 9 1 0.5", "PJC 9 1 0.5"} {
		line("%s", name)
	}
	keys := map[record.Key]bool{}
	for _, b := range readAll(t, text.String(), 0) {
		var hash record.Hasher
		hash.SetBatch(b)
		for _, r := range b.Rejects {
			t.Error(r.Reason)
		}
		for i := range b.Len() {
			keys[hash.Key(i)] = true
		}
	}
	if len(keys) != want {
		t.Errorf("%d identities of %d lines", len(keys), want)
	}
}

// Two layouts may have equally many columns although one lacks FCST_UNITS and the other OBS_UNITS. The same
// text is then a different header in each of them.
func TestEquallyLongLayouts(t *testing.T) {
	withoutFcst := strings.Replace(head24, " FCST_UNITS", "", 1)
	withoutObs := strings.Replace(head24, " OBS_UNITS", "", 1)
	line := "V12.0.0 GFS NA " + times + " TMP NA Z2 NA Z3 ANLYS FULL NEAREST 1 NA NA NA NA FHO 1 0 0 0\n"
	all := readAll(t, withoutFcst+line+withoutObs+line, 0)
	if len(all) != 1 || all[0].Len() != 2 {
		t.Fatalf("%d batches", len(all))
	}
	first, second := all[0].Header(0), all[0].Header(1)
	if first[record.ObsVar] != "Z2" || first[record.FcstLev] != "NA" || first[record.ObsUnits] != "NA" {
		t.Errorf("without FCST_UNITS: %q", first)
	}
	if second[record.ObsVar] != "NA" || second[record.FcstLev] != "Z2" || second[record.FcstUnits] != "NA" {
		t.Errorf("without OBS_UNITS: %q", second)
	}
}
