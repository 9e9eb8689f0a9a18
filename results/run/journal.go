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
	"github.com/barograph/barograph/internal/jsonkeys"
)

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	StartEvent EventKind = "begin" // the run started or resumed, with its process id
	// the run is alive, with its process id; written if nothing else happens for a while
	HeartbeatEvent EventKind = "beat"
	StepEvent      EventKind = "step"   // the current step, and its size
	SampleEvent    EventKind = "sample" // a repetition finished
	RateEvent      EventKind = "rate"   // operations of the current repetition since its previous rate event
	CountersEvent  EventKind = "server" // growth of a server's counters since the server's previous event of this kind
	KillEvent      EventKind = "kill"
	WarningEvent   EventKind = "warning"
	FinishEvent    EventKind = "end"  // the run finished
	StopEvent      EventKind = "stop" // Barograph closed the folder before the run finished
)

// Event is a line of events.jsonl.
type Event struct {
	Sequence int                  `json:"seq"` // from 1
	Time     time.Time            `json:"time"`
	Kind     EventKind            `json:"kind"`
	PID      int                  `json:"pid,omitempty"`
	Text     string               `json:"text,omitempty"`
	Cell     Cell                 `json:"cell,omitzero"`
	Done     int64                `json:"done,omitempty"` // progress of a step; rate: operations since the previous rate
	Total    int64                `json:"of,omitempty"`
	Failed   int64                `json:"failed,omitempty"` // rate only: all failures of the run; readers subtract
	Times    *IntervalPercentiles `json:"times,omitempty"`  // rate only: response times of successful operations
	Counters []Counter            `json:"counters,omitempty"`
	Sample   *Sample              `json:"sample,omitempty"`
}

// IntervalPercentiles are percentiles of the response times between two rate events.
type IntervalPercentiles struct {
	P50 time.Duration `json:"p50_ns"`
	P95 time.Duration `json:"p95_ns"`
	P99 time.Duration `json:"p99_ns"`
}

// journal writes events.jsonl, one line per write call. If a cell turns out to be incorrect, the
// journal removes the times of that cell.
type journal struct {
	dir string // "" = only in memory

	mu   sync.Mutex
	file *os.File
	// firstError is the error of the first failed write. The journal writes nothing after it and returns it from each
	// later call.
	firstError   error
	events       []*Event // without heartbeats
	lastSequence int
	lastTime     time.Time
	stop         chan struct{}
}

// heartbeatInterval is the longest time between two events of a running process. After interruptedAfter without
// an event, the run counts as interrupted.
const heartbeatInterval, interruptedAfter = 3 * time.Second, 9 * time.Second

func (j *journal) open() (err error) {
	if j.stop = make(chan struct{}); j.dir == "" {
		return nil
	}
	if j.file, err = os.Create(filepath.Join(j.dir, eventsFile)); err != nil {
		return err
	}
	go j.writeHeartbeats()
	return nil
}

// writeHeartbeats writes a heartbeat if the last event would be older than heartbeatInterval at the next tick.
func (j *journal) writeHeartbeats() {
	tick := time.NewTicker(heartbeatInterval / 3)
	defer tick.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-tick.C:
			j.mu.Lock()
			if time.Since(j.lastTime) > heartbeatInterval*2/3 {
				_ = j.appendLocked(&Event{Kind: HeartbeatEvent, PID: os.Getpid()}) // the journal keeps the error
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
	return j.appendLocked(e)
}

// appendLocked numbers and writes an event. The caller must hold the lock.
func (j *journal) appendLocked(e *Event) error {
	j.lastSequence, j.lastTime = j.lastSequence+1, time.Now().UTC()
	e.Sequence, e.Time = j.lastSequence, j.lastTime
	if j.file == nil || j.firstError != nil {
		return j.firstError
	}
	text, err := encodeLine(e)
	if err == nil {
		_, err = j.file.Write(text)
	}
	j.firstError = err
	return err
}

// err is the error of the first failed write.
func (j *journal) err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.firstError
}

func encodeLine(e *Event) ([]byte, error) {
	text, err := json.Marshal(e)
	return append(jsonString.ReplaceAllFunc(text, redact), '\n'), err
}

// rewrite removes the events for which remove returns true, and encodes the others again, without the times that were
// removed meanwhile. It writes them to a new file and renames it, so that a complete file exists at all times, and
// continues in the new file. It does nothing if there is nothing to remove: each repetition of an incorrect cell calls
// it. isChanged means that events have changed since they were written.
func (j *journal) rewrite(isChanged bool, remove func(e *Event) bool) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := len(j.events)
	if j.events = slices.DeleteFunc(j.events, remove); j.dir == "" || !isChanged && len(j.events) == before {
		return nil
	}
	var all bytes.Buffer
	for _, e := range j.events {
		text, err := encodeLine(e)
		if err != nil {
			return err
		}
		all.Write(text)
	}
	if err := WriteFile(j.dir, eventsFile, all.Bytes()); err != nil {
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

// ReadEvents reads the events of a run, which may still be running. It ignores an incomplete last
// line.
func ReadEvents(dir string) ([]Event, error) {
	file, err := Open(dir, eventsFile)
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
			err = jsonkeys.Unmarshal(text, &e)
		}
		if err != nil {
			return nil, &fault.Error{File: filepath.Join(dir, eventsFile), Line: n, Err: err, Cure: "restore the file"}
		}
		out = append(out, e)
	}
}

// State is the state of a run.
type State string

// The states.
const (
	Running     State = "running"
	Interrupted State = "interrupted"
	Done        State = "done"
)

// StateOf derives the state of a run at a moment from its events. A run without an event for
// interruptedAfter counts as interrupted.
func StateOf(events []Event, at time.Time) State {
	switch n := len(events); {
	case n > 0 && events[n-1].Kind == FinishEvent:
		return Done
	case n > 0 && events[n-1].Kind != StopEvent && at.Sub(events[n-1].Time) < interruptedAfter:
		return Running
	}
	return Interrupted
}
