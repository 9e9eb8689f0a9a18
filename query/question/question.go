package question

import (
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Question states which data is requested, and nothing about how an engine retrieves it. An empty
// list means "all".
//
// Its answer has one row for each record that matches every condition, sorted by Order. TieBreakers
// then orders rows that Order does not distinguish by the record's complete identity, which makes
// the order total on every archive. Text sorts bytewise.
type Question struct {
	Name  string // "test_3"
	Title string // one line for people
	// Untitled means that Title does not describe the present conditions; a picture then derives its title from them.
	Untitled bool
	Changed  []string // conditions that differ from the case called Name, see Adapt
	Weight   int      // how often it is queried, relative to other questions; 0 counts as 1
	Subset   string   // the copy of the data set that is queried
	// MoreSubsets is set for a METviewer plot of several databases: the answer has the records of all of them.
	MoreSubsets []string

	Type       *record.LineType
	Header     [record.NumFields][]string // allowed values of each header field
	Valid      Times                      // fcst_valid_beg
	Lead       []int32                    // fcst_lead, seconds, ascending
	TimeFilter TimeFilter                 // other conditions on times
	Columns    []Column                   // columns of the answer
	Order      []Column                   // header fields and times only

	// Mean names a statistic, such as ANOM_CORR. The answer then has one row for each combination of values of the
	// GroupingColumns, in any order, and the columns RecordsColumn, DefinedColumn and MeanColumn after these. "" = one row
	// for each record.
	Mean string

	Drawing *Drawing // how the answer is drawn; nil = the default of its line type

	Omitted []string // what the METviewer plot requests, but Barograph does not draw, with line and reason
	Refused []string // the plot's derived curves that Barograph cannot compute, with line and reason
}

// InSubset returns a copy of q for another subset.
func (q *Question) InSubset(subset string) *Question {
	c := *q
	c.Subset = subset
	return &c
}

// TieBreakers lists the columns that complete Order to a total order: every header field and time
// that Order does not contain and that the question does not fix to one value, then the identity columns
// of the line type.
func (q *Question) TieBreakers() []Column {
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
	for _, k := range q.Type.IdentityColumns() {
		c, _ := ColumnByName(q.Type, k.Name)
		tie = append(tie, c)
	}
	return tie
}

// HasPattern reports whether a variable of q is METviewer's PROB(…*…), which denotes all variables
// of an archive that begin and end in that form. design.Catalog.ExpandPatterns replaces it by their names.
func (q *Question) HasPattern() bool { return slices.ContainsFunc(q.Header[record.FcstVar], IsPattern) }

// IsPattern reports whether a variable denotes several, see HasPattern.
func IsPattern(v string) bool { return strings.HasPrefix(v, "PROB(") && strings.Contains(v, "*") }

// Check returns an error that names the first invalid field of q; nil if q is valid.
func (q *Question) Check() error {
	bad := func(field, problem, cure string) error {
		return &fault.Error{Setting: strings.TrimSpace("question "+q.Name) + ": " + field, Problem: problem, Cure: cure}
	}
	if q.Type == nil {
		return bad("line_type", "is missing", "name one of `barograph list linetypes`")
	}
	if q.Mean != "" && len(q.Order) > 0 {
		return bad("order_by", "is given for a question with mean, whose answer has no order", "leave it out")
	}
	if len(q.Columns) == 0 {
		return bad("columns", "is empty", "name header fields, times or columns of "+q.Type.Name)
	}
	if q.Mean != "" && len(q.GroupingColumns()) == 0 {
		return bad("columns", "names no column to group by", "name header fields, or fcst_lead")
	}
	if err := q.Valid.Check(); err != nil {
		return bad("fcst_valid_beg", err.Error(), "give a list of times, or first, last and step")
	}
	if field, err := q.TimeFilter.check(); err != nil {
		return bad(field, err.Error(), "give times in ascending order, and hours from 0 to 23")
	}
	if !slices.IsSorted(q.Lead) {
		return bad("fcst_lead", "is not ascending", "sort the leads")
	}
	if len(q.Lead) > maxLeads {
		return bad("fcst_lead", "has more than 100,000 leads", "name fewer, or omit fcst_lead to request all")
	}
	if q.Drawing != nil && q.Drawing.numCurves() > maxCurves {
		return bad("series", "has more than "+strconv.Itoa(maxCurves)+" curves", "name fewer values")
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
