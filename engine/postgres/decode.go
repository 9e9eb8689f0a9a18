package postgres

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/question"
)

// Replies are decoded from the wire's binary form, column by column, without
// a value of interface type per cell.

// whole decodes an integer; ok is false for another type.
func whole(raw []byte, oid uint32) (v int64, ok bool) {
	switch {
	case oid == pgtype.Int8OID && len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), true
	case oid == pgtype.Int4OID && len(raw) == 4:
		return int64(int32(binary.BigEndian.Uint32(raw))), true
	}
	return 0, false
}

// moment decodes a time to Unix seconds.
func moment(raw []byte, oid uint32) (v int64, ok bool) {
	if oid != pgtype.TimestampOID || len(raw) != 8 {
		return whole(raw, oid)
	}
	us := int64(binary.BigEndian.Uint64(raw))
	s := us / 1e6
	if us%1e6 < 0 {
		s--
	}
	return s + postgresEpoch, true
}

// number decodes a number; ok is false for NULL and for another type.
func number(raw []byte, oid uint32) (f float64, ok bool) {
	if oid == pgtype.Float8OID && len(raw) == 8 {
		return float(raw), true
	}
	v, ok := whole(raw, oid)
	return float64(v), ok
}

func decodeRow(d *sqlengine.Decoder, cols []question.Column, rows pgx.Rows) error {
	fields, raw := rows.FieldDescriptions(), rows.RawValues()
	for k := range cols {
		if !decodeCell(d, k, &cols[k], &fields[k], raw[k]) {
			return fmt.Errorf("column %s came as type %d, format %d: %q", cols[k].Name, fields[k].DataTypeOID, fields[k].Format, raw[k])
		}
	}
	d.Row()
	return nil
}

func decodeCell(d *sqlengine.Decoder, k int, c *question.Column, f *pgconn.FieldDescription, raw []byte) bool {
	if c.Kind == question.Text {
		d.Text(k, raw)
		return f.DataTypeOID == pgtype.TextOID
	}
	if f.Format != pgtype.BinaryFormatCode {
		return decodeText(d, k, c, f, raw)
	}
	var ok bool
	var v int64
	switch c.Kind {
	case question.Number:
		if raw == nil {
			return d.Value(k, nil) == nil
		}
		var x float64
		x, ok = number(raw, f.DataTypeOID)
		d.Num(k, x)
	case question.List:
		d.List(k, floats(raw, nil))
		return f.DataTypeOID == pgtype.Float8ArrayOID
	case question.Time:
		v, ok = moment(raw, f.DataTypeOID)
		d.Time(k, v)
	default:
		v, ok = whole(raw, f.DataTypeOID)
		d.Span(k, v)
	}
	return ok
}

// decodeText decodes a value that came as text, as all do by the simple protocol.
func decodeText(d *sqlengine.Decoder, k int, c *question.Column, f *pgconn.FieldDescription, raw []byte) bool {
	if raw == nil {
		return (c.Kind == question.Number || c.Kind == question.List) && d.Value(k, nil) == nil
	}
	text := string(raw)
	if c.Kind == question.List { // {1,NULL,2} is [1,null,2] of JSON
		return d.Value(k, strings.NewReplacer("{", "[", "}", "]", "NULL", "null", "NaN", "null").Replace(text)) == nil
	}
	switch {
	case c.Kind == question.Number:
		x, err := strconv.ParseFloat(text, 64)
		d.Num(k, x)
		return err == nil
	case f.DataTypeOID == pgtype.TimestampOID:
		t, err := time.Parse(time.DateTime, text) // datestyle is ISO
		d.Time(k, t.Unix())
		return err == nil && c.Kind == question.Time
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if c.Kind == question.Time {
		d.Time(k, v)
	} else {
		d.Span(k, v)
	}
	return err == nil
}
