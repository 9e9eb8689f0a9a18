package record

import "math"

// ID is the identifier of a station or of a message's source: up to eight
// letters, digits and underscores (SHEF manual 3.1), padded with zero bytes.
type ID [8]byte

// Len returns the number of characters.
func (id *ID) Len() int {
	n := len(id)
	for n > 0 && id[n-1] == 0 {
		n--
	}
	return n
}

// String returns the identifier without padding.
func (id ID) String() string { return string(id[:id.Len()]) }

// Parameter is a complete SHEF parameter code, PEDTSEP (SHEF manual 3.3): physical element,
// duration, type, source, extremum, probability. Defaults are filled in: "HG" becomes HGIRZZZ.
type Parameter [7]byte

// PE returns the physical element.
func (p Parameter) PE() string { return string(p[:2]) }

// String returns all seven characters.
func (p Parameter) String() string { return string(p[:]) }

// NoTime is the creation time of a value that was sent without one.
const NoTime = math.MinInt64

// NoValue is the value of a Gauge that was reported as missing, as in SHEFOUT and in the databases
// of the National Weather Service.
const NoValue = -9999

// Gauge is one value of a SHEF message, which shefit writes as one record of SHEFOUT (SHEF manual,
// appendix H). Times are Unix seconds, UTC; units are English (SHEF manual, table 1).
type Gauge struct {
	Station ID
	Source  ID // of a .B message, else empty
	Code    Parameter
	// Quality is the qualifier (SHEF manual, table 10), 'Z' if none was given.
	Quality byte

	Time    int64 // of observation, or the end of the period
	Created int64 // NoTime if it was not given
	Value   float64

	// Duration in shefit's encoding: 0mmm minutes, 1hhh hours, 2ddd days, 3mmm
	// months, 4yyy years, 500n see appendix H, 7sss seconds.
	Duration    int16
	Probability float32 // 0…1; -0.5 the mean, -1 none
	Revised     bool    // the message was .AR, .BR or .ER
	// Series: 0 not of a time series, 1 its first element, 2 a later one.
	Series byte
	// HasProbability reports that the message contained the probability, i.e. all seven characters of the code.
	HasProbability bool
	Line           uint32 // of the file, 1-based

	Comment string // retained comment, up to 80 bytes
}

// IsMissing reports whether the value was reported as missing.
func (g *Gauge) IsMissing() bool { return g.Value == NoValue }

// HasPairedValues reports whether the values of an element contain two numbers (SHEF manual 7.4.6).
func HasPairedValues(pe string) bool {
	switch pe {
	case "HQ", "MD", "MN", "MS", "MV", "NO", "ST", "TB", "TE", "TV":
		return true
	}
	return false
}

// MaxPairDepth is the largest depth of a paired value for which a float64 has room for the seven
// decimals after it.
const MaxPairDepth = 1<<28 - 1

// SplitPair splits a paired value as the manual instructs posters to do (7.4.6): the digits before
// the point are the depth, height or marker; the three digits after it are the integer part of the
// value, the digits after those its decimals; a minus belongs to the value. 6.065 is 65 at depth 6,
// -21.0058 is -5.8 at 21, -2.9999 is missing at 2. If v is NoValue, both results are NoValue.
func SplitPair(v float64) (depth int, value float64) {
	if v == NoValue {
		return NoValue, NoValue
	}
	whole, frac := math.Modf(math.Abs(v))
	value = math.Round(frac*1e7) / 1e4
	switch {
	case v < 0 && value == 999.9:
		value = NoValue
	case v < 0 && value != 0:
		value = -value
	}
	return int(whole), value
}

// JoinPair is the inverse of SplitPair.
func JoinPair(depth int, value float64) float64 {
	if depth == NoValue {
		return NoValue
	}
	if value == NoValue {
		value = -999.9
	}
	v := math.Round((float64(depth)+math.Abs(value)/1000)*1e7) / 1e7
	if value < 0 {
		return -v
	}
	return v
}
