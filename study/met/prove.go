package met

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// prove asks every case in every flavour once and keeps the query and its
// plan. Only cells whose answer is the reference are timed.
func (s *runner) prove(ctx context.Context, o *opened) error {
	step, began := Progress{Step: "proving", Unit: "answers", Of: int64(s.count())}, time.Now()
	for i, t := range s.o.Targets {
		if s.foreign(i) {
			continue
		}
		for k, q := range s.o.Cases {
			for _, f := range s.flavours(t) {
				c := &cell{
					Cell:   run.AnswerCell(t.engine(), string(t.Design), q.Name, string(f)),
					target: t, archive: o.archives[i], unopened: o.errs[i], want: s.reference[k],
				}
				if err := s.proveCell(ctx, c, q, f); err != nil {
					return err
				}
				step.Done++
				s.o.Progress(step)
			}
		}
	}
	s.finished(step, s.out.proof())
	if note := s.timingNote(time.Since(began)); note != "" {
		s.finished(Progress{Step: "estimate"}, note)
	}
	s.logCauses()
	return nil
}

// cause is a reason why cells of one engine gave no result or a wrong one.
type cause struct {
	engine, text string
	cells        int
}

// countCause counts a cell under its cause.
func (s *runner) countCause(engine, text string) {
	i := slices.IndexFunc(s.causes, func(c cause) bool { return c.engine == engine && c.text == text })
	if i < 0 {
		i, s.causes = len(s.causes), append(s.causes, cause{engine: engine, text: text})
	}
	s.causes[i].cells++
}

// logCauses logs each cause once, with the number of its cells.
func (s *runner) logCauses() {
	for _, c := range s.causes {
		s.o.Log.Error(run.Several(c.cells, "cell")+" without a right result", "engine", c.engine, "cause", c.text)
	}
	s.causes = nil
}

// timingNote estimates the longest time of the timing; "" = less than a minute, or limited. A proof takes as long as
// a repetition, plus the plan and the comparison.
func (s *runner) timingNote(proving time.Duration) string {
	most := time.Duration(s.o.Warmups+s.o.Reps) * proving
	if most < time.Minute || s.o.Limit > 0 {
		return ""
	}
	return fmt.Sprintf("timing: up to %[2]s (%[1]d repetitions); limit it by --time-limit", s.o.Warmups+s.o.Reps, most.Round(time.Second))
}

func (s *runner) flavours(t Target) []flavour.Name {
	offered := archive.Flavours(t.Driver, t.Design)
	if s.o.Flavours == nil {
		return offered
	}
	return slices.DeleteFunc(slices.Clone(offered), func(f flavour.Name) bool { return !slices.Contains(s.o.Flavours, f) })
}

func (s *runner) count() int {
	n := 0
	for i, t := range s.o.Targets {
		if !s.foreign(i) {
			n += len(s.flavours(t)) * len(s.o.Cases)
		}
	}
	return n
}

// proveCell phrases, asks, explains and compares. An archive that is not whole
// is asked too, so that the report shows what is wrong, but never timed.
func (s *runner) proveCell(ctx context.Context, c *cell, q *question.Question, f flavour.Name) error {
	sample, start := run.Sample{Phase: run.Warm, Rep: -1}, s.clock.Now()
	if c.archive == nil {
		return s.keep(ctx, c, sample, nil, answer.Proof{}, c.unopened)
	}
	query, err := c.archive.Phrase(ctx, q.InSubset(c.target.Subset), f)
	if errors.Is(err, flavour.ErrCannotExpress) {
		return nil // absent, not imitated
	}
	if err != nil {
		return s.keep(ctx, c, sample, nil, answer.Proof{}, err)
	}
	c.query = query
	unranked := s.unranked(c.target)
	plan := archive.Plan{Text: "no plan: this server only stands in for another"}
	if !unranked {
		if plan, err = c.archive.Explain(ctx, query); err != nil {
			plan = archive.Plan{Text: "no plan: " + err.Error()}
			s.noPlan(c, err)
		}
	}
	if err := s.folder.Plan(c.Cell, query.Text, plan.Text, Accesses(plan)); err != nil {
		return err
	}
	var b answer.Builder
	began := time.Now()
	err = c.archive.Ask(ctx, query, &b)
	took := time.Since(began)
	proof, err := s.compare(c, &b, err)
	if err != nil {
		return s.keep(ctx, c, sample, nil, proof, err)
	}
	if err := s.folder.Answer(&b.Answer, proof); err != nil {
		return err
	}
	c.proven = true
	s.out.Equal++
	switch {
	case !s.whole(c.target):
	case c.want.Rows == 0: // that nothing comes is proven; how fast, says nothing
		return s.keep(ctx, c, sample, nil, proof, nil)
	case unranked: // asked for the proof alone: its times say nothing, however often they are taken
		sample.Rep = 0
		return s.keep(ctx, c, sample, &run.Measured{Start: start, Total: took, FirstRow: took, Derive: query.Derive, Keys: len(query.Keys), Bytes: b.Bytes()}, proof, nil)
	default:
		s.cells = append(s.cells, c)
	}
	return nil
}

// noPlan warns of a plan that were not available, once for each way of asking an
// archive that is whole.
func (s *runner) noPlan(c *cell, err error) {
	text := fmt.Sprintf("%s reported no plan of %s: %v", c.way(), c.At("case"), err)
	warned := func(w string) bool { return strings.HasPrefix(w, c.way()+" reported no plan of ") }
	if s.whole(c.target) && !slices.ContainsFunc(s.folder.Run.Warnings, warned) {
		s.warn(text)
	}
}

// unranked reports whether the server only stands in for another.
func (s *runner) unranked(t Target) bool {
	a := s.archive(t)
	return a != nil && a.Unranked != ""
}

// archive is what the folder has of a target, or nil.
func (s *runner) archive(t Target) *run.Archive {
	all := s.folder.Run.Archives
	if i := slices.IndexFunc(all, func(a run.Archive) bool { return a.Engine == t.engine() && a.Design == string(t.Design) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Accesses are those of a plan, as the run folder keeps them.
func Accesses(p archive.Plan) []run.Access {
	var out []run.Access
	for _, a := range p.Access {
		out = append(out, run.Access{Object: a.Object, Method: string(a.Method), Index: a.Index, Examined: a.Examined, Kept: a.Kept, Measured: a.Measured})
	}
	return out
}

func (s *runner) whole(t Target) bool {
	a := s.archive(t)
	return a != nil && a.Complete
}

// compare holds an answer against the reference, unless there is none.
func (s *runner) compare(c *cell, b *answer.Builder, err error) (answer.Proof, error) {
	if err != nil {
		return answer.Proof{}, err
	}
	return answer.Compare(c.want, &b.Answer)
}

// keep records a repetition. The cell of one that is not right counts as wrong
// or failed, once, whatever was right before; an interrupted study stops.
func (s *runner) keep(ctx context.Context, c *cell, sample run.Sample, m *run.Measured, p answer.Proof, err error) error {
	sample.Cell = c.Cell
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !c.bad {
		c.bad = true
		if c.proven {
			s.out.Equal--
		}
		if d, wrong := errors.AsType[*answer.Diff](err); wrong {
			s.out.Wrong++
			s.countCause(c.Engine, d.Problem)
		} else {
			s.out.Failed++
			s.countCause(c.Engine, err.Error())
		}
	}
	return s.folder.Add(sample.Judge(m, p, err))
}

// time repeats all cells in rounds, each in a fresh random order, the warm-up
// rounds first. (Each cell was warmed by its proof already.)
func (s *runner) time(ctx context.Context, servers []*counter) error {
	if len(s.cells) == 0 {
		return nil
	}
	s.folder.Run.Warmups = s.o.Warmups
	rounds := s.o.Warmups + s.o.Reps
	step := Progress{Step: "timing", Unit: "answers", Of: int64(rounds * len(s.cells))}
	enough := measure.RepsFor(s.ways() - 1)
	started := time.Now()
	looked := started
	var b answer.Builder
	var heap heap
	look(ctx, servers)
	for i, round := range measure.Interleave(s.o.Seed, len(s.cells), rounds) {
		rep := round - s.o.Warmups
		whole := rep == s.folder.Run.Reps // all cells have that many repetitions: a round begins
		if whole && rep >= enough && s.o.Limit > 0 && time.Since(started) > s.o.Limit {
			s.warn(fmt.Sprintf("timing stopped after %d of %d repetitions: they suffice to show a difference, and its limit of %s had passed", s.folder.Run.Reps, s.o.Reps, s.o.Limit))
			break
		}
		heap.tidy()
		if c := s.cells[i]; !c.bad {
			if err := s.sample(ctx, c, rep, &b); err != nil {
				return err
			}
		}
		s.folder.Run.Reps = max(s.folder.Run.Reps, rep+1)
		if step.Done++; time.Since(looked) > time.Second {
			looked = time.Now()
			look(ctx, servers)
		}
		s.o.Progress(step)
	}
	look(ctx, servers)
	s.cells = slices.DeleteFunc(s.cells, func(c *cell) bool { return c.bad })
	s.finished(step, fmt.Sprintf("%d repetitions of %d cells in %s", s.folder.Run.Reps, len(s.cells), seconds(time.Since(started))))
	s.logCauses()
	return nil
}

// stoodStill reports whether this process stood still since it had for so long:
// what was timed meanwhile is to be timed again.
func (s *runner) stoodStill(before time.Duration) bool {
	stood := s.still.Total() - before
	if stood > 0 {
		s.stops = append(s.stops, stood)
	}
	return stood > 0
}

// tellStops warns of all of them together: a machine that stops does it often.
func (s *runner) tellStops() {
	if len(s.stops) == 0 {
		return
	}
	var total time.Duration
	for _, d := range s.stops {
		total += d
	}
	s.warn(fmt.Sprintf("this process stood still in %d repetitions, for %s in all and %s at most; they were taken again", len(s.stops), seconds(total), seconds(slices.Max(s.stops))))
}

// ways is the largest number of cells that any case has: those that are
// compared with one another.
func (s *runner) ways() int {
	n, most := map[string]int{}, 0
	for _, c := range s.cells {
		n[c.At("case")]++
		most = max(most, n[c.At("case")])
	}
	return most
}

// heap collects garbage between repetitions, so that the collector does not
// run in the time of a cell for what the cells before it left behind. It does
// so when half of what may be allocated before the next collection is used up.
type heap struct{ live uint64 }

func (h *heap) tidy() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if h.live == 0 || m.HeapAlloc > (h.live+m.NextGC)/2 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		h.live = m.HeapAlloc
	}
}

// sample times one repetition: from the call to the last decoded row. Keys are
// derived anew each time, and that time is kept apart. The answer is compared
// after the clock has stopped.
func (s *runner) sample(ctx context.Context, c *cell, rep int, b *answer.Builder) error {
	query := c.query
	if query.Derive > 0 { // keys are part of this flavour's work: derive them again
		var err error
		if query, err = c.archive.Phrase(ctx, c.query.Question, c.query.Flavour); err != nil {
			return s.keep(ctx, c, run.Sample{Phase: run.Warm, Rep: rep}, nil, answer.Proof{}, err)
		}
	}
	out := &run.Measured{Start: s.clock.Now(), Derive: query.Derive, Keys: len(query.Keys)}
	query.Server = 0
	stood := s.still.Total()
	busy := measure.CPUTime()
	start := time.Now()
	err := c.archive.Ask(ctx, query, b)
	out.Total = time.Since(start)
	out.CPU = measure.CPUTime() - busy
	if s.stoodStill(stood) {
		return s.sample(ctx, c, rep, b)
	}
	out.FirstRow = out.Total
	if err == nil && !b.FirstRow.IsZero() {
		out.FirstRow = b.FirstRow.Sub(start)
	}
	out.ServerTime, out.Bytes = query.Server, b.Bytes()
	proof, err := s.compare(c, b, err)
	if rep < 0 && err == nil {
		return nil // a warm-up
	}
	return s.keep(ctx, c, run.Sample{Phase: run.Warm, Rep: rep}, out, proof, err)
}
