package cassandra

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/record"
)

// layout is how a design lays out records.
type layout struct {
	design    design.Name
	prefix    string   // of the tables of line types
	partition []string // columns of the partition key, in order, with their types
	types     []string
	bySeries  bool // the partition holds many valid times, which come first in its order
}

var layouts = []*layout{ //nolint:gochecknoglobals // a constant table
	{design: design.Document, prefix: "doc_", partition: []string{"id"}, types: []string{"text"}},
	{design: design.Wide, prefix: "wide_", partition: []string{"series", "year"}, types: []string{"text", "int"}, bySeries: true},
}

// table of a line type.
func (l *layout) table(t *record.LineType) string { return l.prefix + strings.ToLower(t.Name) }

// where is the condition on one partition.
func (l *layout) where() string { return strings.Join(l.partition, " = ? AND ") + " = ?" }

// The columns that every table of records has behind its partition key.
const (
	colValid  = "fcst_valid_beg" // wide: the first of the clustering columns, Unix seconds
	colLead   = "fcst_lead"      // seconds
	colEntry  = "entry"          // what else tells records of one lead apart, see appendEntry
	colCommit = "commit_number"  // of the commit that brought the record
	windows   = "fcst_valid_end, obs_lead, obs_valid_beg, obs_valid_end"
	repeats   = "repeats"
)

// order is the clustering columns: of several values of one record the latest
// comes first.
func (l *layout) order() []string {
	if l.bySeries {
		return []string{colValid, colLead, colEntry, colCommit}
	}
	return []string{colLead, colEntry, colCommit}
}

// quoted is the name of a column of a line type. It may be a word of CQL, or
// that of a column above.
func quoted(c *record.Column) string { return `"v_` + c.Name + `"` }

// createTable is the table of a line type.
func (l *layout) createTable(t *record.LineType) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", l.table(t))
	for i, name := range l.partition {
		fmt.Fprintf(&b, "%s %s, ", name, l.types[i])
	}
	if l.bySeries {
		fmt.Fprintf(&b, "%s bigint, ", colValid)
	}
	fmt.Fprintf(&b, "%s int, %s blob, %s bigint, fcst_valid_end bigint, obs_lead int, obs_valid_beg bigint, obs_valid_end bigint, ", colLead, colEntry, colCommit)
	for i := range t.Columns {
		kind := "double"
		if t.Columns[i].Kind == record.Text {
			kind = "text"
		}
		fmt.Fprintf(&b, "%s %s, ", quoted(&t.Columns[i]), kind)
	}
	if t.Group != nil {
		fmt.Fprintf(&b, "%s frozen<list<double>>, ", repeats)
	}
	order := l.order()
	fmt.Fprintf(&b, "PRIMARY KEY ((%s), %s)) WITH CLUSTERING ORDER BY (%s DESC)", strings.Join(l.partition, ", "), strings.Join(order, ", "), strings.Join(order, " ASC, "))
	return b.String()
}

// insert stores one record.
func (l *layout) insert(t *record.LineType) string {
	names := append(append([]string{}, l.partition...), l.order()...)
	names = append(names, strings.Split(windows, ", ")...)
	for i := range t.Columns {
		names = append(names, quoted(&t.Columns[i]))
	}
	if t.Group != nil {
		names = append(names, repeats)
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", l.table(t), strings.Join(names, ", "), strings.Repeat(", ?", len(names)-1))
}

// unit is one partition.
type unit struct {
	name string // document: the id; wide: the series, that is the id without its epoch
	year int    // wide: of the valid times, UTC; 0 otherwise
}

func (l *layout) args(u unit) []any {
	if l.bySeries {
		return []any{u.name, u.year}
	}
	return []any{u.name}
}

// unitOf is the partition of a document.
func (l *layout) unitOf(t *record.LineType, subset string, h *record.Header, valid int64) unit {
	if l.bySeries {
		return unit{string(design.AppendSeries(nil, t, subset, h)), yearOf(valid)}
	}
	return unit{string(design.AppendKey(nil, t, subset, h, valid)), 0}
}

// header of the records of a partition, and their valid time if it has one.
func (l *layout) header(u unit) (h record.Header, valid int64, err error) {
	id := u.name
	if l.bySeries {
		id += "0"
	}
	_, _, h, valid, err = design.ParseKey(id)
	return h, valid, err
}

// yearOf bounds partitions: 1,460 valid times of a series that is there every
// six hours.
func yearOf(valid int64) int { return time.Unix(valid, 0).UTC().Year() }

// appendEntry appends what tells records of one header, valid time and lead
// apart: nothing for most; times that are not plain; key columns. Equal
// records have equal entries.
func appendEntry(dst []byte, b *record.Batch, i int) []byte {
	if !b.Plain(i) {
		dst = append(dst, 1)
		for _, v := range []int64{b.ValidEnd[i], int64(b.ObsLead[i]), b.ObsBeg[i], b.ObsEnd[i]} {
			dst = binary.BigEndian.AppendUint64(dst, uint64(v))
		}
	}
	for k := range b.Type.Columns {
		c := &b.Type.Columns[k]
		if !c.Key {
			continue
		}
		dst = append(dst, 2)
		if c.Kind == record.Text {
			s := b.Text[c.Slot][i]
			dst = binary.AppendUvarint(dst, uint64(len(s)))
			dst = append(dst, s...)
			continue
		}
		f := b.Num[c.Slot][i] + 0 // −0 is 0
		if math.IsNaN(f) {
			f = record.Missing()
		}
		dst = binary.BigEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}
