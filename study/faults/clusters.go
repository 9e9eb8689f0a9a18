package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// Clusters is a run: the same kills in a cluster of each engine.
type Clusters struct {
	Options  // of each study; Run sets the fields that depend on the engine
	Registry engine.Registry
	Engines  []string // none = all that offer so many nodes and the profile, and are installed
	Designs  []string // none = the first that each engine offers
	Profile  string   // of the servers; "" = the first of each engine
	Isolate  bool

	drivers   []*engine.Driver // set by Choose
	shortfall load.Shortfall
}

// Run runs the studies and writes the folder, which the caller closes. If a study fails, Run
// continues with the others.
func (c *Clusters) Run(ctx context.Context, folder *run.Folder) error {
	var err, differs error
	c.Reject, c.Add = folder.Reject, folder.Add
	report := c.Progress
	c.Progress = func(kind run.EventKind, text string) {
		_ = folder.AddEvent(run.Event{Kind: kind, Text: text}) // the folder keeps the error
		report(kind, text)
	}
	for _, d := range c.drivers {
		if failed := c.study(ctx, folder, d); failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", d.Scheme, failed))
			folder.Warn("the study of " + d.Scheme + " did not finish: " + failed.Error())
		}
	}
	for _, s := range folder.Samples() {
		if s.Verdict != run.Equal {
			problem := fmt.Errorf("%s, kill during %s: %s", s.Cell.Engine, s.Cell.Value("during"), s.Problem)
			if s.Verdict == run.Wrong {
				differs = errors.Join(differs, &fault.Status{Code: fault.Differs, Err: problem})
			} else {
				err = errors.Join(err, &fault.Status{Code: fault.Incomplete, Err: problem})
			}
		}
	}
	return errors.Join(differs, err, c.shortfall.Incomplete())
}

// Choose finds the engines whose clusters Run starts; it reads no file. It returns the engines of
// the default set that are not installed. The error wraps engine.ErrUnreachable if a named engine
// is not installed, or if none is.
func (c *Clusters) Choose() (skipped []fault.Skip, err error) {
	fits := func(d *engine.Driver) bool {
		return d.Server != nil && slices.Contains(d.Server.Nodes, c.Nodes) && archive.Require(c.Registry, d) == nil
	}
	if len(c.Registry.SchemesWhere(fits)) == 0 {
		return nil, fault.Misuse("--nodes "+strconv.Itoa(c.Nodes), "is a number of nodes that no engine offers",
			"choose one of "+c.numbersOfNodes())
	}
	profilesOf := func(d *engine.Driver) []string {
		return lists.Map(d.Server.Profiles, func(p launch.Profile) string { return p.Name })
	}
	hasProfile := func(d *engine.Driver) bool { return c.Profile == "" || slices.Contains(profilesOf(d), c.Profile) }
	if len(c.Registry.SchemesWhere(func(d *engine.Driver) bool { return fits(d) && hasProfile(d) })) == 0 {
		return nil, fault.Misuse("--profile "+c.Profile, "is not offered by an engine with a cluster of "+strconv.Itoa(c.Nodes)+" nodes",
			"choose one of `barograph lab up --help`")
	}
	names := c.Registry.SchemesWhere(func(d *engine.Driver) bool { return fits(d) && hasProfile(d) && len(c.chosenDesigns(d)) > 0 })
	if len(names) == 0 && len(c.Designs) > 0 {
		return nil, fault.Misuse("--design "+strings.Join(c.Designs, ","),
			"is not offered by an engine with a cluster of "+strconv.Itoa(c.Nodes)+" nodes", "choose one of `barograph list designs`")
	}
	engines, isDefault := c.Engines, len(c.Engines) == 0
	if isDefault {
		engines, skipped = c.Registry.SplitInstalled(names)
	}
	if isDefault && len(engines) == 0 {
		none := fmt.Errorf("no engine with a cluster of %d nodes is installed", c.Nodes)
		return skipped, engine.UnreachableError("engines", none, "install one: barograph lab install "+strings.Join(names, "|"))
	}
	for _, name := range engines {
		d, ok := c.Registry.Find(name)
		if ok && archive.Require(c.Registry, d) != nil {
			return nil, &fault.Status{Code: fault.Usage, Err: archive.Require(c.Registry, d)}
		}
		if !ok || !fits(d) {
			return nil, fault.Misuse("--engine "+name, "does not offer a cluster of "+strconv.Itoa(c.Nodes)+" nodes",
				"choose one of "+strings.Join(names, ", "))
		}
		if !hasProfile(d) {
			return nil, fault.NotOffered("--profile", c.Profile, profilesOf(d), d.Scheme)
		}
		if len(c.chosenDesigns(d)) == 0 {
			return nil, fault.Misuse("--design "+strings.Join(c.Designs, ","), "is not offered by "+d.Scheme,
				"choose one of "+strings.Join(lists.Map(archive.Designs(d), func(n design.Name) string { return string(n) }), ", "))
		}
		if err := d.Require(false); err != nil {
			return nil, err
		}
		c.drivers = append(c.drivers, d)
	}
	return skipped, nil
}

// numbersOfNodes lists the numbers of nodes that the engines with verification archives offer.
func (c *Clusters) numbersOfNodes() string {
	var all []int
	for _, d := range c.Registry {
		if d.Server != nil && archive.Require(c.Registry, &d) == nil {
			all = append(all, d.Server.Nodes...)
		}
	}
	slices.Sort(all)
	return strings.Join(lists.Map(slices.Compact(all), strconv.Itoa), ", ")
}

// study starts a cluster, kills its nodes during loads and queries of each design, and stops it.
func (c *Clusters) study(ctx context.Context, folder *run.Folder, d *engine.Driver) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(engine.LabDir()), "barograph-faults-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // the server's own account must find its folder below
		return err
	}
	o := lab.Options{Dir: filepath.Join(dir, d.Scheme), Nodes: c.Nodes, Profile: c.Profile, Owned: true}
	if c.Isolate {
		o.Isolate = &lab.Isolate{}
	}
	c.Progress(run.StepEvent, fmt.Sprintf("%s: starting %d nodes", d.Scheme, c.Nodes))
	l, err := lab.Up(ctx, d, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Down()) }()
	one := c.Options
	one.Engine, one.Cluster = d.Scheme, l
	one.Open = func(ctx context.Context) (*engine.Engine, error) {
		return c.Registry.Open(ctx, l.URL(), engine.Options{})
	}
	for _, n := range c.chosenDesigns(d) {
		one.Design, one.Flavours = n, uncached(archive.Flavours(d, n))
		got, err := Run(ctx, one)
		one.Reject, c.Reject = nil, nil                       // the first study has reported each line
		if data := &folder.Run.Data; got.Digest.Records > 0 { // 0 if the study ended before it had read the files
			data.Records, data.Quarantined, data.Digest = got.Digest.Records, got.Quarantined, got.Digest.String()
			c.shortfall = got.Shortfall
		}
		folder.Run.Archives = append(folder.Run.Archives, describeCluster(ctx, d, &one, l, err == nil))
		if err != nil {
			return err
		}
	}
	return nil
}

// chosenDesigns returns the designs to study.
func (c *Clusters) chosenDesigns(d *engine.Driver) []design.Name {
	all := archive.Designs(d)
	if len(c.Designs) == 0 {
		return all[:1]
	}
	return slices.DeleteFunc(all, func(n design.Name) bool { return !slices.Contains(c.Designs, string(n)) })
}

// uncached omits the flavour that caches results in the server, because its queries succeed
// without the cluster.
func uncached(all []flavour.Name) []flavour.Name {
	return slices.DeleteFunc(slices.Clone(all), func(f flavour.Name) bool { return f == flavour.CachedSQL })
}

// describeCluster describes the cluster. If it cannot be opened, the description has no version and no settings.
// complete = the study of the design has ended without an error.
func describeCluster(ctx context.Context, d *engine.Driver, o *Options, l *lab.Lab, complete bool) run.Archive {
	s := l.State()
	var about engine.About // stays empty if the cluster cannot be opened
	if e, err := o.Open(ctx); err == nil {
		about, err = e.About(ctx)
		if err != nil {
			about = engine.About{}
		}
		_ = e.Close()
	}
	a := study.Participant(d, l.URL(), about, s.Server())
	a.Design, a.Complete = string(o.Design), complete
	return a
}
