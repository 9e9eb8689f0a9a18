package post

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"barograph/engine"
	"barograph/fault"
	"barograph/record"
	"barograph/run"
)

// Test is a test of the report.
type Test string

// The tests.
const (
	Quiet  Test = "quiet"  // its test 1: insert, then update, nobody else at work
	Noise  Test = "noise"  // its test 2: the same beside maintenance, a dump, a second poster, a reader
	Queue  Test = "queue"  // its test 3: a backlog, once
	Live   Test = "live"   // days of a feed at a speed-up, with maintenance, without, and after a full vacuum
	Delete Test = "delete" // of half of what is there
	Bloat  Test = "bloat"  // re-posts without maintenance, then after each kind of it
)

// Tests are all tests, in the order in which they run.
func Tests() []Test { return []Test{Quiet, Noise, Delete, Bloat, Live, Queue} }

// Programme runs tests on one design by one method. Every test begins with
// empty tables.
type Programme struct {
	Store  *engine.PostStore
	Design engine.PostDesign
	Policy engine.Policy
	Source Source
	Options
	Rounds   int       // of bloat
	SpeedUp  float64   // of the live feed; 0 = as fast as it goes
	Reprove  bool      // hold every content against a reference; costs the client memory for all values
	From     time.Time // of the live feed: its first day
	PerDay   int       // products of a day of it
	Progress func(s string)
	Result   *run.Posts
}

// Run runs a test and adds what it measured to Result.
func (p *Programme) Run(ctx context.Context, t Test) error {
	if _, err := p.Store.Delete(ctx, farFuture); err != nil {
		return err
	}
	if p.Store.Tend != nil {
		if err := p.Store.Tend(ctx, engine.VacuumFull); err != nil {
			return err
		}
	}
	switch t {
	case Quiet:
		return p.insertUpdate(ctx, string(t))
	case Noise:
		return p.noisy(ctx)
	case Queue:
		return p.measured(ctx, cell{test: string(t), scenario: "insert"}, p.Source)
	case Live:
		return p.live(ctx)
	case Delete:
		return p.deleted(ctx)
	case Bloat:
		return p.bloat(ctx)
	}
	return &fault.Error{Setting: "test " + string(t), Problem: "is not known", Cure: fmt.Sprintf("choose of %q", Tests())}
}

// farFuture is later than any observation.
const farFuture = 7_000_000_000

// Admit fills location and ingest filter for the source, and for that of the
// second poster of the test with noise.
func (p *Programme) Admit(ctx context.Context) error {
	for _, s := range []Source{p.Source, renamed{p.Source}} {
		stations, series, err := Contents(s, nil)
		if err != nil {
			return err
		}
		if err := p.Store.Admit(ctx, stations, series); err != nil {
			return err
		}
	}
	return nil
}

// cell names a measurement and says what proves it.
type cell struct {
	test, scenario string
	before         []Source // posted already: the reference has them, too
	leave          func(v *engine.PostedValue) bool
}

// measured posts a source, measures and proves.
func (p *Programme) measured(ctx context.Context, c cell, src Source) error {
	p.Progress(fmt.Sprintf("%s %s, %s, %s", c.test, c.scenario, p.Design, p.Method))
	out := run.PostCell{
		Test: c.test, Scenario: c.scenario, Design: string(p.Design), Method: string(p.Method),
		Posters: max(p.Posters, 1), Together: max(p.Together, 1), TableBytes: -1, IndexBytes: -1, DeadRows: -1, LogBytes: -1,
	}
	rows, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	logged, err := p.log(ctx)
	if err != nil {
		return err
	}
	t, err := Run(ctx, p.Store, src, p.Options)
	if err != nil {
		return err
	}
	if after, err := p.log(ctx); err != nil {
		return err
	} else if after >= 0 {
		out.LogBytes = after - logged
	}
	after, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	p.told(&out, t, after-rows)
	if err := p.sized(ctx, &out); err != nil {
		return err
	}
	if err := p.prove(ctx, c, src, &out); err != nil {
		return err
	}
	p.Result.Cells = append(p.Result.Cells, out)
	return nil
}

// told fills in what a tally tells; added is how many rows there are more.
func (p *Programme) told(out *run.PostCell, t *Tally, added int64) {
	out.Products, out.Values, out.Wall, out.ClientCPU = t.Products, t.Posted.Values, t.Wall, t.CPU
	out.Parse, out.Post = times(t.Parse, t.ParseTotal, t.Products), times(t.Post, t.PostTotal, t.Products)
	out.RowsRead, out.RowsInserted, out.RowsUpdated, out.Retries = t.Posted.Read, t.Posted.Inserted, t.Posted.Updated, t.Posted.Retries
	switch { // upserts do not tell which rows they inserted; the tables do, unless others write, too
	case t.Posted.Merged > 0 && out.Test == string(Noise):
		out.RowsInserted, out.RowsUpdated = -1, -1
	case t.Posted.Merged > 0:
		out.RowsInserted, out.RowsUpdated = added, t.Posted.Merged-added
	}
	if n := t.Posted.Unknown + t.Posted.Filtered; n > 0 {
		p.Result.Warnings = append(p.Result.Warnings, fmt.Sprintf("%s %s, %s, %s: %d values are of stations or parameters that are not admitted", out.Test, out.Scenario, out.Design, out.Method, n))
	}
}

func (p *Programme) log(ctx context.Context) (int64, error) {
	if p.Store.Log == nil {
		return -1, nil
	}
	return p.Store.Log(ctx)
}

func (p *Programme) sized(ctx context.Context, out *run.PostCell) error {
	if p.Store.Size == nil {
		return nil
	}
	s, err := p.Store.Size(ctx)
	out.TableBytes, out.IndexBytes, out.DeadRows = s.TableBytes, s.IndexBytes, s.DeadRows
	return err
}

// prove digests what is stored and holds it against the reference.
func (p *Programme) prove(ctx context.Context, c cell, src Source, out *run.PostCell) error {
	values := p.Store.Values(ctx)
	if c.leave != nil {
		values = without(values, c.leave)
	}
	d, err := engine.DigestPosts(values)
	if err != nil {
		return err
	}
	out.Digest = d.Values.String()
	if !p.Reprove || p.Design == engine.IHFSDesign {
		return nil
	}
	ref := &engine.PostReference{Policy: p.Policy}
	for _, s := range append(c.before, src) {
		if _, _, err := Contents(s, ref); err != nil {
			return err
		}
	}
	out.Proof = "reference"
	if want := ref.Digest(); want.Values != d.Values {
		out.Wrong = true
		p.Result.Warnings = append(p.Result.Warnings, fmt.Sprintf("WRONG: %s %s, %s, %s: the tables hold %s, not %s", out.Test, out.Scenario, out.Design, out.Method, out.Digest, want.Values))
	}
	return nil
}

// without leaves values out.
func without(values iter.Seq2[*engine.PostedValue, error], leave func(*engine.PostedValue) bool) iter.Seq2[*engine.PostedValue, error] {
	return func(yield func(*engine.PostedValue, error) bool) {
		for v, err := range values {
			if err == nil && leave(v) {
				continue
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// insertUpdate posts the source into empty tables, then again with values
// that differ: the report's scenarios 1 and 2 (array), 3 and 4 (single).
func (p *Programme) insertUpdate(ctx context.Context, test string) error {
	leave := func(*engine.PostedValue) bool { return false }
	if test == string(Noise) {
		leave = func(v *engine.PostedValue) bool { return v.Station[v.Station.Len()-1] == '_' }
	}
	if err := p.measured(ctx, cell{test: test, scenario: "insert", leave: leave}, p.Source); err != nil {
		return err
	}
	return p.measured(ctx, cell{test: test, scenario: "update", before: []Source{p.Source}, leave: leave}, Shifted{p.Source, 1})
}

// noisy runs the same while others are at work.
func (p *Programme) noisy(ctx context.Context) error {
	inner, stop := context.WithCancel(ctx)
	g, inner := errgroup.WithContext(inner)
	var rounds [4]atomic.Int64
	loop := func(i int, f func() error) {
		g.Go(func() error {
			for inner.Err() == nil {
				if err := f(); err != nil && inner.Err() == nil {
					return err
				}
				rounds[i].Add(1)
			}
			return nil
		})
	}
	if p.Store.Tend != nil {
		loop(0, func() error { return p.Store.Tend(inner, engine.Vacuum) })
	}
	loop(1, func() error { _, err := engine.DigestPosts(p.Store.Values(inner)); return err })
	second := p.Options
	second.Posters, second.Watch = 1, nil
	loop(2, func() error { _, err := Run(inner, p.Store, renamed{p.Source}, second); return err })
	stations, _, err := Contents(p.Source, nil)
	if err == nil && len(stations) > 0 {
		random := rand.New(rand.NewPCG(p.Result.Seed, 1)) //nolint:gosec // no secret
		loop(3, func() error { return p.readOne(inner, stations, random) })
	}
	if err == nil {
		err = p.insertUpdate(ctx, string(Noise))
	}
	stop()
	if noise := g.Wait(); err == nil && noise != nil && !errors.Is(noise, context.Canceled) {
		err = noise
	}
	if err == nil {
		p.Result.Warnings = append(p.Result.Warnings, fmt.Sprintf("noise beside %s, %s: %d times maintenance, %d dumps, %d times a second poster's whole source, %d readings",
			p.Design, p.Method, rounds[0].Load(), rounds[1].Load(), rounds[2].Load(), rounds[3].Load()))
	}
	return err
}

func (p *Programme) readOne(ctx context.Context, stations []record.ID, random *rand.Rand) error {
	from := p.From.Unix()
	_, err := p.Store.Read(ctx, stations[random.IntN(len(stations))], from-86400, from+7*86400)
	return err
}

// deleted posts the source and deletes the older half of it.
func (p *Programme) deleted(ctx context.Context) error {
	if _, err := Run(ctx, p.Store, p.Source, p.Options); err != nil {
		return err
	}
	before, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	first, last := int64(farFuture), int64(-farFuture)
	for v, err := range p.Store.Values(ctx) {
		if err != nil {
			return err
		}
		first, last = min(first, v.Time), max(last, v.Time)
	}
	p.Progress(fmt.Sprintf("delete, %s", p.Design))
	middle := (first + (last-first)/2) / 86400 * 86400
	out := run.PostCell{Test: string(Delete), Scenario: "older than " + time.Unix(middle, 0).UTC().Format(time.DateOnly), Design: string(p.Design), Method: string(p.Method), LogBytes: -1}
	began := time.Now()
	rows, err := p.Store.Delete(ctx, middle)
	if err != nil {
		return err
	}
	out.Wall = time.Since(began)
	out.RowsUpdated = rows
	if err := p.sized(ctx, &out); err != nil {
		return err
	}
	after, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	if before-after != rows {
		return fmt.Errorf("%d rows were deleted, and %d are gone", rows, before-after)
	}
	p.Result.Cells = append(p.Result.Cells, out)
	return nil
}

// bloat posts the source again and again without maintenance, then once after
// each kind of it.
func (p *Programme) bloat(ctx context.Context) error {
	rounds := max(p.Rounds, 2)
	previous := []Source{}
	step := func(scenario string, by float64) error {
		src := Source(p.Source)
		if by > 0 {
			src = Shifted{p.Source, by}
		}
		err := p.measured(ctx, cell{test: string(Bloat), scenario: scenario, before: previous}, src)
		previous = []Source{src}
		return err
	}
	if err := step("load", 0); err != nil {
		return err
	}
	for i := range rounds {
		if err := step(fmt.Sprintf("re-post %d", i+1), float64(i+1)); err != nil {
			return err
		}
	}
	if p.Store.Tend == nil {
		return nil
	}
	for i, u := range []engine.Upkeep{engine.Vacuum, engine.VacuumFull} {
		if err := p.Store.Tend(ctx, u); err != nil {
			return err
		}
		if err := step("after "+string(u), float64(rounds+1+i)); err != nil {
			return err
		}
	}
	return nil
}
