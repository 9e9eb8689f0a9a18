package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// Program is what is asked of what, where.
type Program struct {
	Registry     engine.Registry
	Engines      []string // URLs, or NAME=URL
	Tables       string   // a folder
	Types        string   // a file of CREATE TABLE statements; "" = schema.sql in the folder, if it is there
	Questions    []*Question
	Reps         int           // 0 = as many as can tell a difference
	Streams      []int         // numbers of streams that ask at once; none = none
	Duration     time.Duration // how long each number of streams asks
	Rate         float64       // questions a second of all streams together; 0 = each asks when it is answered
	Rounds       int           // how often each number of streams asks
	WhileLoading bool          // each number of streams also runs while the engine loads
	Labs         string        // folder of labs, whose servers are watched
	Threads      int           // of an embedded engine; 0 = as it chooses
	Tolerance    float64       // 0 = answer.Tolerance
	Seed         uint64
	Log          *slog.Logger
	Progress     func(s string)
}

// Names are those of the engines that keep a user's own tables.
func Names(all engine.Registry) []string {
	return all.SchemesWhere(func(d *engine.Driver) bool { return tables.Offers(d, tables.OwnTables) })
}

// ErrWrong: two engines do not agree; ErrFailed: one does not answer.
var (
	ErrWrong  = errors.New("engines do not agree")
	ErrFailed = errors.New("a question was not answered")
)

// reference is the scheme of the engine that answers over the files.
const reference = "duckdb"

// party is an engine that is asked.
type party struct {
	name, scheme string
	place        engine.Place
	db           *engine.Engine
	own          *tables.Tables
	missing      map[string]error // tables that it does not hold, and why
	right        []bool           // by question: its answers are proven
	pids         []int32          // of a server that a lab runs here
}

// watch is what tells what its server spends.
func (p *party) watch() run.Watch {
	return run.Watch{PIDs: p.pids, Said: run.Says(p.own.Spent)}
}

// runner is a program under way.
type runner struct {
	Program
	into    *run.Folder
	ref     *tables.Tables
	parties []*party
	tables  []*tables.Table
	aside   []error              // of tables that were not read
	want    [][]*answer.Expected // by question and set of values
	skipped []error              // by question: why it is not asked
	others  *otherwise
}

// Run loads the tables, proves the answers and times them. What was measured
// before an error is in into.
func Run(ctx context.Context, p Program, into *run.Folder) (err error) {
	if p.Tolerance == 0 {
		p.Tolerance = answer.Tolerance
	}
	if p.Reps == 0 {
		p.Reps = measure.RepsFor(max(len(p.Engines)-1, 1) * len(p.Questions))
	}
	r := &runner{Program: p, into: into}
	into.Run.Own = &run.Own{Tolerance: p.Tolerance, Streams: p.Streams, For: p.Duration}
	if into.Run.Reps = p.Reps; len(p.Streams) == 0 {
		into.Run.Own.For = 0
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.open(ctx); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "barograph-own-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if err := os.Chmod(work, 0o755); err != nil { //nolint:gosec // a server under another account may read it
		return err
	}
	r.others = &otherwise{runner: r, work: work}
	for _, step := range []func(ctx context.Context) error{
		func(ctx context.Context) error { return r.read(ctx, work) }, r.answers, r.load, r.prove, r.times, r.streams,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := into.Save(); err != nil {
			return err
		}
	}
	if err := into.Verdict(ErrWrong, ErrFailed); fault.Code(err) != 0 {
		return err
	}
	if len(r.aside) > 0 {
		return &fault.Status{Code: fault.Incomplete, Err: fmt.Errorf("%s left aside: %w", run.Several(len(r.aside), "table"), errors.Join(r.aside...))}
	}
	return nil
}

// mostTolerance is the largest relative difference of numbers that are called equal.
const mostTolerance = 1e-3

// Check reports whether engines can prove one another, and how they are called.
func (p *Program) Check() error {
	if p.Tolerance > mostTolerance {
		return fault.Misuse(fmt.Sprintf("--tolerance %g", p.Tolerance), "would find nearly every answer right", fmt.Sprintf("write %g at most", mostTolerance))
	}
	other := false
	var seen []string
	for _, raw := range p.Engines {
		name, url := engine.SplitName(raw)
		d, _, err := p.Registry.Parse(url)
		if err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		if !tables.Offers(d, tables.OwnTables) {
			return fault.Misuse("--engine "+d.Scheme, "keeps no tables of your own", "choose of "+strings.Join(Names(p.Registry), ", "))
		}
		if err := d.Require(false); err != nil && d.Place == engine.Embedded {
			return err
		}
		if name == "" {
			name = d.Scheme
		}
		if slices.Contains(seen, name) {
			return fault.Misuse("--engine "+fault.Redact(raw), name+" is named twice", "give one of them another name: --engine b="+fault.Redact(url))
		}
		seen = append(seen, name)
		other = other || d.Scheme != reference
	}
	if !other {
		return fault.Misuse("--engine", "DuckDB answers over your files, and no other engine tells that it is right", "name one more: --engine sqlite:own.sqlite")
	}
	return nil
}

// open opens DuckDB for the reference, and every engine.
func (r *runner) open(ctx context.Context) error {
	if err := r.Check(); err != nil {
		return err
	}
	add := func(name, url string) (*party, error) {
		d, u, err := r.Registry.Parse(url)
		if err != nil {
			return nil, err
		}
		if name == "" {
			name = d.Scheme
		}
		served := lab.Serving([]string{r.Labs}, d, u)
		p := &party{name: name, scheme: d.Scheme, place: d.Place, pids: served.PIDs()}
		r.parties = append(r.parties, p)
		if p.db, err = r.Registry.Open(ctx, url, engine.Options{Log: r.Log, Threads: r.Threads}); err != nil {
			return nil, err
		}
		if p.pids = append(p.pids, p.db.Processes...); len(p.db.Processes) > 0 {
			p.place = engine.Remote // as far as who used the cores
		}
		if p.own, err = tables.DatabasesOf(p.db).Own(ctx); err != nil {
			return nil, err
		}
		about, err := p.db.About(ctx)
		a := study.Participant(d, u.String(), about, served.Server())
		a.Engine = name
		r.into.Run.Archives = append(r.into.Run.Archives, a)
		return p, err
	}
	p, err := add("DuckDB over the files", reference+"::memory:")
	if err != nil {
		return err
	}
	r.ref = p.own
	for _, raw := range r.Engines {
		name, url := engine.SplitName(raw)
		if _, err := add(name, url); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) close() (err error) {
	if r.others != nil {
		err = r.others.close()
	}
	for _, p := range r.parties {
		if p.own != nil {
			err = errors.Join(err, p.own.Close())
		}
		if p.db != nil {
			err = errors.Join(err, p.db.Close())
		}
	}
	return err
}

// asked are the parties that are timed: all but the reference.
func (r *runner) asked() []*party { return r.parties[1:] }

// read finds the tables and what is in them. A table that cannot be read is left
// aside with the reason; the others go on.
func (r *runner) read(ctx context.Context, work string) (err error) {
	declared, err := readDeclaration(r.Types, r.Tables)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(r.Tables)
	for _, p := range r.parties {
		if p.own.Confine != nil && err == nil {
			err = p.own.Confine(ctx, dir, work)
		}
	}
	if err != nil {
		return err
	}
	sources, aside, err := findTables(r.Tables, declared)
	if err != nil {
		return err
	}
	own := r.into.Run.Own
	own.Aside = aside
	for name := range declared.tables {
		if !slices.ContainsFunc(sources, func(s *source) bool { return s.table.Name == name }) {
			return &fault.Status{Code: fault.Usage, Err: &fault.Error{File: declared.file, Problem: "declares table " + name + ", which no file is", Cure: "name the table as its file or folder"}}
		}
	}
	for _, s := range sources {
		s.declared = declared
		if s.problem = s.read(ctx, r.ref, work); ctx.Err() != nil {
			return ctx.Err()
		}
		if s.problem != nil {
			s.out.Problem = fault.Redact(s.problem.Error())
			r.aside = append(r.aside, s.problem)
		} else {
			r.tables = append(r.tables, s.table)
		}
		own.Tables = append(own.Tables, *s.out)
		r.into.Run.Data.Files += len(s.out.Files)
		r.into.Run.Data.Bytes += s.out.Bytes
		r.into.Run.Data.Records += s.out.Rows
	}
	for _, line := range own.Read() {
		r.Progress(line)
	}
	if len(r.tables) == 0 {
		return fmt.Errorf("no table is left to ask: %w", errors.Join(r.aside...))
	}
	return nil
}

// mostRows is the most that an answer may have: it is kept.
const mostRows = 1_000_000

// ask asks once.
func ask(ctx context.Context, o *tables.Tables, q *Question, name string, set int) (*answer.Loose, error) {
	if !q.has(name) {
		return nil, &fault.Error{File: q.File, Line: q.Line, Problem: q.Name + " has no text for " + name, Cure: "write one in " + q.textFile(name)}
	}
	return rows(ctx, o, q.Text(name, set), nil)
}

// rows are those of a text; enough ends an answer early.
func rows(ctx context.Context, o *tables.Tables, text string, enough func(l *answer.Loose) bool) (*answer.Loose, error) {
	var out answer.Loose
	err := o.Ask(ctx, text, func(row []any) error {
		if out.Len() == mostRows {
			return fmt.Errorf("more than %d rows came, and all are kept to compare them: aggregate them, or add ORDER BY with LIMIT", mostRows)
		}
		if out.Add(row); enough != nil && enough(&out) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return &out, err
}

var errEnough = errors.New("enough rows came")

// at says of which text an error is.
func at(q *Question, scheme string, err error) error {
	file, line := q.Place(scheme)
	if f, ok := errors.AsType[*fault.Error](err); errors.Is(err, engine.ErrUnreachable) || ok && f.File != "" { // it says enough
		return err
	}
	return &fault.Error{File: file, Line: line, Problem: scheme + " does not answer " + q.Name, Err: err, Cure: "put it in words that it knows, here or, for it alone, in " + q.textFile(scheme)}
}

// answers has the reference answer every question. One that it does not answer is
// left out, and the others are asked.
func (r *runner) answers(ctx context.Context) error {
	r.Progress("DuckDB over the files: " + run.Several(len(r.Questions), "question"))
	r.want, r.skipped = make([][]*answer.Expected, len(r.Questions)), make([]error, len(r.Questions))
	for k, q := range r.Questions {
		out := run.OwnQuestion{Name: q.Name, Title: q.Title, File: q.File, Line: q.Line, Values: q.Values(), Texts: q.Texts, Agreed: map[string]string{}}
		for set := range q.Values() {
			e, err := r.others.expect(ctx, q, set, &out)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.skipped[k] = at(q, reference, err)
				r.Progress(q.Name + " is left out: " + fault.Text(r.skipped[k]))
				break
			}
			if r.want[k] = append(r.want[k], e); set == 0 {
				out.Rows = e.Len()
			}
		}
		r.into.Run.Own.Questions = append(r.into.Run.Own.Questions, out)
	}
	return nil
}

// load loads every table into every engine. One that cannot hold a table loses the
// questions of that table.
func (r *runner) load(ctx context.Context) error {
	for i, p := range r.asked() {
		p.missing = map[string]error{}
		if err := r.loadOne(ctx, p, &r.into.Run.Archives[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) loadOne(ctx context.Context, p *party, out *run.Archive) (err error) {
	out.Whole = true
	for _, t := range r.tables {
		r.Progress(p.name + ": loading " + t.Name)
		began := time.Now()
		err := p.own.Load(ctx, t)
		out.Load += time.Since(began)
		if out.Commits++; err == nil {
			err = r.count(ctx, p, t)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.missing[t.Name], out.Whole = fmt.Errorf("table %s: %w", t.Name, err), false
			r.into.Warn(p.name + " holds no table " + t.Name + ": " + err.Error())
			r.Progress(p.name + " holds no table " + t.Name + ": " + fault.Text(err))
		}
	}
	if len(p.missing) < len(r.tables) { // a table that is not there cannot make others unfit
		out.Whole = true
	}
	if out.Bytes, err = p.own.Size(ctx); err != nil && len(p.missing) == 0 {
		return err
	}
	return ctx.Err()
}

// count compares the number of rows that an engine stored with the files'.
func (r *runner) count(ctx context.Context, p *party, t *tables.Table) error {
	ident := p.own.Ident
	if ident == nil {
		ident = flavour.Ident
	}
	k := slices.IndexFunc(r.into.Run.Own.Tables, func(o run.OwnTable) bool { return o.Name == t.Name })
	var want answer.Loose
	want.Add([]any{r.into.Run.Own.Tables[k].Rows})
	got, err := rows(ctx, p.own, "SELECT count(*) FROM "+ident(t.Name), nil)
	if err == nil {
		_, err = answer.CompareLoose(answer.Expect(&want, answer.Shape{Width: 1, Limit: -1}), got, 0)
	}
	return err
}

// lacks is why a party cannot be asked a question: a table of it is missing.
func (p *party) lacks(q *Question) error {
	for _, t := range tokens(q.Text(p.scheme, 0)) {
		if err := p.missing[strings.ToLower(strings.Trim(t.text, "\"`"))]; err != nil {
			return err
		}
	}
	return nil
}

// prove asks every engine every question, untimed, and compares each answer with
// DuckDB's over the files. No verdict depends on which other engines there are;
// which answers of DuckDB another engine confirms is noted.
func (r *runner) prove(ctx context.Context) error {
	for _, p := range r.asked() {
		r.Progress(p.name + ": " + run.Several(len(r.Questions), "question"))
		p.right = make([]bool, len(r.Questions))
		for k, q := range r.Questions {
			proof, err := answer.Proof{}, cmp.Or(r.skipped[k], p.lacks(q))
			for set := 0; set < q.Values() && err == nil; set++ {
				var got *answer.Loose
				if got, err = ask(ctx, p.own, q, p.scheme, set); err != nil {
					err = at(q, p.scheme, err)
					break
				}
				proof, err = answer.CompareLoose(r.want[k][set], got, r.Tolerance)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.right[k] = err == nil; err != nil {
				if err := r.into.Add(run.Sample{Cell: run.OwnCell(p.name, q.Name), Phase: run.Warm}.Judge(nil, proof, err)); err != nil {
					return err
				}
				continue
			}
			r.into.Run.Own.Questions[k].Agreed[p.name] = run.OverFiles
		}
	}
	for k := range r.Questions {
		agreed := r.into.Run.Own.Questions[k].Agreed
		witness := run.Unconfirmed
		for _, p := range r.asked() {
			if p.scheme != reference && p.right[k] {
				witness = p.name
				break
			}
		}
		for _, p := range r.asked() {
			if p.scheme == reference && p.right[k] {
				agreed[p.name] = witness
			}
		}
	}
	return nil
}

// times times what is right, in random order.
func (r *runner) times(ctx context.Context) error {
	type one struct {
		p *party
		k int
	}
	var all []one
	for _, p := range r.asked() {
		for k := range r.Questions {
			if p.right[k] {
				all = append(all, one{p, k})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	r.Progress(fmt.Sprintf("timing %d questions of engines, %d times", len(all), r.Reps))
	done := 0
	for i, rep := range measure.Interleave(r.Seed, len(all), r.Reps) {
		x := all[i]
		if err := r.time(ctx, x.p, x.k, rep); err != nil {
			return err
		}
		if done++; done%max(len(all)*r.Reps/10, 1) == 0 {
			r.Progress(fmt.Sprintf("%d of %d", done, len(all)*r.Reps))
		}
	}
	return nil
}

// time asks once and measures; the answer is compared when the clock has stopped.
func (r *runner) time(ctx context.Context, p *party, k, rep int) error {
	q := r.Questions[k]
	set := rep % q.Values()
	server := p.watch()
	var got *answer.Loose
	m, err := r.into.Observe(ctx, nil, &server, func() (err error) {
		if got, err = ask(ctx, p.own, q, p.scheme, set); err != nil {
			err = at(q, p.scheme, err)
		}
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	proof, err := r.compare(k, set, got, err)
	return r.into.Add(run.Sample{Cell: run.OwnCell(p.name, q.Name), Phase: run.Warm, Rep: rep + 1}.Judge(m, proof, err))
}

// compare holds an answer against the reference's, if there is one.
func (r *runner) compare(k, set int, got *answer.Loose, err error) (answer.Proof, error) {
	if err != nil {
		return answer.Proof{}, err
	}
	return answer.CompareLoose(r.want[k][set], got, r.Tolerance)
}
