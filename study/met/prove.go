package met

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// prove compares the records of every archive with the data. Then it queries every case in every flavour once, and
// keeps the query and its plan. Only cells whose result equals the reference are timed later. prove works on as many
// archives at the same time as there are processors, at most four. Stand-ins are timed during their proof, so prove
// handles them afterward, one at a time.
func (s *runner) prove(ctx context.Context) error {
	step := Progress{Step: "proving", Unit: "results", Of: int64(s.count())}
	for _, standIns := range []bool{false, true} {
		g, ctx := errgroup.WithContext(ctx)
		if g.SetLimit(min(runtime.GOMAXPROCS(0), 4)); standIns {
			g.SetLimit(1)
		}
		for i, t := range s.options.Targets {
			if s.isStandIn(t) != standIns {
				continue
			}
			g.Go(func() error {
				o := s.opened[i]
				if err := s.check(ctx, i, o.archive); err != nil || s.isForeign(i) {
					return err
				}
				for k, q := range s.options.Cases {
					for _, f := range s.flavours(t) {
						c := &cell{
							Cell:   run.MetCell(t.engine(), string(t.Design), q.Name, string(f)),
							target: t, index: i, archive: o.archive, openErr: o.err, want: s.reference[k],
						}
						if err := s.proveCell(ctx, c, q, f); err != nil {
							return err
						}
						s.mu.Lock()
						step.Done++
						s.options.Progress(step)
						s.mu.Unlock()
					}
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.cells, func(a, b *cell) int { return cmp.Compare(a.index, b.index) }) // as if one by one
	s.finishStep(step, s.out.proof())
	if note := s.timingNote(); note != "" {
		s.options.Progress(Progress{Note: note})
	}
	s.logCauses()
	return nil
}

// cause is a reason why cells of an engine returned no result or a wrong one.
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
		s.options.Log.Error(run.CountOf(c.cells, "cell")+" without a correct result", "engine", c.engine, "cause", c.text)
	}
	s.causes = nil
}

// timingNote projects how long the timing takes at most, if that is a minute or more. A repetition takes less time than
// the first query of its cell, which ran while other archives were proven.
func (s *runner) timingNote() string {
	most := time.Duration(s.options.Warmups+s.options.Reps) * s.proving
	if most < time.Minute || s.options.Limit > 0 {
		return ""
	}
	return fmt.Sprintf("timing: up to %s (%d repetitions); limit it by --time-limit", most.Round(time.Second), s.options.Warmups+s.options.Reps)
}

func (s *runner) flavours(t Target) []flavour.Name {
	return lists.Filter(archive.Flavours(t.Driver, t.Design), func(f flavour.Name) bool {
		return s.options.Flavours == nil || slices.Contains(s.options.Flavours, f)
	})
}

// count returns the number of cells to prove.
func (s *runner) count() int {
	n := 0
	for i, t := range s.options.Targets {
		if !s.isForeign(i) {
			n += len(s.flavours(t)) * len(s.options.Cases)
		}
	}
	return n
}

// proveCell phrases, explains and runs the query of a cell, and compares the result. It also
// queries an incomplete archive, because the report shows the differences, but does not time it.
func (s *runner) proveCell(ctx context.Context, c *cell, q *question.Question, f flavour.Name) error {
	var query *archive.Query
	err := c.openErr
	if c.archive != nil {
		query, err = c.archive.Phrase(ctx, q.InSubset(c.target.Subset), f)
	}
	if errors.Is(err, flavour.ErrCannotExpress) {
		return nil // the cell is missing; no other query replaces it
	}
	sample, start := run.Sample{Phase: run.Warm, Rep: -1}, s.clock.Now()
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.addSample(ctx, c, sample, nil, answer.Proof{}, err)
	}
	c.query = query
	standIn := s.isStandIn(c.target)
	plan := archive.Plan{Text: "no plan: this server is a stand-in for another one"}
	var noPlan error
	if !standIn {
		if plan, noPlan = c.archive.Explain(ctx, query); noPlan != nil {
			plan = archive.Plan{Text: "no plan: " + noPlan.Error()}
		}
	}
	var b answer.Builder
	began := time.Now()
	err = c.archive.Ask(ctx, query, &b)
	took := time.Since(began)
	proof, err := s.compare(c, &b, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proving += took
	if noPlan != nil && ctx.Err() == nil {
		s.warnNoPlan(c, noPlan)
	}
	if err := s.folder.StorePlan(c.Cell, query.Text, plan.Text, Accesses(plan)); err != nil {
		return err
	}
	if err != nil {
		return s.addSample(ctx, c, sample, nil, proof, err)
	}
	if err := s.folder.StoreAnswer(&b.Answer, proof); err != nil {
		return err
	}
	c.proven = true
	s.out.Equal++
	switch {
	case !s.isComplete(c.target): // the report shows the difference; the cell is not timed
	case c.want.Rows == 0: // an empty result is checked, but its time has no meaning
		return s.addSample(ctx, c, sample, nil, proof, nil)
	case standIn: // a stand-in is timed once, during the proof; reports show the time but do not rank it
		if sample.Rep = 0; s.finished[repetition{c.Cell, run.Warm, 0}] {
			return nil
		}
		return s.addSample(ctx, c, sample, &run.Measured{Start: start, Total: took, FirstRow: took, Derive: query.DeriveTime, Keys: len(query.Keys), Bytes: b.Bytes()}, proof, nil)
	default:
		s.cells = append(s.cells, c)
	}
	return nil
}

// warnNoPlan warns of a plan that is not available, once for each configuration of a complete archive.
func (s *runner) warnNoPlan(c *cell, err error) {
	text := fmt.Sprintf("%s reported no plan of %s: %v", c.configuration(), c.Value("case"), err)
	warned := func(w string) bool { return strings.HasPrefix(w, c.configuration()+" reported no plan of ") }
	if s.isComplete(c.target) && !slices.ContainsFunc(s.folder.Run.Warnings, warned) {
		s.warn(text)
	}
}

// isStandIn reports whether the server is a stand-in for another one.
func (s *runner) isStandIn(t Target) bool {
	a := s.runArchive(t)
	return a != nil && a.Unranked != ""
}

// runArchive returns the description of a target in the run folder, or nil.
func (s *runner) runArchive(t Target) *run.Archive {
	all := s.folder.Run.Archives
	for i := range all { // without a copy, because other goroutines write other fields
		if a := &all[i]; a.Engine == t.engine() && a.Design == string(t.Design) {
			return a
		}
	}
	return nil
}

// Accesses converts the accesses of a plan for the run folder.
func Accesses(p archive.Plan) []run.Access {
	return lists.Map(p.Access, func(a archive.Access) run.Access {
		return run.Access{Object: a.Object, Method: string(a.Method), Index: a.Index, Examined: a.Examined, Kept: a.Kept, Counted: a.Counted}
	})
}

func (s *runner) isComplete(t Target) bool {
	return s.runArchive(t) != nil && s.runArchive(t).Complete
}

// compare compares a result with the reference, unless the query failed.
func (s *runner) compare(c *cell, b *answer.Builder, err error) (answer.Proof, error) {
	if err != nil {
		return answer.Proof{}, err
	}
	return answer.Compare(c.want, &b.Answer)
}

// addSample records a repetition. After the first result that is wrong or missing, the cell counts as
// wrong or failed, even if earlier results were correct. An interrupted study stops.
func (s *runner) addSample(ctx context.Context, c *cell, sample run.Sample, m *run.Measured, p answer.Proof, err error) error {
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

// time repeats all cells in rounds, each in a new random order, the warm-up rounds first. (The
// proof has already warmed each cell.)
func (s *runner) time(ctx context.Context) error {
	if len(s.cells) == 0 {
		return nil
	}
	s.folder.Run.Warmups = s.options.Warmups
	rounds := s.options.Warmups + s.options.Reps
	step := Progress{Step: "timing", Unit: "results", Of: int64(rounds * len(s.cells))}
	enough := measure.RepsFor(s.mostCells() - 1)
	started := time.Now()
	lastCounters := started
	var b answer.Builder
	var heap heap
	servers := s.counters()
	readCounters(ctx, servers)
	for i, round := range measure.Interleave(s.options.Seed, len(s.cells), rounds) {
		rep := round - s.options.Warmups
		newRound := rep == s.folder.Run.Reps // a new round: all cells have the same number of repetitions
		if newRound && rep >= enough && s.options.Limit > 0 && time.Since(started) > s.options.Limit {
			s.warn(fmt.Sprintf("timing ended after %d of %d repetitions, which suffice to show a difference, because the time limit of %s had passed", s.folder.Run.Reps, s.options.Reps, s.options.Limit))
			break
		}
		heap.tidy()
		if c := s.cells[i]; !c.bad && !s.finished[repetition{c.Cell, run.Warm, rep}] {
			if err := s.sample(ctx, c, rep, &b); err != nil {
				return err
			}
		}
		s.folder.Run.Reps = max(s.folder.Run.Reps, rep+1)
		if step.Done++; time.Since(lastCounters) > time.Second {
			lastCounters = time.Now()
			readCounters(ctx, servers)
		}
		s.options.Progress(step)
	}
	readCounters(ctx, servers)
	s.cells = slices.DeleteFunc(s.cells, func(c *cell) bool { return c.bad })
	s.finishStep(step, fmt.Sprintf("%d repetitions of %d cells in %s", s.folder.Run.Reps, len(s.cells), seconds(time.Since(started))))
	s.logCauses()
	return nil
}

// wasStopped reports whether the system stopped this process since a measurement began, when the meter's total was
// before. If so, the caller repeats the measurement.
func (s *runner) wasStopped(before time.Duration) bool {
	stopped := s.standstills.Total() - before
	if stopped > 0 {
		s.stops = append(s.stops, stopped)
	}
	return stopped > 0
}

// warnOfStops warns of all stops of this process in one line.
func (s *runner) warnOfStops() {
	if len(s.stops) == 0 {
		return
	}
	total := lists.Sum(slices.Values(s.stops))
	s.warn(fmt.Sprintf("the system stopped this process during %d repetitions (%s in total, %s at most); they were measured again", len(s.stops), seconds(total), seconds(slices.Max(s.stops))))
}

// mostCells is the largest number of cells of a case. The report compares these cells with one another.
func (s *runner) mostCells() int {
	n, most := map[string]int{}, 0
	for _, c := range s.cells {
		n[c.Value("case")]++
		most = max(most, n[c.Value("case")])
	}
	return most
}

// heap collects garbage between repetitions, so that a timed repetition does not pay for the
// garbage of earlier ones. It collects before the runtime would: when the heap is halfway between
// its live size and the size that triggers the next collection.
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

// sample times one repetition, from the call to the last decoded row. It derives keys again each
// time and records that time separately. It compares the result after the clock has stopped.
func (s *runner) sample(ctx context.Context, c *cell, rep int, b *answer.Builder) error {
	query := c.query
	if query.DeriveTime > 0 { // deriving the keys belongs to the work of this flavour
		var err error
		if query, err = c.archive.Phrase(ctx, c.query.Question, c.query.Flavour); err != nil {
			return s.addSample(ctx, c, run.Sample{Phase: run.Warm, Rep: rep}, nil, answer.Proof{}, err)
		}
	}
	out := &run.Measured{Start: s.clock.Now(), Derive: query.DeriveTime, Keys: len(query.Keys)}
	query.ServerTime = 0
	stopped := s.standstills.Total()
	busy := measure.CPUTime()
	start := time.Now()
	err := c.archive.Ask(ctx, query, b)
	out.Total = time.Since(start)
	out.CPU = measure.CPUTime() - busy
	if s.wasStopped(stopped) {
		return s.sample(ctx, c, rep, b)
	}
	out.FirstRow = out.Total
	if err == nil && !b.FirstRow.IsZero() {
		out.FirstRow = b.FirstRow.Sub(start)
	}
	out.ServerTime, out.Bytes = query.ServerTime, b.Bytes()
	proof, err := s.compare(c, b, err)
	if rep < 0 && err == nil {
		return nil // a warm-up
	}
	return s.addSample(ctx, c, run.Sample{Phase: run.Warm, Rep: rep}, out, proof, err)
}
