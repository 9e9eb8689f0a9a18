package advise

import (
	"maps"
	"math"
	"slices"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Study is the input of advice.
type Study struct {
	Sizes        []Size       // one run for each amount of the same data, fewest copies first; one element if growth was not studied
	NodeFailures []run.Sample // samples of node failures, from runs of barograph faults
	FaultFolders []string     // the i-th is the folder of the run of NodeFailures[i]
}

// Size is a run with a number of copies of the data.
type Size struct {
	Copies int
	*run.Run

	cells map[run.Cell]*cell
}

// cell is a case with a configuration; times in seconds, by repetition.
type cell struct {
	problem string // why its times do not count; "" = they do
	times   []float64
	proof   answer.Degree
}

// Read reads a run folder, or the folder of a study with several data sizes (x1, x2, x4 …). faultDirs are run folders
// that barograph faults wrote.
func Read(dir string, faultDirs ...string) (*Study, error) {
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
	for _, dir := range faultDirs {
		r, samples, err := run.Read(dir)
		if err != nil {
			return nil, err
		}
		if r.Workload != "faults" {
			return nil, &fault.Error{File: dir, Problem: "is a run of " + r.Workload + ", not of faults", Cure: "name a folder that barograph faults wrote"}
		}
		s.NodeFailures = append(s.NodeFailures, samples...)
		s.FaultFolders = append(s.FaultFolders, slices.Repeat([]string{dir}, len(samples))...)
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
		// A failed cold start does not invalidate the warm times.
		case x.Verdict == run.Wrong, !x.Verdict.IsCorrect() && x.Phase != run.Cold:
			if c.problem == "" || x.Verdict == run.Wrong { // what follows a failure may be its consequence
				c.problem = x.Cell.Value("case") + " is " + string(x.Verdict)
				if x.Verdict == run.Failed {
					c.problem = x.Cell.Value("case") + " failed: " + x.Problem
				}
			}
		case m != nil && x.Phase != run.Cold:
			c.times, c.proof = append(c.times, m.Total.Seconds()), x.Proof
		}
	}
	return z
}

// measuredCases returns the cases whose result has rows and for which at least one engine other than dry (the client
// overhead) has times.
func (z *Size) measuredCases() []run.Case {
	return lists.Filter(z.Cases, func(c run.Case) bool {
		for k, x := range z.cells {
			if c.Rows > 0 && k.Value("case") == c.Name && len(x.times) > 0 && !z.isClientOverhead(k.Engine) {
				return true
			}
		}
		return false
	})
}

// isClientOverhead reports whether an engine answers from the client's memory (dry), and so measures only the client.
func (z *Size) isClientOverhead(engine string) bool {
	return slices.ContainsFunc(z.Archives, func(a run.Archive) bool { return a.Engine == engine && a.Place == "memory" })
}

// flavours returns the flavours of an archive's queries, sorted by name.
func (z *Size) flavours(a run.Archive) []string {
	var all []string
	for k := range z.cells {
		if k.Engine == a.Engine && k.Value("design") == a.Design {
			all = append(all, k.Value("flavour"))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mixTime returns the time of an average query of the user's mix, in seconds. e is the weighted mean of the cases'
// medians. reps has the weighted mean of the cases for each repetition that all of them have. If there is no such time,
// reason says why: a case cannot be expressed, has an incorrect result, was not timed, or was not compared value by
// value.
func (z *Size) mixTime(engine, design, flavour string) (e measure.Estimate, reps []float64, reason string) {
	weights, below, above := 0.0, 0.0, 0.0
	for _, c := range z.measuredCases() {
		x := z.cells[run.MetCell(engine, design, c.Name, flavour)]
		switch {
		case x == nil:
			return e, nil, c.Name + " cannot be expressed"
		case x.problem != "":
			return e, nil, x.problem
		case len(x.times) == 0:
			return e, nil, c.Name + " was not timed"
		case x.proof != answer.EveryValue:
			return e, nil, c.Name + ": the comparison with the reference covered only " + string(x.proof) + ", not every value"
		}
		w, m := float64(max(c.Weight, 1)), measure.MedianEstimate(x.times)
		weights, e.Value = weights+w, e.Value+w*m.Value
		below, above = math.Hypot(below, w*(m.Value-m.Low)), math.Hypot(above, w*(m.High-m.Value))
		if reps == nil {
			reps = make([]float64, len(x.times))
		}
		reps = reps[:min(len(reps), len(x.times))]
		for i := range reps {
			reps[i] += w * x.times[i]
		}
	}
	if weights == 0 {
		return e, nil, "no case was timed"
	}
	e.Low, e.High = (e.Value-below)/weights, (e.Value+above)/weights
	e.Value /= weights
	for i := range reps {
		reps[i] /= weights
	}
	return e, reps, ""
}

// growth returns the factor by which the time of the mix grows if the data grow by the factor DataFactor. known is false
// if the mix has no time at some size, if the factor has no interval, or if the upper bound of the interval is more than
// maxGrowthSpread times the lower bound.
func (s *Study) growth(engine, design, flavour string) (e measure.Estimate, known bool) {
	var sizes []float64
	var times [][]float64
	for i := range s.Sizes {
		_, reps, reason := s.Sizes[i].mixTime(engine, design, flavour)
		if reason != "" {
			return e, false
		}
		sizes, times = append(sizes, float64(s.Sizes[i].Copies)), append(times, reps)
	}
	g, err := measure.FitGrowth(sizes, times, s.Sizes[0].Seed)
	if err != nil {
		return e, false
	}
	x := g.Exponent
	e = measure.Estimate{Value: math.Pow(DataFactor, x.Value), Low: math.Pow(DataFactor, x.Low), High: math.Pow(DataFactor, x.High)}
	return e, e.High <= maxGrowthSpread*e.Low
}

// maxGrowthSpread is the maximum ratio of the bounds of a growth's interval; a wider one is not reported.
const maxGrowthSpread = 10

// DataFactor is the factor of the amount of data for which growth is reported.
const DataFactor = 4
