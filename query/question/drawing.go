package question

import (
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// Drawing says how the answer to a question becomes curves, where a METviewer
// plot says so.
type Drawing struct {
	Stats    []string // METviewer's names; each is drawn on its own; none = no picture
	Picture  string   // box, roc …, see Pictures; "" = curves
	Right    bool     // drawn against the right axis of the picture of the question before
	Finished bool     // the statistics are columns of the line type (CNT, CTS …) and are read, not computed
	Axis     string   // the independent variable: fcst_lead, fcst_lev, valid_hour …; "" = as the answer suggests
	Curves   []Group  // the fields whose values make curves; none = as the answer suggests
	Method   string   // overall: aggregate the partial sums; mean, median, sum: of the records' statistics

	Replicates int     // of the bootstrap; 0 = no interval
	Seed       *uint64 // nil = the caller's
	Confidence float64 // of the interval, e.g. 0.95
	BootCI     string  // METviewer's boot_ci: perc (as ""), pivotal, bca
	Block      int     // of records drawn together; 0 = the root of their number, 1 = single ones
	// Intervals are METviewer's plot_ci, of each curve, over again where there
	// are more: none, std, met_prm, met_boot, boot; no one = boot with replicates.
	Intervals  []string
	NoVIF      bool // std of a median does not heed autocorrelation
	EventEqual bool // only cases (valid time and lead) that every curve has

	Equalize []Group // fixed fields of which every case needs every value, too

	Derived []Derived // curves made of others

	EqBounds [2]*float64 // of a test of equivalence, in standard deviations of the difference; nil = METviewer's own

	Only []Bound // the records that are drawn of those that the question asks for

	EqualPlaces bool   // with EventEqual: and that it has at every place of the axis
	Minus       string // the curve, or the value of a field of Curves, that is taken off the others, case by case; "" = none

	XLabel, YLabel string // "" = the axis's own
}

// Bound is a condition on a column of numbers: =, <, <=, > or >= a value. A missing
// number fulfils none.
type Bound struct {
	Column, Op string
	Value      float64
}

// Holds reports whether a number fulfils the condition.
func (b *Bound) Holds(v float64) bool {
	switch b.Op {
	case "<":
		return v < b.Value
	case "<=":
		return v <= b.Value
	case ">":
		return v > b.Value
	case ">=":
		return v >= b.Value
	}
	return v == b.Value
}

// Derived is a curve that is made of two others, each given by the item of every
// one of Curves that it is of, and by its statistic; "" = the one that is drawn.
// It is drawn with the curves of the statistic of A.
type Derived struct {
	stat.Operation
	A, B         []int
	StatA, StatB string
}

// Pictures are the ways of drawing besides curves, each with the line types that
// it shows as a whole; nil = one statistic, as curves are.
func Pictures() map[string][]string {
	return map[string][]string{
		"bar": nil, "box": nil, "contour": nil, "revision": nil, "scorecard": nil,
		"roc": {"PCT", "CTC"}, "reliability": {"PCT"}, "performance": {"CTC", "NBRCTC", "CTS", "NBRCTS"}, "taylor": {"SL1L2"},
		"rank_histogram": {"RHIST", "PHIST", "RELP"}, "eclv": {"ECLV", "CTC", "PCT"}, "spread_skill": {"SSVAR"},
	}
}

// Whole reports whether the drawing shows a line type, and no statistic of its own.
func (d *Drawing) Whole() bool { return d != nil && len(Pictures()[d.Picture]) > 0 }

// Scorecard has q drawn as who of two models is better, by how much and how
// surely: a row for each variable, level and region, a column for each lead.
func (q *Question) Scorecard(candidate, baseline string) {
	q.Header[record.Model] = []string{candidate, baseline}
	q.Title, q.Untitled = cardTitle(q.Header[record.Model], baseline), false
	d := NewDrawing(q.Type, DefaultStat(q.Type), "fcst_lead")
	d.Picture, d.Minus = "scorecard", baseline
	d.Curves = []Group{{Field: "model", Values: [][]string{{candidate}, {baseline}}}, {Field: "fcst_var"}, {Field: "fcst_lev"}, {Field: "vx_mask"}}
	q.Drawing = d
	q.Select()
}

// Group is a field that makes curves. Each item of Values is one curve, and
// without any each value that occurs; several values of an item are drawn
// together. Leads and hours are written as numbers of hours, times as
// 2019-01-01T00:00:00Z.
type Group struct {
	Field  string
	Values [][]string
}
