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
	"github.com/barograph/barograph/internal/jsonkeys"
	"github.com/barograph/barograph/query/answer"
)

// Verdict is the outcome of a sample's comparison. It decides whether reports may show a time.
type Verdict string

// The verdicts.
const (
	Equal  Verdict = "equal"  // proven, to the degree in Sample.Proof
	Wrong  Verdict = "wrong"  // compared, and different: reports show it as wrong, never as fast
	Failed Verdict = "failed" // no answer: an error has no time

	EqualToRounding Verdict = "equal to rounding" // the differences are within what rounding explains
	Undetermined    Verdict = "undetermined"      // the question allows several answers, and this is one of them
)

// IsCorrect reports whether an answer with this verdict may have a time.
func (v Verdict) IsCorrect() bool { return v == Equal || v == EqualToRounding || v == Undetermined }

// Phase distinguishes warm repetitions from cold starts.
type Phase string

// The phases.
const (
	Warm Phase = "warm"
	Cold Phase = "cold"
)

// Sample is one repetition of a cell. Only Measured returns its times, and only if it is proven.
type Sample struct {
	Cell    Cell          `json:"cell"`
	Phase   Phase         `json:"phase"`
	Rep     int           `json:"rep"`
	Verdict Verdict       `json:"verdict"` // set by Judge
	Problem string        `json:"problem,omitempty"`
	Proof   answer.Degree `json:"proof,omitempty"`
	Rows    int           `json:"rows"`
	Digest  string        `json:"digest,omitempty"` // digest of the answer, or of the stored records
	// largest relative difference of an answer with the verdict EqualToRounding
	LargestDifference float64 `json:"largest_difference,omitempty"`

	Answers       *Answers       `json:"answers,omitempty"`   // answers that were compared one by one
	Kill          *Kill          `json:"kill,omitempty"`      // effects of killing a node
	Fault         *Fault         `json:"fault,omitempty"`     // faults that were injected into a server during the sample
	History       *HistoryCheck  `json:"history,omitempty"`   // history that was recorded during a run without faults
	Transfers     *Transfers     `json:"transfers,omitempty"` // transactions that moved amounts between records
	ProblemCounts []ProblemCount `json:"problems,omitempty"`
	Warnings      []string       `json:"warnings,omitempty"`

	measured *Measured
}

// Answers counts the outcomes of answers that were compared one by one.
type Answers = answer.Tally

// ProblemCount is a kind of problem, and how often it occurred.
type ProblemCount struct {
	Kind    string `json:"what"`
	Count   int64  `json:"count"`
	Example string `json:"example"`
}

// Judge sets the verdict of a sample. It stores the measurement m, which may be nil, only if p
// proves the answer. err is the error of the query or of the comparison. An *answer.Diff means that the answer is
// wrong; any other error means that there is no answer.
func (s Sample) Judge(m *Measured, p answer.Proof, err error) Sample {
	if err == nil && !p.Valid() {
		err = errNoProof
	}
	s.measured, s.Proof = nil, ""
	switch d, wrong := errors.AsType[*answer.Diff](err); {
	case wrong:
		s.Verdict, s.Problem, s.Rows = Wrong, fault.Redact(err.Error()), d.GotRows
	case err != nil:
		s.Verdict, s.Problem = Failed, fault.Redact(err.Error())
	default:
		s.Verdict, s.Problem, s.Proof, s.measured = Equal, "", p.Degree(), m
		s.Rows, s.LargestDifference = p.Rows(), p.LargestDifference()
		switch p.Degree() {
		case answer.Rounded:
			s.Verdict = EqualToRounding
		case answer.Undetermined:
			s.Verdict = Undetermined
		}
		if d := p.Digest(); d != (answer.Digest{}) {
			s.Digest = answer.FormatDigest(d)
		}
	}
	return s
}

var errNoProof = errors.New("the answer is not proven")

// Measured returns the measurement; nil if there was none, if the answer is not proven, or if
// another repetition of the cell is incorrect.
func (s *Sample) Measured() *Measured { return s.measured }

// invalidates reports whether o must not have times because s is incorrect. An incorrect sample
// invalidates all samples of its cell; a failed cold start invalidates only cold starts.
func (s *Sample) invalidates(o *Sample) bool {
	return s.Cell == o.Cell && (s.Verdict == Wrong || s.Verdict == Failed && (s.Phase != Cold || o.Phase == Cold))
}

// sampleJSON is the JSON form of a sample, with its measurement.
type sampleJSON struct {
	*plainSample
	Measured *Measured `json:"measured,omitempty"`
}

type plainSample Sample

// MarshalJSON includes the measurement.
func (s Sample) MarshalJSON() ([]byte, error) {
	return json.Marshal(sampleJSON{(*plainSample)(&s), s.measured})
}

// UnmarshalJSON drops the measurement of an unproven sample, which another program may have
// written.
func (s *Sample) UnmarshalJSON(text []byte) error {
	in := sampleJSON{plainSample: (*plainSample)(s)}
	err := jsonkeys.Unmarshal(text, &in)
	if s.measured = in.Measured; !s.Verdict.IsCorrect() || s.Proof == "" {
		s.measured = nil
	}
	return err
}

// Measured is the measurement of a sample. Values that a workload does not measure are 0 or nil.
type Measured struct {
	Start time.Duration `json:"start_ns"` // since the start of the run
	// Total is the time of an answer from the call to its last row; of a posting or a mix, all of it;
	// of a kill, until the node was ready again.
	Total      time.Duration `json:"total_ns"`
	FirstRow   time.Duration `json:"first_row_ns,omitempty"` // from the call to the first decoded row
	ServerTime time.Duration `json:"server_ns,omitempty"`    // time that the engine reports; 0 = it reports none
	CPU        time.Duration `json:"client_cpu_ns,omitempty"`
	Derive     time.Duration `json:"derive_ns,omitempty"` // time to derive the keys, before the call
	Bytes      int64         `json:"bytes,omitempty"`
	Keys       int           `json:"keys,omitempty"` // number of requested ids

	// from a kill to the first success after the last error; 0 = no error occurred. FaultCost.RecoveryTime also requires
	// 95 % of the earlier rate.
	Recovered time.Duration `json:"recovered_ns,omitempty"`
	// longest time without a success after a kill
	LongestGap time.Duration `json:"silence_ns,omitempty"`

	*Mix
	*Posting
	*Usage
	*StoreTraffic
}

// Kill describes the effect on clients when one node of a cluster was killed (SIGKILL) and started again later.
type Kill struct {
	Nodes int `json:"nodes"`
	Node  int `json:"node"` // number of the killed node, from 1; clients connect to node 1

	// For a load: Acknowledged counts the records whose commit was acknowledged before the node was
	// back, and Found those of them that were in the archive at the end without being loaded again.
	// Complete reports whether the resumed load made the same archive as an undisturbed one.
	Acknowledged int64 `json:"acknowledged,omitempty"`
	Found        int64 `json:"found,omitempty"`
	Complete     bool  `json:"complete,omitempty" old:"whole"`

	// For questions: correct and wrong answers, and correct answers while the node was down.
	Correct          int `json:"correct,omitempty" old:"right"`
	Wrong            int `json:"wrong,omitempty"`
	CorrectWhileDown int `json:"correct_while_down,omitempty" old:"right_while_down"`

	Errors   int            `json:"errors"`             // calls that failed
	Messages map[string]int `json:"messages,omitempty"` // number of failed calls by the first line of their error
}

// Values of the axis "during": what clients did when a node was killed.
const (
	DuringLoad      = "load"
	DuringQuestions = "questions"
)

// Cell is one measured thing: a workload, an engine, and values on the axes of the report's tables. Two
// cells are equal if all of these are equal.
type Cell struct {
	Workload, Engine string

	axes string // design=wide&case=test_1, in the order of the axes
}

// NewCell makes a cell. axes are alternating names and values, in the order of the axes.
func NewCell(workload, engine string, axes ...any) Cell {
	var b strings.Builder
	for i := 0; i+1 < len(axes); i += 2 {
		if i > 0 {
			b.WriteByte('&')
		}
		fmt.Fprintf(&b, "%s=%s", axes[i], url.QueryEscape(fmt.Sprint(axes[i+1])))
	}
	return Cell{workload, engine, b.String()}
}

// Axes returns the names and values of all axes.
func (c Cell) Axes() (names, values []string) {
	for part := range strings.SplitSeq(c.axes, "&") {
		if name, value, ok := strings.Cut(part, "="); ok {
			text, _ := url.QueryUnescape(value) // NewCell escaped it; a damaged escape in a file gives ""
			names, values = append(names, name), append(values, text)
		}
	}
	return names, values
}

// Value is the value on an axis; "" if the cell does not have it.
func (c Cell) Value(name string) string {
	_, rest, _ := strings.Cut("&"+c.axes, "&"+name+"=") // the names are not escaped
	value, _, _ := strings.Cut(rest, "&")
	text, _ := url.QueryUnescape(value) // as in Axes
	return text
}

// Number is the value on a numeric axis; 0 if the cell does not have it.
func (c Cell) Number(name string) float64 {
	v, _ := strconv.ParseFloat(c.Value(name), 64)
	return v
}

// String is the cell's key: met/duckdb?design=wide&case=test_1.
func (c Cell) String() string { return c.Workload + "/" + url.QueryEscape(c.Engine) + "?" + c.axes }

// MarshalText returns the same text as String.
func (c Cell) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (c *Cell) UnmarshalText(text []byte) (err error) {
	before, axes, _ := strings.Cut(string(text), "?")
	workload, engine, ok := strings.Cut(before, "/")
	if c.Workload, c.axes = workload, axes; !ok {
		return fmt.Errorf("%q is not the name of a cell", text)
	}
	c.Engine, err = url.QueryUnescape(engine)
	return err
}

// MetCell is the cell of a case that is queried in an archive with a flavour.
func MetCell(engine, design, caseName, flavour string) Cell {
	return NewCell("met", engine, "case", caseName, "design", design, "flavour", flavour)
}
