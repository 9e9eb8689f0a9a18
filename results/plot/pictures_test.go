package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// drawer is any of the structs of this package.
type drawer interface{ Draw() ([]byte, error) }

// awkward is a name with everything that XML and the layout must handle.
const awkward = "a & b <c> \"d\" 'e' ]]> é 温 \x00\x1b\xff\n new line"

// pictures returns the goldens: synthetic data from seeds, shaped like real runs.
func pictures() map[string]drawer {
	return map[string]drawer{
		"dieoff": Lines{
			Frame: Frame{
				Title:    "500 hPa geopotential height: anomaly correlation falls below 0.6 after eight days",
				Subtitle: "Made data · northern and southern hemisphere, tropics · 00Z cycles of 31 days · mean with 95 % interval",
				Caption:  "Anomaly correlation from SAL1L2 partial sums. 0.6 is the level below which a forecast is held to have no useful skill.",
				XLabel:   "forecast lead (h)", YLabel: "anomaly correlation",
			},
			Curves:     []Curve{acc("G2/NHX", 9.5, 1, false), acc("G2/SHX", 8.6, 2, true), acc("G2/TRO", 7.0, 3, false)},
			References: []Reference{{0.6, "useful skill: 0.6"}},
		},
		"dieoff_many":    manyCurves(),
		"moments":        momentsPicture(),
		"profile":        profile(),
		"validtime":      validTime(31*4, 6*time.Hour, true),
		"validtime_y":    validTime(365*3, 24*time.Hour, false),
		"growth":         growth(),
		"hbars":          hbars(false),
		"hbars_log":      hbars(true),
		"coverage":       coveragePicture(),
		"layers":         layersPicture(),
		"throughput":     sweepPicture(false),
		"throughput_log": sweepPicture(true),
		"timeline":       timelinePicture(),
		"strip":          strip(),
		"bars":           bars(),
		"nodata":         Lines{Frame: Frame{Title: "Nothing was found", Subtitle: "No header matches mask G2/XYZ"}},
		"awkward": Rows{
			Frame:  Frame{Title: awkward, Subtitle: awkward, Caption: awkward, XLabel: awkward},
			Unit:   "ms & <s>",
			Panels: []Panel{{Title: awkward, Rows: []Row{{Label: awkward, Group: awkward, Value: Value{V: 1}}, {Label: "x", Group: "<g>", Value: Value{V: math.NaN(), Note: awkward}}}}},
		},
	}
}

func momentsPicture() Lines {
	d := Lines{
		Frame: Frame{Title: "Posting falls behind without maintenance", Subtitle: "Made data", XLabel: "day of posting", YLabel: "values a second"}, Coordinate: Numbers, LogAbove: 10,
		Moments: []Moment{{.5, "maintenance on"}, {10.5, "maintenance off"}, {11, "a label beside another"}, {20.5, "after a full vacuum " + awkward}, {math.NaN(), "nowhere"}},
	}
	for i, name := range []string{"array", "single"} {
		c := Curve{Name: name}
		for k := 1; k <= 30; k++ {
			rate := 40000 / math.Pow(20, float64(i))
			if k > 10 && k <= 20 {
				rate /= 1 + .2*float64(k-10)
			} else if i == 0 {
				d.Moments = append(d.Moments, Moment{At: float64(k) + .4})
			}
			c.Positions, c.Value = append(c.Positions, float64(k)), append(c.Value, rate)
		}
		d.Curves = append(d.Curves, c)
	}
	return d
}

func coveragePicture() Coverage {
	g := Coverage{Frame: Frame{Title: "What is there, by valid time", Subtitle: "Made data " + awkward, Caption: "White: missing.", XLabel: "fcst_valid_beg (UTC)"}}
	for p, title := range []string{"SL1L2", awkward} {
		rows := []CoverageRow{{Label: "nothing", Group: "ecm"}, {Label: "once", Group: "gfs", Runs: PeriodsOf([]int64{1546300800}, 0)}}
		for k, name := range []string{"gfs HGT", "gfs T", "ecm " + awkward} {
			var times []int64
			missing := 0
			for i := range int64(1460) {
				if i%int64(331+100*k) == 5 || p == 1 && i > 700 && i < 800+50*int64(k) {
					missing++
					continue
				}
				times = append(times, 1546300800+i*21600)
			}
			rows = append(rows, CoverageRow{Label: name, Group: name[:3], Runs: PeriodsOf(times, 21600), Note: TimesNote(len(times), missing)})
		}
		g.Panels = append(g.Panels, CoveragePanel{Title: title, Rows: rows})
	}
	return g
}

func growth() Lines {
	g := Lines{Coordinate: Sizes, Frame: Frame{
		Title: "Derived keys do not mind a larger archive, a full scan does", Subtitle: "Made data · test_3 · duckdb, sqlite, pebble",
		Caption: "Medians with 95 % intervals; the slope of a line is the exponent.", XLabel: "copies of the data in the archive", YLabel: "time (ms)",
	}}
	for i, law := range []struct {
		name        string
		at1, growth float64
	}{{"sqlite normalized metviewer-sql", 80, 1}, {"duckdb wide epoch-range", 9, 0.4}, {"pebble keyvalue keys-native", 3, 0.02}} {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		c := Curve{Name: law.name, Group: law.name}
		for _, n := range []float64{1, 2, 4, 8, 16} {
			v := law.at1 * math.Pow(n, law.growth) * math.Exp(0.03*r.NormFloat64())
			c.Positions, c.Value = append(c.Positions, n), append(c.Value, v)
			c.Lo, c.Hi = append(c.Lo, v*0.93), append(c.Hi, v*1.08)
		}
		g.Curves = append(g.Curves, c)
	}
	return g
}

func sweepPicture(far bool) Columns {
	g := Columns{Frame: Frame{
		Title: "Workload A: half reads, half updates", Subtitle: "Made data · 100,000 records of 1 kB", Caption: "Bars begin at zero unless the axis is logarithmic.",
		YLabel: "operations per second",
	}, RightLabel: "95th percentile (ms)", BarName: "throughput (left)", LineName: "95th percentile of latency (right)", BarUnit: "threads"}
	for i, e := range []struct {
		name         string
		first, sigma float64
	}{{"sqlite", 9000, 0.6}, {"pebble", 14000, 0.2}, {"postgres", 4000, 0.05}, {"mariadb", 3500, 0.1}} {
		if far && i == 1 {
			e.first *= 40
		}
		group := Group{Name: e.name}
		for _, n := range []float64{1, 2, 4, 8, 16} {
			x := e.first * n / (1 + e.sigma*(n-1) + 0.002*n*(n-1))
			b := Bar{Label: plain(n, 0), Value: Value{V: x, Lo: 0.95 * x, Hi: 1.04 * x}, Line: 2.5 * n / x * 1000}
			if i == 3 && n == 16 {
				b = Bar{Label: "16", Value: Value{V: math.NaN(), Note: "wrong answers"}, Line: math.NaN()}
			}
			group.Bars = append(group.Bars, b)
		}
		g.Groups = append(g.Groups, group)
	}
	return g
}

func timelinePicture() Columns {
	t := Columns{
		Frame: Frame{Title: "postgres, 16 threads", XLabel: "time since the warm-up (s)", YLabel: "operations per second"}, RightLabel: "slowest response (ms)", BarName: "operations per second (left)",
		LineName: "slowest response (right)", StallName: "stall", Step: 1, Groups: []Group{{Name: "postgres"}},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		rate, slow := 4000+300*r.NormFloat64(), 9*math.Exp(0.3*r.NormFloat64())
		if i%23 == 14 {
			rate, slow = 150, 950
		}
		t.Groups[0].Bars = append(t.Groups[0].Bars, Bar{Value: Value{V: rate}, Line: slow, Stalled: rate < 400})
	}
	return t
}

func acc(name string, days float64, seed uint64, gap bool) Curve {
	r := rand.New(rand.NewPCG(seed, 0))
	c := Curve{Name: name}
	for h := 0.0; h <= 240; h += 12 {
		v := 1 / (1 + math.Pow(h/24/days, 3.2)*0.66)
		v += 0.006 * r.NormFloat64() * h / 240
		w := 0.004 + 0.05*h/240
		if gap && h >= 96 && h <= 108 || gap && h == 132 {
			v = math.NaN()
		}
		c.Positions, c.Value = append(c.Positions, h), append(c.Value, v)
		c.Lo, c.Hi = append(c.Lo, v-w), append(c.Hi, v+w)
	}
	return c
}

func manyCurves() Lines {
	d := Lines{
		Frame:      Frame{Title: "Twelve regions to 16 days", Subtitle: "Made data; more curves than colours, so dashes tell the second round apart", XLabel: "forecast lead (h)", YLabel: "anomaly correlation"},
		References: []Reference{{0.6, "useful skill: 0.6"}},
	}
	for i := range 12 {
		c := acc(fmt.Sprintf("G%d/REGION_%02d", 200+i, i+1), 5+0.5*float64(i), uint64(i), false)
		for k := range c.Positions {
			c.Positions[k] *= 1.6
		}
		c.Lo, c.Hi = nil, nil
		d.Curves = append(d.Curves, c)
	}
	return d
}

func profile() Lines {
	p := Lines{Coordinate: Levels, Frame: Frame{
		Title:    "Temperature against radiosondes: bias and RMSE at 72 h",
		Subtitle: "Made data · GFS, G2/NHX · VL1L2 partial sums of 31 days", Caption: "Shaded: 95 % interval. Left of the dashed line the model is too cold.",
		XLabel: "error (K)", YLabel: "pressure (hPa)",
	}, References: []Reference{{0, "no bias"}}}
	levels := []float64{1000, 925, 850, 700, 500, 400, 300, 250, 200, 150, 100, 70, 50, 20, 10}
	for i, name := range []string{"bias", "RMSE"} {
		r := rand.New(rand.NewPCG(uint64(i), 9))
		c := Curve{Name: name, Positions: levels}
		for _, l := range levels {
			x := math.Log(l / 10)
			v := []float64{0.5 - 0.3*math.Sin(x*1.5), 2.6 - 0.55*math.Cos(x*1.3)}[i] + 0.08*r.NormFloat64()
			if l == 70 && i == 1 {
				v = math.NaN()
			}
			c.Value, c.Lo, c.Hi = append(c.Value, v), append(c.Lo, v-0.15), append(c.Hi, v+0.15)
		}
		p.Curves = append(p.Curves, c)
	}
	return p
}

func validTime(n int, step time.Duration, gap bool) Lines {
	v := Lines{Coordinate: Times, Frame: Frame{Title: "Sea level pressure, 120 h: anomaly correlation by valid time", Subtitle: "Made data · two models", XLabel: "valid time (UTC)", YLabel: "anomaly correlation"}}
	start := time.Date(2018, 12, 12, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"GFS", "ECMWF"} {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		s := Curve{Name: name}
		x := 0.0
		for k := range n {
			x = 0.9*x + 0.012*r.NormFloat64()
			y := 0.86 + 0.03*float64(i) + x
			if gap && k > 40 && k < 50 {
				y = math.NaN()
			}
			s.Positions, s.Value = append(s.Positions, float64(start.Add(time.Duration(k)*step).Unix())), append(s.Value, y)
		}
		v.Curves = append(v.Curves, s)
	}
	return v
}

func engines() []string {
	return []string{"duckdb", "sqlite", "postgres", "mariadb", "pebble", "mongodb"}
}

func hbars(log bool) Rows {
	h := Rows{Frame: Frame{
		Title:    "Median time of a question, by engine, design and flavour",
		Subtitle: "Made data · 358,824 records · 20 interleaved repetitions · 2 cores",
		Caption:  "Whiskers: 95 % interval of the median by order statistics. A way of asking whose answer differs from the reference has no time.",
		XLabel:   "median time (ms)",
	}, Unit: "ms", Log: log, Sorted: true}
	if log {
		h.XLabel = "median time (ms, logarithmic)"
	}
	r := rand.New(rand.NewPCG(4, 4))
	for _, name := range []string{"test_1: anomaly correlation by lead, one month", "test_4: RMSE by level", "test_6: all regions, one valid time"} {
		p := Panel{Title: name}
		for i, e := range engines() {
			for k, way := range []string{"normalized · metviewer-sql", "normalized · sql", "wide · iso-range"} {
				v := math.Exp(1 + float64(i)*0.5 + 2*float64(1-min(k, 1)) + r.NormFloat64())
				b := Row{Label: e + " · " + way, Group: e, Value: Value{V: v, Lo: v * 0.93, Hi: v * (1.05 + 0.2*r.Float64())}}
				switch {
				case i == 4 && k == 0:
					continue
				case i == 3 && k == 2:
					b.Value = Value{V: math.NaN(), Note: "wrong answer: 12 of 4,340 rows differ"}
				}
				p.Rows = append(p.Rows, b)
			}
		}
		h.Panels = append(h.Panels, p)
	}
	return h
}

func strip() Rows {
	s := Rows{
		Frame: Frame{Title: "Every repetition of test_1", Subtitle: "Made data · 30 repetitions in random, interleaved order", Caption: "Upright tick: median.", XLabel: "time (ms, logarithmic)"},
		Unit:  "ms", Log: true, Seed: 7, Panels: make([]Panel, 1),
	}
	r := rand.New(rand.NewPCG(6, 6))
	for i, e := range engines() {
		for _, way := range []string{"sql", "keys"} {
			c := Row{Label: e + " · " + way, Group: e}
			for range 30 {
				c.Repetitions = append(c.Repetitions, math.Exp(1+0.6*float64(i)+0.12*r.NormFloat64())+3*math.Max(0, r.NormFloat64()-1.8))
			}
			if i == 4 && way == "sql" {
				c.Repetitions, c.Value = nil, Value{V: math.NaN(), Note: "no values"}
			} else {
				c.V = slices.Sorted(slices.Values(c.Repetitions))[15]
			}
			s.Panels[0].Rows = append(s.Panels[0].Rows, c)
		}
	}
	return s
}

func bars() Rows {
	b := Rows{
		SideBySide: true, Frame: Frame{
			Title: "Loading: rate, archive size and client CPU", Subtitle: "Made data · 358,824 records in 30 files · 4 workers",
			Caption: "The time of a load includes the sync that makes it durable. Whiskers: lowest and highest of 5 loads.",
		},
		Panels: []Panel{{Title: "load rate", XLabel: "records/s"}, {Title: "size on disk", XLabel: "MB"}, {Title: "client CPU", XLabel: "CPU s"}},
	}
	r := rand.New(rand.NewPCG(2, 2))
	for i, e := range engines() {
		for _, d := range []string{"normalized", "document"} {
			v := 1.3e6 * math.Exp(-0.6*float64(i)-0.2*r.Float64())
			rate := Value{V: v, Lo: v * 0.94, Hi: v * 1.04}
			if i == 3 && d == "document" {
				rate = Value{V: math.NaN(), Note: "incomplete"}
			}
			for k, v := range []Value{rate, {V: 20 + 60*r.Float64()}, {V: 0.5 + 2*r.Float64()}} {
				b.Panels[k].Rows = append(b.Panels[k].Rows, Row{Label: e + " · " + d, Group: e, Value: v})
			}
		}
	}
	return b
}

// layersPicture shows the sessions of a server for one minute. In the middle they waited for the
// log.
func layersPicture() Layers {
	g := Layers{
		Frame: Frame{
			Title: "postgres: active sessions", Subtitle: "Made data · sampled once a second",
			XLabel: "time since the warm-up (s)", YLabel: "sessions",
		},
		Step: 1, Layers: []Layer{{Name: "running"}, {Name: "LWLock:WALWrite"}, {Name: "Lock:tuple"}, {Name: "other waits"}},
	}
	for k := range 60 {
		waiting := 0.0
		if k > 20 && k < 40 {
			waiting = 12
		}
		for i, v := range []float64{8 - waiting/3, 2 + waiting, float64(k%7) / 2, 0.5} {
			g.Layers[i].Value = append(g.Layers[i].Value, v)
		}
	}
	return g
}
