package tpcds_test

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	format "github.com/barograph/barograph/formats/tpcds"
)

// digest is the number of rows and the sum of their hashes. It does not depend on
// the order of the rows, and not on their division into files.
type digest struct {
	Rows int64
	Sum  [2]uint64 // modulo 2⁶⁴ each
}

// add adds rows with all their columns.
func (d *digest) add(r *format.Rows) {
	var b []byte
	for i := range r.N {
		b = b[:0]
		for k := range r.Columns {
			v := &r.Columns[k]
			switch {
			case v.Null[i]:
				b = append(b, 0)
			case v.Kind == format.Char || v.Kind == format.Varchar:
				b = append(binary.AppendUvarint(append(b, 1), uint64(len(v.Text[i]))), v.Text[i]...)
			default:
				b = binary.AppendVarint(append(b, 1), v.Int[i])
			}
		}
		h := xxh3.Hash128(b)
		d.Rows++
		d.Sum[0] += h.Hi
		d.Sum[1] += h.Lo
	}
}

// digestFiles digests the rows of Parquet files of a table.
func digestFiles(table string, paths ...string) (d digest, err error) {
	for _, path := range paths {
		for rows, err := range format.Read(path, table) {
			if err != nil {
				return d, err
			}
			d.add(rows)
		}
	}
	return d, nil
}
