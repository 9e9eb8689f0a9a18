package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/export"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"
)

// gaugeSource reads values from CSV or Parquet files, or from a database.
type gaugeSource struct {
	riverFlags
	options shef.Options

	values, lost, excluded int
}

func (s *gaugeSource) flags(c *cobra.Command) {
	s.policy = string(posts.GoodStays)
	s.databaseFlags(c, "to read")
	s.input.flags(c)
}

// read calls visit with the values that match the filters, in the order of the files. A result is valid during the
// call.
func (s *gaugeSource) read(ctx context.Context, args []string, visit func(*shef.Result) error) error {
	filtered := func(r *shef.Result) error {
		s.lost += int(r.Account.Lost)
		s.excluded += s.input.filter.Apply(&r.Values)
		s.values += len(r.Values)
		return visit(r)
	}
	if s.url != "" {
		return s.readDatabase(ctx, filtered)
	}
	texts, err := formats.NewTexts(ctx, args, s.env.stdin, s.env.reportError)
	if err != nil {
		return err
	}
	for name, text := range texts.All() {
		if err := s.readFile(name, text, filtered); err != nil && !errors.Is(err, io.EOF) { // NewTexts reported the truncated text
			return err
		}
	}
	return texts.Incomplete()
}

func (s *gaugeSource) readDatabase(ctx context.Context, visit func(*shef.Result) error) (err error) {
	db, err := s.open(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	f := &s.input.filter
	from, to := f.From, f.To
	if from == 0 {
		from = math.MinInt64
	}
	if to == 0 {
		to = math.MaxInt64
	}
	return db.(river.ValueReader).Values(ctx, from, to, visit) //nolint:forcetypeassert // both kinds of database implement it
}

// readFile reads values of CSV or Parquet, and reports each row that is not a value.
func (s *gaugeSource) readFile(name string, text io.Reader, visit func(*shef.Result) error) error {
	var r shef.Result
	r.Product.File, r.Product.Issued = name, record.NoTime
	flush := func() error {
		err := visit(&r)
		r.Values, r.Account = r.Values[:0], shef.Account{}
		return err
	}
	err := export.ReadGauges(name, text, s.options.Tables, func(g *record.Gauge, err error) error {
		if err != nil {
			r.Account.Lost++
			s.env.reportError(err)
			return nil
		}
		if r.Values = append(r.Values, *g); len(r.Values) < 4096 {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}

// inputFiles returns the files that the options name.
func (s *gaugeSource) inputFiles() []string {
	return []string{s.input.shefparm, s.input.stations, strings.TrimPrefix(s.url, "@")}
}

// errNoValues is the error of an output without values. writeTo then keeps the old file.
var errNoValues = errors.New("there is no value to write")

// incomplete returns an error if the source lost values, or has none.
func (s *gaugeSource) incomplete() error {
	if s.lost == 0 {
		if s.values == 0 {
			return incomplete(errNoValues)
		}
		return nil
	}
	return incomplete(errors.New(english.Plural(int(s.lost), "row is not a value", "rows are not values")))
}

func newShefEncode(e *env) *cobra.Command {
	var out, heading, awips string
	s := &gaugeSource{riverFlags: riverFlags{env: e}}
	c := &cobra.Command{
		Use:   "encode FILES… | encode --engine URL",
		Short: "Write values from CSV, Parquet or a database as SHEF messages",
		Long: `Encode writes SHEF messages that decode to the same values in the same order.

FILES are CSV or Parquet as decode writes them, folders, pipes, or - for standard input, plain or gzip. They need only the
columns station, time, code and value, in any order. With --engine the values come from a database: IHFS or Barograph's
tables. Values with a source (the sender of a .B message) become .B messages. Two or more values of one parameter at equal
time steps become .E messages, all others .A messages. Dates have their century, times are UTC, units English. With
--heading the messages form one product in SOH … ETX. Encode reports and leaves out a value that SHEF cannot express.`,
		Example: `  barograph shef encode values.csv --heading 'SRUS54 KLCH 101813' --awips RR1LCH --out RR1LCH.txt
  barograph shef encode --engine postgres://awips@dx1:5432/hd_ob8krf --station LKCL1 --since 2026-11-20
  barograph shef decode --format csv RR1LCH.txt | barograph shef encode -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if (s.url == "") == (len(args) == 0) {
				return fault.Misuse("FILES or --"+engineFlag, "exactly one of them is needed",
					"name files, folders or - for standard input, or a database with --"+engineFlag)
			}
			switch {
			case heading == "" && awips != "":
				return fault.Misuse("--awips", "needs a heading before it", "add --heading 'TTAAii CCCC DDHHMM'")
			case heading != "" && !shef.IsHeading([]byte(heading)):
				return fault.Misuse("--heading "+heading, "is not a WMO heading", "write it like 'SRUS54 KLCH 101813'")
			}
			var err error
			if s.options, err = s.input.read(); err != nil {
				return err
			}
			if err := s.checkSchema(c); err != nil {
				return err
			}
			inputs := s.inputFiles()
			if texts, err := formats.NewTexts(c.Context(), args, e.stdin, nil); err == nil { // encode reports the error
				inputs = append(inputs, texts.Paths...)
			}
			return e.writeTo("--out", out, func(w io.Writer) error { return s.encode(c.Context(), w, args, heading, awips) }, inputs...)
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	c.Flags().StringVar(&heading, "heading", "", "WMO heading; the messages become one product")
	c.Flags().StringVar(&awips, "awips", "", "AWIPS id after the heading")
	s.flags(c)
	return c
}

func (s *gaugeSource) encode(ctx context.Context, w io.Writer, args []string, heading, awips string) error {
	if heading != "" {
		fmt.Fprintf(w, "\x01\r\r\n000 \r\r\n%s\r\r\n%s\r\r\n", heading, awips)
	}
	encoder, failed := shef.NewEncoder(w, s.options.Tables), 0
	err := s.read(ctx, args, func(r *shef.Result) error {
		for i := range r.Values {
			if err := encoder.Write(&r.Values[i]); err != nil {
				failed++
				place := ""
				if r.Product.File != "" {
					place = fmt.Sprintf("%s:%d: ", fault.Name(r.Product.File), r.Values[i].Line)
				}
				s.env.reportError(fmt.Errorf("%s%w", place, err))
			}
		}
		return nil
	})
	err = errors.Join(err, encoder.Close())
	if heading != "" {
		fmt.Fprint(w, "\x03")
	}
	fmt.Fprintf(s.env.stderr, "%s, %s left out\n", run.CountOf(s.values+s.lost, "value"), run.FormatCount(failed+s.lost))
	if err != nil || failed == 0 {
		return cmp.Or(err, s.incomplete())
	}
	text := run.CountOf(failed, "value") + " could not be encoded"
	if s.lost > 0 {
		text += "; " + s.incomplete().Error()
	}
	return incomplete(errors.New(text))
}

// writeTo writes standard output, or a file that appears only when it is complete. An error with
// status fault.Incomplete concerns the input, so writeTo keeps the file. writeTo follows links,
// writes into pipes and devices, and refuses write-protected files, folders, archives and the inputs.
func (e *env) writeTo(flag, out string, write func(w io.Writer) error, inputs ...string) error {
	if out == "" {
		b := bufio.NewWriter(e.stdout)
		return errors.Join(write(b), b.Flush())
	}
	if err := e.mayWrite(flag, out, inputs); err != nil {
		return err
	}
	info, err := os.Stat(out)
	switch {
	case err != nil: // the file is new, or OpenFile below reports the error
	case info.Mode().Perm()&0o200 == 0:
		return writeError(flag, out, "is write-protected", nil)
	case !info.Mode().IsRegular():
		return writeInto(flag, out, write)
	default:
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return writeError(flag, out, "cannot be written", err)
		}
	}
	part := fmt.Sprintf(".%s.%d.part", filepath.Base(out), rand.Uint64()) //nolint:gosec // no secret
	f, err := os.OpenFile(filepath.Join(filepath.Dir(out), part), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return writeError(flag, out, "cannot be written", err)
	}
	err = write(f)
	// failed is the error for which writeTo removes the new file; nil = the new file replaces the old one.
	failed := err
	if status, ok := errors.AsType[*fault.Status](err); err == nil || ok && status.Code == fault.Incomplete && !errors.Is(err, errNoValues) {
		if failed = f.Close(); failed == nil {
			failed = os.Rename(f.Name(), out)
		}
	}
	if failed == nil {
		return err
	}
	f.Close()           //nolint:errcheck // failed is the first error
	os.Remove(f.Name()) //nolint:errcheck // failed is the first error
	return failed
}

// writeInto writes into an existing pipe or device instead of replacing it.
func writeInto(flag, out string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(out, os.O_WRONLY, 0)
	if err != nil {
		return writeError(flag, out, "cannot be written", err)
	}
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush(), f.Close())
}

// exportFormats returns the formats of export.
func exportFormats() []string { return []string{"csv", "json", "parquet"} }

func newShefExport(e *env) *cobra.Command {
	var to, out string
	s := &gaugeSource{riverFlags: riverFlags{env: e}}
	c := &cobra.Command{
		Use:   "export --engine URL --to csv|json|parquet",
		Short: "Write the values of a river database as CSV, JSON or Parquet",
		Long: `Export writes the values of a river database as CSV, JSON (one object per line) or Parquet.

The database is IHFS, whose values become those of SHEF again (discharge in thousands, pairs as one number, letters for
durations and probabilities), or, with --schema barograph, Barograph's own tables. The file appears when it is
complete. "barograph shef decode --format" writes the values of SHEF files.`,
		Example: `  barograph shef export --to csv --engine postgres://awips@dx1:5432/hd_ob8krf --station LKCL1 --since 2026-11-20
  barograph shef export --to parquet --out river.parquet --engine sqlite:river.db --schema barograph`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) (err error) {
			switch {
			case len(args) > 0:
				return fault.Misuse(args[0], "is not accepted: export reads only a database",
					"to convert files, run `barograph shef decode --format "+to+"`")
			case !slices.Contains(exportFormats(), to):
				return usage(fault.Unknown("--to", to, exportFormats()))
			case out == "" && to == "parquet":
				return fault.Misuse("--to parquet", "is binary", "name a file with --out")
			}
			if s.options, err = s.input.read(); err != nil {
				return err
			}
			if err := s.checkSchema(c); err != nil {
				return err
			}
			err = e.writeTo("--out", out, func(w io.Writer) error {
				values, err := export.NewGauges(w, to, e.csvCell, s.input.sites)
				if err != nil {
					return err
				}
				err = errors.Join(s.read(c.Context(), nil, values.Write), values.Close())
				if err == nil && s.values == 0 {
					err = s.incomplete()
				}
				return err
			}, s.inputFiles()...)
			if err != nil && !errors.Is(err, errNoValues) {
				return err
			}
			fmt.Fprintln(e.stderr, run.CountOf(s.values, "value"))
			printExcluded(e.stderr, s.excluded)
			return s.incomplete()
		},
	}
	c.Flags().StringVar(&to, "to", "", "format (required): "+strings.Join(exportFormats(), ", "))
	c.Flags().StringVar(&out, "out", "", "file to write (default: standard output, except for parquet)")
	e.spreadsheet(c)
	complete(c, "to", exportFormats)
	required(c, "to")
	s.flags(c) // after --to
	required(c, engineFlag)
	return c
}
