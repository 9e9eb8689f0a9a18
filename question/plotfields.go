package question

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// builder makes one question of a plot.
type builder struct {
	p     *metviewer.Plot
	fixed []metviewer.Field
	dep   metviewer.Dep
	q     *Question
	times map[string]bool // fields of time that are narrowed already
}

// axes are the independent variables that are drawn.
var axes = []string{"fcst_lead", "fcst_lev", "fcst_valid_beg", "fcst_init_beg", "valid_hour", "init_hour", "fcst_thresh"} //nolint:gochecknoglobals // a constant table

func (b *builder) build() error {
	if err := b.narrow(metviewer.Field{Name: "fcst_var", Line: b.dep.Line}, []string{b.dep.Var}); err != nil {
		return err
	}
	for _, f := range b.fixed {
		if err := b.narrow(f, f.List); err != nil {
			return err
		}
	}
	for _, f := range b.p.Series[b.dep.Axis-1] {
		if err := b.curves(f); err != nil {
			return err
		}
	}
	indep := b.p.Indep
	if !slices.Contains(axes, indep.Name) {
		return fmt.Errorf("line %d: indep: %q is no axis that is drawn (%s are)", indep.Line, indep.Name, strings.Join(axes, ", "))
	}
	if len(indep.List) > 0 || indep.First != "" {
		if err := b.narrow(indep, indep.List); err != nil {
			return err
		}
	}
	b.draw()
	return nil
}

// draw fills the drawing from the plot.
func (b *builder) draw() {
	d, p := b.q.Drawing, b.p
	d.Axis, d.EventEqual = p.Indep.Name, p.EventEqual
	switch {
	case len(p.Agg) > 0:
		d.Method = "overall"
		if p.BootRepl > 1 {
			d.Replicates, d.Seed, d.Confidence = p.BootRepl, p.BootSeed, 1-p.Alpha
		}
	case p.PlotStat == "mean", p.PlotStat == "sum":
		d.Method = p.PlotStat
	default:
		d.Method = "median"
	}
	d.XLabel, d.YLabel = p.XLabel, p.YLabel[b.dep.Axis-1]
	b.q.Title = p.Title
	if b.q.Title == "" {
		b.q.Title = b.dep.Var + " " + strings.Join(b.dep.Stats, ", ")
	}
	b.q.Title = strings.ReplaceAll(b.q.Title, "{fcst_var}", b.dep.Var)
	for _, f := range b.fixed { // METviewer fills in what is fixed
		b.q.Title = strings.ReplaceAll(b.q.Title, "{"+f.Name+"}", strings.Join(f.List, ", "))
	}
}

// curves narrows the question to the values of a series and notes which of
// them make one curve together.
func (b *builder) curves(f metviewer.Field) error {
	if f.First != "" {
		return fmt.Errorf("line %d: series field %s: a range makes no curves", f.Line, f.Name)
	}
	g := Group{Field: f.Name}
	var all []string
	for _, v := range f.List {
		var together []string
		for one := range strings.SplitSeq(v, ",") {
			one = strings.TrimSpace(one)
			all = append(all, one)
			text, err := canonical(f, one)
			if err != nil {
				return err
			}
			together = append(together, text)
		}
		g.Values = append(g.Values, together)
	}
	b.q.Drawing.Curves = append(b.q.Drawing.Curves, g)
	return b.narrow(f, unique(all))
}

// narrow adds the condition that a field has one of some values, or lies in a range.
func (b *builder) narrow(f metviewer.Field, values []string) error {
	if i := slices.IndexFunc(values, func(v string) bool { return strings.Contains(v, "*") }); i >= 0 {
		if len(values) == 1 && values[i] == "*" {
			return nil // all
		}
		return fmt.Errorf("line %d: %s: the pattern %q cannot be asked for: write the values out", f.Line, f.Name, values[i])
	}
	if field, ok := record.FieldByName(f.Name); ok {
		if f.First != "" {
			return fmt.Errorf("line %d: %s: a range of texts cannot be asked for", f.Line, f.Name)
		}
		return b.header(field, f, values)
	}
	if b.times[f.Name] {
		return fmt.Errorf("line %d: %s: is narrowed twice", f.Line, f.Name)
	}
	b.times[f.Name] = true
	var err error
	switch f.Name {
	case "fcst_lead":
		b.q.Lead, err = plotLeads(f, values)
	case "fcst_valid_beg":
		b.q.Valid, err = plotTimes(f, values)
	case "fcst_init_beg":
		b.q.Clock.Init, err = plotTimes(f, values)
	case "valid_hour":
		b.q.Clock.ValidHour, err = plotHours(f, values)
	case "init_hour":
		b.q.Clock.InitHour, err = plotHours(f, values)
	default:
		err = fmt.Errorf("line %d: %s: is no field that can be asked for", f.Line, f.Name)
	}
	return err
}

// header narrows a header field; one that is narrowed already keeps what both allow.
func (b *builder) header(field record.Field, f metviewer.Field, values []string) error {
	if old := b.q.Header[field]; len(old) > 0 {
		values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !slices.Contains(old, v) })
		if len(values) == 0 {
			return fmt.Errorf("line %d: %s: contradicts what the plot says elsewhere", f.Line, f.Name)
		}
	}
	b.q.Header[field] = values
	return nil
}

// canonical writes a value of a series as Group has it.
func canonical(f metviewer.Field, value string) (string, error) {
	one := []string{value}
	switch f.Name {
	case "fcst_lead":
		// Codes are read together with their neighbours: see plotLeads.
		leads, err := plotLeads(metviewer.Field{Name: f.Name, Line: f.Line}, f.List)
		if err != nil || len(leads) == 0 {
			return "", err
		}
		seconds, err := leadSeconds(f, value, hms(f.List))
		return strconv.FormatFloat(float64(seconds)/3600, 'g', -1, 64), err
	case "valid_hour", "init_hour":
		hs, err := plotHours(metviewer.Field{Name: f.Name, Line: f.Line}, one)
		if err != nil {
			return "", err
		}
		return strconv.Itoa(hs[0]), nil
	case "fcst_valid_beg", "fcst_init_beg":
		t, err := ParseTime(value)
		if err != nil {
			return "", fmt.Errorf("line %d: %s: %w", f.Line, f.Name, err)
		}
		return time.Unix(t, 0).UTC().Format(time.RFC3339), nil
	}
	return value, nil
}

// plotLeads reads METviewer's codes of leads. METviewer compares them with what
// its tables hold: [H]HHMMSS from MET's files, hours from VSDB files. A list
// with a code of 1000 or more is HHMMSS, another one hours: no forecast of VSDB
// reaches 1000 hours, and no list of MET's leads ends before ten minutes.
func plotLeads(f metviewer.Field, values []string) ([]int32, error) {
	if f.First != "" {
		return nil, fmt.Errorf("line %d: fcst_lead: a range of leads cannot be asked for: write the leads out", f.Line)
	}
	var leads []int32
	for _, v := range values {
		for one := range strings.SplitSeq(v, ",") {
			s, err := leadSeconds(f, strings.TrimSpace(one), hms(values))
			if err != nil {
				return nil, err
			}
			leads = append(leads, s)
		}
	}
	slices.Sort(leads)
	return slices.Compact(leads), nil
}

// hms reports whether a list of codes is HHMMSS.
func hms(values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool {
		for one := range strings.SplitSeq(v, ",") {
			if n, err := strconv.Atoi(strings.TrimSpace(one)); err == nil && (n >= 1000 || n <= -1000) {
				return true
			}
		}
		return false
	})
}

func leadSeconds(f metviewer.Field, code string, hms bool) (int32, error) {
	n, err := strconv.ParseInt(code, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("line %d: fcst_lead: %q is no lead", f.Line, code)
	}
	if !hms {
		return int32(n) * 3600, nil
	}
	if n/100%100 > 59 || n/100%100 < -59 || n%100 > 59 || n%100 < -59 {
		return 0, fmt.Errorf("line %d: fcst_lead: %q is not [H]HHMMSS", f.Line, code)
	}
	return int32(n/10000*3600 + n/100%100*60 + n%100), nil
}

func plotTimes(f metviewer.Field, values []string) (Times, error) {
	t := times{List: values, First: f.First, Last: f.Last}
	out, err := t.parse()
	if err == nil {
		out.List = slices.Compact(out.List)
		err = out.Check()
	}
	if err != nil {
		return out, &fault.Error{Setting: fmt.Sprintf("line %d: %s", f.Line, f.Name), Err: err}
	}
	return out, nil
}

func plotHours(f metviewer.Field, values []string) ([]int, error) {
	var hs []int
	if f.First != "" {
		return nil, fmt.Errorf("line %d: %s: a range of hours cannot be asked for: write the hours out", f.Line, f.Name)
	}
	for _, v := range values {
		h, err := strconv.Atoi(v)
		if err != nil || h < 0 || h > 23 {
			return nil, fmt.Errorf("line %d: %s: %q is no hour from 00 to 23", f.Line, f.Name, v)
		}
		hs = append(hs, h)
	}
	slices.Sort(hs)
	return slices.Compact(hs), nil
}
