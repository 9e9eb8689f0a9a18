package main

import (
	"cmp"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "barograph",
		Short: "Choose a database for forecast-verification data: load, prove, measure, recommend.",
		Long: `Barograph loads your own forecast-verification files (NCEP's VSDB, MET's .stat) into the databases that you
compare. It proves that every engine, physical design and flavour (form of a query) returns the same result,
measures them, and recommends one. You can use the loaded archive in production.

Start with:  barograph quickstart

The environment variable BAROGRAPH_ENGINE sets the archive or engine for commands that are given none.`,
		Version:       build.Version(),
		SilenceUsage:  true,
		SilenceErrors: true,

		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			if e.quiet { // warnings and errors remain
				e.stderr, e.terminal = io.Discard, false
			}
			return cmp.Or(checkEmpty(c, args), checkNumbers(c))
		},
	}
	root.PersistentFlags().BoolVar(&e.json, "json", false, "print results and errors as JSON")
	root.PersistentFlags().BoolVarP(&e.verbose, "verbose", "v", false, "log every step to stderr")
	root.PersistentFlags().BoolVarP(&e.quiet, "quiet", "q", false, "print only results and errors")
	root.PersistentFlags().Bool("spreadsheet", false, "")
	deprecate(root, "spreadsheet", "only commands that write CSV accept it")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// If a subcommand is misspelled, its flags are unknown to the parent: report the subcommand, not the flag.
		if args := c.Flags().Args(); c.HasAvailableSubCommands() && len(args) > 0 {
			return c.Args(c, args)
		}
		text := err.Error()
		for _, m := range flagErrors {
			text = m.pattern.ReplaceAllString(text, m.text)
		}
		if near := nearestFlag(c, err); near != "" {
			return usage(errors.New(text + near))
		}
		return usage(fmt.Errorf("%s; see `%s --help`", text, c.CommandPath()))
	})
	root.CompletionOptions.DisableNoDescFlag = true
	parent(root, newQuickstart(e), newSynth(e), newLoad(e), newShow(e), newVerify(e), newCases(e), newAsk(e), newMet(e),
		newGrowth(e), newFaults(e), newYCSB(e), newPost(e), newScan(e), newReport(e), newCompare(e), newMerge(e), newAgent(e),
		newList(e), newLab(e), newDiff(e), newAdopt(e), newShef(e), newServe(e), newColdStart(e), newFrailDisk(),
		newVersion(e), newMan(), newExitStatus())
	group(root)
	addDefaultHelp(root)
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
				unpacked, err := gzip.NewReader(strings.NewReader(licences))
				if err != nil {
					return err
				}
				text, err := io.ReadAll(unpacked)
				if err != nil {
					return err
				}
				return e.print(map[string]string{"licenses": string(text)}, func(w io.Writer) error {
					_, err := w.Write(text)
					return err
				})
			}
			commit, date := build.Commit()
			if e.json {
				return e.printJSON(map[string]string{
					"version": build.Version(), "commit": commit, "date": date,
					"go": runtime.Version(), "system": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			text := "barograph version " + build.Version()
			if commit != "" {
				text += ", commit " + commit + " of " + date
			}
			_, err := fmt.Fprintln(e.stdout, text)
			return err
		},
	}
	cmd.Flags().BoolVar(&legal, "licenses", false, "print NOTICE and the licenses of everything in the program")
	formerly(cmd, "licences", "licenses")
	return cmd
}

// nearestFlag suggests a flag in place of an unknown one.
func nearestFlag(c *cobra.Command, err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	near := fault.Nearest(name, known)
	if slices.Contains([]string{"db", "url", "to", "from", "database"}, name) && c.Flags().Lookup(engineFlag) != nil {
		near = engineFlag // these are former names of the flag, and its names in other programs
	}
	if near != "" {
		return "; did you mean --" + near + "?"
	}
	return ""
}

// asUsage gives errors about arguments exit status 2, and suggests a command in place of an
// unknown one.
func asUsage(c *cobra.Command) {
	c.DisableFlagsInUseLine = true
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if _, explained := errors.AsType[*fault.Error](err); err != nil && !explained && c.HasAvailableSubCommands() {
				return unknownCommand(c, args[0])
			}
			usageErr := rewriteUsageError(c, err)
			if usageErr == err && err != nil { //nolint:errorlint // the same error or another
				return usage(fmt.Errorf("%w; see `%s --help`", err, c.CommandPath()))
			}
			return usageErr
		}
	}
	for _, sub := range c.Commands() {
		asUsage(sub)
	}
}

// unknownCommand is the error of a name that is no subcommand of c.
func unknownCommand(c *cobra.Command, name string) error {
	isShown := func(sub *cobra.Command) bool { return sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() }
	known := append(lists.Map(lists.Filter(c.Commands(), isShown), (*cobra.Command).Name), c.ValidArgs...)
	if !c.HasAvailableSubCommands() {
		return fault.Misuse(c.CommandPath(), "has no command "+fault.Name(name), "see `"+c.CommandPath()+" --help`")
	}
	return usage(fault.Unknown(strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "barograph")+" command"), name, known))
}

// commandName is the name of a command after "barograph": "scan own".
func commandName(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "barograph ") }

// firstUse is the first form of a command's usage.
func firstUse(c *cobra.Command) string {
	use, _, _ := strings.Cut(c.UseLine(), " | ")
	return use
}

// cobraErrors replaces cobra's messages about arguments and flags. Cobra has no types for these errors.
var cobraErrors = []struct { //nolint:gochecknoglobals // a constant table
	pattern    *regexp.Regexp
	join, text string // join = what separates the flags that $1 lists; "" = $1 lists none
}{
	{regexp.MustCompile(`^(?:accepts|requires) (at least 1|1) arg\(s\), (?:only )?received (\d+)$`), "", "takes $1 argument, not $2"},
	{regexp.MustCompile(`^accepts (at most 1) arg\(s\), received (\d+)$`), "", "takes $1 argument, not $2"},
	{regexp.MustCompile(`^accepts between (\d+) and (\d+) arg\(s\), received (\d+)$`), "", "takes $1 or $2 arguments, not $3"},
	{regexp.MustCompile(`^(?:accepts|requires) (at least \d+|\d+) arg\(s\), (?:only )?received (\d+)$`), "", "takes $1 arguments, not $2"},
	{regexp.MustCompile(`^unknown command "(.*)" for ".*"$`), "", "takes no argument; omit $1"},
	{regexp.MustCompile(`^required flag\(s\) (.*) not set$`), " and ", "needs $1"},
	{regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required$`), " or ", "needs $1"},
	{regexp.MustCompile(`^if any flags in the group \[.*\] are set none of the others can be; \[(.*)\] were all set$`), " or ", "takes $1, not both"},
	{regexp.MustCompile(`^if any flags in the group \[.*\] are set they must all be set; missing \[(.*)\]$`), " and ", "also needs $1"},
}

// rewriteUsageError rewrites an error of cobra about arguments or flags, and adds the usage.
func rewriteUsageError(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	for _, m := range cobraErrors {
		found := m.pattern.FindStringSubmatch(err.Error())
		if found == nil {
			continue
		}
		if m.join != "" {
			flags := strings.FieldsFunc(found[1], func(r rune) bool { return strings.ContainsRune(`", `, r) })
			found[1] = "--" + strings.Join(flags, m.join+"--")
		}
		for i, text := range found[1:] {
			m.text = strings.ReplaceAll(m.text, "$"+strconv.Itoa(i+1), text)
		}
		return usage(fmt.Errorf("%s %s; write %s, or see `%s --help`", commandName(c), m.text, firstUse(c), c.CommandPath()))
	}
	return err
}

// parent makes a command that only groups its subcommands: without one it prints its help.
func parent(c *cobra.Command, sub ...*cobra.Command) *cobra.Command {
	c.Use, c.Args, c.RunE = c.Use+" COMMAND", cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(sub...)
	return c
}

// required marks flags that must be given.
func required(c *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := c.MarkFlagRequired(f); err != nil {
			panic(err) // the names are constants: the flag exists
		}
	}
}

// usage, differs and incomplete give an error their exit status.
func usage(err error) error      { return &fault.Status{Code: fault.Usage, Err: err} }
func differs(err error) error    { return &fault.Status{Code: fault.Differs, Err: err} }
func incomplete(err error) error { return &fault.Status{Code: fault.Incomplete, Err: err} }

// withoutOutput returns a copy of e that prints no result.
func (e *env) withoutOutput() *env {
	quiet := *e
	quiet.stdout, quiet.json = io.Discard, false
	return &quiet
}

// printJSON writes one JSON document to stdout.
func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// print writes a result to stdout: as JSON with --json, else by text.
func (e *env) print(v any, text func(w io.Writer) error) error {
	if e.json {
		return e.printJSON(v)
	}
	return text(e.stdout)
}

// licences contains NOTICE and the licenses of all linked modules, compressed. TestLicences writes the file.
//
//go:embed licences.txt.gz
var licences string
