package load

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Fingerprint computes the digest that a data set would have in an archive. It uses the first
// record of each identity, as Refuse does. It keeps records in memory, at 100 bytes each.
// Beyond MaxInMemory it writes them to temporary files, at 48 bytes each.
type Fingerprint struct {
	MaxInMemory int // maximum number of records in memory; 0 = defaultInMemory

	first map[record.Key]countedRecord
	// records that differ from the first of their identity, in the order of the records
	conflicting []conflictingRecord
	conflicts   int64
	types       []string
	hash        record.Hasher
	files       []*os.File // temporary files, chosen by identity; empty while all records fit into memory
	spill       []*bufio.Writer
	err         error
}

const (
	defaultInMemory = 1 << 21
	spillParts      = 128
)

// countedRecord is a record, and the number of later records with the same identity and values. If the record conflicts
// with the first record of its identity, each of these later records is also a conflict.
type countedRecord struct {
	digest     record.Digest
	typeIndex  int
	duplicates int64 // later records with the same values
}

// conflictingRecord is a record whose values differ from the first record of its identity.
type conflictingRecord struct {
	key record.Key
	countedRecord
}

// Conflicts is the number of records whose values contradict the first record of their identity. It
// is valid after Sum.
func (f *Fingerprint) Conflicts() int64 { return f.conflicts }

// Add adds the records of b. Callers must add batches in the order of the files.
func (f *Fingerprint) Add(b *record.Batch) {
	if b.Len() == 0 || f.err != nil {
		return
	}
	if f.first == nil {
		f.first = map[record.Key]countedRecord{}
	}
	t := slices.Index(f.types, b.Type.Name)
	if t < 0 {
		t, f.types = len(f.types), append(f.types, b.Type.Name)
	}
	f.hash.SetBatch(b)
	for i := range b.Len() {
		k, s := f.hash.Key(i), countedRecord{digest: f.hash.Digest(i), typeIndex: t}
		switch first, known := f.first[k]; {
		case !known:
			f.first[k] = s
		case first.digest == s.digest:
			first.duplicates++
			f.first[k] = first
		default:
			f.conflicting = append(f.conflicting, conflictingRecord{k, s})
		}
	}
	if len(f.first)+len(f.conflicting) > cmp.Or(f.MaxInMemory, defaultInMemory) {
		f.err = f.flush()
	}
}

// flush moves the records from memory to the temporary files.
func (f *Fingerprint) flush() error {
	if f.spill == nil {
		for range spillParts {
			file, err := os.CreateTemp("", "barograph-fingerprint-")
			if err != nil {
				return err
			}
			if err := os.Remove(file.Name()); err != nil { // the operating system deletes it when it is closed
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
	for _, d := range f.conflicting {
		if err := f.write(d.key, d.countedRecord); err != nil {
			return err
		}
	}
	clear(f.first)
	f.conflicting = f.conflicting[:0]
	return nil
}

func (f *Fingerprint) write(k record.Key, s countedRecord) error {
	var line []byte
	for _, x := range [...]uint64{k.Hi, k.Lo, s.digest.Hi, s.digest.Lo, uint64(s.typeIndex), uint64(s.duplicates)} { //nolint:gosec // not negative
		line = binary.LittleEndian.AppendUint64(line, x)
	}
	_, err := f.spill[k.Lo%spillParts].Write(line)
	return err
}

// Sum returns the digest of the first record of each identity, and their number by line type. After
// Sum, nothing can be added.
func (f *Fingerprint) Sum() (d record.Digest, byType map[string]int64, err error) {
	byType = map[string]int64{}
	defer func() {
		for _, file := range f.files {
			err = errors.Join(err, file.Close())
		}
	}()
	if len(f.files) > 0 && f.err == nil {
		f.err = f.flush()
	}
	if f.err != nil {
		return d, nil, &fault.Error{Setting: os.TempDir(), Problem: "cannot store the list of records", Err: f.err, Cure: "set TMPDIR to a folder with 48 free bytes per record"}
	}
	f.conflicts = int64(len(f.conflicting))
	f.total(&d, byType)
	for i, file := range f.files {
		if err := f.collect(i, file); err != nil {
			return d, nil, err
		}
		f.total(&d, byType)
	}
	return d, byType, nil
}

// collect reads a temporary file and keeps the first record of each identity.
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
		s := countedRecord{digest: record.Digest{Hi: line[2], Lo: line[3], Records: 1}, typeIndex: int(line[4])} //nolint:gosec // a small number
		switch first, known := f.first[k]; {
		case !known:
			f.first[k] = s
		case first.digest != s.digest: // so its duplicates conflict, too
			f.conflicts += 1 + int64(line[5]) //nolint:gosec // as above
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// total adds the records in memory.
func (f *Fingerprint) total(d *record.Digest, byType map[string]int64) {
	for _, p := range f.first {
		d.Add(p.digest)
		byType[f.types[p.typeIndex]]++
	}
}
