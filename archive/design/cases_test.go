package design

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// day is 2024-01-01T00:00:00Z.
const day = 1704067200

// grid is a catalog of one line type, in which every combination of the values has one record.
type grid struct {
	lineType                  string
	models, vars, levs, masks []string
	thresholds                []string
	leads                     []int32 // hours
	days, step                int     // valid times: from day on, each step hours
}

// fill adds the records of the grid to c.
func (g *grid) fill(c *Catalog) {
	t, _ := record.TypeByName(g.lineType)
	b := &record.Batch{}
	b.Reset(t, "")
	for _, model := range g.models {
		for _, name := range g.vars {
			for _, level := range g.levs {
				for _, mask := range g.masks {
					for _, thresh := range g.thresholds {
						h := record.DefaultHeader()
						h[record.Version], h[record.Model], h[record.VxMask], h[record.ObType] = "V01", model, mask, "ANL"
						h[record.FcstVar], h[record.ObsVar], h[record.FcstLev], h[record.ObsLev] = name, name, level, level
						h[record.FcstThresh], h[record.ObsThresh] = thresh, thresh
						head := b.AddHeader(h)
						for at := 0; at < g.days*24; at += g.step {
							for _, lead := range g.leads {
								b.AppendTimes(head, lead*3600, day+int64(at)*3600, 1)
							}
						}
					}
				}
			}
		}
	}
	if t.Group != nil {
		b.GroupEnd = make([]uint32, b.Len())
	}
	for i := range b.Text {
		b.Text[i] = make([]string, b.Len())
	}
	c.Merge(catalogOf(b))
}

func hours(from, to, step int32) (all []int32) {
	for h := from; h <= to; h += step {
		all = append(all, h)
	}
	return all
}

// grids are catalogs in which each shape of case has values to choose from, or has none.
func grids() map[string][]*grid {
	na := []string{record.NA}
	return map[string][]*grid{
		"upper air": {{"SAL1L2", []string{"GFS", "ECM", "UKM", "CMC", "FNO"}, []string{"HGT", "TMP"}, []string{"P1000", "P500", "P250", "Z2"}, []string{"G2", "G2/NHX", "G2/SHX", "G2/TRO"}, na, hours(0, 96, 24), 10, 12}},
		"two types": {
			{"SL1L2", []string{"GFS"}, []string{"TMP"}, []string{"Z2"}, []string{"CONUS"}, na, []int32{6, 30}, 2, 6},
			{"VL1L2", []string{"GFS"}, []string{"UGRD_VGRD"}, []string{"Z10"}, []string{"CONUS"}, na, []int32{6, 30}, 2, 6},
		},
		"thresholds":  {{"CTC", []string{"RAP", "HRRR"}, []string{"APCP"}, []string{"A3"}, []string{"EAST", "WEST"}, []string{">=1", ">=5", ">=10"}, []int32{3, 9}, 5, 24}},
		"one record":  {{"SL1L2", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, na, []int32{5}, 1, 24}},
		"one time":    {{"SL1L2", []string{"M", "N"}, []string{"V"}, []string{"P1", "P2"}, []string{"R", "S,T"}, na, []int32{0, 1, 2}, 1, 24}},
		"irregular":   {{"SL1L2", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, na, []int32{0}, 1, 24}, {"SL1L2", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, na, []int32{0}, 30, 7}},
		"probability": {{"PSTD", []string{"M"}, []string{"PROB(TMP>0)"}, []string{"Z0"}, []string{"FULL"}, []string{"==0.1"}, hours(1, 48, 1), 1, 24}},
	}
}

// line writes a question as one line of the golden file.
func line(q *question.Question) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s | %s |", q.Name, q.Title)
	for f, v := range q.Header {
		if v != nil {
			fmt.Fprintf(&w, " %s=%s", record.Field(f), strings.Join(v, ","))
		}
	}
	fmt.Fprintf(&w, " | leads")
	for _, l := range q.Lead {
		fmt.Fprintf(&w, " %d", l/3600)
	}
	hour := func(v int64) int64 { return (v - day) / 3600 }
	if q.Valid.List != nil {
		fmt.Fprint(&w, " | valid")
		for _, v := range q.Valid.List {
			fmt.Fprintf(&w, " %d", hour(v))
		}
	} else {
		fmt.Fprintf(&w, " | valid %d to %d by %d", hour(q.Valid.First), hour(q.Valid.Last), q.Valid.Step/3600)
	}
	fmt.Fprint(&w, " | columns")
	for _, c := range q.Columns {
		fmt.Fprintf(&w, " %s", c.Name)
	}
	return w.String()
}

// TestCases: the questions that Cases derives are those in testdata/cases.txt, and each matches records of the
// catalog.
func TestCases(t *testing.T) {
	var out strings.Builder
	all := grids()
	for _, name := range sortedKeys(all) {
		c := NewCatalog("s")
		for _, g := range all[name] {
			g.fill(c)
		}
		fmt.Fprintf(&out, "# %s\n", name)
		for _, q := range c.Cases() {
			fmt.Fprintln(&out, line(q))
			if why := c.ExplainNoRecords(q); why != "" {
				t.Errorf("%s, %s: %s", name, q.Name, why)
			}
			if again := c.CasesWith(q.Name); len(again) != len(c.Cases()) {
				t.Errorf("%s, %s: a case that is there was added", name, q.Name)
			}
		}
	}
	golden(t, "testdata/cases.txt", out.String())
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", name, got)
	}
}

// TestCasesOfOtherVariables: CasesWith finds a name also if another variable is the main one.
func TestCasesOfOtherVariables(t *testing.T) {
	c := NewCatalog("s")
	grids()["upper air"][0].fill(c)
	c.Groups[0].Digest.Records *= 3 // makes the first one the main one
	for name, want := range map[string]string{
		"one_sal1l2_tmp": "TMP", "one_sal1l2_hgt": "HGT", "dieoff_sal1l2_tmp": "TMP", "large_sal1l2": "",
		"one_sal1l2_ugrd": "none", "one_ctc_tmp": "none", "sal1l2": "none",
	} {
		all := c.CasesWith(name)
		at := slices.IndexFunc(all, func(q *question.Question) bool { return q.Name == name })
		switch {
		case at < 0 && want != "none":
			t.Errorf("%s is not known", name)
		case at >= 0 && strings.Join(all[at].Header[record.FcstVar], ",") != want:
			t.Errorf("%s asks for %v", name, all[at].Header[record.FcstVar])
		}
	}
}

// TestCasesAreBounded: a question that would exceed the limits requests only the last times. A question that
// needs too many keys even at one time is not derived.
func TestCasesAreBounded(t *testing.T) {
	c := NewCatalog("s")
	(&grid{"SL1L2", []string{"M"}, []string{"V"}, []string{"P1", "P2"}, []string{"R"}, []string{record.NA}, []int32{0, 6}, 40, 6}).fill(c)
	g := c.Groups[0]
	g.Digest.Records = 400_000 // 2,500 at each time
	for _, q := range c.Cases() {
		rows, keys := c.estimateRows(q), c.keyCount(q)
		if rows > maxRows || keys > maxKeys {
			t.Errorf("%s asks for about %.0f records and %d keys", q.Name, rows, keys)
		}
		if strings.HasPrefix(q.Name, "large") && q.Valid.First == day {
			t.Errorf("%s begins with the first time", q.Name)
		}
	}
	if got := c.estimateRows(&question.Question{Type: mustType("SL1L2")}); got != 400_000 {
		t.Errorf("all are %v", got)
	}
	half := &question.Question{Type: mustType("SL1L2"), Lead: []int32{0}, Valid: question.Times{First: day, Last: day + 19*86400 + 18*3600, Step: 21600}}
	half.Header[record.FcstLev] = []string{"P1"}
	if got := c.estimateRows(half); got != 50_000 {
		t.Errorf("an eighth is %v", got)
	}
	if got := c.keyCount(half); got != 80 {
		t.Errorf("%d keys of one level and 80 times", got)
	}
	g.Masks = make([]string, maxKeys+1) // as many regions at each time
	if c.limitSize(&question.Question{Type: mustType("SL1L2")}) {
		t.Error("a question with too many keys fits")
	}
}

func mustType(name string) *record.LineType {
	t, _ := record.TypeByName(name)
	return t
}

// TestTimesAsAsked: times that form a grid become a grid. A few other times become a list, and many become a range.
func TestTimesAsAsked(t *testing.T) {
	odd := func(n int) (m Moments) {
		for i := range n {
			m = append(m, int64(i)*86400+int64(i*i%86399))
		}
		return m
	}
	regular := func(n int, step int64) (m Moments) {
		for i := range n {
			m = append(m, int64(i)*step)
		}
		return m
	}
	for name, c := range map[string]struct {
		valid Moments
		want  string
	}{
		"none":                      {nil, "list of 0"},
		"one":                       {Moments{5}, "list of 1"},
		"two":                       {Moments{5, 65}, "5 to 65 by 60"},
		"a grid":                    {regular(10, 3600), "0 to 32400 by 3600"},
		"the longest grid":          {regular(maxTimes, 60), "0 to 119940 by 60"},
		"too long a grid":           {regular(maxTimes+1, 60), "0 to 120000 by 0"},
		"a grid with a few of four": {Moments{0, 3600, 7 * 3600}, "0 to 25200 by 3600"},
		"too sparse for a grid":     {Moments{0, 3600, 12 * 3600}, "list of 3"},
		"the longest list":          {odd(maxTimes / 10), "list of 200"},
		"too many for a list":       {odd(maxTimes/10 + 1), "0 to 17320000 by 0"},
	} {
		got := gridOrList(c.valid)
		text := fmt.Sprintf("%d to %d by %d", got.First, got.Last, got.Step)
		if got.First == 0 && got.Last == 0 {
			text = fmt.Sprintf("list of %d", len(got.List))
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// TestShare: sharedFraction is the fraction of the available values that is requested.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		there, asked []int32
		want         float64
	}{
		{[]int32{1, 2, 3, 4}, nil, 1},
		{[]int32{1, 2, 3, 4}, []int32{2}, 0.25},
		{[]int32{1, 2, 3, 4}, []int32{2, 4, 9}, 0.5},
		{[]int32{1}, []int32{9}, 0},
	} {
		if got := sharedFraction(c.there, c.asked); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.asked, c.there, got, c.want)
		}
	}
}

// TestLists: a list of values ends after twelve, and a value with a comma is quoted.
func TestLists(t *testing.T) {
	var values []string
	for i := range 13 {
		values = append(values, fmt.Sprint(i))
	}
	if got := listFirst(values[:12]); got != "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11" {
		t.Error(got)
	}
	if got := listFirst(values); got != "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 1 more" {
		t.Error(got)
	}
	if got := listFirst([]string{"EP,CP", "AL"}); got != `"EP,CP", AL` {
		t.Error(got)
	}
}

// TestOpen: ExpandPatterns replaces a pattern by the variables that match it.
func TestOpen(t *testing.T) {
	c := NewCatalog("s")
	(&grid{"SL1L2", []string{"M"}, []string{"TMP", "TMP_2", "DTMP", "T"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, 1, 24}).fill(c)
	for asked, want := range map[string]string{
		"TMP": "TMP", "TMP*": "TMP,TMP_2", "*TMP": "DTMP,TMP", "T*": "T,TMP,TMP_2", "T*T": "T*T", "X*": "X*", "*": "DTMP,T,TMP,TMP_2",
		"TMP*|DTMP": "DTMP,TMP,TMP_2", "DTMP|TMP|TMP": "DTMP,TMP",
	} {
		q := &question.Question{Type: mustType("SL1L2")}
		q.Header[record.FcstVar] = strings.Split(asked, "|")
		if got := strings.Join(c.ExpandPatterns(q).Header[record.FcstVar], ","); got != want {
			t.Errorf("%s is %s, want %s", asked, got, want)
		}
		other := &question.Question{Type: mustType("CTC"), Header: q.Header}
		if got := strings.Join(c.ExpandPatterns(other).Header[record.FcstVar], "|"); strings.Contains(asked, "*") && !strings.Contains(got, "*") {
			t.Errorf("%s of another line type is %s", asked, got)
		}
	}
}

// TestInventory: Inventory summarizes each line type, including the holes in its times.
func TestInventory(t *testing.T) {
	c := NewCatalog("s")
	for _, name := range []string{"thresholds", "two types"} {
		for _, g := range grids()[name] {
			g.fill(c)
		}
	}
	(&grid{"MCTC", []string{"M"}, []string{"V"}, []string{"L"}, []string{"R"}, []string{record.NA}, []int32{0}, 1, 24}).fill(c)
	for _, g := range c.Groups {
		if g.LineType == "VL1L2" {
			g.Valid = slices.Delete(g.Valid, 3, 5)
		}
	}
	var out strings.Builder
	for _, in := range c.Inventory() {
		fmt.Fprintf(&out, "%s %d %v %v %v %v %v %v %v %v %d %d %v\n", in.LineType, in.Records, in.Versions, in.Models, in.Variables, in.Levels,
			in.Regions, in.ObTypes, in.Thresholds, in.Leads, len(in.Valid), in.Step, in.Holes)
	}
	want := `SL1L2 16 [V01] [GFS] [TMP] [Z2] [CONUS] [ANL] [] [21600 108000] 8 21600 []
VL1L2 16 [V01] [GFS] [UGRD_VGRD] [Z10] [CONUS] [ANL] [] [21600 108000] 6 21600 [{1704110400 2}]
CTC 120 [V01] [HRRR RAP] [APCP] [A3] [EAST WEST] [ANL] [>=1 >=10 >=5] [10800 32400] 5 86400 []
MCTC 1 [V01] [M] [V] [L] [R] [ANL] [] [0] 1 0 []
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// TestLacks: MissingValues returns the values that no series has, and the nearest existing one.
func TestLacks(t *testing.T) {
	c := NewCatalog("s")
	grids()["thresholds"][0].fill(c)
	missing, there := c.MissingValues(mustType("CTC"), record.FcstThresh, []string{">=1", ">=2", ">=50"})
	if !slices.Equal(missing, []string{">=2", ">=50"}) || there != ">=1, >=10, >=5 (did you mean >=1?)" {
		t.Errorf("%q %q", missing, there)
	}
	if missing, there = c.MissingValues(mustType("CTC"), record.Model, []string{"RAP", "HRR"}); !slices.Equal(missing, []string{"HRR"}) || there != "HRRR, RAP (did you mean HRRR?)" {
		t.Errorf("%q %q", missing, there)
	}
	if missing, there = c.MissingValues(mustType("CTC"), record.Model, []string{"RAP"}); len(missing) > 0 || there != "" {
		t.Errorf("%q %q", missing, there)
	}
}
