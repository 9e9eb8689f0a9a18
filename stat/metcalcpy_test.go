package stat

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// answered is a case of testdata/metcalcpy-2.1.json: records, and what METcalcpy
// answers for each statistic of METviewer's menu.
type answered struct {
	Type, Case string
	Columns    []string
	Rows       [][]*float64
	Values     map[string]any
}

func readAnswers(t *testing.T) (all []answered) {
	t.Helper()
	text, err := os.ReadFile("testdata/metcalcpy-2.1.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// edges are the thresholds whose bins have ask_metcalcpy.py's centers.
var edges = []float64{0, 0.1, 0.3, 0.5, 0.8, 1}

// cols are the records as Summarize takes them.
func (a *answered) cols(lt *record.LineType) [][]float64 {
	cols := make([][]float64, lt.NumCols())
	for _, row := range a.Rows {
		numbers, repeats := make([]float64, lt.NumCols()), []float64(nil)
		for k := range numbers {
			numbers[k] = math.NaN()
		}
		bin := 0
		for k, name := range a.Columns {
			x := math.NaN()
			if row[k] != nil {
				x = *row[k]
			}
			switch c, ok := lt.Column(name); {
			case ok:
				numbers[c.Slot] = x
			case strings.HasPrefix(name, "thresh_i"):
				repeats, bin = append(repeats, edges[bin]), bin+1
			case !strings.Contains(name, "value"):
				repeats = append(repeats, x)
			}
		}
		if lt.Name == "PCT" {
			numbers[1], repeats = float64(len(edges)), append(repeats, edges[bin])
		}
		for k, x := range append(numbers, repeats...) {
			if k == len(cols) {
				cols = append(cols, nil)
			}
			cols[k] = append(cols[k], x)
		}
	}
	return cols
}

// faults are the statistics that METcalcpy 2.1 computes wrongly, with what it
// answers for the random records: another number than ours, or none.
var faults = map[string]string{
	"SL1L2 ESTDEV": "NA: ME and MSE are taken as sums", "SSVAR SSVAR_ESTDEV": "NA: as SL1L2's",
	"SAL1L2 ANOM_CORR_UNCNTR": "KeyError: the function is called anom_corr_raw", "CTC HSS_EC": "KeyError",
	"VL1L2 VL1L2_UFBAR": "KeyError", "VL1L2 VL1L2_VFBAR": "KeyError", "VL1L2 VL1L2_UOBAR": "KeyError", "VL1L2 VL1L2_VOBAR": "KeyError",
	"VL1L2 VCNT_FDIR": "number: in radians, and 360 is added below 0", "VL1L2 VCNT_ODIR": "number: as FDIR", "VL1L2 VCNT_VDIFF_DIR": "number: as FDIR",
	"VL1L2 VCNT_DIR_ERR": "number: as FDIR, and from 0 to 360", "VL1L2 VCNT_DIR_ABSERR": "KeyError: the function is called dir_abser",
	"NBRCNT NBR_O_RATE": "number: o_rate is not multiplied by total", "NBRCNT NBR_AFSS": "number: as O_RATE", "NBRCNT NBR_UFSS": "number: as O_RATE",
	"PCT PSTD_RESOLUTION": "AttributeError", "PCT PSTD_BRIER": "AttributeError", "PCT PSTD_BSS_SMPL": "AttributeError",
	"ECNT ECNT_SPREAD_PLUS_OERR": "number: of spread_oerr", "SSVAR SSVAR_MBIAS": "KeyError", "SSVAR SSVAR_TOTAL": "KeyError",
	"MCTC MCTS_ACC": "KeyError", "MCTC MCTS_HK": "KeyError", "MCTC MCTS_HSS": "KeyError", "MCTC MCTS_GER": "KeyError", "MCTC MCTS_TOTAL": "KeyError",
}

// lacks reports whether a record lacks a column that s needs.
func (a *answered) lacks(s *Stat) bool {
	for k, name := range a.Columns {
		repeats := strings.HasPrefix(name, "oy_i") || strings.HasPrefix(name, "on_i") || strings.HasPrefix(name, "fi_oj")
		for _, row := range a.Rows {
			if row[k] == nil && (slices.Contains(s.Needs, name) || repeats && slices.Contains(s.Needs, Repeats)) {
				return true
			}
		}
	}
	return false
}

// TestMETcalcpy compares every statistic of METviewer's menu with METcalcpy's. Either both cannot
// compute it, or both values agree to METcalcpy's rounding, or faults lists METcalcpy's wrong value.
func TestMETcalcpy(t *testing.T) {
	names := map[string]bool{}
	for _, a := range readAnswers(t) {
		lt := lineType(t, a.Type)
		cols := a.cols(lt)
		for name, theirs := range a.Values {
			key := a.Type + " " + name
			s, err := ByName(a.Type, name)
			if why := UnsupportedReason(a.Type, name); (why != "") != (err != nil) || why != "" && !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v, refused as %q", key, err, why)
			}
			if err != nil {
				if a.Case == "random" && theirs != "KeyError" {
					t.Errorf("%s is refused, METcalcpy answers %v", key, theirs)
				}
				names[key] = false
				continue
			}
			names[key] = true
			ours, ok, err := Summarize(Overall, &s, lt, cols)
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			number, defined := theirs.(float64)
			same := defined == ok && (!ok || near(ours, number, 1e-6))
			fault := faults[key]
			switch {
			case a.Case == "missing" && a.lacks(&s): // METcalcpy's sums skip a missing value, but its divisor does not
				if ok {
					t.Errorf("%s needs a column that a record lacks, and is %v", key, ours)
				}
			case fault != "" && a.Case == "random":
				if wrong := strings.HasPrefix(fault, "number"); same || !ok || wrong != defined || !wrong && theirs != nil && !strings.HasPrefix(fault, theirs.(string)) {
					t.Errorf("%s: METcalcpy answers %v (%s), ours is %v, %v", key, theirs, fault, ours, ok)
				}
			case fault == "" && !same:
				t.Errorf("%s, %s: METcalcpy answers %v, ours is %v, %v", key, a.Case, theirs, ours, ok)
			}
		}
	}
	computed := 0
	for _, yes := range names {
		if yes {
			computed++
		}
	}
	// METviewer's menu has 196 names for the line types of sums, and ask_metcalcpy.py adds 3.
	if len(names) != 196+3 || computed != 169 {
		t.Errorf("%d names, %d of them computed", len(names), computed)
	}
	t.Logf("%d names, %d computed, %d refused, %d faults of METcalcpy", len(names), computed, len(names)-computed, len(faults))
}

// A record that lacks a column pulls METcalcpy's mean towards 0: of (none, 100
// pairs) and (1.5, 300) it makes 1.125. Ours is missing.
func TestMissingIsNotZero(t *testing.T) {
	mae := statOf(t, "SL1L2", "MAE")
	cols := [][]float64{{100, 300}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {math.NaN(), 1.5}}
	if v, ok, err := Summarize(Overall, mae, lineType(t, "SL1L2"), cols); ok || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}
