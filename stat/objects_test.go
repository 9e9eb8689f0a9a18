package stat

import (
	"math"
	"testing"
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
		"ACOV_FAA": 0.14, "ACOV_ASA": 0.125,
	} {
		s, err := Finished(name)
		if err != nil || s.Rows == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var of [][]float64
		for _, need := range s.Needs {
			of = append(of, cols[need])
		}
		if got, ok := s.Rows(of); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	for name, of := range map[string]string{
		"AREA_FSA": "MODE_OBJ_SINGLE area", "INT90_OCM": "MODE_OBJ_SINGLE intensity_90", "CENTDIST_SM": "MODE_OBJ_PAIR centroid_dist", "INT_AA": "MODE_OBJ_PAIR interest", "2D_AREA_FSA": "MTD_2D_OBJ area",
		"3D_INTENSITY_N_FAM": "MTD_3D_OBJ_SINGLE intensity_nn", "3D_DURATION_FSA": "MTD_3D_OBJ_SINGLE end_time", "3D_INTEREST_CA": "MTD_3D_OBJ_PAIR interest", "TK_ERR": "TCMPR tk_err", "RMSE": "CNT rmse",
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
	for _, name := range []string{"AREA_DSA", "MAXINT_AA", "2D_TIME_INDEX_FSA", "3D_AREARAT_FSA_OSA", "2D_OBJVHITS", "AREARAT_XSA_OSA", "2D_INTEREST_SM"} {
		if _, err := Finished(name); err == nil {
			t.Errorf("%s is computed", name)
		}
	}
}
