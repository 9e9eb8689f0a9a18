package synth

import (
	"math"
	"strconv"
	"strings"
)

// scale is the size of a variable at a level in a region.
type scale struct {
	mean    float64 // climatological mean
	spread  float64 // standard deviation within the region
	anomaly float64 // the part of spread that is weather and not climate
	bias    float64 // what the forecast mean drifts by in five days
	skill   float64 // the lead, in hours, at which the anomaly correlation is 0.5
}

// zone is where a region lies.
type zone uint8

const (
	globe zone = iota
	north
	south
	tropics
)

// zoneOf tells from the last letters of a vx_mask where it lies.
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

// surface holds variables without a pressure level, in the units of the files.
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

// pressure of a level in hPa: P500 is 500, the layer P550-400 its middle; 0 for
// a level that is no pressure.
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

// height of a pressure level in metres and its temperature in K, in the
// International Standard Atmosphere (isothermal above 226.3 hPa).
func height(p float64) (z, kelvin float64) {
	if p >= 226.3 {
		z = 44330.8 * (1 - math.Pow(p/1013.25, 0.190263))
		return z, 288.15 - 0.0065*z
	}
	return 11000 + 6341.6*math.Log(226.3/p), 216.65 + max(0, math.Log(20/p)*8)
}

// jet rises from nearly 0 at the ground to 1 at 250 hPa and falls off, more
// slowly, above.
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
	switch band { // zonal wave numbers: planetary waves carry most and are forecast best
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

// season is 1 ± depth with the winter of the zone as its maximum; valid in
// Unix seconds. The tropics have none.
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
