package run

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"
)

// Transfers counts the transfers of a run. Each moves an amount from one account to another in one transaction. The
// counts are known even if nothing was measured.
type Transfers struct {
	Isolation string `json:"isolation"`
	Accounts  int64  `json:"accounts"`
	Moved     int64  `json:"moved"` // acknowledged transfers that moved something
	// attempts that the engine aborted in favor of another transaction
	Aborted int64 `json:"aborted" old:"conflicts"`
	Unknown int64 `json:"unknown"` // transfers whose commit was not answered
	// of Unknown: transfers that the balances show to be committed
	UnknownApplied int64 `json:"unknown_applied" old:"stand"`
	Sum            int64 `json:"sum"`      // sum of all balances at the end
	Expected       int64 `json:"expected"` // correct sum
	// accounts with a balance that no outcome of the unknown transfers explains
	Unexplained int64 `json:"unexplained" old:"off"`
	// there are too many unknown transfers to decide which of them were committed; Unexplained is then
	// not known
	Undecided bool   `json:"undecided,omitempty"`
	Example   string `json:"example,omitempty"`
}

// Problem describes what is wrong with the accounts; "" if nothing is, or if there are none.
func (t *Transfers) Problem() string {
	if t == nil || t.Sum == t.Expected && t.Unexplained == 0 {
		return ""
	}
	text := fmt.Sprintf("at isolation %s the sum of all balances is %d", t.Isolation, t.Sum)
	if t.Sum != t.Expected {
		text += fmt.Sprintf(", not %d", t.Expected)
	} else {
		text += ", which is correct"
	}
	if t.Unexplained > 0 {
		const unexplained = "; %d of %d accounts have a balance that no transfer explains, such as %s"
		text += fmt.Sprintf(unexplained, t.Unexplained, t.Accounts, t.Example)
	}
	return text
}

// Fault lists the faults that were injected into a server during a mix, and their effects on
// operations. The counts are kept even if the sample has no times because the store was incorrect.
type Fault struct {
	Moments []InjectedFault  `json:"moments"`
	Errors  map[string]int64 `json:"errors,omitempty"` // failed operations, by outcome
	// operations that were due and either failed or were never started
	Lost       int64         `json:"lost"`
	Retries    int64         `json:"retries"`   // repeated attempts of failed operations
	TimedOut   int64         `json:"timed_out"` // abandoned attempts
	Reconnects int64         `json:"reconnects"`
	History    *HistoryCheck `json:"history,omitempty"` // nil = not recorded
}

// InjectedFault is a fault with the time of its injection, counted from the end of the warm-up.
type InjectedFault struct {
	Command  string        `json:"what"` // kill node2
	At       time.Duration `json:"at_ns"`
	Duration time.Duration `json:"took_ns"` // of a start: until the node was ready
	Problem  string        `json:"problem,omitempty"`
	// of the command that injected it: exit status, stdout, stderr
	Output string `json:"output,omitempty" old:"said"`
}

// FaultCost has the effects of faults on successful operations, counted from the first fault.
type FaultCost struct {
	RateBefore         float64       `json:"rate_before_ops_s"`  // successful operations before the first fault
	TimeWithoutSuccess time.Duration `json:"without_service_ns"` // total time without any success
	// RecoveryTime is the time from the first fault to the end of the first second that begins three consecutive seconds
	// with at least 95 % of Rate; −1 = the rate did not recover.
	RecoveryTime time.Duration `json:"back_ns"`
}

// HistoryCheck is the result of checking a history: the calls that clients sent to the store during a run, with their
// responses.
type HistoryCheck struct {
	File       string          `json:"file"` // in the folder; "" = none
	Clients    int             `json:"clients"`
	Operations int             `json:"operations"`
	Unknown    int             `json:"unknown"` // of Operations: those without a response
	Promises   []PromiseResult `json:"promises"`
	Problem    string          `json:"problem,omitempty"` // why it proves nothing
}

// BeforeFault names the interval of a run before the first fault. In it the server must keep its promises even if its
// settings allow data loss after a fault.
const BeforeFault = "before the first fault"

// PromiseResult is a promise of the server, and whether it kept the promise.
type PromiseResult struct {
	Promise  string `json:"promise"`
	When     string `json:"when,omitempty"` // the interval of the run; "" = all of it
	Promised bool   `json:"promised"`       // the server promised it before the run, by its settings
	Kept     bool   `json:"kept" old:"held"`
	// number of violations; for linearizability, number of keys with one. If it is 0 and Kept is false, the check ran out
	// of time.
	Violations int    `json:"violations,omitempty" old:"broken"`
	Example    string `json:"example,omitempty"`
}

// StoreHistory stores the recorded calls of a history, one per line, as histories/NAMES.jsonl.gz, and returns
// the name of the file; "" if the run is only in memory.
func StoreHistory[T any](f *Folder, calls []T, names ...string) (string, error) {
	if f == nil || f.Dir == "" {
		return "", nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	out, err := json.NewEncoder(z), error(nil)
	for i := range calls {
		err = errors.Join(err, out.Encode(&calls[i]))
	}
	file := path.Join("histories", FileName(names...)+".jsonl.gz")
	if err = errors.Join(err, z.Close()); err == nil {
		err = WriteFile(f.Dir, file, b.Bytes())
	}
	return file, err
}
