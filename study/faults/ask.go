package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
)

// loadForQueries loads the files for the queries.
func (s *runner) loadForQueries(ctx context.Context) error {
	a, done, err := s.openArchive(ctx)
	if err != nil {
		return err
	}
	defer done()
	sum, err := load.Run(ctx, a, s.Subset, s.Files, load.Options{})
	return s.loadError(sum, err)
}

// killDuringQueries kills a node while a client queries all cases in turn. It changes the flavour
// from query to query, so that every case is sent in every flavour.
func (s *runner) killDuringQueries(ctx context.Context, rep int) (*kill, error) {
	k := s.newKill(run.DuringQuestions, rep)
	c := &client{runner: s, k: k}
	defer c.close()
	if err := c.queryFor(ctx, s.Settle); err != nil {
		return k, err
	}
	if k.Wrong > 0 {
		problem := &answer.Diff{Problem: "a result was wrong before a node was killed: " + c.wrong}
		return k, &fault.Status{Code: fault.Differs, Err: problem}
	}
	if k.Errors > 0 {
		return k, fmt.Errorf("queries failed before a node was killed: %v", k.Messages)
	}
	k.Correct = 0
	s.progress(run.KillEvent, k, "killing node %d of %d", k.Node, s.Nodes)
	c.killed = time.Now()
	c.lastSuccess = c.killed
	if err := s.Cluster.Kill(k.Node - 1); err != nil {
		return k, err
	}
	ctx, stop := context.WithCancel(ctx)
	restart := started(func() error {
		if err := engine.Pause(ctx, s.Down); err != nil {
			return err
		}
		return s.Cluster.Restart(ctx, k.Node-1)
	})
	defer func() { stop(); <-restart.ended }() // it uses the cluster
	if err := c.queryWhile(ctx, restart); err != nil {
		return k, err
	}
	k.times.Total = time.Since(c.killed)
	k.CorrectWhileDown = k.Correct
	// Continue until no query fails for s.Settle, or until s.Patience is over.
	for began := time.Now(); ; {
		before := k.Errors
		if err := c.queryFor(ctx, s.Settle); err != nil {
			return k, err
		}
		if k.Errors == before {
			break
		}
		if time.Since(began) > s.Patience {
			k.failed = errors.New("queries did not succeed again")
			break
		}
	}
	k.times.Recovered, k.times.LongestGap = c.recovered, c.longestGap
	correct := int64(k.Correct) // each of these queries was compared completely
	k.proof, k.failed = answer.CompareAll(answer.Tally{Succeeded: correct, Found: correct, Values: correct}, k.failed)
	if k.Wrong > 0 {
		k.failed = &answer.Diff{Problem: c.wrong}
	}
	s.progress(run.StepEvent, k, "%d correct, %d wrong, %d errors", k.Correct, k.Wrong, k.Errors)
	return k, nil
}

// client sends queries. It stays connected until a query fails.
type client struct {
	*runner
	k       *kill
	archive archive.Archive
	done    func()
	turn    int // number of queries so far
	b       answer.Builder
	wrong   string // the first wrong result

	killed, lastSuccess   time.Time
	recovered, longestGap time.Duration // from the kill to the first success after the last error; between two successes
	failing               bool          // the last query returned an error
}

func (c *client) close() {
	if c.done != nil {
		c.done()
		c.archive, c.done = nil, nil
	}
}

// queryFor sends queries for the duration d.
func (c *client) queryFor(ctx context.Context, d time.Duration) error {
	for began := time.Now(); time.Since(began) < d; {
		if err := c.queryNext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// queryWhile sends queries until the node runs again.
func (c *client) queryWhile(ctx context.Context, restart *task) error {
	for !restart.hasEnded() {
		if err := c.queryNext(ctx); err != nil {
			return err
		}
	}
	if err := restart.wait(); err != nil {
		return c.k.restartFailed(ctx, err)
	}
	return nil
}

// queryNext sends the next query, and counts the result.
func (c *client) queryNext(ctx context.Context) error {
	call, stop := context.WithTimeout(ctx, c.Call)
	defer stop()
	at := c.turn % len(c.cases)
	f := c.Flavours[(c.turn/len(c.cases)+at)%len(c.Flavours)] // in each pass, a case has the next flavour
	c.turn++
	err := c.answer(call, at, f)
	var wrong *answer.Diff
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, flavour.ErrCannotExpress):
		return nil
	case errors.As(err, &wrong):
		c.k.Wrong++
		if c.wrong == "" {
			first, _, _ := strings.Cut(wrong.Error(), "\n")
			c.wrong = fmt.Sprintf("%s, %s: %s", c.cases[at].Name, f, first)
		}
	case err != nil:
		countError(c.k, err)
		c.failing = true
		c.close() // the next call opens a new client
		return engine.Pause(ctx, retryPause)
	default:
		c.countCorrect()
	}
	return nil
}

func (c *client) countCorrect() {
	c.k.Correct++
	if c.killed.IsZero() {
		return
	}
	now := time.Now()
	c.longestGap = max(c.longestGap, now.Sub(c.lastSuccess))
	c.lastSuccess = now
	if c.failing {
		c.recovered, c.failing = now.Sub(c.killed), false
	}
}

// answer sends one query. For a wrong result it returns an answer.Diff.
func (c *client) answer(ctx context.Context, at int, f flavour.Name) error {
	if c.archive == nil {
		var err error
		if c.archive, c.done, err = c.openArchive(ctx); err != nil {
			return err
		}
	}
	q, err := c.archive.Phrase(ctx, c.cases[at], f)
	if err != nil {
		return err
	}
	if err := c.archive.Ask(ctx, q, &c.b); err != nil {
		return err
	}
	_, err = answer.Compare(c.reference[at], &c.b.Answer)
	return err
}
