package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
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
	c.Flags().StringVar(&p.design, "design", "", "physical design: "+strings.Join(designNames(), ", ")+" (default: the engine's first)")
	c.Flags().StringVar(&p.subset, "subset", defaultSubset, "name of the copy of the data set inside the archive")
	complete(c, "design", designNames)
}

func complete(c *cobra.Command, flag string, values func() []string) {
	c.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { //nolint:errcheck // the flag exists
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
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

// open opens the archive; the caller closes it.
func (p *place) open(ctx context.Context, e *env, o engine.Options) (*opened, error) {
	d, _, err := e.engines.Parse(p.url)
	if err == nil {
		err = e.engines.KeepsArchives(d)
	}
	if err != nil {
		return nil, usage(err)
	}
	if p.design == "" {
		p.design = string(d.Designs()[0])
	}
	name := design.Name(p.design)
	if _, ok := d.Offers[name]; !ok {
		return nil, fault.NotOffered("--design", name, d.Designs(), d.Scheme)
	}
	o.Log = e.log()
	db, err := e.engines.Open(ctx, p.url, o)
	if err != nil {
		return nil, err
	}
	a, err := db.Archives.Open(ctx, name)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &opened{a, db, d}, nil
}

// elsewhere changes to the only other design that holds records of a subset of
// which this one holds none, unless the design was named. It reports whether it did.
func (o *opened) elsewhere(ctx context.Context, p *place, subset string, named bool) (bool, error) {
	holds := func(a engine.Archive) bool {
		c, err := a.Catalog(ctx, subset)
		return err == nil && len(c.Groups) > 0
	}
	if holds(o.Archive) {
		return false, nil
	}
	var others []design.Name
	for _, n := range o.driver.Designs() {
		a, err := o.db.Archives.Open(ctx, n)
		if err != nil {
			continue // nothing was loaded under it
		}
		if holds(a) {
			others = append(others, n)
		}
		_ = a.Close() // only asked
	}
	switch {
	case len(others) == 0:
		return false, nil
	case len(others) > 1 || named:
		return false, fault.Misuse("--design "+p.design, "holds no record of subset "+subset, "name a design that does: "+join(others))
	}
	a, err := o.db.Archives.Open(ctx, others[0])
	if err != nil {
		return false, err
	}
	old := o.Archive
	o.Archive, p.design = a, string(others[0])
	return true, old.Close()
}
