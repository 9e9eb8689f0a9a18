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

// TestRealPlotSpecs reads the 16 plot_specs that METviewer publishes and 16 older
// ones, and holds what they become, and what of them is not supported, against
// a golden file. All become questions.
func TestRealPlotSpecs(t *testing.T) {
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
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
	asked := 0
	for _, file := range files {
		spec, err := metviewer.ReadPlotSpec(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		fmt.Fprintf(&b, "%s\n", filepath.Base(file))
		if describe(&b, spec) > 0 {
			asked++
		}
	}
	if len(files) != 32 || asked != 32 {
		t.Errorf("%d files, %d of them become questions; want 32 and 32", len(files), asked)
	}
	golden(t, "real_plots.golden", b.String())
}

// describe writes the questions of a spec and the notes on it.
func describe(b *strings.Builder, spec *metviewer.PlotSpec) int {
	qs, notes := FromPlots(spec)
	for _, q := range qs {
		d := q.Drawing
		fmt.Fprintf(b, "  question %s: %s %s by %s, %s", q.Name, q.Type.Name, strings.Join(d.Stats, " "), d.Axis, d.Method)
		if d.Replicates > 0 {
			fmt.Fprintf(b, ", %d replicates", d.Replicates)
		}
		if d.EventEqual {
			b.WriteString(", event equalized")
		}
		curves := 1
		for _, g := range d.Curves {
			curves *= len(g.Values)
		}
		fmt.Fprintf(b, ", %d curves, %d leads", curves, len(q.Lead))
		if d.Picture != "" {
			fmt.Fprintf(b, ", as %s", d.Picture)
		}
		for f, values := range q.Header {
			if len(values) > 0 {
				fmt.Fprintf(b, ", %d %s", len(values), record.Field(f))
			}
		}
		if !q.Clock.All() {
			fmt.Fprintf(b, ", clock: %d init times, valid hours %v, init hours %v", len(q.Clock.Init.List), q.Clock.ValidHour, q.Clock.InitHour)
		}
		b.WriteString("\n")
	}
	for _, n := range notes {
		fmt.Fprintf(b, "  note %s\n", n)
	}
	for _, w := range spec.Warnings {
		fmt.Fprintf(b, "  warning %s\n", w)
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
