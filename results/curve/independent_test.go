package curve_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/stat"
)

// rawLine is a line of a real file. The test parses it with strings.Fields and strconv only, not with the program's
// parsers.
type rawLine struct {
	typ, model, name, level, mask string
	valid                         int64
	lead                          int       // hours
	v                             []float64 // total, then the means
}

func (l *rawLine) set() string { return strings.Join([]string{l.typ, l.name, l.level}, " ") }

func floats(t *testing.T, words []string) (v []float64) {
	t.Helper()
	for _, w := range words {
		f, err := strconv.ParseFloat(w, 64)
		if w == "NA" {
			f, err = math.NaN(), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		v = append(v, f)
	}
	return v
}

// rawLines reads a file, and skips lines that have no partial sums.
func rawLines(t *testing.T, path string) (out []rawLine) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int{"SL1L2": 6, "SAL1L2": 6, "VL1L2": 8, "VAL1L2": 8}
	for s := range strings.Lines(string(text)) {
		var l rawLine
		var when, lead string
		layout := "20060102_150405"
		w := strings.Fields(s)
		switch {
		case strings.HasSuffix(path, ".vsdb"):
			head, numbers, _ := strings.Cut(s, "=")
			h := strings.Fields(head)
			l = rawLine{typ: h[6], model: h[1], name: h[7], level: h[8], mask: h[5]}
			layout, when, lead, w = "2006010215", h[3], h[2]+"0000", strings.Fields(numbers)
		case w[0] == "VERSION":
			continue
		default:
			l = rawLine{typ: w[23], model: w[1], name: w[9], level: w[11], mask: w[16]}
			when, lead, w = w[4], w[3], w[24:]
		}
		if sums[l.typ] == 0 {
			continue
		}
		at, err := time.Parse(layout, when)
		if err != nil {
			t.Fatal(err)
		}
		l.valid = at.Unix()
		if l.lead, err = strconv.Atoi(lead[:len(lead)-4]); err != nil {
			t.Fatal(err)
		}
		l.v = floats(t, w[:sums[l.typ]])
		out = append(out, l)
	}
	return out
}

// independent has the formulas of statistics from appendix C of the MET User's Guide, by line type and name. m[0] is
// the sum of the totals, and the others are means of the columns, weighted by the total.
var independent = map[string]map[string]func(m []float64) float64{
	"SL1L2": {
		"ME":   func(m []float64) float64 { return m[1] - m[2] },
		"RMSE": func(m []float64) float64 { return math.Sqrt(m[4] - 2*m[3] + m[5]) },
		"MSE":  func(m []float64) float64 { return m[4] - 2*m[3] + m[5] },
		"FBAR": func(m []float64) float64 { return m[1] },
		"OBAR": func(m []float64) float64 { return m[2] },
		"MBIAS": func(m []float64) float64 {
			return m[1] / m[2]
		},
		"FSTDEV":  func(m []float64) float64 { return math.Sqrt((m[4] - m[1]*m[1]) * m[0] / (m[0] - 1)) },
		"PR_CORR": func(m []float64) float64 { return (m[3] - m[1]*m[2]) / math.Sqrt((m[4]-m[1]*m[1])*(m[5]-m[2]*m[2])) },
	},
	"SAL1L2": {
		"ANOM_CORR":        func(m []float64) float64 { return (m[3] - m[1]*m[2]) / math.Sqrt((m[4]-m[1]*m[1])*(m[5]-m[2]*m[2])) },
		"ANOM_CORR_UNCNTR": func(m []float64) float64 { return m[3] / math.Sqrt(m[4]*m[5]) },
		"RMSFA":            func(m []float64) float64 { return math.Sqrt(m[4]) },
		"RMSOA":            func(m []float64) float64 { return math.Sqrt(m[5]) },
	},
	"VL1L2": {
		"RMSVE":     func(m []float64) float64 { return math.Sqrt(m[6] - 2*m[5] + m[7]) },
		"MSVE":      func(m []float64) float64 { return m[6] - 2*m[5] + m[7] },
		"FSPD":      func(m []float64) float64 { return math.Hypot(m[1], m[2]) },
		"SPEED_ERR": func(m []float64) float64 { return math.Hypot(m[1], m[2]) - math.Hypot(m[3], m[4]) },
	},
	"VAL1L2": {
		"ANOM_CORR": func(m []float64) float64 {
			return (m[5] - m[1]*m[3] - m[2]*m[4]) / (math.Sqrt(m[6]-m[1]*m[1]-m[2]*m[2]) * math.Sqrt(m[7]-m[3]*m[3]-m[4]*m[4]))
		},
	},
}

// pooled computes a statistic from several lines together.
func pooled(f func(m []float64) float64, lines []*rawLine) float64 {
	m := make([]float64, len(lines[0].v))
	for _, l := range lines {
		for k, x := range l.v[1:] {
			m[k+1] += l.v[0] * x
		}
		m[0] += l.v[0]
	}
	for k := range m[1:] {
		m[k+1] /= m[0]
	}
	return f(m)
}

// someOf returns at least one of the values, chosen at random and in random order.
func someOf[T any](r *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+r.IntN(len(all))]
}

func distinctOf[T ~int | ~int64 | ~string](lines []*rawLine, of func(*rawLine) T) []T {
	var all []T
	for _, l := range lines {
		all = append(all, of(l))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unpacked unpacks an archive of the real data.
func unpacked(t *testing.T, path ...string) string {
	t.Helper()
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	archive, dir := filepath.Join(append([]string{root, "met"}, path...)...), t.TempDir()
	if _, err := os.Stat(archive); err != nil {
		t.Skipf("no real data: %v; set BAROGRAPH_DATA to a folder that holds met", err)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("tar cannot unpack %s: %v %s", archive, err, out)
	}
	return dir
}

// TestRandomQuestionsOfRawLines compares 200 random questions of real files with values
// that this test computes from the raw lines: curves of models along the lead or the
// valid time, their differences and their ratios.
func TestRandomQuestionsOfRawLines(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: one goroutine reads it all")
	}
	var raw []rawLine
	var batches []*record.Batch
	for dir, part := range map[string]string{
		unpacked(t, "vsdb", "vxingest_vsdb_20190101.tar.xz"):     "/anom/",
		unpacked(t, "stat", "g2g_met12_20241031_00z_12z.tar.xz"): "_TMP_",
	} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.Contains(path, part) {
				return err
			}
			raw = append(raw, rawLines(t, path)...)
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			var r interface {
				Next(into *record.Batch) error
			} = metstat.NewReader(f, path, metstat.Options{KeepLast: true})
			if strings.HasSuffix(path, ".vsdb") {
				r = vsdb.NewReader(f, path, vsdb.Options{KeepLast: true})
			}
			for {
				b := &record.Batch{}
				if err := r.Next(b); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				batches = append(batches, b)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sets := map[string][]*rawLine{}
	for i := range raw {
		sets[raw[i].set()] = append(sets[raw[i].set()], &raw[i])
	}
	var names []string
	for name := range sets {
		names = append(names, name)
	}
	slices.Sort(names)
	rng, points, derived := rand.New(rand.NewPCG(35, 5)), 0, 0
	for n := range 200 {
		set := sets[names[rng.IntN(len(names))]]
		p, d := randomQuestion(t, rng, fmt.Sprintf("question %d", n), set, batches)
		points, derived = points+p, derived+d
	}
	t.Logf("%d lines, %d points, %d of them of differences and ratios", len(raw), points, derived)
	if points < 1000 || derived < 100 {
		t.Errorf("%d points, %d of them derived: the questions ask for too little", points, derived)
	}
}

// randomQuestion asks one question of the lines of one type, variable and level, and
// returns how many points were compared and how many of them are of derived curves.
func randomQuestion(t *testing.T, rng *rand.Rand, name string, set []*rawLine, batches []*record.Batch) (points, derived int) {
	t.Helper()
	first := set[0]
	lt, _ := record.TypeByName(first.typ)
	var stats []string
	for s := range independent[first.typ] {
		stats = append(stats, s)
	}
	slices.Sort(stats)
	statistic := stats[rng.IntN(len(stats))]
	f := independent[first.typ][statistic]

	models := distinctOf(set, func(l *rawLine) string { return l.model })
	if rng.IntN(4) == 0 {
		models = someOf(rng, models)
	}
	rng.Shuffle(len(models), func(i, j int) { models[i], models[j] = models[j], models[i] })
	masks := someOf(rng, distinctOf(set, func(l *rawLine) string { return l.mask }))
	valids := someOf(rng, distinctOf(set, func(l *rawLine) int64 { return l.valid }))
	leads := someOf(rng, distinctOf(set, func(l *rawLine) int { return l.lead }))
	axis := []string{"fcst_lead", "fcst_valid_beg"}[rng.IntN(2)]

	q := &question.Question{Name: "q", Subset: "s", Type: lt, Weight: 1}
	q.Header[record.FcstVar], q.Header[record.FcstLev] = []string{first.name}, []string{first.level}
	q.Header[record.Model], q.Header[record.VxMask] = models, masks
	slices.Sort(valids)
	q.Valid.List = valids
	for _, l := range leads {
		q.Lead = append(q.Lead, int32(l)*3600)
	}
	slices.Sort(q.Lead)
	q.Drawing = question.NewDrawing(lt, statistic, axis)
	group := question.Group{Field: "model"}
	for _, m := range models {
		group.Values = append(group.Values, []string{m})
	}
	q.Drawing.Curves = []question.Group{group}
	ops := []stat.Operation{}
	if len(models) > 1 {
		ops = []stat.Operation{stat.Diff, stat.Ratio}
		for _, op := range ops {
			q.Drawing.Derived = append(q.Drawing.Derived, question.Derived{Operation: op, A: []int{0}, B: []int{1}})
		}
	}
	q.SelectColumns()

	// The expected lines of each curve and point.
	type point struct {
		curve int
		x     int64
	}
	want := map[point][]*rawLine{}
	for _, l := range set {
		if slices.Contains(models, l.model) && slices.Contains(masks, l.mask) && slices.Contains(valids, l.valid) && slices.Contains(leads, l.lead) {
			x := int64(l.lead)
			if axis != "fcst_lead" {
				x = l.valid
			}
			at := point{slices.Index(models, l.model), x}
			want[at] = append(want[at], l)
		}
	}
	ref := answer.NewReference(q)
	for _, b := range batches {
		ref.Add(b)
	}
	got, err := curve.ComputePoints(q, ref.Answers()[0], statistic, 1)
	if errors.Is(err, curve.ErrNoRecords) && len(want) == 0 {
		return 0, 0
	} else if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0, 0
	}
	values, counts := map[string]map[int64]float64{}, map[string]map[int64]int{}
	for _, s := range got.Series {
		values[s.Name], counts[s.Name] = map[int64]float64{}, map[int64]int{}
		for i, x := range s.X {
			values[s.Name][int64(x)], counts[s.Name][int64(x)] = s.Y[i], s.Records[i]
		}
	}
	check := func(series string, x int64, lines int, y float64) {
		v, ok := values[series][x]
		same := math.Abs(v-y) <= 1e-8*max(1, math.Abs(y)) || math.IsNaN(v) && (math.IsNaN(y) || math.IsInf(y, 0))
		if !ok || counts[series][x] != lines || !same {
			t.Errorf("%s: %s of %s, %s at %d: %v of %d lines, want %v of %d (have %v)", name, statistic, first.set(), series, x, v, counts[series][x], y, lines, ok)
		}
		delete(values[series], x)
		points++
	}
	identity := func(l *rawLine) string { return fmt.Sprint(l.mask, " ", l.valid, " ", l.lead) }
	for at, lines := range want {
		series := models[at.curve]
		if len(models) == 1 {
			series = got.Series[0].Name
		}
		check(series, at.x, len(lines), pooled(f, lines))
		if len(ops) == 0 || at.curve != 0 {
			continue
		}
		others := map[string]*rawLine{}
		for _, l := range want[point{1, at.x}] {
			others[identity(l)] = l
		}
		var a, b []*rawLine
		for _, l := range lines {
			if o := others[identity(l)]; o != nil {
				a, b = append(a, l), append(b, o)
			}
		}
		if len(a) == 0 {
			continue
		}
		ya, yb := pooled(f, a), pooled(f, b)
		for _, c := range []struct {
			name string
			y    float64
		}{{"DIFF(" + models[0] + "-" + models[1] + ")", ya - yb}, {"RATIO(" + models[0] + "/" + models[1] + ")", ya / yb}} {
			check(c.name, at.x, len(a), c.y)
			derived++
		}
	}
	for series, left := range values {
		if len(left) > 0 {
			t.Errorf("%s: %s has %d points that no line has", name, series, len(left))
		}
	}
	return points, derived
}
