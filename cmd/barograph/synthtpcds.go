package main

import (
	"fmt"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/lab"
	generate "github.com/barograph/barograph/synth/tpcds"

	"github.com/spf13/cobra"
)

// generatorDuckDB names the generator that this program contains; the other is
// lab.TPCGenName.
const generatorDuckDB = "duckdb"

func newSynthTPCDS(e *env) *cobra.Command {
	var o generate.Options
	var out, generator string
	c := &cobra.Command{
		Use:   "tpcds --sf SCALE --out DIR",
		Short: "Make the star of TPC-DS's query 3: store_sales, date_dim, item",
		Long: `Make store_sales, date_dim and item of TPC-DS as Parquet files and, with --documents, as one collection of JSON lines in
which each row names its table (table_name), for engines of documents. A scale factor always gives the same rows, in however
many files. Scale factor 1 has 2,880,404 sales.

  duckdb   dsdgen in the port that DuckDB keeps, which this program contains: nothing is fetched, and small scales such as
           0.01 can be made, so it is the default. Its items and days are those of the TPC's kit, its sales are not
  tpcgen   tpcgen-cli, whose rows are those of the TPC's kit: published answers hold for them. Whole scale factors only;
           barograph lab install --yes tpcgen fetches it (6 MB)`,
		Example: `  barograph synth tpcds --sf 1 --out tpcds
  barograph synth tpcds --sf 1 --generator tpcgen --out kit
  barograph synth tpcds --sf 10 --files 48 --documents --out tpcds10`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch generator {
			case generatorDuckDB:
			case lab.TPCGenName:
				var err error
				if o.Program, err = lab.TPCGenProgram(); err != nil {
					return err
				}
			default:
				return usage(fault.Unknown("--generator", generator, []string{generatorDuckDB, lab.TPCGenName}))
			}
			bar := newProgress(e)
			defer bar.stop()
			began := time.Now()
			o.Progress = func(step string, done, total int) { bar.at(step, int64(done), int64(total), false) }
			m, err := generate.Generate(c.Context(), out, o)
			if err != nil {
				return err
			}
			return e.madeTables(out, m, time.Since(began))
		},
	}
	c.Flags().StringVar(&out, "out", "", "folder to write into (required)")
	c.Flags().Float64Var(&o.Scale, "sf", 1, "scale factor")
	c.Flags().IntVar(&o.Files, "files", 0, "files of store_sales (default: 4 for each unit of the scale factor)")
	c.Flags().BoolVar(&o.Documents, "documents", false, "write the collection of documents, too")
	c.Flags().StringVar(&generator, "generator", generatorDuckDB, generatorDuckDB+" or "+lab.TPCGenName+": whose rows")
	c.MarkFlagRequired("out") //nolint:errcheck // the flag exists
	complete(c, "generator", func() []string { return []string{generatorDuckDB, lab.TPCGenName} })
	return c
}

// madeTables says what was made.
func (e *env) madeTables(out string, m *tpcds.Manifest, took time.Duration) error {
	bytes := map[bool]int64{}
	for _, files := range m.Parquet {
		for _, f := range files {
			bytes[false] += f.Bytes
		}
	}
	for _, f := range m.Documents {
		bytes[true] += f.Bytes
	}
	if e.json {
		return e.printJSON(map[string]any{"out": out, "tables": m, "parquet_bytes": bytes[false], "document_bytes": bytes[true], "seconds": took.Seconds()})
	}
	fmt.Fprintf(e.stdout, "%s: %d sales, %d days, %d items; %.1f MB of Parquet, %.1f MB of documents in %.1f s, by %s\n", out,
		m.Rows[tpcds.StoreSales], m.Rows[tpcds.DateDim], m.Rows[tpcds.Item], float64(bytes[false])/1e6, float64(bytes[true])/1e6, took.Seconds(), m.Generator)
	return nil
}
