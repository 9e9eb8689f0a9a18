package own

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study"
)

// Program describes a run.
type Program struct {
	Registry  engine.Registry
	Engines   []string // URLs, or NAME=URL
	Tables    string   // a folder
	Types     string   // a file of CREATE TABLE statements; "" = schema.sql in the folder, if it exists
	Questions []*Question
	Reps      int // timed repetitions of each query; 0 = measure.RepsFor
	Cold      int // repetitions of each query with emptied caches

	Drop func(paths []string) (how string, err error) // empties the page cache; nil = measure.DropCaches

	Streams      []int         // numbers of concurrent streams to measure; none = no streams
	Duration     time.Duration // of one measurement with streams
	Rate         float64       // queries per second of all streams; 0 = each stream sends when it has a result
	Rounds       int           // passes over all numbers of streams
	WhileLoading bool          // also run each number of streams while the engine loads
	Labs         string        // folder of the labs whose servers are watched
	Threads      int           // of an embedded engine; 0 = chosen by the engine
	Tolerance    float64       // 0 = answer.Tolerance
	Timeout      time.Duration // of each query; 0 = none
	TimeLimit    time.Duration // after which nothing more is timed; 0 = none

	Memory       string // limit of a DuckDB over the files, such as "1GB"; "" = DefaultMemory
	SaveResults  bool   // write the proven results into the run folder
	Seed         uint64
	Log          *slog.Logger
	Progress     func(s string) // several goroutines call it, one at a time
	ProgressEach time.Duration  // between two reports of a step; 0 = ten seconds

	Now func() time.Time // the clock of TimeLimit, which tests replace; nil = time.Now
}

// Names returns the engines that can store a user's own tables.
func Names(all engine.Registry) []string {
	return all.SchemesWhere(func(d *engine.Driver) bool { return tables.Offers(d, tables.OwnTables) })
}

var (
	// ErrWrong is the error of a run in which a result differs from the reference.
	ErrWrong = errors.New("engines do not agree")

	// ErrFailed is the error of a run in which a query has no result.
	ErrFailed = errors.New("a query returned no result")
)

// reference is the scheme of the engine that runs the queries on the files.
const reference = "duckdb"

// participant is an engine of the study.
type participant struct {
	name, scheme string
	url          string
	files        []string // of an embedded engine, for --cold: the absolute path with which the names of its files start
	place        engine.Place
	db           *engine.Engine
	own          *tables.Tables
	missing      map[string]error // reasons of missing tables, by table
	proven       []bool           // by question: its results are proven
	serverPIDs   []int32          // of a server that a lab of this machine runs
	pids         []int32          // of this server, or of an embedded engine's own processes
}

// serverMeter describes how to measure the resources that the engine's server uses.
func (p *participant) serverMeter() run.ServerMeter {
	if p.own == nil {
		return run.ServerMeter{}
	}
	return run.ServerMeter{PIDs: p.pids, Report: run.ReportFunc(p.own.Spent)}
}

// runner is a program in progress.
type runner struct {
	Program
	folder       *run.Folder
	ref          *tables.Tables
	participants []*participant
	tables       []*tables.Table
	unread       []error              // errors of the tables that could not be read
	want         [][]*answer.Expected // reference results, by question and set of parameter values
	names        [][]string           // names of the columns of the results, by question
	folders      []string             // folders that the engines may read
	work         string               // a temporary folder
	definitions  map[string]string    // files of statements, by TABLE.ENGINE
	skipped      []error              // by question: the reason why it is skipped; nil = it is not
	resumed      bool                 // an interrupted run, whose loaded tables are kept
	began        time.Time            // when the run started
	reportedAt   time.Time            // when it last reported its progress
}

// timeLimitReached is the start of the warning about a run that its time limit ended. Such a run can be resumed.
const timeLimitReached = "the time limit of "

func isTimeLimitReached(warning string) bool { return strings.HasPrefix(warning, timeLimitReached) }

// overdue reports whether the time limit of the run has passed. If so, it warns that the run ends before next is complete.
func (r *runner) overdue(next string) bool {
	if r.TimeLimit == 0 || r.Now().Sub(r.began) < r.TimeLimit {
		return false
	}
	text := fmt.Sprintf(timeLimitReached+"%s ended the run before %s was complete; to continue, run the same command "+
		"with --out RUNFOLDER and a longer --time-limit", r.TimeLimit, next)
	r.folder.Warn(text)
	r.Progress(text)
	return true
}

// withTimeout calls f, which runs a query, with a context that ends after the timeout.
func (r *runner) withTimeout(ctx context.Context, q *Question, scheme string, f func(ctx context.Context) error) error {
	if r.Timeout == 0 {
		return f(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	err := f(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		file, line := q.Place(scheme)
		return &fault.Error{
			File: file, Line: line,
			Problem: fmt.Sprintf("%s did not complete %s within %s", scheme, q.Name, r.Timeout),
			Cure:    "write a larger --timeout, or change the query",
		}
	}
	return err
}

// Run reads the files, loads the tables, proves the results, and times the queries. After an error, folder has the
// measurements made before it.
func Run(ctx context.Context, p Program, folder *run.Folder) (err error) {
	if p.Tolerance == 0 {
		p.Tolerance = answer.Tolerance
	}
	if p.Drop == nil {
		p.Drop = measure.DropCaches
	}
	p.Memory = cmp.Or(p.Memory, DefaultMemory)
	if p.Reps == 0 {
		p.Reps = measure.RepsFor(max(len(p.Engines)-1, 1) * len(p.Questions))
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	p.Progress = serialized(p.Progress)
	r := &runner{Program: p, folder: folder, began: p.Now(), reportedAt: time.Now()}
	// A resumed run reads its files again, and tries again to load missing tables.
	folder.Run.Archives, folder.Run.Data = nil, run.Data{Source: folder.Run.Data.Source}
	folder.DropWarnings(func(w string) bool { return strings.Contains(w, lacksTable) || isTimeLimitReached(w) })
	r.resumed = folder.Run.Own != nil
	before := cmp.Or(folder.Run.Own, &run.Own{})
	folder.Run.Own = &run.Own{
		Tolerance: p.Tolerance, Streams: p.Streams, StreamDuration: p.Duration,
		Tables: before.Tables, Checksums: before.Checksums,
	}
	if folder.Run.Reps = p.Reps; len(p.Streams) == 0 {
		folder.Run.Own.StreamDuration = 0
	}
	if r.work, err = workFolder(folder.Dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(), os.RemoveAll(r.work)) }()
	if err := r.open(ctx); err != nil {
		return err
	}
	for _, step := range []func(ctx context.Context) error{
		func(ctx context.Context) error { return r.readSameTables(ctx, before) },
		r.computeReference, r.load, r.prove, r.timeWarm, r.timeCold, r.measureStreams,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := folder.Save(); err != nil {
			return err
		}
	}
	if err := folder.ExitError(ErrWrong, ErrFailed); fault.Code(err) != 0 {
		return err
	}
	if len(r.unread) > 0 {
		err := fmt.Errorf("%s skipped: %w", run.CountOf(len(r.unread), "table"), errors.Join(r.unread...))
		return &fault.Status{Code: fault.Incomplete, Err: err}
	}
	return nil
}

// readSameTables reads the tables. before has those of the interrupted run, which must be the same. If they are not, or
// cannot all be read, the run folder keeps listing them, because the next run compares its tables with them too.
func (r *runner) readSameTables(ctx context.Context, before *run.Own) error {
	r.folder.Run.Own.Tables = nil
	err := r.read(ctx)
	if err == nil {
		err = r.checkSameInputs(before)
	}
	if err != nil && before.Tables != nil {
		r.folder.Run.Own.Tables = before.Tables
	}
	return err
}

// workFolder creates the temporary folder of a run. Its name depends on the run folder, so a resumed run removes the
// files of a killed one.
func workFolder(runFolder string) (string, error) {
	path, err := filepath.Abs(runFolder)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Append(nil, os.Getuid(), path))
	path = filepath.Join(os.TempDir(), "barograph-own-"+hex.EncodeToString(sum[:8]))
	if err = os.RemoveAll(path); err == nil {
		err = os.Mkdir(path, 0o755) //nolint:gosec // a server under another account may read it
	}
	if err != nil {
		return "", &fault.Error{File: path, Problem: "cannot be replaced", Err: err, Cure: "remove it, or set TMPDIR to another folder"}
	}
	return path, os.Chmod(path, 0o755) //nolint:gosec // a server under another account may read it
}

// maxTolerance is the largest allowed --tolerance.
const maxTolerance = 1e-3

// DefaultMemory is the memory limit of a DuckDB over the files.
const DefaultMemory = "1GB"

var memorySize = regexp.MustCompile(`(?i)^[0-9]+(\.[0-9]+)?\s?[kmgt]i?b$`)

// Check refuses an invalid tolerance or memory limit, and engines that cannot confirm one another.
func (p *Program) Check() error {
	if p.Memory != "" && !memorySize.MatchString(p.Memory) {
		return fault.Misuse("--memory "+p.Memory, "is not a size", "write a number with its unit: --memory 2GB")
	}
	if p.Tolerance > maxTolerance || p.Tolerance < 0 || math.IsNaN(p.Tolerance) {
		return fault.Misuse(fmt.Sprintf("--tolerance %g", p.Tolerance), "would accept nearly every result, or none",
			fmt.Sprintf("write a number from 0 to %g", maxTolerance))
	}
	hasOther := false // an engine other than DuckDB
	var seen []string
	for _, raw := range p.Engines {
		name, url := engine.SplitName(raw)
		d, _, err := p.Registry.Parse(url)
		if err != nil {
			return &fault.Status{Code: fault.Usage, Err: err}
		}
		if !tables.Offers(d, tables.OwnTables) {
			return fault.Misuse("--engine "+d.Scheme, "cannot store your own tables",
				"choose one of "+strings.Join(Names(p.Registry), ", "))
		}
		if err := d.Require(false); err != nil && d.Place == engine.Embedded {
			return err
		}
		if name == "" {
			name = d.Scheme
		}
		if slices.Contains(seen, name) {
			return fault.Misuse("--engine "+fault.Redact(raw), "is a second engine "+name,
				"give it another name: --engine b="+fault.Redact(url))
		}
		seen = append(seen, name)
		hasOther = hasOther || d.Scheme != reference
	}
	if !hasOther {
		return fault.Misuse("--engine",
			"names only DuckDB, which also computes the reference, so no other engine confirms the results",
			"add another engine: --engine sqlite:own.sqlite")
	}
	return nil
}

// open opens DuckDB for the reference, and all engines of the study.
func (r *runner) open(ctx context.Context) error {
	if err := r.Check(); err != nil {
		return err
	}
	add := func(name, url string) (*participant, error) {
		d, u, err := r.Registry.Parse(url)
		if err != nil {
			return nil, err
		}
		if name == "" {
			name = d.Scheme
		}
		served := lab.Serving([]string{r.Labs}, d, u)
		p := &participant{name: name, scheme: d.Scheme, url: url, place: d.Place, serverPIDs: served.PIDs()}
		r.participants = append(r.participants, p)
		if err := r.checkCold(p, engine.Path(u)); err != nil {
			return nil, err
		}
		err = r.connect(ctx, p, r.resumed)
		if err != nil && p.db != nil && r.resumed { // the tables of a killed run cannot be opened: start without them
			err = errors.Join(p.disconnect(), r.connect(ctx, p, false))
		}
		if err != nil {
			return nil, err
		}
		about, err := p.db.About(ctx)
		a := study.Participant(d, u.String(), about, served.Server())
		a.Engine = name
		r.folder.Run.Archives = append(r.folder.Run.Archives, a)
		return p, err
	}
	p, err := add("DuckDB over the files", r.overFiles())
	if err != nil {
		return err
	}
	r.ref = p.own
	if err := exec(ctx, r.ref, noFileCache); err != nil {
		return err
	}
	for _, raw := range r.Engines {
		name, url := engine.SplitName(raw)
		if _, err := add(name, url); err != nil {
			return err
		}
	}
	return nil
}

// overFiles returns the URL of a DuckDB over the files. DuckDB writes into the temporary folder what exceeds its memory
// limit.
func (r *runner) overFiles() string {
	options := url.Values{"memory_limit": {r.Memory}, "temp_directory": {filepath.Join(r.work, "spilled")}}
	return reference + "::memory:?" + options.Encode()
}

// noFileCache turns off DuckDB's cache of file contents. Otherwise each DuckDB over the files (the reference, and the
// DuckDB of variants) would fill its memory with the contents.
const noFileCache = "SET GLOBAL enable_external_file_cache = false"

// connect opens an engine. keep = the tables of an earlier run remain.
func (r *runner) connect(ctx context.Context, p *participant, keep bool) (err error) {
	if p.db, err = r.Registry.Open(ctx, p.url, engine.Options{Log: r.Log, Threads: r.Threads}); err != nil {
		return err
	}
	if p.pids = append(slices.Clone(p.serverPIDs), p.db.Processes...); len(p.db.Processes) > 0 {
		p.place = engine.Remote // its processor time is that of another process
	}
	p.own, err = tables.DatabasesOf(p.db).Own(ctx, keep)
	return err
}

// reopenError is the error of an engine that Barograph could not open again after a cold repetition.
func (p *participant) reopenError() error {
	return engine.UnreachableError(p.name, errors.New("it could not be opened again"), "look at its cold results")
}

// disconnect closes an engine, which keeps its tables.
func (p *participant) disconnect() (err error) {
	if p.own != nil {
		err = p.own.Close()
	}
	if p.db != nil {
		err = errors.Join(err, p.db.Close())
	}
	p.own, p.db = nil, nil
	return err
}

func (r *runner) close() (err error) {
	for _, p := range r.participants {
		err = errors.Join(err, p.disconnect())
	}
	return err
}

// measured returns the engines to time: all except the reference.
func (r *runner) measured() []*participant { return r.participants[1:] }

// read finds the tables with their columns and rows. It skips a table that cannot be read, records
// the reason, and continues with the others.
func (r *runner) read(ctx context.Context) (err error) {
	declared, err := readDeclaration(r.Types, r.Tables)
	if err != nil {
		return err
	}
	if r.folders, err = absolute(r.Tables, r.work); err != nil {
		return err
	}
	for _, p := range r.participants {
		if p.own.Confine != nil {
			if err := p.own.Confine(ctx, r.folders...); err != nil {
				return err
			}
		}
	}
	sources, unused, definitions, err := findTables(r.Tables, declared, r.definitionKey)
	if err != nil {
		return err
	}
	r.definitions = definitions
	for _, key := range slices.Sorted(maps.Keys(definitions)) {
		table, scheme, _ := strings.Cut(key, ".")
		why := "is not data, but statements that " + scheme + " runs after it has loaded " + table
		if !slices.ContainsFunc(sources, func(s *source) bool { return s.table.Name == table }) {
			why = "has statements for a table " + table + ", but no file or folder has this name"
			r.folder.Warn(fault.Name(definitions[key]) + " " + why)
		}
		unused = append(unused, run.SkippedFile{File: definitions[key], Reason: why})
	}
	own := r.folder.Run.Own
	own.SkippedFiles = unused
	for name := range declared.tables {
		if !slices.ContainsFunc(sources, func(s *source) bool { return s.table.Name == name }) {
			return &fault.Status{Code: fault.Usage, Err: &fault.Error{
				File:    declared.file,
				Problem: "declares table " + name + ", but no file or folder has this name",
				Cure:    "name the table like its file or folder",
			}}
		}
	}
	for _, s := range sources {
		r.Progress("reading " + s.table.Name)
		s.declared = declared
		s.problem = r.withProgress("reading "+s.table.Name, s.position, func() error { return s.read(ctx, r.ref, r.work) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if f, ok := errors.AsType[*fault.Error](s.problem); ok {
			f.Cure = cureOf(s.problem, f.Cure)
		}
		if s.problem != nil {
			s.out.Problem = fault.Redact(s.problem.Error())
			r.unread = append(r.unread, s.problem)
		} else {
			r.tables = append(r.tables, s.table)
		}
		own.Tables = append(own.Tables, *s.out)
		r.folder.Run.Data.Files += len(s.out.Files)
		r.folder.Run.Data.Bytes += s.out.Bytes
		r.folder.Run.Data.Records += s.out.Rows
	}
	for _, line := range own.Accounting() {
		r.Progress(line)
	}
	if len(r.tables) == 0 {
		return fmt.Errorf("no table can be read: %w", errors.Join(r.unread...))
	}
	return nil
}
