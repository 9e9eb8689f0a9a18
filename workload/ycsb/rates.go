package ycsb

import (
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/measure/pace"
)

// Rates are those of a run, one after the other.
type Rates []pace.Phase

// takeRates reads 500/s@30s,1000/s@30s.
func takeRates(c *Config, v string) error {
	for part := range strings.SplitSeq(v, ",") {
		rate, lasts, timed := strings.Cut(strings.TrimSpace(part), "@")
		n, wrong := strconv.ParseFloat(strings.TrimSuffix(rate, "/s"), 64)
		d, untimed := time.ParseDuration(lasts)
		if wrong != nil || !(n > 0 && n <= 1e9) || !timed || untimed != nil || d <= 0 {
			return &fault.Error{Problem: strconv.Quote(part) + " is no rate and its time", Cure: "write like 500/s@30s,1000/s@30s"}
		}
		c.Rates = append(c.Rates, pace.Phase{Rate: n, For: d})
	}
	return nil
}

// settle gives a workload the target and the time of its rates.
func (r Rates) settle(c *Config) {
	if len(r) == 0 {
		return
	}
	all := time.Duration(0)
	for _, p := range r {
		all += p.For
	}
	c.Target, c.Operations = r[0].Rate, 0
	if c.Seconds == 0 {
		c.Seconds = int64((all + time.Second - 1) / time.Second)
	}
}

// String is what was given.
func (r Rates) String() string {
	var all []string
	for _, p := range r {
		all = append(all, strconv.FormatFloat(p.Rate, 'g', -1, 64)+"/s@"+p.For.String())
	}
	return strings.Join(all, ",")
}

// phases are the rates of this client.
func (w *workload) phases() (out []pace.Phase) {
	for _, p := range w.Rates {
		out = append(out, pace.Phase{Rate: p.Rate / float64(max(w.Shard.Of, 1)), For: p.For})
	}
	return out
}
