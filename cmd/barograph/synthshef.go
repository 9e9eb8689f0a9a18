package main

import (
	"time"

	"github.com/barograph/barograph/synth"

	"github.com/spf13/cobra"
)

// feedFlags describe a synthetic feed of SHEF products.
type feedFlags struct {
	feed synth.SHEF
	from string
	live int
}

func (f *feedFlags) add(c *cobra.Command) {
	c.Flags().Uint64Var(&f.feed.Seed, "seed", 1, "seed of every value")
	c.Flags().IntVar(&f.feed.Messages, "messages", 0, "products (default: 55,338, the backlog of NOAA's report)")
	c.Flags().Float64Var(&f.feed.Mean, "mean", 0, "values of a product (default: 240.3, so that the backlog has 13.3 million)")
	c.Flags().IntVar(&f.feed.PerDay, "per-day", 0, "products of a day (default: 14,700)")
	c.Flags().IntVar(&f.live, "live-days", 0, "days of a live feed: 14,700 products a day of 55 values each, instead of the backlog")
	c.Flags().StringVar(&f.from, "from", "", "first day (default: 2006-03-09, the first of the report's feed)")
	c.Flags().IntVar(&f.feed.Offices, "offices", 0, "forecast offices (default: 120)")
	c.Flags().IntVar(&f.feed.Stations, "stations", 0, "stations of an office (default: 36)")
}

// make checks the flags and prepares the feed.
func (f *feedFlags) make() (*synth.Feed, error) {
	if f.from != "" {
		t, err := time.Parse(time.DateOnly, f.from)
		if err != nil {
			return nil, usage(err)
		}
		f.feed.From = t
	}
	if f.live > 0 {
		if f.feed.PerDay == 0 {
			f.feed.PerDay = synth.LiveMessages
		}
		if f.feed.Mean == 0 {
			f.feed.Mean = synth.LiveMean
		}
		if f.feed.Messages == 0 {
			f.feed.Messages = f.live * f.feed.PerDay
		}
	}
	feed, err := f.feed.Feed()
	if err != nil {
		return nil, usage(err)
	}
	return feed, nil
}

// productsPerFile of a synthetic feed: some 2 MB.
const productsPerFile = 500

func newSynthSHEF(e *env) *cobra.Command {
	var f feedFlags
	var out string
	c := &cobra.Command{
		Use:   "shef --out DIR",
		Short: "Make a feed of SHEF products: the backlog or the live feed of NOAA's report",
		Long: `Make a feed of SHEF products (.A, .B and .E messages, revisions, missing values, traces) in DIR/shef, 500 a file.

The same seed makes the same bytes. Sizes of products are lognormal: most are small, a few have thousands of values. The
default is the backlog of the report of 2006, 55,338 products with 13.3 million values; --live-days makes days of its feed.`,
		Example: `  barograph synth shef --messages 1000 --out feed
  barograph synth shef --live-days 2 --out feed
  barograph shef decode --products --now 2006-03-10 feed`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			feed, err := f.make()
			if err != nil {
				return err
			}
			return e.synth(c.Context(), out, feed.Files(productsPerFile))
		},
	}
	f.add(c)
	c.Flags().StringVar(&out, "out", "", "folder to write into (required)")
	c.MarkFlagRequired("out") //nolint:errcheck // the flag exists
	return c
}
