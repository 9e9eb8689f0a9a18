package design

import (
	"fmt"
	"slices"
	"testing"

	"github.com/barograph/barograph/record"
)

// TestHolesOfLeads: 48 h is missing on 8 of 29 days, whether files are sorted by valid or
// by initial time; a cycle that runs less far, and a day that no lead has, are no holes.
func TestHolesOfLeads(t *testing.T) {
	sl1l2, _ := record.TypeByName("SL1L2")
	lost := []int64{3, 4, 9, 11, 17, 20, 28, 29}
	for _, byInit := range []bool{false, true} {
		var l LeadTimes
		var b record.Batch
		b.Reset(sl1l2, "")
		h := record.DefaultHeader()
		h[record.Model] = "GFS"
		head := b.AddHeader(h)
		for day := int64(1); day <= 29; day++ {
			for _, lead := range []int32{24, 48, 72, 96} {
				for _, hour := range []int64{0, 6} {
					cut := lead == 48 && slices.Contains(lost, day)
					if hour == 6 && lead > 48 || cut || day == 15 { // the 06 cycle ends at 48 h
						continue
					}
					valid := 86400*day + 3600*hour
					if byInit {
						valid += int64(lead) * 3600
					}
					b.AppendTimes(head, lead*3600, valid, 1)
				}
			}
		}
		l.Add(&b)
		got := l.Holes()
		var text string
		for _, one := range got {
			text += fmt.Sprintf("%s %s %v: %d of %d;", one.LineType, one.Model, one.Leads, len(one.Missing), one.Expected)
		}
		// By initial time a lead is expected up to its own last day only,
		// and the day that no lead has is another valid time of each lead.
		want := "SL1L2 GFS [172800]: 16 of 56;"
		if !byInit {
			if text != want {
				t.Errorf("%s, want %s", text, want)
			}
			continue
		}
		at := slices.IndexFunc(got, func(one LeadHole) bool { return slices.Contains(one.Leads, 48*3600) })
		if at < 0 || len(got[at].Missing) < 12 {
			t.Error(text)
		}
	}
}
