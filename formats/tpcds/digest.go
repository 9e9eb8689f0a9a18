package tpcds

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"
)

// Digest is what rows are, whatever their order and the files they lie in: how
// many, and the sum of their hashes.
type Digest struct {
	Rows int64
	Sum  [2]uint64 // modulo 2⁶⁴ each
}

func (d Digest) String() string { return fmt.Sprintf("%016x%016x/%d", d.Sum[0], d.Sum[1], d.Rows) }

// Add adds rows, all their columns.
func (d *Digest) Add(r *Rows) {
	var b []byte
	for i := range r.N {
		b = b[:0]
		for k := range r.Columns {
			v := &r.Columns[k]
			switch {
			case v.Null[i]:
				b = append(b, 0)
			case v.Kind == Char || v.Kind == Varchar:
				b = append(binary.AppendUvarint(append(b, 1), uint64(len(v.Text[i]))), v.Text[i]...)
			default:
				b = binary.AppendVarint(append(b, 1), v.Whole[i])
			}
		}
		h := xxh3.Hash128(b)
		d.Rows++
		d.Sum[0] += h.Hi
		d.Sum[1] += h.Lo
	}
}

// DigestFiles digests the rows of Parquet files of a table.
func DigestFiles(table string, paths ...string) (d Digest, err error) {
	for _, path := range paths {
		for rows, err := range Read(path, table) {
			if err != nil {
				return d, err
			}
			d.Add(rows)
		}
	}
	return d, nil
}
