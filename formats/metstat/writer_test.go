package metstat

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

func TestWrite(t *testing.T) {
	const want = "VERSION MODEL DESC FCST_LEAD FCST_VALID_BEG  FCST_VALID_END  OBS_LEAD OBS_VALID_BEG   OBS_VALID_END   FCST_VAR  FCST_UNITS FCST_LEV OBS_VAR   OBS_UNITS OBS_LEV OBTYPE VX_MASK INTERP_MTHD INTERP_PNTS FCST_THRESH OBS_THRESH COV_THRESH ALPHA LINE_TYPE\n" +
		"V12.0.0 GFS   run1 1080000   20241101_180000 20241101_180000 000000   20241101_173000 20241101_183000 TMP       K          Z2       T         C         Z3      ANLYS  FULL    NEAREST     4           >273        >=0        ==0.25     0.05  SL1L2 3600 1.5 -2.25 3 0.00004 5 NA\n"
	b := one(t, head24+common24+"SL1L2 3600 1.5 -2.25 3 4e-05 5. NA\n")
	if got := string(AppendLine(AppendHeader(nil), b, 0)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	b.Headers[0][record.FcstLev] = ""
	back := one(t, string(AppendLine(nil, b, 0)))
	if got := back.Header(0)[record.FcstLev]; got != "NA" {
		t.Errorf("an empty level becomes %q, want NA", got)
	}
}

// random fills a batch of n records of type lt.
func random(lt *record.LineType, n int, seed uint64) *record.Batch {
	r := rand.New(rand.NewPCG(seed, uint64(len(lt.Name))))
	b := &record.Batch{}
	b.Reset(lt, "random")
	for i := range n {
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.VxMask] = "V12.0.0", "GFS", "MASK"+string(rune('A'+i%7))
		h[record.FcstVar], h[record.FcstLev], h[record.ObType] = "TMP", "P500", "ANLYS"
		b.AppendTimes(b.AddHeader(h), int32(r.IntN(200)*3600), 1730484000+int64(r.IntN(100)*21600), uint32(i+1))
		b.Lines++
		groups := 1 + r.IntN(4)
		for _, c := range lt.Columns {
			switch {
			case c.Kind == record.Text:
				b.Text[c.Slot] = append(b.Text[c.Slot], "W"+string(rune('a'+r.IntN(26))))
			case lt.Group != nil && c.Name == lt.Group.Count:
				b.Num[c.Slot] = append(b.Num[c.Slot], float64(groups))
			case c.Kind == record.Count:
				b.Num[c.Slot] = append(b.Num[c.Slot], float64(r.IntN(1e6)))
			default:
				b.Num[c.Slot] = append(b.Num[c.Slot], obey(c.Rule, float64(r.IntN(1e8)-5e7)/1e5)) // the precision of MET
			}
		}
		if lt.Group != nil {
			for i := range lt.Group.Len(groups) {
				b.Group = append(b.Group, obey(lt.Group.Rules[i%len(lt.Group.Rules)], float64(r.IntN(1e8))/1e5))
			}
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

// obey changes v until a rule allows it.
func obey(r *record.Rule, v float64) float64 {
	if r.Accepts(v) {
		return v
	}
	if v = math.Abs(v); r.Accepts(v) {
		return v
	}
	return math.Round(math.Mod(v, 1)*1e5) / 1e5
}

// Every type that MET writes survives writing and reading, bit for bit.
func TestRoundTripOfEveryType(t *testing.T) {
	for _, lt := range record.Types() {
		if lt.Name == vsdbOnly {
			continue
		}
		t.Run(lt.Name, func(t *testing.T) { checkRoundTrip(t, random(lt, 50, 1)) })
	}
}

func TestRoundTripOfHardNumbers(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	b := random(lt, 6, 2)
	for i, f := range []float64{math.NaN(), math.Copysign(0, -1), 5e-324, math.MaxFloat64, 1.0 / 3, -1e22} {
		b.Num[1][i] = f
	}
	checkRoundTrip(t, b)
}

func TestNoAllocations(t *testing.T) {
	for _, name := range []string{"SL1L2", "MPR", "PCT", "ORANK", "CNT"} {
		lt, _ := record.TypeByName(name)
		b := random(lt, 1000, 3)
		text := AppendHeader(nil)
		for i := range b.Len() {
			text = AppendLine(text, b, i)
		}
		if n := testing.AllocsPerRun(10, func() {
			text := AppendHeader(text[:0])
			for i := range b.Len() {
				text = AppendLine(text, b, i)
			}
		}); n != 0 {
			t.Errorf("%s: the writer allocates %v times for 1000 lines", name, n)
		}

		// The reader reads the same lines over and over: after the first rounds
		// it knows all headers and words, and its batches are large enough.
		r := NewReader(&loop{text: text}, "x", Options{Rows: 1000})
		var into record.Batch
		for range 5 {
			if err := r.Next(&into); err != nil {
				t.Fatal(err)
			}
		}
		if n := testing.AllocsPerRun(20, func() {
			if err := r.Next(&into); err != nil || into.Len() != 1000 {
				t.Fatalf("%v, %d records, %v", err, into.Len(), into.Rejects)
			}
		}); n > 1 { // the words of a header line, once per round of text
			t.Errorf("%s: the reader allocates %v times for 1000 lines", name, n)
		}
	}
}

// loop is a text without end.
type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"SL1L2", "VL1L2", "CNT", "MPR", "PCT"} {
		b.Run("type="+name, func(b *testing.B) {
			lt, _ := record.TypeByName(name)
			rows := random(lt, 8192, 4)
			text := AppendHeader(nil)
			for i := range rows.Len() {
				text = AppendLine(text, rows, i)
			}
			benchmarkRead(b, string(text))
		})
	}
}

// BenchmarkReadReal reads two cycles of NOAA's GFS and ECMWF grid_stat files.
func BenchmarkReadReal(b *testing.B) {
	var text strings.Builder
	for _, f := range filesUnder(b, g2g(b)) {
		text.Write(load(b, f))
	}
	benchmarkRead(b, text.String())
}

func benchmarkRead(b *testing.B, text string) {
	var into record.Batch
	lines := int64(0)
	b.SetBytes(int64(len(text)))
	r := NewReader(strings.NewReader(""), "x", Options{})
	for b.Loop() {
		r.Reset(strings.NewReader(text), "x")
		for r.Next(&into) == nil { //nolint:revive // reading is the work
		}
		lines += r.Lines()
	}
	b.ReportMetric(float64(lines)/b.Elapsed().Seconds(), "lines/s")
}

func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"SL1L2", "VL1L2", "CNT"} {
		b.Run("type="+name, func(b *testing.B) {
			lt, _ := record.TypeByName(name)
			rows := random(lt, 1000, 5)
			var text []byte
			for b.Loop() {
				text = text[:0]
				for i := range rows.Len() {
					text = AppendLine(text, rows, i)
				}
			}
			b.SetBytes(int64(len(text)))
			b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// An empty word is written as NA: a line without it would have fewer columns than its type.
func TestWriteEmptyWord(t *testing.T) {
	lt, _ := record.TypeByName("MPR")
	b := random(lt, 1, 1)
	for k := range b.Text {
		b.Text[k][0] = ""
	}
	back := one(t, head24+string(AppendLine(nil, b, 0)))
	for k := range back.Text {
		if got := back.Text[k][0]; got != record.NA {
			t.Errorf("an empty word becomes %q", got)
		}
	}
}
