package met

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// cold measures cold starts. For each it drops the archive's files from the page cache and
// starts a new process, which opens the archive and runs one query.
func (s *runner) cold(ctx context.Context) error {
	s.close() // a cold start opens the archives in a process of its own
	if s.options.Cold == nil || s.options.ColdReps <= 0 {
		return nil
	}
	cells := lists.Filter(s.cells, func(c *cell) bool { return c.target.Driver.Place == engine.Embedded })
	if slices.ContainsFunc(s.cells, func(c *cell) bool { return c.target.Driver.Place == engine.Remote }) {
		s.warn("cold starts are measured for embedded engines only: the caches of a server outlive its clients")
	}
	step := Progress{Step: "cold starts", Unit: "results", Of: int64(len(cells) * s.options.ColdReps)}
	for i, rep := range measure.Interleave(s.options.Seed+1, len(cells), s.options.ColdReps) {
		c := cells[i]
		if step.Done++; c.bad || s.finished[repetition{c.Cell, run.Cold, rep}] {
			continue
		}
		stopped, start := s.standstills.Total(), s.clock.Now()
		result, how, err := s.options.Cold(ctx, c.target, c.Cell)
		for s.wasStopped(stopped) {
			stopped, start = s.standstills.Total(), s.clock.Now()
			result, how, err = s.options.Cold(ctx, c.target, c.Cell)
		}
		result.Start = start
		s.folder.Run.ColdMethod = cmp.Or(how, s.folder.Run.ColdMethod)
		if err := s.addColdSample(ctx, c, rep, &result, err); err != nil {
			return err
		}
		s.options.Progress(step)
	}
	s.finishStep(step, s.folder.Run.ColdMethod)
	return nil
}

// addColdSample compares the digest that the other process reports with that of the reference. The
// digest covers every value and the order of the rows.
func (s *runner) addColdSample(ctx context.Context, c *cell, rep int, a *ColdResult, err error) error {
	digest, ok := answer.ParseDigest(a.Digest)
	if err == nil && !ok {
		err = fmt.Errorf("the process of the cold start returned the digest %q", a.Digest)
	}
	var proof answer.Proof
	if err == nil {
		want := c.want
		if a.AnyOrder {
			want = want.SortedByText()
		}
		proof, err = answer.CompareDigest(want, digest, a.Rows)
	}
	return s.addSample(ctx, c, run.Sample{Phase: run.Cold, Rep: rep}, &a.Measured, proof, err)
}

// ColdResult is the result that the process of a cold start reports: times, and the number and
// digest of the rows, which the study still has to compare.
type ColdResult struct {
	run.Measured
	Rows     int
	Digest   string
	AnyOrder bool // the digest ignores the order of rows, because the archive has several of the same identity
}

// ColdCommand is the hidden command that runs AskOnce.
const ColdCommand = "cold-start"

// ColdProcess returns a function for Options.Cold: it drops an archive's files from the page
// cache, and runs the query of a cell in a new process. cases is the file of the study's cases.
func ColdProcess(cases string) func(context.Context, Target, run.Cell) (ColdResult, string, error) {
	return func(ctx context.Context, t Target, c run.Cell) (out ColdResult, how string, err error) {
		u, err := fault.ParseURL(t.URL)
		if err != nil {
			return out, "", err
		}
		if how, err = measure.DropCaches([]string{engine.Path(u)}); err != nil {
			return out, "", err
		}
		self, err := os.Executable()
		if err != nil {
			return out, how, err
		}
		cmd := exec.CommandContext(ctx, self, ColdCommand, cases+"#"+c.Value("case"), "--engine", t.URL, "--design", c.Value("design"), "--flavour", c.Value("flavour"), "--subset", t.Subset)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			return out, "new process per result; " + how, fmt.Errorf("cold start: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
		}
		return out, "new process per result; " + how, json.Unmarshal(stdout.Bytes(), &out)
	}
}

// AskOnce opens an archive, runs one query, and returns the time from the start of opening to the
// last row. The process of a cold start calls it.
func AskOnce(ctx context.Context, r engine.Registry, rawURL string, d design.Name, q *question.Question, f flavour.Name) (ColdResult, error) {
	start := time.Now()
	var out ColdResult
	e, err := r.Open(ctx, rawURL, engine.Options{ReadOnly: true, InProcess: true}) // the study has written it
	if err != nil {
		return out, err
	}
	defer e.Close() //nolint:errcheck // read only
	a, err := archive.DatabaseOf(e).Open(ctx, d)
	if err != nil {
		return out, err
	}
	defer a.Close() //nolint:errcheck // read only
	query, err := a.Phrase(ctx, q, f)
	if err != nil {
		return out, err
	}
	var b answer.Builder
	if err := a.Ask(ctx, query, &b); err != nil {
		return out, err
	}
	out.Total = time.Since(start)
	out.FirstRow = out.Total
	if !b.FirstRow.IsZero() {
		out.FirstRow = b.FirstRow.Sub(start)
	}
	out.Derive, out.Keys, out.Rows, out.Bytes = query.DeriveTime, len(query.Keys), b.Rows, b.Bytes()
	out.ServerTime = query.ServerTime
	c, err := a.Catalog(ctx, q.Subset)
	if err != nil {
		return out, err
	}
	got := &b.Answer
	if out.AnyOrder = c.KeepsConflicts; out.AnyOrder {
		got = got.SortedByText()
	}
	out.Digest = answer.FormatDigest(got.Digest())
	return out, nil
}
