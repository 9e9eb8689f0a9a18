package trino

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/formats/tpcds"
)

// write writes the rows of a file: of store_sales into a file for each part,
// by the ticket, of another table into one.
func (s *star) write(ctx context.Context, homes []string, t engine.StarTable, rows *sqlengine.StarRows) (n int64, err error) {
	name := fmt.Sprintf("%06d.parquet", s.files.Add(1))
	paths := []string{filepath.Join(homes[0], string(t), name)}
	if t == engine.StoreSales {
		paths = make([]string, s.place.Partitions)
		for i := range paths {
			paths[i] = filepath.Join(part(homes, i), name)
		}
	}
	parts := make([]*partWriter, 0, len(paths))
	defer func() {
		for _, p := range parts {
			err = errors.Join(err, p.close())
		}
	}()
	ticket := 0
	for k, c := range tpcds.Columns(string(t)) {
		if c.Name == "ss_ticket_number" {
			ticket = k
		}
	}
	for _, path := range paths {
		p, err := newPartWriter(path, t)
		if err != nil {
			return 0, err
		}
		parts = append(parts, p)
	}
	for rows.Next() {
		columns, i := rows.Row()
		at := 0
		if t == engine.StoreSales {
			at = int(uint64(columns[ticket].Whole[i]) % uint64(len(parts)))
		}
		if err := parts[at].add(columns, i); err != nil {
			return 0, err
		}
		if n++; n%batchRows == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
	return n, rows.Err()
}

// batchRows are handed to the encoder at once.
const batchRows = 1024

// partWriter writes a Parquet file.
type partWriter struct {
	file  *os.File
	out   *parquet.GenericWriter[any]
	leaf  []int // of each column of the table
	batch []parquet.Row
	held  int
}

// newPartWriter begins a file with the columns of a table, which are found by
// their names.
func newPartWriter(path string, t engine.StarTable) (*partWriter, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	columns := tpcds.Columns(string(t))
	group := parquet.Group{}
	for _, c := range columns {
		group[c.Name] = parquet.Optional(starNode(&c))
	}
	schema := parquet.NewSchema(string(t), group)
	p := &partWriter{file: f, out: parquet.NewGenericWriter[any](f, schema, parquet.Compression(&parquet.Zstd)), batch: make([]parquet.Row, batchRows)}
	for _, c := range columns {
		leaf, _ := schema.Lookup(c.Name)
		p.leaf = append(p.leaf, leaf.ColumnIndex)
	}
	for i := range p.batch {
		p.batch[i] = make(parquet.Row, len(columns))
	}
	return p, nil
}

func starNode(c *tpcds.Column) parquet.Node {
	switch c.Kind {
	case tpcds.Big:
		return parquet.Int(64)
	case tpcds.Decimal:
		return parquet.Decimal(2, 7, parquet.Int32Type)
	case tpcds.Date:
		return parquet.Date()
	case tpcds.Char, tpcds.Varchar:
		return parquet.String()
	}
	return parquet.Int(32)
}

// add appends row i of columns.
func (p *partWriter) add(columns []tpcds.Vector, i int) error {
	row := p.batch[p.held]
	for k := range columns {
		at := p.leaf[k]
		row[at] = starValue(&columns[k], i, at)
	}
	if p.held++; p.held == len(p.batch) {
		return p.flush()
	}
	return nil
}

// starValue is value i of a column. Texts are copied: those of a row group are
// overwritten by the next.
func starValue(v *tpcds.Vector, i, leaf int) parquet.Value {
	if v.Null[i] {
		return parquet.NullValue().Level(0, 0, leaf)
	}
	switch v.Kind {
	case tpcds.Char, tpcds.Varchar:
		return parquet.ByteArrayValue(append([]byte(nil), v.Text[i]...)).Level(0, 1, leaf)
	case tpcds.Big:
		return parquet.Int64Value(v.Whole[i]).Level(0, 1, leaf)
	}
	return parquet.Int32Value(int32(v.Whole[i])).Level(0, 1, leaf)
}

func (p *partWriter) flush() error {
	_, err := p.out.WriteRows(p.batch[:p.held])
	p.held = 0
	return err
}

// close ends the file, which is on disk then.
func (p *partWriter) close() error {
	return errors.Join(p.flush(), p.out.Close(), p.file.Sync(), p.file.Close())
}
