package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/export"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
)

// spreadsheet adds the flag of commands that write CSV.
func (e *env) spreadsheet(c *cobra.Command) {
	c.Flags().BoolVar(&e.escapeFormulas, "spreadsheet", false, "in CSV, put an apostrophe before texts that a spreadsheet would run as formulas")
	seldom(c, "spreadsheet")
}

// csvCell returns a text as the content of a CSV cell.
func (e *env) csvCell(text string) string {
	if e.escapeFormulas {
		return export.Spreadsheet(text)
	}
	return text
}

// formatOf returns the output format: the value of --format. Without the flag the extension of --out decides, or the
// default of --format.
func formatOf(c *cobra.Command, format, out string) string {
	ext := strings.TrimPrefix(filepath.Ext(out), ".")
	if !c.Flags().Changed("format") && slices.Contains([]string{"csv", "json", "parquet"}, ext) {
		return ext
	}
	return format
}

// writeAnswer writes rows in a format; out is "" for stdout.
func (e *env) writeAnswer(out, format string, a *answer.Answer) error {
	if e.json {
		format = "json"
	}
	if format == "parquet" && out == "" {
		return fault.Misuse("--format parquet", "is binary", "name a file with --out")
	}
	return e.writeTo("--out", out, func(w io.Writer) error { return export.Answer(w, format, a, e.csvCell) })
}

// writeCurves writes statistics: as tables, as JSON with all details, or as rows in another format.
func (e *env) writeCurves(out, format string, all []*run.VerificationPlot) error {
	if !e.json && format != "table" && format != "json" {
		return e.writeAnswer(out, format, curve.Rows(all))
	}
	return e.writeTo("--out", out, func(w io.Writer) error {
		switch {
		case !e.json && format == "table":
			for _, c := range all {
				if err := curve.Text(w, c); err != nil {
					return err
				}
			}
			return nil
		case len(all) == 1:
			return (&env{stdout: w}).printJSON(all[0])
		}
		return (&env{stdout: w}).printJSON(all)
	})
}

// console is stderr. While progress bars are drawn, other lines scroll above them.
type console struct {
	io.Writer
	mu   sync.Mutex
	bars io.Writer // nil = none are drawn
}

// setBars starts to write lines above progress bars; nil = the bars are gone.
func (c *console) setBars(bars io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bars = bars
}

func (c *console) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bars != nil {
		if n, err := c.bars.Write(p); err == nil {
			return n, nil
		}
	}
	return c.Writer.Write(p)
}

// progress shows the steps of a command: on a terminal a bar for the current step, and a line at the end of each step.
type progress struct {
	env         *env
	bars        *mpb.Progress
	bar         *mpb.Bar
	step        string
	started     time.Time
	previousEnd time.Time // end of the previous step
}

func newProgress(e *env) *progress { return &progress{env: e, previousEnd: time.Now()} }

// update shows the progress of a step. done and total are in bytes if bytes is set.
func (p *progress) update(step string, done, total int64, bytes bool) {
	if step != p.step {
		p.stop()
		p.step, p.started = step, time.Now()
		if p.env.terminal {
			p.draw(step, bytes)
		}
	}
	if p.bar != nil {
		p.bar.SetTotal(total, false)
		p.bar.SetCurrent(done)
	}
}

// draw starts a bar without a total, which update sets later. A bar that starts with a total ends only at the total,
// but a step may end earlier, for example if the load skips files.
func (p *progress) draw(step string, bytes bool) {
	p.bars = mpb.New(mpb.WithOutput(p.env.console.Writer), mpb.WithWidth(40), mpb.WithRefreshRate(120*time.Millisecond))
	right := []decor.Decorator{decor.CountersNoUnit("%d / %d"), decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO)}
	if bytes {
		right = []decor.Decorator{
			decor.CountersKiloByte("% .1f / % .1f"), decor.Name("  "), decor.AverageSpeed(decor.SizeB1000(0), "% .1f"),
			decor.Name("  "), decor.AverageETA(decor.ET_STYLE_GO),
		}
	}
	p.env.console.setBars(p.bars)
	left := decor.Name(fmt.Sprintf("%-34s", step))
	p.bar = p.bars.AddBar(0, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(left), mpb.AppendDecorators(right...))
}

// finish prints the line of a step, with its time since the first update of this step. For a step without an update the
// time runs from the end of the previous step.
func (p *progress) finish(step, note string) {
	p.stop()
	if step != p.step {
		p.started = p.previousEnd
	}
	p.step, p.previousEnd = "", time.Now()
	fmt.Fprintf(p.env.stderr, "%-34s %6.2f s  %s\n", step, time.Since(p.started).Seconds(), note)
}

// stop removes the bar. It is also called after an error.
func (p *progress) stop() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.env.console.setBars(nil)
		p.bars.Wait()
		p.bar, p.bars = nil, nil
	}
}
