package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// statistics returns the statistics to compute. Without --stat they are those of the plot, or the default of the line type.
func (a *askJob) statistics(q *question.Question) ([]string, error) {
	names := a.stats
	if len(names) == 0 {
		names = curve.Stats(q)
	}
	if len(names) == 0 {
		_, err := stat.ByName(q.Type.Name, "")
		flag := "--plot"
		if a.format == metviewerFormat {
			flag = "--format metviewer"
		}
		return nil, usage(fmt.Errorf("%s needs --stat, because %s names no statistic: %w", flag, q.Name, err))
	}
	return names, nil
}

// curves computes the statistics from the rows, collects the pictures and prints the values. part is the name of the
// question in the names of its files; "" = ask answers only one.
func (e *env) curves(ctx context.Context, a *askJob, q *question.Question, rows *answer.Answer, names []string, part string) error {
	var all []*run.VerificationPlot
	var table [][]string                                        // with --format metviewer: its columns and rows
	onePicture := len(a.stats) == 0 && curve.JoinsStatistics(q) // with --stat each statistic gets a picture of its own
	for _, name := range names {
		start := time.Now()
		drawn, err := curve.ComputePoints(q, rows, name, a.seed)
		if err != nil {
			return err
		}
		pointsEnd := time.Now()
		c, err := drawn.WithIntervals(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "%s: statistics in %.1f ms, intervals in %.1f ms\n",
			c.Stat, milliseconds(pointsEnd.Sub(start)), milliseconds(time.Since(pointsEnd)))
		fmt.Fprintf(e.stderr, "%s: %s\n", c.Stat, c.Note)
		all = append(all, c)
		if a.format == metviewerFormat {
			one, err := drawn.Metviewer()
			if err != nil {
				return err
			}
			table = append(table, one[min(len(table), 1):]...) // all have the same columns
		}
		a.omit(c.Omitted)
		if a.plot == "" || onePicture {
			continue
		}
		picturePart := part
		if len(names) > 1 {
			picturePart = strings.TrimPrefix(part+"-"+name, "-")
		}
		a.addPicture(q, c, picturePart)
	}
	if onePicture && a.plot != "" {
		a.addPicture(q, curve.JoinStatistics(all, q), part)
	}
	if table != nil && !e.json {
		return e.writeTo("--out", partFile(a.out, part), func(w io.Writer) error {
			cw := csv.NewWriter(w)
			cw.Comma = '\t'
			return cw.WriteAll(table)
		})
	}
	return e.writeCurves(partFile(a.out, part), a.format, all)
}

// addPicture adds curves as a new picture, unless they belong to the previous one: to its scorecard, or to its right
// axis.
func (a *askJob) addPicture(q *question.Question, c *run.VerificationPlot, part string) {
	if n := len(a.pictures); n > 0 {
		previous, rightAxis := a.pictures[n-1].VerificationPlot, q.Drawing != nil && q.Drawing.RightAxis
		if curve.MergeScorecards(previous, c) || rightAxis && curve.ShareAxis(previous, c) {
			return
		}
	}
	a.pictures = append(a.pictures, plotFile{c, partFile(a.plot, part)})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

func (e *env) draw(c *run.VerificationPlot, file string) error {
	start := time.Now()
	format, err := plot.FormatOf(file)
	if err != nil {
		return err
	}
	picture, err := report.Curves(c, format)
	fmt.Fprintf(e.stderr, "drawn in %.1f ms\n", milliseconds(time.Since(start)))
	return e.writePlot(file, picture, err)
}

// writePlot writes a picture, unless err is the error of drawing it.
func (e *env) writePlot(file string, picture []byte, err error) error {
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, picture, 0o644); err != nil {
		return &fault.Error{File: file, Problem: "cannot be written", Err: err, Cure: "name another file with --plot"}
	}
	fmt.Fprintf(e.stderr, "plot written to %s\n", file)
	return nil
}
