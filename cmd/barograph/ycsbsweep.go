package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"barograph/engine"
	"barograph/workload/ycsb"

	"github.com/spf13/cobra"
)

func newYCSBSweep(e *env) *cobra.Command {
	f := &ycsbFlags{}
	var urls []string
	var threads string
	var load, asCSV bool
	c := &cobra.Command{
		Use:   "sweep --db URL… --threads 1,2,4 -P FILE [-p NAME=VALUE]…",
		Short: "Run a workload with more and more threads, on several engines",
		Long: `Sweep runs the same workload on each engine with each number of threads, and prints throughput and latency of each.
A run whose answers are not right has no numbers. Latency is that of all operations, from when they were due.`,
		Example: `  barograph ycsb sweep --db sqlite:a.db --db pebble:a.pebble --load --threads 1,2,4,8 -P workloada -p operationcount=20000
` + ycsbExit,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			config, err := f.config(c)
			if err != nil {
				return err
			}
			list, err := counts("--threads", threads)
			if err != nil {
				return err
			}
			s := &sweep{env: e, urls: urls, threads: list, load: load, o: ycsb.Options{Layout: engine.Layout(f.layout)}}
			err = s.run(c.Context(), config)
			return f.exit(e, errors.Join(s.print(asCSV), err))
		},
	}
	f.flags(c)
	c.Flags().StringArrayVar(&urls, "db", nil, "URL of an engine; several may be given")
	c.Flags().StringVar(&threads, "threads", "1,2,4,8", "numbers of workers")
	c.Flags().BoolVar(&load, "load", false, "load each engine first")
	c.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	if err := c.MarkFlagRequired("db"); err != nil {
		panic(err) // there is such a flag
	}
	return c
}

// sweep is a grid of runs.
type sweep struct {
	*env
	urls    []string
	threads []int64
	load    bool
	o       ycsb.Options
	cells   []sweepCell
}

// sweepCell is one run. Times are in microseconds; 0 where Wrong is set.
type sweepCell struct {
	Engine     string  `json:"engine"`
	Threads    int64   `json:"threads"`
	Throughput float64 `json:"throughput_ops_s"`
	P50        float64 `json:"p50_us"`
	P95        float64 `json:"p95_us"`
	P99        float64 `json:"p99_us"`
	Max        float64 `json:"max_us"`
	ClientCPU  float64 `json:"client_cpu_us_per_op"` // of an embedded engine with the engine
	Wrong      string  `json:"wrong,omitempty"`
}

// run runs all cells; an engine that fails does not keep the others from it.
func (s *sweep) run(ctx context.Context, c *ycsb.Config) error {
	var first error
	for _, url := range s.urls {
		if err := s.engine(ctx, url, c); err != nil && first == nil {
			first = err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return first
}

func (s *sweep) engine(ctx context.Context, url string, c *ycsb.Config) (err error) {
	d, _, err := s.engines.Parse(url)
	if err != nil {
		return usage(err)
	}
	db, err := s.engines.Open(ctx, url, engine.Options{Log: s.log()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if s.load || d.Place == engine.Memory {
		if err := loadFirst(ctx, db.KV, c, s.o); err != nil {
			return fmt.Errorf("%s: %w", d.Scheme, err)
		}
	}
	for _, n := range s.threads {
		with := *c
		with.Threads = n
		r, err := ycsb.Run(ctx, db.KV, &with, s.o)
		if err == nil {
			err = r.Err()
		}
		cell := sweepCell{Engine: d.Scheme, Threads: n}
		if err != nil {
			cell.Wrong = err.Error()
			s.cells = append(s.cells, cell)
			return fmt.Errorf("%s with %d threads: %w", d.Scheme, n, err)
		}
		micro := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
		p := r.Response().Percentiles()
		cell.Throughput, cell.P50, cell.P95, cell.P99, cell.Max = r.Throughput(), micro(p.P50), micro(p.P95), micro(p.P99), micro(p.Max)
		cell.ClientCPU = micro(r.Client.User+r.Client.System) / float64(max(r.Operations(), 1))
		s.cells = append(s.cells, cell)
		fmt.Fprintf(s.stderr, "%s, %d threads: %.0f operations/s\n", d.Scheme, n, cell.Throughput)
		c = c.Grown(r.Inserted)
	}
	return nil
}

// print prints the table; a cell that is wrong has no numbers.
func (s *sweep) print(asCSV bool) error {
	if s.json {
		return s.printJSON(s.cells)
	}
	head := []string{"engine", "threads", "ops/s", "p50_us", "p95_us", "p99_us", "max_us", "client_cpu_us/op"}
	var rows [][]string
	for _, c := range s.cells {
		row := []string{c.Engine, strconv.FormatInt(c.Threads, 10)}
		for _, x := range []float64{c.Throughput, c.P50, c.P95, c.P99, c.Max, c.ClientCPU} {
			text := strconv.FormatFloat(x, 'f', 1, 64)
			if c.Wrong != "" {
				text = "wrong"
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	if asCSV {
		w := csv.NewWriter(s.stdout)
		if err := w.Write(head); err != nil {
			return err
		}
		return w.WriteAll(rows)
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{head}, rows...) {
		for _, cell := range row {
			fmt.Fprintf(w, "%s\t", cell)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
