package curve_test

import (
	"testing"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/curve"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// The greatest interest of an object is that among its pairs of one time and lead:
// objects of other times have the same names.
func TestGreatestInterest(t *testing.T) {
	pairs, _ := record.TypeByName("MODE_OBJ_PAIR")
	q := &question.Question{Name: "q", Type: pairs, Drawing: &question.Drawing{Stats: []string{"MAXINTF_SA"}, Axis: "fcst_lead", Method: "mean", Finished: true}}
	q.Select()
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
	c, err := curve.Of(t.Context(), wide, answer.Select(wide, &b), "MAXINTF_SA", 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Series[0]; len(s.Y) != 1 || s.Y[0] < 0.5999 || s.Y[0] > 0.6001 { // of 0.9, 0.3 and 0.6
		t.Errorf("%+v", s)
	}
}
