package engine

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/record"
)

// PostDigest is the content of tables of values, whatever their order.
type PostDigest struct {
	// Values is of station, parameter, duration, time and value: equal in the
	// designs single and array. Of IHFS's forecasts and paired values it has the
	// rest of their key, too.
	Values record.Digest `json:"values"`
	// Content has besides what the design keeps of quality, revision and
	// product; not the time of posting.
	Content record.Digest `json:"content"`
}

// DigestPosts digests stored values.
func DigestPosts(values iter.Seq2[*PostedValue, error]) (d PostDigest, err error) {
	var buf []byte
	for v, err := range values {
		if err != nil {
			return d, err
		}
		buf = d.add(v, buf)
	}
	return d, nil
}

func (d *PostDigest) add(v *PostedValue, buf []byte) []byte {
	buf = append(append(buf[:0], v.Station[:]...), v.Code[:]...)
	value := v.Value
	if value == 0 {
		value = 0 // no negative zero
	}
	for _, x := range [...]uint64{uint64(v.Duration), uint64(v.Time), math.Float64bits(value)} {
		buf = binary.LittleEndian.AppendUint64(buf, x)
	}
	if v.Basis != record.NoTime {
		for _, x := range [...]uint64{uint64(v.Basis), uint64(math.Float32bits(v.Probability)), uint64(v.Ref)} {
			buf = binary.LittleEndian.AppendUint64(buf, x)
		}
	}
	one := func() record.Digest {
		k := xxh3.Hash128(buf)
		return record.Digest{Hi: k.Hi, Lo: k.Lo, Records: 1}
	}
	d.Values.Add(one())
	buf = binary.LittleEndian.AppendUint64(buf, uint64(v.Basis))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(v.Issued))
	revised := byte(0)
	if v.Revised {
		revised = 1
	}
	buf = append(append(buf, v.Quality, revised), v.Product...)
	d.Content.Add(one())
	return buf
}

// PostReference says what tables of a design must hold, from the messages
// alone: it applies a policy to one value after the other. Its memory grows
// with the values of the stations that it is asked to look at.
type PostReference struct {
	Policy Policy
	Design PostDesign                   // those of the archive keep the same; "" = one of them
	Only   func(station record.ID) bool // which stations it looks at; nil = all
	// Without leaves values out of the digest; nil = none.
	Without func(v *PostedValue) bool
	stored  map[postKey]kept
}

// postKey is what tells values apart: the last three of IHFS alone.
type postKey struct {
	Series
	time, basis int64
	probability float32
	ref         int32
}

// kept is what is stored under a key.
type kept struct {
	value   float64
	issued  int64
	product string
	quality byte
	revised bool
}

// place finds the key of a value, and the value as the design keeps it.
func (d PostDesign) place(g *record.Gauge) (k postKey, value float64) {
	k = postKey{Series: Series{g.Station, g.Code, g.Duration}, time: g.Time, basis: record.NoTime}
	if d != IHFSDesign {
		return k, g.Value
	}
	k.Code[2], k.Code[6] = 0, 0 // the number of the duration and the probability itself are kept
	paired := record.Paired(g.Code.PE())
	if paired || g.Code[3] == 'F' || g.Code[3] == 'C' {
		k.probability, k.basis = g.Probability, 0
		if g.Created != record.NoTime {
			k.basis = g.Created
		}
	}
	if paired {
		ref, value := record.SplitPair(g.Value)
		k.ref = int32(ref)
		return k, value
	}
	return k, IHFSValue(&g.Code, g.Value)
}

// IHFSValue makes a value of SHEF one of IHFS, which keeps discharge in cubic
// feet a second where SHEF has thousands of them: all elements of Q but QB, QE
// and QF, which are no discharge, and HZ.
func IHFSValue(c *record.Parameter, v float64) float64 {
	thousands := c[0] == 'H' && c[1] == 'Z' || c[0] == 'Q' && c[1] != 'B' && c[1] != 'E' && c[1] != 'F'
	if !thousands || v == record.NoValue {
		return v
	}
	return v * 1000
}

// Post posts messages.
func (r *PostReference) Post(messages []PostMessage) {
	if r.stored == nil {
		r.stored = map[postKey]kept{}
	}
	for m := range messages {
		for i := range messages[m].Values {
			g := &messages[m].Values[i]
			if r.Only != nil && !r.Only(g.Station) {
				continue
			}
			k, value := r.Design.place(g)
			if old, ok := r.stored[k]; ok && !r.Policy.Rule(g.Revised).Writes(old.value, value) {
				continue
			}
			r.stored[k] = kept{value: value, issued: messages[m].Issued, product: messages[m].Product, quality: g.Quality, revised: g.Revised}
		}
	}
}

// Digest is that of the design single or IHFS; its Values are those of arrays,
// too.
func (r *PostReference) Digest() (d PostDigest) {
	var buf []byte
	for k, x := range r.stored {
		v := PostedValue{
			Station: k.Station, Code: k.Code, Duration: k.Duration, Time: k.time, Value: x.value, Basis: k.basis, Probability: k.probability, Ref: k.ref,
			Quality: x.quality, Revised: x.revised, Product: x.product, Issued: x.issued,
		}
		if r.Without == nil || !r.Without(&v) {
			buf = d.add(&v, buf)
		}
	}
	return d
}
