package stat

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// The names of METviewer's statistics of the objects of MODE (Method for Object-Based Diagnostic Evaluation) and MTD
// (MODE Time Domain): MVUtil.java, METcalcpy util/mode_ratio_statistics.py. Letters after the name select the objects:
// F (forecast), O (observed), A (all) or D (difference of F and O); S (simple), C (clusters) or A; M (matched),
// U (unmatched) or A.
var (
	objectRatio  = regexp.MustCompile(`^(?:([23])D_)?(RATIO|AREARAT|VOLRAT)_([FOA][SCA][MUA])_([FOA][SCA][MUA])$`)
	objectScore  = regexp.MustCompile(`^(?:([23])D_)?OBJ([AV]?)(HITS|MISSES|FAS|CSI|PODY|FAR)$`)
	objectSingle = regexp.MustCompile(`^(?:([23])D_)?(.+)_([FOAD][SCA][MUA])$`)
	objectPair   = regexp.MustCompile(`^(?:(3)D_)?(.+)_([SCA][MUA])$`)
)

// modeNames maps METviewer's names to MODE's columns. For MTD, METviewer uses the columns' names.
var modeNames = map[string]string{ //nolint:gochecknoglobals // a constant table
	"CENTX": "centroid_x", "CENTY": "centroid_y", "CENTLAT": "centroid_lat", "CENTLON": "centroid_lon",
	"AXAVG": "axis_ang", "LEN": "length", "WID": "width", "AREA": "area", "AREATHR": "area_thresh", "CURV": "curvature",
	"CURVX": "curvature_x", "CURVY": "curvature_y", "CPLX": "complexity", "INT10": "intensity_10",
	"INT25": "intensity_25", "INT50": "intensity_50", "INT75": "intensity_75", "INT90": "intensity_90",
	"INTN": "intensity_nn", "INTSUM": "intensity_sum", "CENTDIST": "centroid_dist", "BOUNDDIST": "boundary_dist",
	"HULLDIST": "convex_hull_dist", "ANGLEDIFF": "angle_diff", "AREARATIO": "area_ratio",
	"INTAREA": "intersection_area", "UNIONAREA": "union_area", "SYMDIFF": "symmetric_diff",
	"INTOVERAREA": "intersection_over_area", "CMPLXRATIO": "complexity_ratio",
	"PERCINTRATIO": "percentile_intensity_ratio", "INT": "interest", "ASPECTDIFF": "aspect_diff",
	"CURVATURERATIO": "curvature_ratio",
}

// objectNames2010 maps METviewer's names of 2010 to the present ones. It lacks MAD, which was ANGLEDIFF_CA in 2010
// and is a column of CNT in METviewer's present menu.
var objectNames2010 = map[string]string{ //nolint:gochecknoglobals // a constant table
	"MMI": "MAXINT_SA", "MMIF": "MAXINTF_SA", "MMIO": "MAXINTO_SA", "MIA": "INTAREA_CA", "MAR": "AREARATIO_CA",
	"MCD": "CENTDIST_CA", "P50": "INT50_DCA", "P90": "INT90_DCA", "ACOV": "ACOV_OSA",
}

// fromObjects is the source of the statistics of objects. Some of METcalcpy's ratios have the numerator of another
// ratio: its RATIO_FSU_FSA counts the matched objects.
const fromObjects = "METviewer MVUtil.java; METcalcpy util/mode_ratio_statistics.py, with the numerators of the names"

// objectTypes are the line types of single objects and of pairs, by the prefix of a statistic's name: none, 2D, 3D.
var objectTypes = map[string][2]string{ //nolint:gochecknoglobals // a constant table
	"": {"MODE_OBJ_SINGLE", "MODE_OBJ_PAIR"}, "2": {"MTD_2D_OBJ", ""}, "3": {"MTD_3D_OBJ_SINGLE", "MTD_3D_OBJ_PAIR"},
}

// findObjectStat finds a statistic of MODE's or MTD's objects.
func findObjectStat(name string) (Stat, bool) {
	s := Stat{Name: name, Unit: UnitOne, Source: fromObjects}
	name = cmp.Or(objectNames2010[name], name)
	if m := objectRatio.FindStringSubmatch(name); m != nil {
		s.LineType, s.Summary = objectTypes[m[1]][0], "ratio of numbers of objects, or of their areas or volumes"
		s.Needs = append(flagColumns(3), sizeColumn(m[1], m[2] != "RATIO")...)
		s.RecordsFunc = func(cols [][]float64) (float64, bool) { return div(sumOfSizes(cols, m[3]), sumOfSizes(cols, m[4])) }
		return s, m[2] == "RATIO" || (m[2] == "VOLRAT") == (m[1] == "3") // only objects in three dimensions have volumes
	}
	if m := objectScore.FindStringSubmatch(name); m != nil {
		s.LineType, s.Needs = objectTypes[m[1]][0], append(flagColumns(3), sizeColumn(m[1], m[2] != "")...)
		s.Summary = "score of simple objects: hits are half of the matched ones, misses unmatched ones observed, " +
			"false alarms unmatched ones forecast"
		s.RecordsFunc = func(cols [][]float64) (float64, bool) { return objectScores(cols, m[3]) }
		return s, m[2] == "" || (m[2] == "V") == (m[1] == "3")
	}
	if m := objectSingle.FindStringSubmatch(name); m != nil && objectColumn(&s, objectTypes[m[1]][0], m[2], m[3]) {
		return s, true
	}
	if m := objectPair.FindStringSubmatch(name); m != nil && objectColumn(&s, objectTypes[m[1]][1], m[2], m[3]) {
		return s, true
	}
	return s, false
}

// flagColumns returns the last n columns of flags: 3 for single objects, 2 for pairs.
func flagColumns(n int) []string {
	return []string{"fcst_flag", "simple_flag", "matched_flag"}[3-n:]
}

// sizeColumn returns the column of an object's size, or none if the statistic does not use sizes.
func sizeColumn(dimension string, usesSize bool) []string {
	switch {
	case !usesSize:
		return nil
	case dimension == "3":
		return []string{"volume"}
	}
	return []string{"area"}
}

// hasFlags reports whether an object has the flags that the letters of a name select.
func hasFlags(flags []float64, letters string) bool {
	for i := range letters {
		letter := letters[i : i+1]
		if strings.Contains("FSM", letter) && flags[i] != 1 || strings.Contains("OCU", letter) && flags[i] != 0 {
			return false
		}
	}
	return true
}

// sumOfSizes adds up the sizes of the objects that the letters select. If cols has only flags and no size, it counts
// the objects.
func sumOfSizes(cols [][]float64, letters string) (sum float64) {
	eachRow(cols, func(_ int, row []float64) {
		switch n := len(letters); {
		case !hasFlags(row, letters):
		case len(row) == n:
			sum++
		default:
			sum += row[n]
		}
	})
	return sum
}

// objectScores computes a score of simple objects by METviewer's name.
func objectScores(cols [][]float64, score string) (float64, bool) {
	hits, misses, alarms := sumOfSizes(cols, "ASM")/2, sumOfSizes(cols, "OSU"), sumOfSizes(cols, "FSU")
	// A number is its ratio to 1: div rejects the NaN of an object without a size.
	ratio := map[string][]float64{
		"HITS": {hits, 1}, "MISSES": {misses, 1}, "FAS": {alarms, 1}, "CSI": {hits, hits + misses + alarms},
		"PODY": {hits, hits + misses}, "FAR": {alarms, hits + alarms},
	}[score]
	return div(ratio[0], ratio[1])
}

// objectColumn makes s the statistic of a column of the objects that the letters select. It returns false if the line
// type has no such statistic.
func objectColumn(s *Stat, lineType, name, letters string) bool {
	s.LineType = lineType
	flags := flagColumns(len(letters))
	if letters[0] == 'D' {
		return objectDifference(s, name, letters[1:])
	}
	kinds, isMaxInt := strings.CutPrefix(name, "MAXINT")
	if isMaxInt && lineType == "MODE_OBJ_PAIR" && slices.Contains([]string{"", "F", "O"}, kinds) {
		s.Needs, s.Summary = append(flags, "interest"), "greatest interest of each object that is paired"
		s.ValuesFunc = func(ids []string, cols [][]float64) []float64 {
			return greatestInterest(ids, cols, letters, cmp.Or(kinds, "FO"))
		}
		return true
	}
	count := func(cols [][]float64) (float64, bool) { n := sumOfSizes(cols[:len(flags)], letters); return n, n > 0 }
	isMODE := lineType == "MODE_OBJ_SINGLE"
	switch {
	case (isMODE || strings.HasPrefix(lineType, "MTD")) && len(flags) == 3 && (name == "CNT" || name == "CNTSUM"):
		s.Needs, s.Summary, s.RecordsFunc, s.PerCase = flags, "number of objects", count, name == "CNT"
		return true
	case isMODE && name == "ACOV":
		s.Needs, s.Summary, s.PerCase = append(flags, "area", "n_valid"), "part of the grid that simple objects cover", true
		s.RecordsFunc = func(cols [][]float64) (float64, bool) { return coverage(cols, letters) }
		return true
	case lineType == "MTD_3D_OBJ_SINGLE" && name == "DURATION":
		s.Needs, s.Summary = append(flags, "end_time", "start_time"), "end less start"
		s.Func = func(v []float64) (float64, bool) { return v[3] - v[4], hasFlags(v, letters) }
		return true
	}
	column := strings.ToLower(name)
	if strings.HasPrefix(lineType, "MODE") {
		column = modeNames[name]
	} else if column == "intensity_n" {
		column = "intensity_nn"
	}
	t, _ := record.TypeByName(lineType)
	if t == nil {
		return false
	}
	c, ok := t.Column(column)
	if !ok || c.Kind == record.Text || c.Name == "time_index" { // METviewer's menu does not have TIME_INDEX
		return false
	}
	s.Needs, s.Unit, s.Summary = append(flags, c.Name), "", "as the file has it"
	s.Func = func(v []float64) (float64, bool) { return v[len(letters)], hasFlags(v, letters) }
	return true
}

// objectDifference makes s the difference of a column between forecast and observed objects with the same number, or
// the difference of the numbers of objects. It returns false if the line type has no such statistic.
func objectDifference(s *Stat, name, letters string) bool {
	var one, other Stat
	if !objectColumn(&one, s.LineType, name, "F"+letters) || !objectColumn(&other, s.LineType, name, "O"+letters) {
		return false
	}
	s.Needs, s.Unit, s.Summary = one.Needs, one.Unit, "that of forecast objects less that of observed ones of the same number"
	if one.RecordsFunc != nil {
		s.Summary, s.PerCase = "that of forecast objects less that of observed ones", one.PerCase
		s.RecordsFunc = func(cols [][]float64) (float64, bool) {
			a, _ := one.RecordsFunc(cols)
			b, _ := other.RecordsFunc(cols)
			return a - b, true
		}
		return name != "ACOV"
	}
	s.ValuesFunc = func(ids []string, cols [][]float64) []float64 { return differences(&one, &other, ids, cols) }
	return true
}

// differences pairs the objects of a case by their numbers, which are in their names after the first _, or are the last
// three characters.
func differences(one, other *Stat, ids []string, cols [][]float64) (out []float64) {
	number := func(id string) string {
		if _, number, ok := strings.Cut(id, "_"); ok {
			return number
		}
		return id[max(0, len(id)-3):]
	}
	observed := map[string][]float64{}
	eachRow(cols, func(i int, row []float64) {
		if v, ok := other.Eval(row); ok {
			observed[number(ids[i])] = append(observed[number(ids[i])], v)
		}
	})
	eachRow(cols, func(i int, row []float64) {
		if v, ok := one.Eval(row); ok {
			for _, o := range observed[number(ids[i])] {
				out = append(out, v-o)
			}
		}
	})
	return out
}

// greatestInterest returns, for each object of the pairs of a case, the greatest interest of its pairs. kinds is F for
// forecast objects, O for observed ones, FO for both.
func greatestInterest(ids []string, cols [][]float64, letters, kinds string) []float64 {
	greatest := map[string]float64{}
	eachRow(cols, func(i int, row []float64) {
		f, o, _ := strings.Cut(ids[i], "_")
		v := row[len(letters)]
		if !hasFlags(row, letters) || math.IsNaN(v) {
			return
		}
		for _, id := range []string{"F " + f, "O " + o} {
			if old, ok := greatest[id]; strings.Contains(kinds, id[:1]) && (!ok || v > old) {
				greatest[id] = v
			}
		}
	})
	return lists.Map(slices.Sorted(maps.Keys(greatest)), func(id string) float64 { return greatest[id] })
}

// coverage is the area of simple objects as a part of the grid's area. For forecast and observed objects together, it
// is the mean of both. It is undefined without objects.
func coverage(cols [][]float64, letters string) (float64, bool) {
	area, grid := 0.0, 0.0
	eachRow(cols, func(_ int, row []float64) {
		if hasFlags(row, letters) && row[1] == 1 {
			area, grid = area+row[3], row[4]
		}
	})
	if letters[0] == 'A' {
		grid *= 2
	}
	return div(area, grid)
}
