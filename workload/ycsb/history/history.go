// Package history holds what clients did to records under keys, with the times
// of each call and of its return, and judges it: was the store linearizable,
// and did it keep the weaker promises?
//
// A Witness makes a history beside a workload: clients of their own, on records
// of their own. What a call came to that was not answered stays unknown: it may
// have been done at any moment since, or never. Linearizability is put to
// Porcupine, key by key, as a history is linearizable where each key's is; the
// weaker promises follow from the times, as no two writes have one value.
package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Kind is what is done to a record.
type Kind string

// The kinds.
const (
	Read   Kind = "read"
	Insert Kind = "insert"
	Update Kind = "update"
	Delete Kind = "delete"
)

// Outcome is how a call ended.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused" // there is no such record or, of an insert, there is one
	Unknown Outcome = "unknown" // of a write: it may have been done, at any time from its call on, or never
)

// Op is one call. A read that was not answered is none.
type Op struct {
	Client  int           `json:"client"`
	Key     string        `json:"key"`
	Kind    Kind          `json:"kind"`
	Outcome Outcome       `json:"outcome"`
	Value   int64         `json:"value,omitempty"` // that was written, or read: each is written once; 0 = no record, -1 = one that nobody can have written
	Call    time.Duration `json:"call_ns"`
	Return  time.Duration `json:"return_ns"`       // never, where it is unknown
	Final   bool          `json:"final,omitempty"` // a read when all was over
}

const (
	absent = 0
	torn   = -1 // fields of different writes
	never  = time.Duration(math.MaxInt64)
)

// String is the call in a sentence.
func (o *Op) String() string {
	value := fmt.Sprint(o.Value)
	switch {
	case o.Kind == Delete:
		value = ""
	case o.Outcome == Refused && o.Kind == Read:
		value = "nothing"
	}
	until := o.Return.Round(time.Microsecond).String()
	if o.Return == never {
		until = "?"
	}
	return fmt.Sprintf("client %d %s %s %s (%s, %s–%s)", o.Client, o.Kind, o.Key, value, o.Outcome, o.Call.Round(time.Microsecond), until)
}

// step is one record's model: its state is its value.
func (o *Op) step(state int64) (possible bool, next int64) {
	there := state != absent
	switch {
	case o.Outcome == Refused:
		return there == (o.Kind == Insert), state
	case o.Kind == Read:
		return state == o.Value, state
	case o.Outcome == Unknown && there == (o.Kind == Insert):
		return true, state // it comes to nothing
	case o.Kind == Delete:
		return there || o.Outcome == Unknown, absent
	}
	return there == (o.Kind == Update), o.Value
}

// perKey are the calls by their key, in the order of their begin.
func perKey(all []Op) map[string][]*Op {
	out := map[string][]*Op{}
	for i := range all {
		out[all[i].Key] = append(out[all[i].Key], &all[i])
	}
	for _, ops := range out {
		slices.SortStableFunc(ops, func(a, b *Op) int { return cmp.Compare(a.Call, b.Call) })
	}
	return out
}

// Unanswered counts the calls whose outcome is unknown.
func Unanswered(all []Op) (n int) {
	for i := range all {
		if all[i].Outcome == Unknown {
			n++
		}
	}
	return n
}
