package post

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/results/run"
)

// The number of products in the backlog of the report, and in a pilot.
const (
	backlogProducts = 55_338
	pilotProducts   = 20
)

// passes is the number of times that the tests of Report2006 post their source: quiet inserts and updates, noise does
// the same during other work (which takes about eight times as long: 6.5 to 9.7 times on PostgreSQL 15), queue posts once,
// live has three phases, and delete posts once.
const passes = 2 + 8*2 + 1 + 3 + 1

// Report2006 prepares a run of the report's tests in its order. messages is the number of products; 0 = as many as fit a
// time limit. Report2006 then derives their number from a pilot, which posts a few products twice by each method. feed
// returns a source of a number of products, which the test live divides into days.
func (p *Posting) Report2006(
	ctx context.Context, limit time.Duration, messages int, feed func(messages int) (Source, error),
) (err error) {
	if len(p.Methods) == 0 { // compare the report's method with the present service
		p.Methods = []string{string(posts.Row2006), string(Service)}
	}
	p.Tests = stringsOf([]Test{Quiet, Noise, Queue, Live, Delete}) // the report's, and its further measurements
	if messages > 0 {
		p.Source, err = feed(messages)
		return err
	}
	pilotRun := *p
	pilotRun.Tests = []string{string(Quiet)}
	if pilotRun.Source, err = feed(pilotProducts); err != nil {
		return err
	}
	folder, err := run.Create("", run.Run{Started: time.Now()}) // in memory
	if err != nil {
		return err
	}
	began := time.Now()
	if err := errors.Join(pilotRun.Run(ctx, folder), folder.Close()); err != nil {
		return err
	}
	pilotTime := time.Since(began)
	messages = productsWithin(limit-pilotTime, pilotTime)
	conclusion := fmt.Sprintf("%s fit into %s", run.CountOf(messages, "product"), limit)
	if needed := pilotTime * (passes + 2) / 2; needed > limit {
		conclusion = fmt.Sprintf("the minimum of %s will take about %s, longer than the limit of %s",
			run.CountOf(messages, "product"), needed.Round(time.Second), limit)
	}
	p.Progress(fmt.Sprintf("a pilot of %s took %s: %s",
		run.CountOf(pilotProducts, "product"), pilotTime.Round(time.Millisecond), conclusion))
	p.Source, err = feed(messages)
	return err
}

// productsWithin returns the number of products that fit into a time limit. pilotTime is the time of a pilot for two of
// the passes.
func productsWithin(limit, pilotTime time.Duration) int {
	n := float64(pilotProducts) * 2 / passes * float64(limit) / float64(max(pilotTime, time.Millisecond))
	return min(max(pilotProducts, int(n)), backlogProducts)
}
