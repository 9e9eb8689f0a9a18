package run

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Fault is what was done to a server while a mix was asked of it, and what
// became of the operations. Counts are known also where nothing is measured, as
// the store told no truth.
type Fault struct {
	Moments    []Moment         `json:"moments"`
	Errors     map[string]int64 `json:"errors,omitempty"` // operations that failed, by what became of them
	Lost       int64            `json:"lost"`             // operations that were due, and failed or were never begun
	Retries    int64            `json:"retries"`          // further tries of operations that had failed
	TimedOut   int64            `json:"timed_out"`        // tries that were given up
	Reconnects int64            `json:"reconnects"`
	History    *History         `json:"history,omitempty"` // nil = none was recorded
}

// Moment is when something was done, from the end of the warm-up.
type Moment struct {
	What    string        `json:"what"` // kill node2
	At      time.Duration `json:"at_ns"`
	Took    time.Duration `json:"took_ns"` // of a start, until the node served
	Problem string        `json:"problem,omitempty"`
}

// Cost is what faults cost, counted from the first on.
type Cost struct {
	Rate    float64       `json:"rate_before_ops_s"`  // that succeeded
	Without time.Duration `json:"without_service_ns"` // in all, in which nothing succeeded
	Back    time.Duration `json:"back_ns"`            // until three seconds in a row, the first of them counted, had 95 % of the rate before; -1 = never
}

// History is what became of a history that was recorded beside a run.
type History struct {
	File       string `json:"file"` // in the folder; "" = none
	Clients    int    `json:"clients"`
	Operations int    `json:"operations"`
	Unknown    int    `json:"unknown"` // of these, those that were not answered
	Promises   []Kept `json:"promises"`
	Problem    string `json:"problem,omitempty"` // why it proves nothing
}

// Kept is what became of a promise.
type Kept struct {
	Promise  string `json:"promise"`
	Promised bool   `json:"promised"` // by the server, as it was set up, before the run
	Held     bool   `json:"held"`
	Broken   int    `json:"broken,omitempty"` // times, or keys; 0 and not held = not decided in time
	Example  string `json:"example,omitempty"`
}

// KeepHistory keeps the calls of a history, a line each, as histories/NAMES.jsonl.gz,
// and returns the name of the file; "" in memory.
func KeepHistory[T any](f *Folder, calls []T, names ...string) (string, error) {
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
	return file, errors.Join(err, z.Close(), os.MkdirAll(filepath.Join(f.Dir, "histories"), 0o755), write(f.Dir, file, b.Bytes()))
}
