package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// none is printed in place of a missing value.
const none = "—"

// number prints v with 3 significant digits and commas between thousands: 0.0123, 1.23, 12.3, 123, 1,230.
func number(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return none
	case v < 0:
		return "−" + number(-v)
	case v >= 1e18 || v < 1e-4 && v > 0:
		return strconv.FormatFloat(v, 'e', 2, 64)
	}
	return plot.Digits(v, 3)
}

func count[T int | int64 | uint64](n T) string { return run.FormatCount(n) }

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// byteSize prints a size to three digits, with a decimal unit.
func byteSize(n float64) string {
	if math.IsNaN(n) {
		return none
	}
	return humanize.BytesN(uint64(n), 3)
}

// probability prints a p-value; "<0.001" below that.
func probability(p float64) string {
	switch {
	case math.IsNaN(p):
		return none
	case p < 0.001:
		return "<0.001"
	case p > 0.995:
		return "1"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// interval prints the ends of an interval with three significant digits, as number does.
func interval(lo, hi float64) string {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return none
	}
	return number(lo) + " – " + number(hi)
}

// percent prints a change as +12 %, −3.4 %.
func percent(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return none
	}
	sign := "+"
	if v < 0 {
		sign, v = "−", -v
	}
	digits := 1
	if v >= 0.0995 {
		digits = 0
	}
	return sign + strconv.FormatFloat(100*v, 'f', digits, 64) + " %"
}

// elapsed prints a duration for people: 850 ms, 12.3 s, 4 min 5 s.
func elapsed(d time.Duration) string {
	switch {
	case d < time.Second:
		return number(ms(d)) + " ms"
	case d < 2*time.Minute:
		return number(d.Seconds()) + " s"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// several prints a number and its noun in the right form: 1 node, 3 nodes.
func several(n int, noun string) string { return run.CountOf(n, noun) }

// list joins words to an enumeration: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
