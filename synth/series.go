package synth

import (
	"math"
	"math/rand/v2"
	"strings"
)

// skillPower is the steepness of the anomaly correlation 1/(1+(lead/T)^2.73)
// over the lead. With T = 237 h it gives 0.998, 0.96, 0.86, 0.80, 0.49, 0.21
// at 24, 72, 120, 144, 240, 384 h, close to GFS HGT P500 over G2/NHX.
const skillPower = 2.73

// analysisError is 1 minus the correlation of an analysis with itself after
// interpolation to the verification grid, i.e. at lead 0.
const analysisError = 2e-5

// identity names what a series belongs to. The observed state depends on all
// but the model, so that models are compared with the same observations.
type identity struct {
	seed                   uint64
	variable, level, mask  string
	model                  string
	valid                  int64 // Unix seconds
	cycle                  int   // hour of the folder; leads of one valid time may come from several
	total                  float64
	anomaly                bool    // f and o are departures from climatology (SAL1L2, VAL1L2)
	vector                 bool    // VL1L2, VAL1L2
	points                 bool    // observations at points (ADPUPA …), not an analysis: degrees Celsius, and errors of representativeness
	modelSkill, modelDrift float64 // factors of the model: 1 = GFS
}

// series makes the records of one series at one valid time, lead after lead.
type series struct {
	source  rand.PCG
	total   float64
	o, o2   float64 // observed mean; of a vector, its two components
	so      float64 // observed standard deviation
	weather float64 // share of the variance that the forecast must get right: anomaly²/spread²
	repr    float64 // variance of representativeness, as a share of the weather's
	drift   float64 // of the forecast mean in five days
	noise   float64 // of the forecast mean without skill
	rate    float64 // T^-skillPower, with this day's predictability
}

// start prepares the series of id.
func (s *series) start(id *identity) {
	sc, z := scaleOf(id.variable, id.level, id.mask), zoneOf(id.mask)
	if id.points && id.variable == "T" && sc.mean > 150 {
		sc.mean -= 273.15
	}
	// Wave numbers 0 to 20 are nearly the whole field, and so share its weather.
	key := fold(fold(fold(mix(id.seed), strings.TrimSuffix(id.variable, "_WV1/0-20")), id.level), id.mask)
	days := float64(id.valid) / 86400
	slow, fast := wave(key^1, days/9), wave(key^2, days/1.6)

	weather := sc.anomaly * season(z, id.valid, 0.2) * (1 + 0.14*wave(key^3, days/6) + 0.05*wave(key^4, days/1.3))
	spread := weather
	mean := sc.anomaly * (0.17*slow + 0.05*fast)
	if !id.anomaly {
		climate := sc.spread*sc.spread - sc.anomaly*sc.anomaly
		spread = math.Sqrt(climate + weather*weather)
		mean += sc.mean + 0.25*sc.spread*(1-season(z, id.valid, 0.2))
	}
	*s = series{total: id.total, o: mean, drift: sc.bias * id.modelDrift, noise: 0.11 * weather}
	if id.points {
		s.repr = 0.06
	}
	if id.vector {
		s.o2 = sc.anomaly * (0.1*wave(key^5, days/7) + 0.05*fast)
	}
	s.so = spread * math.Sqrt((id.total-1)/id.total) // one pair has no variance
	s.weather = weather * weather / (spread * spread)

	predictable := sc.skill * id.modelSkill * season(z, id.valid, 0.03) * (1 + 0.07*wave(key^6, days/5) + 0.03*wave(key^7, days/1.1))
	s.rate = math.Pow(predictable, -skillPower)
	s.source.Seed(fold(key, id.model), mix(uint64(id.valid))+uint64(id.cycle))
}

// forecast draws the next lead: the mean of the forecast (two components), its
// standard deviation and its correlation with the observation. power is
// leadHours^skillPower.
func (s *series) forecast(leadHours, power float64) (f, f2, sf, r float64) {
	g := gauss(&s.source)
	lost := power * s.rate * (1 + 0.13*g)
	lost = lost/(1+lost) + analysisError*(1.2+0.2*g) // 1 − anomaly correlation
	lost = s.weather*lost + s.repr*s.weather
	// Files carry 9 digits: an error variance below 3e-8 of the mean square
	// could come out negative once printed.
	size := s.o*s.o + s.o2*s.o2 + s.so*s.so
	if s.so > 0 {
		lost = max(lost, 1.5e-8*size/(s.so*s.so))
	}
	r = 1 - min(lost, 1.2)
	wrong := math.Sqrt(min(lost/s.weather, 1))
	f = s.o + s.drift*leadHours/120 + s.noise*wrong*gauss(&s.source)
	f2 = s.o2 + s.noise*wrong*g*0.5
	sf = s.so * (1 - 0.02*wrong + 0.02*wrong*g)
	if s.so == 0 {
		if least := 2e-4 * math.Sqrt(size); math.Abs(f-s.o) < least {
			f = s.o + least
		}
	}
	return f, f2, sf, r
}

// scalar appends total, f, o, fo, ff, oo of the next lead, and mae if asked.
func (s *series) scalar(dst []float64, leadHours, power float64, mae bool) []float64 {
	f, _, sf, r := s.forecast(leadHours, power)
	fo, ff, oo := r*sf*s.so+f*s.o, sf*sf+f*f, s.so*s.so+s.o*s.o
	dst = append(dst, s.total, f, s.o, fo, ff, oo)
	if mae {
		me := math.Abs(f - s.o)
		rmse := math.Sqrt(sf*sf + s.so*s.so - 2*r*sf*s.so + me*me)
		dst = append(dst, me+0.73*(rmse-me)) // between |ME| and RMSE
	}
	return dst
}

// vector appends total, uf, vf, uo, vo, uvfo, uvff, uvoo of the next lead.
func (s *series) vector(dst []float64, leadHours, power float64) []float64 {
	uf, vf, sf, r := s.forecast(leadHours, power)
	uo, vo := s.o, s.o2
	return append(dst, s.total, uf, vf, uo, vo, r*sf*s.so+uf*uo+vf*vo, sf*sf+uf*uf+vf*vf, s.so*s.so+uo*uo+vo*vo)
}
