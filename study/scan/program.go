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

// Target is the engine and the run folder of a scan.
type Target struct {
	Registry engine.Registry
	URL      string  // of the engine
	Labs     string  // folder of the labs and their disks
	Out      string  // run folder
	New      run.Run // description of the run before its start
	Log      *slog.Logger
	Progress func(s string)
}

// Program is a run over several disks: an experiment on an engine, or on
// temporary servers of an engine.
type Program struct {
	Target
	Servers      Servers
	Experiment   Experiment
	Data         string   // folder of generated tables
	Paths        []string // folders, one on each disk; none = where the engine keeps its data
	Disks        string   // AllDisks or a number of the labs' disks, instead of Paths
	MeasureDisks bool
	Queries      []string
	Partitions   []string // "auto", or numbers; none = auto
	Workers      int
	Reps, Cold   int
	Rounds       int
	Seed         uint64

	fixedPartitions int // partitions with which the server was started; 0 = any number is possible
}

// AllDisks is the value of Program.Disks for all disks.
const AllDisks = "all"

// Plan describes the configurations of a program.
type Plan struct {
	Rule       string             `json:"rule"` // that gave the number of partitions; "" = the flags name it
	Placements []tables.Placement `json:"placements"`
	// NoModel is the reason why the configurations cannot give a model and a forecast, with the cure; "" = they may.
	NoModel string `json:"no_law,omitempty"`

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
		fmt.Fprintf(w, "%s, workers: %d\n", ConfigName(&run.ScanConfig{Paths: len(c.Paths), Partitions: c.Partitions}), c.Parallel())
	}
	if p.NoModel != "" {
		fmt.Fprintln(w, p.NoModel)
	}
	return nil
}

// newRun creates the description of a run on an engine, and finds the processes of a server that a lab
// has started.
func (t *Target) newRun(d *engine.Driver, u *url.URL) (*run.Run, []int32) {
	r, s := t.New, lab.Serving([]string{t.Labs}, d, u)
	r.Scan = &run.Scan{}
	r.Archives = []run.Archive{{Engine: d.Scheme, Place: string(d.Place), Product: d.Scheme, Server: s.Server()}}
	return &r, s.PIDs()
}

// describeEngine copies the engine's own description into the run.
func describeEngine(ctx context.Context, all engine.Registry, raw string, db *engine.Engine, result *run.Run) error {
	d, u, err := all.Parse(raw)
	if err != nil {
		return err
	}
	a := &result.Archives[0]
	about, err := db.About(ctx)
	*a = study.Participant(d, u.String(), about, a.Server)
	return err
}

// Plan checks the program and finds its configurations. It opens the engine only if the number of
// partitions was fixed at the start of its server.
func (p *Program) Plan(ctx context.Context) (*Plan, error) {
	if err := p.findPaths(); err != nil {
		return nil, err
	}
	out := &Plan{}
	for _, q := range p.Queries {
		if !slices.Contains(tables.StarQueries(), tables.StarQuery(q)) {
			return nil, &fault.Status{Code: fault.Usage, Err: fault.Unknown("--queries", q, tables.StarQueries())}
		}
		out.queries = append(out.queries, tables.StarQuery(q))
	}
	if err := checkCold(p.Cold, p.Paths); err != nil {
		return nil, err
	}
	if s := &p.Servers; s.Engine != "" {
		s.Registry, s.Log, s.Dir, s.Paths = p.Registry, p.Log, p.Labs, p.Paths
		if err := s.check(); err != nil {
			return nil, err
		}
		out.result, _ = p.newRun(s.driver, &url.URL{})
		s.plan(out.result)
	} else {
		d, u, err := p.Registry.Parse(p.URL)
		if err != nil {
			return nil, &fault.Status{Code: fault.Usage, Err: err}
		}
		if err := hasStar(p.Registry, "--engine ", d); err != nil {
			return nil, err
		}
		if p.fixedPartitions, err = p.startedWith(ctx, d); err != nil {
			return nil, err
		}
		out.result, out.pids = p.newRun(d, u)
		if p.Cold > 0 && d.Server != nil && len(out.pids) == 0 {
			if host := remoteHost(ctx, u); host != "" {
				return nil, fault.Misuse("--cold", "cannot empty the page cache of "+host+", because it is another machine",
					"run barograph on that machine, or omit --cold")
			}
		}
	}
	out.result.Scan.Experiment = string(p.Experiment)
	if err := p.place(out); err != nil {
		return nil, &fault.Status{Code: fault.Usage, Err: err}
	}
	return out, nil
}

// startedWith returns the number of partitions that was fixed at the start of a server; 0 = none.
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

// checkCold refuses cold queries if Barograph cannot empty the page cache.
func checkCold(cold int, paths []string) error {
	if cold > 0 && len(paths) == 0 && os.Geteuid() != 0 {
		return fault.Misuse("--cold", "cannot empty the page cache, because the paths of the files are unknown",
			"name --paths, or run as root")
	}
	return nil
}

// remoteHost returns the first host of a URL that is another machine; "" = all hosts have addresses of this
// machine. The connection reports unknown names later.
func remoteHost(ctx context.Context, u *url.URL) string {
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

// findPaths makes the paths absolute, or reads those of the lab's disks.
func (p *Program) findPaths() (err error) {
	if p.Disks != "" {
		n := 0
		if p.Disks != AllDisks {
			if n, err = strconv.Atoi(p.Disks); err != nil || n < 1 {
				return fault.Misuse("--disks "+p.Disks, "is not a number of disks", "write --disks for all disks, or --disks=6")
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

// wantedPartitions returns Partitions, or its default.
func (p *Program) wantedPartitions() []string {
	if len(p.Partitions) == 0 {
		return []string{"auto"}
	}
	return p.Partitions
}

// place finds the configurations, and the rule for their numbers of partitions.
func (p *Program) place(out *Plan) error {
	var partitions []int
	for _, s := range p.wantedPartitions() {
		n, err := strconv.Atoi(s)
		switch {
		case s == "auto" && p.Experiment != SinglePlacement && p.Experiment != Experiment2:
			continue // the experiment has its own numbers
		case s == "auto":
			paths := len(p.Paths)
			if p.Experiment == Experiment2 {
				paths = min(paths, 1)
			}
			n, out.Rule = AutoPartitions(p.nodes(out.result, paths))
			if p.fixedPartitions > 0 {
				n, out.Rule = p.fixedPartitions, fmt.Sprintf("%d, fixed at the start of the server", p.fixedPartitions)
			}
		case err != nil || n < 1:
			return &fault.Error{
				Setting: "--partitions " + s, Problem: "is not a number of partitions", Cure: "write auto, 8, or 1,2,4,8",
			}
		}
		if !slices.Contains(partitions, n) {
			partitions = append(partitions, n)
		}
	}
	configs, err := Placements(p.Experiment, p.Paths, partitions, p.Workers)
	for _, c := range configs {
		err = errors.Join(err, c.Check())
	}
	if err != nil {
		return err
	}
	out.result.Scan.PartitionRule = out.Rule
	out.Placements, err = p.Servers.withPartitionPerNode(configs)
	out.NoModel = p.whyNoModel(out.Placements)
	return err
}

// whyNoModel returns, before the run, the reason why the configurations cannot determine a model; "" if they may, or
// if the flags describe a single configuration.
func (p *Program) whyNoModel(configs []tables.Placement) string {
	const none = "this run cannot give a model and a forecast: "
	sweep, err := Placements(Sweep, p.Paths, nil, 0)
	better := "; `barograph scan sweep --cold 3` has " + run.CountOf(len(sweep), "configuration")
	if err != nil {
		better = "; `barograph lab disks --count 6` makes more disks"
	}
	disks := map[int]bool{}
	for _, c := range configs {
		disks[len(c.Paths)] = true
	}
	switch {
	case len(configs) == 1 && p.Experiment == SinglePlacement:
		return ""
	case p.Cold == 0:
		return none + "warm queries do not read the disks; add --cold 3"
	case len(p.Paths) == 0:
		return none + "the tables are in the engine's own folder; name --paths, one on each disk, or --disks"
	case len(configs) < minPointsCounted:
		return fmt.Sprintf("%sit has %s, and a model needs %d (%d if the processor time is not counted)%s",
			none, run.CountOf(len(configs), "configuration"), minPointsCounted, minPoints, better)
	case len(disks) < 2:
		return none + "all configurations have the same number of disks" + better
	}
	return ""
}

// nodes returns the machines of the engine: this machine, or the nodes of a lab on it, which
// divide the paths among themselves.
func (p *Program) nodes(result *run.Run, paths int) []Node {
	all := []Node{{Cores: result.Machine.UsableCPUs, Memory: result.Machine.Memory, Paths: paths}}
	if s := result.Archives[0].Server; s != nil && s.Nodes > 0 {
		all = slices.Repeat(all, s.Nodes)
		for i := range all {
			all[i].Paths = (paths + s.Nodes - 1 - i) / s.Nodes
			if s.Memory > 0 {
				all[i].Memory = uint64(s.Memory) //nolint:gosec // above 0
			}
		}
	}
	return all
}

// Run runs the program into its run folder, which keeps the measurements made before an interruption or
// an error. measured reports whether the folder has measurements.
func (p *Program) Run(ctx context.Context) (measured bool, err error) {
	plan, err := p.Plan(ctx)
	if err != nil {
		return false, err
	}
	if plan.NoModel != "" {
		p.Progress(plan.NoModel)
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
	about := plan.result.Scan
	about.Scale, about.Generator, about.Rows = manifest.Scale, manifest.Generator, manifest.Rows
	o := Options{
		Files: files, Queries: plan.queries, Configs: plan.Placements, Rounds: p.Rounds, Warm: p.Reps, Cold: p.Cold, Seed: p.Seed,
		ContinueOnError: p.Servers.Engine != "",
	}
	if o.Devices, err = p.describeDisks(ctx, plan.result); err != nil {
		return false, err
	}
	if o.Reference, err = tables.StarAnswers(ctx, files); err != nil {
		return false, err
	}
	into, err := p.folder(plan)
	if err != nil {
		return false, err
	}
	about = into.Run.Scan // Resume keeps that of the interrupted run
	o.Progress = into.StepLogger(p.Progress)
	if p.Servers.Engine != "" {
		err = p.Servers.runScan(ctx, o, into)
	} else {
		err = p.onServer(ctx, plan.pids, o, into)
	}
	into.Run.Warnings = append(into.Run.Warnings, FastReadWarnings(&into.Run, into.Samples())...)
	about.Models = FitModels(&into.Run, into.Samples())
	if p.URL != "" && errors.Is(err, engine.ErrUnreachable) && ctx.Err() == nil {
		return p.closeResumable(into, err)
	}
	return p.closeFolder(ctx, into, err)
}

// closeResumable closes the folder of a run whose engine failed. It sets no end time, so that the same
// command resumes the run.
func (p *Program) closeResumable(into *run.Folder, err error) (measured bool, _ error) {
	cure := "resume with the same command and --out " + p.Out
	if into.Run.Archives[0].Place == string(engine.Remote) {
		cure = "start the server again, and " + cure
	}
	err = &fault.Error{File: p.Out, Problem: "is incomplete", Err: err, Cure: cure}
	return len(into.Samples()) > 0, errors.Join(err, into.Close())
}

// folder creates the run folder, or resumes the same run that was interrupted in it. It keeps complete
// rounds of configurations, and repeats the measurements of incomplete ones.
func (p *Program) folder(plan *Plan) (*run.Folder, error) {
	result := plan.result
	old, _, err := run.Read(p.Out)
	if err == nil && old.Workload == run.ScanWorkload && old.Finished.IsZero() {
		refuse := func(problem string) error {
			return &fault.Error{File: p.Out, Problem: problem, Cure: "name another folder"}
		}
		equal := func(c run.ScanConfig, p tables.Placement) bool {
			return c.Paths == len(p.Paths) && c.Partitions == p.Partitions && c.Workers == p.Parallel()
		}
		switch before, now := old.Scan, result.Scan; {
		case before.Scale != now.Scale || before.Generator != now.Generator || !maps.Equal(before.Rows, now.Rows):
			return nil, refuse("contains an interrupted run with other tables")
		case len(before.Disks) != len(now.Disks):
			return nil, refuse("contains an interrupted run with other paths")
		case run.SameCommand(old.Args, result.Args) && len(before.Configs) > 0 && !slices.EqualFunc(before.Configs, plan.Placements, equal):
			return nil, refuse("contains an interrupted run with other configurations, " +
				"of another version or of a machine with other cores or memory")
		}
	}
	return run.Resume(p.Out, *result, false, func(s *run.Sample) bool {
		reps := p.Reps
		if s.Phase == run.Cold {
			reps = p.Cold
		}
		return s.Rep <= reps*old.Scan.Configs[old.ConfigIndex(s.Cell)].Rounds
	}, p.Progress)
}

// onServer runs the program on the engine of the URL.
func (p *Program) onServer(ctx context.Context, pids []int32, o Options, into *run.Folder) error {
	db, err := p.Registry.Open(ctx, p.URL, engine.Options{Log: p.Log})
	if err != nil {
		return err
	}
	if err := describeEngine(ctx, p.Registry, p.URL, db, &into.Run); err != nil {
		return errors.Join(err, db.Close())
	}
	open := OpenEngine(tables.DatabasesOf(db).Star, append(pids, db.Processes...))
	return errors.Join(Run(ctx, open, o, into), db.Close())
}

// hasStar refuses an engine that cannot load the star.
func hasStar(all engine.Registry, flag string, d *engine.Driver) error {
	if tables.Offers(d, tables.StarOverDisks) {
		return nil
	}
	can := all.SchemesWhere(func(d *engine.Driver) bool { return tables.Offers(d, tables.StarOverDisks) })
	return fault.Misuse(flag+d.Scheme, "cannot load the star of TPC-DS", "choose one of "+strings.Join(can, ", "))
}

// closeFolder closes the run folder. An interrupted run gets no end time.
func (t *Target) closeFolder(ctx context.Context, into *run.Folder, err error) (measured bool, _ error) {
	if ctx.Err() == nil {
		into.Run.Finished = time.Now().UTC()
	}
	return len(into.Samples())+FailedConfigs(into.Run.Scan) > 0, errors.Join(err, into.Close())
}

// describeDisks describes the disks of the paths in the run, and returns their devices.
func (p *Program) describeDisks(ctx context.Context, result *run.Run) ([]string, error) {
	for _, path := range p.Paths {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
	}
	devices, err := measure.Devices(ctx, p.Paths)
	if err != nil {
		return nil, err
	}
	rates := newRateMeter(p.Progress, len(p.Paths), measure.ReadRate)
	out, limited := result.Scan, 0
	for i, path := range p.Paths {
		d := run.ScanDisk{Path: path, Device: devices[i], Type: measure.ReadMachine(ctx, path).Disk.Type}
		throttled, ok := lab.DiskOf(path)
		if ok {
			limited++
			d.Limit, d.Rate = throttled.Limits.ReadMBps*1e6, throttled.Measured.ReadMBps*1e6
			d.RateMethod = "measured by barograph lab disks; limits: " + throttled.Limits.String()
			if d.Rate == 0 {
				d.RateMethod = "not " + d.RateMethod
			}
		}
		if p.MeasureDisks {
			if d.Rate, d.RateMethod, err = rates.read(ctx, path); err != nil {
				return nil, err
			}
		}
		out.Disks = append(out.Disks, d)
	}
	warnings, err := RemeasureRates(out.Disks, func(path string) (float64, string, error) {
		p.Progress("measuring " + path + " again: its rate contradicts the other disks")
		return newRateMeter(p.Progress, 1, measure.ReadRate).read(ctx, path)
	})
	if err != nil {
		return nil, err
	}
	result.Warnings = append(result.Warnings, warnings...)
	switch {
	case limited == 0:
		out.DiskLimits = "plain folders without speed limits"
	case limited == len(p.Paths):
		out.DiskLimits = "all paths are on throttled disks of the lab"
	default:
		const mixed = "%d of %d paths are on throttled disks of the lab; the others are plain folders without speed limits"
		out.DiskLimits = fmt.Sprintf(mixed, limited, len(p.Paths))
	}
	return devices, nil
}
