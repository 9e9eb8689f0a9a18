package post

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize/english"
	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// Test is a test of the report.
type Test string

// The tests.
const (
	Once   Test = "once"   // the products as they are
	Quiet  Test = "quiet"  // the report's test 1: insert, then update, without other work
	Noise  Test = "noise"  // its test 2: the same during maintenance, a dump, a second poster and a reader
	Queue  Test = "queue"  // its test 3: a backlog, once
	Live   Test = "live"   // days of a feed at a speed-up, with maintenance, without, and after a full vacuum
	Delete Test = "delete" // delete the older half of the values
	Bloat  Test = "bloat"  // repost without maintenance, then after each kind of it
)

// Tests returns all tests in the order in which they run.
func Tests() []Test { return []Test{Once, Quiet, Noise, Queue, Live, Delete, Bloat} }

// Programme runs tests of one method on one design. Every test first empties the tables.
type Programme struct {
	Store  *posts.Store // of tables that nobody else fills: posts.Tables.Tests
	Design posts.Design
	Policy posts.Policy
	Source Source
	Options
	References *References // of Source
	Rounds     int         // reposts of bloat
	SpeedUp    float64     // of the live feed; 0 = no pauses
	From       time.Time   // first day of the live feed; zero = the day of the first observation
	PerDay     int         // products per day of the live feed
	Progress   func(s string)
	Folder     *run.Folder // for the measurements
	Engine     string      // name of the engine in the cells
}

// Run runs a test and adds its measurements to the folder.
func (p *Programme) Run(ctx context.Context, t Test) error {
	if p.From.IsZero() && p.References.contents.First != record.NoTime {
		p.From = time.Unix(p.References.contents.First, 0).UTC().Truncate(24 * time.Hour)
	}
	if _, err := p.Store.Delete(ctx, farFuture); err != nil {
		return err
	}
	if p.Store.Maintain != nil {
		if err := p.Store.Maintain(ctx, posts.VacuumFull); err != nil {
			return err
		}
	}
	switch t {
	case Quiet:
		return p.insertUpdate(ctx, t, nil)
	case Noise:
		return p.noise(ctx)
	case Once, Queue:
		return p.measure(ctx, cell{test: string(t), scenario: "insert"})
	case Live:
		return p.live(ctx)
	case Delete:
		return p.measureDelete(ctx)
	case Bloat:
		return p.bloat(ctx)
	}
	cure := fmt.Sprintf("choose one of %q", Tests())
	return &fault.Error{Setting: "test " + string(t), Problem: "is not known", Cure: cure}
}

// farFuture is a time after all observations.
const farFuture = 7_000_000_000

// Admit adds the stations of the source to the tables of locations and ingest filters. With noise it also adds those of
// the second poster.
func (p *Programme) Admit(ctx context.Context, noise bool) error {
	c := p.References.contents
	if err := p.Store.Admit(ctx, c.Stations, c.Series); err != nil || !noise {
		return err
	}
	stations, series := slices.Clone(c.Stations), slices.Clone(c.Series)
	for i := range stations {
		renameForNoise(&stations[i])
	}
	for i := range series {
		renameForNoise(&series[i].Station)
	}
	return p.Store.Admit(ctx, stations, series)
}

// cell is a test and its scenario, with the values to post and to compare.
type cell struct {
	test, scenario string
	// added has one number for each post since the tables were empty; each post added its number to all values. Earlier
	// cells made all posts but the last; this cell makes and measures the last. nil = a single post that adds 0.
	added  []float64
	ignore func(v *posts.Value) bool // values that the proof ignores; nil = none
}

// startCell returns a cell, and a measurement without figures that starts now.
func (p *Programme) startCell(test, scenario string) (run.Cell, *run.Measured) {
	c := run.PostCell(p.Engine, test, scenario, string(p.Design), string(p.Method),
		"posters", max(p.Posters, 1), "together", max(p.Together, 1))
	unknown := &run.Posting{TableBytes: -1, IndexBytes: -1, DeadRows: -1, LogBytes: -1}
	return c, &run.Measured{Start: time.Since(p.Folder.Run.Started), Posting: unknown}
}

// measure posts the source, measures it, and compares the tables with the reference.
func (p *Programme) measure(ctx context.Context, c cell) error {
	if len(c.added) == 0 {
		c.added = []float64{0}
	}
	p.Progress(fmt.Sprintf("%s %s, %s, %s", c.test, c.scenario, p.Design, p.Method))
	runCell, figures := p.startCell(c.test, c.scenario)
	rows, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	logBytes, err := p.logBytes(ctx)
	if err != nil {
		return err
	}
	o := p.Options
	o.Change = shift(c.added[len(c.added)-1])
	t, err := Run(ctx, p.Store, p.Source, o)
	if err != nil {
		return err
	}
	if after, err := p.logBytes(ctx); err != nil {
		return err
	} else if after >= 0 {
		figures.LogBytes = after - logBytes
	}
	after, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	p.report(runCell, figures, t, after-rows)
	if err := p.addSizes(ctx, figures.Posting); err != nil {
		return err
	}
	return p.prove(ctx, runCell, figures, c.ignore, state{c.added, never, spoolProducts(t, math.MaxInt)})
}

// spoolProducts returns the number of products per spool, for the state of the tables, if the service omitted duplicate
// products. Otherwise it returns 0.
func spoolProducts(t *Tally, perSpool int) int {
	if t.Doubled == 0 {
		return 0
	}
	return perSpool
}

// report copies the counts of a tally. addedRows is the increase of the number of rows in the tables.
func (p *Programme) report(c run.Cell, out *run.Measured, t *Tally, addedRows int64) {
	posted := &t.Posted
	out.Products, out.Values, out.Total, out.CPU = t.Products, posted.Values, t.Wall, t.CPU
	out.Parse, out.Post = times(t.Parse, t.ParseTotal, t.Products), t.postTimes()
	out.RowsRead, out.RowsInserted, out.RowsUpdated = posted.Read, posted.Inserted, posted.Updated
	out.Retries = posted.Retries
	switch { // upserts do not report which rows they inserted; the tables show it unless other clients write
	case posted.Merged > 0 && c.Value("test") == string(Noise):
		out.RowsInserted, out.RowsUpdated = -1, -1
	case posted.Merged > 0 && p.Policy != posts.Overwrite: // they do not report which rows the policy kept, either
		out.RowsInserted, out.RowsUpdated = addedRows, -1
	case posted.Merged > 0:
		out.RowsInserted, out.RowsUpdated = addedRows, posted.Merged-addedRows
	}
	warn := func(n int64, one, many string) {
		if n > 0 {
			p.Folder.Warn(fmt.Sprintf("%s %s, %s, %s: %s", c.Value("test"), c.Value("scenario"), p.Design, p.Method, english.Plural(int(n), one, many)))
		}
	}
	const consequence = ", apart from sequence numbers, trailing blanks and line ends; the service did not post "
	warn(t.Doubled, "product is a duplicate"+consequence+"it again", "products are duplicates"+consequence+"them again")
	warn(posted.Unknown+posted.Filtered, "value belongs to a station or parameter that the tables do not admit",
		"values belong to stations or parameters that the tables do not admit")
}

// logBytes returns the bytes that the server has logged so far; -1 = the engine does not report them.
func (p *Programme) logBytes(ctx context.Context) (int64, error) {
	if p.Store.Log == nil {
		return -1, nil
	}
	return p.Store.Log(ctx)
}

// addSizes adds the sizes of the tables, if the engine reports them.
func (p *Programme) addSizes(ctx context.Context, out *run.Posting) error {
	if p.Store.Size == nil {
		return nil
	}
	s, err := p.Store.Size(ctx)
	out.TableBytes, out.IndexBytes, out.DeadRows = s.TableBytes, s.IndexBytes, s.DeadRows
	return err
}

// prove compares the tables with the reference, and adds the cell with its verdict.
func (p *Programme) prove(
	ctx context.Context, c run.Cell, m *run.Measured, ignore func(*posts.Value) bool, s state,
) error {
	x, err := p.compare(ctx, ignore, s, c.Value("test")+" "+c.Value("scenario"))
	if err != nil {
		return err
	}
	return x.add(c, m)
}

// comparison is the comparison of tables with the reference.
type comparison struct {
	folder     *run.Folder
	digest     string // of the tables
	proof      answer.Proof
	difference error // nil = equal
}

// add adds a cell with the verdict of the comparison.
func (x *comparison) add(c run.Cell, m *run.Measured) error {
	sample := run.Sample{Cell: c, Rep: 1, Digest: x.digest}.Judge(m, x.proof, x.difference)
	return errors.Join(x.folder.Add(sample), x.folder.Save())
}

// compare compares the digest of the tables with the reference. test names the test in a warning.
func (p *Programme) compare(
	ctx context.Context, ignore func(*posts.Value) bool, s state, test string,
) (*comparison, error) {
	values := p.Store.Values(ctx)
	if ignore != nil {
		values = without(values, ignore)
	}
	d, err := posts.DigestOf(values)
	if err != nil {
		return nil, err
	}
	want, err := p.References.digest(ctx, p.Design, p.Policy, s)
	if err != nil {
		return nil, err
	}
	if want != d.Values {
		p.Folder.Warn(fmt.Sprintf("WRONG: %s, %s, %s: the tables contain %s, not %s",
			test, p.Design, p.Method, d.Values, want))
	}
	x := &comparison{folder: p.Folder, digest: d.Values.String()}
	x.proof, x.difference = answer.CompareRecords(want, d.Values)
	return x, nil
}

// without omits the values for which ignore returns true.
func without(values iter.Seq2[*posts.Value, error], ignore func(*posts.Value) bool) iter.Seq2[*posts.Value, error] {
	return func(yield func(*posts.Value, error) bool) {
		for v, err := range values {
			if err == nil && ignore(v) {
				continue
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// insertUpdate posts the source into empty tables, and then again with different values. These are the report's
// scenarios 1 and 2 (array), 3 and 4 (single).
func (p *Programme) insertUpdate(ctx context.Context, test Test, ignore func(*posts.Value) bool) error {
	if err := p.measure(ctx, cell{test: string(test), scenario: "insert", ignore: ignore}); err != nil {
		return err
	}
	return p.measure(ctx, cell{test: string(test), scenario: "update", added: []float64{0, 1}, ignore: ignore})
}

// noise runs insertUpdate during maintenance, dumps, posts of a second poster, and reads.
func (p *Programme) noise(ctx context.Context) error {
	noiseCtx, stop := context.WithCancel(ctx)
	g, noiseCtx := errgroup.WithContext(noiseCtx)
	repeat := func(count *atomic.Int64, f func() error) {
		g.Go(func() error {
			for noiseCtx.Err() == nil {
				switch err := f(); {
				case err == nil:
					count.Add(1)
				case noiseCtx.Err() == nil:
					return err
				}
			}
			return nil
		})
	}
	var maintenance, dumps, posted, reads atomic.Int64
	if p.Store.Maintain != nil {
		repeat(&maintenance, func() error { return p.Store.Maintain(noiseCtx, posts.Vacuum) })
	}
	repeat(&dumps, func() error { _, err := posts.DigestOf(p.Store.Values(noiseCtx)); return err })
	second := p.Options
	second.Posters, second.Change = 1, func(g *record.Gauge) { renameForNoise(&g.Station) }
	repeat(&posted, func() error { _, err := Run(noiseCtx, p.Store, p.Source, second); return err })
	stations, measured := p.References.contents.Stations, map[record.ID]bool{}
	for _, id := range stations {
		measured[id] = true
	}
	if len(stations) > 0 {
		random := rand.New(rand.NewPCG(p.Folder.Run.Seed, 1)) //nolint:gosec // no secret
		repeat(&reads, func() error { return p.readStation(noiseCtx, stations, random) })
	}
	// An error of the noise also ends insertUpdate: a posting without noise is not a result of this test.
	err := p.insertUpdate(noiseCtx, Noise, func(v *posts.Value) bool { return !measured[v.Station] })
	stop()
	if noiseErr := g.Wait(); noiseErr != nil {
		err = noiseErr
	}
	if err == nil {
		plural := func(n *atomic.Int64) string { return english.Plural(int(n.Load()), "time", "") }
		p.Folder.Warn(fmt.Sprintf("noise during %s, %s: maintenance ran %s, a dump %s, "+
			"a second poster posted the source %s, and a reader read %s",
			p.Design, p.Method, plural(&maintenance), plural(&dumps), plural(&posted), plural(&reads)))
	}
	return err
}

// readStation reads eight days of a random station: the day before From and a week from it on.
func (p *Programme) readStation(ctx context.Context, stations []record.ID, random *rand.Rand) error {
	from := p.From.Unix()
	_, err := p.Store.Read(ctx, stations[random.IntN(len(stations))], from-86400, from+7*86400)
	return err
}

// measureDelete posts the source and measures the deletion of the older half of the values.
func (p *Programme) measureDelete(ctx context.Context) error {
	t, err := Run(ctx, p.Store, p.Source, p.Options)
	if err != nil {
		return err
	}
	before, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	middle, err := middleDay(p.Store.Values(ctx))
	if err != nil {
		return err
	}
	p.Progress(fmt.Sprintf("delete, %s", p.Design))
	date := time.Unix(middle, 0).UTC().Format(time.DateOnly)
	runCell, figures := p.startCell(string(Delete), "older than "+date)
	began := time.Now()
	rows, err := p.Store.Delete(ctx, middle)
	if err != nil {
		return err
	}
	figures.Total = time.Since(began)
	figures.RowsUpdated = rows // the report says that these are the deleted rows
	if rows == 0 {
		p.Folder.Warn(fmt.Sprintf("delete, %s, %s: no row is older than %s, the day in the middle of the observations, "+
			"so nothing was deleted", p.Design, p.Method, date))
	}
	if err := p.addSizes(ctx, figures.Posting); err != nil {
		return err
	}
	after, err := p.Store.Rows(ctx)
	if err != nil {
		return err
	}
	if before-after != rows {
		return fmt.Errorf("the delete reports %s, but the tables have %s fewer", run.CountOf(rows, "row"), run.FormatCount(before-after))
	}
	return p.prove(ctx, runCell, figures, nil, state{[]float64{0}, middle, spoolProducts(t, math.MaxInt)})
}

// middleDay returns the start of the day for which the number of earlier values is nearest to half of all. The middle
// of the time range would not do: forecasts of a few weeks extend the range, while most values are of the first days.
func middleDay(values iter.Seq2[*posts.Value, error]) (int64, error) {
	var all, earlier int64
	perDay := map[int64]int64{}
	for v, err := range values {
		if err != nil {
			return 0, err
		}
		perDay[v.Time/86400]++
		all++
	}
	days := append(slices.Sorted(maps.Keys(perDay)), 0) // without values the result is 0
	for 2*earlier+perDay[days[0]] < all {               // the start of the next day is nearer; false for the last day
		earlier, days = earlier+perDay[days[0]], days[1:]
	}
	return days[0] * 86400, nil
}

// bloat posts the source repeatedly without maintenance, and then once after each kind of maintenance.
func (p *Programme) bloat(ctx context.Context) error {
	rounds := max(p.Rounds, 2)
	var added []float64
	step := func(scenario string, by float64) error {
		added = append(added, by)
		return p.measure(ctx, cell{test: string(Bloat), scenario: scenario, added: added})
	}
	if err := step("load", 0); err != nil {
		return err
	}
	for i := range rounds {
		if err := step(fmt.Sprintf("re-post %d", i+1), float64(i+1)); err != nil {
			return err
		}
	}
	if p.Store.Maintain == nil {
		return nil
	}
	for i, kind := range []posts.Maintenance{posts.Vacuum, posts.VacuumFull} {
		if err := p.Store.Maintain(ctx, kind); err != nil {
			return err
		}
		if err := step("after "+string(kind), float64(rounds+1+i)); err != nil {
			return err
		}
	}
	return nil
}

// The phases of the live feed.
const (
	maintained   = "maintenance on"
	unmaintained = "maintenance off"
	vacuumed     = "after a full vacuum"
)

// live replays the feed day by day in three phases. The first has maintenance at the end of each day, the second has
// none, and the third starts with a full vacuum and again has maintenance at the end of each day. The later phases post
// the same days with different values, which ages the tables. The comparison at the end of a phase proves its days.
func (p *Programme) live(ctx context.Context) error {
	var added []float64
	for i, phase := range []string{maintained, unmaintained, vacuumed} {
		if phase == vacuumed && p.Store.Maintain != nil {
			if err := p.Store.Maintain(ctx, posts.VacuumFull); err != nil {
				return err
			}
		}
		added = append(added, float64(i))
		next, stop := iter.Pull2(p.Source.Products())
		days, perSpool, err := p.postDays(ctx, phase, next, shift(float64(i)))
		stop()
		if err != nil {
			return err
		}
		x, err := p.compare(ctx, nil, state{added, never, perSpool}, "live "+phase)
		if err != nil {
			return err
		}
		for _, d := range days {
			if err := x.add(d.cell, d.figures); err != nil {
				return err
			}
		}
	}
	return nil
}

// nextProducts is a source of the next n products of another source.
type nextProducts struct {
	Source
	next      func() (*Message, error, bool)
	n         int
	exhausted *bool // the other source has no more products
}

// Products yields the products of the day.
func (p nextProducts) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for range p.n {
			m, err, ok := p.next()
			if !ok {
				*p.exhausted = true
				return
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// day is the measurement of one day.
type day struct {
	cell    run.Cell
	figures *run.Measured
}

// postDays posts the days of a phase. A day without values has no measurement. It returns the products per spool, for
// the state of the tables.
func (p *Programme) postDays(
	ctx context.Context, phase string, next func() (*Message, error, bool), change func(*record.Gauge),
) (days []day, perSpool int, err error) {
	perDay := max(p.PerDay, 1)
	exhausted := false
	for n := 0; !exhausted; n++ {
		o := p.Options
		o.Change, o.Pace = change, Pace{PerDay: perDay, SpeedUp: p.SpeedUp}
		began := time.Now()
		p.Progress(fmt.Sprintf("live, %s, day %d, %s, %s", phase, n+1, p.Design, p.Method))
		t, err := Run(ctx, p.Store, nextProducts{p.Source, next, perDay, &exhausted}, o)
		if err != nil {
			return nil, 0, err
		}
		if t.Products == 0 {
			continue
		}
		perSpool = max(perSpool, spoolProducts(t, perDay))
		m := &run.Measured{Start: began.Sub(p.Folder.Run.Started), Total: t.Wall, CPU: t.CPU, Posting: &run.Posting{
			Products: t.Products, Values: t.Posted.Values, Post: t.postTimes(), Late: t.Late,
			Maintained: phase != unmaintained && p.Store.Maintain != nil,
		}}
		date := p.From.AddDate(0, 0, n).Format(time.DateOnly)
		c := run.PostCell(p.Engine, string(Live), phase, string(p.Design), string(p.Method), "day", date)
		days = append(days, day{c, m})
		if m.Maintained {
			if err := p.Store.Maintain(ctx, posts.Vacuum); err != nil {
				return nil, 0, err
			}
		}
	}
	return days, perSpool, ctx.Err()
}
