package load

import "barograph/record"

// Fingerprint computes the digest of a data set as an archive would hold it: a
// later record replaces an earlier one of the same identity. It keeps 40 bytes
// a record.
type Fingerprint struct {
	last  map[record.Key]standing
	types []string
	hash  record.Hasher
}

// standing is a record that no later one has replaced yet.
type standing struct {
	digest record.Digest
	t      int
}

// Add takes the records of b, in the order of the files.
func (f *Fingerprint) Add(b *record.Batch) {
	if b.Len() == 0 {
		return
	}
	if f.last == nil {
		f.last = map[record.Key]standing{}
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
		f.last[f.hash.Key(i)] = standing{f.hash.Digest(i), t}
	}
}

// Digest is the digest of the records that stand.
func (f *Fingerprint) Digest() record.Digest {
	var d record.Digest
	for _, p := range f.last {
		d.Add(p.digest)
	}
	return d
}

// ByType counts the records that stand, by line type.
func (f *Fingerprint) ByType() map[string]int64 {
	n := make(map[string]int64, len(f.types))
	for _, p := range f.last {
		n[f.types[p.t]]++
	}
	return n
}
