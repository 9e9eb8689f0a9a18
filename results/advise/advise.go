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

// Criterion is a quantity by which choices are compared.
type Criterion string

// The criteria. Less is better in each.
const (
	Questions Criterion = "questions"   // time of a question of the mix, s
	FullLoad  Criterion = "full load"   // time to load all the data, s
	NextLoad  Criterion = "next load"   // time to load one more copy of the data into the largest archive of the study, s
	Disk      Criterion = "disk"        // bytes
	Growth    Criterion = "growth"      // factor of the time of a question with Far times the data
	Recovery  Criterion = "killed node" // longest time without a success, s
)

// Criteria returns all criteria.
func Criteria() []Criterion {
	return []Criterion{Questions, FullLoad, NextLoad, Disk, Growth, Recovery}
}

// Weights is the importance of each topic: ask, load, size, growth, recover.
type Weights map[string]float64

// names returns the names of weights in display order.
func names() []string { return []string{"ask", "load", "size", "growth", "recover"} }

// Defaults returns the weights of an archive that is queried all day and loaded at night.
func Defaults() Weights {
	return Weights{"ask": 5, "load": 2, "size": 1, "growth": 2, "recover": 1}
}

// String prints the weights in the form that Set reads.
func (w Weights) String() string {
	var out []string
	for _, n := range names() {
		out = append(out, n+"="+strconv.FormatFloat(w[n], 'g', -1, 64))
	}
	return strings.Join(out, ",")
}

// Type is the name of the flag's value type.
func (w Weights) Type() string { return "weights" }

// Set changes the weights that a text names: ask=5,load=0.
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

// Advice is the ranking of choices by the weights.
type Advice struct {
	Weights Weights               `json:"weights"`
	Counted map[Criterion]float64 `json:"counted"` // the weights that count here, by criterion
	// Missing lists the criteria that have a weight but were measured only for some choices. They
	// do not count: a configuration whose load was not measured, because its archive existed
	// before, is neither the worst nor the best.
	Missing []Criterion `json:"missing,omitempty"`
	Choices []Choice    `json:"choices"` // the recommended one first, the excluded ones last
	// Tied is the number of first choices that the measurements cannot distinguish. If the
	// repetitions are enough, the one of them that needs the fewest servers is recommended. 1 = the
	// first is the best.
	Tied    int      `json:"tied"`
	Changes []Change `json:"changes"`
	Far     int      `json:"far"` // index of the best choice for Far times the data; −1 = growth is not known
}

// Choice is an engine and a design, with the fastest flavour. Struck is the reason of an excluded
// choice.
type Choice struct {
	Engine  string                         `json:"engine"`
	Design  string                         `json:"design"`
	Flavour string                         `json:"flavour"`
	Figures map[Criterion]measure.Estimate `json:"figures"` // a missing criterion was not measured
	Score   measure.Estimate               `json:"score"`   // weighted geometric mean of the ratios to the best of each criterion: 1 = the best in all
	Struck  string                         `json:"struck,omitempty"`
	Archive run.Archive                    `json:"archive"`

	logs map[Criterion]float64 // of the ratios to the best of each criterion that counts
}

// Change is a change of a weight that makes another choice the best. Factor multiplies the weight.
type Change struct {
	Weight string  `json:"weight"` // ask, load …
	Factor float64 `json:"factor"`
	To     int     `json:"to"` // index in Choices
}

// of is the name of the weight of a criterion.
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

// Advise ranks the choices by the weights.
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

// choice returns an archive with its measurements, or the reason why it is excluded.
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

// figure stores a value that was measured once; its interval is the value.
func (c *Choice) figure(by Criterion, v float64) {
	if v > 0 {
		c.Figures[by] = measure.Estimate{Value: v, Low: v, High: v}
	}
}

// kills adds the cost of killed nodes. A choice that lost or changed data is excluded.
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

// Without returns the choices that may be recommended but have no measurement of a criterion.
func (a *Advice) Without(by Criterion) (out []Choice) {
	for _, c := range a.Choices {
		if _, ok := c.Figures[by]; !ok && c.Struck == "" {
			out = append(out, c)
		}
	}
	return out
}

// eligible counts the choices that may be recommended.
func (a *Advice) eligible() (n int) {
	for _, c := range a.Choices {
		if c.Struck == "" {
			n++
		}
	}
	return n
}

// score computes the score of every choice. The criteria that count were measured for every choice
// that may be recommended.
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
		for _, by := range slices.Sorted(maps.Keys(a.Counted)) { // floating-point sums depend on the order
			w := a.Counted[by]
			e := c.Figures[by]
			c.logs[by] = math.Log(e.Value / best[by])
			below, above = math.Hypot(below, w*math.Log(e.Value/e.Low)), math.Hypot(above, w*math.Log(e.High/e.Value))
		}
		mid, all := c.weighed(a.Counted), total(a.Counted)
		c.Score = measure.Estimate{Value: math.Exp(mid), Low: math.Exp(mid - below/all), High: math.Exp(mid + above/all)}
	}
}

// weighed is the logarithm of the score with the given weights.
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

// order sorts the best choice first. It finds the choices that are tied with it, and the changes of
// weights that would change the recommendation.
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

// Compared reports whether the repetitions are enough to give scores an interval. If not, the order
// is that of the medians, and proves nothing.
func (a *Advice) Compared() bool { return a.Choices[0].Score.High < math.Inf(1) }

// Real returns the choices that may be recommended.
func (a *Advice) Real() []Choice {
	n := slices.IndexFunc(a.Choices, func(c Choice) bool { return c.Struck != "" })
	if n < 0 {
		return a.Choices
	}
	return a.Choices[:n]
}

// best returns the index of the choice with the smallest value, and the first of equal ones.
func (a *Advice) best(of func(c *Choice) float64) int {
	best, least := 0, math.Inf(1)
	for i := range a.Real() {
		if v := of(&a.Choices[i]); v < least-1e-12 {
			best, least = i, v
		}
	}
	return best
}

// apart reports whether a score is worse than the best one by more than the uncertainty of both.
// With too few repetitions no score is.
func apart(best, c Choice) bool {
	return math.Log(c.Score.Value/best.Score.Value) > math.Hypot(math.Log(best.Score.High/best.Score.Value), math.Log(c.Score.Value/c.Score.Low))
}

// Needs is what must run: 0 = only Barograph, 1 = a server, 2 or more = a cluster with that number
// of nodes.
func (c *Choice) Needs() int {
	switch {
	case c.Archive.Place == "embedded":
		return 0
	case c.Archive.Server != nil:
		return max(c.Archive.Server.Nodes, 1)
	}
	return 1
}

// turns returns the smallest changes of a weight, up and down, that make a choice that is not tied
// better than the recommended one.
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

// mostTimes is the largest factor of a weight that is reported, up or down.
const mostTimes = 10
