package question

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

// TestPlotXMLKeepsConditions: the plot_spec of a question gives the same conditions again, or PlotXML refuses it. Some
// questions also have curves of a value that their condition excludes.
func TestPlotXMLKeepsConditions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 60))
	written := 0
	for range 4000 {
		lt, _ := record.TypeByName("SL1L2")
		q := &Question{Name: "p", Type: lt, Weight: 1, Subset: "a", Drawing: NewDrawing(lt, "RMSE", "fcst_lead")}
		q.Header[record.FcstVar] = []string{"TMP"}
		for _, f := range []record.Field{record.Model, record.VxMask, record.FcstLev, record.FcstThresh} {
			for range r.IntN(3) {
				v := []string{"A", "B b", "A:B", "0,*,*", "(0,*,*)", ">=5", "A,B", "x'y", "<&>", "2019-01-01 00:00:00", "*", "A*", "PROB(A*)", ""}[r.IntN(14)]
				q.Header[f] = Unique(append(q.Header[f], v))
			}
		}
		for range r.IntN(4) {
			q.Lead = append(q.Lead, int32(r.IntN(80)-12)*1800)
		}
		slices.Sort(q.Lead)
		q.Lead = slices.Compact(q.Lead)
		at := func() int64 { return int64(r.IntN(4000)-1000) * 21600 }
		for _, times := range []*Times{&q.Valid, &q.TimeFilter.Init} {
			switch first := at(); r.IntN(5) {
			case 0:
				times.List = []int64{first}
			case 1:
				times.List = []int64{first, first + 3600, first + 86400}
			case 2:
				times.First, times.Last = first, first+86400
			case 3:
				times.First, times.Last, times.Step = first, first+86400, 21600
			}
		}
		if r.IntN(2) == 0 {
			q.TimeFilter.ValidHour = []int{r.IntN(12), 12 + r.IntN(12)}
		}
		if r.IntN(3) == 0 {
			q.TimeFilter.InitHour = []int{r.IntN(24)}
		}
		q.Drawing.Axis = []string{"fcst_lead", "fcst_lev", "fcst_valid_beg", "init_hour", "model"}[r.IntN(5)]
		if values := q.Header[record.VxMask]; len(values) > 0 && r.IntN(2) == 0 {
			g := Group{Field: "vx_mask"}
			for _, v := range values {
				g.Values = append(g.Values, []string{v})
			}
			if r.IntN(3) == 0 {
				g.Values = append(g.Values, []string{"Z"})
			}
			q.Drawing.Curves = []Group{g}
		}
		if hours := q.TimeFilter.InitHour; len(hours) > 0 && r.IntN(2) == 0 {
			g := Group{"init_hour", [][]string{{fmt.Sprint(hours[0])}, {fmt.Sprint((hours[0] + 6) % 24)}}}
			q.Drawing.Curves = append(q.Drawing.Curves, g)
		}
		q.SelectColumns()
		text, err := PlotXML(q, 1)
		if err != nil {
			continue
		}
		written++
		spec, err := metviewer.ParsePlotSpec("p.xml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		qs, notes := FromPlots(spec)
		conditions := func(q *Question) string {
			hours := [2][]int{q.TimeFilter.ValidHour, q.TimeFilter.InitHour}
			return fmt.Sprintf("%q %v %v %v %v | %v %v", q.Header, q.Lead, q.Valid.formatItems(), q.TimeFilter.Init.formatItems(),
				hours, q.Drawing.Curves, q.Drawing.Axis)
		}
		if len(qs) == 0 {
			t.Fatalf("%v\n%s\n%s", notes, conditions(q), text)
		}
		a := *q
		a.Valid.List = q.Valid.Expand()
		if a.Valid.List != nil {
			a.Valid.First, a.Valid.Last, a.Valid.Step = 0, 0, 0
		}
		a.TimeFilter.Init.List = q.TimeFilter.Init.Expand()
		if a.TimeFilter.Init.List != nil {
			a.TimeFilter.Init = Times{List: a.TimeFilter.Init.List}
		}
		if got, want := conditions(qs[0]), conditions(&a); len(qs) != 1 || got != want {
			t.Fatalf("%d questions, %v\n got %s\nwant %s\n%s", len(qs), notes, got, want, text)
		}
	}
	if written < 500 {
		t.Errorf("%d questions were written", written)
	}
}
