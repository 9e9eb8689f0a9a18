package ycsb

import (
	"fmt"
	"time"
)

// Saturation is what a search for saturation found.
type Saturation struct {
	Runs  []Summary
	Bound time.Duration // of the 95th percentile; 0 = none was given
	Holds Summary       // the most threads that hold the bound; zero where not even one does
	Knee  Summary       // the fewest threads that bring 90 % of the highest throughput
	Ended string        // why the search went no further
}

// worthwhile is what doubling the threads must bring.
const worthwhile = 1.1

// Saturate doubles the threads from 1 until the bound is broken, until doubling
// them brings less than a tenth more twice in a row, or up to most. Where a bound
// is given and broken, it then halves the gap between the last number that holds
// it and the first that does not, to within a tenth. measure runs with so many
// threads; false ends the search.
func Saturate(bound time.Duration, most int64, measure func(threads int64) (Summary, bool)) Saturation {
	s := Saturation{Bound: bound}
	broken, idle := int64(0), 0
	for n := int64(1); ; n = min(2*n, most) {
		x, ok := measure(n)
		if !ok {
			s.Ended = "a run failed"
			break
		}
		s.Runs = append(s.Runs, x)
		if bound > 0 && x.P95 > bound {
			broken, s.Ended = n, "the bound was broken"
			break
		}
		s.Holds = x
		if k := len(s.Runs); k > 1 && x.Throughput < worthwhile*s.Runs[k-2].Throughput {
			idle++
		} else {
			idle = 0
		}
		if idle == 2 {
			s.Ended = "more threads brought nothing"
			break
		}
		if n >= most {
			s.Ended = "the most threads were reached"
			break
		}
	}
	for low, high := int64(s.Holds.Threads), broken; low > 0 && high-low > max(1, low/10); {
		n := (low + high) / 2
		x, ok := measure(n)
		if !ok {
			break
		}
		s.Runs = append(s.Runs, x)
		if x.P95 > bound {
			high = n
		} else {
			low, s.Holds = n, x
		}
	}
	s.Knee = Knee(s.Runs)
	return s
}

// String tells it in a sentence.
func (s Saturation) String() string {
	if len(s.Runs) == 0 {
		return "nothing was measured"
	}
	text := fmt.Sprintf("saturates at %d threads with %.0f operations/s (p95 %s): more bring less than a tenth", s.Knee.Threads, s.Knee.Throughput, s.Knee.P95.Round(10*time.Microsecond))
	switch {
	case s.Bound == 0:
		return text
	case s.Holds.Threads == 0:
		return fmt.Sprintf("breaks the bound of %s with a single thread (p95 %s)", s.Bound, s.Runs[0].P95.Round(10*time.Microsecond))
	case s.Ended == "the bound was broken":
		return fmt.Sprintf("holds a 95th percentile of %s up to %d threads, with %.0f operations/s (p95 %s)", s.Bound, s.Holds.Threads, s.Holds.Throughput, s.Holds.P95.Round(10*time.Microsecond))
	}
	return text + fmt.Sprintf("; the bound of %s was held throughout", s.Bound)
}
