package synth

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// scale is the size of a variable at a level in a region.
type scale struct {
	mean    float64 // climatological mean
	spread  float64 // standard deviation within the region
	anomaly float64 // the portion of spread that is weather and not climate
	bias    float64 // drift of the forecast mean in five days
	skill   float64 // the lead, in hours, at which the anomaly correlation is 0.5
}

// zone is the climate zone of a region.
type zone uint8

const (
	globe zone = iota
	north
	south
	tropics
)

// zoneOf derives the zone from the last letters of a vx_mask.
func zoneOf(mask string) zone {
	switch mask[strings.LastIndexByte(mask, '/')+1:] {
	case "SHX", "S60", "SPO", "SAO", "NSA", "GSH", "GSA", "GAUS", "GAFR":
		return south
	case "TRO", "GTRP", "CAM":
		return tropics
	case "G2", "GGLB", "FULL":
		return globe
	}
	return north
}

// surface has the variables without a pressure level, in the units of the files.
var surface = map[string]scale{ //nolint:gochecknoglobals // a constant table
	"CAPE": {250, 480, 170, 9, 180}, "CWAT": {0.085, 0.19, 0.13, 0.01, 130}, "PWAT": {18, 14, 4.2, 0.1, 200},
	"HGTTRP": {12400, 3400, 1400, 40, 170}, "PRESTRP": {19800, 8700, 4600, -150, 165}, "TMPTRP": {208, 10, 5.2, 0.1, 165},
	"HPBL": {580, 480, 260, 8, 150}, "PSFC": {97800, 7400, 640, 25, 230}, "PSL": {101300, 1360, 950, 25, 225},
	"RH2m": {74, 17.5, 11.5, -0.3, 165}, "SPFH2m": {0.0088, 0.0058, 0.00115, 1e-6, 190}, "T2m": {281, 16, 3.6, -0.15, 200},
	"TG": {282, 17, 3.8, -0.1, 205}, "TOZNE": {295, 50, 24, 1.2, 205}, "U10m": {0.3, 4.8, 4.2, 0.06, 165},
	"V10m": {-0.2, 4.9, 4.3, 0.03, 165}, "WEASD": {9, 21, 5.5, 0.6, 190}, "TSOILT": {277, 15, 2.1, -0.1, 220},
	"WSOILT": {0.28, 0.11, 0.011, -0.0008, 240}, "SLP": {1015, 9.5, 7.6, 0.3, 225}, "DPT": {4.5, 5.5, 3.7, 0.5, 175},
	"TCLD": {62, 38, 33, 1.5, 130}, "PMSL": {101300, 1010, 1010, 30, 228}, "T": {9, 7, 3.6, 0.4, 190}, "RH": {70, 18, 13, 0.6, 160},
	"VWND": {2.1, 3.4, 3.1, 0.15, 160}, "APCP_06": {1.4, 4.1, 4, 0.05, 110},
}

// pressure returns the pressure of a level in hPa: P500 is 500, and a layer such as P550-400 has
// the mean of its limits. It returns 0 for other levels.
func pressure(level string) float64 {
	digits, ok := strings.CutPrefix(level, "P")
	if !ok {
		return 0
	}
	bottom, top, layer := strings.Cut(digits, "-")
	p, err := strconv.ParseFloat(bottom, 64)
	if err != nil {
		return 0
	}
	if q, err := strconv.ParseFloat(top, 64); layer && err == nil {
		p = (p + q) / 2
	}
	return p
}

// height returns the height of a pressure level in meters and its temperature in K, in the
// International Standard Atmosphere (isothermal from 226.3 hPa up), but warmer again above 20 hPa.
func height(p float64) (z, kelvin float64) {
	if p >= 226.3 {
		z = 44330.8 * (1 - math.Pow(p/1013.25, 0.190263))
		return z, 288.15 - 0.0065*z
	}
	return 11000 + 6341.6*math.Log(226.3/p), 216.65 + max(0, math.Log(20/p)*8)
}

// jet rises from nearly 0 at the ground to 1 at 250 hPa, and decreases more slowly
// above that level.
func jet(p float64) float64 {
	width := 1.15
	if p > 250 {
		width = 0.75
	}
	x := math.Log(p/250) / width
	return math.Exp(-0.5 * x * x)
}

// scaleOf is the scale of a variable at a level in a region.
func scaleOf(variable, level, mask string) scale {
	base, band, _ := strings.Cut(variable, "_WV1/")
	s, ok := surface[base]
	if p := pressure(level); p > 0 {
		s, ok = aloft(base, p)
	}
	if !ok {
		s = scale{mean: 10, spread: 5, anomaly: 3, bias: 0.1, skill: 180}
	}
	switch band { // zonal wave numbers: planetary waves have most of the variance and the best forecasts
	case "0-3":
		s.anomaly, s.skill = 0.79*s.anomaly, 1.07*s.skill
	case "4-9":
		s.anomaly, s.skill = 0.57*s.anomaly, 0.98*s.skill
	case "10-20":
		s.anomaly, s.skill = 0.15*s.anomaly, 0.5*s.skill
	case "0-20":
		s.anomaly *= 0.997
	}
	switch zoneOf(mask) {
	case globe:
		s.spread, s.anomaly, s.skill = 1.15*s.spread, 0.8*s.anomaly, 0.98*s.skill
	case south:
		s.spread, s.anomaly, s.skill = 1.02*s.spread, 0.97*s.anomaly, 0.965*s.skill
	case tropics:
		s.spread, s.anomaly, s.skill = 0.5*s.spread, 0.3*s.anomaly, 0.8*s.skill
	case north:
	}
	s.spread = max(s.spread, s.anomaly)
	return s
}

// aloft is the scale of a variable at a pressure of p hPa.
func aloft(variable string, p float64) (scale, bool) {
	z, kelvin := height(p)
	above := 1000 - min(p, 1000)
	wind := 4 + 15*jet(p) + max(0, 50-p)*0.3
	switch variable {
	case "HGT", "Z":
		return scale{z, 106 + 0.45*above, 70 + 0.105*above, 1 - 0.012*above, 222 + 0.03*above}, true
	case "T", "TMP":
		return scale{kelvin, 7 + 0.0085*p, 3.4 + 0.0013*p, -0.1, 200}, true
	case "U", "UGRD":
		return scale{0.5 + 20*jet(p), wind, 0.72 * wind, 0.1, 168}, true
	case "V", "VGRD":
		return scale{-0.1, 0.85 * wind, 0.76 * wind, 0.05, 166}, true
	case "WIND", "VWND", "UGRD_VGRD":
		return scale{0.5 + 20*jet(p), 1.31 * wind, wind, 0.1, 167}, true
	case "RH":
		return scale{75 - 0.075*above, 18 + 0.018*above, 12 + 0.018*above, 2, 150}, true
	case "Q", "SPFH":
		q := 3.6*p/1000*(p/1000)*(p/1000) + 0.003
		if variable == "SPFH" { // kg/kg, where Q is in g/kg
			q /= 1000
		}
		return scale{q, 0.9 * q, 0.45 * q, 0.03 * q, 165}, true
	case "O3":
		o3 := 1.27 * math.Pow(100/p, 0.9)
		if p > 100 {
			o3 = 1.27 * math.Pow(100/p, 1.75)
		}
		return scale{o3, o3 * (0.18 + 0.6*min(1, p/250)), 0.4 * o3 * (0.18 + 0.6*min(1, p/250)), 0.01 * o3, 190}, true
	}
	return scale{}, false
}

// season is 1 ± depth with its maximum in the winter of the zone. It is always 1 in the tropics.
// valid is in Unix seconds.
func season(z zone, valid int64, depth float64) float64 {
	const year = 365.2425 * 86400
	phase := math.Cos(2 * math.Pi * (float64(valid)/year - 0.04)) // 1 in mid-January
	switch z {
	case south:
		return 1 - depth*phase
	case north:
		return 1 + depth*phase
	case globe:
		return 1 + 0.3*depth*phase
	case tropics:
	}
	return 1
}

// mix is the finalizer of SplitMix64: a bijection in which every input bit affects all output bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fold adds a word to a key (FNV-1a over its bytes, then mixed).
func fold(key uint64, word string) uint64 {
	h := uint64(14695981039346656037) ^ key
	for i := range len(word) {
		h = (h ^ uint64(word[i])) * 1099511628211
	}
	return mix(h)
}

// wave is a smooth random function of t with values in [-1, 1] and with knots one unit of t
// apart. It simulates the effect of synoptic weather on a daily mean, and depends only on key and t.
func wave(key uint64, t float64) float64 {
	i := math.Floor(t)
	x := t - i
	a, b := unit(mix(key^mix(uint64(int64(i))))), unit(mix(key^mix(uint64(int64(i)+1))))
	return a + (b-a)*x*x*(3-2*x)
}

// unit maps 64 random bits to [-1, 1).
func unit(bits uint64) float64 { return float64(int64(bits)) * (1.0 / (1 << 63)) }

// gauss returns a nearly normal number with mean 0 and variance 1, and never beyond ±3.5: the sum
// of the four 16-bit fields of one draw. The bounds keep every record plausible.
func gauss(source *rand.PCG) float64 {
	u := source.Uint64()
	sum := (u & 0xffff) + (u >> 16 & 0xffff) + (u >> 32 & 0xffff) + u>>48
	return (float64(sum) - 2*65535) * (1.0 / 37837.2) // σ of the sum is 65536·√(4/12)
}

// skillPower is the steepness of the anomaly correlation 1/(1+(lead/T)^2.73)
// over the lead. With T = 237 h it gives 0.998, 0.96, 0.86, 0.80, 0.49, 0.21
// at 24, 72, 120, 144, 240, 384 h, close to GFS HGT P500 over G2/NHX.
const skillPower = 2.73

// analysisError is 1 minus the correlation of an analysis with itself after
// interpolation to the verification grid, i.e. at lead 0.
const analysisError = 2e-5

// identity identifies a series. The observed state does not depend on the model, so all models
// are compared with the same observations.
type identity struct {
	seed                  uint64
	variable, level, mask string
	model                 string
	valid                 int64 // Unix seconds
	cycle                 int   // hour of the folder; a valid time may have leads of several cycles
	total                 float64
	anomaly               bool // f and o are departures from climatology (SAL1L2, VAL1L2)
	vector                bool // VL1L2, VAL1L2
	// points reports observations at points (ADPUPA …) instead of an analysis: they are in degrees Celsius, and have errors
	// of representativeness.
	points                 bool
	modelSkill, modelDrift float64 // factors of the model: 1 = GFS
}

// series makes the records of one series at one valid time, in the order of the leads.
type series struct {
	source       rand.PCG
	total        float64
	o, o2        float64 // observed mean; for a vector, its two components
	so           float64 // observed standard deviation
	weatherShare float64 // of the variance, which the forecast must get right: anomaly²/spread²
	repr         float64 // variance of representativeness, as a share of the weather's
	drift        float64 // of the forecast mean in five days
	noise        float64 // standard deviation of the error of the forecast mean, if the forecast has no skill
	rate         float64 // T^-skillPower, with this day's predictability
}

// start prepares the series of id.
func (s *series) start(id *identity) {
	sc, z := scaleOf(id.variable, id.level, id.mask), zoneOf(id.mask)
	if id.points && id.variable == "T" && sc.mean > 150 {
		sc.mean -= 273.15
	}
	// Wave numbers 0 to 20 are nearly the complete field, so they have the same weather.
	key := fold(fold(fold(mix(id.seed), strings.TrimSuffix(id.variable, "_WV1/0-20")), id.level), id.mask)
	days := float64(id.valid) / 86400
	slow, fast := wave(key^1, days/9), wave(key^2, days/1.6)

	weatherSpread := sc.anomaly * season(z, id.valid, 0.2) * (1 + 0.14*wave(key^3, days/6) + 0.05*wave(key^4, days/1.3))
	spread := weatherSpread
	mean := sc.anomaly * (0.17*slow + 0.05*fast)
	if !id.anomaly {
		climate := sc.spread*sc.spread - sc.anomaly*sc.anomaly
		spread = math.Sqrt(climate + weatherSpread*weatherSpread)
		mean += sc.mean + 0.25*sc.spread*(1-season(z, id.valid, 0.2))
	}
	*s = series{total: id.total, o: mean, drift: sc.bias * id.modelDrift, noise: 0.11 * weatherSpread}
	if id.points {
		s.repr = 0.06
	}
	if id.vector {
		s.o2 = sc.anomaly * (0.1*wave(key^5, days/7) + 0.05*fast)
	}
	s.so = spread * math.Sqrt((id.total-1)/id.total) // one pair has no variance
	s.weatherShare = weatherSpread * weatherSpread / (spread * spread)

	today := 1 + 0.07*wave(key^6, days/5) + 0.03*wave(key^7, days/1.1)
	predictable := sc.skill * id.modelSkill * season(z, id.valid, 0.03) * today
	s.rate = math.Pow(predictable, -skillPower)
	s.source.Seed(fold(key, id.model), mix(uint64(id.valid))+uint64(id.cycle))
}

// forecast draws the next lead: the mean of the forecast (two components), its
// standard deviation and its correlation with the observation. power is
// leadHours^skillPower.
func (s *series) forecast(leadHours, power float64) (f, f2, sf, r float64) {
	g := gauss(&s.source)
	hazard := power * s.rate * (1 + 0.13*g)
	lostAnomaly := hazard/(1+hazard) + analysisError*(1.2+0.2*g) // 1 − anomaly correlation
	lost := s.weatherShare*lostAnomaly + s.repr*s.weatherShare   // 1 − correlation of the complete field
	// Files have 9 digits: an error variance below 3e-8 of the mean square
	// could be negative after rounding.
	size := s.o*s.o + s.o2*s.o2 + s.so*s.so
	if s.so > 0 {
		lost = max(lost, 1.5e-8*size/(s.so*s.so))
	}
	r = 1 - min(lost, 1.2)
	wrong := math.Sqrt(min(lost/s.weatherShare, 1))
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

// scalar appends total, f, o, fo, ff, oo of the next lead, and mae if mae is set.
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

// The hours and regions in which NCEP's radiosondes (ADPUPA) and aircraft (ANYAIR)
// report; airBlocks describes the notation.
const (
	soundingsGFS = `SL1L2 Z ffff5dfdffd P1000 ffff55fdff5 P925 P850 P700 P500 P400 P300 P250 P200 P150 P100 ffff55f5ff5 P50 dfff55d5ff5 P20 5ffd5555ff5 P10
SL1L2 T 5f7f555dfd5 P1000 ffff55fdff5 P925 P850 P700 P500 P400 P300 P250 P200 P150 P100 ffff55f5ff5 P50 dfff55d5ff5 P20 5ffd5155fd5 P10
SL1L2 RH 5f7f555dfd5 P1000 ffff55fdff5 P925 P850 P700 fffd55fdff5 P500 ff7d55fdff5 P400 ff7555fdff5 P300
SL1L2 Q 5f7f555dfd5 P1000 ffff55fdff5 P925 P850 P700 fffd55fdff5 P500 ff7d55fdff5 P400 ff7555fdff5 P300
VL1L2 VWND 5f7f5d5dfdd P1000 ffff55fdfff P925 ffff5ffdfff P850 P700 ffff55fdff5 P500 P400 P300 P250 P200 P150 P100 ffff55f5ff5 P50 dfff55d5ff5 P20 5ffd5155fd5 P10`
	aircraftGFS = `SL1L2 Z fffffffffff P1000-850 P850-700 P700-550 P550-400 P400-300 P300-250 P250-200 P200-150
SL1L2 T fffffffffff P1000-850 P850-700 P700-550 P550-400 P400-300 P300-250 P250-200 ffeffffffff P200-150
VL1L2 VWND ffbf02fff3f P1000-850 ff9f02fff3f P850-700 fff702fff7f P700-550 fffe42fff7f P550-400 fffe40fff5f P400-300 ffef54fff6f P300-250 ffff14fffef P250-200 ff7b48fefcf P200-150`
	soundingsECM = `SL1L2 Z ffff5dfdffd P1000 ffff55fdff5 P850 P700 P500 P400 P300 P250 P200 P150 P100 ffff55f5ff5 P50 dfff55d5ff5 P20 5ffd5555ff5 P10
SL1L2 T 5f7f555dfd5 P1000 ffff55fdff5 P850 P700 P500 P400 P300 P250 P200 P150 P100 ffff55f5ff5 P50 dfff55d5ff5 P20 5ffd5155fd5 P10
SL1L2 RH 5f7f555dfd5 P1000 ffff55fdff5 P850 P700 fffd55fdff5 P500 ff7d55fdff5 P400 ff7555fdff5 P300
SL1L2 Q 5f7f555dfd5 P1000 ffff55fdff5 P850 P700 fffd55fdff5 P500 ff7d55fdff5 P400 ff7555fdff5 P300
VL1L2 VWND ffff55fdff5 P300 P250 P200 P150 P100 ffff55f5ff5 P50 dfff55d5ff5 P20 5ffd5155fd5 P10`
	aircraftECM = `SL1L2 Z ffe7cffffff P1000-850 ffefeffdffd P850-700 P700-550 ffefebfffff P550-400 ffef4bfffff P400-300 fffffffffff P300-250 P250-200 P200-150
SL1L2 T ffe7cffdffd P1000-850 ffefeffdffd P850-700 ffefeff9ffd P700-550 ffefebfcffd P550-400 ffef4bfffff P400-300 fffffffffff P300-250 P250-200 ffeffffffff P200-150
VL1L2 VWND ff6e40fbf0b P400-300 ffef54fff6f P300-250 ffff14fffef P250-200 ff7b48fefcf P200-150`
)
