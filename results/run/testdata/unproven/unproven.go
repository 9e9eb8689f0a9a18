// Package unproven does not compile: it makes times without a proof.
package unproven

import (
	"time"

	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/run"
)

var (
	_ = answer.Proof{digest: answer.Digest{Hi: 1}}                               // refused
	_ = run.Folder{samples: []*run.Sample{{Rep: 1}}}                             // refused
	_ = run.Sample{Verdict: run.Equal, measured: &run.Measured{Total: 1}}        // refused
	_ = run.Sample{Verdict: run.Equal, Total: time.Second}                       // refused
	_ = run.Sample{Verdict: run.Equal}.Judge(&run.Measured{Total: 1}, true, nil) // refused
	_ = run.Sample{Verdict: run.Equal, Proof: answer.EveryValue}                 // it has no time
)
