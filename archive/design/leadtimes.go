package design

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// LeadTimes collects the valid times of each lead of each model and line type, which a catalog does
// not contain.
type LeadTimes struct {
	times map[modelType]map[int32]map[int64]struct{}
}

type modelType struct{ lineType, model string }

// LeadHole lists valid times that leads lack but other leads of the same model have.
type LeadHole struct {
	LineType string  `json:"line_type"`
	Model    string  `json:"model"`
	Leads    []int32 `json:"fcst_lead"` // seconds
	Expected int     `json:"expected"`  // number of expected times of each of these leads
	Missing  Moments `json:"missing"`   // expected times without records
	Present  Moments `json:"-"`
}

// Add adds the records of a batch.
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

// Holes returns the holes of all leads, ordered by line type, model and lead. Leads that lack the
// same times share an entry.
//
// A lead is expected at each time that another lead has, if it occurs at that hour of the day,
// between its own first day and its own last day: a model cycle may have fewer leads, and files
// sorted by initialization time contain long leads later. If more than half of the leads share
// their first or last day, the files are sorted by valid time, and that day applies to all leads.
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
			h.fill(every, firsts, lasts, len(leads))
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

// fill sets Expected and Missing. every is the times of all leads; firsts and lasts count the leads
// that begin and end on each day.
func (h *LeadHole) fill(every []int64, firsts, lasts map[int64]int, leads int) {
	hours := lists.Set(h.Present, secondOfDay)
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
		if h.Expected++; !contains(h.Present, t) {
			h.Missing = append(h.Missing, t)
		}
	}
}

const daySeconds = 24 * 3600

func secondOfDay(t int64) int64 { return ((t % daySeconds) + daySeconds) % daySeconds }

// dayOf is the beginning of the day of a time.
func dayOf(t int64) int64 { return t - secondOfDay(t) }
