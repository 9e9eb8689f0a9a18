package post

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/run"
)

// The phases of the live feed.
const (
	maintained   = "maintenance on"
	unmaintained = "maintenance off"
	vacuumed     = "after a full vacuum"
)

// live replays the feed day by day: with maintenance at the end of each day,
// without, and once more after a full vacuum. The days of the later phases are
// posted again with other values, so that tables grow old. What the tables hold
// at the end of a phase proves its days.
func (p *Programme) live(ctx context.Context) error {
	var added []float64
	for i, phase := range []string{maintained, unmaintained, vacuumed} {
		if phase == vacuumed && p.Store.Tend != nil {
			if err := p.Store.Tend(ctx, engine.VacuumFull); err != nil {
				return err
			}
		}
		added = append(added, float64(i))
		next, stop := iter.Pull2(shifted{p.Source, float64(i)}.Products())
		days, err := p.days(ctx, phase, next)
		stop()
		if err != nil {
			return err
		}
		h, err := p.held(ctx, nil, state{added, never}, "live "+phase)
		if err != nil {
			return err
		}
		for _, d := range days {
			if err := h.keep(d.cell, d.measured); err != nil {
				return err
			}
		}
	}
	return nil
}

// pulled is the next so many products of a source.
type pulled struct {
	next func() (*Message, error, bool)
	n    int
	done *bool
}

// Words describes the source.
func (p pulled) Words() string { return "a day" }

// Products gives the day's products.
func (p pulled) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for range p.n {
			m, err, ok := p.next()
			if !ok {
				*p.done = true
				return
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// day is a day that was posted.
type day struct {
	cell     run.Cell
	measured *run.Measured
}

// days posts day after day of a phase.
func (p *Programme) days(ctx context.Context, phase string, next func() (*Message, error, bool)) (days []day, err error) {
	perDay := max(p.PerDay, 1)
	done := false
	for n := 0; !done; n++ {
		late := int64(0)
		o := p.Options
		began := time.Now()
		if p.SpeedUp > 0 {
			gap := time.Duration(float64(24*time.Hour) / float64(perDay) / p.SpeedUp)
			o.Pace = func(ctx context.Context, i int64) error {
				wait := time.Until(began.Add(time.Duration(i) * gap))
				if wait <= 0 {
					if time.Duration(float64(-wait)*p.SpeedUp) > time.Minute {
						late++
					}
					return nil
				}
				select {
				case <-time.After(wait):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		p.Progress(fmt.Sprintf("live, %s, day %d, %s, %s", phase, n+1, p.Design, p.Method))
		t, err := Run(ctx, p.Store, pulled{next, perDay, &done}, o)
		if err != nil {
			return nil, err
		}
		if t.Products == 0 {
			return days, nil
		}
		m := &run.Measured{Start: began.Sub(p.Folder.Run.Started), Total: t.Wall, CPU: t.CPU, Posting: &run.Posting{
			Products: t.Products, Values: t.Posted.Values, Post: times(t.Post, t.PostTotal, t.Products), Late: late, Upkeep: phase != unmaintained && p.Store.Tend != nil,
		}}
		days = append(days, day{run.PostCell(p.Engine, string(Live), phase, string(p.Design), string(p.Method), "day", p.From.AddDate(0, 0, n).Format(time.DateOnly)), m})
		if m.Upkeep {
			if err := p.Store.Tend(ctx, engine.Vacuum); err != nil {
				return nil, err
			}
		}
	}
	return days, ctx.Err()
}
