package shef_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// FuzzDecode: no input makes the decoder panic. An independent count checks that every piece is
// stored, lost or names something. One decoder and several find the same values. The text is
// repeated up to eight times, because the few bytes of an input do not reach the limits of a
// product's size.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		".A STN1 20210327 Z DH07/HG 1.0/DD2803/HG 2.0 \"x/:\"/DC2103271300/HGIF 3E",
		".B CHI 1020 C DH08/HG/DRH-6/PP/DVH3/PPV\nGUNI2 DH0523/1.9/ .20,RVRI2 //3.5\n.B1 /TA\n X1 M\n.END",
		".E STN1 0323 P DH01/HGI/DIE-1 / 1.0 / /\n.E1      /  4.0,1\n.ER1 3",
		"\x01\r\r\n295 \r\r\nSRUS54 KLCH 101813\r\r\nRR1LCH\r\r\n.AR A_1 991231 L DJ366/QY T=\r\r\n\x03",
		"ZCZC MEMRR7MRX CES\nTTAA00 KMRX 030710\n.A AAA 0101 DH24/HG -/PP T/SF\t+.\nNNNN\n .A x",
		"\xef\xbb\xbf.A AAA 1020 /HG 1\x00.5/TA T\r.B BBB 1020 /HG/TA\rSTN1:x:72/50\r .B1 /PP\rSTN2/3\x1e\x03.A CCC 1020 /PP/ M\x0c .A DDD 1020 /HG 3\n.ENDS\n.AX 1/2",
		".B AAA 1020 /HG\n.ENDS/5\n .END\nSTN1 1" + strings.Repeat(" ", 60) + "/2,STN2\n .A BBB 1020 /HG 1\nSTN3 4\n.E1 5\n.END\n .E CCC 1020 /HG\n.E1 3",
		"\xef\xbb\ufeff\xbf",
		".A 000 1010 D\x11US CA 1",
		".B 000 1010/HA\nTN1::1::2/\n.END",
		".A AAA 1020 /HG 12345678901.5/TA 3/PP 125\n.A AAA 1020 DUS/HG 2.5/TA -3/QR 1",
		".BR AAA 1020 /HG/PP\nSTN1 1/2\n...NORTH...\nSTN2 3/4 : c\n\n: c\n 'x/y' 5\n.SOUTH\nSTN3 'a/\n.END\n.END\nprose\n.A AAA 1020 /HG 1",
	} {
		f.Add([]byte(s), uint8(0))
	}
	if dir := os.Getenv("BAROGRAPH_DATA"); dir != "" && !fault.Planted { // they would reveal the planted fault
		names, _ := filepath.Glob(filepath.Join(dir, "shef/*/product_examples/SHEF/*"))
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil {
				f.Add(text, uint8(0))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, times uint8) {
		text = bytes.Repeat(text, int(times%8)+1)
		one := conserved(t, text)
		if several := decodeFiles(t, text); !slices.Equal(one, several) {
			t.Errorf("one decoder finds %d values, several %d", len(one), len(several))
		}
	})
}

// conserved decodes a text product by product and compares each account with the counter's.
func conserved(t *testing.T, text []byte) (values []record.Gauge) {
	t.Helper()
	split, d := shef.NewSplitter(bytes.NewReader(text), "fuzz", day), shef.NewDecoder(shef.Options{Now: day})
	var p shef.Product
	var r shef.Result
	for {
		if err := split.Next(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(text) < len(p.Text) || !sameText(p.Text, text[:len(p.Text)]) {
			t.Fatalf("product %d part %d has %q, the text continues with %q", p.Number, p.Part, p.Text, text)
		}
		text = text[len(p.Text):]
		d.Decode(&p, &r)
		a := &r.Account
		complete, separators := p.Text, int64(0)
		if p.Cut { // a last line without its end is lost, as one piece or as those that it separates
			complete = p.Text[:bytes.LastIndexByte(p.Text, '\n')+1]
		}
		lines, pieces := count(complete)
		if end := p.Text[len(complete):]; len(end) > 0 {
			lines++
			separators = int64(bytes.Count(end, []byte(",")) + bytes.Count(end, []byte("/")))
			if len(bytes.TrimFunc(end, func(r rune) bool { return r <= ' ' || r == ',' || r == '/' })) > 0 {
				pieces++
			}
		}
		allowed := allowedBy(p.Text)
		if got := a.Values + a.Lost + a.Control - a.Extra; !a.IsBalanced() || got < pieces || got > pieces+separators || a.Lines-a.Blank != lines ||
			a.Values != int64(len(r.Values)) || a.Values != a.ValuePieces || a.Lost != a.LostPieces {
			t.Errorf("%q\nhas %d lines and %d pieces: account %+v, %v", p.Text, lines, pieces, *a, r.Problems)
		}
		for i := range r.Values {
			if v := r.Values[i].Value; !allowed.has(v) {
				t.Errorf("%q\ndoes not allow the value %v", p.Text, v)
			}
			shef.AppendText(nil, &r.Values[i])
		}
		for _, p := range r.Problems {
			_ = p.Error()
		}
		values = append(values, r.Values...)
	}
	if len(text) > 0 {
		t.Errorf("%q is of no product", text)
	}
	return values
}

// allowedValues are the values that the numbers of a text can mean, by the manual: the number, a
// hundredth of it (5.1.2), in metric messages its conversion (5.1.3), missing, or a trace. The place of
// a number in the text does not matter.
type allowedValues struct {
	numbers map[float64]bool
	largest float64 // of the metric message's values, converted; 0 = no message is metric
	trace   bool
}

// mostDigits is the number of digits of a value on either side of its point.
const mostDigits = 10

// Numbers, and the comments within them: "1:ONE:.06" is 1.06 (4.5.3).
var (
	numerals = regexp.MustCompile(`[0-9]*\.?[0-9]+|[0-9]+\.`)
	comments = regexp.MustCompile(`:[^:\r\n]*:?`)

	firstComment = regexp.MustCompile(`(?m)^([^:\r\n]*):[^:\r\n]*:`)
)

// allowedBy returns the values that a text allows.
func allowedBy(text []byte) allowedValues {
	s := allowedValues{numbers: map[float64]bool{0: true}, trace: bytes.ContainsAny(text, "tT")}
	fill := func(r rune) rune { // characters that the decoder omits from a line
		if r < ' ' && r != '\n' && r != '\r' || r > '~' {
			return -1
		}
		return r
	}
	filled := bytes.Map(fill, bytes.ToValidUTF8(text, nil))
	apart := firstComment.ReplaceAll(filled, []byte("$1 ")) // the first comment may end a station
	variants := [][]byte{text, filled, comments.ReplaceAll(text, nil), comments.ReplaceAll(filled, nil), comments.ReplaceAll(apart, nil)}
	metric := slices.ContainsFunc(variants, func(v []byte) bool { return bytes.Contains(bytes.ToUpper(v), []byte("DUS")) })
	for _, variant := range variants {
		for _, numeral := range numerals.FindAll(variant, -1) {
			integer, decimals, _ := strings.Cut(string(numeral), ".")
			x, err := strconv.ParseFloat(string(numeral), 64)
			if err != nil || max(len(integer), len(decimals)) > mostDigits {
				continue
			}
			s.numbers[x], s.numbers[x/100] = true, true
			if metric { // the largest factor is that of square kilometers in acres, 247.1; a temperature gets 32 more
				s.largest = max(s.largest, 248*x+32)
			}
		}
	}
	return s
}

func (s *allowedValues) has(v float64) bool {
	return s.numbers[math.Abs(v)] || v == record.NoValue || v == .001 && s.trace || s.largest > 0 && math.Abs(v) <= s.largest
}

// sameText reports whether a product's text equals the file's, except for carriage returns that
// became line ends.
func sameText(product, file []byte) bool {
	for i, c := range product {
		if c != file[i] && (c != '\n' || file[i] != '\r') {
			return false
		}
	}
	return true
}

func decodeFiles(t *testing.T, texts ...[]byte) []record.Gauge {
	t.Helper()
	var all []record.Gauge
	next := func() (shef.File, error) {
		if len(texts) == 0 {
			return shef.File{}, io.EOF
		}
		text := texts[0]
		texts = texts[1:]
		return shef.File{Name: "file", Text: bytes.NewReader(text)}, nil
	}
	err := shef.DecodeFiles(context.Background(), next, shef.PoolOptions{Options: shef.Options{Now: day}, Workers: 3}, func(r *shef.Result) error {
		all = append(all, r.Values...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
