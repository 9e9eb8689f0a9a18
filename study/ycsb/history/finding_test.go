package history

import (
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
)

// TestFirstImpossible: the example of a violation is the first impossible call. If there is no time to find it, the
// example names a later call, and says so.
func TestFirstImpossible(t *testing.T) {
	call := func(client int, kind Kind, value int64, start time.Duration) Op {
		return Op{Client: client, Key: "k", Kind: kind, Outcome: Done, Value: value, Call: start, Return: start + 1}
	}
	all := []Op{
		call(1, Insert, 1, 0), call(1, Update, 2, 2), call(2, Read, 1, 4), call(3, Read, 2, 6), call(4, Read, 2, 8),
	}
	ops := perKey(all)["k"]
	if got := firstImpossible(ops, time.Now().Add(time.Minute)); got != all[2].String() {
		t.Errorf("%s, want %s", got, &all[2])
	}
	if got := firstImpossible(ops, time.Time{}); got != all[4].String()+", or an earlier call" {
		t.Errorf("without time: %s", got)
	}
	for _, f := range Judge(all, time.Minute) {
		if f.Promise == engine.Linearizable && f.Example != all[2].String() {
			t.Errorf("the example is %s", f.Example)
		}
	}
}

// TestExamplesInWords: a reader of an example needs no knowledge of the values that stand for something else.
func TestExamplesInWords(t *testing.T) {
	for want, o := range map[string]Op{
		"client 1 delete k (done, 1ms–2ms)":                                 {Kind: Delete, Outcome: Done},
		"client 1 read k nothing (refused, 1ms–2ms)":                        {Kind: Read, Outcome: Refused},
		"client 1 read k 7 (done, 1ms–2ms)":                                 {Kind: Read, Outcome: Done, Value: 7},
		"client 1 read k fields that no single write wrote (done, 1ms–2ms)": {Kind: Read, Outcome: Done, Value: torn},
		"client 1 update k 7 (unknown, 1ms–?)":                              {Kind: Update, Outcome: Unknown, Value: 7, Return: never},
	} {
		o.Client, o.Key, o.Call = 1, "k", time.Millisecond
		if o.Return == 0 {
			o.Return = 2 * time.Millisecond
		}
		if got := o.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	torn := Op{Key: "k", Kind: Read, Outcome: Done, Value: torn, Return: 1}
	for _, f := range Judge([]Op{torn}, time.Minute) {
		if !strings.Contains(f.Example, "no operation wrote this value") || strings.Contains(f.Example, "-1") {
			t.Errorf("%s: %s", f.Promise, f.Example)
		}
	}
}
