package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
)

// Verdict reports whether a time may be shown.
type Verdict string

// The verdicts.
const (
	Equal  Verdict = "equal"  // proven, to the degree that is said next to it
	Wrong  Verdict = "wrong"  // compared, and different: shown as wrong, never as fast
	Failed Verdict = "failed" // no answer: an error has no time

	Rounding     Verdict = "equal to rounding" // compared, and different by no more than what rounding explains
	Undetermined Verdict = "undetermined"      // the question allows several answers, and this is one of them
)

// Right reports whether an answer with this verdict has a time.
func (v Verdict) Right() bool { return v == Equal || v == Rounding || v == Undetermined }

// Phase tells warm repetitions from cold starts.
type Phase string

// The phases.
const (
	Warm Phase = "warm"
	Cold Phase = "cold"
)

// Sample is one repetition of a cell. What was measured of it is obtained from
// Measured alone, and only where it is proven.
type Sample struct {
	Cell    Cell          `json:"cell"`
	Phase   Phase         `json:"phase"`
	Rep     int           `json:"rep"`
	Verdict Verdict       `json:"verdict"` // given by Judge
	Problem string        `json:"problem,omitempty"`
	Proof   answer.Degree `json:"proof,omitempty"`
	Rows    int           `json:"rows"`
	Digest  string        `json:"digest,omitempty"`             // of the answer, or of what is stored
	Largest float64       `json:"largest_difference,omitempty"` // relative, of an answer that is equal to rounding

	Answers   *Answers   `json:"answers,omitempty"`   // of those that were compared one by one
	Kill      *Kill      `json:"kill,omitempty"`      // what became of a killed node
	Fault     *Fault     `json:"fault,omitempty"`     // what was done to a server while it was asked
	History   *History   `json:"history,omitempty"`   // that was recorded beside a run without faults
	Transfers *Transfers `json:"transfers,omitempty"` // between records, in transactions
	Problems  []Counted  `json:"problems,omitempty"`
	Warnings  []string   `json:"warnings,omitempty"`

	measured *Measured
}

// Answers counts how answers turned out that were compared one by one.
type Answers = answer.Tally

// Counted is one thing that went wrong, and how often.
type Counted struct {
	What    string `json:"what"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
}

// Judge gives a sample its verdict, and what was measured of it where p proves
// it; m is nil where nothing was. err is that of the comparison, an
// *answer.Diff, or of the asking.
func (s Sample) Judge(m *Measured, p answer.Proof, err error) Sample {
	if err == nil && !p.Valid() {
		err = errNoProof
	}
	s.measured, s.Proof = nil, ""
	switch d, wrong := errors.AsType[*answer.Diff](err); {
	case wrong:
		s.Verdict, s.Problem, s.Rows = Wrong, err.Error(), d.GotRows
	case err != nil:
		s.Verdict, s.Problem = Failed, fault.Redact(err.Error())
	default:
		s.Verdict, s.Problem, s.Proof, s.Rows, s.Largest, s.measured = Equal, "", p.Degree(), p.Rows(), p.LargestDifference(), m
		switch p.Degree() {
		case answer.Rounded:
			s.Verdict = Rounding
		case answer.Undetermined:
			s.Verdict = Undetermined
		}
		if d := p.Digest(); d != (answer.Digest{}) {
			s.Digest = answer.FormatDigest(d)
		}
	}
	return s
}

var errNoProof = errors.New("nothing proves it")

// Measured is what was measured; nil where nothing was, or nothing proves it, or
// another repetition of the cell is not right.
func (s *Sample) Measured() *Measured { return s.measured }

// spoils reports whether o may have no times because s is not right: all of its
// cell may have none, but for what was answered before a cold start failed.
func (s *Sample) spoils(o *Sample) bool {
	return s.Cell == o.Cell && (s.Verdict == Wrong || s.Verdict == Failed && (s.Phase != Cold || o.Phase == Cold))
}

// asStored is a sample with what was measured, as a file holds it.
type asStored struct {
	*plainSample
	Measured *Measured `json:"measured,omitempty"`
}

type plainSample Sample

// MarshalJSON writes what was measured, too.
func (s Sample) MarshalJSON() ([]byte, error) {
	return json.Marshal(asStored{(*plainSample)(&s), s.measured})
}

// UnmarshalJSON reads it where the sample is proven: another program may have
// written what is not.
func (s *Sample) UnmarshalJSON(text []byte) error {
	in := asStored{plainSample: (*plainSample)(s)}
	err := json.Unmarshal(text, &in)
	if s.measured = in.Measured; !s.Verdict.Right() || s.Proof == "" {
		s.measured = nil
	}
	return err
}

// Measured is what was measured of a sample. What a workload does not measure
// is 0 or nil.
type Measured struct {
	Start  time.Duration `json:"start_ns"`               // since the start of the run
	Total  time.Duration `json:"total_ns"`               // of an answer from the call to its last row; of a posting, a mix all of it; of a kill until the node was back
	First  time.Duration `json:"first_row_ns,omitempty"` // from the call to the first decoded row
	Inside time.Duration `json:"server_ns,omitempty"`    // the engine's own time; 0 = it tells none
	CPU    time.Duration `json:"client_cpu_ns,omitempty"`
	Derive time.Duration `json:"derive_ns,omitempty"` // deriving the keys, before the call
	Bytes  int64         `json:"bytes,omitempty"`
	Keys   int           `json:"keys,omitempty"` // ids asked for

	Recovered time.Duration `json:"recovered_ns,omitempty"` // from a kill to the first success after the last error; 0 = there was no error
	Silence   time.Duration `json:"silence_ns,omitempty"`   // longest time without a success, from a kill on

	*Mix
	*Posting
	*Used
	*Stored
}

// Kill is one node of a cluster that was killed (SIGKILL) and started again
// later, and what a client saw of it.
type Kill struct {
	Nodes int `json:"nodes"`
	Node  int `json:"node"` // the one killed, from 1; clients connect to node 1

	// Of a load: records whose commit was acknowledged by the time the node was
	// back, those of them that were found in the end without being loaded again,
	// and whether the load, resumed where it had failed, ended in the archive
	// that an undisturbed one makes.
	Acknowledged int64 `json:"acknowledged,omitempty"`
	Found        int64 `json:"found,omitempty"`
	Whole        bool  `json:"whole,omitempty"`

	// Of questions: answers that were right, wrong, and given while the node was
	// down.
	Right int `json:"right,omitempty"`
	Wrong int `json:"wrong,omitempty"`
	Amid  int `json:"right_while_down,omitempty"`

	Errors   int            `json:"errors"`             // calls that failed
	Messages map[string]int `json:"messages,omitempty"` // how often by what they said, first line
}

// What a cluster was doing when a node was killed: a cell's "during".
const (
	DuringLoad      = "load"
	DuringQuestions = "questions"
)

// Cell is one thing that was measured: by which workload, of which engine, and
// what was asked of it, as values on the axes of the tables. Cells are equal
// where all of these are.
type Cell struct {
	Workload, Engine string

	asked string // design=wide&case=test_1, in the order of the axes
}

// NewCell makes a cell of names and values in turn, in the order of the axes.
func NewCell(workload, engine string, asked ...any) Cell {
	var b strings.Builder
	for i := 0; i+1 < len(asked); i += 2 {
		if i > 0 {
			b.WriteByte('&')
		}
		fmt.Fprintf(&b, "%s=%s", asked[i], url.QueryEscape(fmt.Sprint(asked[i+1])))
	}
	return Cell{workload, engine, b.String()}
}

// Axes are the names and values of what was asked.
func (c Cell) Axes() (names, values []string) {
	for part := range strings.SplitSeq(c.asked, "&") {
		if name, value, ok := strings.Cut(part, "="); ok {
			text, _ := url.QueryUnescape(value) // it was escaped here
			names, values = append(names, name), append(values, text)
		}
	}
	return names, values
}

// At is the value on an axis; "" where there is none.
func (c Cell) At(name string) string {
	names, values := c.Axes()
	for i := range names {
		if names[i] == name {
			return values[i]
		}
	}
	return ""
}

// Number is the value on an axis of numbers; 0 where there is none.
func (c Cell) Number(name string) float64 {
	v, _ := strconv.ParseFloat(c.At(name), 64)
	return v
}

// String is the cell's key: met/duckdb?design=wide&case=test_1.
func (c Cell) String() string {
	return c.Workload + "/" + url.QueryEscape(c.Engine) + "?" + c.asked
}

// MarshalText is String.
func (c Cell) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Cell) UnmarshalText(text []byte) (err error) {
	before, asked, _ := strings.Cut(string(text), "?")
	workload, engine, ok := strings.Cut(before, "/")
	if c.Workload, c.asked = workload, asked; !ok {
		return fmt.Errorf("%q names no cell", text)
	}
	c.Engine, err = url.QueryUnescape(engine)
	return err
}

// AnswerCell is a case that an archive is asked in a flavour.
func AnswerCell(engine, design, name, flavour string) Cell {
	return NewCell("met", engine, "case", name, "design", design, "flavour", flavour)
}
