// Package unproven does not compile: it makes times without a proof.
package unproven

import (
	"time"

	"barograph/answer"
	"barograph/run"
)

var (
	_ = run.Proven(time.Second, answer.Proof{}) // this is 0
	_ = run.Time{}                              // likewise

	_ = run.ScanPoint{Verdict: run.Equal, Time: time.Second}                     // refused
	_ = run.Time(time.Second)                                                    // refused
	_ = run.Time{d: time.Second}                                                 // refused
	_ = answer.Proof{digest: answer.Digest{Hi: 1}}                               // refused
	_ = run.Folder{samples: []*run.Sample{{Rep: 1}}}                             // refused
	_ = run.Sample{Verdict: run.Equal, measured: &run.Measured{Total: 1}}        // refused
	_ = run.Sample{Verdict: run.Equal, Total: time.Second}                       // refused
	_ = run.Sample{Verdict: run.Equal}.Judge(&run.Measured{Total: 1}, true, nil) // refused
	_ = run.Sample{Verdict: run.Equal, Proof: answer.EveryValue}                 // it has no time
)
