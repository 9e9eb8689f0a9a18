package answer

import (
	"math/rand/v2"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// shuffled makes n records whose headers and times repeat, with identity columns
// that decide ties, and windows that make the order long.
func shuffled(n int, rng *rand.Rand) *record.Batch {
	lt, _ := record.TypeByName("MPR")
	b := &record.Batch{}
	b.Reset(lt, "f")
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	for range 12 {
		h := record.DefaultHeader()
		h[record.Model], h[record.VxMask], h[record.FcstLev] = pick("GFS", "gfs", ""), pick("A", "B", "AA"), pick("P500", "P1000", "Z2")
		b.AddHeader(h)
	}
	for i := range n {
		b.AppendTimes(uint32(rng.IntN(12)), int32(rng.IntN(4))*5400-3600, int64(rng.IntN(9))*21600-30000, uint32(i))
		b.ValidEnd[i] += int64(rng.IntN(3)) << rng.IntN(40)
		b.ObsLead[i] = int32(rng.IntN(2))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(rng.IntN(3)))
		}
		b.Num[1][i] = float64(i) // mp_index: no two records are the same
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], pick("KDEN", "KBOS"))
		}
	}
	return b
}

func TestArrangeIsSelect(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		b := shuffled(rng.IntN(300), rng)
		q := &question.Question{Name: "x", Type: b.Type}
		names := []string{"model", "vx_mask", "fcst_lev", "fcst_valid_beg", "fcst_init_beg", "fcst_lead", "fcst_valid_end", "obs_lead"}
		rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var err error
		if q.Order, err = question.Columns(b.Type, names[:rng.IntN(len(names))]...); err != nil {
			t.Fatal(err)
		}
		if q.Columns, err = question.Columns(b.Type, append(names, "mp_index", "fcst", "obs_sid", "obs_valid_beg", "obs_valid_end")...); err != nil {
			t.Fatal(err)
		}
		var into Builder
		Arrange(q, b, &into)
		if _, err := Compare(Select(q, b), &into.Answer); err != nil {
			t.Fatalf("round %d, order %v: %v", round, names, err)
		}
	}
}

// BenchmarkArrange arranges a year of times and leads, as an archive of documents does for each answer.
func BenchmarkArrange(b *testing.B) {
	var leads []int32
	var times []int64
	for i := range 41 {
		leads = append(leads, int32(6*i))
	}
	for i := range 730 {
		times = append(times, int64(12*i))
	}
	rows, q := records(b, []string{"FULL"}, []string{"P500"}, leads, times, 1), ask(b, "fcst_valid_beg", "fcst_init_beg")
	var into Builder
	for b.Loop() {
		Arrange(q, rows, &into)
	}
}
