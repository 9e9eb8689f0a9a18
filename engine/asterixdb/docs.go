package asterixdb

import (
	"bytes"
	"context"
	"io"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// docWriter writes documents.
type docWriter struct {
	pending
	groupers map[*record.LineType]*design.Grouper
}

type docRef struct {
	header record.Header
	valid  int64
}

func (w *docWriter) find(ctx context.Context, stored *engine.Stored) error {
	w.groupers = map[*record.LineType]*design.Grouper{}
	wanted := map[string][]string{}
	for _, t := range w.l.types {
		g := design.NewGrouper(t)
		seen := map[docRef]struct{}{}
		for _, b := range w.l.batches[t] {
			g.Add(b)
			stored.New += int64(b.Len())
			for i := range b.Len() {
				ref := docRef{*b.Header(i), b.Valid[i]}
				if _, ok := seen[ref]; ok || !w.state.catalog.Holding(t, &ref.header).MayHold(ref.valid) {
					continue
				}
				seen[ref] = struct{}{}
				name := w.l.a.target(t)
				wanted[name] = append(wanted[name], string(design.AppendKey(nil, t, w.l.subset, &ref.header, ref.valid)))
			}
		}
		w.groupers[t] = g
	}
	for name, ids := range wanted {
		there := map[string][]byte{}
		w.there[name] = there
		err := w.l.a.stored(ctx, name, ids, func(id string, doc []byte) error { there[id] = bytes.Clone(doc); return nil })
		if err != nil {
			return err
		}
	}
	return w.count(stored)
}

// count tells new records from those that replace one.
func (w *docWriter) count(stored *engine.Stored) error {
	var have, into record.Batch
	for _, t := range w.l.types {
		for range w.groupers[t].Places() {
			stored.Objects++
		}
		if len(w.there[w.l.a.target(t)]) == 0 {
			continue
		}
		for doc := range w.groupers[t].Docs() {
			rows, err := w.merged(doc, &have, &into, func(i, j int) { stored.Meet(doc.From[j], &have, i, doc.Rows, j) })
			if err != nil {
				return err
			}
			if rows == &into {
				stored.Objects--
			}
		}
	}
	return nil
}

// merged puts a document together with what is there under its id.
func (w *docWriter) merged(doc *design.Doc, have, into *record.Batch, meet func(i, j int)) (*record.Batch, error) {
	t := doc.Rows.Type
	old, ok := w.there[w.l.a.target(t)][string(design.AppendKey(nil, t, w.l.subset, doc.Header(), doc.Valid()))]
	if !ok {
		return doc.Rows, nil
	}
	have.Reset(t, "")
	if err := design.ParseEntries([]byte(gjson.GetBytes(old, "data").Raw), have, have.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return nil, err
	}
	design.Merge(into, have, doc, meet)
	return into, nil
}

func (w *docWriter) parts() []part { return w.typeParts(w.lines) }

// lines writes the documents of line types.
func (w *docWriter) lines(out io.Writer, types []*record.LineType) error {
	var have, into record.Batch
	var buf []byte
	for _, t := range types {
		for doc := range w.groupers[t].Docs() {
			rows, err := w.merged(doc, &have, &into, func(int, int) {})
			if err != nil {
				return err
			}
			buf = design.AppendJSON(buf[:0], w.l.subset, rows)
			buf = strconv.AppendInt(appendMember(buf[:len(buf)-1], commitMember), w.version, 10)
			if _, err := out.Write(append(buf, "}\n"...)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *docWriter) kept(int64) {}
