package met

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
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
	Server *run.Server // description by the lab; nil = none
	Subset string      // set by the study, except for the source of the data
}

// String is "duckdb wide".
func (t Target) String() string { return t.engine() + " " + string(t.Design) }

// engine is the name of the engine in tables.
func (t Target) engine() string {
	if t.Name != "" {
		return t.Name
	}
	return t.Driver.Scheme
}

// Options of a study; zero values are the defaults.
type Options struct {
	Registry       engine.Registry
	Targets        []Target
	Cases          []*question.Question // nil = derived from the data
	MaxCases       int                  // if > 0, the study excludes cases without rows and uses at most this many
	Flavours       []flavour.Name       // nil = all that each archive offers
	Files          []string             // the data
	FirstIsSource  bool                 // the first target is the source of the data, in place of Files, and only read
	KeepLast       bool                 // load a last line without a line end instead of quarantining it
	Subset         string
	SubsetRequired bool // the user chose Subset; if it contains other data, the study fails
	Copies         int  // number of copies of the data in every archive, each in a subset of its own; 0 = 1
	EarlierCopies  int  // of them, the copies that a study with fewer copies loaded before this one

	Reps    int           // timed repetitions of each cell; 0 = DefaultReps
	Warmups int           // untimed repetitions of each cell after its proof, which also warms it
	Limit   time.Duration // of timing, as soon as the repetitions suffice to show a difference; 0 = no limit
	Seed    uint64        // of the order of repetitions and of the bootstrap

	// Cold measures one cold start of a cell: a new process after the page cache was
	// dropped. nil = no cold starts. ColdReps is the number of cold starts of each cell.
	Cold     func(ctx context.Context, t Target, c run.Cell) (ColdResult, string, error)
	ColdReps int

	// Clients are the numbers of concurrent clients to measure; none = no measurement.
	// ClientsFolder creates the run folder for their results.
	Clients       []int
	Duration      time.Duration // of one measurement; 0 = DefaultDuration
	Rounds        int           // passes over all numbers of clients; 0 = 1
	ClientsFolder func() (*run.Folder, error)

	// Memory is the limit in bytes for parsed records; 0 = 512 MiB. Above it the study reads
	// the files again for each archive, and the dry engine has only the records of the cases.
	Memory   int
	Threads  int // of an embedded engine; 0 = chosen by the engine
	Log      *slog.Logger
	Progress func(Progress)
}

// DefaultReps is enough for a 95 % interval of the median and for an exact
// rank test.
const DefaultReps = 11

// DefaultDuration is the duration of one measurement of concurrent clients.
const DefaultDuration = 2 * time.Second

// Progress is the state of a step of a study.
type Progress struct {
	Step     string // "reading", "loading duckdb wide", "proving", "timing", "cold starts"
	Done, Of int64
	Unit     string // "MB", "results"
	Finished bool   // the step is over
	Note     string // the result of a finished step; without a step, a projection
}

// Outcome summarizes a study; the run folder has the details.
type Outcome struct {
	Equal, Wrong, Failed int // cells
	IncompleteArchives   int // archives whose records differ from the data, or were not loaded; they were not timed
	archiveStatus        int // fault.Differs if the records of such an archive differ from the data; 0 = none differ
	Cases, Empty         int // all cases, and those without rows in the data

	load.Shortfall // of the data
}

// proof summarizes the comparison with the reference.
func (o *Outcome) proof() string {
	text := fmt.Sprintf("%d of %s equal the reference", o.Equal, run.CountOf(o.Equal+o.Wrong+o.Failed, "result"))
	if o.Wrong > 0 {
		text += fmt.Sprintf(", %d wrong", o.Wrong)
	}
	if o.Failed > 0 {
		text += fmt.Sprintf(", %d failed", o.Failed)
	}
	return text
}

// Add adds the outcome of a study with more copies of the same data. It adds the counts and the states of cells
// and archives; all other fields become those of x.
func (o *Outcome) Add(x Outcome) {
	x.Equal, x.Wrong, x.Failed, x.IncompleteArchives = o.Equal+x.Equal, o.Wrong+x.Wrong, o.Failed+x.Failed, o.IncompleteArchives+x.IncompleteArchives
	x.archiveStatus = max(o.archiveStatus, x.archiveStatus)
	*o = x
}

// Err is nil if the study did everything requested and every result was correct.
func (o Outcome) Err() error {
	switch {
	case o.Wrong > 0:
		return &fault.Status{Code: fault.Differs, Err: fmt.Errorf("%d of %s returned a wrong result", o.Wrong, run.CountOf(o.Equal+o.Wrong+o.Failed, "cell"))}
	case o.IncompleteArchives > 0:
		return &fault.Status{Code: cmp.Or(o.archiveStatus, fault.Incomplete), Err: fmt.Errorf("%s incomplete or different from the data, and not timed", run.CountOf(o.IncompleteArchives, "archive"))}
	case o.Failed > 0:
		return &fault.Status{Code: fault.Failed, Err: fmt.Errorf("%s returned no result", run.CountOf(o.Failed, "cell"))}
	case o.Empty > 0 && o.Empty == o.Cases:
		return noRows(o.Cases)
	}
	return o.Incomplete()
}

// noRows is the error of a study in which no case has rows in the data.
func noRows(cases int) error {
	return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
		Setting: "--case", Problem: fmt.Sprintf("none of %s has rows in this data, so nothing was timed", run.CountOf(cases, "question")),
		Cure: "write a question with models, regions, levels and times of the files, and name it: --case FILE.yaml (docs/reference/questions.md)",
	}}
}

// runner runs one study.
type runner struct {
	options       Options
	folder        *run.Folder
	opened        []openArchive // by target
	clock         measure.Clock
	standstills   *measure.StandstillMeter
	stops         []time.Duration   // of this process, during repetitions that were then measured again
	origin        *load.Origin      // the source of the data; nil = files
	originCatalog *design.Catalog   // built from the records that were read from origin
	files         map[string]bool   // digests of the files
	caseRecords   *answer.Reference // records of the cases, until every archive is loaded
	reference     []*answer.Answer  // by case
	digest        record.Digest     // of the data
	parseCache    *load.ParseCache  // the data, until every archive is loaded
	copies        map[int][]int     // by target: the copies of the data that this study compares with the data
	proving       time.Duration     // sum of the times of the first query of all cells
	mu            sync.Mutex        // guards folder, out, cells, causes and proving in prove, which is concurrent
	cells         []*cell
	finished      map[repetition]bool   // measured before the run was interrupted
	loadsLeft     int                   // archives to load, including the present one; 0 = their time was projected
	lastCurves    *run.VerificationPlot // of the previous question
	causes        []cause               // of cells without a correct result, not logged yet
	out           Outcome
}

// cell is one case on one archive in one flavour. runner.cells has only those that are timed.
type cell struct {
	run.Cell
	target  Target
	index   int // of the target
	archive archive.Archive
	openErr error // the reason why archive is nil
	query   *archive.Query
	want    *answer.Answer
	proven  bool // the first result was correct
	bad     bool // a result was wrong or missing: the cell is not queried again
}

// repetition is one measurement of a cell.
type repetition struct {
	run.Cell
	run.Phase
	rep int
}

// configuration is the cell without its case: "duckdb wide epoch-range".
func (c *cell) configuration() string {
	return c.Engine + " " + c.Value("design") + " " + c.Value("flavour")
}

// Run runs the study and writes it to the folder, which the caller closes. The error is one of the study
// itself; the Outcome counts wrong results and failed cells. In the folder of an interrupted run of the same
// study, Run reads and proves everything again, completes the loads, and measures what is missing.
func Run(ctx context.Context, folder *run.Folder, o Options) (Outcome, error) {
	s := &runner{
		options: o.defaults(), folder: folder, parseCache: newParseCache(&o), copies: map[int][]int{},
		clock: measure.StartClock(), standstills: measure.StartStandstillMeter(),
	}
	defer s.standstills.Stop()
	s.options.Progress = recordProgress(folder, s.options.Progress)
	folder.Run.PlannedReps, s.finished = s.options.Reps, map[repetition]bool{}
	for _, x := range folder.Samples() {
		s.finished[repetition{x.Cell, x.Phase, x.Rep}] = true
	}
	meter, err := measure.StartClient()
	if err != nil {
		return s.out, err
	}
	defer s.close()
	for _, step := range []func(context.Context) error{
		s.open, s.derive, s.read, s.chooseSubsets, s.load, s.prove, s.time, s.concurrent, s.cold,
	} {
		if err = step(ctx); err != nil {
			break
		}
	}
	s.warnOfStops()
	load, stopErr := meter.Stop()
	folder.Run.Client = load
	if err == nil && ctx.Err() == nil { // an interrupted run gets no end time: the same command resumes it
		folder.Run.Finished = time.Now().UTC()
	}
	return s.out, errors.Join(err, stopErr)
}

// finishStep reports the end of a step with its result.
func (s *runner) finishStep(step Progress, note string) {
	step.Finished, step.Note = true, note
	s.options.Progress(step)
}

// recordProgress returns a progress function that also writes events into the run folder: at most one a second,
// and one at the end of each step.
func recordProgress(folder *run.Folder, report func(Progress)) func(Progress) {
	var last time.Time
	return func(p Progress) {
		if p.Step != "" && (p.Finished || time.Since(last) > time.Second) {
			last = time.Now()
			_ = folder.AddEvent(run.Event{Kind: run.StepEvent, Text: p.Step, Done: p.Done, Total: p.Of}) // the folder keeps the error
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
	if o.Duration <= 0 {
		o.Duration = DefaultDuration
	}
	o.Rounds = max(o.Rounds, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}
