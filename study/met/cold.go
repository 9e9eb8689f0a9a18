package met

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// cold measures cold starts: each in a new process that opens the archive and
// asks once, after the archive's files were dropped from the page cache.
func (s *runner) cold(ctx context.Context) error {
	if s.o.Cold == nil || s.o.ColdReps <= 0 {
		return nil
	}
	var cells []*cell
	for _, c := range s.cells {
		if c.target.Driver.Place == engine.Embedded {
			cells = append(cells, c)
		}
	}
	step := Progress{Step: "cold starts", Unit: "answers", Of: int64(len(cells) * s.o.ColdReps)}
	for i, rep := range measure.Interleave(s.o.Seed+1, len(cells), s.o.ColdReps) {
		c := cells[i]
		stood, start := s.still.Total(), s.clock.Now()
		asked, how, err := s.o.Cold(ctx, c.target, c.Cell)
		for s.stoodStill(stood) {
			stood, start = s.still.Total(), s.clock.Now()
			asked, how, err = s.o.Cold(ctx, c.target, c.Cell)
		}
		asked.Start = start
		s.folder.Run.ColdMethod = how
		if err := s.keepCold(ctx, c, rep, &asked, err); err != nil {
			return err
		}
		step.Done++
		s.o.Progress(step)
	}
	s.finished(step, s.folder.Run.ColdMethod)
	return nil
}

// keepCold holds the digest that the other process reports against the
// reference: it compared its rows with nothing, so equality of digests, over
// every value and the order of rows, stands for it.
func (s *runner) keepCold(ctx context.Context, c *cell, rep int, a *Asked, err error) error {
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
	return s.keep(ctx, c, run.Sample{Phase: run.Cold, Rep: rep}, &a.Measured, proof, err)
}

// Asked is what a process of a cold start tells: times, and what came, which
// proves nothing yet.
type Asked struct {
	run.Measured
	Rows     int
	Digest   string
	AnyOrder bool // of the rows, as the archive keeps several of one identity
}

// ColdCommand is the command of this program that AskOnce is the whole of.
const ColdCommand = "cold-start"

// ColdProcess drops an archive's files from the page cache and asks a cell in a
// process of its own: the Options.Cold of a study whose cases a file holds.
func ColdProcess(cases string) func(context.Context, Target, run.Cell) (Asked, string, error) {
	return func(ctx context.Context, t Target, c run.Cell) (out Asked, how string, err error) {
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
		cmd := exec.CommandContext(ctx, self, ColdCommand, cases+"#"+c.At("case"), "--engine", t.URL, "--design", c.At("design"), "--flavour", c.At("flavour"), "--subset", t.Subset)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			return out, how, fmt.Errorf("cold start: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
		}
		return out, "new process per answer; " + how, json.Unmarshal(stdout.Bytes(), &out)
	}
}

// AskOnce opens an archive, asks one question and returns its time, from
// before the opening to the last row: what the process of a cold start does.
func AskOnce(ctx context.Context, r engine.Registry, rawURL string, d design.Name, q *question.Question, f flavour.Name) (Asked, error) {
	start := time.Now()
	var out Asked
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
	out.Derive, out.Keys, out.Rows, out.Bytes = query.Derive, len(query.Keys), b.Rows, b.Bytes()
	out.ServerTime = query.Server
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
