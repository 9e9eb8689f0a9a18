package main

import (
	"context"
	"errors"
	"slices"
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
	c.Flags().StringVar(&p.design, "design", "", "physical design: "+strings.Join(designNames(), ", ")+" (default: that of the archive, or the engine's first)")
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
	d, u, err := e.engines.Parse(p.url)
	if err == nil {
		err = e.engines.KeepsArchives(d)
	}
	if err != nil {
		return nil, usage(err)
	}
	if name := design.Name(p.design); name != "" && d.Offers[name] == nil {
		return nil, fault.NotOffered("--design", name, d.Designs(), d.Scheme)
	}
	o.Log = e.log()
	db, err := e.engines.Open(ctx, p.url, o)
	if err != nil {
		return nil, notHeld(holderFile(d, u), err)
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
