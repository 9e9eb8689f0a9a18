package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	feed                    feedFlags
}

func newPost(e *env) *cobra.Command {
	f := &postFlags{env: e}
	c := &cobra.Command{
		Use:   "post --engine URL [FILES…]",
		Short: "Post SHEF products into tables: the tests of NOAA's report of 2006",
		Long: `Post SHEF products into tables, as the report of 14 April 2006 does (PostgreSQL 7.4.8 beside Informix 9.3), and time it.

FILES are SHEF files or folders: they are posted once, as they are, into tables that stay (the test once). Without FILES a
synthetic feed is posted, as barograph synth shef makes it, by default 10 products of 5,000 values each. Designs: array96, array24 (a row per station, parameter and day), single (a row per
value), ihfs. Methods, from the slowest: row-2006 (the report's algorithm, each statement commits), row-2006-message (one
transaction), procedure, prepared, multi-row, bulk. What the tables hold is held against a reference that no database
computed; what differs, or lacks a proof, has no figures. Tests:

  once    the products, as they are: the default with FILES
  quiet   insert, then update (the report's test 1): the default without FILES
  noise   the same beside maintenance, a dump, a second poster and a reader (its test 2)
  queue   a backlog (its test 3): --messages 55338 --mean 240.3
  live    days of a feed: maintenance on, off, after a full vacuum; --live-days 3 --speed-up 1000
  delete  the older half of what is there
  bloat   the same again and again without maintenance, then after it

The tables are Barograph's own, in schema barograph_post (PostgreSQL) or database post (MariaDB). Every test empties its
tables first; all but once with FILES change or invent values, and have tables of their own, whose names end in _test.
What could not be decoded is told, and makes the exit status 4.`,
		Example: `  barograph post --engine postgres://postgres@localhost:5432/postgres --test quiet,bloat
  barograph post --engine sqlite:post.db --design single --method prepared,multi-row
  barograph post --engine $URL --test queue --method bulk --together 500 --messages 55338 --mean 240.3
  barograph post --engine $URL --test live --live-days 2 --speed-up 2000`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), args) },
	}
	c.Flags().StringVar(&f.db, engineFlag, "", "URL of the engine (required)")
	c.Flags().StringSliceVar(&f.designs, "design", []string{string(engine.Array96Design), string(engine.SingleDesign)}, "designs")
	c.Flags().StringSliceVar(&f.methods, "method", nil, "methods (default: all that the engine has)")
	c.Flags().StringSliceVar(&f.tests, "test", nil, "tests (default: once with FILES, else quiet)")
	c.Flags().StringVar(&f.policy, "policy", string(engine.Overwrite), "what becomes of a value whose key is taken; the modes of shef_duplicate in IHFS")
	c.Flags().IntVar(&f.posters, "posters", 1, "posters at once; they divide the stations")
	c.Flags().IntVar(&f.together, "together", 1, "products in a transaction")
	c.Flags().IntVar(&f.rounds, "rounds", 4, "re-posts of the test bloat")
	c.Flags().Float64Var(&f.speedUp, "speed-up", 0, "of the test live: this many days in a day (default: as fast as it goes)")
	c.Flags().StringVar(&f.out, "out", "", "run folder (default: runs/{time}-post)")
	c.Flags().StringVar(&f.now, "now", "", "of FILES: moment that decides years, e.g. 2024-07-03 (default: the present)")
	f.feed.add(c)
	f.env.enginesNamed(c, "db")
	c.MarkFlagRequired(engineFlag) //nolint:errcheck // the flag exists
	positive(c, "posters", "together", "rounds")
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
	if len(f.tests) == 0 {
		f.tests = []string{string(post.Quiet)}
		if len(args) > 0 {
			f.tests = []string{string(post.Once)}
		}
	}
	for i, t := range f.tests {
		if !slices.Contains(post.Tests(), post.Test(t)) {
			return usage(fault.Unknown("--test", f.tests[i], post.Tests()))
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
		return usage(&fault.Error{Setting: "--engine " + d.Scheme, Problem: "does not post SHEF values", Cure: "choose an SQL engine"})
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
	refs, err := post.NewReferences(ctx, src)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	if f.out == "" {
		f.out = filepath.Join("runs", time.Now().UTC().Format("20060102-150405")+"-post")
	}
	result := &run.Posts{
		Started: time.Now().UTC().Truncate(time.Second), Args: redacted(f.env.args), Seed: f.feed.feed.Seed, Feed: src.Words(), Policy: f.policy,
		Product: about.Product, Version: about.Version, Settings: about.Settings, Machine: measure.ReadMachine(ctx, "."), Read: refs.Read(),
	}
	err = errors.Join(f.programme(ctx, db, src, refs, result), db.Close())
	if len(result.Cells)+len(result.Days) == 0 {
		return err
	}
	return errors.Join(err, f.finish(result))
}

// programme runs every test on every design by every method. What a user names
// goes into tables that stay; all else into tables for tests.
func (f *postFlags) programme(ctx context.Context, db *engine.Engine, src post.Source, refs *post.References, result *run.Posts) error {
	_, named := src.(post.Files)
	p := post.Programme{
		Policy: engine.Policy(f.policy), Source: src, References: refs, Rounds: f.rounds, SpeedUp: f.speedUp, PerDay: 1000, Result: result,
		Progress: func(s string) { fmt.Fprintln(f.env.stderr, s) },
	}
	if feed, ok := src.(post.Feed); ok {
		p.From, p.PerDay = feed.From, feed.PerDay
	}
	for _, design := range f.designs {
		p.Design = engine.PostDesign(design)
		for _, stay := range []bool{true, false} {
			tests := slices.DeleteFunc(post.Tests(), func(t post.Test) bool {
				return !slices.Contains(f.tests, string(t)) || stay != (named && t == post.Once)
			})
			if len(tests) == 0 {
				continue
			}
			if err := f.tested(ctx, db, p, tests, !stay); err != nil {
				return err
			}
		}
	}
	return nil
}

// tested runs tests on one set of tables.
func (f *postFlags) tested(ctx context.Context, db *engine.Engine, p post.Programme, tests []post.Test, own bool) error {
	store, err := db.Posts.Open(ctx, engine.PostTables{Design: p.Design, Policy: p.Policy, Make: true, Tests: own})
	if err != nil {
		return err
	}
	p.Store = store
	err = p.Admit(ctx, slices.Contains(tests, post.Noise))
	for _, t := range tests {
		for _, m := range f.methods {
			if err == nil {
				p.Options = post.Options{Method: engine.PostMethod(m), Posters: f.posters, Together: f.together}
				err = p.Run(ctx, t)
			}
		}
	}
	return errors.Join(err, store.Close())
}

// finish writes the run folder and prints the tables.
func (f *postFlags) finish(result *run.Posts) error {
	if err := result.Save(f.out); err != nil {
		return err
	}
	if err := f.env.report(f.out); err != nil {
		return err
	}
	if result.Wrong() {
		return &fault.Status{Code: fault.Differs, Err: errors.New("what the tables hold differs from the reference")}
	}
	if n := result.Read.Lost; n > 0 {
		return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d values could not be decoded; barograph shef decode --problems FILE says which", n)}
	}
	return nil
}
