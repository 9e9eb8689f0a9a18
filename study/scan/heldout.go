package scan

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// HeldOut is a measured time with its forecast by the model of all other configurations.
type HeldOut struct {
	Query    string           `json:"query"`
	Setup    Setup            `json:"setup"`
	Rep      int              `json:"repetition"`
	Seconds  float64          `json:"seconds"`
	CPU      float64          `json:"cpu_seconds,omitempty"` // summed over all cores; 0 = not counted
	Forecast measure.Estimate `json:"forecast"`              // Value 0 = the other configurations have no model
}

// InInterval reports whether the measured time is in the interval of the forecast.
func (h *HeldOut) InInterval() bool {
	return h.Forecast.Low <= h.Seconds && h.Seconds <= h.Forecast.High
}

// HoldOut forecasts the results of each point from all other points.
func HoldOut(query string, points []Point, seed uint64) ([]HeldOut, error) {
	var out []HeldOut
	for i := range points {
		p := &points[i]
		var forecast Forecast
		m, err := FitModel(slices.Delete(slices.Clone(points), i, i+1), seed)
		if err == nil {
			forecast, err = m.Forecast(p.Setup)
		}
		if err != nil {
			return nil, fmt.Errorf("without a configuration of %s and %s: %w",
				run.CountOf(len(p.Bandwidth), "disk"), run.CountOf(p.Partitions, "partition"), err)
		}
		for rep, seconds := range p.Seconds {
			h := HeldOut{Query: query, Setup: p.Setup, Rep: rep + 1, Seconds: seconds, Forecast: forecast.Seconds}
			if len(p.CPU) > 0 {
				h.CPU = p.CPU[rep]
			}
			out = append(out, h)
		}
	}
	return out, nil
}

// HeldOutWords describes the quality of the forecasts: how many times are in their intervals, and how
// wide the intervals are.
func HeldOutWords(all []HeldOut) string {
	inside := 0
	var widths []float64
	for i := range all {
		h := &all[i]
		if h.InInterval() {
			inside++
		}
		widths = append(widths, (h.Forecast.High-h.Forecast.Low)/h.Forecast.Value)
	}
	return fmt.Sprintf("Held-out test: each configuration was forecast by the model of the others. "+
		"%d of %d times (%.0f %%) are in their 95 %% intervals. "+
		"The intervals are %.2f times as wide as the forecast (median; at most %.2f).",
		inside, len(all), 100*float64(inside)/float64(len(all)), measure.Median(widths), slices.Max(widths))
}

var heldOutColumns = []string{ //nolint:gochecknoglobals // a constant table
	"engine", "query", "paths", "partitions", "workers", "cores", "mb_per_s", "bytes",
	"repetition", "seconds", "cpu_seconds", "forecast", "low", "high", "inside",
}

// WriteHeldOut writes measured and forecast times as CSV.
func WriteHeldOut(w io.Writer, engine string, all []HeldOut) error {
	out := csv.NewWriter(w)
	rows := [][]string{heldOutColumns}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for i := range all {
		h := &all[i]
		s := &h.Setup
		rows = append(rows, []string{
			engine, h.Query, strconv.Itoa(len(s.Bandwidth)), strconv.Itoa(s.Partitions),
			strconv.Itoa(s.Workers), strconv.Itoa(s.Cores), bandwidths(s.Bandwidth), strconv.FormatInt(s.Bytes, 10),
			strconv.Itoa(h.Rep), number(h.Seconds), number(h.CPU), number(h.Forecast.Value),
			number(h.Forecast.Low), number(h.Forecast.High), strconv.FormatBool(h.InInterval()),
		})
	}
	return out.WriteAll(rows)
}

// holdOut adds forecasts of the run's own measurements.
func (x *Forecasts) holdOut(query string, points []Point, seed uint64) error {
	forecasts, err := HoldOut(query, points, seed)
	if err != nil {
		return &fault.Error{
			Setting: "--held-out of " + query, Problem: "cannot be determined", Err: err,
			Cure: "measure more configurations: barograph scan sweep",
		}
	}
	x.HeldOut = append(x.HeldOut, forecasts...)
	return nil
}
