package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure"
)

// place names an archive on the command line: --engine URL --design D --subset S.
type place struct {
	url, design, subset string
}

// defaultSubset is the name of the data set where none is given.
const defaultSubset = "archive"

func (p *place) flags(c *cobra.Command, e *env, former, help string) {
	c.Flags().StringVar(&p.url, engineFlag, "", help+": an engine's URL, e.g. duckdb:archive.db, or the name of one that a lab runs")
	e.enginesNamed(c, former)
	c.Flags().StringVar(&p.design, "design", "", "physical design: "+strings.Join(designNames(), ", ")+" (default: that of the archive, or the engine's first)")
	c.Flags().StringVar(&p.subset, "subset", defaultSubset, "name of the copy of the data set inside the archive")
	complete(c, "design", designNames)
}

func complete(c *cobra.Command, flag string, values func() []string) {
	c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag exists
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

// formerly keeps the name that a flag had one version before, and hides it.
func formerly(c *cobra.Command, before, now string) {
	f := c.Flags().Lookup(now)
	c.Flags().Var(&formerName{f.Value, c, before, now}, before, f.Usage)
	c.Flags().MarkHidden(before) //nolint:errcheck // the flag exists
}

// formerName is a flag under the name that it had one version before.
type formerName struct {
	pflag.Value
	c           *cobra.Command
	before, now string
}

// Set reports the new name on standard error; what cobra prints of a deprecated flag goes
// to standard output.
func (f *formerName) Set(text string) error {
	fmt.Fprintf(f.c.ErrOrStderr(), "--%s is now --%s; the next version has --%s only\n", f.before, f.now, f.now)
	return f.Value.Set(text)
}

func designNames() []string { return words(design.Names()) }

// opened is an archive, and the engine that it is kept by.
type opened struct {
	engine.Archive
	db     *engine.Engine
	driver *engine.Driver
}

// Close closes both.
func (o *opened) Close() error { return errors.Join(o.Archive.Close(), o.db.Close()) }

// keeper opens an engine that keeps archives, and offers the design, if one is
// named; the caller closes it.
func (e *env) keeper(ctx context.Context, url string, name design.Name, o engine.Options) (*engine.Driver, *engine.Engine, error) {
	d, u, err := e.engines.Parse(url)
	if err == nil {
		err = e.engines.KeepsArchives(d)
	}
	if err != nil {
		return nil, nil, usage(err)
	}
	if name != "" && d.Offers[name] == nil {
		return nil, nil, fault.NotOffered("--design", name, d.Designs(), d.Scheme)
	}
	o.Log = e.log()
	if path := engine.Path(u); d.Place == engine.Embedded && path != "" && path[0] != ':' {
		if disk := measure.ReadDisk(ctx, path); disk.Shared() {
			e.says(fmt.Sprintf("warning: %s is on a network file system (%s at %s), where locks may not keep two hosts from writing at once: keep the archive on a local disk, or open it on one host only",
				fault.Name(path), disk.Type, disk.Mount))
		}
	}
	db, err := e.engines.Open(ctx, url, o)
	if err != nil {
		return nil, nil, notHeld(engine.LoadingFile(d, u), err)
	}
	return d, db, nil
}

// open opens the archive; the caller closes it.
func (p *place) open(ctx context.Context, e *env, o engine.Options) (*opened, error) {
	d, db, err := e.keeper(ctx, p.url, design.Name(p.design), o)
	if err != nil {
		return nil, err
	}
	if err := p.choose(ctx, d, db, o.ReadOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a, err := db.Archives.Open(ctx, design.Name(p.design))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &opened{a, db, d}, nil
}

// choose takes, where no design was named, the only one under which the archive
// holds the subset, or else anything; of an empty archive the engine's first. A
// design that was named is made by a load, and must be there for a question.
func (p *place) choose(ctx context.Context, d *engine.Driver, db *engine.Engine, asked bool) error {
	var mine, held []design.Name
	for _, n := range d.Designs() {
		a, err := db.Archives.Open(ctx, n)
		if err != nil {
			continue // nothing was loaded under it
		}
		subsets, _ := a.Subsets(ctx) // an error is told where the archive is used
		if len(subsets) > 0 {
			held = append(held, n)
		}
		if slices.Contains(subsets, p.subset) {
			mine = append(mine, n)
		}
		_ = a.Close() // only asked
	}
	if len(mine) > 0 {
		held = mine
	}
	switch {
	case p.design == "" && len(held) > 1:
		return fault.Misuse(fault.Redact(p.url), "holds records under several designs", "name one: --design "+join(held))
	case p.design == "":
		p.design = string(append(held, d.Designs()[0])[0])
	case asked && len(held) > 0 && !slices.Contains(held, design.Name(p.design)):
		return fault.Misuse("--design "+p.design, "holds no record of subset "+p.subset, "name a design that does: "+join(held))
	}
	return nil
}

// engineFlag is the flag that names engines, in every command. Its former
// names are understood and not shown.
const engineFlag = "engine"

// enginesNamed makes a flag the command's --engine: completed, with its former
// names, and a server's bare name stands for the lab's.
func (e *env) enginesNamed(c *cobra.Command, former ...string) {
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if slices.Contains(former, name) {
			name = engineFlag
		}
		return pflag.NormalizedName(name)
	})
	complete(c, engineFlag, func() []string {
		var urls []string
		for _, d := range e.engines {
			urls = append(urls, d.Example+"\t"+d.Summary)
		}
		return urls
	})
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if err := e.findServers(c.Flags()); err != nil {
			return usage(err)
		}
		if check != nil {
			return check(c, args)
		}
		return nil
	}
}

// findServers puts the URLs of labs in place of the names of their engines.
func (e *env) findServers(flags *pflag.FlagSet) error {
	f := flags.Lookup(engineFlag)
	labs := []string{engine.LabDir()}
	if dir := flags.Lookup("lab-dir"); dir != nil {
		labs = values(dir)
	}
	var urls []string
	for _, raw := range values(f) {
		u, err := e.serverOf(raw, labs)
		if err != nil {
			return err
		}
		urls = append(urls, u)
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.Replace(urls)
	}
	return f.Value.Set(urls[0])
}

// values are those of a flag, which may be a list.
func values(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		all := list.GetSlice()
		for i, v := range all {
			if strings.HasPrefix(f.Value.Type(), "float") { // which the list has with six decimals
				all[i] = strings.TrimRight(strings.TrimRight(v, "0"), ".")
			}
		}
		return all
	}
	return []string{f.Value.String()}
}

// serverOf is the URL that is meant by one, or by the bare name of an engine
// with a server, which a lab may run.
func (e *env) serverOf(raw string, labs []string) (string, error) {
	name, url := engine.SplitName(raw)
	scheme, inLab := strings.CutPrefix(url, "lab:")
	d, ok := e.engines.Find(scheme)
	if !ok || d.Place != engine.Remote {
		return raw, nil
	}
	if name != "" {
		name += "="
	}
	for _, dir := range labs {
		if s, err := lab.Status(filepath.Join(dir, d.Scheme)); err == nil && s.Running() {
			return name + s.URL, nil
		}
	}
	if inLab { // there may be one that does not run
		return raw, nil
	}
	cure := "name a server's URL, such as " + d.Example
	if d.Server != nil {
		cure += ", or start one: barograph lab up " + d.Scheme
	}
	return "", &fault.Error{Setting: "--engine " + raw, Problem: "names no server, and none of a lab runs", Cure: cure}
}

// positive marks flags whose numbers are 1 or more.
func positive(c *cobra.Command, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, "positive", nil); err != nil {
			panic(err) // there is such a flag
		}
	}
}

// atMost marks flags whose numbers have an end: what is planned takes memory.
func atMost(c *cobra.Command, most int, names ...string) {
	for _, name := range names {
		if err := c.Flags().SetAnnotation(name, "most", []string{strconv.Itoa(most)}); err != nil {
			panic(err) // there is such a flag
		}
	}
}

// checkNumbers refuses numbers that mean nothing: below 0 and without end
// everywhere, 0 where the flag is positive.
func checkNumbers(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		_, above := f.Annotations["positive"]
		if kind := f.Value.Type(); !strings.HasPrefix(kind, "int") && !strings.HasPrefix(kind, "float") && kind != "duration" {
			return
		}
		for _, v := range values(f) {
			n, wrong := strconv.ParseFloat(v, 64)
			if wrong == nil && (math.IsNaN(n) || math.IsInf(n, 0)) || strings.HasPrefix(v, "-") || above && strings.Trim(v, "0s.") == "" {
				least := map[bool]string{true: "more than 0", false: "0 or more"}[above]
				err = usage(&fault.Error{Setting: fmt.Sprintf("--%s %s", f.Name, v), Problem: "is no number that can be meant", Cure: "write " + least})
			}
			if most := f.Annotations["most"]; most != nil {
				n, wrong := strconv.Atoi(v)
				if limit, _ := strconv.Atoi(most[0]); wrong == nil && n > limit {
					err = usage(&fault.Error{Setting: fmt.Sprintf("--%s %s", f.Name, v), Problem: "is more than " + most[0], Cure: "write less"})
				}
			}
		}
	})
	return err
}
