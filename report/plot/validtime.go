package plot

// ValidTime shows a statistic over valid times, in UTC.
type ValidTime struct {
	Frame
	Series     []TimeSeries
	References []Reference // horizontal lines
}

// TimeSeries is a statistic at valid times. NaN makes a gap; a time that is
// left out does not.
type TimeSeries struct {
	Name   string
	Valid  []int64 // Unix seconds, in any order
	Value  []float64
	Lo, Hi []float64 // confidence interval, drawn as a ribbon; nil = none
	Hue    int       // 1 … Hues = that colour of the palette; 0 = by its place
}

// SVG draws the picture. It fails where the lists of a series differ in length,
// and for sizes in which nothing can be read.
func (v ValidTime) SVG() ([]byte, error) {
	var all []points
	for _, s := range v.Series {
		at := make([]float64, len(s.Valid))
		for i, t := range s.Valid {
			at[i] = float64(t)
		}
		all = append(all, points{s.Name, at, s.Value, s.Lo, s.Hi, s.Hue})
	}
	width := 900
	if v.Width > 0 {
		width = v.Width
	}
	return v.lines(all, v.References, lineOptions{ticks: timeTicks{(width - 100) / 58}})
}
