package cassandra

import (
	"context"
	"errors"
	"iter"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// walk calls each for every line type that a subset holds, with what counted
// before.
func (a *archive) walk(ctx context.Context, subset string, each func(t *record.LineType, h head) error) error {
	h, err := a.head(ctx, subset, a.consistency)
	if err != nil {
		return err
	}
	c, err := a.Known(ctx, subset)
	if err != nil {
		return err
	}
	for t := range docengine.Types(c) {
		if err := each(t, h); err != nil {
			return err
		}
	}
	return nil
}

// units walks the partitions of a line type. Some may hold nothing that counts.
func (a *archive) units(ctx context.Context, subset string, t *record.LineType, each func(u unit) error) error {
	for b := range buckets {
		it := a.session.Query("SELECT name, year FROM partitions WHERE design = ? AND subset = ? AND line_type = ? AND bucket = ?",
			a.scope(), subset, t.Name, b).IterContext(ctx)
		var u unit
		var err error
		for err == nil && it.Scan(&u.name, &u.year) {
			err = each(u)
		}
		if err := errors.Join(err, failed(ctx, it.Close())); err != nil {
			return err
		}
	}
	return nil
}

// counting is the number of partitions whose records are counted at once.
const counting = 32

// Contents counts the records that count, and their documents.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "documents"}
	if a.bySeries {
		c.Object = "rows"
	}
	err := a.walk(ctx, subset, func(t *record.LineType, h head) error {
		objects, records, err := a.count(ctx, subset, t, h)
		c.Objects += objects
		if records > 0 {
			c.Records[t.Name] = records
		}
		return failed(ctx, err)
	})
	return c, err
}

func (a *archive) count(ctx context.Context, subset string, t *record.LineType, h head) (objects, records int64, err error) {
	bare := &picked{layout: a.layout, t: t}
	text := bare.text() + a.where()
	todo := make(chan unit, counting)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(todo)
		return a.units(ctx, subset, t, func(u unit) error {
			select {
			case todo <- u:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	})
	type sum struct{ units, rows int64 }
	sums := make([]sum, counting)
	for i := range sums {
		group.Go(func() error {
			var b record.Batch
			s := bare.scanner(h.counts, nil)
			for u := range todo {
				b.Reset(t, "")
				if _, err := s.rows(a.session.Query(text, a.args(u)...).IterContext(ctx), nowhere, &b); err != nil {
					return err
				}
				if b.Len() > 0 {
					sums[i].units++
					sums[i].rows += int64(b.Len())
				}
			}
			return nil
		})
	}
	err = group.Wait()
	for _, s := range sums {
		records += s.rows
		objects += s.units
	}
	if a.bySeries {
		objects = records
	}
	return objects, records, err
}

func nowhere(string) (uint32, int64, error) { return 0, 0, nil }

// Dump walks all partitions of the subset, as of one commit.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		return a.walk(ctx, subset, func(t *record.LineType, h head) error { return a.dump(ctx, subset, t, h, to) })
	})
}

func (a *archive) dump(ctx context.Context, subset string, t *record.LineType, h head, to *engine.Dumper) error {
	var b record.Batch
	b.Reset(t, "")
	p := a.all(t)
	s, text := p.scanner(h.counts, nil), p.text()+a.where()
	err := a.units(ctx, subset, t, func(u unit) error {
		header, valid, err := a.header(unit{a.derived(u.name), u.year})
		if err != nil {
			return err
		}
		head := b.AddHeader(header)
		_, err = s.rows(a.session.Query(text, a.args(u)...).IterContext(ctx), func(string) (uint32, int64, error) { return head, valid, nil }, &b)
		if err != nil {
			return failed(ctx, err)
		}
		_, err = to.Full(&b)
		return err
	})
	if err != nil {
		return err
	}
	return to.Rest(&b)
}
