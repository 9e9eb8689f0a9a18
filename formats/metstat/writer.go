package metstat

import (
	"cmp"

	"github.com/barograph/barograph/formats/number"
	"github.com/barograph/barograph/record"
)

// AppendHeader appends MET's header line with the 24 common columns, padded like AppendLine's, and
// a line end.
func AppendHeader(dst []byte) []byte {
	for i, c := range commonColumns {
		from := len(dst)
		dst = append(dst, c.name...)
		if i < len(commonColumns)-1 {
			dst = pad(dst, from, c.width)
		}
	}
	return append(dst, '\n')
}

// AppendLine appends row i of b as a line of a .stat file of MET 12, with a line end. It writes all
// columns of the type; a missing value is NA. Reading it returns the same record, bit for bit,
// except for what MET's text cannot represent: an empty header field or word becomes NA, the number
// -9999 becomes missing, and a missing EC_VALUE becomes its default. The header's version must begin
// with V and a digit, such as V12.0.0. Header fields and words must not contain blanks. AppendLine does not
// allocate if dst is large enough.
func AppendLine(dst []byte, b *record.Batch, i int) []byte {
	dst = appendCommon(dst, b, i)
	cols := b.Type.Columns
	dst = appendColumns(dst, b, i, cols[:b.Type.ColumnsBeforeGroup])
	for _, f := range b.Repeats(i) {
		dst = append(dst, ' ')
		dst = number.Append(dst, f)
	}
	dst = appendColumns(dst, b, i, cols[b.Type.ColumnsBeforeGroup:])
	return append(dst, '\n')
}

// appendCommon writes the header columns, times and line type of row i.
func appendCommon(dst []byte, b *record.Batch, i int) []byte {
	h := b.Header(i)
	for k := range commonColumns {
		c := &commonColumns[k]
		from := len(dst)
		switch {
		case c.isField:
			dst = append(dst, cmp.Or(h[c.field], record.NA)...)
		case c.name == typeColumn:
			return append(dst, b.Type.Name...)
		default:
			dst = appendTimeColumn(dst, b, i, k)
		}
		dst = pad(dst, from, c.width)
	}
	return dst
}

// appendTimeColumn writes common column k, one of the six from FCST_LEAD on.
func appendTimeColumn(dst []byte, b *record.Batch, i, k int) []byte {
	switch commonColumns[k].name {
	case leadColumn:
		return appendLead(dst, b.Lead[i])
	case "OBS_LEAD":
		return appendLead(dst, b.ObsLead[i])
	case "FCST_VALID_BEG":
		return appendTime(dst, b.Valid[i])
	case "FCST_VALID_END":
		return appendTime(dst, b.ValidEnd[i])
	case "OBS_VALID_BEG":
		return appendTime(dst, b.ObsBeg[i])
	default:
		return appendTime(dst, b.ObsEnd[i])
	}
}

func appendColumns(dst []byte, b *record.Batch, i int, cols []record.Column) []byte {
	for k := range cols {
		c := &cols[k]
		dst = append(dst, ' ')
		if c.Kind == record.Text {
			dst = append(dst, cmp.Or(b.Text[c.Slot][i], record.NA)...)
			continue
		}
		dst = number.Append(dst, b.Num[c.Slot][i])
	}
	return dst
}

// pad fills the text since from up to width, and adds the blank that separates columns.
func pad(dst []byte, from, width int) []byte {
	for len(dst)-from < width {
		dst = append(dst, ' ')
	}
	return append(dst, ' ')
}
