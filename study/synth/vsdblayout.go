package synth

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file has the layouts of real VSDB files: the variables, levels, masks and leads
// of each kind of file, and their order. They are those of NCEP's files of 2019-01-01, so a
// synthetic day has as many lines per file as that day.

// block is a portion of a file in which every mask has the same rows. The order of a file
// is by valid time, block, mask, lead and row.
type block struct {
	obtype string
	step   int // hours per bit of row.hours
	masks  []maskSize
	rows   []row
}

// maskSize is a verification region and its number of pairs.
type maskSize struct {
	name  string
	total int
}

// row is a variable at a level.
type row struct {
	lineType, variable, level string
	// hours has, for each mask of the block, the valid hours with observations: bit h/step for hour h, with the block's
	// step. nil = all.
	hours []uint8
	share float64 // of the mask's pairs that the row has; 0 = all
	// printed is the level as it is in the file. NCEP's programs pad levels that are not
	// pressures to five letters, except in grid2obs files.
	printed string
}

func (r *row) vector() bool  { return strings.HasPrefix(r.lineType, "V") }
func (r *row) anomaly() bool { return strings.Contains(r.lineType, "AL1L2") }

const (
	pressureLevels    = "P1000 P925 P850 P700 P500 P400 P300 P250 P200 P150 P100 P70 P50 P30 P20 P10"
	pressureLevelsECM = "P1000 P925 P850 P700 P500 P400 P300 P250 P200 P150 P100 P50 P20 P10"
	windLevels        = "P850 P500 P250"
	heightLevels      = "P1000 P700 P500 P250"
)

// The regions of each kind of file. The regions of grids belong to the 2.5 degree grid G2.
//
//nolint:gochecknoglobals // constant tables
var (
	gridMasks = masksOf("G2 10512 G2/NHX 3600 G2/SHX 3600 G2/TRO 2448 G2/PNA 1311")
	sfcMasks  = masksOf("G2 10512 G2/NHX 3600 G2/SHX 3600 G2/TRO 2448 G2/N60 1872 G2/S60 1872 G2/NPO 365 G2/SPO 179 G2/NAO 188 G2/SAO 112 G2/CAM 17 " +
		"G2/NSA 16")
	soundingMasks = masksOf("G236 86 GGLB 615 GEUR 98 GASI 223 GAFR 11 GAUS 40 GNA 92 GSA 29 GNH 458 GSH 56 GTRP 102")
	stationMasks  = masksOf("G104/NWC 258 G104/SWC 188 G104/NMT 233 G104/SMT 245 G104/GRB 79 G104/SWD 86 G104/NPL 320 G104/SPL 458 G104/MDW 1937 G104/LMV 758 G104/GMC 640 " +
		"G104/NEC 630 G104/SEC 753 G104/APL 442 G104/WCA 548 G104/ECA 578 G104/ATC 202 G104/NAK 139 G104/SAK 288 G104/NPO 128 G104/MEX 150")
)

// masksOf reads regions and their numbers of pairs, separated by blanks.
func masksOf(table string) (out []maskSize) {
	for words := range slices.Chunk(strings.Fields(table), 2) {
		total, err := strconv.Atoi(words[1])
		if err != nil {
			panic(err) // the constant table has an error
		}
		out = append(out, maskSize{words[0], total})
	}
	return out
}

// rowsOf makes the rows of variables at levels. Both lists are separated by blanks.
func rowsOf(lineType, variables, levels string) []row {
	var rows []row
	for v := range strings.FieldsSeq(variables) {
		for l := range strings.FieldsSeq(levels) {
			rows = append(rows, row{lineType: lineType, variable: v, level: l, printed: l})
		}
	}
	return rows
}

func anomBlocks(obtype string) []block {
	scalars := rowsOf("SAL1L2", "HGT HGT_WV1/0-3 HGT_WV1/4-9 HGT_WV1/10-20 HGT_WV1/0-20", heightLevels)
	scalars = append(scalars, row{lineType: "SAL1L2", variable: "PMSL", level: "MSL", printed: "MSL  "})
	scalars = append(scalars, rowsOf("SAL1L2", "T U V", windLevels)...)
	return []block{
		{obtype: obtype, step: 3, masks: gridMasks, rows: scalars},
		{obtype: obtype, step: 3, masks: gridMasks, rows: rowsOf("VAL1L2", "WIND", windLevels)},
	}
}

func presBlocks(obtype string) []block {
	levels := pressureLevels
	scalars := rowsOf("SL1L2", "HGT", levels)
	if obtype == "ECM" {
		levels = pressureLevelsECM
		scalars = rowsOf("SL1L2", "HGT", levels)
	} else {
		_, upper, _ := strings.Cut(levels, "P500 ")
		scalars = append(scalars, rowsOf("SL1L2", "O3", upper)...)
	}
	return []block{
		{obtype: obtype, step: 3, masks: gridMasks, rows: append(scalars, rowsOf("SL1L2", "T U V", levels)...)},
		{obtype: obtype, step: 3, masks: gridMasks, rows: rowsOf("VL1L2", "WIND", levels)},
	}
}

// sfcRows lists variable@level. The level of soil variables is empty in real
// files, so those lines have only eight words before the '='.
const (
	sfcRows = "CAPE@SFC CWAT@ATMOS PWAT@ATMOS HGTTRP@TROP PRESTRP@TROP TMPTRP@TROP HPBL@SFC PSFC@SFC PSL@MSL RH2m@H2 " +
		"SPFH2m@H2 T2m@H2 TG@SFC TOZNE@ATMOS U10m@H10 V10m@H10 WEASD@SFC TSOILT@ WSOILT@"
	sfcRowsECM = "PSFC@SFC PSL@MSL T2m@H2 U10m@H10 V10m@H10"
)

func sfcBlocks(obtype string) []block {
	list := sfcRows
	if obtype == "ECM" {
		list = sfcRowsECM
	}
	var rows []row
	for word := range strings.FieldsSeq(list) {
		variable, level, _ := strings.Cut(word, "@")
		r := row{lineType: "SL1L2", variable: variable, level: level, printed: fmt.Sprintf("%-5s", level)}
		switch variable { // only land has soil
		case "TSOILT":
			r.share, r.hours = 0.35, hoursExcept(sfcMasks, "G2/NAO")
		case "WSOILT":
			r.share, r.hours = 0.23, hoursExcept(sfcMasks, "G2/NAO", "G2/S60")
		}
		rows = append(rows, r)
	}
	return []block{{obtype: obtype, step: 3, masks: sfcMasks, rows: rows}}
}

// hoursExcept returns a row.hours with no hours for the masks in excluded, and every hour for the others.
func hoursExcept(masks []maskSize, excluded ...string) []uint8 {
	hours := make([]uint8, len(masks))
	for i, m := range masks {
		hours[i] = 0xff
		for _, name := range excluded {
			if m.name == name {
				hours[i] = 0
			}
		}
	}
	return hours
}

// stationBlocks returns the blocks of grid2obs surface files. Two of the masks report cloud cover
// only at the main hours.
func stationBlocks(ecm bool) []block {
	list := "SLP T DPT RH TCLD VWND"
	if ecm {
		list = "SLP T DPT VWND"
	}
	var rows []row
	for variable := range strings.FieldsSeq(list) {
		r := row{lineType: "SL1L2", variable: variable, level: "SFC", printed: "SFC"}
		switch variable {
		case "VWND":
			r.lineType = "VL1L2"
		case "TCLD":
			r.share, r.hours = 0.02, hoursExcept(stationMasks, "G104/SAK", "G104/SWC")
			for i := range r.hours {
				r.hours[i] |= 0b01010101
			}
		case "SLP":
			r.share = 0.5
		}
		rows = append(rows, r)
	}
	return []block{{obtype: "ONLYSF", step: 3, masks: stationMasks, rows: rows}}
}

// airBlocks returns the blocks of grid2obs files of soundings and aircraft, from tables like
// "SL1L2 Z fffffffffff P1000 P925 ffff55f5ff5 P50". A word of hexadecimal digits, one per mask,
// applies to the levels after it; its bits are the valid hours 00, 06, 12 and 18 with observations.
func airBlocks(soundings, aircraft string) []block {
	blocks := []block{{obtype: "ADPUPA", step: 6, masks: soundingMasks}, {obtype: "ANYAIR", step: 6, masks: soundingMasks}}
	for i, table := range []string{soundings, aircraft} {
		for line := range strings.Lines(table) {
			var hours []uint8
			words := strings.Fields(line)
			for _, word := range words[2:] {
				if strings.HasPrefix(word, "P") {
					blocks[i].rows = append(blocks[i].rows, row{lineType: words[0], variable: words[1], level: word, printed: word, hours: hours})
					continue
				}
				hours = nil
				for _, d := range []byte(word) {
					hours = append(hours, uint8(strings.IndexByte("0123456789abcdef", d)))
				}
			}
		}
	}
	return blocks
}
