package curve_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/stat"
)

// TestGreatestInterest: MAXINTF takes the greatest interest of each object among its pairs of one time and lead,
// because other objects of other times have the same names.
func TestGreatestInterest(t *testing.T) {
	pairs, _ := record.TypeByName("MODE_OBJ_PAIR")
	q := &question.Question{Name: "q", Type: pairs, Drawing: &question.Drawing{Stats: []string{"MAXINTF_SA"}, Axis: "fcst_lead", Method: "mean", FromColumns: true}}
	q.SelectColumns()
	var b record.Batch
	b.Reset(pairs, "")
	header := b.AddHeader(record.DefaultHeader())
	for _, r := range []struct {
		valid    int64
		object   string
		interest float64
	}{{6, "F001_O001", 0.5}, {6, "F001_O002", 0.9}, {12, "F001_O001", 0.3}, {12, "F002_O001", 0.6}} {
		b.AppendTimes(header, 6*3600, r.valid*3600, 1)
		for _, c := range pairs.Columns {
			switch {
			case c.Kind != record.Text:
				b.Num[c.Slot] = append(b.Num[c.Slot], map[string]float64{"simple_flag": 1, "interest": r.interest}[c.Name])
			case c.Name == "object_id":
				b.Text[c.Slot] = append(b.Text[c.Slot], r.object)
			default:
				b.Text[c.Slot] = append(b.Text[c.Slot], record.NA)
			}
		}
	}
	wide, err := curve.Widen(q, q.Drawing.Stats)
	if err != nil {
		t.Fatal(err)
	}
	c, err := curve.Compute(t.Context(), wide, answer.Select(wide, &b), "MAXINTF_SA", 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Series[0]; len(s.Y) != 1 || s.Records[0] != 3 || !(math.Abs(s.Y[0]-0.6) < 1e-9) { // mean of 0.9, 0.3, 0.6
		t.Errorf("%+v", s)
	}
}

// TestRevisedObjects: a plot of the revisions of MTD objects has METviewer's revision tests, with the revisions of each
// object in the order of its times.
func TestRevisedObjects(t *testing.T) {
	lt, _ := record.TypeByName("MTD_2D_OBJ")
	q := &question.Question{Name: "q", Type: lt, Drawing: &question.Drawing{Stats: []string{"2D_AREA_FSA"}, Axis: "fcst_lead", Method: "mean", FromColumns: true}}
	q.Header[record.FcstVar] = []string{"REV_APCP"}
	q.SelectColumns()
	var b record.Batch
	b.Reset(lt, "")
	h := record.DefaultHeader()
	h[record.FcstVar] = "REV_APCP"
	header := b.AddHeader(h)
	// F_1 has the first four records and F_2 the last four. The two of O_1, with area 9, are observed.
	for i, area := range []float64{1, -3, 2, -1, 9, 9, 2, 4, -4, 6} {
		b.AppendTimes(header, int32(12-i)*3600, 3600, 1)
		for _, c := range lt.Columns {
			switch {
			case c.Kind != record.Text:
				b.Num[c.Slot] = append(b.Num[c.Slot], map[string]float64{"simple_flag": 1, "area": area, "fcst_flag": map[bool]float64{area != 9: 1}[true], "time_index": float64(i)}[c.Name])
			case c.Name == "object_id":
				b.Text[c.Slot] = append(b.Text[c.Slot], []string{"F_1", "F_1", "F_1", "F_1", "O_1", "O_1", "F_2", "F_2", "F_2", "F_2"}[i])
			default:
				b.Text[c.Slot] = append(b.Text[c.Slot], record.NA)
			}
		}
	}
	wide, err := curve.Widen(q, q.Drawing.Stats)
	if err != nil {
		t.Fatal(err)
	}
	all := answer.Select(wide, &b)
	c, err := curve.Compute(t.Context(), wide, all, "2D_AREA_FSA", 1)
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Series[0].Records; !slices.Equal(n, []int{1, 1, 1, 1, 0, 0, 1, 1, 1, 1}) { // observed objects do not count
		t.Error(n)
	}
	want := stat.RevisionsOf([][]float64{{1, -3, 2, -1}, {2, 4, -4, 6}}).String()
	if !strings.HasSuffix(c.Note, ": "+want) {
		t.Errorf("%s\nwant %s", c.Note, want)
	}
	for _, name := range []string{"object_id", "time_index"} { // without the column there are no tests
		k := slices.IndexFunc(all.Columns, func(c question.Column) bool { return c.Name == name })
		less := &answer.Answer{Rows: all.Rows, Columns: slices.Delete(slices.Clone(all.Columns), k, k+1), Vectors: slices.Delete(slices.Clone(all.Vectors), k, k+1)}
		narrow := *wide
		narrow.Columns = slices.DeleteFunc(slices.Clone(wide.Columns), func(c question.Column) bool { return c.Name == name })
		if got, err := curve.Compute(t.Context(), &narrow, less, "2D_AREA_FSA", 1); err != nil || strings.Contains(got.Note, "revisions") {
			t.Errorf("without %s: %v, %+v", name, err, got)
		}
	}
	for _, names := range [][]string{nil, {"REV_APCP", "APCP"}} { // some variable is no revision
		other := *wide
		other.Header[record.FcstVar] = names
		if got, err := curve.Compute(t.Context(), &other, all, "2D_AREA_FSA", 1); err != nil || strings.Contains(got.Note, "revisions") {
			t.Errorf("of %v: %v, %+v", names, err, got)
		}
	}
	for k, column := range all.Columns { // whichever column is the first
		one, other := withFirst(wide, all, k)
		if got, err := curve.Compute(t.Context(), one, other, "2D_AREA_FSA", 1); err != nil || !strings.HasSuffix(got.Note, ": "+want) {
			t.Errorf("with %s as the first column: %v, %+v", column.Name, err, got)
		}
	}
}

// TestDifferencesWithoutCases: objects of two models, and their revisions, have no common cases. A scorecard needs a baseline.
func TestDifferencesWithoutCases(t *testing.T) {
	for _, c := range []struct{ lineType, picture, minus, derived, want string }{
		{"MODE_OBJ_SINGLE", "", "b", "", "no cases to pair"},
		{"MODE_OBJ_SINGLE", "scorecard", "b", "", "no cases to pair"},
		{"MTD_3D_OBJ_PAIR", "", "", "RATIO", "no cases to pair"},
		{"SL1L2", "revision", "b", "", "no cases to pair"},
		{"SL1L2", "scorecard", "", "", "picture scorecard needs a baseline"},
	} {
		lt, _ := record.TypeByName(c.lineType)
		d := &question.Drawing{Picture: c.picture, Baseline: c.minus, Axis: "fcst_lead", Method: "median"}
		if c.derived != "" {
			d.Derived = []question.Derived{{Operation: stat.Operation(c.derived)}}
		}
		_, err := curve.ComputePoints(&question.Question{Name: "q", Type: lt, Drawing: d}, &answer.Answer{Rows: 1}, question.DefaultStat(lt), 1)
		if err == nil || !strings.Contains(err.Error(), c.want) || fault.Code(err) != fault.Usage {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
