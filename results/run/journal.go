package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// Kind is what kind of thing happened.
type Kind string

// The kinds of events.
const (
	Began     Kind = "begin"  // with the process that runs
	Beat      Kind = "beat"   // likewise: nothing else happened for a while
	Step      Kind = "step"   // what is being done, and how much of it is
	Sampled   Kind = "sample" // a repetition ended
	Rate      Kind = "rate"   // what a repetition under way did since the last one
	Counts    Kind = "server" // what a server counted since the last one of its cell
	KilledOne Kind = "kill"
	Warned    Kind = "warning"
	Ended     Kind = "end"  // of a whole run
	Stopped   Kind = "stop" // of one that was interrupted, and closed
)

// Event is a line of events.jsonl.
type Event struct {
	Sequence int        `json:"seq"` // from 1
	Time     time.Time  `json:"time"`
	Kind     Kind       `json:"kind"`
	PID      int        `json:"pid,omitempty"`
	Text     string     `json:"text,omitempty"`
	Cell     Cell       `json:"cell,omitzero"`
	Done     int64      `json:"done,omitempty"` // of a step; of a rate: operations
	Of       int64      `json:"of,omitempty"`
	Failed   int64      `json:"failed,omitempty"`
	Times    *Quantiles `json:"times,omitempty"` // of a rate: responses of what succeeded
	Counters []Counter  `json:"counters,omitempty"`
	Sample   *Sample    `json:"sample,omitempty"`
}

// Quantiles are the percentiles of a short while.
type Quantiles struct {
	P50 time.Duration `json:"p50_ns"`
	P95 time.Duration `json:"p95_ns"`
	P99 time.Duration `json:"p99_ns"`
}

// journal is events.jsonl, each line by one write. What is in it of a cell is
// taken out when the cell turns out not to be right.
type journal struct {
	dir string // "" = nothing is written

	mu     sync.Mutex
	file   *os.File
	failed error    // of the first write that failed: nothing is written after it, and each later call returns it
	events []*Event // but for beats
	next   int
	last   time.Time
	stop   chan struct{}
}

// beatEvery is the longest time between two events of a run that is alive;
// silent is after how long without one it is not.
const (
	beatEvery = 3 * time.Second
	silent    = 3 * beatEvery
)

func (j *journal) open() (err error) {
	if j.stop = make(chan struct{}); j.dir == "" {
		return nil
	}
	if j.file, err = os.Create(filepath.Join(j.dir, eventsFile)); err != nil {
		return err
	}
	go j.beat()
	return nil
}

func (j *journal) beat() {
	tick := time.NewTicker(beatEvery / 3)
	defer tick.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-tick.C:
			j.mu.Lock()
			if time.Since(j.last) > beatEvery*2/3 {
				_ = j.put(&Event{Kind: Beat, PID: os.Getpid()}) // the journal keeps the error
			}
			j.mu.Unlock()
		}
	}
}

// add appends an event.
func (j *journal) add(e *Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e)
	return j.put(e)
}

// put numbers and writes an event; the caller holds the lock.
func (j *journal) put(e *Event) error {
	j.next++
	j.last = time.Now().UTC()
	e.Sequence, e.Time = j.next, j.last
	if j.file == nil || j.failed != nil {
		return j.failed
	}
	text, err := line(e)
	if err == nil {
		_, err = j.file.Write(text)
	}
	j.failed = err
	return err
}

// err is the error of the first write that failed.
func (j *journal) err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

func line(e *Event) ([]byte, error) {
	text, err := json.Marshal(e)
	return append(jsonString.ReplaceAllFunc(text, redact), '\n'), err
}

// rewrite writes all events but some anew beside the old file, so that there is
// always a whole one, and goes on in the new one.
func (j *journal) rewrite(without func(e *Event) bool) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.events = slices.DeleteFunc(j.events, without); j.dir == "" {
		return nil
	}
	var all bytes.Buffer
	for _, e := range j.events {
		text, err := line(e)
		if err != nil {
			return err
		}
		all.Write(text)
	}
	if err := write(j.dir, eventsFile, all.Bytes()); err != nil {
		return err
	}
	if j.file != nil {
		defer func(old *os.File) { err = errors.Join(err, old.Close()) }(j.file)
	}
	j.file, err = os.OpenFile(filepath.Join(j.dir, eventsFile), os.O_APPEND|os.O_WRONLY, 0o644)
	return err
}

func (j *journal) close() error {
	close(j.stop)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}

const eventsFile = "events.jsonl"

// ReadEvents reads what happened in a run, of one that is under way, too: a last
// line that is not whole yet is left for later.
func ReadEvents(dir string) ([]Event, error) {
	path := filepath.Join(dir, eventsFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	var out []Event
	in := bufio.NewReader(file)
	for n := 1; ; n++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var e Event
		if err == nil {
			err = json.Unmarshal(text, &e)
		}
		if err != nil {
			return nil, &fault.Error{File: path, Line: n, Err: err, Cure: "restore the file"}
		}
		out = append(out, e)
	}
}

// State is how a run stands.
type State string

// The states.
const (
	Running     State = "running"
	Interrupted State = "interrupted"
	Done        State = "done"
)

// StateOf tells from its events how a run stood at a moment: one that ended
// says so, and one that is silent for long was interrupted.
func StateOf(events []Event, at time.Time) State {
	switch n := len(events); {
	case n > 0 && events[n-1].Kind == Ended:
		return Done
	case n > 0 && events[n-1].Kind != Stopped && at.Sub(events[n-1].Time) < silent:
		return Running
	}
	return Interrupted
}
