package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"barograph/report"
	"barograph/run"
)

func newReport(e *env) *cobra.Command {
	return &cobra.Command{
		Use:     "report RUN…",
		Short:   "Write report.html of run folders anew, and print their tables",
		Example: "  barograph report runs/20261120-235959-met",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			for _, dir := range args {
				if err := e.report(dir); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// reported is a kind of run folder: how its report is written, what it holds as
// JSON, and its tables as text.
type reported struct {
	is    func(dir string) bool // nil = every folder
	write func(dir string) (path string, err error)
	data  func(dir string) (map[string]any, error)
	text  func(w io.Writer, dir string) error
}

// reports are the kinds of run folders; the first that fits is a folder's.
func reports() []reported {
	return []reported{
		{report.FaultsFolder, report.WriteFaults, killsData, report.FaultsText},
		{report.GrowthFolder, report.WriteGrowth, growthData, report.GrowthText},
		{report.PostFolder, report.WritePosts, postsData, postsText},
		{report.ScanFolder, report.WriteScans, scansData, scansText},
		{nil, report.Write, runData, report.Text},
	}
}

// report writes report.html and prints the tables.
func (e *env) report(dir string) error {
	for _, k := range reports() {
		if k.is == nil || k.is(dir) {
			return e.reportAs(k, dir)
		}
	}
	return nil
}

func (e *env) reportAs(k reported, dir string) error {
	path, err := k.write(dir)
	if err != nil {
		return err
	}
	if e.json {
		data, err := k.data(dir)
		if err != nil {
			return err
		}
		data["report"] = path
		return e.printJSON(data)
	}
	if err := k.text(e.stdout, dir); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "\nreport: %s\n", path)
	return nil
}

func killsData(dir string) (map[string]any, error) {
	_, kills, err := run.Read(dir)
	return map[string]any{"kills": kills}, err
}

func growthData(dir string) (map[string]any, error) {
	sum, err := report.SummariseGrowth(dir)
	return map[string]any{"growth": sum}, err
}

func postsData(dir string) (map[string]any, error) {
	r, err := run.ReadPosts(dir)
	return map[string]any{"run": r}, err
}

func postsText(w io.Writer, dir string) error {
	r, err := run.ReadPosts(dir)
	if err != nil {
		return err
	}
	return report.PostText(w, r)
}

func scansData(dir string) (map[string]any, error) {
	r, err := run.ReadScans(dir)
	return map[string]any{"run": r}, err
}

func scansText(w io.Writer, dir string) error {
	r, err := run.ReadScans(dir)
	if err != nil {
		return err
	}
	return report.ScanText(w, r)
}

func runData(dir string) (map[string]any, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	if r.Workload == run.Mixed {
		return map[string]any{"run": r, "samples": samples}, nil
	}
	return map[string]any{"run": r, "summary": report.Summarise(r, samples)}, nil
}
