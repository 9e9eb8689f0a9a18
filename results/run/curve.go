package run

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
)

// Axis tells what stands on the independent axis of a verification plot.
type Axis string

// The axes.
const (
	ByLead  Axis = "fcst_lead"      // hours
	ByLevel Axis = "fcst_lev"       // pressure, hPa
	ByTime  Axis = "fcst_valid_beg" // Unix seconds

	ByInit      Axis = "fcst_init_beg" // Unix seconds
	ByValidHour Axis = "valid_hour"    // hour of the day, UTC
	ByInitHour  Axis = "init_hour"     // hour of the day, UTC
	ByThresh    Axis = "fcst_thresh"   // the number of the threshold
)

// Curves is a verification plot: a statistic computed from the proven answer
// to a case.
type Curves struct {
	Case    string   `json:"case"`
	Title   string   `json:"title"`
	Stat    string   `json:"stat"` // METviewer's name: ANOM_CORR
	Unit    string   `json:"unit"`
	Axis    Axis     `json:"axis"`
	XLabel  string   `json:"x_label,omitempty"` // "" = the axis's own
	YLabel  string   `json:"y_label,omitempty"` // "" = the statistic's own
	Minus   string   `json:"minus,omitempty"`   // the curve that is taken off those that are shown; "" = they are themselves
	Picture string   `json:"picture,omitempty"` // how it is drawn: box, roc … as a question's drawing says; "" = as curves
	Right   *Curves  `json:"right,omitempty"`   // what is drawn in the same picture against an axis at the right
	Note    string   `json:"note"`              // how it was aggregated, what the interval is
	Omitted []string `json:"omitted,omitempty"` // curves that were asked for and are not here, with the reasons
	Series  []Series `json:"series"`
}

// Series is one curve; X, N, Y, Low and High have one length. A value that the
// records do not define is missing (NaN, null in JSON).
type Series struct {
	Name string    `json:"name"`
	Made string    `json:"made,omitempty"` // of what it is made where the name does not say it: DIFF(A-B)
	X    []float64 `json:"x"`
	N    []int     `json:"n,omitempty"` // records behind each point
	Y    Values    `json:"y"`
	Low  Values    `json:"low,omitempty"` // of the confidence interval
	High Values    `json:"high,omitempty"`
	// Marks are of a scorecard: Better or −Better at 95 %, twice that at 99 %, 0 for
	// no difference, TooFew.
	Marks []int `json:"marks,omitempty"`
	// Of box plots Low and High are the quartiles, these the whiskers.
	Least Values `json:"least,omitempty"`
	Most  Values `json:"most,omitempty"`
	// Bounds are of a test of equivalence: differences between them are of no importance.
	Bounds Values `json:"bounds,omitempty"`
	// Beyond are the values farther out than the whiskers, of each point.
	Beyond [][]float64 `json:"beyond,omitempty"`
}

// What Series.Marks hold.
const (
	Better = 1
	TooFew = 9
)

// Values are numbers in which NaN is written as null.
type Values []float64

// MarshalJSON writes NaN as null.
func (v Values) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(v))
	for i := range v {
		if !math.IsNaN(v[i]) {
			out[i] = &v[i]
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads null as NaN.
func (v *Values) UnmarshalJSON(text []byte) error {
	var in []*float64
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*v = make(Values, len(in))
	for i, p := range in {
		(*v)[i] = math.NaN()
		if p != nil {
			(*v)[i] = *p
		}
	}
	return nil
}

// Curves keeps a verification plot in the folder.
func (f *Folder) Curves(c *Curves) error {
	return writeJSON(f.Dir, filepath.Join("plots", FileName(c.Case)+".json"), c)
}

// ReadCurves reads the verification plots of a run folder, sorted by case.
func ReadCurves(dir string) ([]*Curves, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "plots", "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	out := make([]*Curves, len(paths))
	for i, p := range paths {
		out[i] = &Curves{}
		if err := readJSON(p, out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
