package metstat

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// FuzzReader: for any bytes, the reader does not panic and counts every line once. The writer writes the
// stored records, and the reader reads the same records from that text.
func FuzzReader(f *testing.F) {
	seeds := []string{
		"", head24, head24 + plain24 + "FHO 1 0.2 0.3 0.4\n", head21 + "V5.0 GFS " + times + " TMP Z2 TMP Z2 ANLYS FULL NEAREST 1 NA NA NA NA SL1L2 1 2 3 4 5 6",
		head24 + common24 + "SL1L2 3600 1.5 -2.25 3 4e-05 5. NA\n" + head22,
		head24 + plain24 + "PCT 9 3 0 1 2 0.5 3 4 1\n" + plain24 + "ORANK 9 1 SID 34 -118 NA 0 5 0.5 3 2 2 11 12 QC 1 2 3 4 5 6\n",
		head24 + plain24 + "MCTC 9 4294967296 1 2 3 4 0.5\n", head24 + plain24 + "MCTC 9 -3 1 2 3 4 0.5\n", head24 + plain24 + "PCT 9 0\n" + plain24 + "PCT 9 NA\n",
		head24 + plain24 + "MCTC 9 0 0.5\n" + plain24 + "MCTC 9 NA NA\n", head24 + plain24 + "MPR 9 4 KDEN 39.8 -104.7 850 NA 280.5 281 V NA NA nan\n",
		"VERSION", "VERSION AMODEL\nV12 x\n", "V12.0.0 GFS NA 1080000 20241101_180000 RH", "\xef\xbb\xbf\r\n\x00\n\xff\n", plain24 + "XYZ\n", "\nVERSION MODEL DESC\n\n",
		head24 + strings.Replace(plain24, "060000", "-999995959", 1) + "FHO 1 0.2 0.3 -9999\n",
		strings.TrimSpace(head24) + " TOTAL OBAR FBAR FOBAR FFBAR OOBAR X MAE\n" + plain24 + "SL1L2 1 2 3 4 5 6 7\n" + plain24 + "SL1L2 1 2 3 4 5 6 7 8\n",
	}
	for _, s := range seeds {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, rows int) { faithful(t, data, rows, true, func(*record.Batch) {}) })
}

// FuzzObjects: the same for the lines of MODE, MTD and TC-Pairs, which become lines of STAT. Every value
// of a diagnostic keeps its name.
func FuzzObjects(f *testing.F) {
	for _, s := range []string{
		modeCTS, modeObj, mtd2D, mtd2D + strings.Repeat(mtd2D[strings.LastIndex(mtd2D[:len(mtd2D)-1], "\n")+1:], 3), mtd3D, mtdPair, tcmpr, tcHead + tcLine("NA", "TCDIAG 68 27 CIRA GFS GFS_0p50 2 SHRM 1 LAND 15"), tcHead + tcLine("060000", "TCDIAG 1 1 A B C 0"),
		tcHead + tcLine("060000", "PROBRIRW 1 2 3 4 X 5 6 7 8 9 0 24 24 90 60 95 35 40 TS HU 2 30 10 65 5"), "VERSION AMODEL BMODEL\nV12 x\n", "VERSION MODEL OBJECT_ID\n",
		strings.Replace(strings.Replace(tcHead, " DESC", "", 1), "LINE_TYPE", "LINE_TYPE DESC", 1) + strings.Replace(tcLine("060000", "TCMPR"), " NA AL", " AL", 1),
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, rows int) {
		faithful(t, data, rows, !fault.Planted, func(b *record.Batch) { // the lost line is for FuzzReader to find
			if b.Type == nil || b.Type.Name != "TCDIAG" || !strings.HasPrefix(string(data), "VERSION AMODEL") {
				return
			}
			names, _ := b.Type.Column("diag_i")
			for i := range b.Len() {
				if n := len(strings.Split(b.Text[names.Slot][i], ",")); n < len(b.Repeats(i)) {
					t.Errorf("%d names of %d diagnostics", n, len(b.Repeats(i)))
				}
			}
		})
	})
}

// faithful reads data. If counts is set, it checks that every line is counted once. It writes the stored
// records and reads them again.
func faithful(t *testing.T, data []byte, rows int, counts bool, look func(*record.Batch)) {
	r := NewReader(strings.NewReader(string(data)), "fuzz", Options{Rows: rows % 100})
	var b record.Batch
	var lines, derived int64 // derived counts the REV_ records of MTD
	seen := map[uint32]bool{}
	for {
		err := r.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		checkBatch(t, &b)
		look(&b)
		lines += int64(b.Lines)
		for _, line := range b.Line {
			if seen[line] {
				derived++
			}
			seen[line] = true
		}
		checkRoundTrip(t, &b)
	}
	if want := dataLines(string(data)) + derived; counts && (lines != r.Lines() || lines != want) {
		t.Errorf("%d lines in batches, %d counted by the reader, %d by a look at the text", lines, r.Lines(), want)
	}
}

// dataLines counts the lines that are neither blank nor a header line.
func dataLines(text string) (n int64) {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	for line := range strings.Lines(text) {
		words := bytes.FieldsFunc([]byte(line), func(c rune) bool { return c <= ' ' })
		header := len(words) > 0 && string(words[0]) == firstWord && strings.HasSuffix(line, "\n")
		if blank := len(words) == 0 && !strings.Contains(line, "\x00"); !blank && !header {
			n++
		}
	}
	return n
}

// checkRoundTrip writes b, reads the text, and compares.
func checkRoundTrip(t *testing.T, b *record.Batch) {
	t.Helper()
	if b.Type == nil {
		return
	}
	text := AppendHeader(nil)
	for i := range b.Len() {
		text = AppendLine(text, b, i)
	}
	var hash record.Hasher
	want := hash.DigestOf(b)
	var got record.Digest
	for _, c := range drain(t, NewReader(strings.NewReader(string(text)), b.File, Options{})) {
		got.Add(hash.DigestOf(c))
		for _, r := range c.Rejects {
			t.Errorf("%s: %q", r.Reason, r.Text)
		}
	}
	if got != want {
		t.Errorf("digest %v becomes %v in\n%s", want, got, text)
	}
}
