package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const exitStatuses = `
Exit status: 0 all that was asked is done and every answer is right; 1 failed; 2 the command line is not
understood; 3 an answer differs from the reference; 4 incomplete (lines quarantined, files unreadable, an
archive that does not hold the whole data); 5 an engine is not reached; 130 interrupted.`

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "barograph",
		Short: "Which database for forecast-verification data? Load, prove, measure, draw.",
		Long: `Barograph loads your own forecast-verification files (NCEP's VSDB, MET's .stat) into the databases you are
choosing between, proves that every engine, physical design and way of asking gives the same answer, then measures
them, and draws the result. What it loads is a working archive.

Begin with:  barograph quickstart`,
		Version:       engine.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: func(c *cobra.Command, _ []string) error { return checkNumbers(c) },
	}
	root.PersistentFlags().BoolVar(&e.json, "json", false, "print results as JSON, for machines")
	root.PersistentFlags().BoolVarP(&e.verbose, "verbose", "v", false, "log what is done to stderr")
	root.PersistentFlags().BoolVar(&e.sheets, "spreadsheet", false, "write CSV for spreadsheets: an apostrophe stands before texts that they would take for formulas")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w%s; see `%s --help`", err, nearestFlag(c, err), c.CommandPath()))
	})
	parent(root, newQuickstart(e), newSynth(e), newLoad(e), newShow(e), newVerify(e), newCases(e), newAsk(e), newMet(e), newFaults(e), newYCSB(e), newPost(e), newScan(e), newReport(e), newCompare(e), newMerge(e), newAgent(e), newList(e), newLab(e), newDiff(e), newAdopt(e), newShef(e), newServe(e), newColdStart(e), newFrailDisk(), newVersion(e))
	asUsage(root)
	return root
}

// newVersion is --version as a command.
func newVersion(e *env) *cobra.Command {
	var legal bool
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if legal {
				_, err := io.WriteString(e.stdout, licences)
				return err
			}
			if e.json {
				return e.printJSON(map[string]string{"version": engine.Version(), "go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH})
			}
			_, err := fmt.Fprintln(e.stdout, "barograph version", engine.Version())
			return err
		},
	}
	cmd.Flags().BoolVar(&legal, "licences", false, "print NOTICE and the licences of all that is linked into the program")
	return cmd
}

// nearestFlag asks whether a flag was misspelt.
func nearestFlag(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := fault.Nearest(unknown.GetSpecifiedName(), known); near != "" {
		return "; did you mean --" + near + "?"
	}
	return ""
}

// asUsage makes errors about arguments, too, end in exit status 2, and a
// misspelt command in a question; each help says what statuses mean.
func asUsage(c *cobra.Command) {
	if c.Runnable() {
		c.Long = cmp.Or(c.Long, c.Short) + "\n" + exitStatuses
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if _, told := errors.AsType[*fault.Error](err); err != nil && !told && c.HasAvailableSubCommands() {
				var known []string
				for _, sub := range c.Commands() {
					if sub.IsAvailableCommand() {
						known = append(known, sub.Name())
					}
				}
				return usage(fault.Unknown(c.CommandPath(), args[0], known))
			}
			if err != nil {
				return usage(fmt.Errorf("%w; see `%s --help`", err, c.CommandPath()))
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		asUsage(sub)
	}
}

// parent makes a command one that has others below it, and does nothing itself.
func parent(c *cobra.Command, sub ...*cobra.Command) *cobra.Command {
	c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(sub...)
	return c
}

// required marks flags that must be given.
func required(c *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := c.MarkFlagRequired(f); err != nil {
			panic(err) // there is such a flag
		}
	}
}

func usage(err error) error { return &fault.Status{Code: fault.Usage, Err: err} }

// printJSON writes one JSON document to stdout.
func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// print writes a result to stdout: JSON with --json, else its own text.
func (e *env) print(v any, text func(w io.Writer) error) error {
	if e.json {
		return e.printJSON(v)
	}
	return text(e.stdout)
}

// licences is NOTICE and the licences of what the program is linked from, as
// TestLicences writes them.
//
//go:embed licences.txt
var licences string
