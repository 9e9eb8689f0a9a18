package question

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// builder makes one question of a plot.
type builder struct {
	p     *metviewer.Plot
	fixed []metviewer.Field
	dep   metviewer.Dep
	q     *Question
	notes []string

	refusals refusals
	// parsedTimes caches parsed lists of times. A list may have thousands of times, and all questions of a plot have the
	// same lists. The key is the address of the first text; this works because expandGroups returns a list of times itself,
	// not a copy.
	parsedTimes map[*string]Times
}

// axes are the independent variables that can be drawn, in addition to every header field.
var axes = []string{"fcst_lead", "fcst_lev", "fcst_valid_beg", "fcst_init_beg", "valid_hour", "init_hour", "fcst_thresh"} //nolint:gochecknoglobals // a constant table

func isAxis(name string) bool {
	_, header := record.FieldByName(name)
	return header || slices.Contains(axes, name)
}

func (b *builder) build() error {
	b.renameObjectFields()
	if b.dep.Var != "" {
		if err := b.addCondition(metviewer.Field{Name: "fcst_var", Line: b.dep.Line}, []string{b.dep.Var}); err != nil {
			return err
		}
	}
	for _, f := range slices.Concat(b.fixed, b.dep.Fix) {
		if err := b.addCondition(f, expandGroups(f.List)); err != nil {
			return err
		}
		if (f.Equalize && b.p.EventEqual || b.p.Template == "taylor_plot") && f.Name != "fcst_var" && len(f.List) > 0 {
			values := b.groupValues(f, expandGroups(f.List))
			b.q.Drawing.Equalize = append(b.q.Drawing.Equalize, Group{Field: f.Name, Values: [][]string{values}})
		}
	}
	if err := b.addPlotCond(); err != nil {
		return err
	}
	for _, f := range b.p.Series[b.dep.Axis-1] {
		if err := b.addCurves(f); err != nil {
			return err
		}
	}
	if err := b.setAxis(); err != nil {
		return err
	}
	b.fillDrawing()
	return nil
}

// renameObjectFields replaces the names of fields in a plot of MODE or MTD objects by the names that records use,
// because the headers of objects have other names.
func (b *builder) renameObjectFields() {
	if _, ok := b.q.Type.Column("object_id"); !ok {
		return
	}
	named := func(fields []metviewer.Field) []metviewer.Field {
		fields = slices.Clone(fields)
		for i := range fields {
			if name := objectFields[fields[i].Name]; name != "" {
				fields[i].Name = name
			}
		}
		return fields
	}
	p := *b.p
	p.Series = [2][]metviewer.Field{named(p.Series[0]), named(p.Series[1])}
	p.Indep = named([]metviewer.Field{p.Indep})[0]
	b.p, b.fixed, b.dep.Fix = &p, named(b.fixed), named(b.dep.Fix)
}

var objectFields = map[string]string{ //nolint:gochecknoglobals // a constant table
	"fcst_thr": "fcst_thresh", "obs_thr": "obs_thresh", "fcst_rad": "interp_pnts",
	"fcst_init": "fcst_init_beg", "fcst_valid": "fcst_valid_beg",
}

// setAxis sets the axis and its ticks, and restricts the question to the values of the independent variable.
func (b *builder) setAxis() error {
	indep := b.p.Indep
	isETB := func(d metviewer.Derived) bool { return d.Op == "ETB" } // equivalence testing bounds need no axis
	etb := slices.ContainsFunc(slices.Concat(b.p.Derived[0], b.p.Derived[1]), isETB)
	needsAxis := []string{"series_plot", "bar_plot", "box_plot", "contour_plot"}
	if indep.Name == "" && (etb || !slices.Contains(needsAxis, b.p.Template)) {
		if b.p.Roc == "CTC" {
			b.q.Drawing.Axis = "fcst_thresh"
		}
		return nil
	}
	if !isAxis(indep.Name) {
		return fmt.Errorf("line %d: indep: %q is not a supported axis%s; use a header field or one of %s",
			indep.Line, indep.Name, fault.Meant(indep.Name, append(fieldNames(), axes...)), strings.Join(axes, ", "))
	}
	b.q.Drawing.Axis = indep.Name
	if indep.Depends != "" {
		on := ""
		for _, f := range b.fixed {
			if f.Name == indep.Depends {
				on = f.Last // METviewer takes the end of a range
				if len(f.List) > 0 {
					on = f.List[0]
				}
			}
		}
		var err error
		if indep.Values, err = b.p.IndepOn(on); err != nil {
			return err
		}
	}
	if len(indep.List) == 0 && indep.First == "" {
		return nil
	}
	for _, t := range indep.Ticks {
		for _, value := range b.groupValues(indep, metviewer.Members(t.Value)) {
			if t.Value = value; t.Label != value || t.Position != nil {
				b.q.Drawing.Ticks = append(b.q.Drawing.Ticks, t)
			}
		}
	}
	return b.addCondition(indep, expandGroups(indep.List))
}

// expandGroups expands groups: A and B for "A:B".
func expandGroups(values []string) []string {
	if areDateTimes(values) {
		return values
	}
	return Unique(slices.Concat(lists.Map(values, metviewer.Members)...))
}

// areDateTimes reports whether all values are date-times, each later than the previous one.
func areDateTimes(values []string) bool {
	for i, v := range values {
		if len(v) != len(time.DateTime) || v[4] != '-' || v[10] != ' ' || v[13] != ':' || i > 0 && v <= values[i-1] {
			return false
		}
	}
	return len(values) > 0
}

// groupValues writes the values of a field in the form of Group.Values. It skips invalid values, because
// addCondition reports them.
func (b *builder) groupValues(f metviewer.Field, values []string) (out []string) {
	f.List = expandGroups(f.List)
	for _, v := range values {
		if text, err := groupValue(f, v); err == nil {
			out = append(out, text)
		}
	}
	return out
}

// pictureOfTemplate maps METviewer's templates to pictures.
var pictureOfTemplate = map[string]string{ //nolint:gochecknoglobals // a constant table
	"bar_plot": "bar", "box_plot": "box", "revision_box": "box", "revision_box_plot": "box", "contour_plot": "contour",
	"revision_series_plot": "revision", "revision_series": "revision", "roc": "roc", "rely": "reliability",
	"performance": "performance", "taylor_plot": "taylor", "rhist": "rank_histogram", "phist": "rank_histogram",
	"relp": "rank_histogram", "eclv": "eclv", "ens_ss": "spread_skill", "scorecard": "scorecard",
}

// fillDrawing sets the drawing and the title as the plot requests.
func (b *builder) fillDrawing() {
	d, p := b.q.Drawing, b.p
	d.Picture, d.RightAxis = pictureOfTemplate[p.Template], b.dep.Axis == 2
	if checkPicture(b.q.Type, d.Picture) != nil {
		d.Picture = ""
	}
	d.EventEqual = p.EventEqual || p.Template == "taylor_plot"
	switch {
	case len(p.Agg) > 0 || p.Template == "taylor_plot" || p.CardSums || p.Template == "ens_ss" || p.Roc != "":
		d.Method = "overall"
		if p.BootRepl > 1 {
			d.Replicates, d.Seed = p.BootRepl, p.BootSeed
			if d.BootCI = p.BootCI; p.SingleRecords {
				d.Block = 1
			}
		}
	case p.Template == "scorecard":
		d.Method = "mean"
	case p.PlotStat == "mean", p.PlotStat == "sum":
		d.Method = p.PlotStat
	default:
		d.Method = "median"
	}
	d.Confidence, d.NoVIF, d.EquivalenceBounds = 1-p.Alpha, p.NoVIF, [2]*float64{p.EqLow, p.EqHigh}
	if d.Picture == "scorecard" {
		b.drawScorecard()
	} else {
		b.addDerivedCurves()
	}
	d.XLabel, d.YLabel = b.fillTags(p.XLabel), b.fillTags(p.YLabel[b.dep.Axis-1])
	b.q.Title = b.fillTags(p.Title)
	if b.q.Title == "" && d.Baseline != "" {
		b.q.Title = scorecardTitle([]string{strings.Join(d.Curves[0].Values[0], "+")}, d.Baseline)
	}
	if b.q.Title == "" {
		b.q.Untitled = true
		b.q.Title = strings.TrimSpace(b.dep.Var + " " + strings.Join(b.dep.Stats, ", "))
	}
}

// drawScorecard subtracts the second model from the first, with a row for each level, region … that
// the scorecard names. It pools times and hours.
func (b *builder) drawScorecard() {
	d := b.q.Drawing
	if len(d.Curves) == 1 && len(d.Curves[0].Values) == 2 {
		d.Baseline = strings.Join(d.Curves[0].Values[1], "+")
	}
	for i, curve := range b.p.Derived[b.dep.Axis-1] {
		why := errors.New("a scorecard shows only DIFF and DIFF_SIG of the first model and the second")
		isDifference := curve.B == d.Baseline && (curve.Op == "DIFF" || curve.Op == "DIFF_SIG")
		if isDifference && len(d.Curves) > 0 && len(d.Curves[0].Values) == 2 && curve.A == strings.Join(d.Curves[0].Values[0], "+") {
			why = nil
		}
		b.refusals[[2]int{b.dep.Axis - 1, i}] = why
	}
	for f, values := range b.q.Header {
		if name := record.Field(f).String(); len(values) > 1 && name != "model" && name != d.Axis {
			d.Curves = append(d.Curves, Group{Field: name})
		}
	}
}

// addCurves restricts the question to the values of a series and records which of them make one
// curve together.
func (b *builder) addCurves(f metviewer.Field) error {
	if f.First != "" {
		return fmt.Errorf("line %d: series field %s: a range cannot make curves; write the values out", f.Line, f.Name)
	}
	g := Group{Field: f.Name}
	all := f
	all.List = expandGroups(f.List)
	for _, v := range f.List {
		var together []string
		for _, one := range metviewer.Members(v) {
			text, err := groupValue(all, one)
			if err != nil {
				return err
			}
			together = append(together, text)
		}
		g.Values = append(g.Values, together)
	}
	b.q.Drawing.Curves = append(b.q.Drawing.Curves, g)
	if b.q.Drawing.numCurves() > maxCurves {
		return fmt.Errorf("line %d: series field %s: makes more than %d curves", f.Line, f.Name, maxCurves)
	}
	return b.addCondition(all, all.List)
}

// netCDFLevel matches a level such as 0,*,* or (0,*,*), which MET writes into its files. METviewer takes
// such a level as a pattern. The pattern matches the level itself, so Barograph compares the texts.
var netCDFLevel = regexp.MustCompile(`^\(?(\d+|\*)(,(\d+|\*))+\)?$`)

// addCondition adds the condition that a field has one of some values, or is within a range.
func (b *builder) addCondition(f metviewer.Field, values []string) error {
	isPattern := func(v string) bool { return strings.Contains(v, "*") && !netCDFLevel.MatchString(v) }
	if i := slices.IndexFunc(values, isPattern); i >= 0 {
		if len(values) == 1 && values[i] == "*" {
			return nil // all
		}
		if f.Name == "fcst_var" && strings.HasPrefix(values[i], "PROB(") { // see HasPattern
			var err error
			b.q.Header[record.FcstVar], err = intersect(b.q.Header[record.FcstVar], parsePlotTexts, f, values)
			return err
		}
		return fmt.Errorf("line %d: %s: the pattern %q is not supported: write the values out", f.Line, f.Name, values[i])
	}
	if f.Name == "cov_thresh" && !slices.Contains([]string{"PCT", "PSTD", "PJC", "PRC", "NBRCTC", "NBRCTS"}, b.q.Type.Name) {
		return nil // METviewer's other tables have no such column, so it drops the condition
	}
	field, ok := record.FieldByName(f.Name)
	var err error
	switch {
	case ok:
		b.q.Header[field], err = intersect(b.q.Header[field], parsePlotTexts, f, values)
	case f.Name == "fcst_lead":
		b.q.Lead, err = intersect(b.q.Lead, parsePlotLeads, f, values)
	case f.Name == "fcst_valid_beg":
		b.q.Valid, err = b.intersectTimes(b.q.Valid, f, values)
	case f.Name == "fcst_init_beg":
		b.q.TimeFilter.Init, err = b.intersectTimes(b.q.TimeFilter.Init, f, values)
	case f.Name == "valid_hour":
		b.q.TimeFilter.ValidHour, err = intersect(b.q.TimeFilter.ValidHour, parsePlotHours, f, values)
	case f.Name == "init_hour":
		b.q.TimeFilter.InitHour, err = intersect(b.q.TimeFilter.InitHour, parsePlotHours, f, values)
	default:
		err = fmt.Errorf("line %d: %s: is not a supported field%s", f.Line, f.Name, fault.Meant(f.Name, append(fieldNames(), axes...)))
	}
	return err
}

// intersect returns the values that satisfy both an earlier condition on a field and a new one. No values mean no
// condition.
func intersect[T comparable](
	old []T, parse func(metviewer.Field, []string) ([]T, error), f metviewer.Field, values []string,
) ([]T, error) {
	now, err := parse(f, values)
	switch {
	case err != nil || len(old) == 0:
		return now, err
	case len(now) == 0:
		return old, nil
	}
	if now = lists.Filter(now, func(v T) bool { return slices.Contains(old, v) }); len(now) == 0 {
		return nil, contradiction(f)
	}
	return now, nil
}

func contradiction(f metviewer.Field) error {
	return fmt.Errorf("line %d: %s: contradicts another condition of the plot", f.Line, f.Name)
}

// intersectTimes is intersect for times.
func (b *builder) intersectTimes(old Times, f metviewer.Field, values []string) (now Times, err error) {
	if len(values) > 0 {
		now = b.parsedTimes[&values[0]]
	}
	if now.IsAll() { // not parsed yet
		now, err = parsePlotTimes(f, values)
	}
	if len(values) > 0 && err == nil {
		b.parsedTimes[&values[0]] = now
	}
	switch {
	case err != nil || old.IsAll():
		return now, err
	case now.IsAll():
		return old, nil
	case now.IsDiscrete() || old.IsDiscrete():
		list, other := now, old
		if !list.IsDiscrete() {
			list, other = old, now
		}
		now = Times{List: slices.DeleteFunc(slices.Clone(list.Expand()), func(t int64) bool { return !other.Contains(t) })}
	default:
		now = timesBetween(max(now.First, old.First), min(now.Last, old.Last))
	}
	if now.IsAll() || now.Last < now.First {
		return now, contradiction(f)
	}
	return now, nil
}

func parsePlotTexts(f metviewer.Field, values []string) ([]string, error) {
	if f.First != "" {
		return nil, fmt.Errorf("line %d: %s: a range of texts is not supported", f.Line, f.Name)
	}
	return Unique(values), nil
}

// groupValue writes a value of a series in the form of Group.Values.
func groupValue(f metviewer.Field, value string) (string, error) {
	if f.Name == "fcst_lead" {
		// The other codes of the list determine the unit: see parsePlotLeads.
		leads, err := parsePlotLeads(metviewer.Field{Name: f.Name, Line: f.Line}, f.List)
		if err != nil || len(leads) == 0 {
			return "", err
		}
		seconds, err := leadSeconds(f, value, isHHMMSS(f.List))
		return strconv.FormatFloat(float64(seconds)/3600, 'g', -1, 64), err
	}
	text, err := normalGroupValue(f.Name, value)
	if err != nil {
		return "", fmt.Errorf("line %d: %s: %w", f.Line, f.Name, err)
	}
	return text, nil
}

// normalGroupValue writes a value of a field in the form of Group.Values: hours without leading zeros, times in one form.
func normalGroupValue(field, value string) (string, error) {
	switch field {
	case "fcst_lead", "valid_hour", "init_hour":
		hours, err := strconv.ParseFloat(value, 64)
		isHourOfDay := hours == math.Trunc(hours) && hours >= 0 && hours <= 23
		if err != nil || field != "fcst_lead" && !isHourOfDay {
			return "", fmt.Errorf("%q is not a number of hours", value)
		}
		return strconv.FormatFloat(hours, 'g', -1, 64), nil
	case "fcst_valid_beg", "fcst_init_beg":
		t, err := ParseTime(value)
		return formatGroupTime(t), err
	}
	return value, nil
}

// formatGroupTime writes a time in the form of Group.Values.
func formatGroupTime(t int64) string { return time.Unix(t, 0).UTC().Format(time.RFC3339) }

// parsePlotLeads reads METviewer's lead codes. METviewer compares them with the values in its tables:
// [H]HHMMSS from MET's files, hours from VSDB files. A list that contains a code of 1000 or more is
// HHMMSS, any other list is hours: no VSDB forecast reaches 1000 hours, and a list of MET's leads
// contains one of ten minutes (1000) or more.
func parsePlotLeads(f metviewer.Field, values []string) ([]int32, error) {
	if f.First != "" {
		return nil, fmt.Errorf("line %d: fcst_lead: a range of leads is not supported: write the leads out", f.Line)
	}
	var leads []int32
	for _, v := range values {
		s, err := leadSeconds(f, v, isHHMMSS(values))
		if err != nil {
			return nil, err
		}
		leads = append(leads, s)
	}
	slices.Sort(leads)
	return slices.Compact(leads), nil
}

// isHHMMSS reports whether a list of lead codes is HHMMSS, see parsePlotLeads.
func isHHMMSS(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		n, err := strconv.Atoi(v)
		return err == nil && (n >= 1000 || n <= -1000)
	})
}

// leadSeconds converts a lead code, which is in hours unless it is [H]HHMMSS.
func leadSeconds(f metviewer.Field, code string, isHHMMSS bool) (int32, error) {
	n, err := strconv.ParseInt(code, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("line %d: fcst_lead: %q is not a lead", f.Line, code)
	}
	if !isHHMMSS {
		return int32(n) * 3600, nil
	}
	if n/100%100 > 59 || n/100%100 < -59 || n%100 > 59 || n%100 < -59 {
		return 0, fmt.Errorf("line %d: fcst_lead: %q is not [H]HHMMSS", f.Line, code)
	}
	return int32(n/10000*3600 + n/100%100*60 + n%100), nil
}

func parsePlotTimes(f metviewer.Field, values []string) (Times, error) {
	out, err := timesYAML{List: values, First: f.First, Last: f.Last}.parse()
	if err == nil {
		err = out.Check()
	}
	if err != nil {
		return out, &fault.Error{Setting: fmt.Sprintf("line %d: %s", f.Line, f.Name), Err: err}
	}
	return out, nil
}

func parsePlotHours(f metviewer.Field, values []string) ([]int, error) {
	var hs []int
	if f.First != "" {
		values = []string{f.First, f.Last}
	}
	for _, v := range values {
		h, err := strconv.Atoi(v)
		if err != nil || h < 0 || h > 23 {
			return nil, fmt.Errorf("line %d: %s: %q is not an hour from 00 to 23", f.Line, f.Name, v)
		}
		hs = append(hs, h)
	}
	if f.First != "" {
		if hs = lists.Indices(24)[hs[0]:max(hs[0], hs[1]+1)]; len(hs) == 0 {
			return nil, fmt.Errorf("line %d: %s: ends before it begins", f.Line, f.Name)
		}
	}
	slices.Sort(hs)
	return slices.Compact(hs), nil
}
