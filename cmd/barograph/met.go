package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"

	"github.com/spf13/cobra"
)

// study has the flags of met, growth and quickstart, and the state of the run.
type study struct {
	met.Selection
	cases                        []string
	out, subset, from, mix       string
	subsetNamed                  bool // --subset was given
	reps, warmups, cold, threads int
	copies, clients              []int
	duration                     time.Duration
	rounds                       int
	limit                        time.Duration
	seed                         uint64
	lastLine                     *choice
	advice                       report.Advising
	print                        func(*report.Report, io.Writer) error // prints the report without --json
	source                       string                                // files or archive from which the records come
	labs                         []string                              // folders of labs
	paths                        []string                              // arguments that name the files
	loaded                       bool                                  // at least one archive was loaded
}

func newMet(e *env) *cobra.Command {
	s := &study{}
	c := &cobra.Command{
		Use:   "met FILES… [--engine URL]… | met --from URL [--engine URL]…",
		Short: "Load files into several engines and designs, check each result, time the queries",
		Long: fmt.Sprintf(`Met loads the same files into every engine and design. It compares the contents of each archive and the result of each
query with a reference that it computes from the files without a database. It then times the correct queries
in random order, and reports medians with 95 %% intervals and rank tests with Holm's correction. --cold adds cold starts.
The run folder contains everything needed to repeat and judge the study; its report.html opens offline.
After ^C or a kill, repeat the command with --out RUNFOLDER: it keeps the loads and the timings, and measures the rest.

An engine is a URL (duckdb:archive.db), lab:ENGINE for a server that "lab up" started, or the name of an embedded engine,
whose archive Met then makes in the run folder. NAME=URL sets the name that the report shows.

By default Met asks the first %d questions that "barograph cases FILES" prints. --case names others. --mix takes questions
that users asked and weights them by frequency: METviewer plots, or a query log with METviewer's or METexpress's SQL.

--from URL studies an existing archive: met verifies it, studies it unchanged, and copies it into the engines of --engine.

--clients 1,2,4,8 also runs all cases with that many concurrent clients, checks each result, reports throughput and
latency, and fits the universal scalability law. --subsets 1,2,4,8 repeats the study with that many copies of the
data in each engine. To study a longer series, use "barograph growth".`, met.DerivedCases),
		Example: `  barograph met vsdb_data --engine duckdb --engine sqlite --engine pebble
  barograph met vsdb_data --engine duckdb --design wide --case test_3 --flavour epoch-range
  barograph met --from duckdb:archive.db --engine lab:postgres`,
		Args: func(c *cobra.Command, args []string) error {
			if s.from == "" {
				return cobra.MinimumNArgs(1)(c, args)
			}
			if len(args) > 0 {
				return fault.Misuse("--from", "names the archive to study instead of "+args[0], "omit one of them")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			s.subsetNamed, s.print = c.Flags().Changed("subset"), (*report.Report).Brief
			files, err := e.files(args, "--from")
			if err != nil {
				return err
			}
			s.source, s.paths = strings.Join(args, " "), args
			return e.met(c.Context(), s, files)
		},
	}
	s.flags(c)
	f := c.Flags()
	f.StringArrayVar(&s.Engines, engineFlag, nil, "engine to study: a URL, NAME=URL, "+
		"lab:ENGINE, or the name of an embedded engine (default: BAROGRAPH_ENGINE, else all installed embedded ones; with --from only its archive)")
	f.StringVar(&s.from, "from", "", "URL of the archive to study instead of FILES; name its subset with --subset if it has several")
	s.archiveFlags(c, e, "the data")
	f.StringVar(&s.mix, "mix", "", "questions that users asked, weighted by frequency: a folder of METviewer plots, a list of them, or an SQL query log")
	c.MarkFlagsMutuallyExclusive("case", "mix")
	f.IntSliceVar(&s.copies, "subsets", nil, "numbers of copies of the data in each engine, e.g. 1,2,4,8,16")
	f.IntSliceVar(&s.clients, "clients", nil, "numbers of concurrent clients, e.g. 1,2,4,8,16,32,64")
	f.DurationVar(&s.duration, "duration", met.DefaultDuration, "with --clients: wall time of one measurement")
	f.IntVar(&s.rounds, "rounds", 1, "with --clients: passes over all numbers of clients")
	formerly(c, "askers", "clients")
	formerly(c, "ask-for", "duration")
	formerly(c, "ask-reps", "rounds")
	c.MarkFlagsMutuallyExclusive("from", "subsets")
	seldom(c, "duration", "rounds", "subset")
	atMost(c, 1024, "subsets")
	atMost(c, 4096, "clients")
	positive(c, "subsets", "clients", "duration", "rounds")
	return c
}

// archiveFlags adds the flags that met and growth share. The caller must define --engine first. caseSource is what the
// default questions are derived from.
func (s *study) archiveFlags(c *cobra.Command, e *env, caseSource string) {
	f := c.Flags()
	f.StringSliceVar(&s.Designs, "design", nil, "designs to study (default: all that each engine offers)")
	caseFlag(c, &s.cases, caseSource)
	f.StringSliceVar(&s.Flavours, "flavour", nil, "flavours to use (default: all; see \"barograph list flavours\")")
	f.IntVar(&s.threads, "threads", 0, "threads of an embedded engine (default: chosen by the engine)")
	f.StringArrayVar(&s.labs, "lab-dir", []string{engine.LabDir()}, "folder of \"lab up\"; the run records the settings of its servers; repeat it for several")
	s.Server = func(d *engine.Driver, u *url.URL) *run.Server { return lab.Serving(s.labs, d, u).Server() }
	s.lastLine = lastLine(c)
	e.prepareEngineFlag(c)
	seldom(c, "lab-dir", "last-line", "threads")
	complete(c, "design", designNames)
	complete(c, "flavour", flavourNames)
}

// flags adds the flags that met and quickstart share.
func (s *study) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.out, "out", "", "run folder (default: runs/{time}-met)")
	f.StringVar(&s.subset, "subset", defaultSubset, "name of the data set in each archive")
	f.IntVar(&s.reps, "reps", met.DefaultReps, "timed repetitions of each cell (engine, design, flavour, case)")
	f.IntVar(&s.warmups, "warmups", 1, "untimed repetitions between the proof and the timed ones")
	f.IntVar(&s.cold, "cold", 0, "cold starts of each cell of an embedded engine: a new process, and an empty page cache for the archive's files")
	f.DurationVar(&s.limit, "time-limit", 0, "stop timing after this long, but first complete the repetitions that a rank test needs to find a significant difference")
	f.Uint64Var(&s.seed, "seed", 1, "seed of the order of repetitions and of the bootstrap")
	advising(c, &s.advice)
	positive(c, "reps")
	atMost(c, 100_000, "reps", "warmups", "cold")
	f.BoolVar(&s.ClientOverhead, "client-overhead", true, "also time the dry engine, which returns results from memory, to show the client overhead")
	formerly(c, "floor", "client-overhead")
	seldom(c, "client-overhead", "seed", "warmups", "weigh", "with")
}

// met runs a study, and removes the run folder if nothing was loaded.
func (e *env) met(ctx context.Context, s *study, files []string) error {
	return e.inFolder(&s.out, "met", func() (bool, error) {
		err := e.runStudies(ctx, s, files)
		if s.loaded && ctx.Err() != nil {
			e.info("to resume: the same command with --out " + fault.Name(s.out))
		}
		return s.loaded, err
	})
}

// options returns the options of a study. It also checks that the engines are reachable, and makes the folder of the
// archives.
func (e *env) options(ctx context.Context, s *study, files []string) (o met.Options, err error) {
	s.Folder = filepath.Join(s.out, "archives")
	targets, err := e.targets(ctx, s)
	if err = cmp.Or(err, s.checkFaultRuns()); err != nil {
		return o, err
	}
	urls := lists.Map(targets, func(t met.Target) string { return t.URL })
	if err := e.engines.CheckReachable(ctx, engine.Options{Log: e.log()}, urls...); err != nil {
		return o, err
	}
	e.printSkipped(s.Skipped)
	cases, err := e.findCases(s.cases, true, func() ([]*question.Question, error) {
		if s.from != "" {
			only := ""
			if s.subsetNamed {
				only = s.subset
			}
			return e.casesIn(ctx, s.from, only, s.cases...)
		}
		return e.casesOf(ctx, files, s.lastLine.keeps(), nil, s.cases...)
	})
	if err != nil {
		return o, err
	}
	if err := os.MkdirAll(s.Folder, 0o755); err != nil {
		return o, err
	}
	o = met.Options{
		Registry: e.engines, Targets: targets, FirstIsSource: s.from != "", Cases: cases, Files: files, KeepLast: s.lastLine.keeps(),
		Subset: s.subset, SubsetRequired: s.subsetNamed, Reps: s.reps, Warmups: s.warmups, ColdReps: s.cold, Limit: s.limit,
		Seed: s.seed, Threads: s.threads, Log: e.log(), Clients: s.clients, Duration: s.duration, Rounds: s.rounds,
	}
	for _, f := range s.Flavours {
		o.Flavours = append(o.Flavours, flavour.Name(f))
	}
	if s.mix != "" {
		var notes []string
		if o.Cases, notes, err = question.ReadMix(s.mix); err != nil {
			return o, usage(err)
		}
		e.printNotes(s.mix, notes)
		o.MaxCases = len(o.Cases)
	}
	return o, nil
}

// runStudies runs one study, or one for each number of copies of the data, and prints the report.
func (e *env) runStudies(ctx context.Context, s *study, files []string) error {
	o, err := e.options(ctx, s, files)
	if err != nil {
		return err
	}
	slices.Sort(s.copies)
	var all met.Outcome
	for _, o.Copies = range slices.Compact(s.copies) {
		e.info(fmt.Sprintf("── the data %d× ──", o.Copies))
		outcome, err := e.runStudy(ctx, s, filepath.Join(s.out, "x"+strconv.Itoa(o.Copies)), o)
		if err != nil {
			return err
		}
		all.Add(outcome)
		o.EarlierCopies = o.Copies
	}
	if len(s.copies) == 0 {
		if all, err = e.runStudy(ctx, s, s.out, o); err != nil {
			return err
		}
	}
	if err := e.reportAdvising(s.out, s.advice, s.print); err != nil {
		return err
	}
	clients := s.clientsFolder(s.out)
	if _, err := os.Stat(clients); err == nil && len(s.clients) > 0 && len(s.copies) == 0 { // no folder: no question has rows
		if err := e.report(clients); err != nil {
			return err
		}
	}
	return all.Err()
}

// targets returns the archives of a study. With --from the first one is the source of the records.
func (e *env) targets(ctx context.Context, s *study) ([]met.Target, error) {
	if s.from == "" {
		return s.Targets(e.engines)
	}
	source, err := e.sourceOf(ctx, s)
	if err != nil {
		return nil, err
	}
	s.subset, s.source = source.Subset, fault.Redact(s.from)+", subset "+source.Subset
	if len(s.Engines) == 0 {
		if !s.ClientOverhead {
			return []met.Target{source}, nil
		}
		s.Engines = []string{"dry"}
	}
	others, err := s.Targets(e.engines)
	others = lists.Filter(others, func(t met.Target) bool { return t.String() != source.String() })
	return append([]met.Target{source}, others...), err
}

// sourceOf finds the subset of --from, and one of the designs that contain it.
func (e *env) sourceOf(ctx context.Context, s *study) (t met.Target, err error) {
	designs := map[string]design.Name{}
	err = e.eachSubset(ctx, s.from, "", engine.Options{ReadOnly: true}, func(n design.Name, a archive.Archive, subset string) error {
		c, err := a.Catalog(ctx, subset)
		if _, first := designs[subset]; !first && err == nil && len(c.Groups) > 0 && (!s.subsetNamed || subset == s.subset) {
			designs[subset] = n
		}
		return err
	})
	if err != nil {
		return t, err
	}
	subsets := slices.Sorted(maps.Keys(designs))
	if len(subsets) != 1 {
		return t, fault.Misuse("--from "+fault.Redact(s.from), "has records in "+run.CountOf(len(subsets), "matching subset"),
			"name one: --subset "+cmp.Or(strings.Join(subsets, ", "), "S; see `barograph show`"))
	}
	url, err := e.resolveServer(s.from, s.labs)
	if err != nil {
		return t, err
	}
	one := met.Selection{Engines: []string{url}, Designs: []string{string(designs[subsets[0]])}, Server: s.Server}
	targets, err := one.Targets(e.engines)
	if err == nil {
		t = targets[0]
		t.Subset = subsets[0]
	}
	return t, err
}

// runStudy runs one study into a run folder.
func (e *env) runStudy(ctx context.Context, s *study, out string, o met.Options) (outcome met.Outcome, err error) {
	isTimed := func(x *run.Sample) bool { return x.Rep >= 0 && x.Measured() != nil }
	folder, err := run.Resume(out, e.newRun(ctx, out, "met", s.seed, s.source), len(s.copies) > 0, isTimed, e.info)
	if err != nil {
		return outcome, err
	}
	folder.Run.Data.Paths = s.paths
	folder.Run.Skipped = s.Skipped
	if s.cold > 0 {
		o.Cold = met.ColdProcess(filepath.Join(out, run.CasesFile))
	}
	bar := newProgress(e)
	defer bar.stop()
	o.Progress = func(p met.Progress) {
		switch {
		case p.Step == "":
			e.info(p.Note)
		case p.Finished:
			bar.finish(p.Step, p.Note)
		default:
			bar.update(p.Step, p.Done, p.Of, p.Unit == "MB")
		}
	}
	o.ClientsFolder = func() (*run.Folder, error) {
		r := folder.Run
		r.Workload = run.MixWorkload
		return run.Resume(s.clientsFolder(out), r, true, isTimed, e.info)
	}
	outcome, err = met.Run(ctx, folder, o)
	s.loaded = s.loaded || slices.ContainsFunc(folder.Run.Archives, func(a run.Archive) bool { return a.Place != string(engine.Memory) })
	return outcome, errors.Join(err, folder.Close())
}

// clientsFolder is the run folder with the results of concurrent clients.
func (s *study) clientsFolder(out string) string { return filepath.Join(out, "clients") }

// findCases finds questions by their names: cases, files, or cases derived from the data. It prints the parts of plots
// that Barograph does not support. If withRefused is false, it does not print those in Question.Refused, because ask
// returns them as an error.
func (e *env) findCases(names []string, withRefused bool, derived func() ([]*question.Question, error)) ([]*question.Question, error) {
	var out []*question.Question
	derived = sync.OnceValues(derived)
	for _, n := range names {
		qs, notes, err := question.FindAll(n)
		if err != nil && filepath.Ext(n) == "" {
			more, deriveErr := derived()
			if deriveErr != nil {
				return nil, deriveErr
			}
			qs, notes, err = question.FindAll(n, more...)
		}
		if err != nil {
			return nil, usage(err)
		}
		if !withRefused {
			notes = slices.DeleteFunc(notes, func(n string) bool {
				return slices.ContainsFunc(qs, func(q *question.Question) bool { return slices.Contains(q.Refused, n) })
			})
		}
		e.printNotes(n, notes)
		for _, q := range qs {
			if slices.ContainsFunc(out, func(o *question.Question) bool { return o.Name == q.Name }) {
				return nil, fault.Misuse("--case "+n, "two questions have the name "+q.Name, "give the files different names")
			}
			out = append(out, q)
		}
	}
	return out, nil
}
