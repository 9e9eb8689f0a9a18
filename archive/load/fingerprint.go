package load

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Fingerprint computes the digest of a data set as an archive would hold it: of
// records of one identity the first stands, see Refuse. Some of them it keeps in
// memory, 100 bytes each, further ones in temporary files, 48 bytes each.
type Fingerprint struct {
	Most int // records in memory; 0 = mostFirst

	first  map[record.Key]standing
	differ []differing // from those that stand so far, in the order of the records
	other  int64
	types  []string
	hash   record.Hasher
	files  []*os.File // by identity, each in the order of the records; none while all are in memory
	spill  []*bufio.Writer
	failed error
}

const (
	mostFirst  = 1 << 21
	spillParts = 128
)

// standing is a record that stands.
type standing struct {
	digest record.Digest
	t      int
	again  int64 // later records that are the same
}

// differing is a record whose values are not those of the one that stands.
type differing struct {
	key record.Key
	standing
}

// Conflicts is the number of records whose values contradict the one of their
// identity that stands, after Sum.
func (f *Fingerprint) Conflicts() int64 { return f.other }

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
		k, s := f.hash.Key(i), standing{digest: f.hash.Digest(i), t: t}
		switch stands, known := f.first[k]; {
		case !known:
			f.first[k] = s
		case stands.digest == s.digest:
			stands.again++
			f.first[k] = stands
		default:
			f.differ = append(f.differ, differing{k, s})
		}
	}
	if len(f.first)+len(f.differ) > cmp.Or(f.Most, mostFirst) && f.failed == nil {
		f.failed = f.flush()
	}
}

// flush writes what is in memory to the temporary files.
func (f *Fingerprint) flush() error {
	if f.spill == nil {
		for range spillParts {
			file, err := os.CreateTemp("", "barograph-fingerprint-")
			if err != nil {
				return err
			}
			if err := os.Remove(file.Name()); err != nil { // it lives as long as it is open
				return err
			}
			f.files, f.spill = append(f.files, file), append(f.spill, bufio.NewWriter(file))
		}
	}
	for k, s := range f.first {
		if err := f.write(k, s); err != nil {
			return err
		}
	}
	for _, d := range f.differ {
		if err := f.write(d.key, d.standing); err != nil {
			return err
		}
	}
	clear(f.first)
	f.differ = f.differ[:0]
	return nil
}

func (f *Fingerprint) write(k record.Key, s standing) error {
	var line []byte
	for _, x := range [...]uint64{k.Hi, k.Lo, s.digest.Hi, s.digest.Lo, uint64(s.t), uint64(s.again)} { //nolint:gosec // not negative
		line = binary.LittleEndian.AppendUint64(line, x)
	}
	_, err := f.spill[k.Lo%spillParts].Write(line)
	return err
}

// Sum is the digest of the records that stand, and their number by line type.
// Nothing can be added any more.
func (f *Fingerprint) Sum() (d record.Digest, byType map[string]int64, err error) {
	byType = map[string]int64{}
	defer func() {
		for _, file := range f.files {
			err = errors.Join(err, file.Close())
		}
	}()
	if len(f.files) > 0 && f.failed == nil {
		f.failed = f.flush()
	}
	if f.failed != nil {
		return d, nil, &fault.Error{Setting: os.TempDir(), Problem: "holds no list of the records", Err: f.failed, Cure: "name a folder with room for 48 bytes a record: TMPDIR"}
	}
	f.other = int64(len(f.differ))
	f.total(&d, byType)
	for i, file := range f.files {
		if err := f.collect(i, file); err != nil {
			return d, nil, err
		}
		f.total(&d, byType)
	}
	return d, byType, nil
}

// collect reads a temporary file, of whose records of one identity the first stands.
func (f *Fingerprint) collect(i int, file *os.File) error {
	clear(f.first)
	err := f.spill[i].Flush()
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	in, line := bufio.NewReader(file), make([]uint64, 6)
	for err == nil {
		if err = binary.Read(in, binary.LittleEndian, line); err != nil {
			break
		}
		k := record.Key{Hi: line[0], Lo: line[1]}
		s := standing{digest: record.Digest{Hi: line[2], Lo: line[3], Records: 1}, t: int(line[4])} //nolint:gosec // a small number
		switch stands, known := f.first[k]; {
		case !known:
			f.first[k] = s
		case stands.digest != s.digest:
			f.other += 1 + int64(line[5]) //nolint:gosec // as above
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// total adds what is in memory.
func (f *Fingerprint) total(d *record.Digest, byType map[string]int64) {
	for _, p := range f.first {
		d.Add(p.digest)
		byType[f.types[p.t]]++
	}
}
