package metviewer

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/fault"
)

// PlotSpec is a file for METviewer's batch mode (mv_batch.sh).
type PlotSpec struct {
	File       string
	Connection Connection
	Databases  []string // METviewer asks each of them
	Plots      []Plot
	Warnings   []Remark // elements that are not known
}

// Plot is one <plot>, with what it inherits filled in.
type Plot struct {
	Name       string
	Line       int
	Template   string // series_plot, box_plot … (without .R_tmpl)
	Deps       []Dep
	Series     [2][]Field // series1 goes with Axis 1, series2 with Axis 2
	Fix        []Fix
	Cond       string // plot_cond: SQL
	CondLine   int
	Indep      Field
	Agg, Calc  []string // line types whose partial sums are aggregated (agg_stat), or computed record by record (calc_stat): SL1L2 …
	PlotStat   string   // mean, median or sum, of statistics; "" = median
	EventEqual bool     // only cases that every curve has

	BootRepl int     // 1 or 0 = no bootstrap
	BootSeed *uint64 // nil = any
	Alpha    float64 // ci_alpha: 1 - confidence

	Title, XLabel string
	YLabel        [2]string

	Unsupported []Remark // asks for something that is not drawn or not computed so
}

// Dep is a variable and its statistics, on one of the two axes.
type Dep struct {
	Axis  int // 1, 2
	Var   string
	Stats []string
	Line  int
}

// Values are the values of a field: a list, or all between two.
type Values struct {
	List        []string
	First, Last string
}

// Field is a field of a series or the independent variable. A value "A,B" of a
// series stands for one curve of both.
type Field struct {
	Name     string
	Line     int
	Equalize bool
	Values
}

// Fix is a field of plot_fix. METviewer draws one plot for each set.
type Fix struct {
	Name     string
	Line     int
	Equalize bool
	Sets     []Values
}

// ReadPlotSpec reads a plot_spec. Errors and remarks name the line.
func ReadPlotSpec(file string) (*PlotSpec, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	return ParsePlotSpec(file, text)
}

// ParsePlotSpec is ReadPlotSpec of a text; file stands in its messages.
func ParsePlotSpec(file string, text []byte) (*PlotSpec, error) {
	root, err := parse(file, text, "plot_spec")
	if err != nil {
		return nil, err
	}
	s := &PlotSpec{File: file, Connection: connection(root.child("connection"))}
	for d := range strings.SplitSeq(s.Connection.Database, ",") {
		if d = strings.TrimSpace(d); d != "" {
			s.Databases = append(s.Databases, d)
		}
	}
	p := &plots{spec: s, lists: map[string]*node{}, named: map[string]*node{}}
	for _, k := range root.kids {
		switch k.name {
		case "connection", "rscript", "folders":
		case "date_list", "date_range", "date_range_list":
			p.lists[k.attrs["name"]] = k
		case "plot":
			if err := p.plot(k); err != nil {
				return nil, err
			}
		default:
			s.Warnings = append(s.Warnings, Remark{k.line, k.name, "is not known and has no effect"})
		}
	}
	if len(s.Plots) == 0 {
		return nil, &fault.Error{File: file, Line: root.line, Problem: "holds no <plot>", Cure: "see docs/metviewer.md"}
	}
	slices.SortStableFunc(s.Warnings, func(a, b Remark) int { return a.Line - b.Line })
	s.Warnings = slices.Compact(s.Warnings) // what is inherited is met twice
	return s, nil
}

// plots reads the plots of a file.
type plots struct {
	spec  *PlotSpec
	lists map[string]*node // date_list, date_range and date_range_list, by name
	named map[string]*node // plots that others may inherit from, inheritance resolved
	p     *Plot            // the plot that is being read
}

func (s *plots) bad(line int, setting, problem, cure string) error {
	return &fault.Error{File: s.spec.File, Line: line, Setting: setting, Problem: problem, Cure: cure}
}

func (s *plots) plot(n *node) error {
	if from := n.attrs["inherits"]; from != "" {
		base := s.named[from]
		if base == nil {
			return s.bad(n.line, "plot, inherits="+strconv.Quote(from), "is no plot above this one", "name a plot that stands before it")
		}
		n = inherit(base, n)
	}
	if name := n.attrs["name"]; name != "" {
		s.named[name] = n
	}
	s.spec.Plots = append(s.spec.Plots, Plot{
		Name: n.attrs["name"], Line: n.line, Template: strings.TrimSuffix(n.value("template"), ".R_tmpl"),
		PlotStat: n.value("plot_stat"), EventEqual: n.value("event_equal") == "true",
	})
	s.p = &s.spec.Plots[len(s.spec.Plots)-1]
	for _, step := range []func(*node) error{s.deps, s.series, s.fix, s.indep, s.bootstrap} {
		if err := step(n); err != nil {
			return err
		}
	}
	if c := n.child("plot_cond"); c != nil {
		s.p.Cond, s.p.CondLine = c.text, c.line
	}
	tmpl := n.child("tmpl")
	s.p.Title, s.p.XLabel = tmpl.value("title"), tmpl.value("x_label")
	s.p.YLabel = [2]string{tmpl.value("y1_label"), tmpl.value("y2_label")}
	s.remarks(n)
	return nil
}

// inherit fills what a plot does not say from the one that it inherits from.
// Fields of series, of plot_fix, agg_stat, calc_stat and tmpl are replaced one
// by one (<remove name=…/> and <clear/> take them away), all else as a whole.
func inherit(base, n *node) *node {
	out := &node{name: n.name, attrs: n.attrs, line: n.line}
	for _, b := range base.kids {
		if n.child(b.name) == nil {
			out.kids = append(out.kids, b)
		}
	}
	for _, k := range n.kids {
		switch b := base.child(k.name); {
		case b == nil:
		case k.name == "series1", k.name == "series2", k.name == "plot_fix", k.name == "agg_stat", k.name == "calc_stat", k.name == "tmpl":
			k = fields(b, k)
		}
		out.kids = append(out.kids, k)
	}
	return out
}

// fields merges two containers of fields.
func fields(base, n *node) *node {
	out := &node{name: n.name, attrs: n.attrs, text: n.text, line: n.line}
	gone := func(b *node) bool {
		return slices.ContainsFunc(n.kids, func(k *node) bool {
			return k.name == "clear" || (k.name == "remove" || k.name == b.name) && k.attrs["name"] == b.attrs["name"]
		})
	}
	for _, b := range base.kids {
		if !gone(b) {
			out.kids = append(out.kids, b)
		}
	}
	for _, k := range n.kids {
		if k.name != "clear" && k.name != "remove" {
			out.kids = append(out.kids, k)
		}
	}
	return out
}

func (s *plots) deps(n *node) error {
	for axis, name := range []string{"dep1", "dep2"} {
		for _, v := range n.child("dep").child(name).all("fcst_var") {
			d := Dep{Axis: axis + 1, Var: v.attrs["name"], Line: v.line}
			if d.Var == "" {
				return s.bad(v.line, name+"/fcst_var", "has no name", `write <fcst_var name="TMP">`)
			}
			for _, k := range v.all("stat") {
				d.Stats = append(d.Stats, k.text)
			}
			s.p.Deps = append(s.p.Deps, d)
		}
	}
	return nil
}

func (s *plots) series(n *node) error {
	for i, name := range []string{"series1", "series2"} {
		for _, f := range n.child(name).all("field") {
			v, err := s.values(f)
			if err != nil {
				return err
			}
			s.p.Series[i] = append(s.p.Series[i], Field{Name: f.attrs["name"], Line: f.line, Equalize: f.attrs["equalize"] == "true", Values: v})
		}
	}
	return nil
}

// fix reads plot_fix: a set is used as a whole, a value alone is a set of its own.
func (s *plots) fix(n *node) error {
	for _, f := range n.child("plot_fix").all("field") {
		x := Fix{Name: f.attrs["name"], Line: f.line, Equalize: f.attrs["equalize"] == "true"}
		for _, k := range f.kids {
			one := &node{name: k.name, line: k.line, kids: []*node{k}}
			if k.name == "set" {
				one = k
			}
			v, err := s.values(one)
			if err != nil {
				return err
			}
			x.Sets = append(x.Sets, v)
		}
		s.p.Fix = append(s.p.Fix, x)
	}
	return nil
}

func (s *plots) indep(n *node) error {
	k := n.child("indep")
	if k == nil {
		return nil
	}
	v, err := s.values(k)
	s.p.Indep = Field{Name: k.attrs["name"], Line: k.line, Equalize: k.attrs["equalize"] == "true", Values: v}
	return err
}

// values reads val, date_list and date_range, in place or by name.
func (s *plots) values(n *node) (Values, error) {
	var v Values
	for _, k := range n.kids {
		at := k
		if k.name != "val" && len(k.kids) == 0 {
			if at = s.lists[k.attrs["name"]]; at == nil || at.name != k.name {
				return v, s.bad(k.line, k.name+" "+strconv.Quote(k.attrs["name"]), "is not there", "write it below plot_spec, before the plot")
			}
		}
		switch k.name {
		case "val":
			text := k.text
			if text == "" {
				text = k.attrs["name"]
			}
			if first, last, ok := between(text); ok {
				v.First, v.Last = first, last
				continue
			}
			v.List = append(v.List, text)
		case "date_list":
			ds, err := dates(s.spec.File, at, false)
			if err != nil {
				return v, err
			}
			v.List = append(v.List, ds...)
		case "date_range":
			if v.First, v.Last = at.value("start"), at.value("end"); v.First == "" || v.Last == "" {
				return v, s.bad(at.line, "date_range", "lacks a date for start or end", "write both as 2019-01-01 00:00:00")
			}
		case "date_range_list":
			return v, s.bad(k.line, k.name+" "+strconv.Quote(at.attrs["name"]), "asks for one plot of each of its ranges, which is not done", "write a plot for each range, with a date_range")
		default:
			return v, s.bad(k.line, n.name+"/"+k.name, "is not understood", "use val, date_list or date_range")
		}
	}
	if v.First != "" && len(v.List) > 0 {
		return v, s.bad(n.line, n.name, "has both values and a range", "use one of them")
	}
	return v, nil
}

// between reads METviewer's BETWEEN 'a' AND 'b'.
func between(text string) (first, last string, ok bool) {
	rest, ok := strings.CutPrefix(text, "BETWEEN ")
	if !ok {
		return "", "", false
	}
	first, last, ok = strings.Cut(rest, " AND ")
	return strings.Trim(first, " '"), strings.Trim(last, " '"), ok
}

// bootstrap reads agg_stat, calc_stat and ci_alpha.
func (s *plots) bootstrap(n *node) error {
	agg := n.child("agg_stat")
	for _, k := range agg.list() {
		if t, ok := strings.CutPrefix(k.name, "agg_"); ok && k.text == "true" && t != "stat" {
			s.p.Agg = append(s.p.Agg, strings.ToUpper(t))
		}
	}
	for _, k := range n.child("calc_stat").list() {
		if t, ok := strings.CutPrefix(k.name, "calc_"); ok && k.text == "true" {
			s.p.Calc = append(s.p.Calc, strings.ToUpper(t))
		}
	}
	if k := agg.child("boot_repl"); k != nil && k.text != "" {
		v, err := strconv.Atoi(k.text)
		if err != nil || v < 0 || v > 1_000_000 {
			return s.bad(k.line, "boot_repl", strconv.Quote(k.text)+" is no number of replicates", "write 1 for no bootstrap, or e.g. 1000")
		}
		s.p.BootRepl = v
	}
	if k := agg.child("boot_random_seed"); k != nil && k.text != "" {
		v, err := strconv.ParseUint(k.text, 10, 64)
		if err != nil {
			return s.bad(k.line, "boot_random_seed", strconv.Quote(k.text)+" is no seed", "write a whole number, or nothing for any")
		}
		s.p.BootSeed = &v
	}
	s.p.Alpha = 0.05
	if k := n.child("ci_alpha"); k != nil && k.text != "" {
		v, err := strconv.ParseFloat(k.text, 64)
		if err != nil || v <= 0 || v >= 1 {
			return s.bad(k.line, "ci_alpha", strconv.Quote(k.text)+" is not between 0 and 1", "write 0.05 for intervals of 95 %")
		}
		s.p.Alpha = v
	}
	return nil
}

// list are the children, also of nil.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.kids
}
