package load

import "github.com/barograph/barograph/record"

// Fingerprint computes the digest of a data set as an archive would hold it: of
// records of one identity the first stands, see Refuse. It keeps 40 bytes a
// record.
type Fingerprint struct {
	first map[record.Key]standing
	types []string
	hash  record.Hasher
}

// standing is a record that stands.
type standing struct {
	digest record.Digest
	t      int
}

// Add takes the records of b, in the order of the files.
func (f *Fingerprint) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	if f.first == nil {
		f.first = map[record.Key]standing{}
	}
	t := 0
	for t < len(f.types) && f.types[t] != b.Type.Name {
		t++
	}
	if t == len(f.types) {
		f.types = append(f.types, b.Type.Name)
	}
	f.hash.Use(b)
	for i := range b.Len() {
		if k := f.hash.Key(i); f.first[k] == (standing{}) {
			f.first[k] = standing{f.hash.Digest(i), t}
		}
	}
}

// Digest is the digest of the records that stand.
func (f *Fingerprint) Digest() record.Digest {
	var d record.Digest
	for _, p := range f.first {
		d.Add(p.digest)
	}
	return d
}

// ByType counts the records that stand, by line type.
func (f *Fingerprint) ByType() map[string]int64 {
	n := make(map[string]int64, len(f.types))
	for _, p := range f.first {
		n[f.types[p.t]]++
	}
	return n
}
