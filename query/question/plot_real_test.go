package question

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRealPlotSpecs reads the 16 plot_specs that METviewer publishes and 16 older ones. It compares their questions, and
// the notes on what is not supported, with a golden file. All of them become questions.
func TestRealPlotSpecs(t *testing.T) {
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	files, err := filepath.Glob(filepath.Join(root, "met", "metviewer_xml", "*.xml"))
	older, _ := filepath.Glob(filepath.Join(root, "met", "metviewer_xml", "history", "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, older...)
	if len(files) == 0 {
		t.Skip("no METviewer files: set BAROGRAPH_DATA to a folder with met/metviewer_xml")
	}
	var b strings.Builder
	converted := 0
	for _, file := range files {
		spec, err := metviewer.ReadPlotSpec(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		fmt.Fprintf(&b, "%s\n", filepath.Base(file))
		if describe(&b, spec) > 0 {
			converted++
		}
	}
	if len(files) != 32 || converted != 32 {
		t.Errorf("%d files, %d of them become questions; want 32 and 32", len(files), converted)
	}
	golden(t, "real_plots.golden", b.String())
}

// describe writes the questions of a spec and the notes on it. It counts questions that differ only in a fixed value.
func describe(to *strings.Builder, spec *metviewer.PlotSpec) int {
	qs, notes := FromPlots(spec)
	var texts []string
	named, times := map[string]string{}, map[string]int{}
	for _, q := range qs {
		d := q.Drawing
		var b strings.Builder
		fmt.Fprintf(&b, ": %s %s by %s, %s", q.Type.Name, strings.Join(d.Stats, " "), d.Axis, d.Method)
		if d.Replicates > 0 {
			fmt.Fprintf(&b, ", %d replicates", d.Replicates)
		}
		if d.EventEqual {
			b.WriteString(", event equalized")
		}
		if n := len(d.Ticks); n > 0 {
			fmt.Fprintf(&b, ", %d ticks (%s %q …)", n, d.Ticks[0].Value, d.Ticks[0].Label)
		}
		curves := 1
		for _, g := range d.Curves {
			curves *= len(g.Values)
		}
		fmt.Fprintf(&b, ", %d curves, %d leads", curves, len(q.Lead))
		if d.Picture != "" {
			fmt.Fprintf(&b, ", as %s", d.Picture)
		}
		for f, values := range q.Header {
			if len(values) > 0 {
				fmt.Fprintf(&b, ", %d %s", len(values), record.Field(f))
			}
		}
		if !q.TimeFilter.AcceptsAll() {
			fmt.Fprintf(&b, ", clock: %d init times, valid hours %v, init hours %v", len(q.TimeFilter.Init.List), q.TimeFilter.ValidHour, q.TimeFilter.InitHour)
		}
		if times[b.String()]++; times[b.String()] == 1 {
			named[b.String()] = q.Name
			texts = append(texts, b.String())
		}
	}
	for _, text := range texts {
		fmt.Fprintf(to, "  question %s%s", named[text], text)
		if n := times[text]; n > 1 {
			fmt.Fprintf(to, ", and %d more", n-1)
		}
		to.WriteString("\n")
	}
	for _, n := range notes {
		fmt.Fprintf(to, "  note %s\n", n)
	}
	for _, w := range spec.Warnings {
		fmt.Fprintf(to, "  warning %s\n", w)
	}
	return len(qs)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs (rewrite with -update):\n%s", path, got)
	}
}
