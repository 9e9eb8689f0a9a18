package measure_test

import (
	"fmt"
	"time"

	"github.com/barograph/barograph/results/measure"
)

// Repetitions of two cells are interleaved, and then compared.
func Example() {
	samples := make([][]float64, 2)
	for cell, rep := range measure.Interleave(1, 2, 10) {
		ms := float64(10+5*cell) + 0.1*float64(rep)
		samples[cell] = append(samples[cell], ms)
	}
	fmt.Printf("median %.2f ms, %v\n", measure.Median(samples[0]), measure.MedianCI(samples[0], measure.Confidence))
	c := measure.Compare(samples[1], samples[0], 1)
	fmt.Printf("%.2fx %s\n", c.Ratio, c.Mark())
	fmt.Println(measure.MedianCI([]float64{9, 11, 10}, measure.Confidence))
	// Output:
	// median 10.45 ms, [10.1, 10.8] 97.9 %
	// 1.48x ***
	// needs 6 values for 95 %, has 3
}

func ExampleHistogram() {
	h := measure.NewHistogram()
	for i := range 1000 {
		h.Record(time.Duration(i+1) * time.Millisecond)
	}
	p := h.Percentiles()
	fmt.Println(p.P50.Round(time.Millisecond), p.P99.Round(time.Millisecond))
	// Output: 500ms 990ms
}
