package question

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"
)

// FromPlotFile is FromPlots for a file.
func FromPlotFile(file string) (qs []*Question, notes []string, err error) {
	spec, err := metviewer.ReadPlotSpec(file)
	if err != nil {
		return nil, nil, err
	}
	qs, notes = FromPlots(spec)
	notes = append(notes, lists.Map(spec.Warnings, metviewer.Remark.String)...)
	if len(qs) == 0 {
		problem := "contains no plot that can be turned into a question: " + strings.Join(notes, "; ")
		return nil, notes, &fault.Error{File: file, Problem: problem, Cure: "see docs/reference/metviewer.md"}
	}
	return qs, notes, nil
}

// FromPlots turns the plots of a plot_spec into questions: one for each combination of fixed
// values, dependent variable, axis and line type. It omits a plot if a property that selects its records is not
// supported. It omits only the property if that concerns the appearance. The notes list both, with their lines.
func FromPlots(spec *metviewer.PlotSpec) (qs []*Question, notes []string) {
	var omittedPlots []string // what was omitted from plots that have no question
	for i := range spec.Plots {
		ofPlot, newNotes, omitted := questionsOfPlot(&spec.Plots[i])
		notes = append(notes, newNotes...)
		if len(ofPlot) > 0 {
			ofPlot[0].Omitted = Unique(omitted)
		} else {
			omittedPlots = append(omittedPlots, omitted...)
		}
		qs = append(qs, ofPlot...)
	}
	if len(qs) > 0 {
		qs[0].Omitted = Unique(append(qs[0].Omitted, omittedPlots...))
	}
	for _, q := range qs {
		if len(spec.Databases) > 0 {
			q.Subset, q.MoreSubsets = spec.Databases[0], spec.Databases[1:]
		}
	}
	assignNames(strings.TrimSuffix(path.Base(spec.File), path.Ext(spec.File)), qs)
	return qs, Unique(notes)
}

// questionsOfPlot returns the questions of one plot. omitted lists what no question requests; the notes contain it, too.
func questionsOfPlot(p *metviewer.Plot) (qs []*Question, notes, omitted []string) {
	notes = lists.Map(p.Unsupported, metviewer.Remark.String)
	all, complete := combinations(p.Fix)
	parsedTimes, refused := map[*string]Times{}, refusals{}
	hasVariable := false
	if !complete {
		omitted = append(omitted, fmt.Sprintf("line %d: plot_fix: specifies more than %d plots; the others are omitted", p.Line, maxPlots))
	}
	for _, fixed := range all {
		deps := dependentVariables(p, fixed)
		hasVariable = hasVariable || len(deps) > 0
		for _, d := range deps {
			newQuestions, newNotes, newOmitted := questionsOf(p, fixed, d, parsedTimes, refused)
			qs, notes, omitted = append(qs, newQuestions...), append(notes, newNotes...), append(omitted, newOmitted...)
		}
	}
	if !hasVariable {
		omitted = append(omitted, fmt.Sprintf("line %d: dep: the plot has no dependent variable; performance and ens_ss need fcst_var in plot_fix", p.Line))
	}
	notes = append(notes, omitted...)
	if len(qs) > 0 {
		texts := refused.list(p)
		notes = append(notes, texts...)
		for _, q := range qs {
			q.Refused = texts
		}
	}
	return qs, notes, omitted
}

// Unique removes repeated texts and keeps the order.
func Unique(texts []string) (out []string) {
	seen := make(map[string]bool, len(texts))
	for _, n := range texts {
		if !seen[n] {
			out, seen[n] = append(out, n), true
		}
	}
	return out
}

var invalidInName = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// JoinName makes the name of a question from parts, such as a variable and a line type.
func JoinName(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return invalidInName.ReplaceAllString(strings.ToLower(strings.Join(parts, "_")), "_")
}

// assignNames names questions. A single question gets the name of its file, or keeps its own if base is "". Several
// questions get base, if any, their variable, their line type and, if necessary, a number.
func assignNames(base string, qs []*Question) {
	base = invalidInName.ReplaceAllString(base, "_")
	if len(qs) == 1 {
		qs[0].Name = cmp.Or(base, qs[0].Name)
		return
	}
	used, last := map[string]bool{}, map[string]int{}
	for _, q := range qs {
		content := invalidInName.ReplaceAllString(strings.Join(q.Header[record.FcstVar], "_")+"_"+q.Type.Name, "_")
		stem := strings.TrimPrefix(base+"-", "-") + strings.TrimPrefix(content, "_")
		q.Name = stem
		for n := max(2, last[stem]+1); used[q.Name]; n++ {
			q.Name, last[stem] = stem+"-"+strconv.Itoa(n), n
		}
		used[q.Name] = true
	}
}

// maxPlots is the maximum number of combinations of fixed values.
const maxPlots = 1000

// combinations returns all choices of one set for each fixed field. If there are more than maxPlots, it returns only
// so many, and complete is false.
func combinations(fix []metviewer.Fix) (all [][]metviewer.Field, complete bool) {
	all, complete = [][]metviewer.Field{nil}, true
	for _, f := range fix {
		if len(f.Sets) == 0 {
			continue
		}
		var next [][]metviewer.Field
		for _, chosen := range all {
			for _, s := range f.Sets {
				if len(next) == maxPlots {
					complete = false
					break
				}
				field := metviewer.Field{Name: f.Name, Line: f.Line, Equalize: f.Equalize, Values: s}
				next = append(next, append(slices.Clip(chosen), field))
			}
		}
		all = next
	}
	return all, complete
}

// dependentVariables returns the dependent variables of a plot: those that it names or, where its
// template determines what is drawn, those that follow from its fixed variables.
func dependentVariables(p *metviewer.Plot, fixed []metviewer.Field) []metviewer.Dep {
	var stats []string
	switch p.Template {
	case "performance":
		stats = []string{"FAR", "PODY"}
		if slices.Contains(p.Agg, "NBRCTC") {
			stats = []string{"NBR_FAR", "NBR_PODY"}
		}
	case "taylor_plot":
		deps := slices.Clone(p.Deps)
		for i := range deps {
			deps[i].Stats = []string{"FBAR", "FSTDEV", "OBAR", "OSTDEV", "PR_CORR", "RMSE"}
		}
		return deps
	case "ens_ss":
		stats = []string{"SSVAR_MSE", "SSVAR_Spread"}
	case "roc", "rely", "eclv", "rhist", "phist", "relp":
		if p.Roc == "CTC" {
			stats = []string{"PODY", "POFD"}
		}
	default:
		return p.Deps
	}
	i := slices.IndexFunc(fixed, func(f metviewer.Field) bool { return f.Name == "fcst_var" })
	if i < 0 && (p.Template == "performance" || p.Template == "ens_ss") { // METviewer refuses these plots
		return nil
	} else if i < 0 {
		return []metviewer.Dep{{Axis: 1, Stats: stats, Line: p.Line}}
	}
	names := slices.Concat(lists.Map(fixed[i].List, metviewer.Members)...)
	return lists.Map(names, func(name string) metviewer.Dep { return metviewer.Dep{Axis: 1, Var: name, Stats: stats, Line: p.Line} })
}

// lineTypeOfTemplate is the line type that a template draws directly, without a statistic; nil =
// none.
func lineTypeOfTemplate(p *metviewer.Plot) *record.LineType {
	name := strings.ToUpper(p.Template)
	switch p.Template {
	case "roc", "rely":
		name = "PCT"
	case "eclv":
		for _, sums := range []string{"CTC", "PCT"} {
			if slices.Contains(p.Agg, sums) {
				name = sums
			}
		}
	}
	t, _ := record.TypeByName(name)
	return t
}

// questionsOf returns the questions of one dependent variable, one for each line type of its statistics. The notes list
// differences from the plot, and omitted lists what no question requests. All questions of a plot share parsedTimes,
// see builder, and refused.
func questionsOf(
	p *metviewer.Plot, fixed []metviewer.Field, d metviewer.Dep, parsedTimes map[*string]Times, refused refusals,
) (qs []*Question, notes, omitted []string) {
	byType := map[*record.LineType]*Question{}
	add := func(t *record.LineType, drawing *Drawing) error {
		b := &builder{p: p, fixed: fixed, dep: d, parsedTimes: parsedTimes, refusals: refused}
		b.q = &Question{Type: t, Weight: 1, Drawing: drawing}
		if err := b.build(); err != nil {
			return err
		}
		notes = append(notes, b.notes...)
		byType[t] = b.q
		qs = append(qs, b.q)
		return nil
	}
	if len(d.Stats) == 0 {
		t := lineTypeOfTemplate(p)
		if t == nil {
			return nil, nil, []string{fmt.Sprintf("line %d: dep%d/%s: has no statistic", d.Line, d.Axis, d.Var)}
		}
		if err := add(t, &Drawing{}); err != nil {
			return nil, notes, append(omitted, err.Error()+": the plot is omitted")
		}
	}
	for _, name := range d.Stats {
		t, fromColumns, err := lineTypeOf(p, name)
		if err != nil {
			omitted = append(omitted, fmt.Sprintf("line %d: dep%d/%s, stat %s: %v", d.Line, d.Axis, d.Var, name, err))
			continue
		}
		if q := byType[t]; q != nil {
			q.Drawing.Stats = append(q.Drawing.Stats, name)
			continue
		}
		if err := add(t, &Drawing{Stats: []string{name}, FromColumns: fromColumns}); err != nil {
			return nil, notes, append(omitted, err.Error()+": the plot is omitted")
		}
	}
	for _, q := range qs {
		notes = append(notes, q.setStyles(p, &d)...)
		q.SelectColumns()
		if err := q.Check(); err != nil {
			return nil, notes, append(omitted, err.Error())
		}
	}
	return qs, notes, omitted
}

// setStyles gives the curves of a plot's dependent variable their styles.
func (q *Question) setStyles(p *metviewer.Plot, d *metviewer.Dep) (notes []string) {
	if p.Styles == nil || q.Drawing.Picture == "contour" { // METviewer does not use the style of a contour plot
		return nil
	}
	q.Drawing.Styles = p.Styles // the template of a line type has one for each series; other plots also for each statistic
	if !q.Drawing.ShowsLineType() {
		q.Drawing.Styles = nil
		for _, name := range q.Drawing.Stats {
			first, n := slices.Index(d.Stats, name), len(d.Styles)/len(d.Stats)
			q.Drawing.Styles = append(q.Drawing.Styles, d.Styles[first*n:first*n+n]...)
		}
	}
	if slices.ContainsFunc(q.Drawing.Styles, func(st metviewer.Style) bool { return st == nil }) {
		notes = append(notes, fmt.Sprintf("line %d: colors, plot_ci … have values for only %d curves: Barograph chooses the values of the other curves", p.Line, len(p.Styles)))
	}
	return notes
}

// SelectColumns chooses the columns that METviewer's SQL selects: times, the header fields that the
// question names, and the numeric columns of the line type. If the drawing reads its statistics from columns, it
// selects only these. Rows are ordered by time.
func (q *Question) SelectColumns() {
	d := cmp.Or(q.Drawing, &Drawing{})
	names := []string{"fcst_valid_beg", "fcst_init_beg", "fcst_lead"}
	for f := range record.NumFields {
		makesCurves := slices.ContainsFunc(d.Curves, func(g Group) bool { return g.Field == f.String() })
		if len(q.Header[f]) > 0 || f.String() == d.Axis || makesCurves {
			names = append(names, f.String())
		}
	}
	var needed []string // columns from which statistics or conditions are read
	objects := false    // a statistic combines objects, which object_id distinguishes
	for _, name := range d.Stats {
		if s, err := stat.Finished(name); err == nil && d.FromColumns {
			needed, objects = append(needed, s.Needs...), objects || s.ValuesFunc != nil
			for _, kind := range []byte{'n', 'b'} { // normal limits and bootstrap limits
				if low, high, ok := s.Limits(kind); ok {
					needed = append(needed, low, high)
				}
			}
		}
	}
	needed = append(needed, lists.Map(d.ValueConditions, func(c ValueCondition) string { return c.Column })...)
	for _, c := range q.Type.Columns {
		isValue := c.Kind != record.Text && (!d.FromColumns || c.Name == "total" || slices.Contains(needed, c.Name))
		if isValue || c.Name == "object_id" && objects {
			names = append(names, c.Name)
		}
	}
	if q.Type.Group != nil && !d.FromColumns {
		names = append(names, q.Type.Group.Fields...)
	}
	q.Columns, _ = Columns(q.Type, names...) // never fails: these are fields, times and columns of the type
	q.Order = slices.Clone(q.Columns[:2])
}
