package advise

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Criterion is what choices are held against one another in.
type Criterion string

// The criteria. In each less is better.
const (
	Questions Criterion = "questions"   // time of a question of the mix, s
	FullLoad  Criterion = "full load"   // of all the data, s
	NextLoad  Criterion = "next load"   // of one more copy of the data into the largest archive that was studied, s
	Disk      Criterion = "disk"        // bytes
	Growth    Criterion = "growth"      // what Far times the data do to the time of a question, as a factor
	Recovery  Criterion = "killed node" // longest time without a success, s
)

// Criteria are all of them.
func Criteria() []Criterion {
	return []Criterion{Questions, FullLoad, NextLoad, Disk, Growth, Recovery}
}

// Weights say how much each thing matters: ask, load, size, growth, recover.
type Weights map[string]float64

// names are those of weights, in the order in which they are shown.
func names() []string { return []string{"ask", "load", "size", "growth", "recover"} }

// Defaults are the weights of an archive that is asked all day and loaded at night.
func Defaults() Weights {
	return Weights{"ask": 5, "load": 2, "size": 1, "growth": 2, "recover": 1}
}

// String prints them as Set reads them.
func (w Weights) String() string {
	var out []string
	for _, n := range names() {
		out = append(out, n+"="+strconv.FormatFloat(w[n], 'g', -1, 64))
	}
	return strings.Join(out, ",")
}

// Type is what a flag of weights takes.
func (w Weights) Type() string { return "weights" }

// Set changes those that a text names: ask=5,load=0.
func (w Weights) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		v, err := strconv.ParseFloat(number, 64)
		if !slices.Contains(names(), name) {
			return fault.Unknown("weight", name, names())
		}
		if err != nil || !(v >= 0 && v <= 1e6) {
			return fmt.Errorf("%q is not a weight from 0 to 1000000; write for example %s=2", part, name)
		}
		w[name] = v
	}
	return nil
}

// Advice is which choice serves the weights.
type Advice struct {
	Weights Weights               `json:"weights"`
	Counted map[Criterion]float64 `json:"counted"` // what of the weights counts here, by criterion
	// Missing are the criteria that have a weight and were measured for some choices only. They do not count: a
	// configuration whose load was not measured, since its archive existed before, is neither the worst nor the best.
	Missing []Criterion `json:"missing,omitempty"`
	Choices []Choice    `json:"choices"` // the advised one first, those that are none last
	// Tied is how many of the first choices the measurements cannot tell apart; of
	// these the one that needs least to run is advised. 1 = the first is the best.
	Tied    int      `json:"tied"`
	Changes []Change `json:"changes"`
	Far     int      `json:"far"` // the choice that Far times the data make the best; −1 = growth is not known
}

// Choice is an archive in an engine, and the fastest way of asking it.
type Choice struct {
	Engine  string                         `json:"engine"`
	Design  string                         `json:"design"`
	Flavour string                         `json:"flavour"`
	Figures map[Criterion]measure.Estimate `json:"figures"` // what is not there was not measured
	Score   measure.Estimate               `json:"score"`   // weighted geometric mean of the ratios to the best of each criterion: 1 = the best in all
	Struck  string                         `json:"struck,omitempty"`
	Archive run.Archive                    `json:"archive"`

	logs map[Criterion]float64 // of the ratios, with what is counted where nothing was measured
}

// Change is a weight that changes the advice: so many times as much of it, or as
// little, makes another choice the best.
type Change struct {
	Weight string  `json:"weight"` // ask, load …
	Factor float64 `json:"factor"`
	To     int     `json:"to"` // in Choices
}

// of is the weight by which a criterion counts.
func (by Criterion) of() string {
	switch by {
	case Questions:
		return "ask"
	case FullLoad, NextLoad:
		return "load"
	case Disk:
		return "size"
	case Growth:
		return "growth"
	}
	return "recover"
}

// Advise chooses.
func (s *Study) Advise(w Weights) *Advice {
	a := &Advice{Weights: w, Counted: map[Criterion]float64{}, Far: -1}
	for _, x := range s.Sizes[0].Archives {
		if x.Place != "memory" && x.Unranked == "" {
			a.Choices = append(a.Choices, s.choice(x, w))
		}
	}
	for _, by := range Criteria() {
		switch v, n := w[by.of()], len(a.Without(by)); {
		case v <= 0 || n == a.eligible():
		case n > 0:
			a.Missing = append(a.Missing, by)
		default:
			a.Counted[by] = v
		}
	}
	if a.Counted[FullLoad] > 0 && a.Counted[NextLoad] > 0 {
		a.Counted[FullLoad], a.Counted[NextLoad] = w["load"]/2, w["load"]/2
	}
	a.score()
	a.order()
	return a
}

// choice is an archive as far as it was measured.
func (s *Study) choice(x run.Archive, w Weights) Choice {
	c := Choice{Engine: x.Engine, Design: x.Design, Archive: x, Figures: map[Criterion]measure.Estimate{}}
	base, last := &s.Sizes[0], &s.Sizes[len(s.Sizes)-1]
	if c.Struck = "its data are incomplete"; !x.Complete {
		return c
	}
	c.Struck = "no query was run on it"
	for _, flavour := range base.flavours(x) {
		mix, _, why := base.mix(x.Engine, x.Design, flavour)
		best, some := c.Figures[Questions]
		switch {
		case why != "" && !some:
			c.Struck = "no flavour gave the correct result in every case: " + why
		case why == "" && (!some || mix.Value < best.Value):
			c.Figures[Questions], c.Flavour, c.Struck = mix, flavour, ""
		}
	}
	if c.Struck != "" {
		return c
	}
	c.figure(FullLoad, x.Load.Seconds())
	c.figure(Disk, float64(x.Bytes))
	if before := len(s.Sizes) - 2; before >= 0 {
		for _, y := range last.Archives {
			if y.Engine == x.Engine && y.Design == x.Design && y.Complete {
				c.figure(NextLoad, y.Load.Seconds()/float64(last.Copies-s.Sizes[before].Copies))
			}
		}
		if g, known := s.growth(c.Engine, c.Design, c.Flavour); known {
			c.Figures[Growth] = g
		}
	}
	if w["recover"] > 0 {
		c.kills(s.Kills)
	}
	return c
}

// figure notes what was measured once.
func (c *Choice) figure(by Criterion, v float64) {
	if v > 0 {
		c.Figures[by] = measure.Estimate{Value: v, Low: v, High: v}
	}
}

// kills notes what killed nodes cost; what lost or changed anything is no choice.
func (c *Choice) kills(all []run.Sample) {
	var silence []float64
	for _, s := range all {
		if s.Cell.Engine != c.Engine || s.Kill == nil || s.Cell.At("design") != c.Design {
			continue
		}
		m := s.Measured()
		if m == nil {
			c.Struck = "a node failure cost more than time: " + s.Problem
			return
		}
		silence = append(silence, m.Silence.Seconds())
	}
	c.figure(Recovery, measure.Median(silence))
}

// Without are the choices that may be advised and have no measurement of a criterion.
func (a *Advice) Without(by Criterion) (out []Choice) {
	for _, c := range a.Choices {
		if _, ok := c.Figures[by]; !ok && c.Struck == "" {
			out = append(out, c)
		}
	}
	return out
}

// eligible counts the choices that may be advised.
func (a *Advice) eligible() (n int) {
	for _, c := range a.Choices {
		if c.Struck == "" {
			n++
		}
	}
	return n
}

// score gives every choice its score. What counts was measured for every choice that may be advised.
func (a *Advice) score() {
	best := map[Criterion]float64{}
	for _, c := range a.Choices {
		for by, e := range c.Figures {
			if c.Struck == "" {
				best[by] = min(cmp.Or(best[by], e.Value), e.Value)
			}
		}
	}
	for i := range a.Choices {
		c := &a.Choices[i]
		if c.Struck != "" {
			continue
		}
		below, above := 0.0, 0.0
		c.logs = map[Criterion]float64{}
		for _, by := range slices.Sorted(maps.Keys(a.Counted)) { // floats are summed in one order
			w := a.Counted[by]
			e := c.Figures[by]
			c.logs[by] = math.Log(e.Value / best[by])
			below, above = math.Hypot(below, w*math.Log(e.Value/e.Low)), math.Hypot(above, w*math.Log(e.High/e.Value))
		}
		mid, all := c.weighed(a.Counted), total(a.Counted)
		c.Score = measure.Estimate{Value: math.Exp(mid), Low: math.Exp(mid - below/all), High: math.Exp(mid + above/all)}
	}
}

// weighed is the logarithm of the score by some weights.
func (c *Choice) weighed(by map[Criterion]float64) float64 {
	sum := 0.0
	for _, k := range slices.Sorted(maps.Keys(by)) {
		sum += by[k] * c.logs[k]
	}
	return sum / total(by)
}

func total(by map[Criterion]float64) (sum float64) {
	for _, k := range slices.Sorted(maps.Keys(by)) {
		sum += by[k]
	}
	return max(sum, math.SmallestNonzeroFloat64)
}

// order puts the best first, and finds what it is tied with and what would
// change that.
func (a *Advice) order() {
	slices.SortStableFunc(a.Choices, func(x, y Choice) int {
		return cmp.Or(cmp.Compare(min(len(x.Struck), 1), min(len(y.Struck), 1)), cmp.Compare(x.Score.Value, y.Score.Value))
	})
	n := len(a.Real())
	if n == 0 {
		return
	}
	a.Tied = n
	if i := slices.IndexFunc(a.Choices[:n], func(c Choice) bool { return apart(a.Choices[0], c) }); i > 0 {
		a.Tied = i
	}
	if a.Compared() {
		slices.SortStableFunc(a.Choices[:a.Tied], func(x, y Choice) int { return cmp.Compare(x.Needs(), y.Needs()) })
	}
	for _, name := range names() {
		a.Changes = append(a.Changes, a.turns(name)...)
	}
	if len(a.Without(Growth)) == 0 {
		a.Far = a.best(func(c *Choice) float64 {
			return c.weighed(a.Counted) + a.Counted[Questions]/total(a.Counted)*math.Log(c.Figures[Growth].Value)
		})
	}
}

// Compared reports whether the repetitions are enough to give scores an interval.
// Where they are not, the order is that of the medians, and proves nothing.
func (a *Advice) Compared() bool { return a.Choices[0].Score.High < math.Inf(1) }

// Real are the choices that may be advised.
func (a *Advice) Real() []Choice {
	n := slices.IndexFunc(a.Choices, func(c Choice) bool { return c.Struck != "" })
	if n < 0 {
		return a.Choices
	}
	return a.Choices[:n]
}

// best is the choice of the least value; of equals the first.
func (a *Advice) best(of func(c *Choice) float64) int {
	best, least := 0, math.Inf(1)
	for i := range a.Real() {
		if v := of(&a.Choices[i]); v < least-1e-12 {
			best, least = i, v
		}
	}
	return best
}

// apart reports whether a score is worse than the best one by more than what
// the measurements leave open; of too few repetitions nothing is.
func apart(best, c Choice) bool {
	return math.Log(c.Score.Value/best.Score.Value) > math.Hypot(math.Log(best.Score.High/best.Score.Value), math.Log(c.Score.Value/c.Score.Low))
}

// Needs is what must run: 0 = nothing beside Barograph, 1 = a server, from 2 on a cluster of so many nodes.
func (c *Choice) Needs() int {
	switch {
	case c.Archive.Place == "embedded":
		return 0
	case c.Archive.Server != nil:
		return max(c.Archive.Server.Nodes, 1)
	}
	return 1
}

// turns are the least changes of a weight, up and down, that make a choice
// beyond those that are tied better than the advised one.
func (a *Advice) turns(name string) (out []Change) {
	up, down := Change{name, math.Inf(1), 0}, Change{name, 0, 0}
	for i := a.Tied; i < len(a.Real()); i++ {
		first, c := &a.Choices[0], &a.Choices[i]
		gap := (c.weighed(a.Counted) - first.weighed(a.Counted)) * total(a.Counted)
		own := 0.0
		for _, by := range Criteria() {
			if by.of() == name {
				own += a.Counted[by] * (c.logs[by] - first.logs[by])
			}
		}
		switch f := 1 - gap/own; { // gap + (f−1)·own = 0
		case own < 0 && f < up.Factor:
			up = Change{name, f, i}
		case own > 0 && f > down.Factor:
			down = Change{name, f, i}
		}
	}
	if up.To > 0 && up.Factor <= mostTimes {
		out = append(out, up)
	}
	if down.To > 0 && down.Factor >= 1./mostTimes && down.Factor < 1 {
		out = append(out, down)
	}
	return out
}

// mostTimes is the largest change of a weight that is reported, up or down.
const mostTimes = 10
