package advise

import (
	"maps"
	"math"
	"slices"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Study is the input of advice.
type Study struct {
	Sizes []Size       // of the same data, the fewest copies first; one element if growth was not studied
	Kills []run.Sample // node failures, from other runs
}

// Size is a run with a number of copies of the data.
type Size struct {
	Copies int
	*run.Run

	cells map[run.Cell]*cell
}

// cell is a case with a configuration; times in seconds, by repetition.
type cell struct {
	bad   string // the reason why it has no times
	times []float64
	proof answer.Degree
}

// Read reads a run folder, or a folder of studies of several sizes; with are folders of barograph
// faults.
func Read(dir string, with ...string) (*Study, error) {
	s := &Study{}
	dirs := run.SizeFolders(dir)
	if len(dirs) < 2 {
		dirs = map[int]string{1: dir}
	}
	for _, n := range slices.Sorted(maps.Keys(dirs)) {
		r, samples, err := run.Read(dirs[n])
		if err != nil {
			return nil, err
		}
		s.Sizes = append(s.Sizes, sizeOf(n, r, samples))
	}
	for _, dir := range with {
		r, samples, err := run.Read(dir)
		if err != nil {
			return nil, err
		}
		if r.Workload != "faults" {
			return nil, &fault.Error{File: dir, Problem: "is a run of " + r.Workload + ", which stops no node", Cure: "name a folder that barograph faults wrote"}
		}
		s.Kills = append(s.Kills, samples...)
	}
	return s, nil
}

func sizeOf(copies int, r *run.Run, samples []run.Sample) Size {
	z := Size{copies, r, map[run.Cell]*cell{}}
	for _, x := range samples {
		c := z.cells[x.Cell]
		if c == nil {
			c = &cell{}
			z.cells[x.Cell] = c
		}
		switch m := x.Measured(); {
		case x.Verdict == run.Wrong, !x.Verdict.IsCorrect() && x.Phase != run.Cold:
			c.bad = x.Cell.At("case") + " is " + string(x.Verdict)
		case m != nil && x.Phase != run.Cold:
			c.times, c.proof = append(c.times, m.Total.Seconds()), x.Proof
		}
	}
	return z
}

// asked returns the cases that count: those with rows and with times of a database.
func (z *Size) asked() (out []run.Case) {
	for _, c := range z.Cases {
		for k, x := range z.cells {
			if c.Rows > 0 && k.At("case") == c.Name && len(x.times) > 0 && !z.floor(k.Engine) {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

func (z *Size) floor(engine string) bool {
	return slices.ContainsFunc(z.Archives, func(a run.Archive) bool { return a.Engine == engine && a.Place == "memory" })
}

// flavours returns the flavours of an archive's queries, sorted by name.
func (z *Size) flavours(a run.Archive) []string {
	all := map[string]bool{}
	for k := range z.cells {
		if k.Engine == a.Engine && k.At("design") == a.Design {
			all[k.At("flavour")] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// mix is the time of a question of the user's mix, in seconds: the weighted mean of the cases'
// medians, and of the times of each repetition. If there is no such time, why is the reason: a case
// cannot be expressed, has an incorrect result, was not timed, or is proven to a lower degree.
func (z *Size) mix(engine, design, flavour string) (e measure.Estimate, reps []float64, why string) {
	sum, below, above := 0.0, 0.0, 0.0
	for _, c := range z.asked() {
		x := z.cells[run.AnswerCell(engine, design, c.Name, flavour)]
		switch {
		case x == nil:
			return e, nil, c.Name + " cannot be expressed"
		case x.bad != "":
			return e, nil, x.bad
		case len(x.times) == 0:
			return e, nil, c.Name + " was not timed"
		case x.proof != answer.EveryValue:
			return e, nil, c.Name + " is proven by " + string(x.proof) + " alone"
		}
		w, m := float64(max(c.Weight, 1)), measure.MedianEstimate(x.times)
		sum, e.Value = sum+w, e.Value+w*m.Value
		below, above = math.Hypot(below, w*(m.Value-m.Low)), math.Hypot(above, w*(m.High-m.Value))
		if reps == nil {
			reps = make([]float64, len(x.times))
		}
		reps = reps[:min(len(reps), len(x.times))]
		for i := range reps {
			reps[i] += w * x.times[i]
		}
	}
	if sum == 0 {
		return e, nil, "no case was timed"
	}
	e.Low, e.High = (e.Value-below)/sum, (e.Value+above)/sum
	e.Value /= sum
	for i := range reps {
		reps[i] /= sum
	}
	return e, reps, ""
}

// growth is the factor of the mix's time with Far (four) times the data. It is not known if the
// ratio of its interval's bounds exceeds widest.
func (s *Study) growth(engine, design, flavour string) (e measure.Estimate, known bool) {
	var sizes []float64
	var times [][]float64
	for i := range s.Sizes {
		_, reps, why := s.Sizes[i].mix(engine, design, flavour)
		if why != "" {
			return e, false
		}
		sizes, times = append(sizes, float64(s.Sizes[i].Copies)), append(times, reps)
	}
	g, err := measure.FitGrowth(sizes, times, s.Sizes[0].Seed)
	if err != nil {
		return e, false
	}
	x := g.Exponent
	e = measure.Estimate{Value: math.Pow(Far, x.Value), Low: math.Pow(Far, x.Low), High: math.Pow(Far, x.High)}
	return e, e.High <= widest*e.Low
}

// widest is the maximum ratio of the bounds of a growth's interval; a wider one is not reported.
const widest = 10

// Far is the factor of the data for which growth is reported.
const Far = 4
