package stat

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// The objects of a case, by hand: three of the forecast (a matched and an unmatched
// simple one, the matched one's cluster), four observed (two matched simple ones,
// an unmatched one, a cluster), each with its area.
func TestObjectStatistics(t *testing.T) {
	flags := [][]float64{{1, 1, 1, 0, 0, 0, 0}, {1, 1, 0, 1, 1, 1, 0}, {1, 0, 1, 1, 1, 0, 1}}
	size := []float64{10, 4, 10, 6, 2, 3, 9}
	cols := map[string][]float64{"fcst_flag": flags[0], "simple_flag": flags[1], "matched_flag": flags[2], "area": size, "volume": size, "n_valid": {100, 100, 100, 100, 100, 100, 100}}
	for name, want := range map[string]float64{
		"CNT_FAA": 3, "CNT_OAA": 4, "CNTSUM_ASA": 5, "CNT_FSU": 1, "CNT_OCM": 1, "RATIO_FSA_OSA": 2.0 / 3, "AREARAT_FSA_OSA": 14.0 / 11, "2d_RATIO_FSM_FSA": 0.5, "3d_VOLRAT_ACA_AAA": 19.0 / 44,
		"OBJHITS": 1.5, "OBJMISSES": 1, "OBJFAS": 1, "OBJCSI": 1.5 / 3.5, "OBJPODY": 0.6, "OBJFAR": 0.4, "OBJAHITS": 9, "OBJAPODY": 0.75, "3d_OBJVFAS": 4, "2d_OBJACSI": 9.0 / 16,
		"ACOV_FAA": 0.14, "ACOV_ASA": 0.125, "ACOV": 0.11, "CNT_DSA": -1, "CNTSUM_DAA": -1,
	} {
		s, err := Finished(name)
		if err != nil || s.RecordsFunc == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var of [][]float64
		for _, need := range s.Needs {
			of = append(of, cols[need])
		}
		if got, ok := s.RecordsFunc(of); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	for name, of := range map[string]string{
		"AREA_FSA": "MODE_OBJ_SINGLE area", "INT90_OCM": "MODE_OBJ_SINGLE intensity_90", "CENTDIST_SM": "MODE_OBJ_PAIR centroid_dist", "INT_AA": "MODE_OBJ_PAIR interest", "2D_AREA_FSA": "MTD_2D_OBJ area",
		"3D_INTENSITY_N_FAM": "MTD_3D_OBJ_SINGLE intensity_nn", "3D_DURATION_FSA": "MTD_3D_OBJ_SINGLE end_time", "3D_INTEREST_CA": "MTD_3D_OBJ_PAIR interest", "TK_ERR": "TCMPR tk_err", "RMSE": "CNT rmse",
		"MAD": "CNT mad",
	} {
		s, err := Finished(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		at := 0
		for at < len(s.Needs)-1 && len(s.Needs[at]) > 5 && s.Needs[at][len(s.Needs[at])-5:] == "_flag" {
			at++
		}
		if got := s.LineType + " " + s.Needs[at]; got != of {
			t.Errorf("%s is of %s, want %s", name, got, of)
		}
	}
	s, _ := Finished("AREA_FSU")
	if v, ok := s.Eval([]float64{1, 1, 0, 7}); !ok || v != 7 {
		t.Errorf("the area of an unmatched object is %v", v)
	}
	if _, ok := s.Eval([]float64{1, 1, 1, 7}); ok {
		t.Error("a matched object counts among the unmatched")
	}
	for _, name := range []string{"MAXINTX_AA", "ACOV_DSA", "2D_MAXINT_AA", "2D_TIME_INDEX_FSA", "3D_AREARAT_FSA_OSA", "2D_OBJVHITS", "AREARAT_XSA_OSA", "2D_INTEREST_SM"} {
		if _, err := Finished(name); err == nil {
			t.Errorf("%s is computed", name)
		}
	}
}

// A difference is that of two objects with the same number, and the greatest interest of an object is that of
// its pairs. A name of 2010 denotes the same statistic as its present name.
func TestPairedObjects(t *testing.T) {
	single := []string{"F001", "F002", "O001", "O002", "O003", "CF001", "CO001"}
	columns := map[string][]float64{
		"fcst_flag": {1, 1, 0, 0, 0, 1, 0}, "simple_flag": {1, 1, 1, 1, 1, 0, 0}, "matched_flag": {1, 0, 1, 1, 0, 1, 1},
		"area": {10, 7, 4, 1, 9, 20, 5}, "intensity_50": {1, 2, 3, math.NaN(), 5, 6, 2},
	}
	timed := []string{"F_1", "F_12", "O_1", "O_12", "O_3", "CF_1", "CO_1"}
	pairs := []string{"F001_O001", "F001_O002", "F002_O001", "F003_O001", "CF001_CO001"}
	paired := map[string][]float64{"simple_flag": {1, 1, 1, 1, 0}, "matched_flag": {1, 0, 0, 0, 1}, "interest": {0.5, 0.9, 0.7, math.NaN(), 1}}
	for _, c := range []struct {
		name    string
		objects []string
		columns map[string][]float64
		want    []float64
	}{
		{"AREA_DSA", single, columns, []float64{6, 6}},
		{"AREA_DCA", single, columns, []float64{15}},
		{"P50", single, columns, []float64{4}},
		{"INT50_DSM", single, columns, []float64{-2}},
		{"2D_AREA_DSA", timed, columns, []float64{6, 6}},
		{"MAXINTF_SA", pairs, paired, []float64{0.9, 0.7}},
		{"MMIO", pairs, paired, []float64{0.7, 0.9}},
		{"MAXINT_AA", pairs, paired, []float64{1, 0.9, 0.7, 1, 0.7, 0.9}},
		{"MAXINTF_SU", pairs, paired, []float64{0.9, 0.7}},
		{"MMI", pairs, paired, []float64{0.9, 0.7, 0.7, 0.9}},
	} {
		s, err := Finished(c.name)
		if err != nil || s.ValuesFunc == nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var of [][]float64
		for _, need := range s.Needs {
			of = append(of, c.columns[need])
		}
		if got := s.ValuesFunc(c.objects, of); !slices.Equal(got, c.want) {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

// TestColumnsAreNotNamedLikeObjects: each column in which METviewer looks for a finished statistic is found by its
// name. No statistic of objects has that name.
func TestColumnsAreNotNamedLikeObjects(t *testing.T) {
	for _, f := range finishedTypes {
		for _, c := range lineType(t, f.lineType).Columns {
			s, err := Finished(f.prefix + c.Name)
			if c.Kind != record.Text && (err != nil || slices.Contains(s.Needs, "simple_flag")) {
				t.Errorf("%s%s of %s is %s %v, %v", f.prefix, c.Name, f.lineType, s.LineType, s.Needs, err)
			}
		}
	}
}

// TestObjectsWithoutSize: the scores by area or volume are undefined if an object that they count has no size.
func TestObjectsWithoutSize(t *testing.T) {
	for name, flags := range map[string][3]float64{
		"OBJAHITS": {1, 1, 1}, "OBJAMISSES": {0, 1, 0}, "OBJAFAS": {1, 1, 0}, "3D_OBJVHITS": {0, 1, 1}, "OBJACSI": {1, 1, 1},
	} {
		s, err := Finished(name)
		if err != nil {
			t.Fatal(err)
		}
		for size, defined := range map[float64]bool{math.NaN(): false, 5: true} {
			if v, ok := s.RecordsFunc([][]float64{{flags[0]}, {flags[1]}, {flags[2]}, {size}}); ok != defined {
				t.Errorf("%s of an object of size %g is %g, %v", name, size, v, ok)
			}
		}
	}
}

// TestPerCase: the number of objects and their cover are those of each case, and are then averaged. Sums, ratios and
// scores are of all records. Only statistics of records cannot be aggregated to one record first.
func TestPerCase(t *testing.T) {
	for name, c := range map[string]struct{ needsRecords, perCase bool }{
		"CNT_FAA": {true, true}, "CNT_DAA": {true, true}, "ACOV_FAA": {true, true}, "ACOV": {true, true},
		"CNTSUM_FAA": {true, false}, "CNTSUM_DAA": {true, false}, "RATIO_FSA_OSA": {true, false}, "OBJCSI": {true, false},
		"AREA_DSA": {true, false}, "MAXINT_SA": {true, false}, "AREA_FSA": {false, false}, "RMSE": {false, false},
	} {
		s, err := Finished(name)
		if err != nil || s.NeedsRecords() != c.needsRecords || s.PerCase != c.perCase {
			t.Errorf("%s: needs records %v, per case %v, %v", name, s.NeedsRecords(), s.PerCase, err)
		}
	}
}

// TestValuesOfObjects: a duration is the end less the start, a value of a pair is that of its column, both only of objects
// with the flags of the name.
func TestValuesOfObjects(t *testing.T) {
	for _, c := range []struct {
		name string
		v    []float64
		want float64
		ok   bool
	}{
		{"3D_DURATION_FSA", []float64{1, 1, 0, 17, 5}, 12, true},
		{"3D_DURATION_FSA", []float64{0, 1, 0, 17, 5}, 0, false},
		{"CENTDIST_SM", []float64{1, 1, 6.5}, 6.5, true},
		{"CENTDIST_SM", []float64{1, 0, 6.5}, 0, false},
		{"2D_AREA_OCU", []float64{0, 0, 0, 8}, 8, true},
		{"2D_AREA_OCU", []float64{0, 0, 1, 8}, 0, false},
	} {
		s, err := Finished(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Eval(c.v); got != c.want || ok != c.ok {
			t.Errorf("%s of %v is %v, %v; want %v, %v", c.name, c.v, got, ok, c.want, c.ok)
		}
	}
}

// TestColumnsOfRatios: ratios and scores count objects of MODE, of MTD's times (2D) or of MTD in space and time (3D), or
// add up their areas or volumes.
func TestColumnsOfRatios(t *testing.T) {
	for name, want := range map[string]string{
		"RATIO_FSA_OSA": "MODE_OBJ_SINGLE", "AREARAT_FSA_OSA": "MODE_OBJ_SINGLE area", "OBJCSI": "MODE_OBJ_SINGLE", "OBJACSI": "MODE_OBJ_SINGLE area",
		"2D_RATIO_FSA_OSA": "MTD_2D_OBJ", "2D_AREARAT_FSA_OSA": "MTD_2D_OBJ area", "2D_OBJFAR": "MTD_2D_OBJ", "2D_OBJAFAR": "MTD_2D_OBJ area",
		"3D_RATIO_FSA_OSA": "MTD_3D_OBJ_SINGLE", "3D_VOLRAT_FSA_OSA": "MTD_3D_OBJ_SINGLE volume", "3D_OBJFAS": "MTD_3D_OBJ_SINGLE",
		"3D_OBJVFAS": "MTD_3D_OBJ_SINGLE volume",
	} {
		s, err := Finished(name)
		want, size, _ := strings.Cut(want, " ")
		needs := append([]string{"fcst_flag", "simple_flag", "matched_flag"}, strings.Fields(size)...)
		if err != nil || s.LineType != want || !slices.Equal(s.Needs, needs) {
			t.Errorf("%s: %s %q, %v; want %s %q", name, s.LineType, s.Needs, err, want, needs)
		}
	}
}

// TestNumbersOfObjects: the number of an object follows the first _, or is its name's last three characters, or a shorter
// name itself. An observed object may have the number of two forecast ones.
func TestNumbersOfObjects(t *testing.T) {
	s, err := Finished("AREA_DSA")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		forecast, observed string
		equal              bool
	}{
		{"F001", "O001", true},
		{"F001", "O101", false},
		{"F1001", "O2001", true},
		{"101", "201", false},
		{"101", "101", true},
		{"A1", "B1", false},
		{"A1", "A1", true},
		{"F_1", "O_1", true},
		{"F_1_2", "O_2", false},
		{"F_1_2", "O_1_2", true},
		{"F_12", "O_2", false},
	} {
		ids := []string{c.forecast, c.observed, c.forecast}
		got := s.ValuesFunc(ids, [][]float64{{1, 0, 1}, {1, 1, 1}, {0, 0, 0}, {7, 4, 2}})
		if want := []float64{3, -2}; c.equal && !slices.Equal(got, want) || !c.equal && got != nil {
			t.Errorf("%s and %s: differences %v, equal numbers: %v", c.forecast, c.observed, got, c.equal)
		}
	}
}
