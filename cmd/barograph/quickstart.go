package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/study/synth"

	"github.com/spf13/cobra"
)

func newQuickstart(e *env) *cobra.Command {
	s := &study{cases: []string{"test_1", "test_3", "test_5"}, print: (*report.Report).Brief}
	c := &cobra.Command{
		Use:   "quickstart",
		Short: "Try everything on embedded engines; needs no server and no data",
		Long: `Quickstart makes synthetic VSDB files: the seven cases of NOAA's experiment return as many rows as NOAA recorded, and some
days of a second model are added. It loads the files into every embedded engine that is installed, under every design,
compares the result of every flavour with the reference for three of the cases (a series, a die-off and a profile), times
them, and writes a report. The last example runs all seven.`,
		Example: `  barograph quickstart
  barograph quickstart --out runs/first --reps 30 --share
  barograph met runs/first/data --case noaa`,
		Args: cobra.NoArgs,
	}
	share := shareFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		err := e.quickstart(c.Context(), s) // names the folder
		return e.shareAfter(*share, s.out, err)
	}
	s.flags(c)
	setDefault(c, "reps", strconv.Itoa(quickReps))
	setDefault(c, "warmups", "0")
	c.Flags().Lookup("out").Usage = "run folder (default: runs/{time}-quickstart)"
	c.Flags().Lookup("seed").Usage = "seed of the data, of the order of repetitions and of the bootstrap"
	return c
}

// quickReps is the smallest number of repetitions that can show a difference between 25 to 86 configurations
// (measure.RepsFor). It keeps the quickstart below a minute on two cores.
const quickReps = 7

// setDefault changes the default of a shared flag.
func setDefault(c *cobra.Command, flag, value string) {
	f := c.Flags().Lookup(flag)
	f.DefValue = value
	f.Value.Set(value) //nolint:errcheck // a constant that parses
}

func (e *env) quickstart(ctx context.Context, s *study) error {
	e.nameFolder(&s.out, "quickstart")
	data := filepath.Join(s.out, "data")
	files, err := synth.VSDB{Preset: "quickstart", Seed: s.seed}.Files()
	if err != nil {
		return err
	}
	// quickstart prints the progress of synth, but not its result
	if err := e.withoutOutput().writeSynthetic(ctx, data, files); err != nil {
		return err
	}
	paths, err := formats.Expand([]string{data})
	if err != nil {
		return err
	}
	s.source = fmt.Sprintf("synthetic, preset quickstart, seed %d", s.seed)
	err = e.met(ctx, s, paths)
	if _, statErr := os.Stat(s.out); statErr == nil { // even after an error the folder has measurements
		path, _ := os.Executable() // "" if the system does not know it
		e.info("to explore the run, type: " + programName(path) + " serve " + s.out + " --open")
	}
	return err
}

// programName is the command that starts Barograph from the path of its executable. `go run` executes a file in a temporary
// folder go-build…, or in the build cache, whose folders of executables are named by a hash and -d.
func programName(path string) string {
	if strings.Contains(path, string(filepath.Separator)+"go-build") || cachedExecutable.MatchString(filepath.ToSlash(path)) {
		return "go run ./cmd/barograph"
	}
	return "barograph"
}

var cachedExecutable = regexp.MustCompile(`/[0-9a-f]{64}-d/[^/]*$`)
