package asterixdb

import (
	"bytes"
	"context"
	"io"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// rowWriter writes METviewer's tables.
type rowWriter struct {
	pending
	fresh map[string]record.Header // by stat_header_id: those that are not there yet
}

func (w *rowWriter) find(ctx context.Context, stored *engine.Stored) error {
	if err := w.headers(ctx); err != nil {
		return err
	}
	w.fresh = map[string]record.Header{}
	var hash record.Hasher
	for _, t := range w.l.types {
		there := map[string]engine.At{} // by id of the row
		var wanted []string
		for _, b := range w.l.batches[t] {
			stored.New += int64(b.Len())
			hash.Use(b)
			groups := make([]*design.Group, len(b.Headers)) // that may hold records of the header
			for k := range b.Headers {
				groups[k] = w.state.catalog.Holding(t, &b.Headers[k])
				if id := headerID(w.l.subset, &b.Headers[k]); !w.l.headers[id] {
					w.fresh[id] = b.Headers[k]
				}
			}
			for i := range b.Len() {
				if g := groups[b.Head[i]]; g.MayHold(b.Valid[i]) && g.HasLead(b.Lead[i]) {
					id := rowID(w.l.subset, hash.Key(i))
					there[id] = engine.At{Batch: b, I: i}
					wanted = append(wanted, id)
				}
			}
		}
		cols := sqlengine.LineColumns(t)
		have := newCollector(t, cols)
		name := w.l.a.target(t)
		if w.there[name] == nil {
			w.there[name] = map[string][]byte{}
		}
		err := w.l.a.stored(ctx, name, wanted, func(id string, row []byte) error {
			w.there[name][id] = bytes.Clone(row)
			brought := there[id]
			have.Reset()
			have.SetHeader(*brought.Batch.Header(brought.I))
			for k := range cols {
				if err := collect(have, k, &cols[k], gjson.GetBytes(row, cols[k].Name)); err != nil {
					return err
				}
			}
			have.Row()
			stored.Meet(brought.Batch.File, &have.Batch, 0, brought.Batch, brought.I)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// headers reads which headers are there, unless the loader knows it from its
// own last commit.
func (w *rowWriter) headers(ctx context.Context) error {
	if w.l.known == w.state.version {
		return nil
	}
	there := map[string]bool{}
	_, err := w.l.a.db.client.run(ctx, request{
		text: "SELECT VALUE h.id FROM " + w.l.a.dataset(design.HeaderTable) + " AS h WHERE h.subset = " + quote(w.l.subset),
		row:  func(row []byte) error { there[gjson.ParseBytes(row).String()] = true; return nil },
	})
	if err == nil {
		w.l.headers, w.l.known = there, w.state.version
	}
	return err
}

func (w *rowWriter) parts() []part {
	var out []part
	if len(w.fresh) > 0 {
		kind := anyType
		if w.l.a.db.closed {
			kind = "header_type"
		}
		out = append(out, part{design.HeaderTable, kind, true, w.headerLines})
	}
	return append(out, w.typeParts(w.lines)...)
}

func (w *rowWriter) headerLines(out io.Writer) error {
	var buf []byte
	for _, h := range w.fresh {
		buf = appendHeader(buf[:0], w.l.subset, &h, w.version)
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) lines(out io.Writer, types []*record.LineType) error {
	var hash record.Hasher
	var buf []byte
	for _, t := range types {
		cols := sqlengine.LineColumns(t)
		for _, b := range w.l.batches[t] {
			hash.Use(b)
			ids := make([]string, len(b.Headers))
			for k := range b.Headers {
				ids[k] = headerID(w.l.subset, &b.Headers[k])
			}
			for i := range b.Len() {
				buf = appendRow(buf[:0], w.l.subset, ids[b.Head[i]], cols, b, i, rowID(w.l.subset, hash.Key(i)), w.version)
				if _, err := out.Write(buf); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *rowWriter) kept(version int64) {
	for id := range w.fresh {
		w.l.headers[id] = true
	}
	w.l.known = version
}
