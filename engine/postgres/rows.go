package postgres

import (
	"context"
	"io"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"barograph/design"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// rowWriter writes the designs of one row per record: normalized and wide.
type rowWriter struct {
	l       *loader
	pending map[*record.LineType]*pending
	order   []*record.LineType // of first sight
	headers *sqlengine.Interner[record.Header]
	files   *sqlengine.Interner[string]
}

func newRowWriter(l *loader) *rowWriter {
	return &rowWriter{l: l, pending: map[*record.LineType]*pending{}}
}

func (w *rowWriter) add(b *record.Batch) {
	p := w.pending[b.Type]
	if p == nil {
		p = newPending(b.Type)
		w.pending[b.Type] = p
		w.order = append(w.order, b.Type)
	}
	p.add(b)
}

func (w *rowWriter) types() []*record.LineType { return w.order }

func (w *rowWriter) normalized() bool { return w.l.a.design == design.Normalized }

// read learns the numbers of headers and files.
func (w *rowWriter) read(ctx context.Context, c *pgx.Conn) error {
	if !w.normalized() {
		return nil
	}
	w.headers, w.files = sqlengine.NewInterner[record.Header](), sqlengine.NewInterner[string]()
	cols := sqlengine.HeaderColumns()
	rows, err := c.Query(ctx, "SELECT "+sqlengine.Names("", cols)+" FROM "+w.l.a.dialect.Table(w.l.subset, design.HeaderTable))
	if err != nil {
		return err
	}
	var id int64
	var h record.Header
	into := []any{&id}
	for _, col := range cols[1:] {
		into = append(into, &h[col.Field])
	}
	_, err = pgx.ForEachRow(rows, into, func() error {
		w.headers.Have(h, id)
		return nil
	})
	if err != nil {
		return err
	}
	rows, err = c.Query(ctx, "SELECT data_file_id, path, filename FROM "+w.l.a.dialect.Table(w.l.subset, sqlengine.FileTable))
	if err != nil {
		return err
	}
	var dir, name string
	_, err = pgx.ForEachRow(rows, []any{&id, &dir, &name}, func() error {
		w.files.Have(dir+name, id)
		return nil
	})
	return err
}

func (w *rowWriter) write(ctx context.Context, c *pgx.Conn, t *record.LineType, stored *design.Catalog, replaced map[string]int64) error {
	p := w.pending[t]
	p.order()
	if w.normalized() {
		p.ids, p.files = make([]int64, len(p.heads)), make([]int64, len(p.batches))
		for i, h := range p.heads {
			p.ids[i], _ = w.headers.ID(sqlengine.HeaderKey(h))
		}
		for i, b := range p.batches {
			p.files[i], _ = w.files.ID(b.File)
		}
	}
	name, cols, _ := sqlengine.Table(w.l.a.design, t)
	table := w.l.a.dialect.Table(w.l.subset, name)
	if rows := newHeld(stored, t).overlap(p); len(rows) > 0 {
		if err := w.replace(ctx, c, table, cols, p, rows, replaced); err != nil {
			return err
		}
	}
	return send(ctx, c, w.l.a.design, table, cols, p, p.rows)
}

// replace deletes from the archive the records that rows of p replace. Their
// identities go to a temporary table, which is joined with the archive's.
func (w *rowWriter) replace(ctx context.Context, c *pgx.Conn, table string, cols []sqlengine.Column, p *pending, rows []row, replaced map[string]int64) error {
	batch := sqlengine.Column{Name: "barograph_batch", Type: sqlengine.Integer, NotNull: true}
	stage := append([]sqlengine.Column{batch}, identity(cols)...)
	create := strings.Replace(sqlengine.Create("barograph_stage", stage, typeName), "CREATE TABLE IF NOT EXISTS", "CREATE TEMP TABLE", 1)
	if err := execute(ctx, c, create); err != nil {
		return err
	}
	if err := send(ctx, c, w.l.a.design, "pg_temp.barograph_stage", stage, p, rows); err != nil {
		return err
	}
	if err := execute(ctx, c, "ANALYZE pg_temp.barograph_stage"); err != nil { // else it is planned for as if it were empty
		return err
	}
	on := make([]string, 0, len(stage))
	for _, col := range stage[1:] {
		if col.NotNull {
			on = append(on, "t."+col.Name+" = s."+col.Name)
		} else {
			on = append(on, "t."+col.Name+" IS NOT DISTINCT FROM s."+col.Name)
		}
	}
	gone, err := c.Query(ctx, "WITH gone AS (DELETE FROM "+table+" t USING pg_temp.barograph_stage s WHERE "+strings.Join(on, " AND ")+
		" RETURNING s.barograph_batch) SELECT barograph_batch, count(*) FROM gone GROUP BY barograph_batch")
	if err != nil {
		return err
	}
	var at, n int64
	_, err = pgx.ForEachRow(gone, []any{&at, &n}, func() error {
		replaced[p.batches[at].File] += n
		return nil
	})
	if err != nil {
		return err
	}
	return execute(ctx, c, "DROP TABLE pg_temp.barograph_stage")
}

// finish writes the headers and files that came with this commit.
func (w *rowWriter) finish(ctx context.Context, c *pgx.Conn) error {
	if !w.normalized() {
		return nil
	}
	heads, first := w.headers.Fresh()
	if len(heads) > 0 {
		p := &pending{heads: heads, ids: make([]int64, len(heads)), rows: make([]row, len(heads)), batches: []*record.Batch{nil}}
		for i := range heads {
			p.ids[i], p.rows[i].head = first+int64(i), int32(i)
		}
		if err := send(ctx, c, w.l.a.design, w.l.a.dialect.Table(w.l.subset, design.HeaderTable), sqlengine.HeaderColumns(), p, p.rows); err != nil {
			return err
		}
	}
	files, first := w.files.Fresh()
	if len(files) == 0 {
		return nil
	}
	at, now, cols := 0, time.Now().Unix(), sqlengine.FileColumns()
	return copyRows(ctx, c, w.l.a.dialect.Table(w.l.subset, sqlengine.FileTable), cols, func(dst []byte) ([]byte, error) {
		if at == len(files) {
			return dst, io.EOF
		}
		dir, name := path.Split(files[at])
		dst = append(dst, 0, byte(len(cols)))
		dst = appendBig(dst, first+int64(at))
		dst = appendInt(dst, sqlengine.FileKind(name))
		dst = appendText(appendText(dst, name), dir)
		at++
		return appendNull(appendTime(dst, now)), nil
	})
}

func (w *rowWriter) reset(committed bool) {
	clear(w.pending)
	w.order = nil
	switch {
	case w.headers == nil:
	case committed:
		w.headers.Keep()
		w.files.Keep()
	default:
		w.headers, w.files = nil, nil
	}
}
