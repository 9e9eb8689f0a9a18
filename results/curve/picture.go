package curve

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// pictureShape describes a picture that uses all rows of each curve.
type pictureShape struct {
	x, y  string // quantities on the axes
	needs string // columns that the answer must have, if the line type has them; also all repeating columns
	axis  bool   // the rows are partitioned along the question's axis
	draw  func(s *pictureBuilder) error
}

// pictureShapeOf is the shape of a question's picture; nil if the picture shows a statistic.
func pictureShapeOf(q *question.Question) *pictureShape {
	if !q.Drawing.ShowsLineType() {
		return nil
	}
	const counts = "fy_oy fy_on fn_oy fn_on" // of CTC and NBRCTC
	repeated := map[string]string{"RHIST": "rank", "PHIST": "bin", "RELP": "ens"}[q.Type.Name]
	of := map[string]pictureShape{
		"roc":            {"POFD", "PODY", counts, q.Type.Name == "CTC", (*pictureBuilder).roc},
		"reliability":    {"probability", "frequency", "", false, (*pictureBuilder).reliability},
		"performance":    {"success_ratio", "PODY", counts + " far pody", true, (*pictureBuilder).performance},
		"taylor":         {"PR_CORR", "FSTDEV/OSTDEV", "fbar obar fobar ffbar oobar", q.Drawing.Axis != "", (*pictureBuilder).taylor},
		"rank_histogram": {repeated, "share", "bin_size", false, (*pictureBuilder).ranks},
		"eclv":           {"cost_loss_ratio", "ECLV", counts, false, (*pictureBuilder).economicValue},
		"spread_skill":   {"VAR_MEAN", "MSE", "bin_n var_min var_mean ffbar fobar oobar", false, (*pictureBuilder).spreadSkill},
	}[q.Drawing.Picture]
	return &of
}

// pictureBuilder builds one curve of a picture.
type pictureBuilder struct {
	*LazyCurves
	run.Series
	at      map[float64][]int // place on the axis → rows
	undrawn []string          // points whose x the records do not define
}

// add adds a point and its label, if it has one. It returns false, and adds nothing, if x is undefined.
func (s *pictureBuilder) add(x, y float64, n int, label ...string) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		s.undrawn = append(s.undrawn, strings.Join(append([]string{s.Name}, label...), " "))
		return false
	}
	s.X, s.Y, s.Records, s.Labels = append(s.X, x), append(s.Y, y), append(s.Records, n), append(s.Labels, label...)
	s.Low, s.High = append(s.Low, math.NaN()), append(s.High, math.NaN())
	return true
}

// label returns the label of a point, the place of its rows on the question's axis; none without an axis.
func (s *pictureBuilder) label(rows []int) []string {
	text, err := s.c.text(string(s.c.axis))
	if err != nil {
		return nil
	}
	s.LabelAxis = s.c.axis
	return []string{text(rows[0])}
}

// picture draws all curves of a shape.
func (d *LazyCurves) picture(shape *pictureShape) error {
	var undrawn []string
	for _, name := range d.c.names {
		s := &pictureBuilder{LazyCurves: d, Series: run.Series{Name: name}, at: d.c.points[name]}
		if err := shape.draw(s); err != nil {
			return err
		}
		d.Series, undrawn = append(d.Series, s.Series), append(undrawn, s.undrawn...)
		d.setStyle(name, nil)
	}
	if undrawn != nil {
		d.Note += "; not drawn, because " + shape.x + " is undefined: " + listOrCount(undrawn, "points")
	}
	if d.Series == nil { // no row is of a curve that the drawing names
		return ErrNoRecords
	}
	if d.Picture == "eclv" && slices.ContainsFunc(d.Series, func(s run.Series) bool {
		return slices.ContainsFunc(s.Y, func(y float64) bool { return y < run.LowestEconomicValue })
	}) {
		d.Note += fmt.Sprintf("; values below %g are not shown", run.LowestEconomicValue)
	}
	d.Stat, d.Unit, d.Axis = shape.y, stat.UnitOne, run.Axis(shape.x)
	if d.places == nil {
		d.places = make([][]point, len(d.Series))
	}
	return nil
}

// statistics computes statistics from rows.
func (s *pictureBuilder) statistics(rows []int, names ...string) (values []float64, err error) {
	for _, name := range names {
		st, err := question.StatOf(s.c.q, name)
		if err != nil {
			return nil, err
		}
		v, err := s.method.value(&st, s.c.q.Type, s.c.copyRows(rows))
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// repeats returns the repeating columns of rows by field and repetition: values that must be equal
// in all rows (thresholds), and the sums of all others.
func (s *pictureBuilder) repeats(rows []int) (fields [][]float64, err error) {
	t := s.c.q.Type
	fields = make([][]float64, len(t.Group.Fields))
	for k, col := range s.c.cols[t.NumCols():] {
		f := k % len(fields)
		sum, same := 0.0, true
		for i, r := range rows {
			same = same && (i == 0 || math.IsNaN(col[r]) == math.IsNaN(col[rows[0]]))
			if t.Group.Fields[f] == "thresh_i" {
				sum, same = col[r], same && (i == 0 || col[r] == sum || math.IsNaN(col[r]))
			} else {
				sum += col[r]
			}
		}
		if !same {
			return nil, &fault.Error{
				Setting: "question " + s.c.q.Name, Problem: fmt.Sprintf("the records of curve %q differ in their %s", s.Name, t.Group.Fields[0]),
				Cure: "narrow it, or make curves of what they differ in (series)",
			}
		}
		if !math.IsNaN(sum) {
			fields[f] = append(fields[f], sum)
		}
	}
	return fields, nil
}

// roc adds POFD and PODY of the forecast "yes" above each threshold, from the highest threshold (no forecast is yes) to
// the lowest (all are).
func (s *pictureBuilder) roc() error {
	if s.c.q.Type.Name == "CTC" {
		s.add(1, 1, 0, "")
		for _, x := range slices.Sorted(maps.Keys(s.at)) {
			v, err := s.statistics(s.at[x], "POFD", "PODY")
			if err != nil {
				return err
			}
			s.add(v[0], v[1], len(s.at[x]), s.label(s.at[x])...)
		}
		s.add(0, 0, 0, "")
		return nil
	}
	f, err := s.repeats(s.at[0])
	if err != nil {
		return err
	}
	yes, no := total(f[1]), total(f[2])
	hits, alarms := 0.0, 0.0
	s.LabelAxis = "thresh_i"
	s.add(0, 0, 0, "")
	for i := range slices.Backward(f[1]) {
		hits, alarms = hits+f[1][i], alarms+f[2][i]
		s.add(alarms/no, hits/yes, int(hits+alarms), strconv.FormatFloat(f[0][i], 'g', -1, 64))
	}
	return nil
}

func total(values []float64) float64 { return lists.Sum(slices.Values(values)) }

// reliability draws the observed frequency of the event in each bin of probability.
func (s *pictureBuilder) reliability() error {
	f, err := s.repeats(s.at[0])
	if err != nil {
		return err
	}
	thresholds, upper := append(f[0], 1), 1 // METplotpy, too, ends the last bin at 1 if the records do not say where it ends
	if last := len(f[1]) - 1; last >= 0 && thresholds[last] == 1 {
		upper = 0 // each bin is the probability of its threshold, as in VSDB's RELI (see stat)
	}
	for i, yes := range f[1] {
		if n := yes + f[2][i]; n > 0 {
			s.add((thresholds[i]+thresholds[i+upper])/2, yes/n, int(n))
		}
	}
	return nil
}

// performance draws the probability of detection against the success ratio 1 − FAR. As in
// METviewer, only the former has intervals.
func (s *pictureBuilder) performance() (err error) {
	prefix := map[bool]string{true: "NBR_"}[strings.HasPrefix(s.c.q.Type.Name, "NBR")]
	if s.stat, err = question.StatOf(s.c.q, prefix+"PODY"); err != nil {
		return err
	}
	var places []point
	for _, x := range slices.Sorted(maps.Keys(s.at)) {
		v, err := s.statistics(s.at[x], prefix+"FAR", prefix+"PODY")
		if err != nil {
			return err
		}
		if s.add(1-v[0], v[1], len(s.at[x]), s.label(s.at[x])...) {
			places = append(places, point{rows: s.at[x]})
		}
	}
	s.places, s.operations = append(s.places, places), append(s.operations, "")
	return nil
}

// taylor draws the forecast's standard deviation, relative to that of the observations, against the
// correlation.
func (s *pictureBuilder) taylor() error {
	for _, x := range slices.Sorted(maps.Keys(s.at)) {
		v, err := s.statistics(s.at[x], "PR_CORR", "FSTDEV", "OSTDEV")
		if err != nil {
			return err
		}
		s.add(v[0], v[1]/v[2], len(s.at[x]), s.label(s.at[x])...)
	}
	return nil
}

// ranks draws the shares of all ranks, bins or members.
func (s *pictureBuilder) ranks() error {
	rows := s.at[0]
	f, err := s.repeats(rows)
	if err != nil {
		return err
	}
	width, first := 1.0, 1.0
	if slot, ok := s.c.q.Type.Column("bin_size"); ok && len(rows) > 0 {
		width, first = s.c.cols[slot.Slot][rows[0]], 0.5
	}
	all := total(f[0])
	for i, n := range f[0] {
		s.add((float64(i)+first)*width, n/all, int(n))
	}
	return nil
}

// economicValue draws the economic value of forecasts: METviewer's plot_stat of the values in the lines or,
// for contingency tables and probabilities, the value computed from their sums.
func (s *pictureBuilder) economicValue() error {
	rows := s.at[0]
	switch s.c.q.Type.Name {
	case "PCT":
		f, err := s.repeats(rows)
		if err != nil {
			return err
		}
		yes, no := total(f[1]), total(f[2])
		best := map[float64]float64{}
		for from := range f[1] { // of all thresholds each user takes the best one
			for cl, v := range economic(total(f[1][from:])/yes, total(f[2][from:])/no, yes/(yes+no)) {
				if had, ok := best[cl]; !ok || v > had {
					best[cl] = v
				}
			}
		}
		s.addAll(best, len(rows))
	case "CTC":
		v, err := s.statistics(rows, "PODY", "POFD", "BASER")
		if err != nil {
			return err
		}
		s.addAll(economic(v[0], v[1], v[2]), len(rows))
	default:
		values := map[float64][]float64{}
		cols := s.c.cols[s.c.q.Type.NumCols():]
		for k := 0; k+1 < len(cols); k += 2 {
			for _, r := range rows {
				if x := cols[k][r]; !math.IsNaN(x) {
					values[x] = append(values[x], cols[k+1][r])
				}
			}
		}
		how := s.method.SummaryMethod
		if how == stat.Overall {
			how = stat.MedianOfStats
		}
		for _, x := range slices.Sorted(maps.Keys(values)) {
			if y, ok := how.Combine(values[x]); ok {
				s.add(x, y, len(values[x]))
			}
		}
	}
	return nil
}

func (s *pictureBuilder) addAll(values map[float64]float64, n int) {
	for _, x := range slices.Sorted(maps.Keys(values)) {
		s.add(x, values[x], n)
	}
}

// economic is the value at each ratio of cost and loss (METcalcpy calculate_eclv), from the
// probabilities of detection and of false detection, and the base rate.
func economic(pody, pofd, base float64) map[float64]float64 {
	out := map[float64]float64{}
	for i := 1; i < 20; i++ {
		cl := float64(i) / 20
		if cl < base {
			out[cl] = 1 - pofd - base/(1-base)*(1-cl)/cl*(1-pody)
		} else {
			out[cl] = pody - (1-base)/base*cl/(1-cl)*pofd
		}
	}
	return out
}

// spreadSkill draws the mean squared error against the ensemble's variance. It adds up the records of each bin of
// variance, and combines bins until they contain a tenth of all pairs.
func (s *pictureBuilder) spreadSkill() error {
	col := func(name string) []float64 {
		c, _ := s.c.q.Type.Column(name)
		return s.c.cols[c.Slot]
	}
	n, least, mean, ff, fo, oo := col("bin_n"), col("var_min"), col("var_mean"), col("ffbar"), col("fobar"), col("oobar")
	rows := slices.Clone(s.at[0])
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(least[i], least[j]) })
	all, count, x, y := total(lists.Pick(n, rows)), 0.0, 0.0, 0.0
	for i, r := range rows {
		count, x, y = count+n[r], x+n[r]*mean[r], y+n[r]*(ff[r]-2*fo[r]+oo[r])
		last := i == len(rows)-1
		if (last || count > all/10 && least[rows[i+1]] != least[r]) && count > 0 {
			s.add(x/count, y/count, int(count))
			count, x, y = 0, 0, 0
		}
	}
	return nil
}

// ShareAxis draws a statistic against the right axis of another one's picture, and reports whether
// they have the same lower axis.
func ShareAxis(left, right *run.VerificationPlot) bool {
	if left == nil || left.Axis != right.Axis {
		return false
	}
	if left.RightPlot == nil {
		one := *right
		one.Series, left.RightPlot = nil, &one
	} else if !slices.Contains(strings.Split(left.RightPlot.Stat, ", "), right.Stat) {
		left.RightPlot.Stat += ", " + right.Stat
	}
	if left.RightPlot.Unit != right.Unit {
		left.RightPlot.Unit = ""
	}
	for _, s := range right.Series {
		s.Name = right.Stat + " " + s.Name
		left.RightPlot.Series = append(left.RightPlot.Series, s)
	}
	return true
}

// JoinsStatistics reports whether METviewer draws the statistics of a question against the left axis.
func JoinsStatistics(q *question.Question) bool {
	return q.Drawing != nil && !q.Drawing.RightAxis && len(q.Drawing.Stats) > 1 && slices.Contains([]string{"", "bar", "box"}, q.Drawing.Picture) &&
		!slices.ContainsFunc(q.Drawing.Derived, func(d question.Derived) bool { return d.Operation == stat.Equivalence })
}

// JoinStatistics returns one picture of the statistics of a question. The names of its curves begin with the
// statistic, unless they contain it already.
func JoinStatistics(all []*run.VerificationPlot, q *question.Question) *run.VerificationPlot {
	out := *all[0]
	var names, notes []string
	out.Series = nil
	for _, c := range all {
		names, notes = append(names, c.Stat), append(notes, strings.Split(c.Note, "; ")...)
		out.Omitted = question.Unique(slices.Concat(out.Omitted, c.Omitted))
		for _, s := range c.Series {
			if s.Name != c.Stat && (!strings.HasSuffix(s.Name, ")") || !strings.Contains(s.Name, " "+c.Stat)) {
				s.Name = c.Stat + " " + s.Name
			}
			out.Series = append(out.Series, s)
		}
		if c.Unit != out.Unit {
			out.Unit = ""
		}
	}
	out.Note = strings.Join(question.Unique(notes), "; ")
	if out.Stat = strings.Join(names, ", "); q.Untitled || q.Title == "" {
		out.Title = out.Stat + strings.TrimPrefix(out.Title, names[0])
	}
	return &out
}

// minScorecardCases is the number of cases that a scorecard requires; with fewer, the mark is run.MarkTooFew.
const minScorecardCases = 8

// markScorecard marks for each difference of two models which model is better (nearer to a perfect score) and with what
// confidence. The confidence comes from the bootstrap interval. For statistics of records it comes from METviewer's t-test
// of the cases' differences (stat_flag NCAR).
func (d *LazyCurves) markScorecard() error {
	if d.untested() {
		d.Note += "; no difference is tested, because the question has no bootstrap"
	}
	for i := range d.Series {
		s := &d.Series[i]
		var words []string
		for g, label := range d.labels[i] {
			// If all rows compare the same two models, their names omit the candidate. Series.Derivation has both.
			if label == d.subtracted[i][g] || slices.ContainsFunc(d.labels, func(other []string) bool { return other[g] != label }) {
				words = append(words, label)
			}
		}
		s.Name, s.Marks = strings.Join(words, " "), nil
		if vars := d.c.q.Header[record.FcstVar]; len(vars) == 1 && !slices.Contains(d.c.curveFields(), "fcst_var") {
			s.Name = strings.TrimSpace(d.Stat + " " + vars[0] + " " + s.Name)
		}
		for k := range d.places[i] {
			mark, err := d.mark(i, k)
			if err != nil {
				return err
			}
			s.Marks = append(s.Marks, mark)
		}
	}
	return nil
}

// untested reports whether a scorecard needs a bootstrap and has none.
func (d *LazyCurves) untested() bool {
	return d.method.SummaryMethod == stat.Overall && d.method.bootstrap == nil
}

// mark is the mark of point k of series i of a scorecard.
func (d *LazyCurves) mark(i, k int) (int, error) {
	s := &d.Series[i]
	if s.Records[k] < minScorecardCases || d.untested() {
		return run.MarkTooFew, nil
	}
	how := 0
	if d.method.SummaryMethod == stat.Overall {
		// The interval has the drawing's confidence. If the differences are normally distributed, the 95 % interval
		// reaches from Y - below to Y + above.
		scale := stat.HalfWidth(question.DefaultConfidence, 1) / stat.HalfWidth(d.method.confidence, 1)
		below, above := scale*(s.Y[k]-s.Low[k]), scale*(s.High[k]-s.Y[k])
		switch {
		case math.Abs(s.Y[k]) > 2.5758*(below+above)/(2*1.96):
			how = 2 * run.MarkBetter
		case s.Y[k] > below || -s.Y[k] > above:
			how = run.MarkBetter
		}
	} else if values, err := d.perCase(stat.Diff, d.places[i][k]); err != nil {
		return 0, err
	} else if sure := stat.MeanDifferenceConfidence(values); sure >= 0.99 {
		how = 2 * run.MarkBetter
	} else if sure >= 0.95 {
		how = run.MarkBetter
	}
	perfect, ok := d.stat.PerfectScore()
	if how == 0 || !ok || math.IsNaN(perfect) {
		return 0, nil
	}
	a, b, err := d.Operands(i, k)
	if math.Abs(a-perfect) > math.Abs(b-perfect) {
		how = -how
	}
	return how, err
}

// Operands returns the values whose difference is point k of series i: that of the candidate and that of the baseline.
func (d *LazyCurves) Operands(i, k int) (candidate, baseline float64, err error) {
	if candidate, err = d.value("", point{rows: d.places[i][k].rows}); err == nil {
		baseline, err = d.value("", point{rows: d.places[i][k].baselineRows})
	}
	return candidate, baseline, err
}

// MergeScorecards appends the rows of another scorecard to to. It reports false and changes nothing if one of them is no
// scorecard or their axes differ.
func MergeScorecards(to, more *run.VerificationPlot) bool {
	if to == nil || to.Picture != "scorecard" || more.Picture != to.Picture || to.Axis != more.Axis {
		return false
	}
	to.Series = append(to.Series, more.Series...)
	return true
}

// boxes replaces values by the boxes of the records of each point.
func (d *LazyCurves) boxes() error {
	for i := range d.Series {
		s := &d.Series[i]
		s.WhiskerLow, s.WhiskerHigh, s.Outliers = slices.Clone(s.Low), slices.Clone(s.High), make([][]float64, len(s.X))
		for k, p := range d.places[i] {
			values, err := d.perCase(d.operations[i], p)
			if err != nil {
				return err
			}
			if b, ok := stat.BoxOf(values); ok {
				s.WhiskerLow[k], s.Low[k], s.Y[k], s.High[k], s.WhiskerHigh[k], s.Outliers[k] = b.WhiskerLow, b.LowerQuartile, b.Median, b.UpperQuartile, b.WhiskerHigh, b.Outliers
			}
		}
	}
	return nil
}

// asksForRevisions reports whether all requested variables are revisions of MTD objects. METdbLoad computes these, and
// METviewer adds revision tests to each of their plots.
func asksForRevisions(q *question.Question) bool {
	return q.Type.Name == "MTD_2D_OBJ" && len(q.Header[record.FcstVar]) > 0 && !slices.ContainsFunc(q.Header[record.FcstVar], func(name string) bool { return !strings.HasPrefix(name, "REV_") })
}

// addRevisionTests adds METviewer's tests of revisions to the note. It takes the records of each object in the order of
// time_index.
func (d *LazyCurves) addRevisionTests() error {
	object, index := columnOf(d.c.a, "object_id"), columnOf(d.c.a, "time_index")
	if !asksForRevisions(d.c.q) || object < 0 || index < 0 {
		return nil
	}
	order := d.c.a.Vectors[index].Num
	for i, s := range d.Series {
		objects := map[string][]int{}
		for _, p := range d.places[i] {
			for _, r := range p.rows {
				key := d.c.caseOf(r, question.HeaderField, question.ValidBeg) + d.c.a.Vectors[object].Text[r]
				objects[key] = append(objects[key], r)
			}
		}
		var all [][]float64
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			rows := objects[key]
			slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(order[a], order[b]) })
			values, err := d.perCase("", point{rows: rows})
			if err != nil {
				return err
			}
			all = append(all, values)
		}
		d.Note += "; " + cmp.Or(s.Name, d.Stat) + ": " + stat.RevisionsOf(all).String()
	}
	return nil
}

// revisions replaces each curve by its revisions: the change from each forecast of a valid time to the next newer one. It
// spreads the revisions of a valid time along the axis up to the following valid time, and adds METviewer's tests
// (revis_stat) to the note.
func (d *LazyCurves) revisions() error {
	leads := d.c.a.Vectors[columnOf(d.c.a, "fcst_lead")].Seconds
	for i := range d.Series {
		s := &d.Series[i]
		var all [][]float64
		old, step := *s, 86400.0
		for k := 1; k < len(old.X); k++ {
			step = min(step, old.X[k]-old.X[k-1])
		}
		*s = run.Series{Name: old.Name, Derivation: old.Derivation, Right: old.Right, Style: old.Style}
		for k, p := range d.places[i] {
			rows := slices.Clone(p.rows)
			slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(leads[b], leads[a]) })
			values, err := d.perCase("", point{rows: rows})
			if err != nil {
				return err
			}
			to := pictureBuilder{Series: *s}
			first := len(to.Y)
			for j := 1; j < len(values); j++ {
				to.add(old.X[k]+step*float64(j-1)/float64(len(values)), values[j]-values[j-1], 1)
			}
			*s, all = to.Series, append(all, to.Y[first:])
		}
		d.Note += "; " + cmp.Or(s.Name, d.Stat) + ": " + stat.RevisionsOf(all).String()
		d.places[i] = nil
	}
	return nil
}
