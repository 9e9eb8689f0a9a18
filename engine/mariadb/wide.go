package mariadb

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/sqlengine"
	"barograph/record"
)

// wideWriter writes the wide design: a row per record under its identity.
type wideWriter struct {
	l    *loader
	made map[*record.LineType]bool
	hash record.Hasher

	times times
}

func (w *wideWriter) refresh(context.Context) error       { return nil }
func (w *wideWriter) begin(context.Context) (bool, error) { return false, nil }
func (w *wideWriter) settle(context.Context) error        { return nil }
func (w *wideWriter) finish(context.Context) error        { return nil }
func (w *wideWriter) settled(bool)                        {}
func (w *wideWriter) prepare(ctx context.Context, stored *engine.Stored) error {
	for _, t := range w.l.types {
		if !w.made[t] {
			if err := w.l.exec(ctx, w.l.a.typeTable(w.l.subset, t)); err != nil {
				return err
			}
			if w.made == nil {
				w.made = map[*record.LineType]bool{}
			}
			w.made[t] = true
		}
		if err := w.count(ctx, t, stored); err != nil {
			return err
		}
	}
	return nil
}

// count tells what is new and what replaces; LOAD DATA REPLACE does the rest.
func (w *wideWriter) count(ctx context.Context, t *record.LineType, stored *engine.Stored) error {
	s := w.l.a.wideSelect(t)
	begin := "SELECT " + wideKey + ", " + s.columns + s.from(w.l.a, w.l.subset) + " WHERE (fcst_valid_epoch, " + wideKey + ") IN ("
	var asked []string
	from := map[string]engine.At{} // by identity
	flush := func() error {
		if len(asked) == 0 {
			return nil
		}
		rows, err := w.l.conn.QueryContext(ctx, begin+strings.Join(asked, ", ")+")")
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // Err below says what went wrong
		var key []byte
		have := s.collector
		cells := append([]any{&key}, have.Scan()...)
		for rows.Next() {
			have.Reset()
			if err := rows.Scan(cells...); err != nil {
				return err
			}
			have.Row()
			p := from[string(key)]
			stored.Meet(p.Batch.File, &have.Batch, 0, p.Batch, p.I)
		}
		asked = asked[:0]
		clear(from)
		return rows.Err()
	}
	for _, b := range w.l.batches[t] {
		stored.New += int64(b.Len())
		groups := make([]*design.Group, len(b.Headers))
		for k := range b.Headers {
			groups[k] = w.l.catalog.Holding(t, &b.Headers[k])
		}
		w.hash.Use(b)
		for i := range b.Len() {
			if !groups[b.Head[i]].MayHold(b.Valid[i]) {
				continue
			}
			key := w.key(i)
			from[string(key[:])] = engine.At{Batch: b, I: i}
			asked = append(asked, "("+strconv.FormatInt(b.Valid[i], 10)+", x'"+hex.EncodeToString(key[:])+"')")
			if len(asked) == wideAsked {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// wideAsked is the number of records that one query looks up.
const wideAsked = 2000

func (w *wideWriter) key(i int) (key [16]byte) {
	k := w.hash.Key(i)
	binary.BigEndian.PutUint64(key[:8], k.Hi)
	binary.BigEndian.PutUint64(key[8:], k.Lo)
	return key
}

func (w *wideWriter) write(ctx context.Context) error {
	for _, t := range w.l.types {
		if err := w.writeType(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (w *wideWriter) writeType(ctx context.Context, t *record.LineType) error {
	name, cols, _ := sqlengine.Table(w.l.a.design, t)
	batches := w.l.batches[t]
	sent, names, set := split(cols, batches)
	set = append(set, wideKey+" = UNHEX(@k)")
	f := infile{table: w.l.table(name), columns: append([]string{"@k"}, names...), charset: "utf8mb4", replace: true, set: strings.Join(set, ", ")}
	for _, b := range batches {
		f.rows += int64(b.Len())
	}
	batch, i := 0, 0
	if len(batches) > 0 {
		w.hash.Use(batches[0])
	}
	f.more = each(func(dst []byte) ([]byte, bool) {
		for batch < len(batches) && i == batches[batch].Len() {
			if batch, i = batch+1, 0; batch < len(batches) {
				w.hash.Use(batches[batch])
			}
		}
		if batch == len(batches) {
			return dst, false
		}
		key := w.key(i)
		dst = hex.AppendEncode(dst, key[:])
		for _, c := range sent {
			dst = w.append(append(dst, '\t'), c, batches[batch], i)
		}
		i++
		return append(dst, '\n'), true
	})
	return f.run(ctx, w.l.conn)
}

// append appends the value of a column of the wide design.
func (w *wideWriter) append(dst []byte, c *sqlengine.Column, b *record.Batch, i int) []byte {
	switch c.From {
	case sqlengine.Header:
		return appendText(dst, b.Header(i)[c.Field])
	case sqlengine.Lead:
		return strconv.AppendInt(dst, int64(b.Lead[i]), 10)
	case sqlengine.ObsLead:
		return strconv.AppendInt(dst, int64(b.ObsLead[i]), 10)
	case sqlengine.ValidEpoch:
		return strconv.AppendInt(dst, b.Valid[i], 10)
	case sqlengine.ValidBeg:
		return append(dst, w.times.text(b.Valid[i])...)
	case sqlengine.ValidEnd:
		return append(dst, w.times.text(b.ValidEnd[i])...)
	case sqlengine.InitBeg:
		return append(dst, w.times.text(b.Init(i))...)
	case sqlengine.ObsBeg:
		return append(dst, w.times.text(b.ObsBeg[i])...)
	case sqlengine.ObsEnd:
		return append(dst, w.times.text(b.ObsEnd[i])...)
	case sqlengine.Repeats:
		return design.AppendRepeats(dst, b.Repeats(i))
	}
	if c.Data.Kind == record.Text {
		return appendText(dst, b.Text[c.Data.Slot][i])
	}
	f := b.Num[c.Data.Slot][i]
	if math.IsNaN(f) {
		return append(dst, null...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}
