package design

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/barograph/barograph/record"
)

// LeadTimes notes the valid times of each lead of each model and line type, which
// a catalog does not hold.
type LeadTimes struct {
	times map[modelType]map[int32]map[int64]struct{}
}

type modelType struct{ lineType, model string }

// LeadHole is what leads lack: times that other leads of the model have.
type LeadHole struct {
	LineType string  `json:"line_type"`
	Model    string  `json:"model"`
	Leads    []int32 `json:"fcst_lead"` // seconds
	Expected int     `json:"expected"`  // times of each of these leads
	Missing  Moments `json:"missing"`   // of these
	Present  Moments `json:"-"`
}

// Add notes the records of a batch.
func (l *LeadTimes) Add(b *record.Batch) {
	if l.times == nil {
		l.times = map[modelType]map[int32]map[int64]struct{}{}
	}
	for i := range b.Len() {
		k := modelType{b.Type.Name, b.Header(i)[record.Model]}
		leads := l.times[k]
		if leads == nil {
			leads = map[int32]map[int64]struct{}{}
			l.times[k] = leads
		}
		if leads[b.Lead[i]] == nil {
			leads[b.Lead[i]] = map[int64]struct{}{}
		}
		leads[b.Lead[i]][b.Valid[i]] = struct{}{}
	}
}

// Holes are those of all leads, ordered by line type, model and lead; leads that lack
// the same times are one.
//
// A lead is expected at each time that another lead has, if it occurs at that hour of
// the day, from its own first day to its own last: a cycle may run less far, and files
// sorted by initial time bring long leads later. Where more than half of the leads have
// one first or last day, files are sorted by valid time, and that one counts for all.
func (l *LeadTimes) Holes() (out []LeadHole) {
	for k, leads := range l.times {
		all, firsts, lasts := map[int64]struct{}{}, map[int64]int{}, map[int64]int{}
		for _, times := range leads {
			maps.Copy(all, times)
			own := slices.Sorted(maps.Keys(times))
			firsts[dayOf(own[0])]++
			lasts[dayOf(own[len(own)-1])]++
		}
		every, same := slices.Sorted(maps.Keys(all)), map[string]int{}
		for _, lead := range slices.Sorted(maps.Keys(leads)) {
			h := LeadHole{LineType: k.lineType, Model: k.model, Leads: []int32{lead}, Present: slices.Sorted(maps.Keys(leads[lead]))}
			h.expect(every, firsts, lasts, len(leads))
			if len(h.Missing) == 0 {
				continue
			}
			text, _ := h.Missing.MarshalText() // never fails
			id := string(text) + "/" + strconv.Itoa(h.Expected)
			if at, ok := same[id]; ok {
				out[at].Leads = append(out[at].Leads, lead)
				continue
			}
			same[id] = len(out)
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b LeadHole) int {
		return cmp.Or(cmp.Compare(a.LineType, b.LineType), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Leads[0], b.Leads[0]))
	})
	return out
}

// expect fills Expected and Missing from the times of all leads, and how many leads
// begin and end on each day.
func (h *LeadHole) expect(every []int64, firsts, lasts map[int64]int, leads int) {
	hours := map[int64]bool{}
	for _, t := range h.Present {
		hours[secondOfDay(t)] = true
	}
	first, last := dayOf(h.Present[0]), dayOf(h.Present[len(h.Present)-1])
	for t, n := range firsts {
		if 2*n > leads {
			first = min(first, t)
		}
	}
	for t, n := range lasts {
		if 2*n > leads {
			last = max(last, t)
		}
	}
	for _, t := range every {
		if dayOf(t) < first || dayOf(t) > last || !hours[secondOfDay(t)] {
			continue
		}
		if h.Expected++; !has(h.Present, t) {
			h.Missing = append(h.Missing, t)
		}
	}
}

const daySeconds = 24 * 3600

func secondOfDay(t int64) int64 { return ((t % daySeconds) + daySeconds) % daySeconds }

// dayOf is the begin of the day of a time.
func dayOf(t int64) int64 { return t - secondOfDay(t) }
