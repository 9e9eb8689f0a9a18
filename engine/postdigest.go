package engine

import (
	"encoding/binary"
	"iter"
	"math"

	"github.com/zeebo/xxh3"

	"barograph/record"
)

// PostDigest is the content of tables of values, whatever their order.
type PostDigest struct {
	// Values is of station, parameter, duration, time and value: equal in the
	// designs single and array.
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

// PostReference says what tables of the designs single and array must hold,
// from the messages alone: it applies a policy to one value after the other.
type PostReference struct {
	Policy Policy
	stored map[postKey]PostedValue
}

type postKey struct {
	Series
	time int64
}

// Post posts messages.
func (r *PostReference) Post(messages []PostMessage) {
	if r.stored == nil {
		r.stored = map[postKey]PostedValue{}
	}
	for m := range messages {
		for i := range messages[m].Values {
			g := &messages[m].Values[i]
			k := postKey{Series{g.Station, g.Code, g.Duration}, g.Time}
			if old, ok := r.stored[k]; ok && !r.Policy.Rule(g.Revised).Writes(old.Value, g.Value) {
				continue
			}
			r.stored[k] = PostedValue{
				Station: g.Station, Code: g.Code, Duration: g.Duration, Time: g.Time, Value: g.Value, Basis: record.NoTime,
				Quality: g.Quality, Revised: g.Revised, Product: messages[m].Product, Issued: messages[m].Issued,
			}
		}
	}
}

// Digest is that of the design single; its Values are those of arrays, too.
func (r *PostReference) Digest() (d PostDigest) {
	var buf []byte
	for _, v := range r.stored {
		buf = d.add(&v, buf)
	}
	return d
}
