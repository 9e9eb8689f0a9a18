package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/export"
	"github.com/barograph/barograph/export/hec"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/river"
)

// gaugeSource is where values come from: files of SHEF, CSV or Parquet, or a
// database.
type gaugeSource struct {
	shefPost
	options shef.Options

	values, lost, dropped int
}

func (s *gaugeSource) flags(c *cobra.Command) {
	s.policy = string(engine.GoodStays)
	s.place(c, "to read, instead of FILES")
	s.input.flags(c)
}

// check reads what the flags name, once.
func (s *gaugeSource) check(args []string) (err error) {
	if (s.url == "") == (len(args) == 0) {
		return fault.Misuse("FILES or --"+engineFlag, "one of them is read", "name files, folders or - for standard input, or a database")
	}
	s.options, err = s.input.read()
	return err
}

// each gives the values that are wanted, in the order of the files and their
// products; a result is valid during the call.
func (s *gaugeSource) each(ctx context.Context, args []string, each func(*shef.Result) error) error {
	take := func(r *shef.Result) error {
		s.lost += int(r.Account.Lost)
		s.dropped += s.input.filter.Apply(&r.Values)
		s.values += len(r.Values)
		return each(r)
	}
	if s.url != "" {
		return s.database(ctx, take)
	}
	var unread []error
	for _, arg := range args {
		if isTable(arg) {
			if err := s.table(arg, take); err != nil {
				return err
			}
			continue
		}
		texts, err := formats.NewTexts(ctx, []string{arg}, s.env.stdin, s.env.tells)
		if err != nil {
			return err
		}
		for name, text := range texts.All() {
			if err := shef.ReadAll(text, name, s.options, take); err != nil {
				return err
			}
		}
		unread = append(unread, texts.Incomplete())
	}
	return errors.Join(unread...)
}

func (s *gaugeSource) database(ctx context.Context, take func(*shef.Result) error) (err error) {
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
	return db.(river.Stored).Values(ctx, from, to, take) //nolint:forcetypeassert // both of them are
}

// isTable reports whether a file is CSV or Parquet as decode writes them.
func isTable(name string) bool {
	f, err := os.Open(name)
	if err != nil || name == formats.Stdin {
		return false
	}
	defer f.Close() //nolint:errcheck // nothing was written
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	columns := strings.Split(strings.TrimSpace(string(line)), ",")
	return bytes.HasPrefix(head, []byte("PAR1")) || slices.Contains(columns, "station") && slices.Contains(columns, "code")
}

// table reads values of CSV or Parquet. A row that is no value is told.
func (s *gaugeSource) table(name string, take func(*shef.Result) error) error {
	var r shef.Result
	r.Product.File, r.Product.Issued = name, record.NoTime
	flush := func() error {
		err := take(&r)
		r.Values, r.Account = r.Values[:0], shef.Account{}
		return err
	}
	err := export.ReadGauges(name, s.options.Tables, func(g *record.Gauge, err error) error {
		if err != nil {
			r.Account.Lost++
			s.env.tells(err)
			return nil
		}
		if r.Values = append(r.Values, *g); len(r.Values) < 4096 {
			return nil
		}
		return flush()
	})
	return errors.Join(err, flush())
}

// incomplete is the error of values that were lost, or where there is none.
func (s *gaugeSource) incomplete() error {
	if s.lost == 0 {
		if s.values == 0 {
			return &fault.Status{Code: fault.Incomplete, Err: errors.New("there is no value to write")}
		}
		return nil
	}
	return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d values could not be read; of SHEF, barograph shef decode --problems FILE says which", s.lost)}
}

func newShefEncode(e *env) *cobra.Command {
	var out, heading, awips string
	s := &gaugeSource{shefPost: shefPost{env: e}}
	c := &cobra.Command{
		Use:   "encode FILES… | --engine URL",
		Short: "Write values of CSV, Parquet or a database as SHEF messages",
		Long: `Write values as SHEF messages, which decode to the same values in the same order.

FILES are CSV or Parquet as decode writes them; of CSV the columns station, time, code and value are enough, in any order.
With --engine the values are those of a database, IHFS or Barograph's tables. Values that have a source become .B messages,
two equal steps of one parameter and more .E, all others .A. Dates have their century, times are UTC, units English. With
--heading the messages are a product in SOH … ETX. A value that SHEF cannot express is told, left out, and makes the exit
status 4.`,
		Example: `  barograph shef encode values.csv --heading 'SRUS54 KLCH 101813' --awips RR1LCH --out RR1LCH.txt
  barograph shef encode --engine postgres://awips@dx1:5432/hd_ob8krf --station LKCL1 --from 2026-11-20
  barograph shef encode values.parquet | barograph shef decode -`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.check(args); err != nil {
				return err
			}
			for _, arg := range args {
				if _, err := os.Stat(arg); err == nil && !isTable(arg) {
					return &fault.Error{File: arg, Problem: "is neither CSV nor Parquet of values", Cure: "write it with barograph shef decode --format csv"}
				}
			}
			return e.written(out, func(w io.Writer) error { return s.encode(c.Context(), w, args, heading, awips) })
		},
	}
	c.Flags().StringVar(&out, "out", "", "file to write into (default: standard output)")
	c.Flags().StringVar(&heading, "heading", "", "WMO heading, which makes a product of the messages")
	c.Flags().StringVar(&awips, "awips", "", "AWIPS id below the heading")
	s.flags(c)
	return c
}

func (s *gaugeSource) encode(ctx context.Context, w io.Writer, args []string, heading, awips string) error {
	if heading != "" {
		fmt.Fprintf(w, "\x01\r\r\n000 \r\r\n%s\r\r\n%s\r\r\n", heading, awips)
	}
	encoder, left := shef.NewEncoder(w, s.options.Tables), 0
	err := s.each(ctx, args, func(r *shef.Result) error {
		for i := range r.Values {
			if err := encoder.Write(&r.Values[i]); err != nil {
				left++
				place := ""
				if r.Product.File != "" {
					place = fmt.Sprintf("%s:%d: ", r.Product.File, r.Values[i].Line)
				}
				s.env.tells(fmt.Errorf("%s%w", place, err))
			}
		}
		return nil
	})
	err = errors.Join(err, encoder.Close())
	if heading != "" {
		fmt.Fprint(w, "\x03")
	}
	fmt.Fprintf(s.env.stderr, "%d values, %d left out\n", s.values+s.lost, left+s.lost)
	if left > 0 && err == nil {
		err = &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d values could not be encoded", left+s.lost)}
	}
	if err == nil {
		err = s.incomplete()
	}
	return err
}

// written writes a file that is there when it is whole, or standard output. A
// status of fault.Incomplete is of what was read: what was written is whole. A
// pipe or device is written into, of a link the file that it names, and a file that
// may not be written is refused.
func (e *env) written(out string, write func(w io.Writer) error) error {
	if out == "" {
		b := bufio.NewWriter(e.stdout)
		return errors.Join(write(b), b.Flush())
	}
	info, err := os.Stat(out)
	switch {
	case err != nil: // it is new, or its folder cannot be read, which is told below
	case info.IsDir():
		return unwritten(out, "is a folder", nil)
	case info.Mode().Perm()&0o200 == 0:
		return unwritten(out, "is write-protected", nil)
	case !info.Mode().IsRegular():
		return writtenInto(out, write)
	default:
		if out, err = filepath.EvalSymlinks(out); err != nil {
			return unwritten(out, "", err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".*.part")
	if err != nil {
		return unwritten(out, "", err)
	}
	err = write(f)
	failed := err
	if status, ok := errors.AsType[*fault.Status](err); err == nil || ok && status.Code == fault.Incomplete {
		failed = errors.Join(f.Chmod(0o644), f.Close(), os.Rename(f.Name(), out))
	}
	if failed == nil {
		return err
	}
	f.Close()           //nolint:errcheck // the first error counts
	os.Remove(f.Name()) //nolint:errcheck // likewise
	return failed
}

// writtenInto writes into a pipe or a device, which stays what it is.
func writtenInto(out string, write func(w io.Writer) error) error {
	f, err := os.OpenFile(out, os.O_WRONLY, 0)
	if err != nil {
		return unwritten(out, "", err)
	}
	b := bufio.NewWriter(f)
	return errors.Join(write(b), b.Flush(), f.Close())
}

func unwritten(out, problem string, err error) error {
	return &fault.Error{Setting: "--out " + out, Problem: problem, Err: err, Cure: "name a file that can be written"}
}

// shefExport is a run of `barograph shef export`.
type shefExport struct {
	gaugeSource
	to, out                        string
	sensors, parameters, library   string // of dss
	aliases, office, keyFile, rule string // of cda
	versions                       bool   // likewise
}

// exportTo are the kinds of what export writes.
func exportTo() []string { return []string{"dss", "cda", "csv", "json", "parquet"} }

func newShefExport(e *env) *cobra.Command {
	x := &shefExport{gaugeSource: gaugeSource{shefPost: shefPost{env: e}}}
	c := &cobra.Command{
		Use:   "export --to dss|cda|csv|json|parquet FILES… | --engine URL",
		Short: "Bring values of SHEF products, tables or a river database into HEC-DSS, CWMS or files",
		Long: `Take values out of files or a database, into a HEC-DSS file, a CWMS Data API, CSV, an object of JSON on each line, or Parquet.

FILES are SHEF products, CSV or Parquet as decode writes them, folders, or - for standard input. With --engine the values are
those of a database: IHFS, whose values become SHEF's again (discharge in thousands, pairs in one number, letters for
durations and probabilities), or, with --schema barograph, the tables of barograph post. A file appears when it is whole.

dss: series are named by HEC's own files, --sensors and --parameters, CSV or columns, as they are; what they do not have is
named by station, element and duration. It takes HEC's library (barograph lab install --yes hecdss, or --dss-library). What
is there is merged with: missing values erase nothing, another unit or type is refused, values off a regular series' times go
into an irregular one, and all that is stored is read back. cda: series are named by --aliases, a line each:
LID.PE.TSE.DURATION=time-series-id;Units=ft. Both may be run again: what is stored stays the same.`,
		Example: `  barograph shef export --to dss --out river.dss --sensors shef_sensors.csv --parameters shef_parameters.csv queue/
  barograph shef export --to cda --out https://cwms-data.usace.army.mil/cwms-data --office SWT --aliases crit --key-file key queue/
  barograph shef export --to csv --engine postgres://awips@dx1:5432/hd_ob8krf --station LKCL1 --from 2026-11-20`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c.Context(), args) },
	}
	f := c.Flags()
	f.StringVar(&x.to, "to", "", "what is written (required): "+strings.Join(exportTo(), ", "))
	f.StringVar(&x.out, "out", "", "file to write into (default: standard output, but of dss and parquet); of cda its URL")
	f.StringVar(&x.sensors, "sensors", "", "of dss: HEC's sensor file")
	f.StringVar(&x.parameters, "parameters", "", "of dss: HEC's parameter file")
	f.StringVar(&x.library, "dss-library", "", "of dss: HEC's library (default: the one that lab install brought)")
	f.StringVar(&x.aliases, "aliases", "", "of cda: file of aliases (required)")
	f.StringVar(&x.office, "office", "", "of cda: office of the series (required)")
	f.StringVar(&x.keyFile, "key-file", "", "of cda: file that holds the key of the API and nothing else")
	f.StringVar(&x.rule, "store-rule", "", "of cda: rule of the server's for values that are there (default: REPLACE WITH NON MISSING)")
	f.BoolVar(&x.versions, "versions", false, "of cda: forecasts are kept by the time that they were made, as version dates")
	complete(c, "to", exportTo)
	required(c, "to")
	x.flags(c) // after --to
	return c
}

func (x *shefExport) run(ctx context.Context, args []string) error {
	switch {
	case !slices.Contains(exportTo(), x.to):
		return usage(fault.Unknown("--to", x.to, exportTo()))
	case x.out == "" && x.to != "csv" && x.to != "json":
		return fault.Misuse("--to "+x.to, "is no text", "name a file with --out, or of cda its URL")
	case x.to == "cda" && (x.aliases == "" || x.office == ""):
		return fault.Misuse("--to cda", "has no names of series", "give --aliases and --office")
	}
	if err := x.check(args); err != nil {
		return err
	}
	var err error
	switch x.to {
	case "dss":
		err = x.dss(ctx, args)
	case "cda":
		err = x.cda(ctx, args)
	default:
		err = x.env.written(x.out, func(w io.Writer) error { return x.write(ctx, w, args) })
	}
	if x.lost+x.dropped > 0 || err == nil && x.to != "dss" && x.to != "cda" {
		fmt.Fprintf(x.env.stderr, "%d values, %d lost in decoding, %d left out by filters\n", x.values, x.lost, x.dropped)
	}
	if err == nil {
		err = x.incomplete()
	}
	return err
}

// write writes values as a file.
func (x *shefExport) write(ctx context.Context, w io.Writer, args []string) error {
	values, err := export.NewGauges(w, x.to, x.env.cell, x.input.sites)
	if err != nil {
		return err
	}
	return errors.Join(x.each(ctx, args, values.Write), values.Close())
}

func (x *shefExport) dss(ctx context.Context, args []string) (err error) {
	library := x.library
	if library == "" {
		if library, err = lab.HECDSSLibrary(); err != nil {
			return err
		}
	}
	tables, err := hec.ReadTables(x.sensors, x.parameters, x.options.Tables, x.env.tells)
	if err != nil {
		return err
	}
	x.options.Tables = x.options.Tables.With(tables.Elements())
	return x.collect(ctx, args, tables, func(c *hec.Collection) error { return c.StoreDSS(library, x.out) })
}

func (x *shefExport) cda(ctx context.Context, args []string) error {
	aliases, err := hec.ReadAliases(x.aliases)
	if err != nil {
		return err
	}
	aliases.Office, aliases.Versions = x.office, x.versions
	api := hec.CDA{URL: x.out, StoreRule: x.rule}
	if x.keyFile != "" {
		text, err := os.ReadFile(x.keyFile)
		if err != nil {
			return err
		}
		api.Key = strings.TrimSpace(string(text))
	}
	return x.collect(ctx, args, aliases, func(c *hec.Collection) error { return c.StoreCDA(ctx, api) })
}

// collect gathers all values, stores them, and tells what became of them.
func (x *shefExport) collect(ctx context.Context, args []string, names hec.Names, store func(*hec.Collection) error) error {
	c := &hec.Collection{Names: names, Told: x.env.tells}
	err := x.each(ctx, args, func(r *shef.Result) error {
		for i := range r.Values {
			c.Add(&r.Values[i])
		}
		return nil
	})
	if status, ok := errors.AsType[*fault.Status](err); err != nil && (!ok || status.Code != fault.Incomplete) {
		return err
	}
	if failed := store(c); failed != nil {
		return failed
	}
	a := &c.Account
	err = errors.Join(err, x.env.print(a, func(w io.Writer) error {
		fmt.Fprintf(w, "%d values, %d of them stored in %d series\n", a.Values, a.Stored, a.Series)
		for _, y := range []struct {
			n    int
			what string
		}{{a.Missing, "missing, which are not stored"}, {a.Replaced, "replaced by a later one of their time"}, {a.Unnamed, "of no series"}, {a.Refused, "refused with their series"}} {
			if y.n > 0 {
				fmt.Fprintf(w, "%10d %s\n", y.n, y.what)
			}
		}
		return nil
	}))
	if a.Refused > 0 && err == nil {
		err = &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d values were refused", a.Refused)}
	}
	return err
}
