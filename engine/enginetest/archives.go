package enginetest

import "github.com/barograph/barograph/record"

// lineType returns a line type by a name that must exist.
func lineType(name string) *record.LineType {
	t, ok := record.TypeByName(name)
	if !ok {
		panic("no line type " + name)
	}
	return t
}

// caseSeries describes the series of the seven cases with few valid times and leads, and other series that the
// cases must not find.
func caseSeries() []Series {
	valid := append(every(newYear2018, 18*hour, 5), every(newYear2019, 5*day+6*hour, 13)...)
	lead := hours(0, 6, 24, 72, 102, 144, 240, 264, 384)
	var all []Series
	for _, mask := range []string{"G2/NHX", "G2/SHX", "G2/TRO", "G2/PNA", "G2"} {
		for _, level := range []string{"P1000", "P700", "P500", "P250"} {
			all = append(all, Series{Type: lineType("SAL1L2"), Header: vsdb("GFS", "ANL", mask, "HGT", level), Valid: valid, Lead: lead})
		}
		all = append(all,
			Series{Type: lineType("VAL1L2"), Header: vsdb("GFS", "ANL", mask, "WIND", "P500"), Valid: valid, Lead: lead},
			Series{Type: lineType("SAL1L2"), Header: vsdb("ECM", "ANL", mask, "HGT", "P500"), Valid: valid[3:8], Lead: lead[1:5]},
			Series{Type: lineType("SL1L2"), Header: vsdb("GFS", "ONLYSF", mask, "T", "SFC"), Valid: valid[4:7], Lead: lead[2:4]})
	}
	// Times between the steps of the cases' grids, and leads that the cases do not select.
	return append(all, Series{
		Type: lineType("SAL1L2"), Header: vsdb("GFS", "ANL", "G2/NHX", "HGT", "P700"),
		Valid: []int64{newYear2019 + 3*hour, newYear2019 + 9*hour}, Lead: hours(3, 6, 250),
	})
}

// mixedSeries describes few records of many kinds: VSDB and MET, thresholds, interpolations, windows, stations,
// repeating columns, leads with minutes.
func mixedSeries() []Series {
	valid := []int64{newYear2018, newYear2018 + 6*hour, newYear2018 + 12*hour, newYear2018 + 18*hour, newYear2018 + 27*hour}
	leads := append(hours(0, 1, 12, 100), 5400, 90*60+30)
	var all []Series
	for i, mask := range []string{"FULL", "EAST", "G2/NHX"} {
		for _, level := range []string{"P500", "Z2", ""} {
			all = append(all,
				Series{Type: lineType("SL1L2"), Header: vsdb("GFS", "ADPUPA", mask, "T", level), Valid: valid, Lead: hours(0, 12, 24)},
				Series{Type: lineType("SL1L2"), Header: met("GFS", mask, "T", level, "BILIN", record.NA), Valid: valid[:4], Lead: leads, Windows: i == 1})
		}
		for _, threshold := range []string{">0.0", ">=273.15&&<300", "==1"} {
			all = append(all, Series{Type: lineType("CTC"), Header: met("WRF", mask, "TMP", "Z2", "NEAREST", threshold), Valid: valid[:3], Lead: leads})
		}
		all = append(all,
			Series{Type: lineType("MPR"), Header: met("WRF", mask, "TMP", "Z2", "NEAREST", record.NA), Valid: valid[:2], Lead: leads[:3], Stations: 4, Windows: i == 0},
			Series{Type: lineType("ISC"), Header: met("WRF", mask, "APCP", "A03", "NEAREST", ">0.0"), Valid: valid[1:3], Lead: leads[:2], Stations: 3},
			Series{Type: lineType("PCT"), Header: met("WRF", mask, "PROB", "A03", "NEAREST", "==0.1"), Valid: valid[:3], Lead: leads[1:4]})
	}
	other := met("GFS", "FULL", "T", "P500", "BILIN", record.NA)
	other[record.ObsLev], other[record.ObsVar], other[record.ObType] = "P400-500", "TMP", "ADPUPA"
	return append(all, Series{Type: lineType("SL1L2"), Header: other, Valid: valid[:4], Lead: leads[2:5], Windows: true})
}
