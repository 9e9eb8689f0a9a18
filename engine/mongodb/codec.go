package mongodb

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// A document, which is that of design.AppendJSON in BSON:
//
//	{_id: "DD::…", line_type: "SAL1L2", subset: …, all header fields,
//	 fcst_valid_epoch: int64, fcst_valid_beg: "2019-01-01T00:00:00Z",
//	 data: [{fcst_lead: int32 seconds, total: double, …}, …]}
//
// A missing value has no member; in repeats it is null.

// appendDoc appends the document of rows, which share one header and valid time.
func appendDoc(dst []byte, subset, id string, rows *record.Batch) []byte {
	start, dst := bsoncore.AppendDocumentStart(dst)
	dst = bsoncore.AppendStringElement(dst, "_id", id)
	dst = bsoncore.AppendStringElement(dst, "line_type", rows.Type.Name)
	dst = bsoncore.AppendStringElement(dst, "subset", subset)
	h := &rows.Headers[0]
	for f := range record.NumFields {
		dst = bsoncore.AppendStringElement(dst, f.String(), h[f])
	}
	valid := rows.Valid[0]
	dst = bsoncore.AppendInt64Element(dst, "fcst_valid_epoch", valid)
	dst = bsoncore.AppendStringElement(dst, "fcst_valid_beg", string(design.AppendISO(nil, valid)))
	data, dst := bsoncore.AppendArrayElementStart(dst, "data")
	for i := range rows.Len() {
		dst = appendEntry(dst, strconv.Itoa(i), rows, i)
	}
	dst = closed(dst, data)
	return closed(dst, start)
}

// closed ends the document or array that began at start.
func closed(dst []byte, start int32) []byte {
	dst = append(dst, 0)
	return bsoncore.UpdateLength(dst, start, int32(len(dst))-start)
}

func appendEntry(dst []byte, name string, b *record.Batch, i int) []byte {
	start, dst := bsoncore.AppendDocumentElementStart(dst, name)
	dst = bsoncore.AppendInt32Element(dst, "fcst_lead", b.Lead[i])
	if !b.Plain(i) {
		dst = bsoncore.AppendInt64Element(dst, "fcst_valid_end", b.ValidEnd[i])
		dst = bsoncore.AppendInt32Element(dst, "obs_lead", b.ObsLead[i])
		dst = bsoncore.AppendInt64Element(dst, "obs_valid_beg", b.ObsBeg[i])
		dst = bsoncore.AppendInt64Element(dst, "obs_valid_end", b.ObsEnd[i])
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		switch {
		case c.Kind == record.Text:
			dst = bsoncore.AppendStringElement(dst, c.Name, b.Text[c.Slot][i])
		case !math.IsNaN(b.Num[c.Slot][i]):
			dst = bsoncore.AppendDoubleElement(dst, c.Name, b.Num[c.Slot][i])
		}
	}
	if b.Type.Group != nil {
		var array int32
		array, dst = bsoncore.AppendArrayElementStart(dst, "repeats")
		for k, f := range b.Repeats(i) {
			if math.IsNaN(f) {
				dst = bsoncore.AppendNullElement(dst, strconv.Itoa(k))
			} else {
				dst = bsoncore.AppendDoubleElement(dst, strconv.Itoa(k), f)
			}
		}
		dst = closed(dst, array)
	}
	return closed(dst, start)
}

// decoder decodes documents into a batch, whole ones or those of a projection
// to _id and data.
type decoder struct {
	b     *record.Batch
	leads []int32           // the leads to keep, sorted; none = all
	heads map[string]uint32 // by the id without its epoch
	admit func(valid int64) bool
}

func newDecoder(b *record.Batch, leads []int32) *decoder {
	return &decoder{b: b, leads: leads, heads: map[string]uint32{}}
}

var errDocument = errors.New("is no document of an archive")

// members calls each for every member of a document or array. Key and value
// are part of doc.
func members(doc []byte, each func(key []byte, v bsoncore.Value) error) error {
	if _, rem, ok := bsoncore.ReadLength(doc); ok && len(rem) > 0 {
		for len(rem) > 1 { // the last byte ends the document
			var e bsoncore.Element
			if e, rem, ok = bsoncore.ReadElement(rem); !ok {
				return errDocument
			}
			v, err := e.ValueErr()
			if err != nil {
				return err
			}
			if err := each(e.KeyBytes(), v); err != nil {
				return err
			}
		}
		return nil
	}
	return errDocument
}

// document appends the records of one document.
func (d *decoder) document(doc bsoncore.Document) error {
	id, ok := doc.Lookup("_id").StringValueOK()
	if !ok {
		return errDocument
	}
	valid, head, err := d.place(id)
	if err != nil || d.admit != nil && !d.admit(valid) {
		return err
	}
	return docengine.Damaged(id, d.data(doc.Lookup("data"), head, valid))
}

// place finds valid time and header of a document by its id.
func (d *decoder) place(id string) (valid int64, head uint32, err error) {
	cut := strings.LastIndex(id, "::") + 2
	if valid, err = strconv.ParseInt(id[min(cut, len(id)):], 10, 64); err != nil {
		return 0, 0, fmt.Errorf("%q %w", id, errDocument)
	}
	head, ok := d.heads[id[:cut]]
	if ok {
		return valid, head, nil
	}
	_, _, h, _, err := design.ParseKey(id)
	if err == nil {
		head = d.b.AddHeader(h)
		d.heads[strings.Clone(id[:cut])] = head
	}
	return valid, head, err
}

// data appends the entries: an array of them, or the one that $unwind left.
func (d *decoder) data(v bsoncore.Value, head uint32, valid int64) error {
	if entry, ok := v.DocumentOK(); ok {
		return d.entry(entry, head, valid)
	}
	array, ok := v.ArrayOK()
	if !ok {
		return errors.New("data is no array")
	}
	return members(array, func(_ []byte, v bsoncore.Value) error {
		entry, ok := v.DocumentOK()
		if !ok {
			return errors.New("an entry is no document")
		}
		return d.entry(entry, head, valid)
	})
}

// entry appends one record: first as if it had nothing but its lead, then each
// member in its place.
func (d *decoder) entry(entry []byte, head uint32, valid int64) error {
	if len(d.leads) > 0 {
		lead, ok := bsoncore.Document(entry).Lookup("fcst_lead").AsInt64OK()
		if !ok {
			return errors.New("an entry has no lead")
		}
		if _, wanted := slices.BinarySearch(d.leads, int32(lead)); !wanted {
			return nil
		}
	}
	b := d.b
	b.AppendTimes(head, 0, valid, 0)
	i := b.Len() - 1
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], record.Missing())
	}
	for k := range b.Text {
		b.Text[k] = append(b.Text[k], record.NA)
	}
	err := members(entry, func(key []byte, v bsoncore.Value) error { return d.member(i, key, v) })
	if b.Type.Group != nil {
		b.GroupEnd = append(b.GroupEnd, uint32(len(b.Group)))
	}
	return err
}

func (d *decoder) member(i int, key []byte, v bsoncore.Value) error {
	b := d.b
	var ok bool
	var n int64
	switch string(key) {
	case "fcst_lead":
		n, ok = v.AsInt64OK()
		b.Lead[i] = int32(n)
	case "fcst_valid_end":
		b.ValidEnd[i], ok = v.AsInt64OK()
	case "obs_lead":
		n, ok = v.AsInt64OK()
		b.ObsLead[i] = int32(n)
	case "obs_valid_beg":
		b.ObsBeg[i], ok = v.AsInt64OK()
	case "obs_valid_end":
		b.ObsEnd[i], ok = v.AsInt64OK()
	case "repeats":
		return d.repeats(v)
	default:
		var c *record.Column
		if c, ok = b.Type.Column(string(key)); !ok {
			return fmt.Errorf("member %s is no column of %s", key, b.Type.Name)
		}
		if c.Kind == record.Text {
			b.Text[c.Slot][i], ok = v.StringValueOK()
		} else {
			b.Num[c.Slot][i], ok = number(v)
		}
	}
	if !ok {
		return fmt.Errorf("member %s is not of its column's kind", key)
	}
	return nil
}

func (d *decoder) repeats(v bsoncore.Value) error {
	array, ok := v.ArrayOK()
	if !ok {
		return errors.New("repeats is no array")
	}
	return members(array, func(_ []byte, v bsoncore.Value) error {
		f, ok := number(v)
		if !ok && v.Type != bsoncore.TypeNull {
			return errors.New("repeats holds what is no number")
		}
		d.b.Group = append(d.b.Group, f)
		return nil
	})
}

// number is a double, or a whole number that another client has written.
func number(v bsoncore.Value) (float64, bool) {
	switch v.Type {
	case bsoncore.TypeDouble:
		return v.DoubleOK()
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		n, ok := v.AsInt64OK()
		return float64(n), ok
	}
	return record.Missing(), false
}

// text is the bytes of a string, as they lie in the document.
func text(v bsoncore.Value) ([]byte, bool) {
	if v.Type != bsoncore.TypeString || len(v.Data) < 5 {
		return nil, false
	}
	return v.Data[4 : len(v.Data)-1], true
}
