// Package site writes one static page over the results of many run folders: several studies, machines, engines and
// dates. The page needs no server and sends no request. It compares only results for the same data, and ranks only
// proven ones.
//
// It reads folders by package run, and takes the verdicts and times of a study of met from package report. Test with:
// go test ./results/report/site
package site

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

// Site is the content of the page. An index, such as Run.Machine, refers to a list of Site.
type Site struct {
	Version  string            `json:"version"`
	Machines []string          `json:"machines"`
	Runs     []Run             `json:"runs"`
	Groups   []*Group          `json:"groups"`
	Configs  []Config          `json:"configurations"`
	Results  []Result          `json:"results"`
	Colors   map[string]string `json:"colors"` // by engine, those of all reports
	Words    []string          `json:"words"`  // texts that many results share
	TextSize int               `json:"text_size"`
	// texts are queries with their plans, and settings. The page contains them compressed.
	texts []string

	wordIndex, textIndex map[string]int  // by text, in Words and in texts
	folders              map[string]bool // that were read, by absolute path
}

// Run is a run folder.
type Run struct {
	ID       string   `json:"id"`
	Folder   string   `json:"folder"`
	Study    string   `json:"study"`
	Machine  int      `json:"machine"`
	Started  string   `json:"started"`
	Version  string   `json:"version"`
	Finished bool     `json:"finished"`
	Notes    []string `json:"notes,omitempty"` // warnings, and engines that were skipped
}

// Group is a set of questions about the same data. Only results of one group are compared.
type Group struct {
	Key       string     `json:"key"`
	Study     string     `json:"study"`
	Name      string     `json:"name"`
	Load      string     `json:"load,omitempty"` // what the load time of its configurations measures; "" = none is known
	Questions []Question `json:"questions"`

	index map[string]int
}

// Question is a column of the table.
type Question struct {
	Name   string `json:"name"`
	Title  string `json:"title,omitempty"`
	Unit   string `json:"unit"`
	More   bool   `json:"more,omitempty"` // a larger value is better
	Weight int    `json:"weight"`
	Runs   []int  `json:"runs"` // the runs with this question
}

// Config is a configuration of a run: a row of the table.
type Config struct {
	Run      int     `json:"run"`
	Group    int     `json:"group"`
	Engine   string  `json:"engine"`
	Design   string  `json:"design,omitempty"`
	Flavour  string  `json:"flavour,omitempty"`
	More     string  `json:"more,omitempty"` // placement, nodes
	Product  string  `json:"product,omitempty"`
	Place    string  `json:"place,omitempty"`
	Load     float64 `json:"load,omitempty"` // seconds; 0 = not measured
	Bytes    int64   `json:"bytes,omitempty"`
	Unranked string  `json:"unranked,omitempty"` // why it is not ranked; "" = it is
	Text     int     `json:"text"`               // index of its settings in Site.texts; -1 = not recorded
}

// Result is the result of a configuration for a question. Value is NaN unless it is proven.
type Result struct {
	Config, Question   int
	Value, Low, High   float64
	N                  int
	Verdict, Proof     string
	Problem, Unranked  string
	Text               int // index of query and plan in Site.texts; -1 = not recorded
	verdict, proof     int // indices of Verdict and Proof in Site.Words, set at the end of Read
	problem, exclusion int // likewise of Problem and Unranked
}

// MarshalJSON writes a short array, because a page has thousands of results.
func (r Result) MarshalJSON() ([]byte, error) {
	number := func(v float64) any {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return json.Number(strconv.FormatFloat(v, 'g', 4, 64))
	}
	return json.Marshal([]any{
		r.Config, r.Question, number(r.Value), number(r.Low), number(r.High), r.N,
		r.verdict, r.proof, r.problem, r.exclusion, r.Text,
	})
}

// Read reads run folders. A folder may contain the folders of further runs, such as the sizes of a growth study.
func Read(dirs []string) (*Site, error) {
	s := &Site{
		Version: build.Version(), Colors: map[string]string{}, folders: map[string]bool{},
		wordIndex: map[string]int{}, textIndex: map[string]int{},
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			entries = nil // run.Read reports the error below
		}
		subfolders := 0
		for _, e := range entries {
			sub := filepath.Join(dir, e.Name())
			if _, err := os.Stat(filepath.Join(sub, run.DescriptionFile)); e.IsDir() && err == nil {
				subfolders++
				if err := s.add(sub, filepath.Base(filepath.Clean(dir))+"/"+e.Name()); err != nil {
					return nil, err
				}
			}
		}
		if _, err := os.Stat(filepath.Join(dir, run.DescriptionFile)); err == nil || subfolders == 0 {
			if err := s.add(dir, filepath.Base(filepath.Clean(dir))); err != nil {
				return nil, err
			}
		}
	}
	s.excludeWeakerProofs()
	for i := range s.Results {
		r := &s.Results[i]
		r.verdict, r.proof = s.word(r.Verdict), s.word(r.Proof)
		r.problem, r.exclusion = s.word(r.Problem), s.word(r.Unranked)
	}
	return s, nil
}

// word returns the index of a text in Words.
func (s *Site) word(text string) int {
	i, ok := s.wordIndex[text]
	if !ok {
		i = len(s.Words)
		s.wordIndex[text], s.Words = i, append(s.Words, text)
	}
	return i
}

// text returns the index of a text in texts; -1 for no text.
func (s *Site) text(text string) int {
	if text == "" {
		return -1
	}
	i, ok := s.textIndex[text]
	if !ok {
		i = len(s.texts)
		s.textIndex[text], s.texts = i, append(s.texts, text)
	}
	return i
}

// excludeWeakerProofs excludes results that are proven by keys, counts or a digest if another result of the same
// question was compared value by value. Package report does the same within a run.
func (s *Site) excludeWeakerProofs() {
	isWeaker := func(r *Result) bool {
		return r.Proof == string(answer.KeysAndCounts) || r.Proof == string(answer.DigestOnly)
	}
	hasStronger := map[[2]int]bool{} // by group and question
	question := func(r *Result) [2]int { return [2]int{s.Configs[r.Config].Group, r.Question} }
	for i := range s.Results {
		if r := &s.Results[i]; !math.IsNaN(r.Value) && !isWeaker(r) && s.Configs[r.Config].Unranked == "" {
			hasStronger[question(r)] = true
		}
	}
	for i := range s.Results {
		if r := &s.Results[i]; hasStronger[question(r)] && isWeaker(r) && r.Unranked == "" {
			r.Unranked = "its results are proven only by " + r.Proof
		}
	}
}

// folder is a run folder that is added to a site.
type folder struct {
	*Site
	*run.Run
	study    study
	runIndex int // in Runs
	plans    map[run.Cell]string
	configs  map[string]int // index in Configs, by their names
}

// add adds a run folder; name is its name on the page.
func (s *Site) add(dir, name string) error {
	full, err := filepath.Abs(dir)
	if err != nil || s.folders[full] {
		return err
	}
	s.folders[full] = true
	var sum *report.Summary
	r, samples, err := run.Read(dir)
	if err != nil {
		return err
	}
	if r.Workload == "met" {
		rep, err := report.Open(dir)
		if err != nil {
			return err
		}
		if x, ok := rep.Data["summary"].(report.Summary); ok {
			sum = &x
		}
	}
	plans, err := run.ReadPlans(dir)
	if err != nil {
		return err
	}
	f := &folder{Site: s, Run: r, study: studyOf(r), runIndex: len(s.Runs)}
	f.plans, f.configs = map[run.Cell]string{}, map[string]int{}
	for _, p := range plans {
		f.plans[p.Cell] = p.Text
	}
	f.addRun(name)
	if sum != nil {
		f.addSummary(sum)
	} else {
		f.addSamples(samples)
	}
	return nil
}

// addRun adds the run to the list.
func (f *folder) addRun(name string) {
	m := f.Machine
	description := fmt.Sprintf("%s, %s, %.0f GB, %s",
		cmp.Or(m.CPU, "unknown processor"), run.CountOf(m.Threads, "thread"), float64(m.Memory)/1e9, cmp.Or(m.OS, "unknown system"))
	machine := slices.Index(f.Machines, description)
	if machine < 0 {
		machine, f.Machines = len(f.Machines), append(f.Machines, description)
	}
	notes := append(slices.Clone(f.Warnings), lists.Map(f.Skipped, fault.Skip.String)...)
	f.Runs = append(f.Runs, Run{
		ID: f.ID, Folder: name, Study: f.study.name, Machine: machine,
		Started: f.Started.UTC().Format("2006-01-02 15:04"), Version: f.Run.Version,
		Finished: !f.Finished.IsZero(), Notes: notes,
	})
}

// group finds or adds the group of a phase of the run. Its key identifies the data.
func (f *folder) group(phase run.Phase) int {
	key, name := f.study.data(f.Run)
	key = f.study.name + "/" + key
	if phase == run.Cold {
		key, name = key+"/cold", name+" · cold starts"
	}
	if i := slices.IndexFunc(f.Groups, func(g *Group) bool { return g.Key == key }); i >= 0 {
		return i
	}
	f.Groups = append(f.Groups, &Group{Key: key, Study: f.study.name, Name: name, index: map[string]int{}})
	return len(f.Groups) - 1
}

// question finds or adds a question of a group; key identifies it.
func (f *folder) question(group int, key string, q Question) int {
	g := f.Groups[group]
	key, name := key+"|"+q.Unit, q.Name
	i, ok := g.index[key]
	if !ok {
		i = len(g.Questions)
		isTaken := func(x Question) bool { return x.Name == q.Name } // by a question with another key
		for n := 2; slices.ContainsFunc(g.Questions, isTaken); n++ {
			q.Name = fmt.Sprintf("%s (%d)", name, n)
		}
		g.index[key], g.Questions = i, append(g.Questions, q)
	}
	x := &g.Questions[i]
	if x.Weight != q.Weight { // runs that weigh a question differently have no common weight
		x.Weight = 1
	}
	if !slices.Contains(x.Runs, f.runIndex) {
		x.Runs = append(x.Runs, f.runIndex)
	}
	return i
}

// config finds or adds a configuration of the run. more is a key that distinguishes configurations of one engine,
// design and flavour; label describes the same for people.
func (f *folder) config(group int, engine, design, flavour, more, label string, load float64, bytes int64) int {
	key := strings.Join([]string{strconv.Itoa(group), engine, design, flavour, more}, "\x00")
	if i, ok := f.configs[key]; ok {
		return i
	}
	a := f.archive(engine, design)
	c := Config{
		Run: f.runIndex, Group: group, Engine: engine, Design: design, Flavour: flavour, More: label,
		Product: strings.TrimSpace(a.Product + " " + a.Version), Place: a.Place,
		Load: cmp.Or(load, a.Load.Seconds()), Bytes: cmp.Or(bytes, a.Bytes), Unranked: a.Unranked,
		Text: f.text(settings(a)),
	}
	if a.Place == "memory" && c.Unranked == "" {
		c.Unranked = "client overhead: it answers from the client's memory"
	}
	if c.Load > 0 {
		f.Groups[group].Load = f.study.load
	}
	if f.Colors[engine] == "" {
		f.Colors[engine] = plot.ColorOf(engine)
	}
	f.configs[key], f.Configs = len(f.Configs), append(f.Configs, c)
	return f.configs[key]
}

// archive finds the archive of a configuration by its engine and design. Only a study of met has an archive for each
// design. In other studies an archive of the engine without this design is the archive, too.
func (f *folder) archive(engine, design string) *run.Archive {
	var ofEngine *run.Archive
	for i := range f.Archives {
		a := &f.Archives[i]
		switch {
		case a.Engine != engine:
		case a.Design == design:
			return a
		case ofEngine == nil && (a.Design == "" || f.study.name != "met"):
			ofEngine = a
		}
	}
	return cmp.Or(ofEngine, &run.Archive{})
}

// settings returns an archive's settings as lines.
func settings(a *run.Archive) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s = %s\n", name, value)
		}
	}
	line("license", a.License)
	line("an acknowledged write is", a.Acknowledged)
	if s := a.Server; s != nil {
		line("server", fmt.Sprintf("%s, profile %s", run.CountOf(s.Nodes, "node"), s.Profile))
		for _, k := range slices.Sorted(maps.Keys(s.Settings)) {
			line("profile: "+k, s.Settings[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(a.Settings)) {
		line(k, a.Settings[k])
	}
	if t := a.Table; t != nil {
		line("table", cmp.Or(t.Definition, t.DDL))
	}
	return b.String()
}

// addSummary adds the results of a study of met.
func (f *folder) addSummary(sum *report.Summary) {
	for _, c := range sum.Cases {
		var described run.Case // empty if run.json does not list the case
		if i := slices.IndexFunc(f.Cases, func(k run.Case) bool { return k.Name == c.Name }); i >= 0 {
			described = f.Cases[i]
		}
		key := c.Name + "|" + described.Digest
		q := Question{Name: c.Name, Title: c.Title, Unit: "ms", Weight: max(described.Weight, 1)}
		for _, k := range c.Cells {
			plan := f.plans[run.MetCell(k.Engine, k.Design, k.Case, k.Flavour)]
			r := Result{Verdict: k.Verdict, Proof: k.Proof, Problem: k.Problem, Unranked: k.Unranked, Text: f.text(plan)}
			add := func(phase run.Phase, n int, value, low, high report.Number) {
				g := f.group(phase)
				r.Config = f.config(g, k.Engine, k.Design, k.Flavour, "", "", 0, 0)
				r.Question = f.question(g, key, q)
				r.N, r.Value, r.Low, r.High = n, float64(value), float64(low), float64(high)
				if r.Unranked == f.Configs[r.Config].Unranked {
					r.Unranked = ""
				}
				f.Results = append(f.Results, r)
			}
			none := report.Number(math.NaN())
			if t := k.Times; t == nil {
				add(run.Warm, 0, none, none, none)
			} else {
				add(run.Warm, t.N, t.Median, t.Lo, t.Hi)
				if t.ColdN > 0 {
					add(run.Cold, t.ColdN, t.Cold, t.ColdLo, t.ColdHi)
				}
			}
		}
	}
}

// outcome combines the samples of a cell in one phase.
type outcome struct {
	cell   run.Cell
	phase  run.Phase
	worst  run.Sample // the first one with the worst verdict
	values []float64
	unit   string
	more   bool // a larger value is better
}

// severity orders verdicts, the best first. An unknown verdict proves nothing, so it is worse than a correct one.
func severity(v run.Verdict) int {
	order := []run.Verdict{run.Equal, run.EqualToRounding, run.Undetermined, "", run.Failed, run.Wrong}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return slices.Index(order, "")
}

// addSamples adds the results of every other study.
func (f *folder) addSamples(samples []run.Sample) {
	type cellPhase struct {
		run.Cell
		run.Phase
	}
	var all []*outcome
	index := map[cellPhase]*outcome{}
	for i := range samples {
		x := &samples[i]
		phase := cmp.Or(x.Phase, run.Warm)
		o := index[cellPhase{x.Cell, phase}]
		if o == nil {
			o = &outcome{cell: x.Cell, phase: phase, worst: *x}
			_, o.unit, o.more = valueOf(x.Cell, nil)
			index[cellPhase{x.Cell, phase}], all = o, append(all, o)
		}
		if severity(x.Verdict) > severity(o.worst.Verdict) {
			o.worst = *x
		}
		if m := x.Measured(); m != nil {
			if v, _, _ := valueOf(x.Cell, m); v > 0 {
				o.values = append(o.values, v)
			}
		}
	}
	for _, o := range all {
		f.addOutcome(o)
	}
}

// addOutcome adds the result of a cell. A wrong or failed one has no value, whatever the folder contains.
func (f *folder) addOutcome(o *outcome) {
	g := f.group(o.phase)
	key, name := f.study.question(o.cell)
	design, flavour, more, label := f.study.config(o.cell)
	load, bytes := costOf(f.Run, o.cell)
	title, identity := ownQuestion(f.Run, o.cell)
	question := Question{Name: name, Title: title, Unit: o.unit, More: o.more, Weight: 1}
	r := Result{
		Config:   f.config(g, o.cell.Engine, design, flavour, more, label, load, bytes),
		Question: f.question(g, key+"|"+identity, question),
		Verdict:  string(o.worst.Verdict), Proof: string(o.worst.Proof), Problem: o.worst.Problem,
		N: len(o.values), Value: math.NaN(), Low: math.NaN(), High: math.NaN(),
		Text: f.text(cmp.Or(f.plans[o.cell], queryOf(f.Run, o.cell))),
	}
	switch {
	case !o.worst.Verdict.IsCorrect():
		r.Proof, r.N = "", 0
	case len(o.values) == 0:
		r.Verdict = "not timed"
	default:
		e := measure.MedianEstimate(o.values)
		r.Value, r.Low, r.High = e.Value, e.Low, e.High
	}
	f.Results = append(f.Results, r)
}
