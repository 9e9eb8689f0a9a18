package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/archive/tablediff"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/internal/fault"
)

func newDiff(e *env) *cobra.Command {
	var loader string
	o := tablediff.Options{Samples: 3}
	c := &cobra.Command{
		Use:   "diff URL URL",
		Short: "Compare the contents of two METviewer databases",
		Long: `Diff compares two databases with METviewer's schema (MariaDB or MySQL) row by row: data_file, the headers and lines of
statistics and cyclones (stat_header, tcst_header, line_data_…), and MODE's and MTD's objects (mode_…, mtd_…). It ignores
surrogate keys and the order of rows. It compares lines with the same file and line number, objects with the same header and
object_id, and headers by their texts. Both databases must have been loaded from the same file paths.

The path of each URL is the complete name of a database: /mv_ours. In the URL of "barograph load" it is only a prefix:
--engine mariadb://root@127.0.0.1:3306/mv_ --subset ours loads into the database mv_ours.

With --known metdbload diff expects that METdbLoad loaded the second database. It counts differences that come from
METdbLoad's known faults in a column of their own, and they do not cause exit status 3.`,
		Example: `  barograph diff mariadb://root@127.0.0.1:3306/mv_ours mariadb://root@127.0.0.1:3306/mv_theirs
  barograph diff mariadb://root@127.0.0.1:3306/mv_ours mariadb://root@127.0.0.1:3306/mv_theirs --known metdbload --samples 1`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			switch loader {
			case "":
			case "metdbload":
				o.Faults = tablediff.METdbLoad()
			default:
				return usage(fault.Unknown("--known", loader, []string{"metdbload"}))
			}
			return e.diff(c.Context(), args[0], args[1], o)
		},
	}
	c.Flags().StringVar(&loader, "known", "", "program that loaded the second database, whose known faults are counted separately: metdbload")
	c.Flags().IntVar(&o.Samples, "samples", o.Samples, "differing rows to print per table and fault")
	complete(c, "known", func() []string { return []string{"metdbload"} })
	return c
}

func (e *env) diff(ctx context.Context, left, right string, o tablediff.Options) error {
	l, err := openTables(ctx, left)
	if err != nil {
		return err
	}
	defer l.Close() //nolint:errcheck // only read
	r, err := openTables(ctx, right)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	report, err := tablediff.Compare(ctx, l, r, o)
	if err != nil {
		return err
	}
	if err := e.print(report, func(w io.Writer) error { return report.Text(w, o.Faults) }); err != nil {
		return err
	}
	if n := report.Unexplained(); n > 0 {
		return differs(errors.New(english.Plural(int(n), "difference is", "differences are") + " not explained by a known fault"))
	}
	return nil
}

// metviewerURL resolves the URL of a METviewer database; any other URL is a usage error.
func metviewerURL(raw string) (*url.URL, error) {
	raw, err := engine.ResolveURL(raw)
	if err != nil {
		return nil, usage(err)
	}
	const cure = "write mariadb://USER@HOST:3306/mv_site"
	u, err := fault.ParseURL(raw)
	switch {
	case err != nil:
		return nil, usage(err)
	case u.Scheme != "mariadb" && u.Scheme != "mysql":
		return nil, fault.Misuse(fault.Redact(raw), "is not the URL of a METviewer database", cure)
	case strings.Trim(u.Path, "/") == "":
		return nil, fault.Misuse(fault.Redact(raw), "names no database", cure)
	}
	return u, nil
}

// openTables connects to a METviewer database. The registry checks the parameters of the URL, as it does for an archive,
// and reads the password of passfile or passenv.
func openTables(ctx context.Context, raw string) (db *sql.DB, err error) {
	u, err := metviewerURL(raw)
	if err != nil {
		return nil, err
	}
	connect := func(ctx context.Context, u *url.URL, _ engine.Options) (*engine.Engine, error) {
		secure, err := engine.TLS(u)
		if err != nil {
			return nil, usage(err)
		}
		if db, err = tablediff.Open(ctx, u.String(), secure); err != nil {
			return nil, &fault.Status{Code: fault.Unreachable, Err: err}
		}
		return &engine.Engine{}, nil
	}
	r := engine.Registry{{Scheme: u.Scheme, Place: engine.Remote, Params: mariadb.Driver().Params, Open: connect}}
	if _, _, err := r.Parse(u.String()); err != nil {
		return nil, usage(err)
	}
	_, err = r.Open(ctx, u.String(), engine.Options{})
	return db, err
}
