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

	_ = run.ScanPoint{Verdict: run.Equal, Time: time.Second} // refused
	_ = run.Kill{Recovered: time.Second}                     // refused
	_ = run.Time(time.Second)                                // refused
	_ = run.Time{d: time.Second}                             // refused
	_ = answer.Proof{digest: answer.Digest{Hi: 1}}           // refused
	_ = run.Folder{samples: []run.Sample{{Total: 1}}}        // refused
)
