package design

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// caseTemplate is a question that NOAA's experiment or METviewer's users ask about a line type.
type caseTemplate struct {
	name, title string // %s in the title is replaced by the statistic
	axis        string // "" = no picture
	// false = the data does not support the question
	build func(s *mainSeries, q *question.Question) bool
}

// caseTemplates is in the order in which reports list cases.
var caseTemplates = []caseTemplate{ //nolint:gochecknoglobals // a constant table
	{"dieoff", "Die-off of %s", "fcst_lead", func(s *mainSeries, q *question.Question) bool {
		q.Header[record.Model], q.Header[record.VxMask] = s.preferredValues(record.Model, 4), s.preferredValues(record.VxMask, 2)
		return len(s.leads) > 1
	}},
	{"one", "One series of %s", "fcst_lead", func(s *mainSeries, q *question.Question) bool {
		q.Valid = gridOrList(s.firstDays())
		return true
	}},
	{"all", "All levels and regions", "", func(s *mainSeries, q *question.Question) bool {
		q.Header[record.FcstLev], q.Header[record.VxMask], q.Valid = nil, nil, gridOrList(s.firstDays())
		return len(s.allValues(record.FcstLev)) > 1 || len(s.allValues(record.VxMask)) > 1
	}},
	{"levels", "Die-off of %s at several levels", "fcst_lead", func(s *mainSeries, q *question.Question) bool {
		q.Header[record.FcstLev] = s.preferredValues(record.FcstLev, 4)
		return len(s.leads) > 1 && len(q.Header[record.FcstLev]) > 1
	}},
	{"profile", "Profile of %s", "fcst_lev", func(s *mainSeries, q *question.Question) bool {
		q.Lead, q.Header[record.FcstLev] = s.middleLead(), slices.DeleteFunc(s.allValues(record.FcstLev), isNotPressure)
		return len(q.Header[record.FcstLev]) > 2
	}},
	{"large", "A large read", "", func(s *mainSeries, q *question.Question) bool {
		q.Header, q.Lead = [record.NumFields][]string{}, nil
		for _, f := range []record.Field{record.Model, record.FcstVar} {
			if s.c.estimateRows(q) > maxRows {
				q.Header[f] = s.Header[f]
			}
		}
		return true
	}},
	{"series", "%s over time", "fcst_valid_beg", func(s *mainSeries, q *question.Question) bool {
		q.Header[record.Model], q.Lead = s.preferredValues(record.Model, 4), s.middleLead()
		return len(s.valid) > 1
	}},
	{"hour", "%s by hour of the valid time", "valid_hour", func(s *mainSeries, q *question.Question) bool {
		q.Lead = s.middleLead()
		return slices.ContainsFunc(s.valid, func(v int64) bool { return question.HourOf(v) != question.HourOf(s.valid[0]) })
	}},
	{"threshold", "%s by threshold", "fcst_thresh", func(s *mainSeries, q *question.Question) bool {
		q.Lead, q.Header[record.FcstThresh] = s.middleLead(), s.allValues(record.FcstThresh)
		return len(q.Header[record.FcstThresh]) > 1
	}},
}

const (
	experimentCases = 6             // the first templates, those of NOAA's experiment
	fewDays         = 4 * 24 * 3600 // seconds, as in the first case of the experiment
	maxRows         = 100_000       // of an answer, about
	maxKeys         = 200_000       // of an answer's documents
	maxTimes        = 2_000         // of a grid
)

// Line types, levels and regions that questions prefer to others.
//
//nolint:gochecknoglobals // constant tables
var (
	preferredTypes   = []string{"SAL1L2", "VAL1L2", "SL1L2", "VL1L2", "CTC", "CNT", "CTS", "ECNT", "NBRCNT", "PSTD", "VCNT"}
	preferredLevels  = []string{"P500", "P850", "Z2", "SFC", "MSL", "L0"}
	preferredRegions = []string{"G2/NHX", "NHX", "G2/SHX", "SHX", "FULL", "CONUS"}
	preferredLeads   = []int32{72 * 3600, 48 * 3600, 24 * 3600, 12 * 3600, 6 * 3600}
)

// fieldLabels are the header fields in a title, each with the words before it.
var fieldLabels = [...]struct { //nolint:gochecknoglobals // a constant table
	field record.Field
	word  string
}{{record.FcstVar, " "}, {record.FcstThresh, " "}, {record.FcstLev, " at "}, {record.VxMask, " over "}, {record.Model, " of "}}

// Cases derives questions from the catalog, the most informative ones first: those of NOAA's
// experiment for the first line type, then one by one those of the other line types. A catalog
// lists the values of each field but not their combinations, so a question may match no record.
func (c *Catalog) Cases() (out []*question.Question) {
	var of [][]*question.Question
	for _, name := range prefer(slices.Sorted(maps.Keys(c.Records())), preferredTypes) {
		t, _ := record.TypeByName(name)
		of = append(of, c.casesOf(t, ""))
	}
	for round := 0; slices.ContainsFunc(of, func(qs []*question.Question) bool { return len(qs) > 0 }); round++ {
		for i, qs := range of {
			n := min(len(qs), 1)
			if i+round == 0 {
				n = min(len(qs), experimentCases)
			}
			out, of[i] = append(out, qs[:n]...), qs[n:]
		}
	}
	return out
}

// CasesWith returns Cases and the derived questions of these names that Cases lacks. A name
// consists of template, line type and variable, and remains valid if Cases later lists another
// variable.
func (c *Catalog) CasesWith(names ...string) []*question.Question {
	out := c.Cases()
	for _, name := range names {
		if slices.ContainsFunc(out, func(o *question.Question) bool { return o.Name == name }) {
			continue
		}
		if q := c.caseNamed(name); q != nil {
			out = append(out, q)
		}
	}
	return out
}

// caseNamed returns the derived question of a name, for any variable; nil = there is none. If loads have removed records,
// it also finds cases that the remaining records no longer support: questions without records, and questions that their
// template would reject.
func (c *Catalog) caseNamed(name string) *question.Question {
	for _, g := range c.Groups {
		t, _ := record.TypeByName(g.LineType)
		if !strings.Contains(name, question.JoinName(g.LineType)) {
			continue
		}
		for _, q := range c.casesOf(t, g.FcstVar) {
			if large := question.JoinName("large", g.LineType); name == large && strings.HasPrefix(q.Name, large+"_") {
				q.Name = name // its name has a variable because all variables have too many records
			}
			if q.Name == name {
				return q
			}
		}
	}
	for _, shape := range caseTemplates {
		for _, t := range record.Types() {
			q := &question.Question{Name: name, Type: t, Weight: 1}
			variable, ok := strings.CutPrefix(name, question.JoinName(shape.name, q.Type.Name)+"_")
			q.Header[record.FcstVar] = []string{strings.ToUpper(variable)}
			if ok && c.Trimmed > 0 && c.ExplainNoRecords(q) != "" {
				q.Drawing = question.NewDrawing(q.Type, question.DefaultStat(q.Type), cmp.Or(shape.axis, "fcst_lead"))
				q.SelectColumns()
				return q
			}
		}
	}
	return nil
}

// casesOf returns the questions of one line type about a variable. If variable is "", it takes the
// main one and omits duplicates.
func (c *Catalog) casesOf(t *record.LineType, variable string) (out []*question.Question) {
	s := c.findMainSeries(t, variable)
	for _, shape := range caseTemplates {
		q := s.Question
		if !shape.build(s, &q) && (variable == "" || c.Trimmed == 0 || shape.name == "threshold") || !c.limitSize(&q) {
			continue
		}
		stat := question.DefaultStat(t)
		if shape.axis == "" {
			stat = ""
		}
		q.Drawing = question.NewDrawing(t, stat, shape.axis)
		q.SelectColumns()
		q.Name = question.JoinName(shape.name, t.Name, strings.Join(q.Header[record.FcstVar], "_"))
		q.Title = strings.ReplaceAll(shape.title, "%s", cmp.Or(stat, "records")) + ": " + t.Name
		for _, x := range fieldLabels {
			if v := q.Header[x.field]; v != nil {
				q.Title += x.word + listFirst(v)
			} else if len(c.valuesOf(&q, x.field)) > 1 {
				column, _ := question.ColumnByName(t, x.field.String())
				q.Columns = append(q.Columns, column)
			}
		}
		isEqual := func(o *question.Question) bool {
			return reflect.DeepEqual(o.Header, q.Header) && slices.Equal(o.Lead, q.Lead) && reflect.DeepEqual(o.Valid, q.Valid)
		}
		if variable != "" || !slices.ContainsFunc(out, isEqual) {
			out = append(out, &q)
		}
	}
	return out
}

// limitSize restricts a question to the available valid times, and further to the last of them if
// the answer would be too large or would need too many keys. It returns false if even one time has
// too many keys.
func (c *Catalog) limitSize(q *question.Question) bool {
	valid, _ := c.timesAndLeads(q)
	if q.Valid.IsAll() {
		q.Valid = gridOrList(valid)
	} else {
		valid = slices.DeleteFunc(valid, func(v int64) bool { return !q.Valid.Contains(v) })
	}
	for len(valid) > 1 && (c.estimateRows(q) > maxRows || c.keyCount(q) > maxKeys) {
		valid = valid[len(valid)/2:]
		q.Valid = gridOrList(valid)
	}
	return c.keyCount(q) <= maxKeys
}

// keyCount is the number of ids that Keys derives.
func (c *Catalog) keyCount(q *question.Question) (n int) {
	for _, g := range c.matchingGroups(q) {
		levels, masks := cmp.Or(len(q.Header[record.FcstLev]), len(g.Levels)), cmp.Or(len(q.Header[record.VxMask]), len(g.Masks))
		n += levels * masks * len(g.FurtherFields) * len(g.Times(q))
	}
	return n
}

// timesAndLeads returns the valid times and leads of the series that q can match.
func (c *Catalog) timesAndLeads(q *question.Question) (valid Moments, leads []int32) {
	for _, g := range c.matchingGroups(q) {
		valid, leads = append(valid, g.Valid...), append(leads, g.Leads...)
	}
	slices.Sort(valid)
	slices.Sort(leads)
	return slices.Compact(valid), slices.Compact(leads)
}

// estimateRows is the number of records that match q, if all series have equally many.
func (c *Catalog) estimateRows(q *question.Question) (rows float64) {
	for _, g := range c.matchingGroups(q) {
		n := float64(g.Digest.Records) * sharedFraction(g.Levels, q.Header[record.FcstLev]) *
			sharedFraction(g.Masks, q.Header[record.VxMask]) * sharedFraction(g.Leads, q.Lead)
		if len(g.Valid) > 0 && !q.Valid.IsAll() {
			requested := slices.DeleteFunc(slices.Clone(g.Valid), func(v int64) bool { return !q.Valid.Contains(v) })
			n *= float64(len(requested)) / float64(len(g.Valid))
		}
		rows += n
	}
	return rows
}

// sharedFraction is the fraction of the available values that are requested.
func sharedFraction[T cmp.Ordered](available, requested []T) float64 {
	if len(requested) == 0 {
		return 1
	}
	found := slices.DeleteFunc(slices.Clone(requested), func(v T) bool { return !contains(available, v) })
	return float64(len(found)) / float64(len(available))
}

// gridOrList writes times as METviewer's lists do: as a grid if they form one. It writes a few other times
// as a list, and many as a range.
func gridOrList(valid Moments) (t question.Times) {
	if len(valid) < 2 {
		return question.Times{List: valid}
	}
	t.First, t.Last = valid[0], valid[len(valid)-1]
	for _, v := range valid {
		t.Step = gcd(t.Step, v-t.First)
	}
	switch n := (t.Last-t.First)/t.Step + 1; {
	case n <= maxTimes && n <= 4*int64(len(valid)):
	case len(valid) <= maxTimes/10:
		return question.Times{List: valid}
	default:
		t.Step = 0
	}
	return t
}

// mainSeries is the series of a line type that supports most of the questions.
type mainSeries struct {
	question.Question // all its records
	c                 *Catalog
	valid             Moments
	leads             []int32
}

// findMainSeries chooses, of the groups in which most dimensions vary, the one with most records.
// If variable is not "", it considers only groups of that variable.
func (c *Catalog) findMainSeries(t *record.LineType, variable string) *mainSeries {
	s := &mainSeries{c: c}
	s.Type, s.Weight = t, 1
	if variable != "" {
		s.Header[record.FcstVar] = []string{variable}
	}
	varies := func(g *Group) int {
		return len(lists.Filter([]int{len(g.Leads), len(g.Levels), len(g.Masks), len(g.Valid)}, func(n int) bool { return n > 1 }))
	}
	groups := c.matchingGroups(&s.Question)
	g := slices.MaxFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(varies(a), varies(b)), cmp.Compare(a.Digest.Records, b.Digest.Records))
	})
	s.Header[record.Model], s.Header[record.FcstVar] = []string{g.Model}, []string{g.FcstVar}
	s.Header[record.FcstLev] = s.preferredValues(record.FcstLev, 1)
	s.Header[record.VxMask] = s.preferredValues(record.VxMask, 1)
	for _, f := range []record.Field{record.ObType, record.Descr, record.InterpMthd, record.InterpPnts, record.FcstThresh, record.CovThresh, record.Alpha} {
		if v := s.allValues(f); len(v) > 1 {
			s.Header[f] = v[len(v)/2:][:1]
		}
	}
	s.valid, s.leads = c.timesAndLeads(&s.Question)
	s.Lead = s.leads
	return s
}

// allValues returns the values of a field under the other conditions of the series.
func (s *mainSeries) allValues(f record.Field) []string {
	q := s.Question
	q.Header[f] = nil
	return s.c.valuesOf(&q, f)
}

// preferredValues returns up to n values of a field: the series' own one, then preferred ones, then
// others.
func (s *mainSeries) preferredValues(f record.Field, n int) []string {
	liked := map[record.Field][]string{record.FcstLev: preferredLevels, record.VxMask: preferredRegions}[f]
	all := prefer(s.allValues(f), slices.Concat(s.Header[f], liked))
	return all[:min(n, len(all))]
}

// prefer moves preferred values to the front. The others keep their order.
func prefer(all, liked []string) []string {
	place := func(v string) uint { return uint(slices.Index(liked, v)) } // −1 is the largest
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return all
}

// firstDays returns the times of the first few days of the series.
func (s *mainSeries) firstDays() Moments {
	n := 0
	for n < len(s.valid) && s.valid[n] < s.valid[0]+fewDays {
		n++
	}
	return s.valid[:n]
}

// middleLead returns one lead of the series, in the middle of the forecast.
func (s *mainSeries) middleLead() []int32 {
	all := append(lists.Filter(preferredLeads, func(l int32) bool { return contains(s.leads, l) }), s.leads[len(s.leads)/2:]...)
	return all[:min(1, len(all))]
}

// isNotPressure reports whether a level is not a pressure level. Only pressure levels belong in a
// profile.
func isNotPressure(level string) bool {
	digits, ok := strings.CutPrefix(level, "P")
	_, err := strconv.Atoi(digits)
	return !ok || err != nil
}

// ExpandPatterns replaces patterns of variables in a question by the archive's variables that
// match. A pattern without a match stays, and matches no row.
func (c *Catalog) ExpandPatterns(q *question.Question) *question.Question {
	out := *q
	var names []string
	for _, v := range q.Header[record.FcstVar] {
		before, after, ok := strings.Cut(v, "*")
		n := len(names)
		for _, g := range c.Groups {
			if ok && g.LineType == q.Type.Name && len(g.FcstVar) >= len(v)-1 && strings.HasPrefix(g.FcstVar, before) && strings.HasSuffix(g.FcstVar, after) {
				names = insert(names, g.FcstVar)
			}
		}
		if len(names) == n {
			names = insert(names, v)
		}
	}
	out.Header[record.FcstVar] = names
	return &out
}

// MissingValues lists those values of a header field that no series of the line type has. available
// describes the existing values, with the one nearest to the first missing value.
func (c *Catalog) MissingValues(t *record.LineType, f record.Field, values []string) (missing []string, available string) {
	all := c.valuesOf(&question.Question{Type: t}, f)
	missing = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return contains(all, v) })
	if len(missing) > 0 {
		available = listWithNearest(missing[0], all)
	}
	return missing, available
}

// ExplainNoRecords returns which condition of a question excludes all records, and which values exist
// instead; "" if the catalog does not show it.
func (c *Catalog) ExplainNoRecords(q *question.Question) string {
	if len(c.Groups) == 0 {
		return "it has no records"
	}
	if len(c.matchingGroups(q)) > 0 {
		return c.explainTimes(q)
	}
	every := &question.Question{Type: q.Type}
	if len(c.matchingGroups(every)) == 0 {
		return fmt.Sprintf("the archive has no %s, only %s", q.Type.Name, listFirst(slices.Sorted(maps.Keys(c.Records()))))
	}
	for f, requested := range q.Header {
		if len(requested) == 0 {
			continue
		}
		available := c.valuesOf(every, record.Field(f))
		if !slices.ContainsFunc(requested, func(v string) bool { return contains(available, v) }) {
			return fmt.Sprintf("no %s has %s %s; the archive has %s", q.Type.Name, record.Field(f), joinQuoted(requested),
				listWithNearest(requested[0], available))
		}
	}
	return c.explainCombination(q)
}

// explainCombination finds a condition that excludes all records only in combination with the
// others.
func (c *Catalog) explainCombination(q *question.Question) string {
	for f, requested := range q.Header {
		if len(requested) == 0 {
			continue
		}
		wider := *q
		wider.Header[f] = nil
		if available := c.valuesOf(&wider, record.Field(f)); len(available) > 0 {
			return fmt.Sprintf("together with the other conditions, no %s has %s %s; the archive has %s",
				q.Type.Name, record.Field(f), joinQuoted(requested), listFirst(available))
		}
	}
	return "no series has all of these header fields"
}

// explainTimes returns which times or leads the matching series have, if the question requests none of
// them.
func (c *Catalog) explainTimes(q *question.Question) string {
	valid, leads := c.timesAndLeads(q)
	if len(valid) > 0 && !slices.ContainsFunc(valid, func(v int64) bool { return (q.Valid.IsAll() || q.Valid.Contains(v)) && q.TimeFilter.AcceptsValid(v) }) {
		first, last := AppendISO(nil, valid[0]), AppendISO(nil, valid[len(valid)-1])
		return fmt.Sprintf("the matching records have other valid times, from %s to %s", first, last)
	}
	if len(q.Lead) > 0 && !slices.ContainsFunc(leads, func(l int32) bool { return slices.Contains(q.Lead, l) }) {
		span := func(l int32) string { return fmt.Sprintf("%g h", float64(l)/3600) }
		return fmt.Sprintf("the matching records have other leads, from %s to %s", span(leads[0]), span(leads[len(leads)-1]))
	}
	return ""
}

// matchingGroups returns the groups with series that the header fields admit.
func (c *Catalog) matchingGroups(q *question.Question) []*Group {
	return lists.Filter(c.Groups, func(g *Group) bool {
		return g.matches(q) && len(g.matchingHeaders(q)) > 0 && overlap(q.Header[record.VxMask], g.Masks) && overlap(q.Header[record.FcstLev], g.Levels)
	})
}

func overlap(requested, available []string) bool {
	return len(requested) == 0 || slices.ContainsFunc(requested, func(v string) bool { return contains(available, v) })
}

// matchingHeaders returns the headers with the group's further fields that q admits.
func (g *Group) matchingHeaders(q *question.Question) (out []record.Header) {
	for _, rest := range g.FurtherFields {
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = g.Version, g.Model, g.ObType, g.FcstVar
		for _, h[record.FcstLev] = range requestedOr(q.Header[record.FcstLev], g.Levels) { // the level implies omitted fields
			if setFurther(&h, rest) == nil && furtherMatches(q, &h) {
				out = append(out, h)
			}
		}
	}
	return out
}

// valuesOf returns the values of a field in the series that q admits.
func (c *Catalog) valuesOf(q *question.Question, f record.Field) (out []string) {
	for _, g := range c.matchingGroups(q) {
		switch f {
		case record.VxMask:
			out = insert(out, g.Masks...)
		case record.FcstLev:
			out = insert(out, g.Levels...)
		default:
			for _, h := range g.matchingHeaders(q) {
				out = insert(out, h[f])
			}
		}
	}
	return out
}

// listWithNearest lists the available values, and the one that is nearest to a misspelt value.
func listWithNearest(value string, available []string) string {
	nearest := fault.Nearest(value, available)
	if i := slices.IndexFunc(available, func(v string) bool { return strings.EqualFold(v, value) }); i >= 0 {
		nearest = available[i]
	}
	if nearest == "" {
		return listFirst(available)
	}
	return fmt.Sprintf("%s (did you mean %s?)", listFirst(available), nearest)
}

// listFirst lists the first values.
func listFirst(values []string) string {
	const most = 12
	if len(values) > most {
		return fmt.Sprintf("%s and %d more", joinQuoted(values[:most]), len(values)-most)
	}
	return joinQuoted(values)
}

// joinQuoted joins values. It quotes a value that contains a comma.
func joinQuoted(values []string) string {
	return strings.Join(lists.Map(values, func(v string) string {
		if strings.Contains(v, ",") {
			return strconv.Quote(v)
		}
		return v
	}), ", ")
}

// Inventory summarizes one line type in a catalog.
type Inventory struct {
	LineType   string   `json:"line_type"`
	Records    int64    `json:"records"`
	Versions   []string `json:"version"`
	Models     []string `json:"model"`
	Variables  []string `json:"fcst_var"`
	Levels     []string `json:"fcst_lev"`
	Regions    []string `json:"vx_mask"`
	ObTypes    []string `json:"obtype"`
	Thresholds []string `json:"fcst_thresh,omitempty"`
	Leads      []int32  `json:"fcst_lead"`      // seconds
	Valid      Moments  `json:"fcst_valid_beg"` // of any series
	Step       int64    `json:"fcst_valid_step"`
	Holes      []Gap    `json:"holes,omitempty"` // times at which no series has records
}

// Inventory summarizes the catalog by line type, in the order of record.Types.
func (c *Catalog) Inventory() []Inventory {
	var out []Inventory
	for _, t := range record.Types() {
		in := Inventory{LineType: t.Name}
		for _, g := range c.Groups {
			if g.LineType == t.Name {
				in.add(g)
			}
		}
		if in.Records > 0 {
			in.Step = in.Valid.Step()
			in.Holes = in.Valid.Gaps(in.Step)
			out = append(out, in)
		}
	}
	return out
}

func (in *Inventory) add(g *Group) {
	in.Records += g.Digest.Records
	in.Versions, in.Models = insert(in.Versions, g.Version), insert(in.Models, g.Model)
	in.ObTypes, in.Variables = insert(in.ObTypes, g.ObType), insert(in.Variables, g.FcstVar)
	in.Levels, in.Regions = insert(in.Levels, g.Levels...), insert(in.Regions, g.Masks...)
	in.Thresholds, in.Leads = insert(in.Thresholds, g.Thresholds()...), insert(in.Leads, g.Leads...)
	in.Valid = Moments(slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(in.Valid), g.Valid...)))))
}

// Thresholds returns the forecast thresholds of a group, sorted; none if it has none.
func (g *Group) Thresholds() (out []string) {
	for _, rest := range g.FurtherFields {
		h := record.DefaultHeader()
		if setFurther(&h, rest) == nil && h[record.FcstThresh] != record.NA && h[record.FcstThresh] != "" {
			out = insert(out, h[record.FcstThresh])
		}
	}
	return out
}
