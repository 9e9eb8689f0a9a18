package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/river"
)

func newShefFiltered(e *env) *cobra.Command {
	p := &shefPost{env: e, schema: "ihfs", policy: string(posts.GoodStays)}
	c := &cobra.Command{
		Use:   "filtered URL FILES…",
		Short: "List the gauges whose values an IHFS keeps out, with the statement that admits each",
		Long: `List each series (lid, pe, dur, ts, extremum) of FILES whose values an IHFS keeps out: of a station that it does not have
(unknown), that is not posted (inactive), or that ingestfilter has off or not at all (filtered). Each has the number of its
values, the first and the last one, and the statement that admits it. FILES are SHEF products, such as the folder done/ of a
service's spool. Nothing is posted and nothing is changed.`,
		Example: `  barograph shef filtered postgres://awips@dx1:5432/hd_ob8krf /data/shef/done
  barograph shef filtered --json @url RR1LCH.txt`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			p.url = args[0]
			return p.filtered(c, args[1:])
		},
	}
	c.Flags().StringVar(&p.apps, "apps-defaults", "", "file of tokens (shef_procobs : ON …), as .Apps_defaults_site")
	p.input.flags(c)
	return c
}

func (p *shefPost) filtered(c *cobra.Command, files []string) error {
	in, err := p.in()
	if err != nil {
		return err
	}
	texts, err := formats.NewTexts(c.Context(), files, p.env.stdin, p.env.tells)
	if err != nil {
		return err
	}
	to, err := p.open(c.Context(), false)
	if err != nil {
		return err
	}
	defer to.Close()                          //nolint:errcheck // nothing was written
	strangers := to.(*river.IHFS).Strangers() //nolint:forcetypeassert // of this schema it is one
	for name, text := range texts.All() {
		err := in.Read(text, name, time.Now(), func(p *river.Product) error {
			strangers.Look(p)
			return nil
		})
		if err != nil {
			return err
		}
	}
	all := strangers.All()
	if err := p.env.print(all, func(w io.Writer) error {
		for _, s := range all {
			fmt.Fprintf(w, "%-8s %s %4d %s %s  %-8s %6d values, first %g, last %g at %s\n    %s\n", s.Lid, s.PE, s.Duration, s.TypeSource, s.Extremum, s.Why, s.Values,
				s.FirstValue, s.LastValue, s.Last.Format(time.RFC3339), s.Cure)
		}
		_, err := fmt.Fprintf(w, "%d series are kept out\n", len(all))
		return err
	}); err != nil {
		return err
	}
	return texts.Incomplete()
}

func newShefRetry(e *env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "retry --spool DIR [NAMES…]",
		Short: "Put files of a spool's failed/ back among those that wait",
		Long: `Put files of DIR/failed back into the spool, those that are named or all, and remove their reasons. The service on the spool
posts them, at once or when it is started. What of them was posted before does not change.`,
		Example: `  barograph shef retry --spool /data/shef
  barograph shef retry --spool /data/shef 20261126T050000-000017`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, names []string) error {
			if _, err := os.Stat(filepath.Join(dir, "failed")); err != nil {
				return &fault.Error{Setting: "--spool " + dir, Problem: "is no spool of a service", Cure: "name the folder that barograph shef serve has"}
			}
			s := &river.Spool{Dir: dir}
			if err := s.Open(); err != nil {
				return err
			}
			back, err := s.Retry(names)
			if err != nil {
				return err
			}
			if len(back) == 0 {
				return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%s: no file failed", dir)}
			}
			return e.print(back, func(w io.Writer) error {
				for _, path := range back {
					fmt.Fprintln(w, path)
				}
				_, err := fmt.Fprintf(w, "%d files wait again\n", len(back))
				return err
			})
		},
	}
	c.Flags().StringVar(&dir, "spool", "", "folder of the service (required)")
	required(c, "spool")
	return c
}
