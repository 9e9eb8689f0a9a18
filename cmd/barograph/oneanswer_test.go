package main

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/all"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/internal/fault"
)

// recomputed is a configuration as this test computes it from samples.csv and run.json, without the program's own
// packages: an engine and a design with its fastest flavour.
type recomputed struct {
	name              string  // "engine · design · flavour"
	query, load, size float64 // s, s, bytes
	cost              float64 // 1 = the best in every criterion
	path              string  // of the archive, if it is a file or folder
}

// recompute evaluates a run folder: for each engine and design the flavour with the least mean of the cases' medians,
// among the flavours that answered every case correctly, in the order of their costs with the default weights.
func recompute(t *testing.T, dir string) (out []recomputed, cells, right int) {
	t.Helper()
	var about struct {
		Archives []struct {
			Engine, Design, URL, Place string
			Load                       float64 `json:"load_ns"`
			Bytes                      float64 `json:"bytes_on_disk"`
		}
		Cases []struct {
			Name string
			Rows int
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &about); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dir, "samples.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	times := map[string][]float64{} // by engine, design, flavour and case
	flavours := map[string][]string{}
	wrong := map[string]bool{}
	for _, r := range rows[1:] {
		at := func(name string) string { return r[column[name]] }
		way := at("engine") + " · " + at("design")
		key := way + " · " + at("flavour") + " · " + at("case")
		if !slices.Contains(flavours[way], at("flavour")) {
			flavours[way] = append(flavours[way], at("flavour"))
		}
		if at("verdict") != "equal" || at("proof") != "every value" {
			wrong[key] = true
		}
		ns, err := strconv.ParseFloat(cmp.Or(at("total_ns"), "NaN"), 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, seen := times[key]; !seen {
			cells++
			if !wrong[key] {
				right++
			}
		}
		if !math.IsNaN(ns) {
			times[key] = append(times[key], ns/1e9)
		}
	}
	for _, a := range about.Archives {
		if a.Engine == "dry" {
			continue
		}
		best := recomputed{query: math.Inf(1), load: a.Load / 1e9, size: a.Bytes}
		if _, path, ok := strings.Cut(a.URL, ":"); ok && a.Place == "embedded" {
			best.path = path
		}
		for _, flavour := range flavours[a.Engine+" · "+a.Design] {
			sum, n := 0.0, 0.0
			for _, c := range about.Cases {
				key := a.Engine + " · " + a.Design + " · " + flavour + " · " + c.Name
				if c.Rows == 0 {
					continue
				}
				if len(times[key]) == 0 || wrong[key] {
					sum = math.Inf(1)
				} else {
					sum += median(times[key])
				}
				n++
			}
			if sum/n < best.query {
				best.query, best.name = sum/n, a.Engine+" · "+a.Design+" · "+flavour
			}
		}
		if best.name != "" {
			out = append(out, best)
		}
	}
	least := recomputed{query: math.Inf(1), load: math.Inf(1), size: math.Inf(1)}
	for _, c := range out {
		least.query, least.load, least.size = min(least.query, c.query), min(least.load, c.load), min(least.size, c.size)
	}
	for i := range out {
		c := &out[i]
		c.cost = math.Exp((5*math.Log(c.query/least.query) + 2*math.Log(c.load/least.load) + math.Log(c.size/least.size)) / 8)
	}
	slices.SortFunc(out, func(a, b recomputed) int { return cmp.Compare(a.cost, b.cost) })
	return out, cells, right
}

// median is the median of values, without the program's own package.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

var (
	dotPattern   = regexp.MustCompile(`<circle cx="([^"]+)" cy="([^"]+)" r="6"[^>]*><title>([^<]+?): query`)
	tagPattern   = regexp.MustCompile(`<[^>]+>`)
	valuePattern = regexp.MustCompile(`data-v=([0-9.e+-]+)`)
)

// section returns a section of a report.
func section(t *testing.T, page, id string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `<section id="`+id+`">`)
	text, _, ended := strings.Cut(rest, "</section>")
	if !found || !ended {
		t.Fatalf("the report has no section %s", id)
	}
	return text
}

// TestOneAnswer: headline, picture, table and advice of a study agree with each other and with samples.csv.
func TestOneAnswer(t *testing.T) {
	plainRunOnly(t)
	damaged := func(t *testing.T) string { // the lines of a real file, of which one is cut and one has a letter in a number
		text, err := os.ReadFile(filepath.Join(sharedData(t, "met/vsdb/metdataio"), "gfs_20140802.vsdb"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		lines = append(lines, lines[0][:len(lines[0])/2], strings.Replace(lines[1], "0.", "0x", 1), "no record")
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "damaged.vsdb"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	realData := func(name string) func(t *testing.T) string {
		return func(t *testing.T) string { return sharedData(t, "met/"+name) }
	}
	for _, x := range []struct {
		name    string
		data    func(t *testing.T) string
		engines []string
	}{
		{"ensemble", realData("stat/ensemble"), []string{"sqlite", "pebble"}},
		{"met_regression", realData("stat/met_regression"), []string{"duckdb", "sqlite"}},
		{"met_v12_newcols", realData("stat/met_v12_newcols"), []string{"duckdb", "sqlite", "pebble"}},
		{"misc", realData("stat/misc"), []string{"duckdb", "pebble"}},
		{"point_stat_prob", realData("stat/point_stat_prob"), []string{"sqlite", "pebble"}},
		{"strangers", realData("stat/strangers"), []string{"duckdb", "sqlite", "pebble"}},
		{"vsdb", realData("vsdb/metdataio"), []string{"duckdb", "sqlite", "pebble", "clickhouse", "postgres", "mariadb"}},
		{"synthetic day", dayOfData, []string{"sqlite", "pebble"}},
		{"damaged", damaged, []string{"duckdb", "sqlite"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "run")
			args := []string{"met", x.data(t), "--reps", "3", "--flavour", "sql,epoch-range,keys", "--client-overhead=false", "--out", out}
			for _, name := range x.engines {
				switch name {
				case "postgres", "mariadb":
					name += "=" + sharedPlace(t, name)
				case "clickhouse":
					if d, ok := all.Registry().Find(name); ok {
						enginetest.Installed(t, *d)
					}
				}
				args = append(args, "--engine", name)
			}
			status, terminal, stderr := barograph(t, args...)
			if status != 0 && status != fault.Incomplete { // some of these files have lines that conflict or cannot be read
				t.Fatalf("status %d\n%s%s", status, terminal, stderr)
			}
			text, err := os.ReadFile(filepath.Join(out, "report.html"))
			if err != nil {
				t.Fatal(err)
			}
			want, cells, right := recompute(t, out)
			checkOneAnswer(t, terminal, string(text), want, fmt.Sprintf("%d of %d results equal the reference", right, cells))
		})
	}
	t.Run("no question has rows", func(t *testing.T) {
		status, terminal, stderr := barograph(t, "met", sharedData(t, "met/stat/strangers"), "--case", "noaa", "--engine", "sqlite", "--reps", "3", "--out", filepath.Join(t.TempDir(), "run"))
		if status != 4 || strings.Contains(terminal, "is the best") || !strings.Contains(terminal+stderr, "no rows") {
			t.Errorf("status %d\n%s%s", status, terminal, stderr)
		}
	})
}

// checkOneAnswer compares what a study prints, and its report, with the recomputed configurations, the best one first.
func checkOneAnswer(t *testing.T, terminal, page string, want []recomputed, proof string) {
	t.Helper()
	if len(want) < 2 {
		t.Fatalf("%d configurations", len(want))
	}
	_, headline, _ := strings.Cut(page, "<p class=answer>")
	headline, _, _ = strings.Cut(headline, "</p>")
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for where, text := range map[string]string{"the report's first sentence": headline, "the terminal": oneLine(terminal)} {
		first, second := strings.Index(text, want[0].name), strings.Index(text, want[1].name)
		if first < 0 || second < first {
			t.Errorf("%s names %s at %d and %s at %d: %s", where, want[0].name, first, want[1].name, second, text)
		}
		for _, figure := range []string{threeDigits(want[0].query*1e3) + " ms", times(want[1].cost / want[0].cost)} {
			if !strings.Contains(text, figure) {
				t.Errorf("%s lacks %q: %s", where, figure, text)
			}
		}
		if where == "the terminal" && !strings.Contains(text, proof) || where != "the terminal" && !strings.Contains(page, proof) {
			t.Errorf("%s lacks %q", where, proof)
		}
	}

	// The table and the advice list all configurations in this order, with these figures.
	choice, advice := section(t, page, "choice"), section(t, page, "advice")
	for where, text := range map[string]string{"the table": choice, "the advice": advice} {
		var got []string
		for row := range strings.SplitSeq(text, "<tr") {
			row, _, _ = strings.Cut(row, "</tr>")
			values := valuePattern.FindAllStringSubmatch(row, -1)
			if len(values) < 3 {
				continue
			}
			i := len(got)
			cell := strings.Split(row, "<td>")
			name := tagPattern.ReplaceAllString(cell[1][:strings.IndexByte(cell[1]+"<", '<')], "")
			if where == "the advice" {
				name = strings.TrimSpace(cell[1]) + " · " + strings.TrimSpace(cell[2]) + " · " + cell[3][:strings.IndexByte(cell[3]+"<", '<')]
			}
			if got = append(got, name); i >= len(want) {
				continue
			}
			for k, v := range []float64{want[i].query, want[i].load, want[i].size} {
				if f, err := strconv.ParseFloat(values[k][1], 64); err != nil || math.Abs(f/v-1) > 1e-6 {
					t.Errorf("%s, %s: figure %d is %s, not %g", where, name, k, values[k][1], v)
				}
			}
		}
		for i, c := range want {
			if i >= 10 && where == "the table" {
				break // at most ten rows
			}
			if i >= len(got) || got[i] != c.name {
				t.Errorf("%s lists %q; want %s in place %d", where, got, c.name, i+1)
				break
			}
		}
	}

	// In the picture a dot's position is linear in the logarithms of the query and load times.
	dots := map[string][2]float64{}
	for _, m := range dotPattern.FindAllStringSubmatch(choice, -1) {
		x, errX := strconv.ParseFloat(m[1], 64)
		y, errY := strconv.ParseFloat(m[2], 64)
		if errX != nil || errY != nil {
			t.Fatalf("a dot is at %q", m)
		}
		dots[m[3]] = [2]float64{x, y}
	}
	if len(dots) != len(want) {
		t.Errorf("the picture has %d dots for %d configurations", len(dots), len(want))
	}
	for axis, of := range []func(c recomputed) float64{func(c recomputed) float64 { return c.load }, func(c recomputed) float64 { return c.query }} {
		low := slices.MinFunc(want, func(a, b recomputed) int { return cmp.Compare(of(a), of(b)) })
		high := slices.MaxFunc(want, func(a, b recomputed) int { return cmp.Compare(of(a), of(b)) })
		scale := (dots[high.name][axis] - dots[low.name][axis]) / math.Log(of(high)/of(low))
		for _, c := range want {
			at, ok := dots[c.name]
			if expected := dots[low.name][axis] + scale*math.Log(of(c)/of(low)); !ok || scale <= 0 || math.Abs(at[axis]-expected) > 0.5 {
				t.Errorf("the dot of %s is at %v; want %.1f on axis %d", c.name, at, expected, axis)
			}
		}
	}

	// The size is that of the file after the archive is closed.
	for _, c := range want {
		if c.path == "" {
			continue
		}
		stored := 0.0
		err := filepath.WalkDir(c.path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				stored += float64(info.Size())
			}
			return err
		})
		// ClickHouse counts the parts of tables, not some 20 kB of descriptions of tables and of its own files.
		if err != nil || math.Abs(stored-c.size) > 0.05*stored+32<<10 {
			t.Errorf("%s: %.0f bytes are reported, the file system has %.0f, %v", c.name, c.size, stored, err)
		}
	}
}

// times prints a ratio as headlines do.
func times(ratio float64) string { return threeDigits(ratio) + " times" }

// threeDigits prints a number as reports print times.
func threeDigits(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 2, 64), 64) // 0.9998 is 1.00
	digits := max(0, 2-int(math.Floor(math.Log10(v))))
	return strconv.FormatFloat(v, 'f', digits, 64)
}
