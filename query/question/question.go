package question

import (
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Question is what is asked, nothing of how. An empty list means "all".
//
// Its answer holds one row per record that matches every condition, sorted by
// Order and, where that leaves ties, by the record's whole identity (Tie), so
// that the order of rows is total on every archive. Text sorts bytewise.
type Question struct {
	Name  string // "test_3"
	Title string // one line for people
	// Untitled: nobody wrote Title for what is now asked, so a picture derives its own.
	Untitled bool
	Changed  []string // conditions that are not those that Name stands for, see Adapt
	Weight   int      // how often it is asked beside others, at least 1
	Subset   string   // the copy of the data set that is asked
	Others   []string // further ones, of a METviewer plot of several databases: their records count as well

	Type    *record.LineType
	Header  [record.NumFields][]string // allowed values of each header field
	Valid   Times                      // fcst_valid_beg
	Lead    []int32                    // fcst_lead, seconds, ascending
	Clock   Clock                      // further conditions on times
	Columns []Column                   // what each row of the answer holds
	Order   []Column                   // header fields and times only

	// Mean names a statistic, e.g. ANOM_CORR: then the answer holds, in any order,
	// one row for each combination of values of By instead of one for each
	// record, with the columns that Verification has. "" = records.
	Mean string

	Drawing *Drawing // how the answer is drawn; nil = as its line type suggests

	// Of a METviewer plot: what else it asks for, and no question of it draws; and the
	// curves made of two that cannot be computed as it asks. Each with line and reason.
	Omitted, Refused []string
}

// In returns a copy of q that asks another subset.
func (q *Question) In(subset string) *Question {
	c := *q
	c.Subset = subset
	return &c
}

// Tie lists the columns that complete Order to a total order: every header
// field and time that is neither in Order nor fixed to one value by the
// question, then the key columns of the line type.
func (q *Question) Tie() []Column {
	var tie []Column
	has := func(name string) bool {
		return slices.ContainsFunc(q.Order, func(c Column) bool { return c.Name == name })
	}
	for f := range record.NumFields {
		if len(q.Header[f]) != 1 && !has(f.String()) {
			tie = append(tie, Column{Name: f.String(), Role: HeaderField, Kind: Text, Field: f})
		}
	}
	for _, r := range []Role{ValidBeg, Lead, ValidEnd, ObsLead, ObsBeg, ObsEnd} {
		known := r == Lead && has("fcst_init_beg") && has("fcst_valid_beg") // it is their difference
		if c := timeColumns[r-ValidBeg]; !has(c.Name) && !known {
			tie = append(tie, c)
		}
	}
	for _, k := range q.Type.Keys() {
		c, _ := ColumnByName(q.Type, k.Name)
		tie = append(tie, c)
	}
	return tie
}

// Patterned reports whether a variable of q is METviewer's PROB(…*…), which stands
// for all variables of an archive that begin and end so: design.Catalog.Open names them.
func (q *Question) Patterned() bool {
	return slices.ContainsFunc(q.Header[record.FcstVar], IsPattern)
}

// IsPattern reports whether a variable stands for several, see Patterned.
func IsPattern(v string) bool { return strings.HasPrefix(v, "PROB(") && strings.Contains(v, "*") }

// Check reports whether q can be asked at all; the error names the field.
func (q *Question) Check() error {
	bad := func(field, problem, cure string) error {
		return &fault.Error{Setting: "question " + q.Name + ": " + field, Problem: problem, Cure: cure}
	}
	if q.Type == nil {
		return bad("line_type", "is missing", "name one of `barograph list linetypes`")
	}
	if q.Mean != "" && len(q.Order) > 0 {
		return bad("order_by", "is given for means, which have no order", "leave it out")
	}
	if len(q.Columns) == 0 {
		return bad("columns", "is empty", "name header fields, times or columns of "+q.Type.Name)
	}
	if err := q.Valid.Check(); err != nil {
		return bad("fcst_valid_beg", err.Error(), "give a list of times, or first, last and step")
	}
	if field, err := q.Clock.check(); err != nil {
		return bad(field, err.Error(), "give times in ascending order, and hours from 0 to 23")
	}
	if !slices.IsSorted(q.Lead) {
		return bad("fcst_lead", "is not ascending", "sort the leads")
	}
	seen := map[string]bool{}
	for _, c := range q.Columns {
		if seen[c.Name] {
			return bad("columns", strconv.Quote(c.Name)+" is named twice", "name each column once")
		}
		seen[c.Name] = true
	}
	for _, c := range q.Order {
		if c.Role == Data || c.Role == Repeating {
			return bad("order_by", strconv.Quote(c.Name)+" is a value", "order by header fields and times")
		}
	}
	return nil
}
