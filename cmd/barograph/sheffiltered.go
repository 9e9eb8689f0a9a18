package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/river"
)

func newShefFiltered(e *env) *cobra.Command {
	p := &riverFlags{env: e, schema: "ihfs", policy: string(posts.GoodStays)}
	c := &cobra.Command{
		Use:   "filtered [URL] FILES…",
		Short: "List the series that an IHFS filters out, with the SQL that admits each",
		Long: `Filtered lists each series (lid, pe, dur, ts, extremum) of FILES whose values an IHFS does not post, with the reason:
unknown (the IHFS does not have the station), inactive (it does not post the station), or filtered (ingestfilter has no row
for the series, or turns it off). If the token shef_load_ingest of --apps-defaults is ON, an IHFS also posts a series without
a row in ingestfilter, and Filtered does not list it. Each line has the number of values, the first and the last one, and the
SQL that admits the series (:'NAME' is a variable of psql, for a column that the database requires). FILES are SHEF products,
such as the folder done/ of a spool. Filtered changes nothing.`,
		Example: `  barograph shef filtered postgres://awips@dx1:5432/hd_ob8krf /data/shef/done
  barograph shef filtered --json @url RR1LCH.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, files, err := e.splitArchive(c, args)
			if err != nil {
				return err
			}
			if p.url = url; len(files) == 0 {
				return usage(errors.New("shef filtered needs files; write " + c.UseLine()))
			}
			return p.filtered(c, files)
		},
	}
	c.Flags().StringVar(&p.tokensFile, "apps-defaults", "", "file of tokens (shef_load_ingest : ON …), such as .Apps_defaults_site")
	p.input.flags(c)
	p.input.decodeFlags(c)
	return c
}

func (p *riverFlags) filtered(c *cobra.Command, files []string) error {
	in, err := p.readOptions()
	if err != nil {
		return err
	}
	texts, err := formats.NewTexts(c.Context(), files, p.env.stdin, p.env.reportError)
	if err != nil {
		return err
	}
	if d, _, err := p.env.engines.Parse(p.url); err == nil && d.Scheme != "postgres" {
		return fault.Misuse(fault.Redact(p.url), "is no IHFS", "name an IHFS database: postgres://HOST/DATABASE")
	}
	to, err := p.open(c.Context(), false)
	if err != nil {
		return err
	}
	defer to.Close()                               //nolint:errcheck // nothing was written
	finder := to.(*river.IHFS).NewFilteredFinder() //nolint:forcetypeassert // schema ihfs opens an IHFS
	for name, text := range texts.All() {
		err := in.Read(text, name, time.Now(), func(p *river.Product) error {
			finder.Add(p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	all := finder.All()
	if err := p.env.print(all, func(w io.Writer) error {
		for _, s := range all {
			fmt.Fprintf(w, "%-8s %s %4d %s %s  %-8s %6d values, first %g, last %g at %s\n    %s\n",
				s.Lid, s.PE, s.Duration, s.TypeSource, s.Extremum, s.Why, s.Values, s.FirstValue, s.LastValue,
				s.Last.Format(time.RFC3339), s.Cure)
		}
		_, err := fmt.Fprintf(w, "%s filtered out\n", english.Plural(len(all), "series is", "series are"))
		return err
	}); err != nil {
		return err
	}
	return texts.Incomplete()
}
