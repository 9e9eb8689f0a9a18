package postgres

import (
	"context"
	"io"
	"path"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"barograph/design"
	"barograph/engine"
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

func (w *rowWriter) write(ctx context.Context, c *pgx.Conn, t *record.LineType, known *design.Catalog, stored *engine.Stored) error {
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
	rows, err := w.present(ctx, c, table, p, p.overlap(known))
	if err == nil && len(rows) > 0 {
		err = w.replace(ctx, c, t, p, rows, stored)
	}
	if err != nil {
		return err
	}
	return send(ctx, c, w.l.a.design, table, cols, p, p.rows)
}

// present selects, of the rows that the archive may hold, those of a series
// and valid time that it does hold. It asks for these pairs alone, by the
// table's index: a catalog tells a grid of times but not which were loaded,
// and of a year that is loaded one cycle after the other nearly every row may
// be there and none is.
func (w *rowWriter) present(ctx context.Context, c *pgx.Conn, table string, p *pending, rows []row) ([]row, error) {
	var pairs []row // rows stand in the order of header and valid time
	for i, r := range rows {
		if i == 0 || r.head != rows[i-1].head || r.valid != rows[i-1].valid {
			pairs = append(pairs, r)
		}
	}
	if len(pairs) == 0 {
		return nil, nil
	}
	text, args := w.probe(table, p, pairs)
	found, err := c.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	type pair struct {
		head  int32
		valid int64
	}
	there := map[pair]bool{}
	var n int64
	_, err = pgx.ForEachRow(found, []any{&n}, func() error {
		there[pair{pairs[n-1].head, pairs[n-1].valid}] = true
		return nil
	})
	var out []row
	for _, r := range rows {
		if there[pair{r.head, r.valid}] {
			out = append(out, r)
		}
	}
	return out, err
}

// probe is the query for the numbers, from 1, of the pairs that a table holds.
func (w *rowWriter) probe(table string, p *pending, pairs []row) (text string, args []any) {
	if w.normalized() {
		ids, times := make([]int64, len(pairs)), make([]time.Time, len(pairs))
		for i, r := range pairs {
			ids[i], times[i] = p.ids[r.head], time.Unix(r.valid, 0).UTC()
		}
		return "SELECT u.n FROM unnest($1::bigint[], $2::timestamp[]) WITH ORDINALITY AS u(id, valid, n)" +
			" WHERE EXISTS (SELECT FROM " + table + " t WHERE t.stat_header_id = u.id AND t.fcst_valid_beg = u.valid)", []any{ids, times}
	}
	var fields [4][]string
	epochs := make([]int64, len(pairs))
	for i, r := range pairs {
		for k, f := range [...]record.Field{record.Model, record.FcstVar, record.FcstLev, record.VxMask} {
			fields[k] = append(fields[k], p.heads[r.head][f])
		}
		epochs[i] = r.valid
	}
	return "SELECT u.n FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) WITH ORDINALITY AS u(model, var, lev, mask, valid, n)" +
			" WHERE EXISTS (SELECT FROM " + table + " t WHERE t.model = u.model AND t.fcst_var = u.var AND t.fcst_lev = u.lev AND t.vx_mask = u.mask AND t.fcst_valid_epoch = u.valid)",
		[]any{fields[0], fields[1], fields[2], fields[3], epochs}
}

// replace deletes from the archive the records that rows of p replace. Their
// identities go to a temporary table, which is joined with the archive's.
func (w *rowWriter) replace(ctx context.Context, c *pgx.Conn, t *record.LineType, p *pending, rows []row, stored *engine.Stored) error {
	name, cols, _ := sqlengine.Table(w.l.a.design, t)
	table, stage := w.l.a.dialect.Table(w.l.subset, name), identity(cols)
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
	for _, col := range stage {
		if col.NotNull {
			on = append(on, "ld."+col.Name+" = s."+col.Name)
		} else {
			on = append(on, "ld."+col.Name+" IS NOT DISTINCT FROM s."+col.Name)
		}
	}
	same := strings.Join(on, " AND ")
	var in engine.Index
	for have, err := range engine.Dump(func(to *engine.Dumper) error {
		return w.l.a.dumpLines(ctx, c, w.l.subset, t, " WHERE EXISTS (SELECT FROM pg_temp.barograph_stage s WHERE "+same+")", to)
	}) {
		if err != nil {
			return err
		}
		if in == nil {
			in = engine.IndexOf(p.batches)
		}
		if err := stored.MeetAll(have, in); err != nil {
			return err
		}
	}
	if err := execute(ctx, c, "DELETE FROM "+table+" ld USING pg_temp.barograph_stage s WHERE "+same); err != nil {
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
