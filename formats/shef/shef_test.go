package shef_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// TestSplit checks the pairs of 7.4.6.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		v     float64
		at    int
		value float64
	}{
		{6.065, 6, 65},
		{12.056, 12, 56},
		{-21.0058, 21, -5.8},
		{1.1353, 1, 135.3},
		{-2.9999, 2, -9999},
		{-9999, -9999, -9999},
		{3, 3, 0},
		{-3, 3, 0},
		{999.9999999, 999, 999.9999},
	} {
		at, value := record.SplitPair(c.v)
		if at != c.at || value != c.value {
			t.Errorf("Split(%v) = %d, %v, want %d, %v", c.v, at, value, c.at, c.value)
		}
	}
	if !record.HasPairedValues("TB") || record.HasPairedValues("TA") {
		t.Error("TB is paired, TA is not")
	}
}

// TestEnvelopes: products begin at SOH, at ZCZC, and at a number before a heading.
func TestEnvelopes(t *testing.T) {
	text := "\x01\r\r\n295 \r\r\nSRUS54 KLCH 101813 RRA\r\r\nRR1LCH\r\r\n.A AAA 20261110 /HG 1\r\r\n\r\r\n\x03" +
		"\x01\r\r\n296 \r\r\nSRUS54 KLCH 101900\r\r\nRTPLCH\r\r\n.B LCH 20261110 /HG\r\r\nBBB 2\r\r\n.END\r\r\n\x03\n" +
		"ZCZC MEMRR7MRX CES\nTTAA00 KMRX 030710\n.A CCC 20261110 /HG 3=\nNNNN\n" +
		"297 \nFGUS52 KMRX 301200\nRVFMRX\n.E DDD 20261110 /HG/DIH1/4\n" +
		"298 \nnot a heading\n.A EEE 20261110 /HG 5\n"
	type product struct {
		number, line   int
		heading, awips string
		issued         string
		station        string
	}
	var got []product
	read := func(r io.Reader) {
		err := shef.ReadAll(r, "feed", shef.Options{Now: day}, func(r *shef.Result) error {
			p := product{number: r.Product.Number, line: r.Product.Line, heading: r.Product.Heading, awips: r.Product.AWIPS}
			if r.Product.Issued != record.NoTime {
				p.issued = time.Unix(r.Product.Issued, 0).UTC().Format("2006-01-02 15:04")
			}
			for i := range r.Values {
				p.station += r.Values[i].Station.String()
			}
			if r.Account.Errors > 0 || !r.Account.IsBalanced() {
				t.Errorf("%v %+v", r.Problems, r.Account)
			}
			got = append(got, p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []product{
		{1, 1, "SRUS54 KLCH 101813 RRA", "RR1LCH", "2026-11-10 18:13", "AAA"},
		{2, 7, "SRUS54 KLCH 101900", "RTPLCH", "2026-11-10 19:00", "BBB"},
		{3, 14, "TTAA00 KMRX 030710", "RR7MRX", "2026-12-03 07:10", "CCC"},
		{4, 19, "FGUS52 KMRX 301200", "RVFMRX", "2026-11-30 12:00", "DDDEEE"},
	}
	want[2].issued = "2026-12-03 07:10"
	read(strings.NewReader(text))
	for _, r := range []io.Reader{iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
		first := got
		got = nil
		read(r)
		if !slices.Equal(first, got) {
			t.Errorf("by the byte: %v, at once: %v", got, first)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestCut: a product that began with SOH and ends anywhere before its ETX has no value that the complete
// product does not have, and its unfinished line is counted as lost.
func TestCut(t *testing.T) {
	text := "\x01\r\r\n295 \r\r\nSRUS54 KLCH 101813\r\r\nRR1LCH\r\r\n.A AAA 20261110 /HG 12.34/TA 56\r\r\n" +
		".E BBB 20261110 /HG/DIH1/123/456\r\r\n.E1 789\r\r\n.B LCH 20261110 /PP/QR\r\r\nCCC 0.12/3.45\r\r\n.END\r\r\n"
	read := func(text string) (values []record.Gauge, account shef.Account) {
		err := shef.ReadAll(strings.NewReader(text), "feed", shef.Options{Now: day}, func(r *shef.Result) error {
			values = append(values, r.Values...)
			account.Add(&r.Account)
			return nil
		})
		if err != nil || !account.IsBalanced() {
			t.Fatalf("%v %+v", err, account)
		}
		return values, account
	}
	complete, account := read(text + "\x03")
	if len(complete) != 7 || account.Lost > 0 {
		t.Fatalf("%d values, %d lost", len(complete), account.Lost)
	}
	for n := 60; n < len(text); n++ {
		values, account := read(text[:n])
		for _, g := range values {
			if !slices.Contains(complete, g) {
				t.Fatalf("cut after %q: value %v", text[n-8:n], g.Value)
			}
		}
		if text[n-1] > ' ' && text[n-1] != 3 && account.Lost == 0 {
			t.Errorf("cut after %q: no line is lost", text[n-8:n])
		}
	}
}

// TestLargeProduct: the splitter cuts a large product into parts between messages. This changes no
// value.
func TestLargeProduct(t *testing.T) {
	var text bytes.Buffer
	for range 40000 {
		text.WriteString(".A AAA 20261110 /HG 1\n.E BBB 20261110 /HG/DIH1/1/2\n.E1 3\n.B CCC 20261110 /HG\nDDD 4\nEEE 5\n.END\n")
	}
	values, parts, line := 0, 0, 1
	err := shef.ReadAll(&text, "large", shef.Options{Now: day}, func(r *shef.Result) error {
		if r.Product.Number != 1 || r.Product.Line != line || len(r.Problems) > 0 || !r.Account.IsBalanced() {
			t.Fatalf("product %d part %d, line %d, want %d: %v", r.Product.Number, r.Product.Part, r.Product.Line, line, r.Problems)
		}
		values += len(r.Values)
		line += int(r.Account.Lines)
		parts++
		return nil
	})
	if err != nil || values != 40000*6 || parts < 10 {
		t.Errorf("%d values in %d parts: %v", values, parts, err)
	}
}

// TestLongLine: a line that is too long is lost and counted, and ends neither message nor product.
func TestLongLine(t *testing.T) {
	for _, long := range []string{".A BBB 20261110 /HG 1" + strings.Repeat("/HG 1", 1<<20), strings.Repeat("x", 9<<20), strings.Repeat("\x00", 5<<20) + "HG 1"} {
		text := ".A AAA 20261110 /HG 1\n" + long + "\n.A CCC 20261110 /HG 3\n"
		a, b, c := decode(t, text, day), decode(t, strings.TrimSuffix(text, "\n.A CCC 20261110 /HG 3\n"), day), decode(t, long, day)
		if len(a.Values) != 2 || a.Values[1].Line != 3 || len(b.Values) != 1 || len(c.Values) != 0 {
			t.Errorf("%.20q: %d, %d, %d values", long, len(a.Values), len(b.Values), len(c.Values))
		}
		if fields := int64(strings.Count(long, "/HG")); a.Account.Lost <= fields || a.Account.Lost != b.Account.Lost {
			t.Errorf("%.20q: %d, %d lost of %d", long, a.Account.Lost, b.Account.Lost, fields)
		}
	}
}

// TestBrokenRead: if a text cannot be read to its end, its last line does not count as complete.
func TestBrokenRead(t *testing.T) {
	var values []record.Gauge
	text := io.MultiReader(strings.NewReader(".A AAA 20261110 /HG 1\n.A BBB 20261110 /HG 12.3"), iotest.ErrReader(io.ErrUnexpectedEOF))
	err := shef.ReadAll(text, "f", shef.Options{Now: day}, func(r *shef.Result) error {
		values = append(values, r.Values...)
		return nil
	})
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(values) != 1 {
		t.Errorf("%d values: %v", len(values), err)
	}
}

// TestDecodeFiles: several decoders find the same values in many files as one does, in order. An
// error stops them.
func TestDecodeFiles(t *testing.T) {
	var texts [][]byte
	for i := range 50 {
		texts = append(texts, []byte(strings.Repeat(".A AAA 20261110 /HG "+string(rune('0'+i%10))+"\n", i)))
	}
	var want []record.Gauge
	for _, text := range texts {
		want = append(want, decode(t, string(text), day).Values...)
	}
	if got := decodeFiles(t, texts...); !slices.Equal(got, want) {
		t.Errorf("%d values, want %d", len(got), len(want))
	}
	broken := errors.New("broken")
	given := 0
	next := func() (shef.File, error) {
		if given++; given > 5 {
			return shef.File{}, broken
		}
		return shef.File{Name: "f", Text: strings.NewReader(".A AAA 20261110 /HG 1")}, nil
	}
	ignore := func(*shef.Result) error { return nil }
	if err := shef.DecodeFiles(context.Background(), next, shef.PoolOptions{}, ignore); !errors.Is(err, broken) {
		t.Errorf("error of next: %v", err)
	}
	given = -1000
	if err := shef.DecodeFiles(context.Background(), next, shef.PoolOptions{}, func(*shef.Result) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("error of each: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	given = -1 << 40
	if err := shef.DecodeFiles(ctx, next, shef.PoolOptions{}, ignore); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	failing := iotest.ErrReader(broken)
	if err := shef.ReadAll(failing, "f", shef.Options{}, ignore); !errors.Is(err, broken) {
		t.Errorf("error of reading: %v", err)
	}
}

// TestAllocations: a decoder reuses its memory, and allocates none per value.
func TestAllocations(t *testing.T) {
	text := []byte(strings.Repeat(".A AAA 20261110 C DH08/HG 1.25/PPQ .25E/TX 35\n.E BBB 20261110 P DH07/HGIRG/DIH1/1/2/M/4\n.B CCC 1110 /HG/PP\nDDD DH09/4/.2,FFF 1/T\n.END\n", 50))
	d := shef.NewDecoder(shef.Options{Now: day})
	p := shef.Product{File: "f", Line: 1, Text: text}
	var out shef.Result
	d.Decode(&p, &out)
	if n := testing.AllocsPerRun(20, func() { d.Decode(&p, &out) }); n != 0 || len(out.Values) != 50*11 {
		t.Errorf("%v allocations for %d values", n, len(out.Values))
	}
}

// TestLOS: shefit stops at its 9,999th error, the largest limit of its parameters, after 27,654
// values. Our decoder has the same number by then, and continues.
func TestLOS(t *testing.T) {
	name := filepath.Join(sampleData(t), "hec/example-shef-files/spk/LOS.dy.2024.05.06.utc")
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const limit = 9999
	values, errs, atLimit := 0, 0, 0
	err = shef.ReadAll(f, name, shef.Options{Now: day}, func(r *shef.Result) error {
		last := uint32(0) // line of the error at which shefit stops
		for _, p := range r.Problems {
			if p.Warning {
				continue
			}
			n := 1
			if p.Number == 85 { // shefit reports a bad qualifier twice
				n = 2
			}
			if errs < limit && errs+n >= limit {
				last = uint32(p.Line)
			}
			errs += n
		}
		for i := range r.Values {
			if errs < limit || last > 0 && r.Values[i].Line < last {
				atLimit++
			}
		}
		values += len(r.Values)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if atLimit != 27654 || values != 69963 {
		t.Errorf("%d values before error %d, want 27654; %d of all, want 69963", atLimit, limit, values)
	}
	t.Logf("%d values before shefit's error %d; %d values and %d errors of shefit's counting in all", atLimit, limit, values, errs)
}

// TestTables: the tables are complete.
func TestTables(t *testing.T) {
	if n := len(shef.Elements()); n != 253 {
		t.Errorf("%d elements, appendix I has 253", n)
	}
	for i, e := range shef.Elements() {
		if i > 0 && shef.Elements()[i-1].PE >= e.PE || len(e.PE) != 2 || e.Factor == 0 || e.Name == "" {
			t.Errorf("row %d: %+v", i, e)
		}
	}
	for _, n := range []int{2, 44, 62, 90} {
		if shef.Remark(n) == "" {
			t.Errorf("error %d has no remark", n)
		}
	}
	if shef.Remark(1) != "" || shef.Remark(-1) != "" || shef.Remark(1000) != "" {
		t.Error("a remark without a number")
	}
}

// TestOwnTables reads a center's file with a title. It rejects an element that contains a digit,
// does not change the manual's tables, and returns the letters of numbers.
func TestOwnTables(t *testing.T) {
	own, err := shef.ReadTables(strings.NewReader("SHEFPARM\n*1 PE CODES\nQ2 0.0353147\nYW 1.0\nYD 1.0\nHG 1.0\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	var g record.Gauge
	for _, code := range []string{"YW", "YD", "HG"} {
		if err := own.Resolve(code, &g); err != nil || g.Code.String() != code+"IRZZZ" {
			t.Errorf("%s: %s, %v", code, g.Code, err)
		}
	}
	if (*shef.Tables)(nil).Resolve("YD", &g) == nil || own.Resolve("Q2", &g) == nil {
		t.Error("the manual's tables have changed, or Q2 is an element")
	}
	for want, of := range map[string]struct {
		d int16
		p float32
	}{"IZ": {0, -1}, "DM": {2001, -.5}, "H2": {1001, .2}, "VZ": {1013, .111}} {
		if d, p := own.Letters(of.d, of.p); string([]byte{d, p}) != want {
			t.Errorf("%+v: %c%c, want %s", of, d, p, want)
		}
	}
}

// TestSilence: a product without a frame ends when the stream is silent, but not within a body.
func TestSilence(t *testing.T) {
	for text, want := range map[string]int{
		".A AAA 1110 /HG 1\n|.A BBB 1110 /HG 1\n":                    2,
		".B AAA 1110 /HG\nBBB 1\n|CCC 2\n.END\n|.A D_D 1110 /HG 1\n": 2,
		"\x01\n.A AAA 1110 /HG 1\n|.A BBB 1110 /HG 1\n\x03":          1,
	} {
		products, values := 0, 0
		r := &parts{strings.Split(text, "|")}
		if err := shef.ReadAll(r, "pipe", shef.Options{Now: day}, func(r *shef.Result) error {
			values += len(r.Values)
			if r.Product.Last {
				products++
			}
			return nil
		}); err != nil || products != want || values < 2 {
			t.Errorf("%q: %d products, %d values: %v", text, products, values, err)
		}
	}
}

// parts is a stream that is silent between its parts.
type parts struct{ text []string }

func (p *parts) Read(b []byte) (n int, err error) {
	if len(p.text) == 0 {
		return 0, io.EOF
	}
	n = copy(b, p.text[0])
	p.text[0] = p.text[0][n:]
	if n == 0 {
		p.text = p.text[1:]
	}
	return n, nil
}

// TestDamagedTables: a row that is not one of its section, and a file that cannot be read, are errors
// with the file's name. A send code of a center is extended only if it means its own element.
func TestDamagedTables(t *testing.T) {
	for text, want := range map[string]string{
		"*5\nA 0,5\n":  `f:2: "A 0,5" is not a row of section *5`,
		"*5\nA\n":      `f:2: "A" is not a row of section *5`,
		"*5\nA nan\n":  `f:2: "A nan" is not a row of section *5`,
		"*5\nA 1e99\n": `f:2: "A 1e99" is not a row of section *5`,
		"*2\nA nan\n":  `f:2: "A nan" is not a row of section *2`,
		"*1\nYW 1.0\n" + strings.Repeat("x", 1e6): "f cannot be read",
		"": "f has no section", ".A HGAI4 1110 DH12/HG 1.0\n": "f has no section",
	} {
		if own, err := shef.ReadTables(strings.NewReader(text), "f"); own != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
	own, err := shef.ReadTables(strings.NewReader("*6\nSX SWIRZXZ\nQG QGIRZXZ\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	var g record.Gauge
	for code, want := range map[string]string{"SX": "", "SXIRZ": shef.Remark(30), "QG": "", "QGIRZ": ""} {
		if err := own.Resolve(code, &g); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %q", code, err, want)
		}
	}
}
