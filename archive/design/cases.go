package design

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// shape is a question that somebody asks of a line type: one of NOAA's
// experiment, or of METviewer's users.
type shape struct {
	name, title string                                     // %s of the title is the statistic
	axis        string                                     // "" = no picture
	ask         func(s *series, q *question.Question) bool // false = the data has none
}

// shapes stand in the order in which they are reported.
var shapes = []shape{ //nolint:gochecknoglobals // a constant table
	{"dieoff", "Die-off of %s", "fcst_lead", func(s *series, q *question.Question) bool {
		q.Header[record.Model], q.Header[record.VxMask] = s.first(record.Model, 4), s.first(record.VxMask, 2)
		return len(s.leads) > 1
	}},
	{"one", "One series of %s", "fcst_lead", func(s *series, q *question.Question) bool {
		q.Valid = times(s.days())
		return true
	}},
	{"all", "All levels and regions", "", func(s *series, q *question.Question) bool {
		q.Header[record.FcstLev], q.Header[record.VxMask], q.Valid = nil, nil, times(s.days())
		return len(s.open(record.FcstLev)) > 1 || len(s.open(record.VxMask)) > 1
	}},
	{"levels", "Die-off of %s at several levels", "fcst_lead", func(s *series, q *question.Question) bool {
		q.Header[record.FcstLev] = s.first(record.FcstLev, 4)
		return len(s.leads) > 1 && len(q.Header[record.FcstLev]) > 1
	}},
	{"profile", "Profile of %s", "fcst_lev", func(s *series, q *question.Question) bool {
		q.Lead, q.Header[record.FcstLev] = s.lead(), slices.DeleteFunc(s.open(record.FcstLev), noPressure)
		return len(q.Header[record.FcstLev]) > 2
	}},
	{"large", "A large read", "", func(s *series, q *question.Question) bool {
		q.Header, q.Lead = [record.NumFields][]string{}, nil
		for _, f := range []record.Field{record.Model, record.FcstVar} {
			if s.c.estimate(q) > mostRows {
				q.Header[f] = s.Header[f]
			}
		}
		return true
	}},
	{"series", "%s over time", "fcst_valid_beg", func(s *series, q *question.Question) bool {
		q.Header[record.Model], q.Lead = s.first(record.Model, 4), s.lead()
		return len(s.valid) > 1
	}},
	{"hour", "%s by hour of the valid time", "valid_hour", func(s *series, q *question.Question) bool {
		q.Lead = s.lead()
		return slices.ContainsFunc(s.valid, func(v int64) bool { return question.HourOf(v) != question.HourOf(s.valid[0]) })
	}},
	{"threshold", "%s by threshold", "fcst_thresh", func(s *series, q *question.Question) bool {
		q.Lead, q.Header[record.FcstThresh] = s.lead(), s.open(record.FcstThresh)
		return len(q.Header[record.FcstThresh]) > 1
	}},
}

const (
	experiment = 6             // of the shapes are NOAA's, the first ones
	fewDays    = 4 * 24 * 3600 // seconds, as its first case has
	mostRows   = 100_000       // of an answer, about
	mostKeys   = 200_000       // of an answer's documents
	mostTimes  = 2_000         // of a grid
)

// The line types, levels and regions that are asked for before others.
//
//nolint:gochecknoglobals // constant tables
var (
	likedTypes   = []string{"SAL1L2", "VAL1L2", "SL1L2", "VL1L2", "CTC", "CNT", "CTS", "ECNT", "NBRCNT", "PSTD", "VCNT"}
	likedLevels  = []string{"P500", "P850", "Z2", "SFC", "MSL", "L0"}
	likedRegions = []string{"G2/NHX", "NHX", "G2/SHX", "SHX", "FULL", "CONUS"}
	likedLeads   = []int32{72 * 3600, 48 * 3600, 24 * 3600, 12 * 3600, 6 * 3600}
)

// fieldLabels are the header fields that a title has, and the words before them.
var fieldLabels = [...]struct { //nolint:gochecknoglobals // a constant table
	field record.Field
	word  string
}{{record.FcstVar, " "}, {record.FcstThresh, " "}, {record.FcstLev, " at "}, {record.VxMask, " over "}, {record.Model, " of "}}

// Cases derives questions from what the catalog holds, those that tell most
// first: of the first line type the shapes of NOAA's experiment, then in turn
// those of the others. A catalog knows which values there are, not which of them
// are there together: a question may have no record all the same.
func (c *Catalog) Cases() (out []*question.Question) {
	var of [][]*question.Question
	for _, name := range prefer(slices.Sorted(maps.Keys(c.Records())), likedTypes) {
		t, _ := record.TypeByName(name)
		of = append(of, c.casesOf(t, ""))
	}
	for round := 0; slices.ContainsFunc(of, func(qs []*question.Question) bool { return len(qs) > 0 }); round++ {
		for i, qs := range of {
			n := min(len(qs), 1)
			if i+round == 0 {
				n = min(len(qs), experiment)
			}
			out, of[i] = append(out, qs[:n]...), qs[n:]
		}
	}
	return out
}

// CasesWith are Cases, and those of these names that they lack: a name is made of
// shape, line type and variable, and stays known when Cases lists another variable.
func (c *Catalog) CasesWith(names ...string) []*question.Question {
	out := c.Cases()
	for _, name := range names {
		if slices.ContainsFunc(out, func(q *question.Question) bool { return q.Name == name }) {
			continue
		}
		if q := c.caseNamed(name); q != nil {
			out = append(out, q)
		}
	}
	return out
}

// caseNamed is the derived question of a name, whichever variable Cases lists; nil =
// there is none.
func (c *Catalog) caseNamed(name string) *question.Question {
	for _, g := range c.Groups {
		t, _ := record.TypeByName(g.LineType)
		if !strings.Contains(name, question.NameOf(g.LineType)) {
			continue
		}
		for _, q := range c.casesOf(t, g.FcstVar) {
			if large := question.NameOf("large", g.LineType); name == large && strings.HasPrefix(q.Name, large+"_") {
				q.Name = name // it names a variable since there are too many records for all
			}
			if q.Name == name {
				return q
			}
		}
	}
	return nil
}

// casesOf are the questions of one line type, about a variable, also those that ask
// the same; "" = about the main one, each once.
func (c *Catalog) casesOf(t *record.LineType, variable string) (out []*question.Question) {
	s := c.mainSeries(t, variable)
	for _, shape := range shapes {
		q := s.Question
		if !shape.ask(s, &q) || !c.fit(&q) {
			continue
		}
		stat := question.DefaultStat(t)
		if shape.axis == "" {
			stat = ""
		}
		q.Drawing = question.NewDrawing(t, stat, shape.axis)
		q.Select()
		q.Name = question.NameOf(shape.name, t.Name, strings.Join(q.Header[record.FcstVar], "_"))
		q.Title = strings.ReplaceAll(shape.title, "%s", cmp.Or(stat, "records")) + ": " + t.Name
		for _, x := range fieldLabels {
			if v := q.Header[x.field]; v != nil {
				q.Title += x.word + some(v)
			} else if len(c.values(&q, x.field)) > 1 {
				column, _ := question.ColumnByName(t, x.field.String())
				q.Columns = append(q.Columns, column)
			}
		}
		again := func(o *question.Question) bool {
			return reflect.DeepEqual(o.Header, q.Header) && slices.Equal(o.Lead, q.Lead) && reflect.DeepEqual(o.Valid, q.Valid)
		}
		if variable != "" || !slices.ContainsFunc(out, again) {
			out = append(out, &q)
		}
	}
	return out
}

// fit asks for all times that there are, or for the last of them where the answer
// would be very large, or takes very many keys; false where that does not suffice.
func (c *Catalog) fit(q *question.Question) bool {
	valid, _ := c.span(q)
	if q.Valid.All() {
		q.Valid = times(valid)
	} else {
		valid = slices.DeleteFunc(valid, func(v int64) bool { return !q.Valid.Contains(v) })
	}
	for len(valid) > 1 && (c.estimate(q) > mostRows || c.keys(q) > mostKeys) {
		valid = valid[len(valid)/2:]
		q.Valid = times(valid)
	}
	return c.keys(q) <= mostKeys
}

// keys is how many ids Keys derives.
func (c *Catalog) keys(q *question.Question) (n int) {
	for _, g := range c.matching(q) {
		levels, masks := cmp.Or(len(q.Header[record.FcstLev]), len(g.Levels)), cmp.Or(len(q.Header[record.VxMask]), len(g.Masks))
		n += levels * masks * len(g.Further) * len(g.Times(q))
	}
	return n
}

// span are the valid times and leads of the series that q can match.
func (c *Catalog) span(q *question.Question) (valid Moments, leads []int32) {
	for _, g := range c.matching(q) {
		valid, leads = append(valid, g.Valid...), append(leads, g.Leads...)
	}
	slices.Sort(valid)
	slices.Sort(leads)
	return slices.Compact(valid), slices.Compact(leads)
}

// estimate is how many records q asks for, if all series are alike.
func (c *Catalog) estimate(q *question.Question) (rows float64) {
	for _, g := range c.matching(q) {
		n := float64(g.Held.Records) * share(g.Levels, q.Header[record.FcstLev]) * share(g.Masks, q.Header[record.VxMask]) * share(g.Leads, q.Lead)
		if len(g.Valid) > 0 && !q.Valid.All() {
			asked := slices.DeleteFunc(slices.Clone(g.Valid), func(v int64) bool { return !q.Valid.Contains(v) })
			n *= float64(len(asked)) / float64(len(g.Valid))
		}
		rows += n
	}
	return rows
}

// share is the part of what is there that is asked for.
func share[T cmp.Ordered](there, asked []T) float64 {
	if len(asked) == 0 {
		return 1
	}
	found := slices.DeleteFunc(slices.Clone(asked), func(v T) bool { return !has(there, v) })
	return float64(len(found)) / float64(len(there))
}

// times asks for times as METviewer's lists do: a grid where they have one.
func times(valid Moments) (t question.Times) {
	if len(valid) < 2 {
		return question.Times{List: valid}
	}
	t.First, t.Last = valid[0], valid[len(valid)-1]
	for _, v := range valid {
		t.Step = gcd(t.Step, v-t.First)
	}
	switch n := (t.Last-t.First)/t.Step + 1; {
	case n <= mostTimes && n <= 4*int64(len(valid)):
	case len(valid) <= mostTimes/10:
		return question.Times{List: valid}
	default:
		t.Step = 0
	}
	return t
}

// series is the series of a line type of which most can be asked.
type series struct {
	question.Question // all its records
	c                 *Catalog
	valid             Moments
	leads             []int32
}

// mainSeries takes, of the groups in which most varies, that of most records; of
// those of one variable unless that is "".
func (c *Catalog) mainSeries(t *record.LineType, variable string) *series {
	s := &series{c: c}
	s.Type, s.Weight = t, 1
	if variable != "" {
		s.Header[record.FcstVar] = []string{variable}
	}
	varies := func(g *Group) (n int) {
		for _, several := range []bool{len(g.Leads) > 1, len(g.Levels) > 1, len(g.Masks) > 1, len(g.Valid) > 1} {
			if several {
				n++
			}
		}
		return n
	}
	groups := c.matching(&s.Question)
	g := slices.MaxFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(varies(a), varies(b)), cmp.Compare(a.Held.Records, b.Held.Records))
	})
	s.Header[record.Model], s.Header[record.FcstVar] = []string{g.Model}, []string{g.FcstVar}
	s.Header[record.FcstLev] = s.first(record.FcstLev, 1)
	s.Header[record.VxMask] = s.first(record.VxMask, 1)
	for _, f := range []record.Field{record.ObType, record.Descr, record.InterpMthd, record.InterpPnts, record.FcstThresh, record.CovThresh, record.Alpha} {
		if v := s.open(f); len(v) > 1 {
			s.Header[f] = v[len(v)/2:][:1]
		}
	}
	s.valid, s.leads = c.span(&s.Question)
	s.Lead = s.leads
	return s
}

// open are the values of a field beside the other conditions of the series.
func (s *series) open(f record.Field) []string {
	q := s.Question
	q.Header[f] = nil
	return s.c.values(&q, f)
}

// first are the series' own value of a field and further ones, those that are liked first.
func (s *series) first(f record.Field, n int) []string {
	liked := map[record.Field][]string{record.FcstLev: likedLevels, record.VxMask: likedRegions}[f]
	all := prefer(s.open(f), slices.Concat(s.Header[f], liked))
	return all[:min(n, len(all))]
}

// prefer puts what is liked first; the others keep their order.
func prefer(all, liked []string) []string {
	place := func(v string) uint { return uint(slices.Index(liked, v)) } // −1 is the largest
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
	return all
}

// days are the first few days of the series.
func (s *series) days() Moments {
	n := 0
	for n < len(s.valid) && s.valid[n] < s.valid[0]+fewDays {
		n++
	}
	return s.valid[:n]
}

// lead is one lead of the series, in the middle of the forecast.
func (s *series) lead() []int32 {
	if len(s.leads) == 0 {
		return nil
	}
	for _, l := range likedLeads {
		if has(s.leads, l) {
			return []int32{l}
		}
	}
	return s.leads[len(s.leads)/2:][:1]
}

// noPressure reports whether a level is none of pressure, which have a place in a profile.
func noPressure(level string) bool {
	digits, ok := strings.CutPrefix(level, "P")
	_, err := strconv.Atoi(digits)
	return !ok || err != nil
}

// Open is a question whose patterns of variables are those of the archive that they
// stand for; one that stands for none stays, and has no rows.
func (c *Catalog) Open(q *question.Question) *question.Question {
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

// Lacks lists those values of a header field that no series of a question's line
// type has, and describes what there is in place of the first.
func (c *Catalog) Lacks(t *record.LineType, f record.Field, values []string) (missing []string, there string) {
	all := c.values(&question.Question{Type: t}, f)
	missing = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return has(all, v) })
	if len(missing) > 0 {
		there = near(missing[0], all)
	}
	return missing, there
}

// Absent tells which condition of a question leaves no record of the archive,
// and what there is in its place; "" where the catalog knows of none that does.
func (c *Catalog) Absent(q *question.Question) string {
	if len(c.Groups) == 0 {
		return "it has no records"
	}
	if len(c.matching(q)) > 0 {
		return c.absentTime(q)
	}
	every := &question.Question{Type: q.Type}
	if len(c.matching(every)) == 0 {
		var types []string
		for _, g := range c.Groups {
			types = insert(types, g.LineType)
		}
		return fmt.Sprintf("there is no %s; the archive has %s", q.Type.Name, some(types))
	}
	for f, asked := range q.Header {
		if len(asked) == 0 {
			continue
		}
		there := c.values(every, record.Field(f))
		if !slices.ContainsFunc(asked, func(v string) bool { return has(there, v) }) {
			return fmt.Sprintf("no %s has %s %s; the archive has %s", q.Type.Name, record.Field(f), listed(asked), near(asked[0], there))
		}
	}
	return c.absentTogether(q)
}

// absentTogether tells which condition leaves nothing beside the others.
func (c *Catalog) absentTogether(q *question.Question) string {
	for f, asked := range q.Header {
		if len(asked) == 0 {
			continue
		}
		wider := *q
		wider.Header[f] = nil
		if there := c.values(&wider, record.Field(f)); len(there) > 0 {
			return fmt.Sprintf("beside the other conditions no %s has %s %s; the archive has %s", q.Type.Name, record.Field(f), listed(asked), some(there))
		}
	}
	return "no series has all of these header fields"
}

// absentTime tells where the times or leads of the series that match lie.
func (c *Catalog) absentTime(q *question.Question) string {
	valid, leads := c.span(q)
	if len(valid) > 0 && !slices.ContainsFunc(valid, func(v int64) bool { return (q.Valid.All() || q.Valid.Contains(v)) && q.Clock.AdmitsValid(v) }) {
		at := func(v int64) string { return time.Unix(v, 0).UTC().Format(time.RFC3339) }
		return fmt.Sprintf("what matches has other valid times, from %s to %s", at(valid[0]), at(valid[len(valid)-1]))
	}
	if len(q.Lead) > 0 && !slices.ContainsFunc(leads, func(l int32) bool { return slices.Contains(q.Lead, l) }) {
		span := func(l int32) string { return fmt.Sprintf("%g h", float64(l)/3600) }
		return fmt.Sprintf("the matching records have other leads, from %s to %s", span(leads[0]), span(leads[len(leads)-1]))
	}
	return ""
}

// matching are the groups that have series which the header fields admit.
func (c *Catalog) matching(q *question.Question) (out []*Group) {
	for _, g := range c.Groups {
		if g.matches(q) && len(g.further(q)) > 0 && overlap(q.Header[record.VxMask], g.Masks) && overlap(q.Header[record.FcstLev], g.Levels) {
			out = append(out, g)
		}
	}
	return out
}

func overlap(asked, there []string) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(v string) bool { return has(there, v) })
}

// further are the headers of the group's further fields that q admits.
func (g *Group) further(q *question.Question) (out []record.Header) {
	for _, rest := range g.Further {
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = g.Version, g.Model, g.ObType, g.FcstVar
		levels := g.Levels // which further fields repeat where they say nothing
		if asked := q.Header[record.FcstLev]; len(asked) > 0 {
			levels = asked
		}
		for _, h[record.FcstLev] = range levels {
			if setFurther(&h, rest) == nil && furtherMatches(q, &h) {
				out = append(out, h)
			}
		}
	}
	return out
}

// values are those of a field in the series that q admits.
func (c *Catalog) values(q *question.Question, f record.Field) (out []string) {
	for _, g := range c.matching(q) {
		switch f {
		case record.VxMask:
			out = insert(out, g.Masks...)
		case record.FcstLev:
			out = insert(out, g.Levels...)
		default:
			for _, h := range g.further(q) {
				out = insert(out, h[f])
			}
		}
	}
	return out
}

// near are the values there, and the one that is nearest to a misspelt one.
func near(asked string, there []string) string {
	nearest := fault.Nearest(asked, there)
	if i := slices.IndexFunc(there, func(v string) bool { return strings.EqualFold(v, asked) }); i >= 0 {
		nearest = there[i]
	}
	if nearest == "" {
		return some(there)
	}
	return fmt.Sprintf("%s (did you mean %s?)", some(there), nearest)
}

// some are the first values of a list.
func some(values []string) string {
	const most = 12
	if len(values) > most {
		return fmt.Sprintf("%s and %d more", listed(values[:most]), len(values)-most)
	}
	return listed(values)
}

// listed joins values; one that has a comma is quoted.
func listed(values []string) string {
	words := slices.Clone(values)
	for i, v := range words {
		if strings.Contains(v, ",") {
			words[i] = strconv.Quote(v)
		}
	}
	return strings.Join(words, ", ")
}

// Inventory is what a catalog knows of one line type: what can be asked for.
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

// Inventory sums the catalog up, by line type in the order of record.Types.
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
	in.Records += g.Held.Records
	in.Versions, in.Models = insert(in.Versions, g.Version), insert(in.Models, g.Model)
	in.ObTypes, in.Variables = insert(in.ObTypes, g.ObType), insert(in.Variables, g.FcstVar)
	in.Levels, in.Regions = insert(in.Levels, g.Levels...), insert(in.Regions, g.Masks...)
	in.Thresholds, in.Leads = insert(in.Thresholds, g.Thresholds()...), insert(in.Leads, g.Leads...)
	in.Valid = Moments(slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(in.Valid), g.Valid...)))))
}

// Thresholds are those of the forecasts of a group, sorted; none where it has none.
func (g *Group) Thresholds() (out []string) {
	for _, rest := range g.Further {
		h := record.DefaultHeader()
		if setFurther(&h, rest) == nil && h[record.FcstThresh] != record.NA && h[record.FcstThresh] != "" {
			out = insert(out, h[record.FcstThresh])
		}
	}
	return out
}
