package record

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// Field is one header field. The names are METviewer's column names of stat_header, plus cov_thresh
// and alpha, which METviewer stores with the data.
type Field uint8

// The header fields, in the order of MET's header columns.
const (
	Version Field = iota
	Model
	Descr
	FcstVar
	FcstUnits
	FcstLev
	ObsVar
	ObsUnits
	ObsLev
	ObType
	VxMask
	InterpMthd
	InterpPnts
	FcstThresh
	ObsThresh
	CovThresh
	Alpha
	NumFields
)

var fieldNames = [NumFields]string{ //nolint:gochecknoglobals // a constant table
	"version", "model", "descr", "fcst_var", "fcst_units", "fcst_lev", "obs_var", "obs_units", "obs_lev",
	"obtype", "vx_mask", "interp_mthd", "interp_pnts", "fcst_thresh", "obs_thresh", "cov_thresh", "alpha",
}

// String returns METviewer's name of the field, e.g. "vx_mask".
func (f Field) String() string { return fieldNames[f] }

// FieldByName finds a field by METviewer's name.
func FieldByName(name string) (Field, bool) {
	i := slices.Index(fieldNames[:], name)
	return Field(max(i, 0)), i >= 0
}

// NA is the text that MET and METviewer write for a header field without a value.
const NA = "NA"

// Header identifies a series: one value per Field, as text. It is comparable. All formats share
// these rules (of METviewer's stat_header): absent text is "NA", an absent interp_pnts is "0", and
// fcst_lev and obs_lev may be empty (VSDB's TSOILT and WSOILT).
type Header [NumFields]string

// DefaultHeader returns a header with the text for "absent" in every field: NA, and 0 for
// interp_pnts.
func DefaultHeader() Header {
	var h Header
	for i := range h {
		h[i] = NA
	}
	h[InterpPnts] = "0"
	return h
}

// Compare orders headers field by field, bytewise; it is a total order.
func (h *Header) Compare(o *Header) int { return slices.CompareFunc(h[:], o[:], strings.Compare) }

// hash is a digest of all fields. It includes the length of each field, which keeps neighboring
// fields apart.
func (h *Header) hash(scratch []byte) (xxh3.Uint128, []byte) {
	scratch = scratch[:0]
	for _, s := range h {
		scratch = append(scratch, byte(len(s)), byte(len(s)>>8))
		scratch = append(scratch, s...)
	}
	return xxh3.Hash128(scratch), scratch
}
