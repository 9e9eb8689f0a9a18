package mariadb

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/record"
)

// told is the expression of a column that need not be sent, as the server can
// tell it without: a time that is the valid time of every record, a lead of the
// observation that is always 0, a number that no record has (missing is how it
// is stored), a header field that is the same everywhere. "" = it must be sent.
//
// These are half of the text of a record of VSDB, and to read text is what
// costs the server most.
func told(c *sqlengine.Column, batches []*record.Batch, missing string) string {
	if len(batches) == 0 {
		return ""
	}
	same := func(of func(b *record.Batch) bool, value string) string {
		if slices.ContainsFunc(batches, func(b *record.Batch) bool { return !of(b) }) {
			return ""
		}
		return value
	}
	switch c.From {
	case sqlengine.ValidEnd:
		return same(func(b *record.Batch) bool { return slices.Equal(b.ValidEnd, b.Valid) }, "fcst_valid_beg")
	case sqlengine.ObsBeg:
		return same(func(b *record.Batch) bool { return slices.Equal(b.ObsBeg, b.Valid) }, "fcst_valid_beg")
	case sqlengine.ObsEnd:
		return same(func(b *record.Batch) bool { return slices.Equal(b.ObsEnd, b.Valid) }, "fcst_valid_beg")
	case sqlengine.ObsLead:
		return same(func(b *record.Batch) bool {
			return !slices.ContainsFunc(b.ObsLead, func(v int32) bool { return v != 0 })
		}, "0")
	case sqlengine.Header:
		return toldField(c.Field, batches)
	case sqlengine.Data:
		if c.Data.Kind == record.Text {
			return ""
		}
		return same(func(b *record.Batch) bool {
			return !slices.ContainsFunc(b.Num[c.Data.Slot], func(f float64) bool { return f == f })
		}, missing)
	}
	return ""
}

// toldField is told of a header field; what a literal cannot hold is sent.
func toldField(f record.Field, batches []*record.Batch) string {
	first := true
	var value string
	for _, b := range batches {
		for i := range b.Headers {
			if first {
				value, first = b.Headers[i][f], false
			}
			if b.Headers[i][f] != value {
				return ""
			}
		}
	}
	if first || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return ""
	}
	return flavour.Quote(value)
}

// split parts the columns of a table into those that are sent and assignments
// of those that are told.
func split(cols []sqlengine.Column, batches []*record.Batch) (sent []sqlengine.Column, names, set []string) {
	for k := range cols {
		c := &cols[k]
		if value := told(c, batches, "NULL"); value != "" {
			set = append(set, c.Name+" = "+value)
			continue
		}
		sent, names = append(sent, *c), append(names, c.Name)
	}
	return sent, names, set
}

// times are the texts of times that were written before.
type times struct{ known map[int64]string }

// timesKept bounds their memory.
const timesKept = 1 << 16

// text is a time in the shortest form that the server reads.
func (t *times) text(epoch int64) string {
	s, ok := t.known[epoch]
	if ok {
		return s
	}
	if len(t.known) == timesKept || t.known == nil {
		t.known = map[int64]string{}
	}
	moment := time.Unix(epoch, 0).UTC()
	if y := moment.Year(); y < 1000 || y > 9999 {
		s = moment.Format(time.DateTime)
	} else {
		s = moment.Format("20060102150405")
	}
	t.known[epoch] = s
	return s
}

// moment is a time as a literal.
func moment(epoch int64) string { return "'" + time.Unix(epoch, 0).UTC().Format(time.DateTime) + "'" }
