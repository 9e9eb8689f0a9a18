package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
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
	"github.com/barograph/barograph/results/run"
)

// Cluster kills and restarts its nodes, which count from 0.
type Cluster interface {
	Kill(node int) error
	Restart(ctx context.Context, node int) error // returns when the node serves
}

// Options of Run.
type Options struct {
	Engine   string // its name in the results
	Design   design.Name
	Flavours []flavour.Name // of the queries
	Nodes    int
	Cluster  Cluster
	Open     func(ctx context.Context) (*engine.Engine, error) // opens a new client

	Files  []string
	Subset string
	Cases  []*question.Question

	Kills    int           // during loads, each in a load of its own, and as many during queries
	Down     time.Duration // how long a killed node stays down
	Settle   time.Duration // duration of queries before the kill, and of queries without error after the restart
	Patience time.Duration // limit for the cluster to work again
	Call     time.Duration // limit of one query
	Seed     uint64

	Progress func(kind run.EventKind, text string)
	Add      func(run.Sample) error // adds the sample of each kill to the results
	// Reject is called with each line or file that is not in the data; it may be nil.
	Reject func(file string, line uint32, reason, text string) error
}

// Defaults of Options.
const (
	DefaultDown     = 5 * time.Second
	DefaultSettle   = 3 * time.Second
	DefaultPatience = 3 * time.Minute
	DefaultCall     = 15 * time.Second
)

// retryPause is the pause after a failed query or load.
const retryPause = 200 * time.Millisecond

// runner is the study of one archive.
type runner struct {
	Options
	rng       *rand.Rand
	cases     []*question.Question
	reference []*answer.Answer
	order     []int // nodes to kill before a node is killed a second time
	out       Result
}

// Result describes the data that a study loaded; its outcome is in the samples (see Options.Add).
type Result struct {
	Digest record.Digest // of the data
	load.Shortfall
}

// Run kills nodes. The samples contain the faults of the cluster. An error means that the study could not continue; if the
// reason is a node that does not start again, it is also the problem of a sample.
func Run(ctx context.Context, o Options) (Result, error) {
	s := &runner{Options: o, rng: rand.New(rand.NewPCG(o.Seed, 0))}
	for _, q := range o.Cases {
		s.cases = append(s.cases, q.InSubset(o.Subset))
	}
	err := s.read(ctx)
	for i := 0; i < o.Kills && err == nil; i++ {
		err = s.addKill(s.killDuringLoad(ctx, i+1))
	}
	if err == nil {
		err = s.loadForQueries(ctx)
	}
	for i := 0; i < o.Kills && err == nil; i++ {
		err = s.addKill(s.killDuringQueries(ctx, i+1))
	}
	return s.out, err
}

// addKill adds the sample of a kill. If the study itself failed, there is none.
func (s *runner) addKill(k *kill, err error) error {
	if err != nil && k.failed == nil {
		return err
	}
	k.sample.Kill = &k.Kill
	return errors.Join(err, s.Add(k.sample.Judge(&k.times, k.proof, k.failed)))
}

// restartFailed returns the error of a node that did not start again, and makes it the result of the kill.
func (k *kill) restartFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	k.failed = fmt.Errorf("node %d did not start again: %w", k.Node, err)
	return k.failed
}

// read parses the files, for the reference results and the digest of the data.
func (s *runner) read(ctx context.Context) error {
	ref := answer.NewReference(s.cases...)
	var prints load.Fingerprint
	reject := s.Reject
	if reject == nil {
		reject = func(string, uint32, string, string) error { return nil }
	}
	err := load.Read(ctx, s.Files, load.ReadOptions{}, func(_ *load.File, b *record.Batch) error {
		ref.Add(b)
		prints.Add(b)
		return s.out.Reject(b, reject)
	}, func(f *load.File) error {
		if f.Err == nil {
			return nil
		}
		s.out.Unread++
		s.Progress(run.StepEvent, f.Err.Error())
		return reject(f.Path, 0, f.Err.Error(), "")
	})
	if err != nil {
		return err
	}
	if s.out.Digest, _, err = prints.Sum(); err != nil {
		return err
	}
	s.out.Refused = prints.Conflicts()
	all := s.cases
	s.cases = nil
	for i, a := range ref.Answers() { // an empty result cannot show a loss
		if a.Rows > 0 {
			s.cases, s.reference = append(s.cases, all[i]), append(s.reference, a)
		}
	}
	if len(s.cases) == 0 {
		return &fault.Status{Code: fault.Incomplete, Err: &fault.Error{
			Setting: "--case", Problem: fmt.Sprintf("none of %s has rows in this data", run.CountOf(len(all), "question")),
			Cure: "write a question with models, regions, levels and times of the files, and name it: --case FILE.yaml " +
				"(docs/reference/questions.md)",
		}}
	}
	return nil
}

// kill is a kill in progress.
type kill struct {
	run.Kill
	sample run.Sample
	times  run.Measured
	proof  answer.Proof
	failed error // a loss, a wrong result, or an error
}

func (s *runner) newKill(during string, rep int) *kill {
	k := &kill{Kill: run.Kill{Nodes: s.Nodes, Messages: map[string]int{}}}
	k.sample = run.Sample{Cell: run.NewCell("faults", s.Engine, "design", s.Design, "during", during), Rep: rep}
	if len(s.order) == 0 { // all nodes were killed: start again in a new order
		s.order = s.rng.Perm(s.Nodes)
	}
	k.Node, s.order = 1+s.order[0], s.order[1:]
	return k
}

func (s *runner) progress(kind run.EventKind, k *kill, format string, args ...any) {
	s.Progress(kind, fmt.Sprintf("%s %s, %s: ", s.Engine, s.Design, k.sample.Cell.Value("during"))+fmt.Sprintf(format, args...))
}

// openArchive opens the archive with a new connection, as another process does.
func (s *runner) openArchive(ctx context.Context) (archive.Archive, func(), error) {
	e, err := s.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	a, err := archive.DatabaseOf(e).Open(ctx, s.Design)
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return a, func() {
		_ = a.Close() // the cluster may be down
		_ = e.Close()
	}, nil
}

// countError counts an error.
func countError(k *kill, err error) {
	k.Errors++
	text, _, _ := strings.Cut(err.Error(), "\n")
	k.Messages[text]++
}
