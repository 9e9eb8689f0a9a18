package scan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/barograph/barograph/measure"
)

// Forecast is the time that a scan will take, and why.
type Forecast struct {
	Seconds measure.Estimate `json:"seconds"`       // one scan, not the mean of many, lies in the interval
	Disks   float64          `json:"disks_seconds"` // what the disks alone would take
	Cores   float64          `json:"cores_seconds"` // what the cores alone would take
	Bound   Bound            `json:"bound"`
	Sure    float64          `json:"sure"`             // share of the bootstrap's laws by which Bound decides
	Beyond  []string         `json:"beyond,omitempty"` // in what the setup exceeds all that was measured
}

// Forecast tells how long a scan will take: the law, the uncertainty of its
// parameters, and the errors that single scans had where it was measured.
func (m *Model) Forecast(s Setup) (Forecast, error) {
	x, err := s.terms()
	if err != nil {
		return Forecast{}, err
	}
	best := law{1 / m.Drawn.Value, m.Work.Value, m.Start.Value}
	f := Forecast{Disks: best[0] * x.disk, Cores: best[1] * x.core, Bound: best.bound(x), Beyond: m.Seen.beyond(&s)}
	// A fit's errors are smaller than those that it will make: parameters have
	// followed the noise.
	follow := math.Sqrt(float64(len(m.Fits)) / float64(len(m.Fits)-3))
	r := rand.New(rand.NewPCG(m.Seed, 2))
	n := 0
	f.Seconds = m.widest(best.at(x), func(p law) float64 {
		n++
		if p.bound(x) == f.Bound {
			f.Sure++
		}
		e := m.Off[r.IntN(len(m.Off))]
		return p.at(x) * math.Exp(follow*math.Log1p(e))
	})
	f.Sure /= float64(n)
	return f, nil
}

// beyond tells what was not measured; half as much again still counts as measured.
func (s Seen) beyond(x *Setup) []string {
	const near = 1.5
	var now Seen
	now.note(x)
	var out []string
	add := func(what string, now, seen float64) {
		if now > near*seen {
			out = append(out, fmt.Sprintf("%s: %.4g, measured up to %.4g", what, now, seen))
		}
	}
	add("disks", float64(now.Disks), float64(s.Disks))
	add("MB/s of a disk", now.Bandwidth, s.Bandwidth)
	add("workers with a core", float64(now.Parallel), float64(s.Parallel))
	add("GB", float64(now.Bytes)/1e9, float64(s.Bytes)/1e9)
	return out
}

// String is a sentence: "41 s ± 3: the disks decide (38 s, cores 12 s)".
func (f Forecast) String() string {
	half := f.half()
	text := fmt.Sprintf("%s s ± %s: the %s decide", digits(f.Seconds.Value, half), digits(half, half), f.Bound)
	if f.Sure < measure.Confidence {
		text += " (not sure)"
	}
	text += fmt.Sprintf("; disks alone %s s, cores alone %s s", digits(f.Disks, half), digits(f.Cores, half))
	if len(f.Beyond) > 0 {
		text += "; beyond what was measured: " + strings.Join(f.Beyond, ", ")
	}
	return text
}

// Interval is where one scan lies with 95 %, in seconds: "38 – 44".
func (f Forecast) Interval() string {
	half := f.half()
	return digits(f.Seconds.Low, half) + " – " + digits(f.Seconds.High, half)
}

// Value is the time in seconds, to the first digit that is uncertain: "41".
func (f Forecast) Value() string {
	return digits(f.Seconds.Value, f.half())
}

// half is the longer half of the interval.
func (f Forecast) half() float64 {
	return max(f.Seconds.High-f.Seconds.Value, f.Seconds.Value-f.Seconds.Low)
}

// digits prints a number to the first digit of its uncertainty, at most to three decimals.
func digits(v, uncertainty float64) string {
	places := 3
	if uncertainty > 0 {
		places = min(max(0, -int(math.Floor(math.Log10(uncertainty)))), places)
	}
	return fmt.Sprintf("%.*f", places, v)
}

// EnoughDisks is how many disks of so many MB/s each keep the cores busy, if
// parts divide evenly among them: with more, a scan is not faster.
func (m *Model) EnoughDisks(mbps float64, parallel int) int {
	perGB := 1000 / (mbps * m.Drawn.Value) // seconds of one disk
	return max(1, int(math.Ceil(perGB*float64(parallel)/m.Work.Value)))
}
