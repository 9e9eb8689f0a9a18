package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"barograph/engine"
	"barograph/fault"
	"barograph/measure"
	"barograph/run"
	"barograph/workload/post"

	"github.com/spf13/cobra"
)

// postFlags are a run of `barograph post`.
type postFlags struct {
	env                     *env
	db, policy, out, now    string
	designs, methods, tests []string
	posters, together       int
	rounds                  int
	speedUp                 float64
	unproven                bool
	feed                    feedFlags
}

func newPost(e *env) *cobra.Command {
	f := &postFlags{env: e}
	c := &cobra.Command{
		Use:   "post --db URL [FILES…]",
		Short: "Post SHEF products into tables: the tests of NOAA's report of 2006",
		Long: `Post SHEF products into tables, as the report of 14 April 2006 does (PostgreSQL 7.4.8 beside Informix 9.3), and time it.

FILES are SHEF files or folders; without them a synthetic feed is posted, as barograph synth shef makes it, by default 10
products of 5,000 values each. Designs: array96, array24 (a row per station, parameter and day), single (a row per
value), ihfs. Methods, from the slowest: row-2006 (the report's algorithm, each statement commits), row-2006-message (one
transaction), procedure, prepared, multi-row, bulk. What the tables hold in the end is held against a reference that no
database computed. Tests:

  quiet   insert, then update (the report's test 1)
  noise   the same beside maintenance, a dump, a second poster and a reader (its test 2)
  queue   a backlog (its test 3): --messages 55338 --mean 240.3
  live    days of a feed: maintenance on, off, after a full vacuum; --live-days 3 --speed-up 1000
  delete  the older half of what is there
  bloat   the same again and again without maintenance, then after it

The tables are Barograph's own, in schema barograph_post (PostgreSQL) or database post (MariaDB); every test empties them.
` + exitStatuses,
		Example: `  barograph post --db postgres://postgres@localhost:5432/postgres --test quiet,bloat
  barograph post --db sqlite:post.db --design single --method prepared,multi-row
  barograph post --db $URL --test queue --method bulk --together 500 --messages 55338 --mean 240.3 --unproven
  barograph post --db $URL --test live --live-days 2 --speed-up 2000`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), args) },
	}
	c.Flags().StringVar(&f.db, "db", "", "URL of the engine (required)")
	c.Flags().StringSliceVar(&f.designs, "design", []string{string(engine.Array96Design), string(engine.SingleDesign)}, "designs")
	c.Flags().StringSliceVar(&f.methods, "method", nil, "methods (default: all that the engine has)")
	c.Flags().StringSliceVar(&f.tests, "test", []string{string(post.Quiet)}, "tests")
	c.Flags().StringVar(&f.policy, "policy", string(engine.Overwrite), "what becomes of a value whose key is taken; the modes of shef_duplicate in IHFS")
	c.Flags().IntVar(&f.posters, "posters", 1, "posters at once; they divide the stations")
	c.Flags().IntVar(&f.together, "together", 1, "products in a transaction")
	c.Flags().IntVar(&f.rounds, "rounds", 4, "re-posts of the test bloat")
	c.Flags().Float64Var(&f.speedUp, "speed-up", 0, "of the test live: this many days in a day (default: as fast as it goes)")
	c.Flags().BoolVar(&f.unproven, "unproven", false, "do not compute a reference: it takes memory for every value")
	c.Flags().StringVar(&f.out, "out", "", "run folder (default: runs/{time}-post)")
	c.Flags().StringVar(&f.now, "now", "", "of FILES: moment that decides years, e.g. 2024-07-03 (default: the present)")
	f.feed.add(c)
	c.MarkFlagRequired("db") //nolint:errcheck // the flag exists
	complete(c, "policy", func() []string { return words(engine.Policies()) })
	complete(c, "design", func() []string { return words(engine.PostDesigns()) })
	complete(c, "test", func() []string { return words(post.Tests()) })
	return c
}

func words[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, x := range all {
		out[i] = string(x)
	}
	return out
}

// source is the files or the feed.
func (f *postFlags) source(ctx context.Context, args []string) (post.Source, error) {
	if len(args) > 0 {
		now := time.Now()
		if f.now != "" {
			var err error
			if now, err = moment(f.now); err != nil {
				return nil, usage(&fault.Error{Setting: "--now " + f.now, Problem: "is not a time", Cure: "write 2024-07-03 or 2024-07-03T12:00:00Z"})
			}
		}
		paths, err := shefPaths(args)
		if err != nil {
			return nil, err
		}
		if slices.Contains(paths, "-") {
			return nil, usage(&fault.Error{Setting: "-", Problem: "standard input can be read only once", Cure: "name a file"})
		}
		return post.Files{Paths: paths, Now: now, Open: func(path string) (io.Reader, io.Closer, error) { return f.env.openText(ctx, path) }, Text: fmt.Sprintf("%d files", len(paths))}, nil
	}
	if f.feed.live == 0 && f.feed.feed.Messages == 0 && f.feed.feed.Mean == 0 {
		f.feed.feed.Messages, f.feed.feed.Mean = 10, 5000 // the report's tests 1 and 2
	}
	feed, err := f.feed.make()
	if err != nil {
		return nil, err
	}
	return post.Feed{Feed: feed, Text: fmt.Sprintf("a synthetic feed of %d products, seed %d", feed.Messages, feed.Seed)}, nil
}

// run runs the tests; what was measured before an interruption is kept.
func (f *postFlags) run(ctx context.Context, args []string) error {
	for i, t := range f.tests {
		if !slices.Contains(post.Tests(), post.Test(t)) {
			return usage(&fault.Error{Setting: "--test " + f.tests[i], Problem: "is not known", Cure: "choose of " + strings.Join(words(post.Tests()), ", ")})
		}
	}
	src, err := f.source(ctx, args)
	if err != nil {
		return err
	}
	d, _, err := f.env.engines.Parse(f.db)
	if err != nil {
		return usage(err)
	}
	if len(d.PostMethods) == 0 {
		return usage(&fault.Error{Setting: "--db " + d.Scheme, Problem: "does not post SHEF values", Cure: "choose an SQL engine"})
	}
	if len(f.methods) == 0 {
		f.methods = words(d.PostMethods)
	}
	db, err := f.env.engines.Open(ctx, f.db, engine.Options{Log: f.env.log()})
	if err != nil {
		return err
	}
	about, err := db.About(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if f.out == "" {
		f.out = filepath.Join("runs", time.Now().UTC().Format("20060102-150405")+"-post")
	}
	result := &run.Posts{
		Started: time.Now().UTC().Truncate(time.Second), Args: redacted(os.Args[1:]), Seed: f.feed.feed.Seed, Feed: src.Words(), Policy: f.policy,
		Product: about.Product, Version: about.Version, Settings: about.Settings, Machine: measure.ReadMachine(ctx, "."),
	}
	err = errors.Join(f.programme(ctx, db, src, result), db.Close())
	if len(result.Cells)+len(result.Days) == 0 {
		return err
	}
	return errors.Join(err, f.finish(result))
}

// programme runs every test on every design by every method.
func (f *postFlags) programme(ctx context.Context, db *engine.Engine, src post.Source, result *run.Posts) error {
	for _, design := range f.designs {
		store, err := db.Posts.Open(ctx, engine.PostTables{Design: engine.PostDesign(design), Policy: engine.Policy(f.policy), Make: true})
		if err != nil {
			return err
		}
		p := post.Programme{
			Store: store, Design: engine.PostDesign(design), Policy: engine.Policy(f.policy), Source: src,
			Rounds: f.rounds, SpeedUp: f.speedUp, Reprove: !f.unproven, Result: result,
			Progress: func(s string) { fmt.Fprintln(f.env.stderr, s) },
		}
		if feed, ok := src.(post.Feed); ok {
			p.From, p.PerDay = feed.From, feed.PerDay
		} else {
			p.PerDay = 1000
		}
		err = p.Admit(ctx)
		for _, t := range post.Tests() {
			for _, m := range f.methods {
				if err != nil || !slices.Contains(f.tests, string(t)) {
					continue
				}
				p.Options = post.Options{Method: engine.PostMethod(m), Posters: f.posters, Together: f.together}
				err = p.Run(ctx, t)
			}
		}
		if err = errors.Join(err, store.Close()); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the run folder and prints the tables.
func (f *postFlags) finish(result *run.Posts) error {
	if err := result.Save(f.out); err != nil {
		return err
	}
	if err := f.env.report(f.out); err != nil {
		return err
	}
	for _, c := range result.Cells {
		if c.Wrong {
			return &fault.Status{Code: fault.Differs, Err: errors.New("what the tables hold differs from the reference")}
		}
	}
	return nil
}
