package scan

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// counted adds to each point the processor time of a known work, in core seconds per 10⁹ bytes.
func counted(points []Point, work float64) []Point {
	for i := range points {
		for range points[i].Seconds {
			points[i].CPU = append(points[i].CPU, work*float64(points[i].Bytes)/1e9)
		}
	}
	return points
}

// TestModelCounts: if disks limit all points, the work of the model is the counted one, and the forecast is right even
// for disks with which the cores are the limit.
func TestModelCounts(t *testing.T) {
	want := parameters{1 / 0.9, 2, 0.5}
	setups := sweepOf(100, 8, 5e9)[:12]
	m, err := FitModel(counted(measured(setups, want, 0.02, 3, 1), 2), 1)
	if err != nil {
		t.Fatal(err)
	}
	if !m.WorkMeasured || !near(m.DiskShare.Value, 0.9, 0.03) || !near(m.Work.Value, 2, 1e-9) || m.Start.Low > 0.5 || m.Start.High < 0.5 {
		t.Errorf("drawn %v, work %v, start %v", m.DiskShare, m.Work, m.Start)
	}
	many := Setup{Bandwidth: slices.Repeat([]float64{100}, 200), Partitions: 200, Cores: 8, Bytes: 5e9}
	if f, err := m.Forecast(many); err != nil || f.Bound != ByCores || f.Seconds.Low > 1.75 || f.Seconds.High < 1.75 {
		t.Errorf("%+v, %v", f, err)
	}
	all := sweepOf(100, 8, 5e9)
	four := counted(measured([]Setup{all[4], all[9], all[14], all[19]}, want, 0.02, 3, 1), 2)
	if _, err := FitModel(four, 1); err != nil {
		t.Errorf("four points: %v", err)
	}
	four[1].CPU = nil
	if _, err := FitModel(four, 1); err == nil || !strings.Contains(err.Error(), "4 setups are too few for three parameters") {
		t.Errorf("not counted at one: %v", err)
	}
	if _, err := FitModel(counted(measured(sweepOf(500, 8, 5e9), parameters{1, 400, 1}, 0.02, 3, 1), 400), 1); err == nil || !strings.Contains(err.Error(), "by the counted processor time, cores may limit") {
		t.Errorf("cores decided: %v", err)
	}
}

// TestNoModelBefore: a run reports before its start that its configurations cannot give a model.
func TestNoModelBefore(t *testing.T) {
	paths := []string{"/a", "/b", "/c", "/d"}
	for _, c := range []struct {
		of    Experiment
		paths []string
		parts []int
		cold  int
		want  string
	}{
		{SinglePlacement, paths, []int{4}, 3, ""},
		{Sweep, paths, nil, 3, ""},
		{Experiment2, paths, nil, 3, ""},
		{Sweep, paths, nil, 0, "warm queries do not read the disks; add --cold 3"},
		{Experiment2, paths[:3], nil, 3, "it has 3 configurations, and a model needs 4 (6 if the processor time is not counted); `barograph scan sweep --cold 3` has 12"},
		{Experiment1, paths, nil, 3, "all configurations have the same number of disks; `barograph scan sweep --cold 3` has"},
		{Experiment1, paths[:1], []int{4, 8, 16, 32}, 3, "all configurations have the same number of disks; `barograph lab disks --count 6` makes more"},
		{Experiment1, nil, nil, 3, "name --paths, one on each disk, or --disks"},
	} {
		configs, err := Placements(c.of, c.paths, c.parts, 0)
		if err != nil {
			t.Fatal(err)
		}
		p := Program{Experiment: c.of, Paths: c.paths, Cold: c.cold}
		if got := p.whyNoModel(configs); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s, %d paths, cold %d: %q, want %q", c.of, len(c.paths), c.cold, got, c.want)
		}
	}
}

// TestHeldOut computes the forecasts of docs/results/scan/heldout.csv again from the measured times in this file, and
// counts the times that are in their intervals.
func TestHeldOut(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "results", "scan", "heldout.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || !slices.Equal(rows[0], heldOutColumns) {
		t.Fatalf("%v: %q", err, rows[0])
	}
	var again bytes.Buffer
	var engines []string
	forecasts := map[string][]HeldOut{}
	for _, s := range sweepsIn(t, rows[1:]) {
		ofSweep, err := HoldOut(s.query, s.points, 1)
		if err != nil {
			t.Fatalf("%s, %s: %v", s.engine, s.query, err)
		}
		if forecasts[s.engine] == nil {
			engines = append(engines, s.engine)
		}
		forecasts[s.engine] = append(forecasts[s.engine], ofSweep...)
	}
	for i, engine := range engines {
		var one bytes.Buffer
		if err := WriteHeldOut(&one, engine, forecasts[engine]); err != nil {
			t.Fatal(err)
		}
		head, rest, _ := bytes.Cut(one.Bytes(), []byte("\n"))
		if i == 0 {
			again.Write(append(head, '\n'))
		}
		again.Write(rest)
		words := HeldOutWords(forecasts[engine])
		t.Logf("%s: %s", engine, words)
		inside, wide := 0, 0
		for _, h := range forecasts[engine] {
			if h.InInterval() {
				inside++
			}
			if h.Forecast.High-h.Forecast.Low > 3*h.Forecast.Value {
				wide++
			}
		}
		if n := len(forecasts[engine]); n < 60 || inside*10 < n*9 || wide > 0 {
			t.Errorf("%s: %s", engine, words)
		}
	}
	if len(engines) < 3 || !bytes.Equal(text, again.Bytes()) {
		t.Errorf("%d engines; %s is not what comes of its measurements: barograph scan forecast RUN --held-out makes it", len(engines), path)
	}
}

type sweep struct {
	engine, query string
	points        []Point
}

// sweepsIn returns the measured sweeps in the rows of a table, one for each engine and query.
func sweepsIn(t *testing.T, rows [][]string) (out []sweep) {
	t.Helper()
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].engine != r[0] || out[n-1].query != r[1] {
			out = append(out, sweep{engine: r[0], query: r[1]})
		}
		s := &out[len(out)-1]
		if r[8] == "1" {
			p := Point{Setup: Setup{Partitions: int(number(r[3])), Workers: int(number(r[4])), Cores: int(number(r[5])), Bytes: int64(number(r[7]))}}
			for mbps := range strings.SplitSeq(r[6], ";") {
				p.Bandwidth = append(p.Bandwidth, number(mbps))
			}
			s.points = append(s.points, p)
		}
		p := &s.points[len(s.points)-1]
		p.Seconds = append(p.Seconds, number(r[9]))
		if cpu := number(r[10]); cpu > 0 {
			p.CPU = append(p.CPU, cpu)
		}
	}
	return out
}
