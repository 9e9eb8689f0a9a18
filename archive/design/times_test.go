package design

import (
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// A key leaves out obs_thresh, obs_lev and obs_var where they are those of the
// forecast, and has them where they are not.
func TestImpliedFields(t *testing.T) {
	for _, f := range [][2]record.Field{{record.FcstThresh, record.ObsThresh}, {record.FcstLev, record.ObsLev}, {record.FcstVar, record.ObsVar}} {
		for _, c := range []struct {
			forecast, observed string
			named              bool
		}{{">5", ">5", false}, {">5", ">6", true}, {">5", record.NA, true}, {record.NA, record.NA, false}} {
			h := record.DefaultHeader()
			h[f[0]], h[f[1]] = c.forecast, c.observed
			for i, name := range []string{record.FcstVar.String(), record.FcstLev.String()} { // of the key's base
				if g := []record.Field{record.FcstVar, record.FcstLev}[i]; g != f[0] {
					h[g], h[[]record.Field{record.ObsVar, record.ObsLev}[i]] = name, name
				}
			}
			if text := Further(&h); strings.Contains(text, f[1].String()+"=") != c.named {
				t.Errorf("%s %q, %s %q: key has %q", f[0], c.forecast, f[1], c.observed, text)
			}
		}
	}
}

// A series whose valid times are not counted has the grid of its step; one time is a grid.
func TestGridOfTimes(t *testing.T) {
	for _, c := range []struct {
		g    Group
		want []int64
	}{
		{Group{First: 100, Last: 100}, []int64{100}},
		{Group{First: 0, Last: 0}, []int64{0}},
		{Group{First: 100, Last: 300, Step: 100}, []int64{100, 200, 300}},
		{Group{First: 100, Last: 102, Step: 1}, []int64{100, 101, 102}},
		{Group{First: 100, Last: 99, Step: 100}, nil},
		{Group{First: 100, Last: 300, Step: 100, Valid: Moments{100, 300}}, []int64{100, 300}},
	} {
		if got := c.g.Times(&question.Question{}); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.g, got, c.want)
		}
	}
}

// HasRecordsBefore is true only for a line type with a valid time before the cutoff.
func TestBefore(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	c := &Catalog{Groups: []*Group{{LineType: "SL1L2", Valid: Moments{100, 200}}, {LineType: "SL1L2"}, {LineType: "VL1L2", Valid: Moments{50}}}}
	for from, want := range map[int64]bool{99: false, 100: false, 101: true, 201: true} {
		if got := c.HasRecordsBefore(lt, from); got != want {
			t.Errorf("before %d: %v, want %v", from, got, want)
		}
	}
}

// Two removals add up. A group without valid times stays, because the catalog does not know which of its
// records are left. A group that is removed completely can come back with the same headers.
func TestTrimAgain(t *testing.T) {
	lt := mustType("SL1L2")
	h := record.DefaultHeader()
	h[record.Model] = "M"
	records := func(valid ...int64) *record.Batch {
		b := &record.Batch{}
		b.Reset(lt, "")
		head := b.AddHeader(h)
		for _, v := range valid {
			b.AppendTimes(head, 0, v, 1)
		}
		for i := range b.Num {
			b.Num[i] = make([]float64, b.Len())
		}
		return b
	}
	c := NewCatalog("s")
	c.Add(records(100, 200))
	unknown := &Group{LineType: "SL1L2", Model: "without times", Last: -1}
	c.insert(unknown)
	for i, cut := range []struct{ removed, from int64 }{{100, 150}, {200, 250}} {
		c.Trim(cut.from, catalogOf(records(cut.removed)), 0)
		if want := int64(i + 1); c.Trimmed != want || c.LoadedRecords() != 2 {
			t.Errorf("removal %d: %d records trimmed of %d, want %d of 2", i+1, c.Trimmed, c.LoadedRecords(), want)
		}
	}
	if len(c.Groups) != 1 || c.Groups[0] != unknown {
		t.Errorf("after the removals: %+v", c.Groups)
	}
	c.Add(records(300))
	if g := c.GroupFor(lt, &h); g == nil || g.First != 300 || c.Digest().Records != 1 {
		t.Errorf("a record that was added after the removals is in group %+v of %+v", g, c.Groups)
	}
}

// The main series is of the group in which most dimensions vary, even if another group has more records. Each dimension
// counts: the leads, the levels, the masks and the valid times.
func TestMainSeriesVaries(t *testing.T) {
	one := func(name string) *grid {
		return &grid{"CTC", []string{"M"}, []string{name}, []string{"P1"}, []string{"R1"}, []string{">1"}, []int32{0}, 1, 24}
	}
	for dimension, vary := range map[string]func(g *grid){
		"leads":  func(g *grid) { g.leads = []int32{0, 6} },
		"levels": func(g *grid) { g.levs = []string{"P1", "P2"} },
		"masks":  func(g *grid) { g.masks = []string{"R1", "R2"} },
		"times":  func(g *grid) { g.days = 2 },
	} {
		c, varying, larger := NewCatalog("s"), one("VARYING"), one("LARGER")
		vary(varying)
		larger.thresholds = []string{">1", ">2", ">3"}
		varying.fill(c)
		larger.fill(c)
		if s := c.findMainSeries(mustType("CTC"), ""); s.Header[record.FcstVar][0] != "VARYING" {
			t.Errorf("%s vary: the main series is of %s", dimension, s.Header[record.FcstVar])
		}
	}
}
