package question

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// plotXML is a plot_spec with one plot, in the form that METviewer's batch mode reads.
type plotXML struct {
	XMLName    xml.Name     `xml:"plot_spec"`
	Database   string       `xml:"connection>database"`
	Template   string       `xml:"plot>template"`
	Var        *depXML      `xml:"plot>dep>dep1>fcst_var"`
	Series     []fieldXML   `xml:"plot>series1>field"`
	Fix        []fieldXML   `xml:"plot>plot_fix>field"`
	Indep      *fieldXML    `xml:"plot>indep"`
	Roc        []elementXML `xml:"plot>roc_calc>any"`
	Agg        []elementXML `xml:"plot>agg_stat>any"`
	Calc       []elementXML `xml:"plot>calc_stat>any"`
	PlotStat   string       `xml:"plot>plot_stat,omitempty"`
	Title      string       `xml:"plot>tmpl>title"`
	XLabel     string       `xml:"plot>tmpl>x_label"`
	YLabel     string       `xml:"plot>tmpl>y1_label"`
	EventEqual bool         `xml:"plot>event_equal"`
	Inflate    bool         `xml:"plot>varianceinflationfactor"`
	Alpha      string       `xml:"plot>ci_alpha,omitempty"`
	Styles     []elementXML `xml:"plot>any"`
}

type depXML struct {
	Name  string   `xml:"name,attr"`
	Stats []string `xml:"stat"`
}

type fieldXML struct {
	Name   string    `xml:"name,attr"`
	Set    *fieldXML `xml:"set"` // plot_fix only: its values together
	Values []string  `xml:"val"`
	Range  *rangeXML `xml:"date_range"`
}

type rangeXML struct {
	Start string `xml:"start"`
	End   string `xml:"end"`
}

// elementXML is an element of any name that contains text.
type elementXML struct {
	XMLName xml.Name
	Text    string `xml:",chardata"`
}

func newElementXML(name string, text any) elementXML {
	return elementXML{xml.Name{Local: name}, fmt.Sprint(text)}
}

// PlotXML writes a question as a METviewer plot_spec that FromPlots reads. The drawing must name
// its axis and the values of its curves. seed is used for intervals whose drawing has no seed. If
// METviewer cannot express the question, PlotXML returns an error.
func PlotXML(q *Question, seed uint64) ([]byte, error) {
	d := q.Drawing
	if why := q.unsupportedByPlotXML(); why != "" {
		return nil, &fault.Error{Setting: "plot XML", Problem: "cannot express " + why, Cure: "write the question as YAML"}
	}
	p := plotXML{
		Database: strings.Join(append([]string{q.Subset}, q.MoreSubsets...), ","), Template: q.metviewerTemplate() + ".R_tmpl",
		Title: q.Title, XLabel: d.XLabel, YLabel: d.YLabel, EventEqual: d.EventEqual, Inflate: !d.NoVIF,
	}
	if d.Confidence > 0 {
		p.Alpha = strconv.FormatFloat(1-d.Confidence, 'g', 6, 64)
	}
	if d.ShowsLineType() { // METviewer takes the variable from plot_fix
		p.Fix = []fieldXML{{Name: "fcst_var", Set: &fieldXML{Name: "fcst_var_0", Values: q.Header[record.FcstVar]}}}
	} else {
		p.Var = &depXML{q.Header[record.FcstVar][0], d.Stats}
	}
	if d.Picture == "roc" {
		p.Roc = []elementXML{newElementXML("roc_"+strings.ToLower(q.Type.Name), true)}
	}
	if d.Axis != "" {
		p.Indep = &fieldXML{Name: d.Axis}
	}
	for _, g := range d.Curves {
		f := fieldXML{Name: g.Field, Values: lists.Map(g.Values, func(together []string) string {
			return strings.Join(q.MetviewerValues(g.Field, together), ":")
		})}
		p.Series = append(p.Series, f)
	}
	for _, f := range q.conditionsXML() {
		switch {
		case f.Name == d.Axis:
			p.Indep = &f
		case !slices.ContainsFunc(d.Curves, func(g Group) bool { // the series expresses a condition that excludes no curve
			return g.Field == f.Name && includes(f.Values, q.MetviewerValues(f.Name, slices.Concat(g.Values...)))
		}):
			p.Fix = append(p.Fix, fieldXML{Name: f.Name, Set: &fieldXML{Name: f.Name + "_0", Values: f.Values, Range: f.Range}})
		}
	}
	sums, elements := "agg", &p.Agg
	if d.Method != "overall" {
		p.PlotStat, sums, elements = d.Method, "calc", &p.Calc
	}
	if !d.FromColumns && (!d.ShowsLineType() || slices.Contains([]string{"CTC", "PCT", "NBRCTC", "SSVAR"}, q.Type.Name)) {
		*elements = append(*elements, newElementXML(sums+"_"+strings.ToLower(q.Type.Name), true))
	}
	if d.Method == "overall" {
		p.Agg = append(p.Agg, newElementXML("boot_repl", max(d.Replicates, 1)),
			newElementXML("boot_random_seed", *cmp.Or(d.Seed, &seed)), newElementXML("boot_ci", cmp.Or(d.BootCI, "perc")),
			newElementXML("circular_block_bootstrap", d.Block != 1))
	}
	// Without styles, each curve has an empty one. All styles have the same properties.
	styles := slices.Concat(d.Styles, make([]metviewer.Style, max(d.numCurves()-len(d.Styles), 0)))
	properties := slices.Sorted(maps.Keys(styles[0]))
	if d.Replicates > 0 && styles[0]["plot_ci"] == "" {
		properties = append(properties, "plot_ci")
	}
	for _, name := range properties {
		values := lists.Map(styles, func(st metviewer.Style) string { return cmp.Or(st[name], map[string]string{"plot_ci": "boot"}[name]) })
		p.Styles = append(p.Styles, newElementXML(name, `c("`+strings.Join(values, `","`)+`")`))
	}
	text, err := xml.MarshalIndent(&p, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// metviewerTemplate is METviewer's template for a question's picture; "" = there is none.
func (q *Question) metviewerTemplate() string {
	switch {
	case q.Drawing.Picture == "rank_histogram":
		return strings.ToLower(q.Type.Name)
	case q.Drawing.ShowsLineType() && q.Type.Name == "NBRCTS": // its template draws CTS
		return ""
	}
	return map[string]string{
		"": "series_plot", "bar": "bar_plot", "box": "box_plot", "contour": "contour_plot", "revision": "revision_series", "roc": "roc",
		"reliability": "rely", "performance": "performance", "eclv": "eclv", "spread_skill": "ens_ss",
	}[q.Drawing.Picture]
}

// unsupportedByPlotXML names the first property of q that a plot_spec cannot express; "" = none.
func (q *Question) unsupportedByPlotXML() string {
	d := q.Drawing
	switch {
	case d == nil || !d.ShowsLineType() && (d.Axis == "" || len(d.Stats) == 0),
		slices.ContainsFunc(d.Curves, func(g Group) bool { return len(g.Values) == 0 }):
		return "a drawing that depends on its answer"
	case q.metviewerTemplate() == "":
		return "a picture " + d.Picture + " of " + q.Type.Name // a Taylor diagram is equalized, a scorecard has several plots
	case d.Baseline != "" || len(d.Derived) > 0:
		return "differences of curves without the curves themselves"
	case len(d.Ticks) > 0:
		return "names or positions of values on the axis"
	case len(d.ValueConditions) > 0:
		return "conditions on values of what is drawn"
	case len(d.Equalize) > 0:
		return "fixed fields that are equalized"
	case len(d.Styles) > 0 && len(d.Styles) < d.numCurves(), slices.ContainsFunc(d.Styles, func(st metviewer.Style) bool {
		return !maps.EqualFunc(st, d.Styles[0], func(string, string) bool { return true }) || strings.Contains(st["legend"], `"`)
	}):
		return "properties of only some curves, or a legend text with a quotation mark"
	case d.Block > 1:
		return "a bootstrap of blocks of " + strconv.Itoa(d.Block) + " records"
	case d.RightAxis:
		return "the right axis of another question's picture"
	case d.EqualizeAcrossAxis:
		return "cases that are the same at all places"
	case len(q.Header[record.FcstVar]) != 1:
		return "several variables in one curve"
	case strings.Contains(strings.Join(append(q.MoreSubsets, q.Subset), ""), ","):
		return "a subset whose name has a comma"
	case q.hasAmbiguousLeads():
		return "leads whose codes METviewer reads as other leads"
	}
	for f := range record.NumFields {
		values := slices.Clone(q.Header[f])
		for _, g := range d.Curves {
			if g.Field == f.String() {
				values = append(values, slices.Concat(g.Values...)...)
			}
		}
		isSeveral := func(v string) bool { // METviewer reads it as several values
			return strings.Contains(v, ":") || f != record.FcstVar && strings.Contains(v, "*") && !netCDFLevel.MatchString(v)
		}
		if i := slices.IndexFunc(values, isSeveral); i >= 0 && (f != record.FcstVar || d.ShowsLineType()) {
			return f.String() + " " + values[i] + ", a value with a colon or an asterisk"
		}
	}
	return ""
}

// hasAmbiguousLeads reports whether FromPlots would read other leads from the codes that PlotXML writes. 500 is five
// minutes in MET's data, but 500 hours in data from VSDB files; see parsePlotLeads.
func (q *Question) hasAmbiguousLeads() bool {
	isAmbiguous := func(hours []string) bool {
		f := metviewer.Field{Name: "fcst_lead"}
		f.List = q.MetviewerValues(f.Name, hours)
		return !slices.Equal((&builder{}).groupValues(f, f.List), hours)
	}
	return isAmbiguous(hoursOfLeads(q.Lead)) || slices.ContainsFunc(q.Drawing.Curves, func(g Group) bool {
		return g.Field == "fcst_lead" && isAmbiguous(slices.Concat(g.Values...))
	})
}

// conditionsXML returns the conditions of a question, except the variable, in METviewer's form.
func (q *Question) conditionsXML() (out []fieldXML) {
	for f := range record.NumFields {
		if len(q.Header[f]) > 0 && f != record.FcstVar {
			out = append(out, fieldXML{Name: f.String(), Values: q.Header[f]})
		}
	}
	for name, t := range map[string]*Times{"fcst_valid_beg": &q.Valid, "fcst_init_beg": &q.TimeFilter.Init} {
		at := func(v int64) string { return time.Unix(v, 0).UTC().Format(time.DateTime) }
		switch {
		case t.IsDiscrete():
			out = append(out, fieldXML{Name: name, Values: lists.Map(t.Expand(), at)})
		case !t.IsAll():
			out = append(out, fieldXML{Name: name, Range: &rangeXML{at(t.First), at(t.Last)}})
		}
	}
	addValues := func(name string, values []string) {
		if len(values) > 0 {
			out = append(out, fieldXML{Name: name, Values: q.MetviewerValues(name, values)})
		}
	}
	addValues("fcst_lead", hoursOfLeads(q.Lead))
	addValues("valid_hour", lists.Map(q.TimeFilter.ValidHour, strconv.Itoa))
	addValues("init_hour", lists.Map(q.TimeFilter.InitHour, strconv.Itoa))
	slices.SortStableFunc(out, func(a, b fieldXML) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// MetviewerValues writes values of a field as METviewer's tables store them: leads as [H]HHMMSS,
// but as hours in data from VSDB files (V01); hours of the day with two digits; times without T and Z.
func (q *Question) MetviewerValues(field string, values []string) []string {
	vsdb := slices.Equal(q.Header[record.Version], []string{"V01"})
	out := slices.Clone(values)
	for i, v := range out {
		switch n, err := strconv.ParseFloat(v, 64); {
		case field == "fcst_valid_beg" || field == "fcst_init_beg":
			out[i] = strings.TrimSuffix(strings.Replace(v, "T", " ", 1), "Z")
		case err != nil:
		case field == "valid_hour" || field == "init_hour":
			out[i] = fmt.Sprintf("%02d", int(n))
		case field == "fcst_lead" && !vsdb:
			s := int(math.Round(n * 3600))
			out[i] = strconv.Itoa(s/3600*10000 + s/60%60*100 + s%60)
		}
	}
	return out
}
