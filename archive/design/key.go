package design

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// KeyAlgorithm states how a document's id is derived. The catalog of every subset contains it,
// which lets any client derive keys.
//
// It is the id of the original experiment. Records of MET files have header fields that VSDB lacks.
// Those with a value follow before the epoch, as name=value separated by ';'. Within a component,
// ':' is written %3A, ';' %3B and '%' %25. Hence "::" only ever separates components.
const KeyAlgorithm = "DD::{version}::{line_type}::{subset}::{model}::{vx_mask}::{fcst_var}::{obtype}::{fcst_lev}[::{further fields}]::{fcst_valid_epoch}"

// baseFields are the header fields of every key, in the key's order.
var baseFields = [...]record.Field{record.Model, record.VxMask, record.FcstVar, record.ObType, record.FcstLev} //nolint:gochecknoglobals // a constant table

// furtherFields are the header fields that appear in a key only if their value differs from that of
// VSDB records.
var furtherFields = [...]record.Field{ //nolint:gochecknoglobals // a constant table
	record.Descr, record.FcstUnits, record.ObsVar, record.ObsUnits, record.ObsLev, record.InterpMthd,
	record.InterpPnts, record.FcstThresh, record.ObsThresh, record.CovThresh, record.Alpha,
}

// impliedValue is the value of a further field that the key omits.
func impliedValue(h *record.Header, f record.Field) string {
	switch f {
	case record.ObsVar:
		return h[record.FcstVar]
	case record.ObsLev:
		return h[record.FcstLev]
	case record.ObsThresh:
		return h[record.FcstThresh]
	case record.InterpPnts:
		return "0"
	}
	return record.NA
}

// Further returns the further fields of h as they appear in a key; empty for records of VSDB.
func Further(h *record.Header) string { return string(appendFurther(nil, h)) }

func appendFurther(dst []byte, h *record.Header) []byte {
	n := len(dst)
	for _, f := range furtherFields {
		if h[f] == impliedValue(h, f) {
			continue
		}
		if len(dst) > n {
			dst = append(dst, ';')
		}
		dst = append(dst, f.String()...)
		dst = append(dst, '=')
		dst = appendEscaped(dst, h[f])
	}
	return dst
}

// setFurther is the inverse of Further. The caller must have set the base fields of h.
func setFurther(h *record.Header, text string) error {
	h[record.Descr], h[record.FcstUnits], h[record.ObsUnits] = record.NA, record.NA, record.NA
	h[record.InterpMthd], h[record.FcstThresh] = record.NA, record.NA
	given := map[record.Field]string{}
	if text != "" {
		for part := range strings.SplitSeq(text, ";") {
			name, value, ok := strings.Cut(part, "=")
			f, known := record.FieldByName(name)
			if !ok || !known {
				return &fault.Error{Setting: "key part " + strconv.Quote(part), Problem: "is not field=value"}
			}
			given[f] = unescape(value)
		}
	}
	for _, f := range furtherFields {
		value, ok := given[f]
		if !ok {
			value = impliedValue(h, f)
		}
		h[f] = value
	}
	return nil
}

// AppendSubset appends the common prefix of the keys of all records of one version and line type in
// a subset, including the final "::".
func AppendSubset(dst []byte, version, lineType, subset string) []byte {
	dst = append(dst, "DD::"...)
	dst = appendEscaped(dst, version)
	dst = append(dst, "::"...)
	dst = append(dst, lineType...)
	dst = append(dst, "::"...)
	dst = appendEscaped(dst, subset)
	return append(dst, "::"...)
}

// AppendSeries appends the key of a series without the epoch, including the final "::".
func AppendSeries(dst []byte, t *record.LineType, subset string, h *record.Header) []byte {
	dst = AppendSubset(dst, h[record.Version], t.Name, subset)
	for _, f := range baseFields {
		dst = appendEscaped(dst, h[f])
		dst = append(dst, "::"...)
	}
	n := len(dst)
	if dst = appendFurther(dst, h); len(dst) > n {
		dst = append(dst, "::"...)
	}
	return dst
}

// AppendKey appends the id of the document with this type, subset, header and valid time.
func AppendKey(dst []byte, t *record.LineType, subset string, h *record.Header, valid int64) []byte {
	return strconv.AppendInt(AppendSeries(dst, t, subset, h), valid, 10)
}

// ParseKey is the inverse of AppendKey.
func ParseKey(key string) (t *record.LineType, subset string, h record.Header, valid int64, err error) {
	bad := func(why string) error {
		return &fault.Error{Setting: "key " + strconv.Quote(key), Problem: why, Cure: "keys have the form " + KeyAlgorithm}
	}
	parts := strings.Split(key, "::")
	if (len(parts) != 10 && len(parts) != 11) || parts[0] != "DD" {
		return nil, "", h, 0, bad("does not have 10 or 11 parts")
	}
	t, ok := record.TypeByName(parts[2])
	if !ok {
		return nil, "", h, 0, bad("does not name a line type")
	}
	h[record.Version] = unescape(parts[1])
	for i, f := range baseFields {
		h[f] = unescape(parts[4+i])
	}
	var rest string
	if len(parts) == 11 {
		rest = parts[9]
	}
	if err := setFurther(&h, rest); err != nil {
		return nil, "", h, 0, err
	}
	valid, err = strconv.ParseInt(parts[len(parts)-1], 10, 64)
	if err != nil {
		return nil, "", h, 0, bad("does not end in an epoch")
	}
	return t, unescape(parts[3]), h, valid, nil
}

func appendEscaped(dst []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '%':
			dst = append(dst, "%25"...)
		case ':':
			dst = append(dst, "%3A"...)
		case ';':
			dst = append(dst, "%3B"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	return strings.NewReplacer("%3A", ":", "%3B", ";", "%25", "%").Replace(s)
}

// Series iterates over the headers that a question requests. For vx_mask and fcst_lev it yields the
// values that the question names, whether they exist or not, as the original experiment's key
// flavours do. For fields without a condition it yields the values in the catalog. Header and group
// are valid until the next step.
func (c *Catalog) Series(q *question.Question) iter.Seq2[*record.Header, *Group] {
	return func(yield func(*record.Header, *Group) bool) {
		for _, g := range c.Groups {
			if g.matches(q) && !g.series(q, yield) {
				return
			}
		}
	}
}

// matches reports whether the fields that identify a group satisfy q.
func (g *Group) matches(q *question.Question) bool {
	if g.LineType != q.Type.Name {
		return false
	}
	for f, v := range map[record.Field]string{record.Version: g.Version, record.Model: g.Model, record.ObType: g.ObType, record.FcstVar: g.FcstVar} {
		if allowed := q.Header[f]; len(allowed) > 0 && !slices.Contains(allowed, v) {
			return false
		}
	}
	return true
}

func (g *Group) series(q *question.Question, yield func(*record.Header, *Group) bool) bool {
	masks, levels := requestedOr(q.Header[record.VxMask], g.Masks), requestedOr(q.Header[record.FcstLev], g.Levels)
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = g.Version, g.Model, g.ObType, g.FcstVar
	for _, rest := range g.FurtherFields {
		for _, mask := range masks {
			for _, level := range levels {
				h[record.VxMask], h[record.FcstLev] = mask, level
				if err := setFurther(&h, rest); err != nil || !furtherMatches(q, &h) {
					continue
				}
				if !yield(&h, g) {
					return false
				}
			}
		}
	}
	return true
}

// requestedOr returns the requested values; without any, all values.
func requestedOr(requested, all []string) []string {
	if len(requested) > 0 {
		return requested
	}
	return all
}

func furtherMatches(q *question.Question, h *record.Header) bool {
	return !slices.ContainsFunc(furtherFields[:], func(f record.Field) bool { return len(q.Header[f]) > 0 && !slices.Contains(q.Header[f], h[f]) })
}

// Times returns the valid times to query for a series of g: those that q lists, whether they exist
// or not, otherwise those of g within q's bounds. For archives that do not store valid times, it
// returns their grid.
func (g *Group) Times(q *question.Question) []int64 {
	if q.Valid.IsDiscrete() {
		return q.Valid.Expand()
	}
	own := []int64(g.Valid)
	if own == nil && g.Last >= g.First {
		grid := question.Times{First: g.First, Last: g.Last, Step: max(g.Step, 1)}
		own = grid.Expand()
	}
	if q.Valid.IsAll() {
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(v int64) bool { return !q.Valid.Contains(v) })
}

// Keys derives the ids of all documents that may contain requested records. Absent ids are normal.
// The order is by series, then by time.
func (c *Catalog) Keys(q *question.Question) []string {
	var keys []string
	var buf []byte
	for h, g := range c.Series(q) {
		buf = AppendSeries(buf[:0], q.Type, c.Subset, h)
		n := len(buf)
		for _, v := range g.Times(q) {
			buf = appendInt(buf[:n], v)
			keys = append(keys, string(buf))
		}
	}
	return keys
}
