package shef_test

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"barograph/formats/shef"
	"barograph/record"
)

// FuzzDecode: no input makes the decoder panic or lose a piece of its account,
// and one decoder and several find the same.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		".A STN1 20210327 Z DH07/HG 1.0/DD2803/HG 2.0 \"x/:\"/DC2103271300/HGIF 3E",
		".B CHI 1020 C DH08/HG/DRH-6/PP/DVH3/PPV\nGUNI2 DH0523/1.9/ .20,RVRI2 //3.5\n.B1 /TA\n X1 M\n.END",
		".E STN1 0323 P DH01/HGI/DIE-1 / 1.0 / /\n.E1      /  4.0,1\n.ER1 3",
		"\x01\r\r\n295 \r\r\nSRUS54 KLCH 101813\r\r\nRR1LCH\r\r\n.AR A_1 991231 L DJ366/QY T=\r\r\n\x03",
		"ZCZC MEMRR7MRX CES\nTTAA00 KMRX 030710\n.A AAA 0101 DH24/HG -/PP T/SF\t+.\nNNNN\n .A x",
		".BR AAA 1020 /HG/PP\nSTN1 1/2\n...NORTH...\nSTN2 3/4 : c\n\n: c\n 'x/y' 5\n.SOUTH\nSTN3 'a/\n.END\n.END\nprose\n.A AAA 1020 /HG 1",
	} {
		f.Add([]byte(s))
	}
	if dir := os.Getenv("BAROGRAPH_DATA"); dir != "" {
		names, _ := filepath.Glob(filepath.Join(dir, "shef/*/product_examples/SHEF/*"))
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil {
				f.Add(text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var one []record.Gauge
		lines := int64(0)
		err := shef.ReadAll(bytes.NewReader(text), "fuzz", shef.Options{Now: day}, func(r *shef.Result) error {
			if !r.Account.Whole() {
				t.Errorf("account is not whole: %+v", r.Account)
			}
			if r.Account.Values != int64(len(r.Values)) {
				t.Errorf("%d values, counted %d", len(r.Values), r.Account.Values)
			}
			for i := range r.Values {
				if v := r.Values[i].Value; math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("value %v", v)
				}
				shef.AppendText(nil, &r.Values[i])
			}
			for _, p := range r.Problems {
				_ = p.Error()
			}
			one = append(one, r.Values...)
			lines += r.Account.Lines
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(bytes.Count(text, []byte{'\n'}))
		if len(text) > 0 && text[len(text)-1] != '\n' {
			want++
		}
		if lines != want {
			t.Errorf("%d lines, the text has %d", lines, want)
		}
		if several := decodeFiles(t, text); !slices.Equal(one, several) {
			t.Errorf("one decoder finds %d values, several %d", len(one), len(several))
		}
	})
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
