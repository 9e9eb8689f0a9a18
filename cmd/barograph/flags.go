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

// complete makes the shell complete a flag with values.
func complete(c *cobra.Command, flag string, values func() []string) {
	completion := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	}
	c.RegisterFlagCompletionFunc(flag, completion) //nolint:errcheck // the flag exists
}

// formerly adds a hidden alias: the name that the flag had one version ago.
func formerly(c *cobra.Command, before, now string) { formerlyIn(c, c.Flags(), before, now) }

// formerlyIn is formerly for any set of flags, such as the persistent ones.
func formerlyIn(c *cobra.Command, flags *pflag.FlagSet, before, now string) {
	f := flags.Lookup(now)
	message := "--" + before + " is now --" + now + "; the next version accepts only --" + now
	alias := flags.VarPF(&deprecated{f.Value, c, flags, now, message}, before, "", "")
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
	flags       *pflag.FlagSet // that contain the replacement; nil = there is none
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

// annotate marks flags with a key, and with values of the key.
func annotate(c *cobra.Command, names []string, key string, values ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, key, values); err != nil {
			panic(err) // the names are constants: the flag exists
		}
	}
}

// seldom moves flags that few users need into the second group of the help.
func seldom(c *cobra.Command, names ...string) { annotate(c, names, "seldom") }

// positive marks flags whose numbers must be greater than 0.
func positive(c *cobra.Command, names ...string) { annotate(c, names, "positive") }

// atMost marks flags whose numbers have a maximum: the plan of a run needs memory in proportion to them.
func atMost(c *cobra.Command, maximum int, names ...string) {
	annotate(c, names, "maximum", strconv.Itoa(maximum))
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
			n, notNumber := strconv.ParseFloat(v, 64) // it does not parse a duration
			infinite := notNumber == nil && (math.IsNaN(n) || math.IsInf(n, 0))
			if isZero := strings.Trim(v, "0s.") == ""; infinite || strings.HasPrefix(v, "-") || isPositive && isZero {
				least := "0 or greater"
				if isPositive {
					least = "greater than 0"
				}
				err = fault.Misuse("--"+f.Name+" "+v, "must be "+least, "")
			}
			if maximum := f.Annotations["maximum"]; maximum != nil {
				if limit, _ := strconv.ParseFloat(maximum[0], 64); n > limit {
					err = fault.Misuse("--"+f.Name+" "+v, "must be at most "+maximum[0], "")
				}
			}
		}
	})
	return err
}
