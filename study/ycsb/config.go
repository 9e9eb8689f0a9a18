package ycsb

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure/pace"
	"github.com/barograph/barograph/results/run"
)

// The operations, in the order of YCSB's weighted choice; YCSB lacks those from deletes on.
const (
	opRead = iota
	opUpdate
	opInsert
	opScan
	opModify
	opDelete
	opReadPath   // of one value of a document
	opUpdatePath // likewise
	opTransfer   // from one record to another, in a transaction
	ops

	kindVerify = ops // the check of values, after a read or a scan
)

// Config is a workload: its properties as values. Settings explains each.
type Config struct {
	Records, Operations      int64
	InsertStart, InsertCount int64
	Threads, Seconds, Warmup int64
	Target                   float64 // operations per second
	Rates                    Rates   // one after the other, in place of Target
	Arrivals                 string
	Seed                     int64
	Shard                    Shard
	Spin                     bool
	Ramp                     bool // the target is one of a ramp's
	timedByRates             bool // Seconds is the sum of the durations of Rates

	Status         bool
	StatusInterval int64 // seconds
	Label          string
	ExportFile     string
	Percentiles    []string // as they are printed
	Times          string
	EachError      bool
	HdrFiles       bool
	HdrPath        string

	Table                                   string
	FieldCount, FieldLength, MinFieldLength int64
	EachLength                              []int64 // by field, in place of FieldLength
	FieldPrefix                             string
	FieldLengths, FieldHistogram            string
	ReadAll, WriteAll, Integrity            bool
	Mix                                     [ops]float64
	Requests                                string
	Theta                                   float64 // exponent of Zipf's law
	MinScan, MaxScan                        int64
	ScanLengths                             string
	Ordered                                 bool
	ZeroPadding                             int64
	HotData, HotOps                         float64
	ExpPercentile, ExpFraction              float64
	RetryLimit                              int64
	RetryInterval                           float64 // seconds
	KeepGoing                               bool
	Retries                                 int64 // of a read or an update
	Batch                                   int64
	MaxMisses                               int64
	MaxErrors                               int64   // operations that may fail; 0 = any number
	MaxOutage                               int64   // seconds
	Timeout                                 float64 // of an operation, in seconds; 0 = none
	Isolation                               kv.IsolationLevel
	Balance                                 int64 // of an account when it is loaded
	Conflicts                               int64 // after which a transfer fails

	Ignored []string // properties that were given and have no effect
}

// NewConfig reads properties; the functions of set then change the workload. An unknown property is
// an error, because its author expected an effect.
func NewConfig(p Properties, set ...func(c *Config)) (*Config, error) {
	c := &Config{InsertCount: -1}
	var names []string
	for _, s := range Settings() {
		names = append(names, s.Name)
		value, given := p[s.Name]
		switch {
		case given && s.apply == nil:
			c.Ignored = append(c.Ignored, s.Name)
			continue
		case s.apply == nil, !given && s.Default == "":
			continue
		case !given:
			value = s.Default
		}
		if err := s.apply(c, value); err != nil {
			if f, ok := errors.AsType[*fault.Error](err); ok {
				f.Setting = "property " + s.Name
			}
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if binding, _, ok := strings.Cut(name, "."); ok && slices.Contains(bindings(), binding) {
			c.Ignored = append(c.Ignored, name)
			continue
		}
		if !slices.Contains(names, name) {
			cure := "see `barograph ycsb properties`"
			if near := fault.Nearest(name, names); near != "" {
				cure = "did you mean " + near + "? See `barograph ycsb properties`"
			}
			return nil, &fault.Error{Setting: "property " + name, Problem: "is not known", Cure: cure}
		}
	}
	for _, f := range set {
		f(c)
	}
	return c, c.settle()
}

// setFieldLengths reads 8,100,1000.
func setFieldLengths(c *Config, v string) error {
	for part := range strings.SplitSeq(v, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || n < 0 || n > mostLength {
			cure := fmt.Sprintf("write one for each field, each from 0 to %d, like 8,100,1000", mostLength)
			return &fault.Error{Problem: strconv.Quote(part) + " is no length", Cure: cure}
		}
		c.EachLength = append(c.EachLength, n)
	}
	return nil
}

// badProperty is the error of a property's value.
func badProperty(name, problem, cure string) error {
	return &fault.Error{Setting: "property " + name, Problem: problem, Cure: cure}
}

// settle derives the values that follow from other properties, and checks all of them together.
func (c *Config) settle() error {
	if c.Records == 0 {
		c.Records = math.MaxInt32
	}
	if c.InsertCount < 0 {
		c.InsertCount = c.Records - c.InsertStart
	}
	c.Rates.settle(c)
	if c.Times == "" {
		if c.Times = "op"; c.Target > 0 {
			c.Times = "both"
		}
	}
	if err := cmp.Or(c.checkWork(), c.checkRecords(), c.settleTransfers()); err != nil {
		return err
	}
	table := c.TableSpec("")
	return table.Check()
}

// checkWork checks what the workload does: which keys, how fast, by how many clients.
func (c *Config) checkWork() error {
	switch {
	case c.Threads < 1:
		return badProperty("threadcount", fmt.Sprintf("%d is not understood", c.Threads), "give at least 1")
	case !(c.Target >= 0 && c.Target <= 1e9):
		const cure = "give operations per second up to 1e9, or 0 for no target"
		return badProperty("target", fmt.Sprintf("%g is not understood", c.Target), cure)
	case !(c.Theta > 0 && c.Theta < 1):
		return badProperty("zipfianconstant", fmt.Sprintf("%g is not understood", c.Theta), "give a number between 0 and 1")
	case c.Requests == "exponential" && c.ExpPercentile == 0:
		return badProperty("exponential.percentile", "of 0 leaves no key to request", "give more than 0, up to 100")
	case c.InsertStart >= c.Records:
		problem := fmt.Sprintf("%d is not below recordcount, which is %d", c.InsertStart, c.Records)
		return badProperty("insertstart", problem, "raise recordcount to insertstart + insertcount, or lower insertstart")
	case c.InsertCount < 1 || c.InsertStart > c.Records-c.InsertCount:
		const sum = "%d is less than insertstart + insertcount = %d + %d"
		problem := fmt.Sprintf(sum, c.Records, c.InsertStart, c.InsertCount)
		return badProperty("recordcount", problem, "raise it, or lower one of these")
	case c.Shares() == 0:
		return badProperty("readproportion", "no operation has a share", "give one of the proportions")
	case c.Shard.Of > mostShards:
		return badProperty("shard", fmt.Sprintf("is of more than %d clients", mostShards), "give fewer clients more threads")
	case c.Shard.Of > 1 && (c.InsertCount < c.Shard.Of || c.Operations > 0 && c.Operations < c.Shard.Of):
		return badProperty("shard", "there are fewer records or operations than clients", "give fewer clients")
	}
	return nil
}

// checkRecords checks the lengths of values and scans.
func (c *Config) checkRecords() error {
	switch {
	case c.Integrity && c.FieldLengths != "constant":
		const problem = "values can be checked only if they have one length"
		return badProperty("dataintegrity", problem, "set fieldlengthdistribution=constant")
	case c.EachLength != nil && c.FieldLengths != "constant":
		return badProperty("fieldlengths", "and fieldlengthdistribution exclude each other", "give one of them")
	case c.EachLength != nil && int64(len(c.EachLength)) != c.FieldCount:
		problem := fmt.Sprintf("has %s for %s", run.CountOf(len(c.EachLength), "length"), run.CountOf(c.FieldCount, "field"))
		return badProperty("fieldlengths", problem, "give one for each field, or another fieldcount")
	case c.MinFieldLength > c.FieldLength && c.FieldLengths != "constant" && c.FieldLengths != "histogram":
		return badProperty("minfieldlength", "is greater than fieldlength", "lower it")
	case c.MinScan > c.MaxScan:
		return badProperty("minscanlength", "is greater than maxscanlength", "lower it")
	case c.FieldCount > 1000:
		return badProperty("fieldcount", "is more than 1000", "give fewer fields")
	}
	return nil
}

// Shares is the sum of the proportions of operations.
func (c *Config) Shares() (sum float64) {
	for _, w := range c.Mix {
		sum += w
	}
	return sum
}

// Inserts reports whether a run of the mix makes new records.
func (c *Config) Inserts() bool { return c.Mix[opInsert] > 0 }

// Grown returns the workload over the table after a run has inserted a number of records.
func (c *Config) Grown(inserted int64) *Config {
	out := *c
	if c.InsertStart+c.InsertCount == c.Records {
		out.InsertCount += inserted
	}
	out.Records += inserted
	return &out
}

// TableSpec returns the workload's table in a layout.
func (c *Config) TableSpec(l kv.Layout) kv.Table {
	t := kv.Table{Name: c.Table, Layout: l}
	for i := range c.FieldCount {
		t.Fields = append(t.Fields, c.FieldPrefix+strconv.FormatInt(i, 10))
	}
	return t
}

// Shard is one client's share of the work of several clients: for a load a range of the keys; for a
// run a share of the operations and of the target, over all keys, and every n-th inserted key. The
// zero Shard is the complete work.
type Shard struct{ Index, Of int64 } // Index from 0

// Set reads "2/3": the second of three shares.
func (s *Shard) Set(text string) error {
	index, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.ParseInt(index, 10, 32)
	n, err2 := strconv.ParseInt(of, 10, 32)
	if !ok || err1 != nil || err2 != nil || i < 1 || i > n {
		const cure = "write for example 1/3 on the first of three clients"
		return &fault.Error{Problem: strconv.Quote(text) + " is no share", Cure: cure}
	}
	*s = Shard{i - 1, n}
	return nil
}

// String writes the share as Set reads it; "" for the complete work.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Of)
}

// Type is the form of the flag's value in the help.
func (s *Shard) Type() string { return "i/n" }

// split returns the shard's range of n numbers from first on.
func (s Shard) split(first, n int64) (begin, count int64) {
	if s.Of < 2 {
		return first, n
	}
	share, rest := n/s.Of, n%s.Of
	return first + s.Index*share + min(s.Index, rest), share + min(1, max(0, rest-s.Index))
}

// keyNumber converts this client's number of a key to its number in the table. Loaded keys have the
// same number everywhere. Each client numbers its own inserted keys without gaps; in the table the
// clients' keys alternate.
func (c *Config) keyNumber(number int64) int64 {
	if c.Shard.Of < 2 || number < c.Records {
		return number
	}
	return c.Records + (number-c.Records)*c.Shard.Of + c.Shard.Index
}

// stream numbers a worker's sequence of random numbers. No other worker of any client has it.
func (s Shard) stream(worker int) uint64 { return uint64(s.Index)<<32 + uint64(worker) } //nolint:gosec // not negative

// Rates are successive rates of a run, each with its duration.
type Rates []pace.RatePhase

// setRates reads 500/s@30s,1000/s@30s.
func setRates(c *Config, v string) error {
	for part := range strings.SplitSeq(v, ",") {
		rate, lasts, timed := strings.Cut(strings.TrimSpace(part), "@")
		n, wrong := strconv.ParseFloat(strings.TrimSuffix(rate, "/s"), 64)
		d, untimed := time.ParseDuration(lasts)
		if wrong != nil || !(n > 0 && n <= 1e9) || !timed || untimed != nil || d <= 0 {
			const cure = "write for example 500/s@30s,1000/s@30s; use --target for one rate during the complete run"
			return &fault.Error{Problem: strconv.Quote(part) + " is not a rate and its duration", Cure: cure}
		}
		c.Rates = append(c.Rates, pace.RatePhase{Rate: n, Duration: d})
	}
	return nil
}

// settle sets the target of a workload to the first rate and, without a time limit, its duration to that of all rates.
// It drops operationcount, because the rates have a duration.
func (r Rates) settle(c *Config) {
	if len(r) == 0 {
		return
	}
	all := time.Duration(0)
	for _, p := range r {
		all += p.Duration
	}
	c.Target, c.Operations = r[0].Rate, 0
	if c.Seconds == 0 {
		c.Seconds, c.timedByRates = int64((all+time.Second-1)/time.Second), true
	}
}

// String writes the rates as setRates reads them.
func (r Rates) String() string {
	var all []string
	for _, p := range r {
		all = append(all, strconv.FormatFloat(p.Rate, 'g', -1, 64)+"/s@"+p.Duration.String())
	}
	return strings.Join(all, ",")
}

// phases are the rates of this client.
func (w *workload) phases() (out []pace.RatePhase) {
	for _, p := range w.Rates {
		out = append(out, pace.RatePhase{Rate: p.Rate / float64(max(w.Shard.Of, 1)), Duration: p.Duration})
	}
	return out
}
