package post

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/river"
	"github.com/barograph/barograph/study"
)

// Posting configures a run, which executes each test for each method and design.
type Posting struct {
	Registry engine.Registry
	URL      string // of the engine
	Labs     string // folder of the labs whose servers the run records
	Log      *slog.Logger
	Progress func(s string)

	Source   Source
	Designs  []string
	Methods  []string // none = all of the engine
	Tests    []string // none = once with files, else quiet
	Policy   string
	Rounds   int     // reposts of the test bloat
	SpeedUp  float64 // of the test live
	Posters  int     // concurrent clients
	Together int     // products per transaction
}

// check refuses unknown names, and sets the defaults.
func (p *Posting) check(d *engine.Driver) error {
	if len(posts.Methods(d)) == 0 {
		return fault.Misuse("--engine "+d.Scheme, "does not post SHEF values", "choose an SQL engine")
	}
	if len(p.Tests) == 0 {
		p.Tests = []string{string(Quiet)}
		if p.hasFiles() {
			p.Tests = []string{string(Once)}
		}
	}
	methods := Methods(d)
	if len(p.Methods) == 0 {
		p.Methods = stringsOf(methods)
		if p.ordersFiles() {
			p.Methods = stringsOf(posts.Methods(d))
		}
	}
	for _, m := range p.Methods {
		if !slices.Contains(methods, posts.Method(m)) {
			return fault.NotOffered("--method", posts.Method(m), methods, d.Scheme)
		}
	}
	err := errors.Join(
		checkNames("--test", p.Tests, Tests()),
		checkNames("--design", p.Designs, posts.Designs()),
		checkNames("--policy", []string{p.Policy}, posts.Policies()),
	)
	if err == nil && p.ordersFiles() && slices.Contains(p.Methods, string(Service)) {
		return fault.Misuse("--method service", "cannot post FILES with --policy "+p.Policy+
			", which compares times of issue: for a product without a WMO heading the service uses the time of arrival",
			"choose other methods, or omit --policy")
	}
	return err
}

// ordersFiles reports whether the policy compares the times of issue of products in files. The reference takes the time
// of a product without a WMO heading as unknown. The service takes the time of arrival, and has other ids.
func (p *Posting) ordersFiles() bool { return p.hasFiles() && posts.Policy(p.Policy).UsesOrigin() }

// Methods returns the methods of an engine and the service; nil if the engine does not post.
func Methods(d *engine.Driver) []posts.Method {
	if len(posts.Methods(d)) == 0 {
		return nil
	}
	return append(slices.Clone(posts.Methods(d)), Service)
}

// options returns the options of a method. The service makes its own batches.
func (p *Posting) options(m string, d *engine.Driver) Options {
	if o := (Options{Method: posts.Method(m), Posters: p.Posters, Together: p.Together}); o.Method != Service {
		return o
	}
	methods := posts.Methods(d)
	fastest := methods[len(methods)-1]
	return Options{Method: Service, Posters: river.Posters(d), Together: river.BatchProducts, Writes: fastest}
}

// checkNames returns an error if a name of a flag is unknown.
func checkNames[T ~string](flag string, names []string, all []T) error {
	for _, n := range names {
		if !slices.Contains(all, T(n)) {
			return &fault.Status{Code: fault.Usage, Err: fault.Unknown(flag, n, all)}
		}
	}
	return nil
}

func stringsOf[T ~string](all []T) []string {
	return lists.Map(all, func(x T) string { return string(x) })
}

// hasFiles reports whether the source consists of files. Otherwise it is a synthetic feed.
func (p *Posting) hasFiles() bool {
	_, ok := p.Source.(Files)
	return ok
}

// ErrWrong is the error of tables that differ from the reference.
var ErrWrong = errors.New("the tables differ from the reference")

// Run runs all tests. After an error, folder has the measurements made before it.
func (p *Posting) Run(ctx context.Context, folder *run.Folder) (err error) {
	d, u, err := p.Registry.Parse(p.URL)
	if err != nil {
		return &fault.Status{Code: fault.Usage, Err: err}
	}
	if err := p.check(d); err != nil {
		return err
	}
	db, err := p.Registry.Open(ctx, p.URL, engine.Options{Log: p.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	about, err := db.About(ctx)
	if err != nil {
		return err
	}
	refs, err := NewReferences(ctx, p.Source)
	if err != nil {
		return err
	}
	read := refs.Read()
	if read.Values == 0 && read.Lost == 0 {
		return &fault.Status{Code: fault.Incomplete, Err: errors.New("the input contains no value; check that it is SHEF")}
	}
	r := &folder.Run
	r.Policy, r.Data.Decoded = p.Policy, &read
	r.Archives = []run.Archive{study.Participant(d, p.URL, about, lab.Serving([]string{p.Labs}, d, u).Server())}
	if err := p.runDesigns(ctx, d, db, refs, folder); err != nil {
		return err
	}
	if err := folder.ExitError(ErrWrong, ErrWrong); err != nil || read.Lost == 0 {
		return err
	}
	const problem = "%s could not be decoded; `barograph shef decode --problems FILE` lists the errors"
	return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf(problem, run.CountOf(read.Lost, "value"))}
}

// runDesigns runs every test of every method on every design.
func (p *Posting) runDesigns(
	ctx context.Context, d *engine.Driver, db *engine.Engine, refs *References, folder *run.Folder,
) error {
	programme := Programme{
		Policy: posts.Policy(p.Policy), Source: p.Source, References: refs, Rounds: p.Rounds,
		SpeedUp: p.SpeedUp, PerDay: 1000, Progress: p.Progress,
		Folder: folder, Engine: folder.Run.Archives[0].Engine,
	}
	if feed, ok := p.Source.(Feed); ok {
		programme.From, programme.PerDay = feed.From, feed.PerDay
	}
	for _, design := range p.Designs {
		programme.Design = posts.Design(design)
		if err := p.runTests(ctx, d, db, programme); err != nil {
			return err
		}
	}
	return nil
}

// runTests runs the tests on one design. Every test empties its tables, which therefore are never those that a service
// fills.
func (p *Posting) runTests(ctx context.Context, d *engine.Driver, db *engine.Engine, programme Programme) error {
	store, err := posts.DatabaseOf(db).Open(ctx, posts.Tables{
		Design: programme.Design, Policy: programme.Policy, Make: true, Tests: true,
	})
	if err != nil {
		return err
	}
	programme.Store = store
	err = programme.Admit(ctx, slices.Contains(p.Tests, string(Noise)))
	for _, t := range Tests() {
		for _, m := range p.Methods {
			if err == nil && slices.Contains(p.Tests, string(t)) {
				programme.Options = p.options(m, d)
				err = programme.Run(ctx, t)
			}
		}
	}
	return errors.Join(err, store.Close())
}
