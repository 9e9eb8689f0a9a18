package shef_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/record"
)

// TestEncoder checks the form of encoded messages.
func TestEncoder(t *testing.T) {
	const text = `.A AAA 20261110 Z DH1200/DC202611100900/HGIRZZ 1.5E'said "no"'/PPHRZZ 1.
.A1 /DVH06/PPVRZZ T
.ER AAA 20261110 Z DH123015/QRIFZZN/DIN15/1/2///M
.B KLCH 20261110 Z DH0000/HGIRZZ/TAIRZX
AAA 1/70
BBB /71
BBB 2/72Q
.END
`
	values := decodeFiles(t, []byte(text))
	if len(values) != 11 {
		t.Fatalf("%d values", len(values))
	}
	if got := encode(t, values); got != text {
		t.Errorf("got\n%swant\n%s", got, text)
	}
	e := shef.NewEncoder(&bytes.Buffer{}, nil)
	good := values[0]
	for name, spoil := range map[string]func(g *record.Gauge){
		"code":     func(g *record.Gauge) { g.Code[0] = '1' },
		"unknown":  func(g *record.Gauge) { g.Code[1] = '!' },
		"station":  func(g *record.Gauge) { g.Station = record.ID{'A'} },
		"source":   func(g *record.Gauge) { g.Source = record.ID{'a', '\n', 'b'} },
		"duration": func(g *record.Gauge) { g.Duration = 1001 },
		"year":     func(g *record.Gauge) { g.Time = math.MaxInt64 / 4 },
		"created":  func(g *record.Gauge) { g.Created++ },
		"value":    func(g *record.Gauge) { g.Value = math.Inf(1) },
		"tiny":     func(g *record.Gauge) { g.Value = 5e-324 },
		"quality":  func(g *record.Gauge) { g.Quality = 'O' },
		"comment":  func(g *record.Gauge) { g.Comment = "a\n.A BBB 1110 /HG 1" },
		"quotes":   func(g *record.Gauge) { g.Comment = `'"` },
	} {
		g := good
		spoil(&g)
		if err := e.Write(&g); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func encode(t *testing.T, values []record.Gauge) string {
	t.Helper()
	var b bytes.Buffer
	e := shef.NewEncoder(&b, nil)
	for i := range values {
		if err := e.Write(&values[i]); err != nil {
			t.Errorf("%+v: %v", values[i], err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// sameMessage makes values comparable: it clears how they were sent and their lines.
func sameMessage(values []record.Gauge) []record.Gauge {
	values = slices.Clone(values)
	for i := range values {
		values[i].Series, values[i].Line = 0, 0
	}
	return values
}

// FuzzEncode: the values of any decoded text survive encoding and decoding.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{
		".A STN1 20210327 Z DH07/HG 1.0/DD2803/HG 2.0 \"x/:\"/DC2103271300/HGIF 3E/DH090807/DQM/PP M/PC T/DVS30/PPV -1",
		".BR CHI 1020 C DH08/HG/DRH-6/PP/DVH3/PPV\nGUNI2 DH0523/1.9/ .20,RVRI2 //3.5\nGUNI2 1/2/3",
		".E STN1 0323 P DH01/TAIFEX9/DIN5 / 1.0 / / // 2 T / 3 'it said \"no\"'",
	} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text []byte, times uint8) {
		want := sameMessage(decodeFiles(t, bytes.Repeat(text, int(times%8)+1)))
		got := sameMessage(decodeFiles(t, []byte(encode(t, want))))
		if !slices.Equal(got, want) {
			t.Errorf("%q\nbecomes %q\n%v, not\n%v", text, encode(t, want), got, want)
		}
	})
}

// TestEncodeReal does the same as FuzzEncode with every sample product.
func TestEncodeReal(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(sampleData(t), "*", "*", "*"))
	more, _ := filepath.Glob(filepath.Join(sampleData(t), "*", "*", "*", "*"))
	values := 0
	for _, name := range append(files, more...) {
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 1<<20 && testing.Short() {
			continue
		}
		want := sameMessage(decodeFiles(t, text))
		values += len(want)
		if got := sameMessage(decodeFiles(t, []byte(encode(t, want)))); !slices.Equal(got, want) {
			t.Errorf("%s: %d values become %d others", name, len(want), len(got))
		}
	}
	if values < 100_000 && !testing.Short() {
		t.Errorf("only %d values", values)
	}
}
