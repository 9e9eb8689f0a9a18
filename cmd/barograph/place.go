package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
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

func (p *place) flags(c *cobra.Command, e *env, former string) {
	c.Flags().StringVar(&p.url, engineFlag, "", "archive: a URL such as duckdb:archive.db, or the name of an engine that a lab runs")
	e.enginesNamed(c, former)
	c.Flags().StringVar(&p.design, "design", "", "physical design: "+strings.Join(designNames(), ", ")+" (default: that of the archive, else the engine's first)")
	c.Flags().StringVar(&p.subset, "subset", defaultSubset, "name of the data set in the archive")
	complete(c, "design", designNames)
}

// argument takes the URL of the archive from the first argument, if there are more than
// others, and returns the rest.
func (p *place) argument(c *cobra.Command, e *env, args []string, others int) ([]string, error) {
	if len(args) > others {
		if c.Flags().Changed(engineFlag) {
			return nil, fault.Misuse(args[0], "names a second archive", "omit it, or omit --"+engineFlag)
		}
		p.url, args = args[0], args[1:]
	}
	if p.url == "" {
		if others > 0 && e.isArchive(args[0]) {
			return nil, usage(fmt.Errorf("%s needs a question after the archive; write %s", c.Name(), firstUse(c)))
		}
		return nil, noArchive(c)
	}
	url, err := e.serverOf(p.url, []string{engine.LabDir()})
	if p.url = url; err != nil {
		err = usage(err)
	}
	return args, err
}

// noArchive is the error of a command that is called without an archive.
func noArchive(c *cobra.Command) error {
	return usage(fmt.Errorf("%s needs an archive; write %s, or set %s", strings.TrimPrefix(c.CommandPath(), "barograph "), firstUse(c), envEngine))
}

func designNames() []string { return words(design.Names()) }

// opened is an archive, and the engine that it is kept by.
type opened struct {
	archive.Archive
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
		err = archive.Require(e.engines, d)
	}
	if err != nil {
		return nil, nil, usage(err)
	}
	if name != "" && archive.Flavours(d, name) == nil {
		return nil, nil, fault.NotOffered("--design", name, archive.Designs(d), d.Scheme)
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
		return nil, nil, notHeld(archive.LoadingFile(d, u), err)
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
	a, err := archive.DatabaseOf(db).Open(ctx, design.Name(p.design))
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
	for _, n := range archive.Designs(d) {
		a, err := archive.DatabaseOf(db).Open(ctx, n)
		if err != nil {
			continue // nothing was loaded under it
		}
		subsets, _ := a.Subsets(ctx) // an error is reported where the archive is used
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
		p.design = string(append(held, archive.Designs(d)[0])[0])
	case asked && len(held) > 0 && !slices.Contains(held, design.Name(p.design)):
		return fault.Misuse("--design "+p.design, "holds no record of subset "+p.subset, "name a design that does: "+join(held))
	}
	return nil
}

// engineFlag is the flag that names engines, in every command. Its former
// names are understood and not shown.
const engineFlag = "engine"

// envEngine is the variable that names the archive or engine of a command that names none.
const envEngine = "BAROGRAPH_ENGINE"

// enginesNamed makes a flag the --engine of a command: completed, with its former names. The
// bare name of a server is replaced by the URL of the one that a lab runs.
func (e *env) enginesNamed(c *cobra.Command, former ...string) {
	for _, name := range former {
		formerly(c, name, engineFlag)
	}
	complete(c, engineFlag, func() []string {
		var urls []string
		for _, d := range e.engines {
			urls = append(urls, d.Example+"\t"+d.Summary)
		}
		return urls
	})
	check := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if url := os.Getenv(envEngine); url != "" && defaults(c, args) {
			if err := c.Flags().Set(engineFlag, url); err != nil {
				return usage(err)
			}
		}
		if err := e.findServers(c.Flags()); err != nil {
			return usage(err)
		}
		if check != nil {
			return check(c, args)
		}
		return nil
	}
}

// defaults reports whether the variable names the engine of a command: no flag or argument
// names another source of records.
func defaults(c *cobra.Command, args []string) bool {
	for _, name := range []string{engineFlag, "from", "lab", "spec"} {
		if f := c.Flags().Lookup(name); f != nil && (f.Changed || name == engineFlag && f.DefValue != "" && f.DefValue != "[]") {
			return false
		}
	}
	switch c.Name() {
	case "encode":
		return len(args) == 0 // else the values are those of files
	case "ask":
		return len(args) < 2
	}
	return true
}

// archiveFirst separates the URL of an archive from the arguments that follow it. The
// variable BAROGRAPH_ENGINE names the archive where the first argument is none.
func (e *env) archiveFirst(c *cobra.Command, args []string) (url string, rest []string, err error) {
	if len(args) > 0 && (e.isArchive(args[0]) || e.engines.Recognize(args[0]) != "") {
		return args[0], args[1:], nil
	}
	if url = os.Getenv(envEngine); url != "" {
		return url, args, nil
	}
	if len(args) > 0 { // the engine recognizes a file that is an archive
		return args[0], args[1:], nil
	}
	return "", nil, noArchive(c)
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
		if raw == "" {
			return nil
		}
		u, err := e.serverOf(raw, labs)
		if err != nil {
			return err
		}
		urls = append(urls, u)
	}
	return setValues(f, urls)
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
	return "", &fault.Error{Setting: "--engine " + raw, Problem: "names no running server of a lab", Cure: cure}
}
