package enginetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

const (
	hour = 3600
	day  = 24 * hour

	newYear2018 = 1514764800 // 2018-01-01T00:00:00Z, where test_1 begins
	newYear2019 = 1546300800 // 2019-01-01T00:00:00Z, where test_3 begins
)

// Series describes generated records of one header, at every lead of every valid time.
type Series struct {
	Type     *record.LineType
	Header   record.Header
	Valid    []int64
	Lead     []int32
	Stations int  // records per time and lead, each distinguished by one key column of the type (see keyRound); 0 = 1
	Windows  bool // forecast and observation have separate times
}

// File is a generated file: batches of several line types with one path.
type File struct {
	Path    string
	Batches []*record.Batch
}

// Records counts the file's records.
func (f *File) Records() int64 {
	var n int64
	for _, b := range f.Batches {
		n += int64(b.Len())
	}
	return n
}

// Mark returns the mark of the complete file, as a loader computes it before it knows the existing records.
func (f *File) Mark() archive.Mark {
	k := xxh3.HashString128(f.Path)
	n := f.Records()
	return archive.Mark{
		Path: f.Path, Digest: fmt.Sprintf("%016x%016x", k.Hi, k.Lo), Bytes: 100 * n, Read: n, Stored: n,
		Loaded: time.Unix(newYear2019, 0).UTC(),
	}
}

// batch returns the file's batch of a line type.
func (f *File) batch(t *record.LineType) *record.Batch {
	for _, b := range f.Batches {
		if b.Type == t {
			return b
		}
	}
	b := &record.Batch{}
	b.Reset(t, f.Path)
	f.Batches = append(f.Batches, b)
	return b
}

// Generate makes the records of all series and distributes them over n files. The leads of one series and
// valid time are in different files. Every value depends only on the seed and the record's number.
func Generate(seed uint64, n int, all ...Series) []File {
	files := make([]File, n)
	for i := range files {
		files[i].Path = fmt.Sprintf("day/%d/file_%03d.stat", seed, i)
	}
	var number uint64
	for i := range all {
		s := &all[i]
		heads := make([]int, n) // header number in each file, plus 1; 0 = unknown
		for v, valid := range s.Valid {
			for l, lead := range s.Lead {
				f := (v*5 + l) % n
				b := files[f].batch(s.Type)
				if heads[f] == 0 {
					heads[f] = int(headerOf(b, s.Header)) + 1
				}
				for station := range max(s.Stations, 1) {
					number++
					appendRecord(b, s, uint32(heads[f]-1), valid, lead, station, rand.New(rand.NewPCG(seed, number)))
				}
			}
		}
	}
	return files
}

// headerOf finds or adds a header.
func headerOf(b *record.Batch, h record.Header) uint32 {
	if i := slices.Index(b.Headers, h); i >= 0 {
		return uint32(i)
	}
	return b.AddHeader(h)
}

// appendRecord appends one record with values from rng.
func appendRecord(b *record.Batch, s *Series, head uint32, valid int64, lead int32, station int, rng *rand.Rand) {
	b.AppendTimes(head, lead, valid, uint32(b.Len()+1))
	i := b.Len() - 1
	if s.Windows {
		b.ValidEnd[i] = valid + hour
		b.ObsBeg[i], b.ObsEnd[i] = valid-900, valid+900+int64(station%2)
		b.ObsLead[i] = 1800
	}
	keys := b.Type.IdentityColumns()
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		rank := slices.IndexFunc(keys, func(o record.Column) bool { return o.Name == c.Name })
		if c.Kind == record.Text {
			b.Text[c.Slot] = append(b.Text[c.Slot], text(c, keyRound(station, rank, len(keys)), rng))
		} else {
			b.Num[c.Slot] = append(b.Num[c.Slot], number(c, keyRound(station, rank, len(keys)), rng))
		}
	}
	if g := b.Type.Group; g != nil {
		n := rng.IntN(5)
		c, _ := b.Type.Column(g.Count)
		b.Num[c.Slot][i] = float64(n)
		for range g.Len(n) {
			b.Group = append(b.Group, float(rng))
		}
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
}

// keyRound distributes the stations over the key columns: each station differs from the first one in one key column
// only. It returns the round in which the station differs in the key column of this rank; 0 = it has the first
// station's value there. In round 1 the column has a second value, in round 2 none, in later rounds further values.
func keyRound(station, rank, keys int) int {
	if station == 0 || rank < 0 || (station-1)%keys != rank {
		return 0
	}
	return 1 + (station-1)/keys
}

func text(c *record.Column, round int, rng *rand.Rand) string {
	switch {
	case c.InIdentity && round == 2:
		return record.NA
	case c.InIdentity:
		return fmt.Sprintf("K%03d", round)
	}
	return []string{record.NA, "0", "1", "A good one", "x'y"}[rng.IntN(5)]
}

// number returns a value of a numeric column. Key columns distinguish stations. In round 2 they have no
// value, like the tile of an ISC line.
func number(c *record.Column, round int, rng *rand.Rand) float64 {
	switch {
	case c.InIdentity && round == 2:
		return record.Missing()
	case c.InIdentity && c.Kind == record.Count:
		return float64(round + 1)
	case c.InIdentity:
		return 30.25 + float64(round)
	case rng.IntN(12) == 0:
		return record.Missing()
	case c.Kind == record.Count:
		return float64(rng.IntN(10000))
	}
	return float(rng)
}

// float returns mostly a decimal number of eight digits, as in VSDB files. One in ten has all 17 digits,
// and one in ten is awkward.
func float(rng *rand.Rand) float64 {
	switch rng.IntN(10) {
	case 0:
		return AwkwardNumbers()[rng.IntN(len(AwkwardNumbers()))]
	case 1:
		return rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10))
	}
	return math.Round(rng.NormFloat64()*1e6) / 1e4
}

// AwkwardNumbers lists doubles that are lost by a detour through 32 bits, six digits, an integer or a text
// of fifteen digits. It does not contain −9999, METviewer's value for "missing".
func AwkwardNumbers() []float64 {
	return []float64{
		0, math.Copysign(0, -1), 0.1, 1.0 / 3, math.Pi, -math.Pi, 1e-7, 123456789.123456789,
		1 << 53, 1<<53 + 2, -(1<<62 + 1<<10), 1e308, -1e308, math.MaxFloat64, 1e-308,
		math.SmallestNonzeroFloat64, 2.2250738585072011e-308, math.Float64frombits(0x3ff0000000000001),
		0.30000000000000004, 9007199254740993, 5e-324, 1e22, 1e23, 100, -0.5,
	}
}

// every returns n times from first in intervals of step.
func every(first, step int64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = first + int64(i)*step
	}
	return out
}

// hours returns leads in hours.
func hours(h ...int32) []int32 {
	out := slices.Clone(h)
	for i := range out {
		out[i] *= hour
	}
	return out
}

// vsdb returns the header of a VSDB line.
func vsdb(model, obtype, mask, variable, level string) record.Header {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType] = "V01", model, obtype
	h[record.VxMask], h[record.FcstVar], h[record.ObsVar] = mask, variable, variable
	h[record.FcstLev], h[record.ObsLev] = level, level
	return h
}

// met returns the header of a line of a MET file.
func met(model, mask, variable, level, interp, threshold string) record.Header {
	h := vsdb(model, "ANALYS", mask, variable, level)
	h[record.Version], h[record.Descr] = "V12.0.0", "NA"
	h[record.FcstUnits], h[record.ObsUnits] = "K", "K"
	h[record.InterpMthd], h[record.InterpPnts] = interp, "4"
	h[record.FcstThresh], h[record.ObsThresh] = threshold, threshold
	h[record.Alpha] = "0.05"
	return h
}
