package metviewer

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// PlotSpec is a file for METviewer's batch mode (mv_batch.sh).
type PlotSpec struct {
	File       string
	Connection Connection
	Databases  []string // METviewer queries each of them
	Plots      []Plot
	Warnings   []Remark // unknown elements
}

// Plot is one <plot>, including what it inherits.
type Plot struct {
	Name     string
	Line     int
	Template string // series_plot, box_plot … (without .R_tmpl)
	Deps     []Dep
	Series   [2][]Field // series1 belongs to Axis 1, series2 to Axis 2
	Fix      []Fix
	Cond     string // plot_cond: SQL
	CondLine int
	Indep    Field
	// Agg and Calc are line types (SL1L2 …) whose partial sums are aggregated (agg_stat), or computed
	// record by record (calc_stat).
	Agg, Calc  []string
	Roc        string // roc_calc: the line type, CTC or PCT
	PlotStat   string // how statistics are combined: mean, median or sum; "" = median
	EventEqual bool   // use only cases that every curve has

	BootRepl      int          // 1 or 0 = no bootstrap
	BootSeed      *uint64      // nil = any
	BootCI        string       // perc, pivotal or bca; "" = bca
	SingleRecords bool         // the bootstrap draws single records instead of blocks
	CardSums      bool         // scorecard only: agg_stat, aggregate the sums
	Alpha         float64      // ci_alpha: 1 - confidence
	EqLow, EqHigh *float64     `json:",omitempty"` // eqbound_low and eqbound_high, in standard deviations; nil = METviewer's own
	Styles        []Style      `json:",omitempty"` // of all curves in METviewer's order; Dep and Derived have parts of it
	NoVIF         bool         // variance_inflation_factor false
	Derived       [2][]Derived // listDiffSeries1 and 2

	indepOn func(date string) (Values, error) // the values of Indep, if its dates depend on another date

	Title, XLabel string
	YLabel        [2]string
	Maps          map[string]map[string]string `json:",omitempty"` // val_map: texts that replace a field's values in titles

	Unsupported []Remark // requests that Barograph ignores, or handles in another way than METviewer
}

// Dep is a variable and its statistics, on one of the two axes.
type Dep struct {
	Axis  int // 1, 2
	Var   string
	Stats []string
	Fix   []Field `json:",omitempty"` // conditions of this variable only, as METviewer wrote them in 2010
	Line  int

	Styles []Style `json:",omitempty"` // one for each curve: those of the first of Stats, then those of the second …
}

// Derived is a curve computed from two others. Each is named by the values of its series' fields,
// the variable and the statistic, separated by blanks. A group's values are replaced by Group_y1_N,
// for the N-th group of the axis.
type Derived struct {
	A, B, Op string // Op: DIFF, RATIO, SS, DIFF_SIG, SINGLE or ETB
	Line     int
	Style    Style `json:",omitempty"`
}

// Values are the values of a field: a list or a range.
type Values struct {
	List        []string
	First, Last string
}

// Field is a field of a series or the independent variable. A value "A:B" combines both, see
// Members.
type Field struct {
	Name     string
	Line     int
	Equalize bool
	Depends  string // Indep only: the field of plot_fix that determines its dates, see Plot.IndepOn
	Ticks    []Tick // Indep only: the val elements with a label or a plot_val
	Values
}

var dateTime = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`)

// Members returns the values that a value combines: the date-times in it, or else its parts between
// colons (MVUtil.buildValueList).
func Members(value string) []string {
	if dates := dateTime.FindAllString(value, -1); dates != nil {
		return dates
	}
	return strings.Split(value, ":")
}

// Tick is a value of the independent variable that the axis shows under another name or at another position.
type Tick struct {
	Value    string
	Label    string   `yaml:",omitempty"` // "" = the value
	Position *float64 `yaml:",omitempty"` // nil = that of the value
}

// IndepOn returns the values of Indep if the field that it depends on has this value. Call it only if
// Indep.Depends is not empty.
func (p *Plot) IndepOn(date string) (Values, error) { return p.indepOn(date) }

// Fix is a field of plot_fix. METviewer draws one plot for each set.
type Fix struct {
	Name     string
	Line     int
	Equalize bool
	Sets     []Values
}

// ReadPlotSpec reads a plot_spec. Errors and remarks name the line.
func ReadPlotSpec(file string) (*PlotSpec, error) { return read(file, ParsePlotSpec) }

// ParsePlotSpec is ReadPlotSpec for a text; messages contain file as its name.
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
	p := &plots{spec: s, lists: map[string]*node{}, resolved: map[string]*node{}, unresolved: map[string]*node{}, today: time.Now().UTC()}
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
			p.warn(k.line, k.name, "is not known and has no effect")
		}
	}
	if len(s.Plots) == 0 {
		return nil, &fault.Error{File: file, Line: root.line, Problem: "contains no <plot>", Cure: "see docs/reference/metviewer.md"}
	}
	slices.SortStableFunc(s.Warnings, func(a, b Remark) int { return a.Line - b.Line })
	s.Warnings = slices.Compact(s.Warnings) // inherited elements are reported twice
	return s, nil
}

// plots reads the plots of a file.
type plots struct {
	spec     *PlotSpec
	lists    map[string]*node // date_list, date_range and date_range_list, by name
	resolved map[string]*node // plots from which others may inherit, with inheritance resolved
	today    time.Time        // reference of relative dates
	p        *Plot            // the current plot

	unresolved map[string]*node // the same plots as in the file
}

func (s *plots) warn(line int, element, text string) {
	s.spec.Warnings = append(s.spec.Warnings, Remark{line, element, text})
}

func (s *plots) errorAt(line int, setting, problem, cure string) error {
	return &fault.Error{File: s.spec.File, Line: line, Setting: setting, Problem: problem, Cure: cure}
}

func (s *plots) plot(n *node) error {
	name := n.attrs["name"]
	if name != "" {
		s.unresolved[name] = n
	}
	n, err := s.resolve(n)
	if err != nil {
		return err
	}
	if name != "" {
		s.resolved[name] = n
	}
	plots := []*node{n}
	if n.child("rows") != nil {
		plots = cards(n)
	}
	for _, k := range plots {
		if n.attrs["run"] == "false" { // others inherit from it
			break
		}
		s.spec.Plots = append(s.spec.Plots, Plot{
			Name: name, Line: n.line, Template: strings.TrimSuffix(n.value("template"), ".R_tmpl"),
			PlotStat: n.value("plot_stat"), EventEqual: n.value("event_equal") == "true",
		})
		s.p = &s.spec.Plots[len(s.spec.Plots)-1]
		if err := s.fill(k); err != nil {
			return err
		}
	}
	return nil
}

// fill reads a plot whose inheritance is resolved.
func (s *plots) fill(n *node) error {
	for _, step := range []func(*node) error{s.deps, s.series, s.fix, s.indep, s.bootstrap} {
		if err := step(n); err != nil {
			return err
		}
	}
	if c := n.child("plot_cond"); c != nil {
		s.p.Cond, s.p.CondLine = c.text, c.line
	}
	for _, t := range []string{"ctc", "pct"} {
		if strings.EqualFold(n.child("roc_calc").value("roc_"+t), "true") {
			s.p.Roc = strings.ToUpper(t)
		}
	}
	tmpl := n.child("tmpl")
	s.p.Title, s.p.XLabel = tmpl.value("title"), tmpl.value("x_label")
	s.p.YLabel = [2]string{tmpl.value("y1_label"), tmpl.value("y2_label")}
	s.p.Maps = map[string]map[string]string{}
	for _, m := range tmpl.all("val_map") {
		words := map[string]string{}
		for _, pair := range m.all("pair") {
			words[pair.value("key")] = pair.value("val")
		}
		s.p.Maps[m.attrs["name"]] = words
	}
	s.derived(tmpl)
	s.styles(n)
	s.remarks(n)
	return nil
}

func (s *plots) deps(n *node) error {
	dep := n.child("dep")
	only := map[string][]Field{}
	for _, v := range dep.child("fix").all("fcst_var") {
		for _, k := range v.all("var") {
			text := &node{name: "val", text: k.text, line: k.line}
			in := &node{name: "var", line: k.line, kids: append(slices.Clip(k.kids), text)}
			if k.text == "" {
				in.kids = k.kids
			}
			values, err := s.values(in)
			if err != nil {
				return err
			}
			only[v.attrs["name"]] = append(only[v.attrs["name"]], Field{Name: nameOf(k), Line: k.line, Values: values})
		}
	}
	groups := []*node{dep}
	for _, k := range dep.list() {
		if strings.HasSuffix(k.name, "_group") { // each is a plot of its own, as METviewer wrote them in 2010
			groups = append(groups, k)
		}
	}
	for _, g := range groups {
		for _, k := range g.list() {
			axis := map[string]int{"dep1": 1, "dep2": 2}[k.name]
			if axis == 0 {
				continue
			}
			for _, v := range k.all("fcst_var") {
				d := Dep{Axis: axis, Var: v.attrs["name"], Line: v.line, Fix: only[v.attrs["name"]]}
				if d.Var == "" {
					return s.errorAt(v.line, k.name+"/fcst_var", "has no name", `write <fcst_var name="TMP">`)
				}
				d.Stats = lists.Map(v.all("stat"), func(stat *node) string { return stat.text })
				s.p.Deps = append(s.p.Deps, d)
			}
			if n.child("series"+strconv.Itoa(axis)) == nil { // early in 2010 the curves were inside dep1 and dep2
				if err := s.curves(axis, append(k.child("series").all("field"), k.all("field")...)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (s *plots) series(n *node) error {
	return cmp.Or(s.curves(1, n.child("series1").all("field")), s.curves(2, n.child("series2").all("field")))
}

// curves adds fields to the series of an axis.
func (s *plots) curves(axis int, fields []*node) error {
	all := &s.p.Series[axis-1]
	for _, f := range fields {
		v, err := s.values(f)
		if err != nil {
			return err
		}
		same := slices.IndexFunc(*all, func(o Field) bool { return o.Name == nameOf(f) })
		if same >= 0 {
			(*all)[same].List = append((*all)[same].List, v.List...)
			continue
		}
		*all = append(*all, Field{Name: nameOf(f), Line: f.line, Equalize: f.attrs["equalize"] == "true", Values: v})
	}
	return nil
}

// fix reads plot_fix, which was called agg in 2010. A set is used as a unit; a single value is a
// set. Each set is a plot.
func (s *plots) fix(n *node) error {
	for _, f := range slices.Concat(n.child("plot_fix").all("field"), n.child("agg").all("field")) {
		x := Fix{Name: nameOf(f), Line: f.line, Equalize: f.attrs["equalize"] == "true"}
		for _, k := range f.kids {
			if err := s.sets(&x, k); err != nil {
				return err
			}
		}
		s.p.Fix = append(s.p.Fix, x)
	}
	return nil
}

// sets adds the sets of an element of a fixed field.
func (s *plots) sets(x *Fix, k *node) error {
	if def := s.lists[refersTo(k)]; k.name == "date_range_list" && len(k.kids) == 0 && def != nil {
		k = def
	}
	if k.name == "date_range_list" {
		return s.ranges(x, k)
	}
	one := &node{name: k.name, line: k.line, kids: []*node{k}}
	if k.name == "set" {
		one = k
	}
	v, err := s.values(one)
	if err != nil {
		return err
	}
	if k.name == "date_list" && v.First == "" {
		for _, d := range v.List {
			x.Sets = append(x.Sets, Values{List: []string{d}})
		}
		return nil
	}
	x.Sets = append(x.Sets, v)
	return nil
}

// ranges adds the ranges of a date_range_list: each of range_length minutes, one every inc minutes
// from range_start to range_end, and the ranges that it lists explicitly.
func (s *plots) ranges(x *Fix, k *node) error {
	for _, r := range k.all("date_range") {
		if err := s.sets(x, r); err != nil {
			return err
		}
	}
	if k.child("range_start") == nil {
		return nil
	}
	first, err1 := time.Parse(time.DateTime, s.date(k.child("range_start")))
	last, err2 := time.Parse(time.DateTime, s.date(k.child("range_end")))
	length, err3 := strconv.Atoi(k.value("range_length"))
	inc, err4 := strconv.Atoi(k.value("inc"))
	minutes := (last.Unix() - first.Unix()) / 60
	if err := cmp.Or(err1, err2, err3, err4); err != nil || inc <= 0 || length < 0 || max(inc, length) > maxMinutes ||
		minutes < 0 || minutes/int64(inc) > maxDates {
		cure := "write range_start and a later range_end as 2019-01-01 00:00:00, range_length and inc as minutes, for at most %d ranges"
		return s.errorAt(k.line, "date_range_list "+strconv.Quote(k.attrs["name"]), "is not valid", fmt.Sprintf(cure, maxDates))
	}
	for t := first; !t.After(last); t = t.Add(time.Duration(inc) * time.Minute) {
		end := t.Add(time.Duration(length) * time.Minute)
		x.Sets = append(x.Sets, Values{First: t.Format(time.DateTime), Last: end.Format(time.DateTime)})
	}
	return nil
}

func (s *plots) indep(n *node) error {
	k := n.child("indep")
	if k == nil {
		return nil
	}
	v, err := s.values(k)
	s.p.Indep = Field{Name: nameOf(k), Line: k.line, Equalize: k.attrs["equalize"] == "true", Depends: k.attrs["depends"], Values: v}
	for _, v := range k.all("val") {
		t := Tick{Value: cmp.Or(v.text, v.attrs["name"]), Label: v.attrs["label"]}
		if text := v.attrs["plot_val"]; text != "" {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return s.errorAt(v.line, "indep/val: plot_val "+strconv.Quote(text), "is not a number", "write a position, e.g. 2")
			}
			t.Position = &x
		}
		if t.Label != "" || t.Position != nil {
			s.p.Indep.Ticks = append(s.p.Indep.Ticks, t)
		}
	}
	s.p.indepOn = func(date string) (Values, error) {
		on := *s
		if t, err := time.Parse(time.DateTime, date); err == nil {
			on.today = t
		}
		return on.values(k)
	}
	return err
}

// derived reads listDiffSeries1 and 2, whose names are in any letter case.
func (s *plots) derived(tmpl *node) {
	for _, k := range tmpl.list() {
		for axis := range s.p.Derived {
			if strings.EqualFold(k.name, "listdiffseries"+strconv.Itoa(axis+1)) {
				for _, c := range vector.FindAllStringSubmatch(k.text, -1) {
					parts := items(c[1])
					if len(parts) == 2 {
						parts = append(parts, "DIFF")
					}
					d := Derived{Op: strings.TrimSpace(c[1]), Line: k.line} // the code that computes it rejects an unknown operation
					if len(parts) == 3 {
						d.A, d.B, d.Op = parts[0], parts[1], parts[2]
					}
					s.p.Derived[axis] = append(s.p.Derived[axis], d)
				}
			}
		}
	}
}

var vector = regexp.MustCompile(`c\(([^()]*(?:\([^()]*\)[^()]*)*)\)`)

func nameOf(n *node) string { return NameOf(n.attrs["name"]) }

// NameOf returns the present name of a field, also for a name of 2010.
func NameOf(name string) string {
	return cmp.Or(map[string]string{
		"inithour": "init_hour", "validhour": "valid_hour", "initdate": "fcst_init_beg", "validdate": "fcst_valid_beg",
	}[name], name)
}

// refersTo is the name of a list that is defined elsewhere.
func refersTo(n *node) string { return cmp.Or(n.attrs["name"], n.attrs["id"]) }

// bootstrap reads agg_stat, calc_stat and ci_alpha.
func (s *plots) bootstrap(n *node) error {
	agg := n.child("agg_stat")
	if old := n.child("bootstrapping"); agg == nil && old != nil {
		agg = old
	} else if agg.child("boot_repl") == nil && n.child("boot_repl") != nil { // a scorecard
		agg = n
	}
	for _, k := range slices.Concat(n.child("agg_stat").list(), n.child("calc_stat").list(), n.child("revis_stat").list()) {
		how, lineType, _ := strings.Cut(k.name, "_")
		if sums := map[string]*[]string{"agg": &s.p.Agg, "calc": &s.p.Calc}[how]; sums != nil && strings.EqualFold(k.text, "true") && lineType != "stat" {
			*sums = append(*sums, strings.ToUpper(lineType))
		}
	}
	if len(s.p.Agg) > 0 && len(s.p.Calc) > 0 {
		s.warn(n.line, "calc_stat", "has no effect, because the plot also has agg_stat")
	}
	s.p.BootCI, s.p.SingleRecords = agg.value("boot_ci"), strings.EqualFold(agg.value("circular_block_bootstrap"), "false")
	if known := []string{"perc", "pivotal", "bca"}; s.p.BootCI != "" && !slices.Contains(known, s.p.BootCI) {
		s.warn(n.line, "boot_ci", strconv.Quote(s.p.BootCI)+" is not known"+fault.Meant(s.p.BootCI, known)+": perc is computed")
		s.p.BootCI = "perc"
	}
	for _, k := range n.kids { // METviewer writes varianceInflationFactor
		if strings.EqualFold(strings.ReplaceAll(k.name, "_", ""), "varianceinflationfactor") {
			s.p.NoVIF = k.text != "true"
		}
	}
	s.p.CardSums = n.value("agg_stat") == "true"
	if k := agg.child("boot_repl"); k != nil && k.text != "" {
		v, err := strconv.Atoi(k.text)
		if err != nil {
			s.warn(k.line, "boot_repl", strconv.Quote(k.text)+" is not a number and counts as 1, no bootstrap, as in METviewer")
		}
		if v < 0 || v > 1_000_000 {
			problem := strconv.Quote(k.text) + " is not a number of replicates from 0 to 1000000"
			return s.errorAt(k.line, "boot_repl", problem, "write 1 for no bootstrap, or e.g. 1000")
		}
		s.p.BootRepl = v
	}
	if k := agg.child("boot_random_seed"); k != nil && k.text != "" && k.text != "NA" {
		v, err := strconv.ParseUint(k.text, 10, 64)
		if err != nil {
			return s.errorAt(k.line, "boot_random_seed", strconv.Quote(k.text)+" is not a seed", "write a whole number, or nothing")
		}
		s.p.BootSeed = &v
	}
	s.p.Alpha = 0.05
	if k := n.child("ci_alpha"); k != nil && k.text != "" {
		v, err := strconv.ParseFloat(k.text, 64)
		if err != nil || !(v > 0 && v < 1) {
			return s.errorAt(k.line, "ci_alpha", strconv.Quote(k.text)+" is not between 0 and 1", "write 0.05 for 95 % intervals")
		}
		s.p.Alpha = v
	}
	return nil
}
