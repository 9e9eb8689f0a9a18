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
		{Group{First: 100, Last: 300, Step: 100}, []int64{100, 200, 300}},
		{Group{First: 100, Last: 99, Step: 100}, nil},
		{Group{First: 100, Last: 300, Step: 100, Valid: Moments{100, 300}}, []int64{100, 300}},
	} {
		if got := c.g.Times(&question.Question{}); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.g, got, c.want)
		}
	}
}

// Only a valid time before the cut makes a line type worth a removal.
func TestBefore(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	c := &Catalog{Groups: []*Group{{LineType: "SL1L2", Valid: Moments{100, 200}}, {LineType: "SL1L2"}, {LineType: "VL1L2", Valid: Moments{50}}}}
	for from, want := range map[int64]bool{99: false, 100: false, 101: true, 201: true} {
		if got := c.HasRecordsBefore(lt, from); got != want {
			t.Errorf("before %d: %v, want %v", from, got, want)
		}
	}
}
