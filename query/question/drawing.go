package question

import (
	"cmp"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Drawing describes how the answer to a question becomes curves, as a METviewer plot does.
type Drawing struct {
	Stats       []string // METviewer's names; none = the picture shows the line type, or there is no picture
	Picture     string   // box, roc …, see LineTypesOfPictures; "" = curves
	RightAxis   bool     // drawn against the right axis of the previous question's picture
	FromColumns bool     // finished statistics: read from columns of the line type (CNT, CTS …), not computed
	Axis        string   // the independent variable: fcst_lead, fcst_lev, valid_hour …; "" = default of the answer
	Curves      []Group  // the fields whose values make curves; none = default of the answer
	Method      string   // overall: aggregate the partial sums; mean, median, sum: combine the records' statistics

	Replicates int     // bootstrap replicates; 0 = no interval
	Seed       *uint64 // nil = the caller's
	Confidence float64 // of the interval, e.g. 0.95
	BootCI     string  // METviewer's boot_ci: perc (the default), pivotal, bca
	// Block is the number of consecutive records that the bootstrap draws together. 0 = the square root of the number of
	// all records.
	Block int
	// Styles has one item for each curve that is not derived: all curves of the first statistic, then those of the second,
	// and so on. The curves of a statistic are the combinations of the values of Curves; the value of the last field changes
	// from one curve to the next. Barograph chooses each property that a style lacks. If plot_ci (the interval) is missing, it
	// is boot if there are replicates, and otherwise none.
	Styles     []metviewer.Style
	NoVIF      bool // no variance inflation factor: the standard error of a median ignores autocorrelation
	EventEqual bool // use only cases (valid time and lead) that every curve has

	Equalize []Group // fixed fields; with EventEqual, each case must also have each of their values

	Derived []Derived // curves that are computed from two others

	// EquivalenceBounds are in standard deviations of the difference; nil = METviewer's default.
	EquivalenceBounds [2]*float64

	ValueConditions []ValueCondition // conditions that a record must fulfill to be drawn

	EqualizeAcrossAxis bool // with EventEqual: a case must occur at every value of the axis
	// Baseline is the curve, or the value of a field of Curves, that is subtracted from the other curves case by case.
	// "" = none.
	Baseline string

	XLabel, YLabel string           // "" = the axis's default
	Ticks          []metviewer.Tick // of the axis, whose values have the form of Group.Values; none = Barograph chooses them
}

// numCurves is the number of curves that are not derived. A picture of a line type has curves of one kind. A product
// above maxCurves is returned as maxCurves + 1.
func (d *Drawing) numCurves() int {
	n := len(d.Stats)
	if d.ShowsLineType() {
		n = 1
	}
	for _, g := range d.Curves {
		n = min(n*max(len(g.Values), 1), maxCurves+1)
	}
	return n
}

// Tick returns the tick of a value of the axis, whose label is never empty.
func (d *Drawing) Tick(value string) metviewer.Tick {
	for _, t := range d.Ticks {
		if t.Value == value {
			t.Label = cmp.Or(t.Label, value)
			return t
		}
	}
	return metviewer.Tick{Value: value, Label: value}
}

// ValueCondition is a condition on a numeric column: =, <, <=, > or >= a value. A missing number does not
// fulfill it.
type ValueCondition struct {
	Column, Op string
	Value      float64
}

// Accepts reports whether a number fulfills the condition.
func (c *ValueCondition) Accepts(v float64) bool {
	includesEqual := c.Op != "<" && c.Op != ">"
	return v == c.Value && includesEqual || v < c.Value && c.Op[0] == '<' || v > c.Value && c.Op[0] == '>'
}

// Derived is a curve that is computed from two others, A and B. A and B have, for each field of
// Curves, the index of one of its values. StatA and StatB are their statistics; "" = the drawn one.
// The curve is drawn together with those of A's statistic.
type Derived struct {
	stat.Operation
	A, B         []int
	StatA, StatB string
	Style        metviewer.Style
}

// LineTypesOfPictures maps each picture other than curves to the line types that it draws without choosing a
// statistic; nil = the picture shows one statistic, as curves do.
func LineTypesOfPictures() map[string][]string {
	return map[string][]string{
		"bar": nil, "box": nil, "contour": nil, "revision": nil, "scorecard": nil,
		"roc": {"PCT", "CTC"}, "reliability": {"PCT"}, "performance": {"CTC", "NBRCTC", "CTS", "NBRCTS"}, "taylor": {"SL1L2"},
		"rank_histogram": {"RHIST", "PHIST", "RELP"}, "eclv": {"ECLV", "CTC", "PCT"}, "spread_skill": {"SSVAR"},
	}
}

// ShowsLineType reports whether the picture shows a line type instead of a single statistic.
func (d *Drawing) ShowsLineType() bool { return d != nil && len(LineTypesOfPictures()[d.Picture]) > 0 }

// Scorecard makes q draw which of two models is better, by how much and with what confidence: a row
// for each variable, level and region, a column for each lead.
func (q *Question) Scorecard(candidate, baseline string) {
	q.Header[record.Model] = []string{candidate, baseline}
	q.Title, q.Untitled = scorecardTitle(q.Header[record.Model], baseline), false
	d := NewDrawing(q.Type, DefaultStat(q.Type), "fcst_lead")
	d.Picture, d.Baseline = "scorecard", baseline
	models := Group{Field: "model", Values: [][]string{{candidate}, {baseline}}}
	d.Curves = []Group{models, {Field: "fcst_var"}, {Field: "fcst_lev"}, {Field: "vx_mask"}}
	q.Drawing = d
	q.SelectColumns()
}

// Group is a field that makes curves. Each item of Values is one curve; a curve combines all values
// of its item. Without Values, each value that occurs is a curve. Leads and hours are written as
// numbers of hours, times as 2019-01-01T00:00:00Z.
type Group struct {
	Field  string
	Values [][]string
}
