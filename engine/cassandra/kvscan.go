package cassandra

import (
	"bytes"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/kv"
)

const (
	maxParts = 32   // greatest number of partitions that a scan reads at once
	pageRows = 1000 // rows of a partition in one page
)

// scan reads the partition of the first key, which mostly has enough records. Then it reads the listed partitions after
// it. It first reads one, which shows the size of partitions, and then as many at once as should be enough, up to
// maxParts.
func (c *kvConn) scan(ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error) (err error) {
	if n <= 0 {
		return ctx.Err()
	}
	counted := func(key []byte, r *kv.Row) error {
		n--
		return each(key, r)
	}
	last := c.part(from)
	if len(last) > 0 {
		if err := c.readPartition(ctx, last, from, n, f, &c.row, counted); err != nil {
			return err
		}
	}
	var listed [][]byte // listed partitions that are not read yet
	for window := 1; n > 0; {
		if len(listed) == 0 {
			if listed, err = c.partitionsAfter(ctx, last, maxParts); err != nil || len(listed) == 0 {
				return err
			}
		}
		parts := listed[:min(window, len(listed))]
		listed, last = listed[len(parts):], parts[len(parts)-1]
		byPart, err := c.readAll(ctx, parts, nil, n, f)
		if err != nil {
			return err
		}
		rows := slices.Concat(byPart...)
		for i := 0; i < len(rows) && n > 0; i++ {
			if err := counted(rows[i].Key, rows[i].Row); err != nil {
				return err
			}
		}
		window = min(n*len(parts)/max(len(rows), 1)+1, maxParts)
	}
	return nil
}

// scanAll queries all partitions of a hashed table for a page from a key on. It yields the records before the end of
// the first page of a partition that may have more records, because the next record could be in this partition.
func (c *kvConn) scanAll(ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error) error {
	parts := make([][]byte, hashParts)
	for i := range parts {
		parts[i] = []byte{byte(i)}
	}
	byKey := func(a, b kv.KeyRow) int { return bytes.Compare(a.Key, b.Key) }
	for n > 0 {
		page := kv.PageSize(n, hashParts)
		byPart, err := c.readAll(ctx, parts, from, page, f)
		if err != nil {
			return err
		}
		var end []byte
		for _, rows := range byPart {
			if len(rows) == page && (end == nil || bytes.Compare(rows[page-1].Key, end) < 0) {
				end = rows[page-1].Key
			}
		}
		all := slices.Concat(byPart...)
		slices.SortFunc(all, byKey)
		for _, r := range all {
			if n == 0 || end != nil && bytes.Compare(r.Key, end) > 0 {
				break
			}
			if err := each(r.Key, r.Row); err != nil {
				return err
			}
			n--
		}
		if end == nil {
			return nil
		}
		from = append(end, 0) // the next possible key
	}
	return ctx.Err()
}

// readAll reads at most n records from each of some partitions, from a key on, concurrently.
func (c *kvConn) readAll(ctx context.Context, parts [][]byte, from []byte, n int, f kv.Fields) ([][]kv.KeyRow, error) {
	rows := make([][]kv.KeyRow, len(parts))
	g, groupCtx := errgroup.WithContext(ctx)
	for i, part := range parts {
		g.Go(func() error {
			return c.readPartition(groupCtx, part, from, n, f, &kv.Row{}, func(key []byte, r *kv.Row) error {
				rowCopy := &kv.Row{}
				rowCopy.AddRow(r)
				rows[i] = append(rows[i], kv.KeyRow{Key: slices.Clone(key), Row: rowCopy})
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, callError(ctx, err)
	}
	return rows, nil
}

// readPartition yields at most n records of one partition, from a key on. It stores each record in row.
func (tb *kvTable) readPartition(
	ctx context.Context, part, from []byte, n int, f kv.Fields, row *kv.Row, each func(key []byte, r *kv.Row) error,
) error {
	text := "SELECT " + keyColumn + ", " + tb.columns(f, "") + " FROM " + tb.table +
		" WHERE " + prefixColumn + " = ? AND " + keyColumn + " >= ? LIMIT ?"
	cells := make([]raw, 1+tb.width(f))
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	if from == nil {
		from = []byte{}
	}
	rows := tb.query(text, part, from, n).PageSize(min(n, pageRows)).Prefetch(0).IterContext(ctx)
	for rows.Scan(into...) {
		row.Reset()
		tb.decode(cells[1:], f, row)
		if err := each(cells[0], row); err != nil {
			_ = rows.Close() // err is reported instead
			return err
		}
	}
	return callError(ctx, rows.Close())
}
