package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/run"
)

// This file has checks of command lines: each finds a mistake that would have an effect that the user does not expect.

// checkEmpty refuses empty arguments and values of flags, because most of them come from a variable that is not set.
func checkEmpty(c *cobra.Command, args []string) (err error) {
	if c.Hidden { // another process of Barograph wrote the command line
		return nil
	}
	if slices.Contains(args, "") {
		return usage(fmt.Errorf("%s has an empty argument; write a value, or omit it", commandName(c)))
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		if all := values(f); len(all) == 0 || slices.Contains(all, "") {
			err = fault.Misuse("--"+f.Name, "has an empty value", "write a value, or omit it")
		}
	})
	return err
}

// acceptOnce makes a flag refuse a second, different value, if the flag takes one value here. In other commands the
// flag is a list, so users may repeat it.
func acceptOnce(c *cobra.Command, name string) {
	if f := c.Flags().Lookup(name); f.Value.Type() == "string" {
		f.Value = &once{Value: f.Value}
	}
}

// once is the value of a flag that a command line may give once. Like a list it can be replaced.
type once struct {
	pflag.Value
	given bool
}

var _ pflag.SliceValue = &once{}

// Set sets the value, and refuses another one. It accepts the same value again, because cobra reads the command line
// twice to complete a word.
func (o *once) Set(text string) error {
	if o.given && text != o.String() {
		return errors.New("this command takes one, and the command line also has " + o.String() + "; omit one of them")
	}
	o.given = true
	return o.Value.Set(text)
}

// Append sets the value.
func (o *once) Append(text string) error { return o.Set(text) }

// Replace replaces the value by the only element of a list.
func (o *once) Replace(all []string) error { return o.Value.Set(all[0]) }

// GetSlice returns the value.
func (o *once) GetSlice() []string { return []string{o.String()} }

// flagErrors replaces pflag's messages about flags.
var flagErrors = []struct { //nolint:gochecknoglobals // a constant table
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`^unknown shorthand flag: '.' in `), "unknown flag "},
	{regexp.MustCompile(`^unknown flag: `), "unknown flag "},
	{regexp.MustCompile(`^flag needs an argument: (?:'\w' in )?(-\S+)$`), "$1 needs a value"},
	{regexp.MustCompile(invalidValue(``) + `.*$`), "$2 has an empty value; write a value, or omit it"},
	{regexp.MustCompile(invalidValue(`.*?`) + `strconv\.\w+: parsing .*: value out of range$`), "$2 $1 is out of range"},
	{regexp.MustCompile(invalidValue(`.*?`) + `strconv\.ParseBool: .*$`), "$2=$1 is neither true nor false"},
	{regexp.MustCompile(invalidValue(`.*?`) + `strconv\.ParseUint: .*$`), "$2 $1 is not a whole number of 0 or more"},
	{regexp.MustCompile(invalidValue(`.*?`) + `strconv\.(?:ParseInt|Atoi): .*$`), "$2 $1 is not a whole number"},
	{regexp.MustCompile(invalidValue(`.*?`) + `strconv\.ParseFloat: .*$`), "$2 $1 is not a number"},
	{regexp.MustCompile(invalidValue(`.*?`) + `time: .*$`), "$2 $1 is not a time span; write for example 500ms, 30s or 10m"},
	{regexp.MustCompile(invalidValue(`.*?`)), "$2 $1: "},
}

// invalidValue is a pattern of pflag's messages about a value: $1 is the value, $2 the flag.
func invalidValue(value string) string {
	return `^invalid argument "(` + value + `)" for "(?:-\w, )?(--\S+)" flag: `
}

// addDefaultHelp adds the commands help and completion before cobra does. In contrast to those of cobra, they return an
// error for the name of a command or shell that they do not know.
func addDefaultHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			parent(c)
		case "help":
			c.Run = nil
			c.RunE = func(c *cobra.Command, args []string) error {
				about := c.Root()
				for _, name := range args {
					i := slices.IndexFunc(about.Commands(), func(sub *cobra.Command) bool { return sub.Name() == name })
					if i < 0 {
						return unknownCommand(about, name)
					}
					about = about.Commands()[i]
				}
				about.InitDefaultHelpFlag()
				return about.Help()
			}
		}
	}
}

// engineVariable returns the value of BAROGRAPH_ENGINE; "" = it is not set. An error about the value names the variable.
func (e *env) engineVariable() (string, error) {
	raw := os.Getenv(envEngine)
	_, url := engine.SplitName(raw)
	if _, isName := e.engines.Find(url); raw == "" || isName || strings.HasPrefix(url, "lab:") || strings.HasPrefix(url, "@") {
		return raw, nil
	}
	if _, _, err := e.engines.Parse(url); err != nil {
		return "", usage(fmt.Errorf("environment variable %s: %w", envEngine, err))
	}
	return raw, nil
}

// refuseArchives returns an error if one of the arguments is an archive instead of a file. cure returns the cure of
// this error for the URL of the archive.
func (e *env) refuseArchives(args []string, cure func(url string) string) error {
	for _, arg := range args {
		if scheme := e.engines.Recognize(arg); scheme != "" {
			return fault.Misuse(arg, "is an archive, not a file", cure(scheme+":"+arg))
		}
		if _, err := os.Stat(arg); err == nil {
			continue
		}
		if _, _, err := e.engines.Parse(arg); err == nil && strings.Contains(arg, ":") {
			return fault.Misuse(fault.Redact(arg), "is an archive, not a file", cure(fault.Redact(arg)))
		}
	}
	return nil
}

// checkSubset returns an error if an archive with records does not have the subset.
func (p *archiveRef) checkSubset(ctx context.Context, a archive.Archive) error {
	all, err := a.Subsets(ctx)
	if err == nil && len(all) > 0 && !slices.Contains(all, p.subset) {
		err = usage(fault.Unknown("--subset", p.subset, all))
	}
	return err
}

// onlyFiles finds the files of arguments that may not be archives. cure is the cure of the error about an archive.
func (e *env) onlyFiles(args []string, cure string) ([]string, error) {
	if err := e.refuseArchives(args, func(string) string { return cure }); err != nil {
		return nil, err
	}
	return e.expand(args)
}

// checkDrawing refuses a file of --plot that cannot be written, and flags about a picture without --plot.
func (a *askJob) checkDrawing(e *env) error {
	if _, err := plot.FormatOf(a.plot); err != nil {
		return err
	}
	for _, x := range []struct {
		flag  string
		given bool
	}{{"--scorecard", len(a.scorecard) > 0}, {"--picture", a.pictureKind != ""}} {
		if x.given && a.plot == "" {
			return fault.Misuse(x.flag, "needs --plot", "add for example --plot picture.svg, or omit "+x.flag)
		}
	}
	return e.mayWrite("--plot", a.plot, nil)
}

// checkFaultRuns returns an error if --with names a folder that is no run of faults.
func (s *study) checkFaultRuns() error {
	for _, dir := range s.advice.With {
		r, _, err := run.Read(dir)
		if err != nil {
			return err
		}
		if r.Workload != "faults" {
			problem := "is a run of " + r.Workload + ", not of faults"
			return &fault.Error{File: dir, Problem: problem, Cure: "name a folder that barograph faults wrote"}
		}
	}
	return nil
}

// writeError is the error of an output file that cannot be written.
func writeError(flag, out, problem string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return &fault.Error{Setting: flag + " " + fault.Name(out), Problem: problem, Err: err, Cure: "name a file that can be written"}
}

// create creates the file of an output flag, unless mayWrite refuses it.
func (e *env) create(flag, out string, inputs ...string) (*os.File, error) {
	if err := e.mayWrite(flag, out, inputs); err != nil {
		return nil, err
	}
	f, err := os.Create(out)
	if err != nil {
		return nil, writeError(flag, out, "cannot be written", err)
	}
	return f, nil
}
