// Package history records the calls of clients to records under keys, with start and end of each
// call, and checks them: was the store linearizable, and did it keep the weaker promises?
//
// A Witness records a history during a workload: it has its own clients and its own records. The
// outcome of an unanswered call is unknown: it may have taken effect at any later time, or never.
// Porcupine checks linearizability for each key by itself: a history is linearizable if and only if the
// history of each key is. The weaker promises are checked by times and values, because no two writes have
// the same value.
package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/barograph/barograph/engine"
)

// Finding is the result for one promise. If it is neither broken nor kept, the time did not suffice
// to decide.
type Finding struct {
	Promise    engine.Promise `json:"promise"`
	Kept       bool           `json:"held"`
	Violations int            `json:"broken,omitempty"`  // times; of linearizable, keys
	Example    string         `json:"example,omitempty"` // of a broken one
}

// Judge compares a history with every promise. If the keys together take longer than patience,
// linearizability remains undecided.
func Judge(all []Op, patience time.Duration) []Finding {
	found := map[engine.Promise]*Finding{}
	for _, p := range engine.Promises() {
		found[p] = &Finding{Promise: p, Kept: true}
	}
	end, keys := time.Now().Add(patience), perKey(all)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ops := keys[key]
		weigh(ops, found)
		switch linear(ops, time.Until(end)) {
		case porcupine.Illegal:
			found[engine.Linearizable].breaks(culprit(ops))
		case porcupine.Unknown:
			found[engine.Linearizable].Kept = false
		}
	}
	var out []Finding
	for _, p := range engine.Promises() {
		out = append(out, *found[p])
	}
	return out
}

func (f *Finding) breaks(example string) {
	f.Kept = false
	if f.Violations++; f.Example == "" {
		f.Example = example
	}
}

// linear checks the history of one key for linearizability. It first tries the order in which the calls returned, and
// calls Porcupine only if that order is impossible.
func linear(ops []*Op, patience time.Duration) porcupine.CheckResult {
	switch {
	case patience <= 0:
		return porcupine.Unknown // Porcupine takes 0 for no limit
	case asReturned(ops):
		return porcupine.Ok
	}
	read := map[int64]bool{}
	for _, o := range ops {
		read[o.Value] = read[o.Value] || o.Kind == Read
	}
	var history []porcupine.Operation
	for _, o := range ops {
		if o.Outcome == Unknown && o.Kind == Update && !read[o.Value] {
			continue // no read proves it, and each unknown call doubles the work
		}
		history = append(history, porcupine.Operation{
			ClientId: o.Client, Input: o, Call: int64(o.Call), Return: int64(o.Return),
		})
	}
	return porcupine.CheckOperationsTimeout(porcupine.Model{
		Init: func() any { return int64(absent) },
		Step: func(state, input, _ any) (bool, any) {
			return input.(*Op).step(state.(int64)) //nolint:forcetypeassert // made above
		},
	}, history, patience)
}

// asReturned reports whether the calls are possible one after the other, in the order in which they returned.
func asReturned(ops []*Op) bool {
	state := int64(absent)
	for _, o := range byReturn(ops) {
		possible, next := o.step(state)
		if !possible {
			return false
		}
		state = next
	}
	return true
}

func byReturn(ops []*Op) []*Op {
	out := slices.Clone(ops)
	slices.SortStableFunc(out, func(a, b *Op) int { return cmp.Compare(a.Return, b.Return) })
	return out
}

// culprit returns the first call such that the history until its return is not linearizable.
func culprit(ops []*Op) string {
	ends := byReturn(ops)
	first, _ := slices.BinarySearchFunc(ends, porcupine.Illegal, func(last *Op, _ porcupine.CheckResult) int {
		if linear(until(ops, last.Return), time.Second) == porcupine.Illegal {
			return 0
		}
		return -1
	})
	return ends[min(first, len(ends)-1)].String()
}

// Until returns the history until a time: the outcome of a call that returned later is unknown.
func Until(all []Op, moment time.Duration) (out []Op) {
	calls := make([]*Op, len(all))
	for i := range all {
		calls[i] = &all[i]
	}
	for _, o := range until(calls, moment) {
		out = append(out, *o)
	}
	return out
}

// until is Until for pointers.
func until(ops []*Op, moment time.Duration) (out []*Op) {
	for _, o := range ops {
		switch {
		case o.Return <= moment:
			out = append(out, o)
		case o.Call < moment && o.Kind != Read:
			open := *o
			open.Outcome, open.Return = Unknown, never
			out = append(out, &open)
		}
	}
	return out
}

// weigh compares each read of a key with the acknowledged writes of its client, and the final read with those of all
// clients.
func weigh(ops []*Op, found map[engine.Promise]*Finding) {
	k := keyHistory{writers: map[int64]*Op{}, wrote: map[int]*Op{}, saw: map[int]*Op{}}
	for _, o := range ops {
		switch {
		case o.Kind == Delete && o.Outcome != Refused:
			k.deletes = append(k.deletes, o)
		case o.Kind != Read && o.Kind != Delete:
			k.writers[o.Value] = o
		}
	}
	for _, o := range ops { // a client's calls follow each other
		switch {
		case o.Outcome == Unknown:
		case o.Kind != Read:
			if o.Outcome == Done {
				k.wrote[o.Client] = o
				k.last = latest(k.last, o)
			}
		case o.Outcome == Done && !k.written(o):
			for _, f := range found {
				f.breaks("no operation wrote this value: " + o.String())
			}
		default:
			if w := k.wrote[o.Client]; k.older(o, w) {
				found[engine.ReadYourWrites].breaks(o.String() + " after " + w.String())
			}
			if w := k.saw[o.Client]; k.older(o, w) {
				found[engine.MonotonicReads].breaks(o.String() + " after it had read the value of " + w.String())
			}
			if o.Final && k.older(o, k.last) {
				p := engine.NoLostWrites
				if k.last.Kind == Delete {
					p = engine.NoRevivedRecords
				}
				found[p].breaks(o.String() + " after " + k.last.String())
			}
			if o.Outcome == Done {
				k.saw[o.Client] = k.writers[o.Value]
			}
		}
	}
}

// keyHistory is the state of one key.
type keyHistory struct {
	writers map[int64]*Op // by the value
	deletes []*Op         // acknowledged and unknown ones
	wrote   map[int]*Op   // by client: its last acknowledged write
	saw     map[int]*Op   // by client: the write of the value that it read last
	last    *Op           // the acknowledged write that started last
}

func latest(a, b *Op) *Op {
	if a == nil || b.Call > a.Call {
		return b
	}
	return a
}

// written reports whether the write of the value of a read had started when the read returned.
func (k *keyHistory) written(read *Op) bool {
	w := k.writers[read.Value]
	return w != nil && w.Call < read.Return && w.Outcome != Refused
}

// older reports whether a read returned a state that had ended before write w began, which was acknowledged before the
// read.
func (k *keyHistory) older(read, w *Op) bool {
	switch {
	case w == nil:
		return false
	case read.Outcome == Done:
		return k.writers[read.Value].Return < w.Call
	case w.Kind == Delete:
		return false
	}
	return !slices.ContainsFunc(k.deletes, func(d *Op) bool { return d.Return >= w.Call && d.Call < read.Return })
}

// Kind is the kind of a call.
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
	Refused Outcome = "refused" // the record does not exist or, for an insert, exists already
	Unknown Outcome = "unknown" // of a write: it may have been done, at any time from its call on, or never
)

// Op is one call. A history contains no unanswered reads.
type Op struct {
	Client  int     `json:"client"`
	Key     string  `json:"key"`
	Kind    Kind    `json:"kind"`
	Outcome Outcome `json:"outcome"`
	// the value that was written or read; no two writes have the same; 0 = no record, -1 = no write has such a value
	Value  int64         `json:"value,omitempty"`
	Call   time.Duration `json:"call_ns"`         // time of the call since the start of the history
	Return time.Duration `json:"return_ns"`       // time of its return; never if the outcome is unknown
	Final  bool          `json:"final,omitempty"` // a read after the end of all other calls
}

const (
	absent = 0
	torn   = -1 // fields of different writes
	never  = time.Duration(math.MaxInt64)
)

// String describes the call.
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
	call := o.Call.Round(time.Microsecond)
	return fmt.Sprintf("client %d %s %s %s (%s, %s–%s)", o.Client, o.Kind, o.Key, value, o.Outcome, call, until)
}

// step is the model of one record: its state is its value. It reports whether the call is possible in a state, and
// returns the next state.
func (o *Op) step(state int64) (possible bool, next int64) {
	exists := state != absent
	switch {
	case o.Outcome == Refused:
		return exists == (o.Kind == Insert), state
	case o.Kind == Read:
		return state == o.Value, state
	case o.Outcome == Unknown && exists == (o.Kind == Insert):
		return true, state // the engine refuses it
	case o.Kind == Delete:
		return exists || o.Outcome == Unknown, absent
	}
	return exists == (o.Kind == Update), o.Value
}

// perKey returns the calls by their key, in the order of their start.
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
