package stat

import "slices"

// refused are the statistics that METviewer's menu offers with agg_stat and that
// nobody can compute from these lines: METcalcpy 2.1 has no function for them,
// and its job dies of a KeyError.
var refused = []struct{ lineType, names, why string }{ //nolint:gochecknoglobals // a constant table
	{"SL1L2", "SP_CORR KT_CORR", "a rank correlation needs the pairs themselves: no sum holds it"},
	{"SL1L2", "E10 E25 E50 E75 E90 IQR MAD", "quantiles of the error need the pairs themselves: no sum holds them"},
	{"SL1L2", "PAC", "stands in METviewer's menu alone: no line of MET has it"},
	{"SL1L2", "FGBAR OGBAR MGBAR EGBAR S1 S1_OG FGOG_RATIO", "is computed from GRAD lines"},
	{"SL1L2", "ANOM_CORR ANOM_CORR_UNCNTR RMSFA RMSOA", "is computed from SAL1L2 lines"},
	{"VL1L2", "SPEED_DIFF", "stands in METviewer's menu alone: neither MET nor METcalcpy says what it is; SPEED_ERR and VDIFF_SPEED are differences of speed"},
	{"VL1L2", "ANOM_CORR ANOM_CORR_UNCNTR", "is computed from VAL1L2 lines"},
	{"PCT", "BRIERCL BSS", "the climatology's table does not stand in PCT lines; BSS_SMPL compares with the sample's"},
	{"RPS", "REL RES UNC RPSS_SMPL", "the parts of RPS over several records need the tables behind them: they are no means of the records' parts"},
}

// Refused says why a statistic that METviewer offers for a line type cannot be
// computed from it; "" where it can be, or METviewer does not offer it.
func Refused(lineType, name string) string {
	name = Bare(lineType, name)
	for _, r := range refused {
		if r.lineType == lineType && slices.Contains(columns(r.names), name) {
			return r.why
		}
	}
	return ""
}
