package question

import "github.com/barograph/barograph/stat"

// Drawing says how the answer to a question becomes curves, where a METviewer
// plot says so.
type Drawing struct {
	Stats    []string // METviewer's names; each is drawn on its own
	Finished bool     // the statistics are columns of the line type (CNT, CTS …) and are read, not computed
	Axis     string   // the independent variable: fcst_lead, fcst_lev, valid_hour …
	Curves   []Group  // the fields whose values make curves; none = one curve
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

	EqualPlaces bool   // with EventEqual: and that it has at every place of the axis
	Minus       string // the curve that is taken off each other one, case by case; "" = none

	XLabel, YLabel string // "" = the axis's own
}

// Derived is a curve that is made of two others, each given by the item of every
// one of Curves that it is of.
type Derived struct {
	stat.Operation
	A, B []int
}

// Group is a field that makes curves. Each item of Values is one curve; several
// values of an item are drawn together. Leads and hours are written as numbers
// of hours, times as 2019-01-01T00:00:00Z.
type Group struct {
	Field  string
	Values [][]string
}
