package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// Target is where a scan is asked and where what it measures is kept.
type Target struct {
	Registry engine.Registry
	URL      string  // of the engine
	Labs     string  // folder of the labs and their disks
	Out      string  // run folder
	New      run.Run // what is known before the run begins
	Log      *slog.Logger
	Progress func(s string)
}

// Program is a run over several disks: an experiment on an engine, or on
// throwaway servers of one.
type Program struct {
	Target
	Servers      Servers
	Experiment   Experiment
	Data         string   // folder of generated tables
	Paths        []string // folders, one on each disk; none = where the engine keeps its data
	Disks        string   // AllDisks or a number of the labs' disks, instead of Paths
	MeasureDisks bool
	Queries      []string
	Partitions   []string // "auto", or numbers
	Workers      int
	Reps, Cold   int
	Rounds       int
	Seed         uint64

	settled int // partitions that the server was started with; 0 = it takes any number
}

// AllDisks is the value of Program.Disks that names no number.
const AllDisks = "all"

// Plan is what a program would do.
type Plan struct {
	Rule       string             `json:"rule"` // that led to the numbers of partitions; "" = they were named
	Placements []tables.Placement `json:"placements"`
	NoLaw      string             `json:"no_law,omitempty"` // why no law, and no forecast, can come of them, and what to ask for

	result  *run.Run
	queries []tables.StarQuery
	pids    []int32
}

// Text writes the rule and the configurations.
func (p *Plan) Text(w io.Writer) error {
	if p.Rule != "" {
		fmt.Fprintf(w, "partitions: %s\n", p.Rule)
	}
	for _, c := range p.Placements {
		fmt.Fprintf(w, "%s, workers: %d\n", Words(&run.ScanConfig{Paths: len(c.Paths), Partitions: c.Partitions}), c.Parallel())
	}
	if p.NoLaw != "" {
		fmt.Fprintln(w, p.NoLaw)
	}
	return nil
}

// begin begins a run on an engine, and finds the processes of a server that a
// lab started before.
func (t *Target) begin(d *engine.Driver, u *url.URL) (*run.Run, []int32) {
	r, s := t.New, lab.Serving([]string{t.Labs}, d, u)
	r.Scan = &run.Scan{}
	r.Archives = []run.Archive{{Engine: d.Scheme, Place: string(d.Place), Product: d.Scheme, Server: s.Server()}}
	return &r, s.PIDs()
}

// noteAbout keeps what the engine says of itself.
func noteAbout(ctx context.Context, all engine.Registry, raw string, db *engine.Engine, result *run.Run) error {
	d, u, err := all.Parse(raw)
	if err != nil {
		return err
	}
	a := &result.Archives[0]
	about, err := db.About(ctx)
	*a = study.Participant(d, u.String(), about, a.Server)
	return err
}

// Plan checks the program and finds its configurations; only a server whose start
// settled the partitions is asked for them.
func (p *Program) Plan(ctx context.Context) (*Plan, error) {
	if err := p.findPaths(); err != nil {
		return nil, err
	}
	out := &Plan{}
	for _, q := range p.Queries {
		if !slices.Contains(tables.StarQueries(), tables.StarQuery(q)) {
			return nil, &fault.Status{Code: fault.Usage, Err: fault.Unknown("--query", q, tables.StarQueries())}
		}
		out.queries = append(out.queries, tables.StarQuery(q))
	}
	if err := droppable(p.Cold, p.Paths); err != nil {
		return nil, err
	}
	if s := &p.Servers; s.Engine != "" {
		s.Registry, s.Log, s.Dir, s.Paths = p.Registry, p.Log, p.Labs, p.Paths
		if err := s.check(); err != nil {
			return nil, err
		}
		out.result, _ = p.begin(s.driver, &url.URL{})
		s.plan(out.result)
	} else {
		d, u, err := p.Registry.Parse(p.URL)
		if err != nil {
			return nil, &fault.Status{Code: fault.Usage, Err: err}
		}
		if err := hasStar(p.Registry, "--engine ", d); err != nil {
			return nil, err
		}
		if p.settled, err = p.startedWith(ctx, d); err != nil {
			return nil, err
		}
		out.result, out.pids = p.begin(d, u)
		if p.Cold > 0 && d.Server != nil && len(out.pids) == 0 {
			if host := elsewhere(ctx, u); host != "" {
				return nil, fault.Misuse("--cold", "cannot empty the page cache of "+host+", another machine", "run barograph on it, or leave --cold out: warm answers are timed there as here")
			}
		}
	}
	out.result.Scan.Experiment = string(p.Experiment)
	if err := p.place(out); err != nil {
		return nil, &fault.Status{Code: fault.Usage, Err: err}
	}
	return out, nil
}

// startedWith is the number of partitions of a server whose start settles it.
func (p *Program) startedWith(ctx context.Context, d *engine.Driver) (int, error) {
	if d.Server == nil || !d.Server.SpreadsTables {
		return 0, nil
	}
	db, err := p.Registry.Open(ctx, p.URL, engine.Options{Log: p.Log})
	if err != nil {
		return 0, err
	}
	about, err := db.About(ctx)
	n, _ := strconv.Atoi(about.Settings["partitions"]) // none = any number
	return n, errors.Join(err, db.Close())
}

// droppable refuses cold answers where the page cache cannot be emptied.
func droppable(cold int, paths []string) error {
	if cold > 0 && len(paths) == 0 && os.Geteuid() != 0 {
		return fault.Misuse("--cold", "cannot empty the page cache of files that it does not know", "name their paths, or run as root")
	}
	return nil
}

// elsewhere is the first of a URL's hosts that has none of this machine's addresses;
// "" = all have one. A name that is unknown is reported by whoever connects to it.
func elsewhere(ctx context.Context, u *url.URL) string {
	ours, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for one := range strings.SplitSeq(u.Host, ",") {
		host := (&url.URL{Host: one}).Hostname()
		if host == "" { // a socket of this machine
			continue
		}
		addresses, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		if err == nil && !slices.ContainsFunc(addresses, func(a net.IPAddr) bool {
			return a.IP.IsLoopback() || slices.ContainsFunc(ours, func(our net.Addr) bool {
				n, ok := our.(*net.IPNet)
				return ok && n.IP.Equal(a.IP)
			})
		}) {
			return host
		}
	}
	return ""
}

// findPaths makes the paths absolute, or takes them from the lab's disks.
func (p *Program) findPaths() (err error) {
	if p.Disks != "" {
		n := 0
		if p.Disks != AllDisks {
			if n, err = strconv.Atoi(p.Disks); err != nil || n < 1 {
				return fault.Misuse("--disks "+p.Disks, "is no number of disks", "write --disks for all of them, or --disks=6")
			}
		}
		p.Paths, err = lab.DiskPaths(p.Labs, n)
		return err
	}
	for i, path := range p.Paths {
		if p.Paths[i], err = filepath.Abs(path); err != nil {
			return err
		}
	}
	return nil
}

// place finds the configurations, and the rule that led to them.
func (p *Program) place(out *Plan) error {
	var partitions []int
	for _, s := range p.Partitions {
		if s == "auto" {
			if p.Experiment != One {
				continue // it has its own
			}
			n, why := Auto(p.machines(out.result))
			if p.settled > 0 {
				n, why = p.settled, fmt.Sprintf("%d, with which the server was started", p.settled)
			}
			partitions, out.Rule = append(partitions, n), why
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return &fault.Error{Setting: "--partitions " + s, Problem: "is no number of partitions", Cure: "write auto, 8, or 1,2,4,8"}
		}
		partitions = append(partitions, n)
	}
	configs, err := Placements(p.Experiment, p.Paths, partitions, p.Workers)
	for _, c := range configs {
		err = errors.Join(err, c.Check())
	}
	if err != nil {
		return err
	}
	out.result.Scan.Rule = out.Rule
	out.Placements, err = p.Servers.offered(configs)
	out.NoLaw = p.noLaw(out.Placements)
	return err
}

// noLaw says, before anything is run, why the configurations cannot tell a law; ""
// where they may, or where only one was asked for.
func (p *Program) noLaw(configs []tables.Placement) string {
	const none = "no law and no forecast will come of this run: "
	sweep, err := Placements(Sweep, p.Paths, nil, 0)
	better := fmt.Sprintf("; barograph scan sweep --cold 3 has %d", len(sweep))
	if err != nil {
		better = "; more disks are made by barograph lab disks --count 6"
	}
	disks := map[int]bool{}
	for _, c := range configs {
		disks[len(c.Paths)] = true
	}
	switch {
	case len(configs) == 1 && p.Experiment == One:
		return ""
	case p.Cold == 0:
		return none + "warm answers do not read the disks; add --cold 3"
	case len(p.Paths) == 0:
		return none + "the tables lie where the engine keeps its data; name --paths, one on each disk, or --disks"
	case len(configs) < minCounted:
		return fmt.Sprintf("%sit has %d configurations, and a law takes %d (%d, where the processor time is not counted)%s", none, len(configs), minCounted, minPoints, better)
	case len(disks) < 2:
		return none + "each configuration has as many disks as any other" + better
	}
	return ""
}

// machines are the engine's: this one, or the nodes of a lab on it, which
// divide the paths among themselves.
func (p *Program) machines(result *run.Run) []Node {
	all := []Node{{Cores: result.Machine.UsableCPUs, Memory: result.Machine.Memory, Paths: len(p.Paths)}}
	if s := result.Archives[0].Server; s != nil && s.Nodes > 0 {
		all = slices.Repeat(all, s.Nodes)
		for i := range all {
			all[i].Paths = (len(p.Paths) + s.Nodes - 1 - i) / s.Nodes
			if s.Memory > 0 {
				all[i].Memory = uint64(s.Memory) //nolint:gosec // above 0
			}
		}
	}
	return all
}

// Run runs the program into its folder. What was measured before an
// interruption or an error is kept; some = something was.
func (p *Program) Run(ctx context.Context) (some bool, err error) {
	plan, err := p.Plan(ctx)
	if err != nil {
		return false, err
	}
	if plan.NoLaw != "" {
		p.Progress(plan.NoLaw)
	}
	if p.URL != "" {
		if err := p.Registry.CheckReachable(ctx, engine.Options{Log: p.Log}, p.URL); err != nil {
			return false, err
		}
	}
	files, manifest, err := tables.OpenStarFiles(p.Data)
	if err != nil {
		return false, err
	}
	of := plan.result.Scan
	of.Scale, of.Generator, of.Rows = manifest.Scale, manifest.Generator, manifest.Rows
	o := Options{
		Files: files, Queries: plan.queries, Configs: plan.Placements, Rounds: p.Rounds, Warm: p.Reps, Cold: p.Cold, Seed: p.Seed,
		GoOn: p.Servers.Engine != "",
	}
	if o.Devices, err = p.lookAtDisks(ctx, plan.result); err != nil {
		return false, err
	}
	if o.Reference, err = tables.StarAnswers(ctx, files); err != nil {
		return false, err
	}
	into, err := p.folder(plan.result)
	if err != nil {
		return false, err
	}
	of = into.Run.Scan
	o.Progress = into.LogSteps(p.Progress)
	if p.Servers.Engine != "" {
		err = p.Servers.run(ctx, o, into)
	} else {
		err = p.onServer(ctx, plan.pids, o, into)
	}
	into.Run.Warnings = append(into.Run.Warnings, TooFast(&into.Run, into.Samples())...)
	of.Laws = Laws(&into.Run, into.Samples())
	if p.URL != "" && errors.Is(err, engine.ErrUnreachable) && ctx.Err() == nil {
		return p.brokenOff(into, err)
	}
	return p.ended(ctx, into, err)
}

// brokenOff closes the folder of a run whose server died, and gives it no end, so that
// the same command goes on with it.
func (p *Program) brokenOff(into *run.Folder, err error) (some bool, _ error) {
	err = &fault.Error{File: p.Out, Problem: "is not whole", Err: err, Cure: "start the server again, and go on by the same command with --out " + p.Out}
	return len(into.Samples()) > 0, errors.Join(err, into.Close())
}

// folder begins the run's folder, or goes on with the same run that was
// interrupted in it: rounds of configurations that were timed to their end are
// not repeated, and what was measured in one that was not is measured anew.
func (p *Program) folder(result *run.Run) (*run.Folder, error) {
	old, samples, err := run.Read(p.Out)
	if err != nil { // there is none, or none that can be gone on with: then it is not written over
		return run.Create(p.Out, *result)
	}
	events, err := run.ReadEvents(p.Out)
	if err != nil {
		return nil, err
	}
	refuse := func(problem, cure string) error { return &fault.Error{File: p.Out, Problem: problem, Cure: cure} }
	switch of, is := old.Scan, result.Scan; {
	case run.StateOf(events, time.Now()) == run.Running:
		return nil, refuse("holds a run that goes on", "wait for its end, some seconds longer where it was killed just now; or name another folder")
	case old.Workload != run.ScanWorkload || !old.Finished.IsZero():
		return run.Create(p.Out, *result) // which says that there is one
	case !slices.Equal(old.Args, result.Args):
		return nil, refuse("holds an interrupted run of another command: "+strings.Join(old.Args, " "), "go on with it by the same command, or name another folder")
	case of.Scale != is.Scale || of.Generator != is.Generator || !maps.Equal(of.Rows, is.Rows):
		return nil, refuse("holds an interrupted run over other tables", "name another folder")
	case len(of.Disks) != len(is.Disks):
		return nil, refuse("holds an interrupted run over other paths", "name another folder")
	}
	kept, dropped := 0, 0
	into, err := run.Resume(p.Out, func(s *run.Sample) bool {
		reps := p.Reps
		if s.Phase == run.Cold {
			reps = p.Cold
		}
		if s.Rep > reps*old.Scan.Configs[old.ConfigOf(s.Cell)].Rounds {
			dropped++
			return false
		}
		kept++
		return true
	})
	if err == nil {
		p.Progress(fmt.Sprintf("going on with %s: %d of %d answers are kept, %d of rounds that were broken off are measured anew", p.Out, kept, len(samples), dropped))
	}
	return into, err
}

// onServer runs on the engine that the URL names.
func (p *Program) onServer(ctx context.Context, pids []int32, o Options, into *run.Folder) error {
	db, err := p.Registry.Open(ctx, p.URL, engine.Options{Log: p.Log})
	if err != nil {
		return err
	}
	if err := noteAbout(ctx, p.Registry, p.URL, db, &into.Run); err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(Run(ctx, Opened(tables.DatabasesOf(db).Star, append(pids, db.Processes...)), o, into), db.Close())
}

// hasStar refuses an engine that does not load the star.
func hasStar(all engine.Registry, flag string, d *engine.Driver) error {
	if tables.Offers(d, tables.StarOverDisks) {
		return nil
	}
	can := all.SchemesWhere(func(d *engine.Driver) bool { return tables.Offers(d, tables.StarOverDisks) })
	return fault.Misuse(flag+d.Scheme, "does not load the star of TPC-DS", "choose one of "+strings.Join(can, ", "))
}

// ended closes the run's folder, in which an interrupted run stays without an
// end.
func (t *Target) ended(ctx context.Context, into *run.Folder, err error) (some bool, _ error) {
	if ctx.Err() == nil {
		into.Run.Finished = time.Now().UTC()
	}
	return len(into.Samples())+GivenUp(into.Run.Scan) > 0, errors.Join(err, into.Close())
}

// lookAtDisks tells of the paths what a run keeps, and names their devices.
func (p *Program) lookAtDisks(ctx context.Context, result *run.Run) ([]string, error) {
	for _, path := range p.Paths {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
	}
	devices, err := measure.Devices(ctx, p.Paths)
	if err != nil {
		return nil, err
	}
	of, limited := result.Scan, 0
	for i, path := range p.Paths {
		d := run.ScanDisk{Path: path, Device: devices[i], Type: measure.ReadMachine(ctx, path).Disk.Type}
		throttled, ok := lab.DiskOf(path)
		if ok {
			limited++
			d.Limit, d.Rate = throttled.Limits.ReadMBps*1e6, throttled.Measured.ReadMBps*1e6
			d.How = "measured by barograph lab disks; limits: " + throttled.Limits.String()
		}
		if p.MeasureDisks {
			if d.Rate, d.How, err = measure.ReadRate(path); err != nil {
				return nil, err
			}
		}
		of.Disks = append(of.Disks, d)
	}
	odd, err := Recheck(of.Disks, measure.ReadRate)
	if err != nil {
		return nil, err
	}
	result.Warnings = append(result.Warnings, odd...)
	switch {
	case limited == 0:
		of.Limited = "plain folders: disks were not limited"
	case limited == len(p.Paths):
		of.Limited = "every path lies on a throttled disk of the lab"
	default:
		of.Limited = fmt.Sprintf("%d of %d paths lie on throttled disks of the lab; the others are plain folders, not limited", limited, len(p.Paths))
	}
	return devices, nil
}
