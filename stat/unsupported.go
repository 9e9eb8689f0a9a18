package stat

import "slices"

// unsupported are the statistics that METviewer's menu offers with agg_stat, but that cannot be computed from these
// lines. METcalcpy 2.1 has no function for them either: its job fails with a KeyError.
var unsupported = []struct{ lineType, names, reason string }{ //nolint:gochecknoglobals // a constant table
	{"SL1L2", "SP_CORR KT_CORR", "a rank correlation requires the pairs and cannot be computed from sums"},
	{"SL1L2", "E10 E25 E50 E75 E90 IQR MAD", "quantiles of the error require the pairs and cannot be computed from sums"},
	{"SL1L2", "PAC", "exists only in METviewer's menu: no line of MET contains it"},
	{"SL1L2", "FGBAR OGBAR MGBAR EGBAR S1 S1_OG FGOG_RATIO", "is computed from GRAD lines"},
	{"SL1L2", "ANOM_CORR ANOM_CORR_UNCNTR RMSFA RMSOA", "is computed from SAL1L2 lines"},
	{"VL1L2", "SPEED_DIFF", "exists only in METviewer's menu: neither MET nor METcalcpy defines it; SPEED_ERR and VDIFF_SPEED are differences of speed"},
	{"VL1L2", "ANOM_CORR ANOM_CORR_UNCNTR", "is computed from VAL1L2 lines"},
	{"PCT", "BRIERCL BSS", "PCT lines do not contain the climatology's table; BSS_SMPL compares with the sample's"},
	{"RPS", "REL RES UNC RPSS_SMPL", "the parts of RPS over several records require the original tables: they are not means of the records' parts"},
}

// UnsupportedReason returns why a statistic that METviewer offers for a line type cannot be computed from it; "" if it
// can, or if METviewer does not offer it.
func UnsupportedReason(lineType, name string) string {
	name = BareName(lineType, name)
	for _, r := range unsupported {
		if r.lineType == lineType && slices.Contains(columns(r.names), name) {
			return r.reason
		}
	}
	return ""
}
