package report

import (
	"cmp"

	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// repeats contains the repetitions of one question.
type repeats struct {
	answers           []*run.Measured     // empty if one is not correct
	seconds           []float64           // time of each
	verdict           run.Verdict         // of an incorrect result
	problem           string              // why it is not correct
	proof             string              // of the results
	reservation       run.Verdict         // equal to rounding, or undetermined; "" = equal
	largestDifference float64             // relative; rounding explains it
	comparison        *measure.Comparison // with the base; nil = not compared, or this is the base
}

// repeated groups samples by a key, such as the question.
func repeated[K comparable](samples []run.Sample, keyOf func(s *run.Sample) K) map[K]*repeats {
	out := map[K]*repeats{}
	for i := range samples {
		s, k := &samples[i], keyOf(&samples[i])
		x, m := cmp.Or(out[k], &repeats{}), s.Measured()
		out[k] = x
		switch {
		case !s.Verdict.IsCorrect():
			x.verdict, x.problem = s.Verdict, s.Problem
		case m == nil:
			x.problem = cmp.Or(x.problem, "another result of this question was wrong")
		default:
			x.largestDifference = max(x.largestDifference, s.LargestDifference)
			if s.Verdict != run.Equal && x.reservation != run.Undetermined {
				x.reservation = s.Verdict
			}
			x.answers, x.seconds, x.proof = append(x.answers, m), append(x.seconds, m.Total.Seconds()), string(s.Proof)
		}
	}
	for _, x := range out {
		if x.problem != "" {
			x.answers, x.seconds = nil, nil
		}
	}
	return out
}

// isTimed reports whether all results are correct, and at least one has a time.
func (x *repeats) isTimed() bool { return x != nil && len(x.answers) > 0 }

// median returns the median of the times in ms.
func (x *repeats) median() measure.Estimate { return measure.MedianEstimate(times(x.answers, total)) }
