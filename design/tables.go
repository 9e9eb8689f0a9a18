package design

import (
	"strings"

	"github.com/barograph/barograph/record"
)

// MissingNumber is what METviewer's tables hold for a missing value.
const MissingNumber = -9999

// HeaderTable is METviewer's table of headers.
const HeaderTable = "stat_header"

// LineTable is METviewer's table of a line type, e.g. line_data_sal1l2.
func LineTable(t *record.LineType) string { return "line_data_" + strings.ToLower(t.Name) }

// WideTable is the wide design's table of a line type.
func WideTable(t *record.LineType) string { return "wide_" + strings.ToLower(t.Name) }

// DocTable is the document design's table of a line type.
func DocTable(t *record.LineType) string { return "doc_" + strings.ToLower(t.Name) }

// InHours reports whether METviewer keeps the leads of records of that version
// as hours: those of VSDB files, whose version is V01. Those of MET files are
// kept as [H]HHMMSS.
func InHours(version string) bool { return version == "V01" }

// LeadCode is a lead as METviewer's INT column fcst_lead holds it: hours for
// VSDB, [H]HHMMSS for MET (108 h = 1080000).
func LeadCode(version string, seconds int32) int64 {
	if InHours(version) {
		return int64(seconds) / 3600
	}
	return LeadHMS(seconds)
}

// LeadHMS writes seconds as [H]HHMMSS.
func LeadHMS(seconds int32) int64 {
	s, sign := int64(seconds), int64(1)
	if s < 0 {
		s, sign = -s, -1
	}
	return sign * (s/3600*10000 + s/60%60*100 + s%60)
}

// LeadSeconds is the inverse of LeadCode.
func LeadSeconds(version string, code int64) int64 {
	if InHours(version) {
		return code * 3600
	}
	sign := int64(1)
	if code < 0 {
		code, sign = -code, -1
	}
	return sign * (code/10000*3600 + code/100%100*60 + code%100)
}
