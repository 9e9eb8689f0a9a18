package design

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/barograph/barograph/record"
)

// payloadRows are records of one header and time, with texts and repeating
// columns where the type has them.
func payloadRows(lt *record.LineType, n int, rng *rand.Rand) *record.Batch {
	b := &record.Batch{}
	b.Reset(lt, "")
	b.AddHeader(record.DefaultHeader())
	for i := range n {
		b.AppendTimes(0, int32(i)*3600, 1546300800, 0)
		if lt.Name == "MPR" {
			b.ValidEnd[i] += int64(i)
			b.ObsLead[i] = -int32(i)
		}
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], rng.NormFloat64())
		}
		for k := range b.Text {
			b.Text[k] = append(b.Text[k], "K"+string(rune('A'+i)))
		}
		if lt.Group != nil {
			for range i % 4 {
				b.Group = append(b.Group, rng.Float64())
			}
			b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
		}
	}
	return b
}

func TestDecodeOfSomeLeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var h record.Hasher
	var d PayloadDecoder
	for _, name := range []string{"SAL1L2", "MPR", "PCT"} {
		lt, _ := record.TypeByName(name)
		b := payloadRows(lt, 9, rng)
		data := AppendPayload(nil, b, 0, b.Len())
		for _, leads := range [][]int32{nil, {0}, {3600, 7200, 8 * 3600}, {-1, 5}, {8 * 3600}} {
			got := &record.Batch{}
			got.Reset(lt, "")
			if err := d.Decode(data, got, got.AddHeader(record.DefaultHeader()), 1546300800, leads); err != nil {
				t.Fatal(err)
			}
			var want record.Digest
			h.SetBatch(b)
			for i := range b.Len() {
				if leads == nil || slices.Contains(leads, b.Lead[i]) {
					want.Add(h.Digest(i))
				}
			}
			if sum := h.DigestOf(got); sum != want {
				t.Errorf("%s, leads %v: %s, want %s", name, leads, sum, want)
			}
		}
	}
}

func TestDamagedPayloadIsNoPanic(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"SAL1L2", "MPR", "PCT"} {
		lt, _ := record.TypeByName(name)
		whole := AppendPayload(nil, payloadRows(lt, 9, rng), 0, 9)
		for range 5000 {
			data := slices.Clone(whole[:1+rng.IntN(len(whole))])
			for range rng.IntN(4) {
				data[rng.IntN(min(len(data), 40))] = byte(rng.Uint32())
			}
			b := &record.Batch{}
			b.Reset(lt, "")
			_ = DecodePayload(data, b, b.AddHeader(record.DefaultHeader()), 0)
		}
		for cut := range len(whole) {
			b := &record.Batch{}
			b.Reset(lt, "")
			if err := DecodePayload(whole[:cut], b, b.AddHeader(record.DefaultHeader()), 0); err == nil {
				t.Errorf("%s: a payload cut at %d of %d bytes was decoded", name, cut, len(whole))
			}
		}
	}
}
