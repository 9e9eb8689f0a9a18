package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/export"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

func newShef(e *env) *cobra.Command {
	c := &cobra.Command{Use: "shef", Short: "Work with river data in the Standard Hydrometeorological Exchange Format (SHEF)"}
	return parent(c, newShefDecode(e), newShefEncode(e), newShefExport(e), newShefPost(e), newShefServe(e), newShefRetry(e), newShefFiltered(e))
}

// shefDecode is a run of `barograph shef decode`.
type shefDecode struct {
	env      *env
	format   string
	out      string
	problems string
	products bool
	workers  int
	input    shefInput

	immediate    bool // the input is a pipe, so decode writes each result immediately
	excluded     int
	total        shef.Account
	counts       [128]int64    // of problems, by their number in appendix J of the SHEF manual
	productCount int           // products
	listing      *bufio.Writer // of --products, or nil
	problemLog   io.Writer     // of --problems, or nil
	values       export.Gauges
	product      export.Product // the current one, with its results up to now
	pending      bool           // writeProduct has not written the product
}

func newShefDecode(e *env) *cobra.Command {
	d := &shefDecode{env: e}
	c := &cobra.Command{
		Use:   "decode FILES…",
		Short: "Decode SHEF products to a table, CSV, JSON, Parquet or shefit's text",
		Long: `Decode writes one record per value, in UTC and English units.

FILES are files, folders (except hidden files, *.tmp, *.part, done/ and failed/) or - for standard input, plain or gzip. A
file may contain many products. From standard input, decode writes a product when it reads its ETX or the next heading,
or after 2 seconds of silence. Dates without a year get the year nearest to --now. Formats: table; csv; json (one object
per line); parquet; shefit (text form 1 of the National Weather Service's decoder). Times are RFC 3339 (Parquet:
timestamps). Missing values and fields that were not given are empty or null, except in shefit.

--station, --pe and --ts are comma-separated patterns (HG, P?, [TH]*); a leading ! excludes. --shefparm adds the elements of
a site. --stations names a CSV file (lid,name,lat,lon,zone) whose columns are added; the zone does not change times.

Decode continues after errors. Each has its number in appendix J of the SHEF manual, its file and its line; --problems writes
them to a file. --products lists products instead of values. Decode prints a summary to stderr.`,
		Example: `  barograph shef decode RR1LCH.txt
  barograph shef decode --format parquet --out values.parquet --problems problems.txt queue/
  barograph shef decode --station 'K*,!KDRL1' --pe HG,QR --since 2024-07-01 --format csv queue/
  barograph shef decode --products --now 2024-07-03 LRL/
  cat feed | barograph shef decode --format shefit -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	c.Flags().StringVar(&d.format, "format", "table", "table, csv, json, parquet or shefit; if omitted, the extension of --out decides")
	c.Flags().StringVar(&d.out, "out", "", "file to write (default: standard output)")
	c.Flags().StringVar(&d.problems, "problems", "", "file for errors and warnings; - is standard error")
	d.input.flags(c)
	d.input.decodeFlags(c)
	c.Flags().BoolVar(&d.products, "products", false, "list products with their values, losses and errors instead of values")
	c.Flags().IntVar(&d.workers, "workers", 0, "concurrent decoders (default: one per CPU)")
	e.spreadsheet(c)
	complete(c, "format", export.GaugeFormats)
	return c
}

func (d *shefDecode) run(c *cobra.Command, args []string) (err error) {
	if d.format = formatOf(c, d.format, d.out); d.env.json {
		d.format = "json"
	}
	if !slices.Contains(export.GaugeFormats(), d.format) {
		return usage(fault.Unknown("--format", d.format, export.GaugeFormats()))
	}
	if d.products && d.format != "table" && d.format != "json" {
		return fault.Misuse("--products", "has the formats table and json", "omit --products, or write --format table")
	}
	if d.format == "parquet" && d.out == "" && !d.products {
		return fault.Misuse("--format parquet", "is binary", "name a file with --out")
	}
	o := shef.PoolOptions{Workers: d.workers}
	if o.Options, err = d.input.read(); err != nil {
		return err
	}
	d.immediate = slices.Contains(args, formats.Stdin)
	texts, err := formats.NewTexts(c.Context(), args, d.env.stdin, d.env.reportError)
	if err != nil {
		return err
	}
	if d.out != "" && filepath.Clean(d.out) == filepath.Clean(d.problems) {
		return fault.Misuse("--problems", "names the file of --out", "name another file")
	}
	inputs := append(slices.Clone(texts.Paths), d.input.shefparm, d.input.stations)
	if err := d.env.mayWrite("--problems", d.problems, inputs); err != nil {
		return err
	}
	switch d.problems {
	case "":
	case "-":
		d.problemLog = d.env.stderr
	default:
		f, createErr := d.env.create("--problems", d.problems, inputs...)
		if createErr != nil {
			return createErr
		}
		b := bufio.NewWriter(f)
		defer func() { err = errors.Join(err, b.Flush(), f.Close()) }()
		d.problemLog = b
	}
	write := func(w io.Writer) error {
		if err := d.decode(c.Context(), w, texts, o); err != nil {
			return err
		}
		return errors.Join(d.summary(), texts.Incomplete())
	}
	switch {
	case d.out == "": // writeTo would buffer the values of a pipe
		return write(d.env.stdout)
	case d.immediate: // the file has each product when it arrives
		f, err := d.env.create("--out", d.out, inputs...)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	return d.env.writeTo("--out", d.out, write, inputs...)
}

// decode writes the values of texts, or the products, to w.
func (d *shefDecode) decode(ctx context.Context, w io.Writer, texts *formats.Texts, o shef.PoolOptions) (err error) {
	if d.products {
		d.listing = bufio.NewWriter(w)
		if d.format != "json" {
			fmt.Fprintln(d.listing, export.ProductHead)
		}
		defer func() { err = errors.Join(err, d.listing.Flush()) }()
	} else {
		if d.values, err = export.NewGauges(w, d.format, d.env.csvCell, d.input.sites); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.values.Close()) }()
	}
	next, stop := iter.Pull2(texts.All())
	defer stop()
	files := func() (shef.File, error) {
		name, text, ok := next()
		if !ok {
			return shef.File{}, io.EOF
		}
		return shef.File{Name: name, Text: text}, nil
	}
	if err := shef.DecodeFiles(ctx, files, o, d.addResult); err != nil {
		return err
	}
	return d.writeProduct()
}

// mayWrite returns an error if the file of an output flag is a folder, an archive, or one of the files that the command
// reads.
func (e *env) mayWrite(flag, out string, inputs []string) error {
	info, err := os.Stat(out)
	if _, folderErr := os.Stat(filepath.Dir(out)); err != nil && folderErr != nil {
		return writeError(flag, out, "cannot be written", folderErr)
	}
	if err != nil { // the file does not exist, or the command writes none
		return nil //nolint:nilerr // the caller creates the file, and reports other errors
	}
	refuse := func(problem string) error {
		return fault.Misuse(flag+" "+fault.Name(out), problem, "name another file")
	}
	if info.IsDir() || e.engines.Recognize(out) != "" {
		return refuse("is a folder or an archive")
	}
	for _, name := range inputs {
		if in, err := os.Stat(name); err == nil && os.SameFile(in, info) {
			return refuse("is one of the files to read")
		}
	}
	return nil
}

// addResult handles the result of a product, or of a portion of a large one.
func (d *shefDecode) addResult(r *shef.Result) error {
	d.total.Add(&r.Account)
	for n, k := range r.Counts {
		d.counts[n] += int64(k)
	}
	if r.Product.Part == 1 {
		d.productCount++
		if err := d.writeProduct(); err != nil {
			return err
		}
		d.product = export.NewProduct(&r.Product)
		d.pending = true
	}
	d.product.Add(r)
	d.excluded += d.input.filter.Apply(&r.Values)
	if d.problemLog != nil {
		name := fault.Name(r.Product.File)
		if r.Product.AWIPS != "" {
			name += ": " + r.Product.AWIPS
		}
		for _, p := range r.Problems {
			if _, err := fmt.Fprintf(d.problemLog, "%s: %s\n", name, p.Error()); err != nil {
				return err
			}
		}
	}
	switch {
	case d.values == nil && r.Product.Last:
		return d.writeProduct()
	case d.values == nil:
		return nil
	}
	err := d.values.Write(r)
	if d.immediate && err == nil {
		err = d.values.Flush()
	}
	return err
}

// writeProduct writes the line of a complete product, with --products.
func (d *shefDecode) writeProduct() error {
	if d.listing == nil || !d.pending {
		return nil
	}
	d.pending = false
	err := d.product.Write(d.listing, d.format == "json")
	if d.immediate && err == nil {
		err = d.listing.Flush()
	}
	return err
}

// summary prints the counts. Lost values, or input without values, make the run incomplete.
func (d *shefDecode) summary() error {
	a := &d.total
	if !a.IsBalanced() {
		return fmt.Errorf("internal error: the counts of values do not add up; please report %+v", *a)
	}
	fmt.Fprintf(d.env.stderr, "%s, %s, %s: %s, %s lost, %s left empty; %s, %s\n",
		run.CountOf(d.productCount, "product"), run.CountOf(a.Messages, "message"), run.CountOf(a.Lines, "line"),
		run.CountOf(a.Values, "value"), run.FormatCount(a.Lost), run.FormatCount(a.Nulls), run.CountOf(a.Errors, "error"), run.CountOf(a.Warnings, "warning"))
	if a.Rescued > 0 {
		fmt.Fprintf(d.env.stderr, "%s can be read only with --lenient\n", run.CountOf(a.Rescued, "value"))
	}
	printExcluded(d.env.stderr, d.excluded)
	for n, k := range d.counts {
		if k > 0 {
			fmt.Fprintf(d.env.stderr, "%8d × %03d %s\n", k, n, shef.Remark(n))
		}
	}
	if d.counts[unknownElement] > 0 && d.input.shefparm == "" {
		fmt.Fprintln(d.env.stderr, "a site's own elements are in its shefparm file: --shefparm FILE")
	}
	var err error
	noValues := d.values != nil && a.Values == int64(d.excluded)
	switch {
	case a.Lost > 0:
		list := fault.Name(d.problems) + " lists the errors"
		switch d.problems {
		case "":
			list = "--problems FILE lists the errors"
		case "-":
			list = "the errors are listed above"
		}
		err = fmt.Errorf("%s could not be decoded; %s", run.CountOf(a.Lost, "value"), list)
	case a.Values+a.Nulls == 0:
		err = errors.New("the input contains no value; check that it is SHEF")
	case noValues && d.excluded > 0:
		err = errors.New("the filters exclude every value; check --station, --pe, --ts, --since, --until and --only-known")
	default:
		return nil
	}
	if noValues {
		err = fmt.Errorf("%w: %w", errNoValues, err)
	}
	return incomplete(err)
}

// unknownElement is the number of the error "the element is not in table 1 of the SHEF manual".
const unknownElement = 62

// shefInput has the flags for reading SHEF and for selecting values.
type shefInput struct {
	now, from, to, shefparm, stations string
	onlyKnown, lenient                bool
	filter                            shef.Filter
	sites                             export.Sites
}

// nowUsage describes the flag --now, without its default.
const nowUsage = "time from which missing years are inferred, e.g. 2024-07-03 or 2024-07-03T12:00:00Z"

// flags adds the flags. A command with a flag --to of its own must define it first (see untilFlag).
func (s *shefInput) flags(c *cobra.Command) {
	f := c.Flags()
	untilFlag(c, &s.to, "latest time of observation to keep")
	f.StringSliceVar(&s.filter.Stations, "station", nil, "patterns of stations to keep, e.g. LCH*,!LCHX1")
	f.StringSliceVar(&s.filter.Elements, "pe", nil, "patterns of physical elements to keep, e.g. HG,P?")
	f.StringSliceVar(&s.filter.Sources, "ts", nil, "patterns of types and sources to keep, e.g. R?,!RZ")
	f.StringVar(&s.from, "since", "", "earliest time of observation to keep, e.g. 2024-07-01")
	f.StringVar(&s.shefparm, "shefparm", "", "shefparm file with the elements and codes of a site")
	f.StringVar(&s.stations, "stations", "", "CSV file of stations: lid,name,lat,lon,zone")
	f.BoolVar(&s.onlyKnown, "only-known", false, "omit stations that --stations does not have")
	formerly(c, "from", "since")
	seldom(c, "only-known", "shefparm", "stations", "ts")
}

// decodeFlags adds the flags that only matter for messages: values from tables have complete times.
func (s *shefInput) decodeFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.now, "now", "", nowUsage+" (default: now)")
	f.BoolVar(&s.lenient, "lenient", false, "continue after a D element that is not in the manual, and set the qualifier Q on later values")
	seldom(c, "lenient", "now")
}

// printExcluded prints how many values the flags of shefInput excluded, if any.
func printExcluded[T int | int64](w io.Writer, values T) {
	if values > 0 {
		fmt.Fprintf(w, "%s excluded by --station, --pe, --ts, --since, --until or --only-known\n",
			english.Plural(int(values), "value was", "values were"))
	}
}

// read reads the files that the flags name, and checks the filters.
func (s *shefInput) read() (o shef.Options, err error) {
	if o.Now, err = parseTime("--now", s.now); err != nil {
		return o, err
	}
	for _, x := range []struct {
		flag, text string
		time       *int64
	}{{"--since", s.from, &s.filter.From}, {"--until", s.to, &s.filter.To}} {
		if x.text == "" {
			continue
		}
		t, err := parseTime(x.flag, x.text)
		if err != nil {
			return o, err
		}
		*x.time = t.Unix()
	}
	if s.onlyKnown && s.stations == "" {
		return o, fault.Misuse("--only-known", "needs --stations", "add --stations FILE, or omit --only-known")
	}
	if s.filter.From != 0 && s.filter.To != 0 && s.filter.To < s.filter.From {
		return o, fault.Misuse("--until "+s.to, "is before --since "+s.from, "exchange them")
	}
	if err := s.filter.Check(); err != nil {
		const cure = "write * for any letters, ? for one letter, [A-C] for one of several"
		return o, usage(&fault.Error{Setting: "--station, --pe or --ts", Problem: "has a pattern that is not valid", Err: err, Cure: cure})
	}
	if s.shefparm != "" {
		o.Tables, err = readTable(s.shefparm, shef.ReadTables)
	}
	if s.stations != "" && err == nil {
		s.sites, err = readTable(s.stations, export.ReadSites)
	}
	o.Lenient = s.lenient
	if s.onlyKnown {
		s.filter.Known = func(id record.ID) bool { _, ok := s.sites[id]; return ok }
	}
	return o, err
}

// readTable reads a file of a site, such as its stations, with read.
func readTable[T any](name string, read func(r io.Reader, file string) (T, error)) (t T, err error) {
	f, err := os.Open(name)
	if err != nil {
		return t, &fault.Error{File: name, Problem: "cannot be read", Err: err, Cure: "check the path and its permissions"}
	}
	t, err = read(f, name)
	return t, errors.Join(err, f.Close())
}

// parseTime parses the time of a flag; "" is the present.
func parseTime(flag, text string) (t time.Time, err error) {
	if text == "" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01-02T15"} {
		if t, err = time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return t, fault.Misuse(flag+" "+text, "is not a time", "write 2024-07-03 or 2024-07-03T12:00:00Z")
}

// untilFlag adds the flag --until. It also adds the former name --to, unless the command has another flag --to.
func untilFlag(c *cobra.Command, value *string, what string) {
	c.Flags().StringVar(value, "until", "", what)
	if c.Flags().Lookup("to") == nil {
		formerly(c, "to", "until")
	}
}
