package design

import (
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// KeyAlgorithm states how a document's id is derived; the catalog of every
// subset carries it, so that any client can derive keys.
//
// It is the original experiment's id. Records of MET files have header fields
// that VSDB lacks; where any of them holds a value they follow, as name=value
// separated by ';', before the epoch. Inside a part ':' is written %3A, ';'
// %3B and '%' %25, so that "::" separates parts and nothing else.
const KeyAlgorithm = "DD::{version}::{line_type}::{subset}::{model}::{vx_mask}::{fcst_var}::{obtype}::{fcst_lev}[::{further fields}]::{fcst_valid_epoch}"

// base are the header fields that stand in every key, in the key's order.
var base = [...]record.Field{record.Model, record.VxMask, record.FcstVar, record.ObType, record.FcstLev} //nolint:gochecknoglobals // a constant table

// further are the header fields that stand in a key only where they say
// something: where they differ from what VSDB records hold.
var further = [...]record.Field{ //nolint:gochecknoglobals // a constant table
	record.Descr, record.FcstUnits, record.ObsVar, record.ObsUnits, record.ObsLev, record.InterpMthd,
	record.InterpPnts, record.FcstThresh, record.ObsThresh, record.CovThresh, record.Alpha,
}

// implied is the value of a further field that is left out of the key.
func implied(h *record.Header, f record.Field) string {
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

// Further returns the further fields of h as they stand in a key; empty for
// records of VSDB.
func Further(h *record.Header) string { return string(appendFurther(nil, h)) }

func appendFurther(dst []byte, h *record.Header) []byte {
	n := len(dst)
	for _, f := range further {
		if h[f] == implied(h, f) {
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

// setFurther is the inverse of Further; the base fields of h are set already.
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
	for _, f := range further {
		value, ok := given[f]
		if !ok {
			value = implied(h, f)
		}
		h[f] = value
	}
	return nil
}

// AppendSubset appends what the keys of all records of one version and line
// type in a subset begin with, up to and including a "::".
func AppendSubset(dst []byte, version, lineType, subset string) []byte {
	dst = append(dst, "DD::"...)
	dst = appendEscaped(dst, version)
	dst = append(dst, "::"...)
	dst = append(dst, lineType...)
	dst = append(dst, "::"...)
	dst = appendEscaped(dst, subset)
	return append(dst, "::"...)
}

// AppendSeries appends the key of a series, without the epoch: everything up
// to and including the last "::".
func AppendSeries(dst []byte, t *record.LineType, subset string, h *record.Header) []byte {
	dst = AppendSubset(dst, h[record.Version], t.Name, subset)
	for _, f := range base {
		dst = appendEscaped(dst, h[f])
		dst = append(dst, "::"...)
	}
	n := len(dst)
	if dst = appendFurther(dst, h); len(dst) > n {
		dst = append(dst, "::"...)
	}
	return dst
}

// AppendKey appends the id of the document of (type, subset, header, valid time).
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
		return nil, "", h, 0, bad("has not 10 or 11 parts")
	}
	t, ok := record.TypeByName(parts[2])
	if !ok {
		return nil, "", h, 0, bad("names no line type")
	}
	h[record.Version] = unescape(parts[1])
	for i, f := range base {
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
