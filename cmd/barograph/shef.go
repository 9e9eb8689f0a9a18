package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"barograph/export"
	"barograph/fault"
	"barograph/formats/shef"

	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"
)

func newShef(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "shef",
		Short: "River data in the Standard Hydrometeorological Exchange Format",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newShefDecode(e))
	return c
}

// shefDecode is a run of `barograph shef decode`.
type shefDecode struct {
	env      *env
	format   string
	out      string
	problems string
	now      string
	products bool
	workers  int

	total   shef.Account
	counts  [128]int64 // of problems, by number
	seen    int        // products
	unread  int        // files that could not be opened
	listing io.Writer  // of products, or nil
	remarks io.Writer  // of problems, or nil
	values  export.Gauges
	product export.Product // its parts so far
	pending bool
}

func newShefDecode(e *env) *cobra.Command {
	d := &shefDecode{env: e}
	c := &cobra.Command{
		Use:   "decode FILES…",
		Short: "Decode SHEF products to a table, CSV, JSON, Parquet or shefit's text",
		Long: `Decode SHEF products: one record for each value, in UTC and English units.

FILES are files, folders (all files in them) or - for standard input; gzip is undone. A file may hold many products.
Dates without a year get the one nearest to --now. Formats: table; csv; json, an object on each line; parquet; shefit,
text form 1 of the National Weather Service's decoder. In all but the last, times are RFC 3339 or, in Parquet, Unix
seconds, a missing value is empty or null, and what was not given is too.

Errors never stop the run. Each has the number of appendix J of the SHEF manual, its file and its line: --problems
writes them to a file, - to stderr. --products lists what each product held instead of its values. A summary goes to stderr.`,
		Example: `  barograph shef decode RR1LCH.txt
  barograph shef decode --format parquet --out values.parquet --problems problems.txt queue/
  barograph shef decode --products --now 2024-07-03 LRL/
  cat feed | barograph shef decode --format shefit -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return d.run(c, args) },
	}
	c.Flags().StringVar(&d.format, "format", "table", "table, csv, json, parquet or shefit")
	c.Flags().StringVar(&d.out, "out", "", "file to write into (default: standard output)")
	c.Flags().StringVar(&d.problems, "problems", "", "file for errors and warnings; - is standard error")
	c.Flags().StringVar(&d.now, "now", "", "moment that decides years, e.g. 2024-07-03 or 2024-07-03T12:00:00Z (default: the present)")
	c.Flags().BoolVar(&d.products, "products", false, "list products with their values, losses and errors, not the values")
	c.Flags().IntVar(&d.workers, "workers", 0, "decoders at work (default: one per CPU)")
	complete(c, "format", export.GaugeFormats)
	return c
}

func (d *shefDecode) run(c *cobra.Command, args []string) (err error) {
	o := shef.PoolOptions{Workers: d.workers}
	if d.now != "" {
		if o.Now, err = moment(d.now); err != nil {
			return usage(&fault.Error{Setting: "--now " + d.now, Problem: "is not a time", Cure: "write 2024-07-03 or 2024-07-03T12:00:00Z"})
		}
	}
	closers, err := d.open()
	defer func() {
		for _, f := range closers {
			err = errors.Join(err, f())
		}
	}()
	if err != nil {
		return err
	}
	paths, err := shefPaths(args)
	if err != nil {
		return err
	}
	if err := shef.DecodeFiles(c.Context(), d.files(c.Context(), paths), o, d.each); err != nil {
		return err
	}
	if err := d.finish(); err != nil {
		return err
	}
	return d.summary()
}

// files opens one file after the other. One that cannot be opened is told of and
// makes the run incomplete.
func (d *shefDecode) files(ctx context.Context, paths []string) func() (shef.File, error) {
	var file io.Closer
	return func() (shef.File, error) {
		for {
			if file != nil {
				if err := file.Close(); err != nil {
					return shef.File{}, err
				}
				file = nil
			}
			if len(paths) == 0 {
				return shef.File{}, io.EOF
			}
			path := paths[0]
			paths = paths[1:]
			text, closer, err := d.env.openText(ctx, path)
			file = closer
			if err == nil {
				return shef.File{Name: path, Text: text}, nil
			}
			d.unread++
			fmt.Fprintln(d.env.stderr, err)
		}
	}
}

// open makes the outputs; the caller calls what it returns, in order.
func (d *shefDecode) open() (closers []func() error, err error) {
	if d.env.json {
		d.format = "json"
	}
	w := d.env.stdout
	if d.out != "" {
		f, err := os.Create(d.out)
		if err != nil {
			return nil, err
		}
		closers = append(closers, f.Close)
		w = f
	} else if d.format == "parquet" && !d.products {
		return nil, usage(&fault.Error{Setting: "--format parquet", Problem: "is binary", Cure: "name a file with --out"})
	}
	switch d.problems {
	case "":
	case "-":
		d.remarks = d.env.stderr
	default:
		f, err := os.Create(d.problems)
		if err != nil {
			return closers, err
		}
		b := bufio.NewWriter(f)
		d.remarks = b
		closers = append(closers, b.Flush, f.Close)
	}
	if d.products {
		b := bufio.NewWriter(w)
		d.listing = b
		if !d.env.json {
			fmt.Fprintln(b, export.ProductHead)
		}
		return append([]func() error{b.Flush}, closers...), nil
	}
	if d.values, err = export.NewGauges(w, d.format, d.env.cell); err != nil {
		return closers, err
	}
	return append([]func() error{d.values.Close}, closers...), nil
}

// shefPaths makes folders into their files.
func shefPaths(args []string) (paths []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if arg == "-" || err == nil && !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		if err != nil {
			return nil, &fault.Error{File: arg, Problem: "cannot be read", Err: err, Cure: "name SHEF files or folders, or - for standard input"}
		}
		err = filepath.WalkDir(arg, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// openText opens a file, or standard input, and undoes gzip.
func (e *env) openText(ctx context.Context, path string) (io.Reader, io.Closer, error) {
	r := io.Reader(&heeding{ctx: ctx, r: e.stdin})
	var closer io.Closer
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, nil, err
		}
		r, closer = f, f
	}
	b := bufio.NewReaderSize(r, 64<<10)
	if head, err := b.Peek(2); err == nil && bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, closer, &fault.Error{File: path, Problem: "is damaged gzip", Err: err}
		}
		return z, closer, nil
	}
	return b, closer, nil
}

// heeding reads a stream that may never say anything again, until its context
// ends: a signal ends a decoder that waits for its pipe.
type heeding struct {
	ctx  context.Context //nolint:containedctx // io.Reader has none
	r    io.Reader
	text []byte
}

// Read reads in a goroutine of its own, which is left behind where the context ends.
func (h *heeding) Read(p []byte) (n int, err error) {
	if len(h.text) < len(p) {
		h.text = make([]byte, len(p))
	}
	done := make(chan struct{})
	go func() {
		n, err = h.r.Read(h.text[:len(p)])
		close(done)
	}()
	select {
	case <-done:
		return copy(p, h.text[:n]), err
	case <-h.ctx.Done():
		return 0, context.Cause(h.ctx)
	}
}

func moment(s string) (t time.Time, err error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04", "2006-01-02T15"} {
		if t, err = time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return t, err
}

// each takes the result of a product or of a part of one.
func (d *shefDecode) each(r *shef.Result) error {
	d.total.Add(&r.Account)
	for n, k := range r.Counts {
		d.counts[n] += int64(k)
	}
	if r.Product.Part == 1 {
		d.seen++
		if err := d.finish(); err != nil {
			return err
		}
		d.product = export.NewProduct(&r.Product)
		d.pending = true
	}
	d.product.Add(r)
	if d.remarks != nil {
		name := r.Product.File
		if r.Product.AWIPS != "" {
			name += ": " + r.Product.AWIPS
		}
		for _, p := range r.Problems {
			if _, err := fmt.Fprintf(d.remarks, "%s: %s\n", name, p.Error()); err != nil {
				return err
			}
		}
	}
	if d.values == nil {
		return nil
	}
	return d.values.Write(r)
}

// finish lists the product that is complete.
func (d *shefDecode) finish() error {
	if d.listing == nil || !d.pending {
		return nil
	}
	d.pending = false
	return d.product.Write(d.listing, d.env.json)
}

// summary tells what became of everything; values that were lost make the run
// incomplete.
func (d *shefDecode) summary() error {
	a := &d.total
	if !a.Whole() {
		return fmt.Errorf("the account is not whole, please report it: %+v", *a)
	}
	fmt.Fprintf(d.env.stderr, "%d products, %d messages, %d lines: %d values, %d lost, %d left empty; %d errors, %d warnings\n",
		d.seen, a.Messages, a.Lines, a.Values, a.Lost, a.Nulls, a.Errors, a.Warnings)
	for n, k := range d.counts {
		if k > 0 {
			fmt.Fprintf(d.env.stderr, "%8d × %03d %s\n", k, n, shef.Remark(n))
		}
	}
	if d.unread > 0 {
		return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d files could not be read", d.unread)}
	}
	if a.Lost > 0 {
		return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d values could not be decoded; --problems FILE says which", a.Lost)}
	}
	return nil
}
