package design

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/lists"
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

// times returns LeadTimes of records of one model: for each lead in hours, the hours of its valid times.
func times(l *LeadTimes, lineType, model string, hours map[int32][]int64) {
	b := &record.Batch{}
	b.Reset(mustType(lineType), "")
	h := record.DefaultHeader()
	h[record.Model] = model
	head := b.AddHeader(h)
	for lead, all := range hours {
		for _, hour := range all {
			b.AppendTimes(head, lead*3600, hour*3600, 1)
		}
	}
	l.Add(b)
}

// TestLeadHoles: a lead is expected at each time of another lead at one of its own hours of the day, from its first day
// to its last day. The first and last days of more than half of the leads apply to all.
func TestLeadHoles(t *testing.T) {
	every6 := func(from, to int64, without ...int64) (out []int64) {
		for h := from; h <= to; h += 6 {
			if !slices.Contains(without, h) {
				out = append(out, h)
			}
		}
		return out
	}
	for name, c := range map[string]struct {
		hours map[int32][]int64
		want  string
	}{
		"one lead":      {map[int32][]int64{0: every6(0, 90, 12)}, ""},
		"equal leads":   {map[int32][]int64{0: every6(0, 90), 6: every6(0, 90)}, ""},
		"one is absent": {map[int32][]int64{0: every6(0, 90), 6: every6(0, 90, 36)}, "[6] 15 of 16, 36+6*1;"},
		"two leads lack the same times": {
			map[int32][]int64{0: every6(0, 90), 6: every6(0, 90, 30, 36), 12: every6(0, 90, 30, 36), 18: every6(0, 90, 30, 42)},
			"[6 12] 14 of 16, 30+6*2;[18] 14 of 16, 30+12*2;",
		},
		// It has only the hours 0 and 12.
		"an hour of the day": {map[int32][]int64{0: every6(0, 90), 6: {0, 12, 24, 36, 48, 72, 84}}, "[6] 7 of 8, 60+6*1;"},
		// Each of the two has its own first and last day: half of the leads is not more than half.
		"own days": {map[int32][]int64{0: every6(0, 90), 6: every6(24, 66)}, ""},
		// Two of three leads have days 0 to 3; the third one is expected on these days.
		"days of most leads": {
			map[int32][]int64{0: every6(0, 90), 6: every6(0, 90), 12: every6(24, 66)},
			"[12] 8 of 16, 0+6*4 72+6*4;",
		},
		"only the first day of most leads": {
			map[int32][]int64{0: every6(0, 66), 6: every6(0, 90), 12: every6(24, 42)},
			"[12] 4 of 8, 0+6*4;",
		},
		"before 1970": {map[int32][]int64{0: every6(-96, -6), 6: every6(-96, -6, -60)}, "[6] 15 of 16, -60+6*1;"},
	} {
		var l LeadTimes
		times(&l, "SL1L2", "GFS", c.hours)
		got := ""
		for _, h := range l.Holes() {
			inHours := lists.Map(h.Missing, func(v int64) int64 { return v / 3600 })
			text, _ := Moments(inHours).MarshalText()
			got += fmt.Sprintf("%v %d of %d, %s;", lists.Map(h.Leads, func(l int32) int32 { return l / 3600 }), h.Expected-len(h.Missing), h.Expected, text)
			if len(h.Present) != len(c.hours[h.Leads[0]/3600]) || h.LineType != "SL1L2" || h.Model != "GFS" {
				t.Errorf("%s: %+v", name, h)
			}
		}
		if want := strings.ReplaceAll(c.want, "+6*1", ""); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestOrderOfLeadHoles: holes are ordered by line type, model and lead, and the models do not expect the times of others.
func TestOrderOfLeadHoles(t *testing.T) {
	var l LeadTimes
	for _, lineType := range []string{"VL1L2", "CTC"} {
		for _, model := range []string{"NAM", "GFS"} {
			times(&l, lineType, model, map[int32][]int64{0: {0, 24, 48, 72}, 6: {0, 24, 72}, 12: {0, 48, 72}})
		}
	}
	times(&l, "CTC", "RAP", map[int32][]int64{0: {0, 24, 72}})
	got := ""
	for _, h := range l.Holes() {
		got += fmt.Sprintf("%s %s %d; ", h.LineType, h.Model, h.Leads[0]/3600)
	}
	if want := "CTC GFS 6; CTC GFS 12; CTC NAM 6; CTC NAM 12; VL1L2 GFS 6; VL1L2 GFS 12; VL1L2 NAM 6; VL1L2 NAM 12; "; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := new(LeadTimes).Holes(); got != nil {
		t.Errorf("of no records: %v", got)
	}
	for at, want := range map[int64][2]int64{0: {0, 0}, 1: {1, 0}, 86399: {86399, 0}, 86400: {0, 86400}, -1: {86399, -86400}, -86400: {0, -86400}, -86401: {86399, -172800}} {
		if second, begin := secondOfDay(at), dayOf(at); second != want[0] || begin != want[1] {
			t.Errorf("%d is second %d of the day from %d, want %d from %d", at, second, begin, want[0], want[1])
		}
	}
}
