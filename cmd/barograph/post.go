package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/post"

	"github.com/spf13/cobra"
)

func newPost(e *env) *cobra.Command {
	p := &post.Posting{Registry: e.engines, Log: e.log()}
	var feed feedFlags
	var now, out string
	var report2006 time.Duration
	c := &cobra.Command{
		Use:   "post --engine URL [FILES…]",
		Short: "Time how fast engines store SHEF products: the tests of NOAA's 2006 report",
		Long: `Post measures how fast an engine stores SHEF products. It repeats the tests of NOAA's report of 14 April 2006, which used
PostgreSQL 7.4.8 and Informix 9.3.

With FILES (SHEF files or folders) it posts them once, as they are. Without FILES it posts a synthetic feed ("barograph synth
shef"), by default 10 products of 5,000 values. Designs: array96, array24 (a row per station, parameter and day), single (a
row per value). Methods, slowest first: row-2006 (the report's algorithm, one commit per statement), row-2006-message (one
transaction), procedure, prepared, multi-row, bulk; and service (what "barograph shef serve" runs). Post compares the tables
with a reference that no database computed, and prints no figures where they differ. Tests:
  once    the products as they are, once (default with FILES)
  quiet   insert, then update: test 1 of the report (default without FILES)
  noise   the same during maintenance, a dump, a second client and a reader: test 2 of the report
  queue   a backlog, test 3 of the report: --messages 55338 --mean 240.3
  live    a feed of several days, posted three times: with maintenance, without it, and after a
          full vacuum: --live-days 3 --speed-up 1000
  delete  the older half of the values
  bloat   reposts without maintenance, then after it

--report2006 TIME runs quiet, noise, queue, live (six days) and delete by row-2006 and service (or --method) on as many
products as fit the time, from 20 to 55,338, and prints the report's figures next to its own. With --messages N it posts N
products instead: give the number of an earlier run to post the same products again.

Post uses tables of its own, in schema barograph_post (PostgreSQL) or database post (MariaDB). Their names end in _test. Each
test empties them first. To store products for good, run "barograph shef post --schema barograph".`,
		Example: `  barograph post --engine postgres://postgres@localhost:5432/postgres --test quiet,bloat
  barograph post --engine sqlite:post.db --design single --method prepared,multi-row
  barograph post --engine $URL --test queue --method bulk --batch 500 --messages 55338 --mean 240.3
  barograph post --engine $URL --test live --live-days 2 --speed-up 2000
  barograph post --engine $URL --report2006 20m`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := checkFeed(c, args); err != nil {
				return err
			}
			if report2006 != 0 {
				return e.report2006(c, p, report2006, &feed, out, args)
			}
			var unread func() error
			if p.Source, unread, err = e.postSource(c.Context(), args, now, &feed); err != nil {
				return err
			}
			return errors.Join(e.runPost(c.Context(), p, feed.feed.Seed, out), unread())
		},
	}
	f := c.Flags()
	f.StringVar(&p.URL, engineFlag, "", "URL of the engine (required)")
	f.StringSliceVar(&p.Designs, "design", []string{string(posts.Array96), string(posts.Single)}, "designs")
	f.StringSliceVar(&p.Methods, "method", nil, "methods (default: all that the engine has, and service; FILES with a --policy other than overwrite: without service)")
	f.StringSliceVar(&p.Tests, "test", nil, "tests (default: once with FILES, else quiet)")
	f.DurationVar(&report2006, "report2006", 0, "run all tests of the report in its order, on as many products as fit this time, e.g. 20m")
	f.StringVar(&p.Policy, "policy", string(posts.Overwrite), "what to do with a value whose key exists already: the modes of shef_duplicate in IHFS")
	f.IntVar(&p.Posters, "clients", 1, "concurrent clients; they divide the stations")
	f.IntVar(&p.Together, "batch", 1, "products per transaction")
	f.IntVar(&p.Rounds, "reposts", 4, "reposts of the test bloat")
	f.Float64Var(&p.SpeedUp, "speed-up", 0, "test live: days of the feed per real day (default: no limit)")
	f.StringVar(&out, "out", "", "run folder (default: runs/{time}-post)")
	f.StringVar(&now, "now", "", "FILES: moment that decides years, e.g. 2024-07-03 (default: the present)")
	f.StringVar(&p.Labs, "lab-dir", engine.LabDir(), "folder of \"lab up\"; the run records the settings of its servers")
	feed.add(c)
	f.Lookup("messages").Usage = "number of products (default: 10; 55,338 if --mean is given)"
	f.Lookup("mean").Usage = "values per product (default: 5000; 240.3 if --messages is given)"
	e.prepareEngineFlag(c, "db")
	required(c, engineFlag)
	positive(c, "clients", "batch", "report2006", "reposts")
	formerly(c, "posters", "clients")
	formerly(c, "together", "batch")
	formerly(c, "rounds", "reposts")
	seldom(c, "batch", "clients", "lab-dir", "live-days", "mean", "messages", "now", "offices", "per-day", "policy", "reposts",
		"seed", "since", "speed-up", "stations-per-office")
	complete(c, "policy", func() []string { return toStrings(posts.Policies()) })
	complete(c, "design", func() []string { return toStrings(posts.Designs()) })
	complete(c, "test", func() []string { return toStrings(post.Tests()) })
	return c
}

// checkFeed refuses flags of the synthetic feed with FILES, and --now without FILES.
func checkFeed(c *cobra.Command, files []string) error {
	if len(files) == 0 {
		if c.Flags().Changed("now") {
			return fault.Misuse("--now", "applies only to FILES", "name files, or omit it")
		}
		return nil
	}
	for _, name := range []string{"messages", "mean", "per-day", "live-days", "since", "offices", "stations-per-office"} {
		if c.Flags().Changed(name) {
			return fault.Misuse("--"+name, "describes the synthetic feed, which FILES replace", "omit it, or the files")
		}
	}
	return nil
}

// days2006 is how many days the live feed of --report2006 has.
const days2006 = 6

// report2006 runs the tests of the report at the size of --messages, or at a size that fits a time.
func (e *env) report2006(c *cobra.Command, p *post.Posting, limit time.Duration, feed *feedFlags, out string, args []string) error {
	for _, name := range []string{"test", "per-day", "live-days", "speed-up"} {
		if c.Flags().Changed(name) {
			return fault.Misuse("--"+name, "cannot be combined with --report2006, which chooses it", "omit one of the two")
		}
	}
	if len(args) > 0 {
		return fault.Misuse("--report2006", "cannot be combined with FILES, because it posts a synthetic feed", "omit one of the two")
	}
	makeSource := func(messages int) (post.Source, error) {
		f := *feed
		f.feed.Messages, f.feed.PerDay = messages, (messages+days2006-1)/days2006
		return f.source()
	}
	p.Progress = e.info
	if err := p.Report2006(c.Context(), limit, feed.feed.Messages, makeSource); err != nil {
		return err
	}
	return e.runPost(c.Context(), p, feed.feed.Seed, out)
}

// runPost runs the tests into the run folder out.
func (e *env) runPost(ctx context.Context, p *post.Posting, seed uint64, out string) error {
	return e.runProgram(ctx, &out, run.PostWorkload, seed, p.Source.Words(), func(f *run.Folder, logStep func(string)) error {
		p.Progress = logStep
		return p.Run(ctx, f)
	})
}

// source makes the feed as a source of products.
func (f *feedFlags) source() (post.Source, error) {
	feed, err := f.make()
	if err != nil {
		return nil, err
	}
	return post.Feed{Feed: feed, Text: fmt.Sprintf("a synthetic feed of %s, seed %d", run.CountOf(feed.Messages, "product"), feed.Seed)}, nil
}

// postSource returns the files or the feed to post. After the run, unread returns the error of unreadable files.
func (e *env) postSource(ctx context.Context, args []string, nowText string, f *feedFlags) (s post.Source, unread func() error, err error) {
	if len(args) == 0 {
		if f.liveDays == 0 && f.feed.Messages == 0 && f.feed.Mean == 0 {
			f.feed.Messages, f.feed.Mean = 10, 5000 // the report's tests 1 and 2
		}
		s, err = f.source()
		return s, func() error { return nil }, err
	}
	now, err := parseTime("--now", nowText)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(args, formats.Stdin) {
		return nil, nil, fault.Misuse("-", "is standard input, which can be read only once", "name a file")
	}
	files, err := formats.NewTexts(ctx, args, e.stdin, e.reportError)
	if err != nil {
		return nil, nil, err
	}
	return post.Files{Texts: files, Now: now, Text: run.CountOf(len(files.Paths), "file")}, files.Incomplete, nil
}
