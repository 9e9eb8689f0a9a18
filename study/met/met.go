package met

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// Target is one archive of the study: an engine's URL and a design.
type Target struct {
	Name   string // in the tables; "" = the driver's scheme
	Driver *engine.Driver
	URL    string
	Design design.Name
	Server *run.Server // what the lab knows of it; nil = nothing
	Subset string      // set by the study, but for an archive that the data come from
}

// String is "duckdb wide".
func (t Target) String() string { return t.engine() + " " + string(t.Design) }

// engine is what the tables call the engine.
func (t Target) engine() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Driver.Scheme
}

// Options say what is run; zero values are the defaults.
type Options struct {
	Registry engine.Registry
	Targets  []Target
	Cases    []*question.Question // nil = derived from the data
	Derived  int                  // of the Cases, which others than the user chose, the first so many that have rows are asked; 0 = all
	Flavours []flavour.Name       // nil = all that each archive offers
	Files    []string             // the data; every archive is loaded from them
	From     bool                 // the data are those of the first target, which is not changed, in place of Files
	KeepLast bool                 // a last line without a line end is whole, not quarantined
	Subset   string
	Named    bool // by the user: where Subset holds other data that is an error, and no other subset is taken
	Copies   int  // of the data in every archive, the further ones under other subset names; 0 = 1

	Reps    int           // timed repetitions of each cell; 0 = DefaultReps
	Warmups int           // repetitions of each cell between its proof, which warms it too, and the first timed one
	Limit   time.Duration // stop timing after this long, but not before the repetitions suffice to show a difference; 0 = no limit
	Seed    uint64        // of the order of repetitions and of the bootstrap

	// Cold measures one cold start of a cell: a new process, the page cache
	// dropped. nil = no cold starts. ColdReps of each cell are made.
	Cold     func(ctx context.Context, t Target, c run.Cell) (Asked, string, error)
	ColdReps int

	// Clients are the numbers of clients that ask at once, each for as long as
	// AskFor, AskReps times; none = that part is left out. Points makes the
	// folder of what comes of it.
	Clients []int
	AskFor  time.Duration // 0 = DefaultAskFor
	AskReps int           // 0 = 1
	Points  func() (*run.Folder, error)

	Memory   int // bytes that parsed records may take; 0 = 512 MiB. What is more is read again for each archive, and the floor holds what the cases ask for
	Threads  int // for the engines; 0 = as they choose
	Log      *slog.Logger
	Progress func(Progress)
}

// DefaultReps is enough for a 95 % interval of the median and for an exact
// rank test.
const DefaultReps = 11

// DefaultAskFor is how long a number of clients asks.
const DefaultAskFor = 2 * time.Second

// Progress tells what a study is doing.
type Progress struct {
	Step     string // "reading", "loading duckdb wide", "proving", "timing", "cold starts"
	Done, Of int64
	Unit     string // "MB", "answers"
	Finished bool   // the step is over
	Note     string // at the end of a step: what came of it
}

// Outcome sums a study up; the folder holds the rest.
type Outcome struct {
	Equal, Wrong, Failed int // cells
	NotWhole             int // archives that do not hold the data, and were not timed
	Cases, Empty         int // that were asked, and those of them that have no rows in the data

	load.Shortfall // of the data
}

// proof sums up the comparison with the reference.
func (o *Outcome) proof() string {
	text := fmt.Sprintf("%d of %s equal the reference", o.Equal, run.Several(o.Equal+o.Wrong+o.Failed, "result"))
	if o.Wrong > 0 {
		text += fmt.Sprintf(", %d wrong", o.Wrong)
	}
	if o.Failed > 0 {
		text += fmt.Sprintf(", %d failed", o.Failed)
	}
	return text
}

// Add adds the study of a larger number of copies of the same data.
func (o *Outcome) Add(x Outcome) {
	x.Equal, x.Wrong, x.Failed, x.NotWhole = o.Equal+x.Equal, o.Wrong+x.Wrong, o.Failed+x.Failed, o.NotWhole+x.NotWhole
	*o = x
}

// Err is nil where all that was asked was done and every answer was right.
func (o Outcome) Err() error {
	switch {
	case o.Wrong > 0:
		return &fault.Status{Code: fault.Differs, Err: fmt.Errorf("%d of %s gave a wrong answer", o.Wrong, run.Several(o.Equal+o.Wrong+o.Failed, "cell"))}
	case o.NotWhole > 0:
		return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%d archives do not hold the whole data and were not timed", o.NotWhole)}
	case o.Failed > 0:
		return &fault.Status{Code: fault.Failed, Err: fmt.Errorf("%s gave no answer", run.Several(o.Failed, "cell"))}
	case o.Empty > 0 && o.Empty == o.Cases:
		return noRows(o.Cases)
	}
	return o.Incomplete()
}

// noRows is the error of a study none of whose cases has rows in the data.
func noRows(cases int) error {
	return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
		Setting: "--case", Problem: fmt.Sprintf("%s asked, none has rows in this data, so that nothing was timed", run.Several(cases, "question")),
		Cure: "ask for models, regions, levels and times that the files hold, by a question of your own: --case FILE.yaml (docs/questions.md)",
	}}
}

// runner makes one study.
type runner struct {
	o         Options
	folder    *run.Folder
	clock     measure.Clock
	still     *measure.StandstillMeter
	stops     []time.Duration   // for which the process stood still in what was then timed again
	origin    *load.Origin      // nil = files
	found     *design.Catalog   // of what origin was found to hold
	files     map[string]bool   // digests of the files
	asked     *answer.Reference // records of the cases, until every archive is loaded
	reference []*answer.Answer  // by case
	digest    record.Digest     // of the data
	parsed    *load.ParseCache  // the data, until every archive is loaded
	cells     []*cell
	drawn     *run.Curves // of the question before
	causes    []cause     // of cells without a right result, not logged yet
	out       Outcome
}

// cell is one archive, case and flavour, proven and ready to be timed.
type cell struct {
	run.Cell
	target   Target
	archive  archive.Archive
	unopened error // why archive is nil
	query    *archive.Query
	want     *answer.Answer
	proven   bool // its first answer was right
	bad      bool // a result was wrong, or none came: the cell is not queried again
}

// way is the cell without its case: "duckdb wide epoch-range".
func (c *cell) way() string { return c.Engine + " " + c.At("design") + " " + c.At("flavour") }

// Run makes the study and writes it to the folder, which the caller closes.
// The error is one of the study itself; wrong answers and failed cells are
// counted in the Outcome.
func Run(ctx context.Context, folder *run.Folder, o Options) (Outcome, error) {
	s := &runner{o: o.defaults(), folder: folder, parsed: keeps(&o), clock: measure.StartClock(), still: measure.StartStandstillMeter()}
	defer s.still.Stop()
	s.o.Progress = watched(folder, s.o.Progress)
	folder.Run.PlannedReps = s.o.Reps
	meter, err := measure.StartClient()
	if err != nil {
		return s.out, err
	}
	opened, err := s.open(ctx)
	defer opened.close()
	if err == nil {
		err = s.derive(ctx)
	}
	if err == nil {
		err = s.read(ctx)
	}
	if err == nil {
		err = s.place(ctx, opened)
	}
	if err == nil {
		err = s.load(ctx, opened)
	}
	s.parsed, s.asked, s.found = nil, nil, nil // questions are asked beside an empty memory
	if err == nil {
		err = s.prove(ctx, opened)
	}
	if err == nil {
		err = s.time(ctx, s.counters(opened))
	}
	if err == nil {
		err = s.concurrent(ctx)
	}
	if err == nil {
		opened.close() // a cold start opens the archives in a process of its own
		err = s.cold(ctx)
	}
	s.tellStops()
	load, stopErr := meter.Stop()
	folder.Run.Client = load
	if ctx.Err() == nil { // an interrupted run stays without an end
		folder.Run.Finished = time.Now().UTC()
	}
	return s.out, errors.Join(err, stopErr)
}

// finished tells of the end of a step, and what came of it.
func (s *runner) finished(step Progress, note string) {
	step.Finished, step.Note = true, note
	s.o.Progress(step)
}

// watched tells the folder, too, what is done: once a second, and at the end of
// each step.
func watched(folder *run.Folder, report func(Progress)) func(Progress) {
	var last time.Time
	return func(p Progress) {
		if p.Finished || time.Since(last) > time.Second {
			last = time.Now()
			_ = folder.Event(run.Event{Kind: run.StepEvent, Text: p.Step, Done: p.Done, Total: p.Of}) // the folder keeps the error
		}
		report(p)
	}
}

func (o Options) defaults() Options {
	o.Copies = max(o.Copies, 1)
	o.Targets = slices.Clone(o.Targets)
	if o.Reps <= 0 {
		o.Reps = DefaultReps
	}
	if o.AskFor <= 0 {
		o.AskFor = DefaultAskFor
	}
	o.AskReps = max(o.AskReps, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}
