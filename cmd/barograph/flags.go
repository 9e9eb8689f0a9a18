package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/internal/fault"
)

func complete(c *cobra.Command, flag string, values func() []string) {
	c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag exists
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

// formerly adds a hidden alias: the name that the flag had one version ago.
func formerly(c *cobra.Command, before, now string) { formerlyIn(c, c.Flags(), before, now) }

func formerlyIn(c *cobra.Command, flags *pflag.FlagSet, before, now string) {
	f := flags.Lookup(now)
	alias := flags.VarPF(&deprecated{f.Value, c, flags, now, "--" + before + " is now --" + now + "; the next version accepts only --" + now}, before, "", "")
	alias.Hidden, alias.NoOptDefVal = true, f.NoOptDefVal
}

// deprecate hides a flag that the next version removes; instead names its replacement.
func deprecate(c *cobra.Command, name, instead string) {
	f := c.Flag(name)
	f.Hidden, f.Value = true, &deprecated{f.Value, c, nil, "", "the next version removes --" + name + ": " + instead}
}

// deprecated is the value of a flag that the next version removes.
type deprecated struct {
	pflag.Value
	command     *cobra.Command
	flags       *pflag.FlagSet // that contain the flag now; nil = there is no replacement
	replacement string         // name of the replacement
	message     string
}

// Set prints the message to standard error; cobra prints its own to standard output.
func (d *deprecated) Set(text string) error {
	fmt.Fprintln(d.command.ErrOrStderr(), d.message)
	if d.flags == nil {
		return d.Value.Set(text)
	}
	return d.flags.Set(d.replacement, text)
}

// values returns the values of a flag: those of a list, or one.
func values(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		all := list.GetSlice()
		for i, v := range all {
			if strings.HasPrefix(f.Value.Type(), "float") { // GetSlice writes six decimals
				all[i] = strings.TrimRight(strings.TrimRight(v, "0"), ".")
			}
		}
		return all
	}
	return []string{f.Value.String()}
}

// setValues replaces the value of a flag, which may be a list.
func setValues(f *pflag.Flag, all []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(all)
	}
	return f.Value.Set(all[0])
}

// positive marks flags whose numbers are 1 or more.
func positive(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, "positive", nil); err != nil {
			panic(err) // the names are constants: the flag exists
		}
	}
}

// atMost marks flags whose numbers have a maximum, because plans take memory.
func atMost(c *cobra.Command, maximum int, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, "most", []string{strconv.Itoa(maximum)}); err != nil {
			panic(err) // the names are constants: the flag exists
		}
	}
}

// checkNumbers refuses numbers that are negative, infinite or NaN, zero for flags marked by
// positive, and numbers above the limit of atMost.
func checkNumbers(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		_, isPositive := f.Annotations["positive"]
		if kind := f.Value.Type(); !strings.HasPrefix(kind, "int") && !strings.HasPrefix(kind, "float") && kind != "duration" {
			return
		}
		for _, v := range values(f) {
			n, notNumber := strconv.ParseFloat(v, 64)
			if notNumber == nil && (math.IsNaN(n) || math.IsInf(n, 0)) || strings.HasPrefix(v, "-") || isPositive && strings.Trim(v, "0s.") == "" {
				least := map[bool]string{true: "greater than 0", false: "0 or greater"}[isPositive]
				err = usage(&fault.Error{Setting: fmt.Sprintf("--%s %s", f.Name, v), Problem: "must be a number " + least})
			}
			if maximum := f.Annotations["most"]; maximum != nil {
				n, notNumber := strconv.Atoi(v)
				if limit, _ := strconv.Atoi(maximum[0]); notNumber == nil && n > limit {
					err = usage(&fault.Error{Setting: fmt.Sprintf("--%s %s", f.Name, v), Problem: "must be at most " + maximum[0]})
				}
			}
		}
	})
	return err
}
