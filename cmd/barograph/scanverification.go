package main

import (
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/workload/scan"

	"github.com/spf13/cobra"
)

func newScanVerification(e *env) *cobra.Command {
	t, v, designs := e.scanTarget(), scan.Verification{}, []string(nil)
	c := &cobra.Command{
		Use:   "verification FILES… --engine URL [--design D,…]",
		Short: "Scan a whole verification archive: the mean ACC by model, variable, level, region and lead",
		Long: `Ask what a die-off page over all years asks: for every model, fcst_var, fcst_lev, vx_mask and fcst_lead of an archive the
number of SAL1L2 records, and the mean of their anomaly correlations. The engine itself computes, groups and averages; it
looks at every record, as the question has no condition. Engines that cannot are refused.

FILES are VSDB and MET files, or folders of them. They are loaded under every design, unless the archive holds them already
(barograph load), and the reference is computed from them alone: every answer is held against it, counts exactly, means to
within what the order of a floating-point sum can change. An archive that holds other files, too, is refused.

The archive lies where the engine keeps its data: it is not spread over paths. Cold answers are asked after the database was
closed, the system's page cache emptied, and the database opened anew; of a server the connection is, and its memory stays.`,
		Example: `  barograph synth vsdb --preset seed --out archive
  barograph scan verification archive --engine duckdb:archive.db --cold 5
  barograph scan verification archive --engine postgres://postgres@127.0.0.1:5432/ --design wide,normalized`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			some, err := t.Verify(c.Context(), v, args, designs)
			return e.scanned(&t, some, err)
		},
	}
	c.Flags().StringVar(&t.URL, engineFlag, "", "URL of the engine (required)")
	c.Flags().StringSliceVar(&designs, "design", nil, "designs (default: all under which the engine computes means)")
	c.Flags().StringVar(&v.Subset, "subset", defaultSubset, "name of the copy of the data set inside the archive")
	c.Flags().IntVar(&v.Warm, "reps", 5, "warm answers under each design")
	c.Flags().IntVar(&v.Cold, "cold", 0, "cold answers under each design")
	c.Flags().Uint64Var(&v.Seed, "seed", 1, "seed of the order")
	c.Flags().StringVar(&t.Out, "out", "", "run folder (default: runs/{time}-scan)")
	c.Flags().StringVar(&t.Labs, "lab-dir", engine.LabDir(), "folder of the labs: a server that one of them started is watched beside the run")
	e.enginesNamed(c, "db")
	c.MarkFlagRequired(engineFlag) //nolint:errcheck // the flag exists
	complete(c, "design", designNames)
	return c
}
