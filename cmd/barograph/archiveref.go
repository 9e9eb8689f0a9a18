package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/measure"
)

// archiveRef names an archive on the command line: --engine URL --design D --subset S.
type archiveRef struct {
	url, design, subset string
}

// defaultSubset is the name of the data set where none is given.
const defaultSubset = "archive"

func (p *archiveRef) flags(c *cobra.Command, e *env, former string) {
	f := c.Flags()
	f.StringVar(&p.url, engineFlag, "", "archive: a URL such as duckdb:archive.db, or lab:ENGINE for a server that \"lab up\" started")
	e.prepareEngineFlag(c, former)
	f.StringVar(&p.design, "design", "", "physical design: "+strings.Join(designNames(), ", ")+" (default: the only one that has the subset, else the only one that has records; for a new archive the engine's first)")
	f.StringVar(&p.subset, "subset", defaultSubset, "name of the data set in the archive")
	complete(c, "design", designNames)
}

// takeArchive finds the URL of the archive: the first of args if there are more than further, else that of --engine.
// further is the number of arguments that the command needs besides the archive. takeArchive returns these arguments.
func (p *archiveRef) takeArchive(c *cobra.Command, e *env, args []string, further int) ([]string, error) {
	if len(args) > further {
		if c.Flags().Changed(engineFlag) {
			return nil, fault.Misuse(args[0], "names a second archive", "omit it, or omit --"+engineFlag)
		}
		p.url, args = args[0], args[1:]
	}
	if p.url == "" {
		if further > 0 && e.isArchive(args[0]) {
			return nil, usage(fmt.Errorf("%s needs a question after the archive; write %s", c.Name(), firstUse(c)))
		}
		return nil, noArchive(c)
	}
	var err error
	p.url, err = e.resolveServer(p.url, []string{engine.LabDir()})
	return args, err
}

// noArchive is the error of a command that needs an archive and got none.
func noArchive(c *cobra.Command) error {
	return usage(fmt.Errorf("%s needs an archive; write %s, or set %s", commandName(c), firstUse(c), envEngine))
}

func designNames() []string { return toStrings(design.Names()) }

func flavourNames() []string { return toStrings(flavour.Names()) }

// openArchive is an open archive with its engine.
type openArchive struct {
	archive.Archive
	db     *engine.Engine
	driver *engine.Driver
}

// Close closes the archive and the engine.
func (o *openArchive) Close() error { return errors.Join(o.Archive.Close(), o.db.Close()) }

// openEngine opens an engine that stores archives. An engine that does not offer the named design is
// an error. The caller closes the engine.
func (e *env) openEngine(ctx context.Context, url string, name design.Name, o engine.Options) (*engine.Driver, *engine.Engine, error) {
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
			e.info(fmt.Sprintf("warning: %s is on a network file system (%s at %s). Its locks may let two hosts write at the same time: "+
				"move the archive to a local disk, or open it on one host only", fault.Name(path), disk.Type, disk.Mount))
		}
	}
	db, err := e.engines.Open(ctx, url, o)
	if err != nil {
		return nil, nil, openError(archive.LoadingFile(d, u), err)
	}
	return d, db, nil
}

// open opens the archive; the caller closes it.
func (p *archiveRef) open(ctx context.Context, e *env, o engine.Options) (*openArchive, error) {
	d, db, err := e.openEngine(ctx, p.url, design.Name(p.design), o)
	if err != nil {
		return nil, err
	}
	if err := p.chooseDesign(ctx, d, db, o.ReadOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	a, err := archive.DatabaseOf(db).Open(ctx, design.Name(p.design))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &openArchive{a, db, d}, nil
}

// chooseDesign sets the design if --design names none. It takes the only design that contains the subset. If no design
// contains the subset, it takes the only one with records, or for an empty archive the engine's first. If --design names
// a design, a load creates it, but a query (needsRecords) needs records in it.
func (p *archiveRef) chooseDesign(ctx context.Context, d *engine.Driver, db *engine.Engine, needsRecords bool) error {
	var withSubset, withRecords []design.Name
	for _, n := range archive.Designs(d) {
		a, err := archive.DatabaseOf(db).Open(ctx, n)
		if err != nil {
			continue // the archive has no records in this design
		}
		subsets, _ := a.Subsets(ctx) // the later use of the archive reports an error
		if len(subsets) > 0 {
			withRecords = append(withRecords, n)
		}
		if slices.Contains(subsets, p.subset) {
			withSubset = append(withSubset, n)
		}
		_ = a.Close() // read only
	}
	otherDesign := needsRecords && len(withSubset) > 0 && !slices.Contains(withSubset, design.Name(p.design))
	if len(withSubset) > 0 { // the subset decides between several designs
		withRecords = withSubset
	}
	switch {
	case p.design == "" && len(withRecords) > 1:
		return fault.Misuse(fault.Redact(p.url), "has records in several designs", "name one: --design "+join(withRecords))
	case p.design == "":
		p.design = string(append(withRecords, archive.Designs(d)[0])[0])
	case otherDesign:
		return fault.Misuse("--design "+p.design, "has no record of subset "+p.subset, "name a design that has: "+join(withRecords))
	}
	return nil
}

// engineFlag is the flag that names engines, in every command. Its former names are hidden aliases.
const engineFlag = "engine"

// envEngine is the variable that names the archive or engine of a command that names none.
const envEngine = "BAROGRAPH_ENGINE"

// prepareEngineFlag adds the completion and the former names of the flag --engine to a command that has it. Before
// the command runs, it sets the flag from BAROGRAPH_ENGINE, and replaces the bare name of an engine by the URL of the
// server that a lab runs.
func (e *env) prepareEngineFlag(c *cobra.Command, former ...string) {
	for _, name := range former {
		formerly(c, name, engineFlag)
	}
	complete(c, engineFlag, func() []string {
		return lists.Map(e.engines, func(d engine.Driver) string { return d.Example + "\t" + d.Summary })
	})
	acceptOnce(c, engineFlag)
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if url, err := e.engineVariable(); usesDefaultEngine(c, args) && (url != "" || err != nil) {
			if err := cmp.Or(err, c.Flags().Set(engineFlag, url)); err != nil {
				return usage(err)
			}
		}
		return e.resolveServers(c.Flags())
	}
}

// usesDefaultEngine reports whether BAROGRAPH_ENGINE names the engine of a command, because no flag or
// argument names another source of records.
func usesDefaultEngine(c *cobra.Command, args []string) bool {
	// The default of --engine, if a command has one, takes precedence over the variable.
	for _, name := range []string{engineFlag, "from", "lab", "spec"} {
		if f := c.Flags().Lookup(name); f != nil && (f.Changed || name == engineFlag && f.DefValue != "" && f.DefValue != "[]") {
			return false
		}
	}
	switch c.Name() {
	case "encode", "conflicts":
		return len(args) == 0 // an argument names files or another archive
	case "ask":
		return len(args) < 2
	}
	return true
}

// splitArchive separates the URL of an archive from the arguments that follow it. If the first
// argument is not an archive, the variable BAROGRAPH_ENGINE names it.
func (e *env) splitArchive(c *cobra.Command, args []string) (url string, rest []string, err error) {
	if len(args) > 0 && e.isArchive(args[0]) {
		return args[0], args[1:], nil
	}
	if url, err = e.engineVariable(); url != "" || err != nil {
		return url, args, err
	}
	if len(args) > 0 { // parsing the URL reports a file that is not an archive
		return args[0], args[1:], nil
	}
	return "", nil, noArchive(c)
}

// resolveServers replaces names of engines by the URLs of their lab servers.
func (e *env) resolveServers(flags *pflag.FlagSet) error {
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
		u, err := e.resolveServer(raw, labs)
		if err != nil {
			return err
		}
		urls = append(urls, u)
	}
	return setValues(f, urls)
}

// resolveServer replaces the bare name of an engine, or lab:NAME, by the URL of the server that a lab runs, with the
// parameters of the URL that follow the name. It returns other URLs unchanged.
func (e *env) resolveServer(raw string, labs []string) (string, error) {
	name, url := engine.SplitName(raw)
	scheme, inLab := strings.CutPrefix(url, "lab:")
	scheme, parameters, _ := strings.Cut(scheme, "?")
	d, ok := e.engines.Find(scheme)
	if !ok && inLab {
		return "", usage(fault.Unknown("engine", scheme, e.engines.Servers()))
	}
	if !ok || d.Place != engine.Remote {
		return raw, nil
	}
	if name != "" {
		name += "="
	}
	for _, dir := range labs {
		if s, err := lab.Status(filepath.Join(dir, d.Scheme)); err == nil && s.Running() {
			if parameters != "" {
				parameters = map[bool]string{true: "&", false: "?"}[strings.Contains(s.URL, "?")] + parameters
			}
			return name + s.URL + parameters, nil
		}
	}
	if inLab && slices.Equal(labs, []string{engine.LabDir()}) { // opening lab:ENGINE reports why its server does not run
		return raw, nil
	}
	if inLab {
		return "", &fault.Error{
			Setting: raw, Problem: "no lab in " + strings.Join(labs, ", ") + " runs this server", Err: engine.ErrUnreachable,
			Cure: "start it: barograph lab up " + d.Scheme + " --lab-dir " + labs[0],
		}
	}
	cure := "name a server's URL, such as " + d.Example
	if d.Server != nil {
		cure += ", or start one: barograph lab up " + d.Scheme
	}
	return "", fault.Misuse("--engine "+raw, "names an engine for which no lab runs a server", cure)
}
