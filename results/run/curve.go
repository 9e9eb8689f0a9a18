package run

import (
	"cmp"
	"encoding/json"
	"math"
	"path/filepath"

	"github.com/barograph/barograph/internal/lists"
)

// Axis is the independent axis of a verification plot.
type Axis string

// The axes.
const (
	ByLead  Axis = "fcst_lead"      // hours
	ByLevel Axis = "fcst_lev"       // pressure, hPa
	ByTime  Axis = "fcst_valid_beg" // Unix seconds

	ByInit      Axis = "fcst_init_beg" // Unix seconds
	ByValidHour Axis = "valid_hour"    // hour of the day, UTC
	ByInitHour  Axis = "init_hour"     // hour of the day, UTC
	ByThresh    Axis = "fcst_thresh"   // the number in the threshold
)

// LowestEconomicValue is the lower end of the axis in pictures of economic values: far below 0, a forecast has no use.
const LowestEconomicValue = -0.2

// VerificationPlot is a statistic over an axis, computed from the proven answer to a case.
type VerificationPlot struct {
	Case   string `json:"case"`
	Title  string `json:"title"`
	Stat   string `json:"stat"` // METviewer's name: ANOM_CORR
	Unit   string `json:"unit"`
	Axis   Axis   `json:"axis"`
	XLabel string `json:"x_label,omitempty"` // "" = the axis's default
	YLabel string `json:"y_label,omitempty"` // "" = the statistic's default
	Ticks  []Tick `json:"ticks,omitempty"`   // names and positions of values on the axis, sorted by X; none = the values themselves
	// the curve that was subtracted from the shown ones; "" = none
	Baseline string `json:"minus,omitempty"`
	// box, roc … as in a question's drawing; "" = curves
	Picture string `json:"picture,omitempty"`
	// another statistic, drawn in the same picture against the right axis
	RightPlot *VerificationPlot `json:"right_axis,omitempty" old:"right"`
	// how the statistic was aggregated, and what the interval is
	Note string `json:"note"`
	// requested curves that are missing, with the reasons
	Omitted []string `json:"omitted,omitempty"`
	// what the labels of the points are: fcst_lead, thresh_i …; "" = the points have none
	LabelAxis Axis     `json:"label_axis,omitempty"`
	Series    []Series `json:"series"`
}

// Tick is the name of a value on the axis, and its position, which may differ from the value.
type Tick struct {
	X        float64 `json:"x"`
	Text     string  `json:"text"` // X as text
	Position float64 `json:"position"`
	Label    string  `json:"label"`
}

// Series is one curve. X, Records, Y, Low and High have the same length, if they are present. A value that the
// records do not define is NaN (null in JSON).
type Series struct {
	Name string `json:"name"`
	// how it was derived, if the name does not say: DIFF(A-B)
	Derivation string `json:"derivation,omitempty" old:"made"`
	// Right reports whether the curve is drawn against a right axis. Reports ignore it if the plot has a RightPlot, is a
	// profile over levels, or has no other visible curve.
	Right   bool      `json:"right,omitempty"`
	Labels  []string  `json:"labels,omitempty"` // of the points, if X does not say what they are; see LabelAxis
	X       []float64 `json:"x"`
	Records []int     `json:"n,omitempty"` // number of records of each point
	Y       Values    `json:"y"`
	Low     Values    `json:"low,omitempty"` // bounds of the confidence interval; of a box plot, the quartiles
	High    Values    `json:"high,omitempty"`
	// Marks has one value per point of a scorecard: MarkBetter, or −MarkBetter for worse, at 95 % confidence, twice that
	// at 99 %, 0 = no difference, MarkTooFew = too few records, or no test.
	Marks []int             `json:"marks,omitempty"`
	Style map[string]string `json:"style,omitempty"` // see metviewer.Style; a property without a value is Barograph's choice
	// set for box plots only, one value per point
	WhiskerLow  Values `json:"whisker_low,omitempty" old:"least"`
	WhiskerHigh Values `json:"whisker_high,omitempty" old:"most"`
	// EquivalenceBounds are the lower and the upper bound of an equivalence test. A difference between the two bounds is
	// too small to matter.
	EquivalenceBounds Values `json:"bounds,omitempty"`
	// Outliers are the values beyond the whiskers, by point.
	Outliers [][]float64 `json:"outliers,omitempty" old:"beyond"`
}

// Values of Series.Marks.
const (
	MarkBetter = 1
	MarkTooFew = 9
)

// Values are numbers. JSON contains null for NaN and infinities.
type Values []float64

// MarshalJSON writes NaN and infinities as null, and −0 as 0.
func (v Values) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(v))
	for i, y := range v {
		if y += 0; !math.IsNaN(y) && !math.IsInf(y, 0) {
			out[i] = &y
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
	undefined := math.NaN()
	*v = lists.Map(in, func(p *float64) float64 { return *cmp.Or(p, &undefined) })
	return nil
}

// StoreVerificationPlot stores a verification plot in the folder.
func (f *Folder) StoreVerificationPlot(c *VerificationPlot) error {
	return writeJSON(f.Dir, filepath.Join("plots", FileName(c.Case)+".json"), c)
}

// ReadVerificationPlots reads the verification plots of a run folder, sorted by file name.
func ReadVerificationPlots(dir string) ([]*VerificationPlot, error) {
	var out []*VerificationPlot
	for _, p := range lists.Files(dir, "plots/*.json") {
		out = append(out, &VerificationPlot{})
		if err := readJSON(dir, filepath.Join("plots", filepath.Base(p)), out[len(out)-1]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
