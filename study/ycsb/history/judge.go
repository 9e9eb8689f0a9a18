// Package history checks a store of records under keys. It logs the calls of clients, with the start and the end of
// each call, and then decides whether the store was linearizable, and whether it kept weaker promises.
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
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/barograph/barograph/engine"
)

// Finding is the result for one promise. The promise was kept (Kept), or broken (Violations above 0), or it is undecided
// (neither), because the time limit of Judge was too short. The keys of JSON are the former names.
type Finding struct {
	Promise    engine.Promise `json:"promise"`
	Kept       bool           `json:"held"`
	Violations int            `json:"broken,omitempty"`  // number of calls; for linearizable, number of keys
	Example    string         `json:"example,omitempty"` // a violation: the first one, if it was found in time
}

// Judge compares a history with every promise. If the checks of all keys together take longer than timeLimit,
// linearizability is undecided.
func Judge(all []Op, timeLimit time.Duration) []Finding {
	found := map[engine.Promise]*Finding{}
	for _, p := range engine.Promises() {
		found[p] = &Finding{Promise: p, Kept: true}
	}
	end, keys := time.Now().Add(timeLimit), perKey(all)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		ops := keys[key]
		if unwritten := checkReads(ops, found); unwritten != "" {
			found[engine.Linearizable].addViolation(unwritten)
			continue
		}
		switch linear(ops, time.Until(end)) {
		case porcupine.Illegal:
			found[engine.Linearizable].addViolation(firstImpossible(ops, end))
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

func (f *Finding) addViolation(example string) {
	f.Kept = false
	if f.Violations++; f.Example == "" {
		f.Example = example
	}
}

// linear checks the history of one key for linearizability. It first tries the order in which the calls returned, and
// calls Porcupine only if that order is impossible.
func linear(ops []*Op, timeLimit time.Duration) porcupine.CheckResult {
	switch {
	case timeLimit <= 0:
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
	}, history, timeLimit)
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

// firstImpossible describes the first call such that the history until its return is not linearizable. Each check ends
// after a second, and at end. A check that ends without a result counts as possible; then the call may be a later one,
// and the description says so.
func firstImpossible(ops []*Op, end time.Time) string {
	returned, undecided := byReturn(ops), false
	first := sort.Search(len(returned)-1, func(i int) bool {
		result := linear(until(ops, returned[i].Return), min(time.Second, time.Until(end)))
		undecided = undecided || result == porcupine.Unknown
		return result == porcupine.Illegal
	})
	if undecided {
		return returned[first].String() + ", or an earlier call"
	}
	return returned[first].String()
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

// checkReads checks the reads of a key. Each must not contradict the acknowledged writes and the earlier reads of its
// client, and the final read must not contradict the acknowledged writes of all clients. A value that nobody wrote
// breaks every promise; checkReads describes the first such read, and leaves linearizability to its caller.
func checkReads(ops []*Op, found map[engine.Promise]*Finding) (unwritten string) {
	k := keyHistory{writers: map[int64]*Op{}, lastWrite: map[int]*Op{}, lastSeen: map[int]*Op{}}
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
				k.lastWrite[o.Client] = o
				k.last = latest(k.last, o)
			}
		case o.Outcome == Done && !k.written(o):
			text := "no operation wrote this value: " + o.String()
			unwritten = cmp.Or(unwritten, text)
			for promise, f := range found {
				if promise != engine.Linearizable {
					f.addViolation(text)
				}
			}
		default:
			if w := k.lastWrite[o.Client]; k.isStale(o, w) {
				found[engine.ReadYourWrites].addViolation(o.String() + " after " + w.String())
			}
			if w := k.lastSeen[o.Client]; k.isStale(o, w) {
				found[engine.MonotonicReads].addViolation(o.String() + " after it had read the value of " + w.String())
			}
			if o.Final && k.isStale(o, k.last) {
				p := engine.NoLostWrites
				if k.last.Kind == Delete {
					p = engine.NoRevivedRecords
				}
				found[p].addViolation(o.String() + " after " + k.last.String())
			}
			k.lastSeen[o.Client] = k.seen(o)
		}
	}
	return unwritten
}

// keyHistory is the state of one key.
type keyHistory struct {
	writers   map[int64]*Op // by the value
	deletes   []*Op         // acknowledged and unknown ones
	lastWrite map[int]*Op   // by client: its last acknowledged write
	lastSeen  map[int]*Op   // by client: the write, or delete, whose effect it read last
	last      *Op           // the acknowledged write that started last
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

// seen returns the write or delete whose effect a read returned. A read that found no record may have seen any of
// several deletes. If the client had seen a value before, seen returns the first delete that can have removed this
// value, because it permits most later reads. Otherwise, or without such a delete, seen returns what was seen before.
func (k *keyHistory) seen(read *Op) *Op {
	if read.Outcome == Done {
		return k.writers[read.Value]
	}
	before := k.lastSeen[read.Client]
	if before == nil || before.Kind == Delete {
		return before
	}
	for _, d := range k.deletes { // in the order of their start
		if d.Return >= before.Call && d.Call < read.Return {
			return d
		}
	}
	return before
}

// isStale reports whether a read contradicts w, a write or delete that was acknowledged or read before. It does
//   - if it returned a value, and the write of this value had ended before w started;
//   - if it found no record, w wrote a value, and no delete can have removed this value before the read returned.
func (k *keyHistory) isStale(read, w *Op) bool {
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
	Unknown Outcome = "unknown" // of a write: it takes effect at any time after its call, or never
)

// Op is one call. A history contains no unanswered reads.
type Op struct {
	Client  int     `json:"client"`
	Key     string  `json:"key"`
	Kind    Kind    `json:"kind"`
	Outcome Outcome `json:"outcome"`
	// the value that was written or read, absent or torn; no two writes have the same value
	Value  int64         `json:"value,omitempty"`
	Call   time.Duration `json:"call_ns"`         // time of the call since the start of the history
	Return time.Duration `json:"return_ns"`       // time of its return; never if the outcome is unknown
	Final  bool          `json:"final,omitempty"` // a read after the end of all other calls
}

const (
	absent = 0  // no record
	torn   = -1 // a read returned what no single write has written, such as fields of two writes
	never  = time.Duration(math.MaxInt64)
)

// String describes the call.
func (o *Op) String() string {
	value := fmt.Sprint(" ", o.Value)
	switch {
	case o.Kind == Delete:
		value = ""
	case o.Outcome == Refused && o.Kind == Read:
		value = " nothing"
	case o.Value == torn:
		value = " fields that no single write wrote"
	}
	until := o.Return.Round(time.Microsecond).String()
	if o.Return == never {
		until = "?"
	}
	call := o.Call.Round(time.Microsecond)
	return fmt.Sprintf("client %d %s %s%s (%s, %s–%s)", o.Client, o.Kind, o.Key, value, o.Outcome, call, until)
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
		return exists, absent
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
