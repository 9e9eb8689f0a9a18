package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/formats"
	"github.com/barograph/barograph/formats/metviewer"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/run"

	"github.com/spf13/cobra"
)

func newLoad(e *env) *cobra.Command {
	var j loadJob
	var spec, watch, maxAge string
	var settle time.Duration
	conflict := choice{string(load.Refuse), []string{string(load.Refuse), string(load.First), string(load.Last), string(load.Keep)}}
	var last *choice
	c := &cobra.Command{
		Use:   "load FILES… --engine URL [--design D] [--subset S] | load --watch DIR --engine URL | load --spec LOAD.xml [--engine URL]",
		Short: "Load VSDB and MET files into an archive",
		Long: `Load reads VSDB files and MET .stat files (with their _TYPE.txt files), plain or gzip, and folders of them.

Barograph accounts for every line: read = stored + duplicates + conflicts + quarantined. A conflict is a line with the
same identity as an existing record and different values; --on-conflict decides:
  refuse  keep the existing record (within one load, the first line); the exit status is 4
  first   keep the line that comes first by the path of its file, then by its line number
  last    keep the line that comes last
  keep    store every conflicting line, as METdbLoad does; later loads into the subset also use keep
Cassandra, AsterixDB (normalized) and MariaDB (wide) refuse "keep": they store only one record of an identity.

Load skips known files: those with the same path, size and modification time, or with the same bytes. With --rehash
only the bytes count. Rerun an interrupted load: the archive ends up identical. A load into an embedded archive waits for
others (--wait). Loads into a server take turns.

--retain 400d removes records whose fcst_valid_beg is more than 400 days before the newest one. A wrong newest time would
remove too many. Load therefore refuses to remove more than --retain-limit percent of the records if they cover more days
than the load added, or if a gap longer than --retain separates them from the rest. To reload removed records: --rehash.

--spec reads a load_spec of METdbLoad or VxIngest: the files, the subset, and the target if --engine is missing.`,
		Example: `  barograph load vsdb_data --engine duckdb:archive.db --design wide
  barograph load 'stat/*.stat' --engine sqlite:archive.db --design document --subset retro1
  barograph load --watch /data/met --retain 400d --engine lab:postgres
  barograph load --spec load_spec.xml --engine duckdb:archive.db`,
		Args: func(c *cobra.Command, args []string) error {
			if spec == "" && watch == "" {
				return cobra.MinimumNArgs(1)(c, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("--spec and --watch name the files; leave out %s", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) (err error) {
			if spec != "" {
				if args, j.loadSpec, err = e.readLoadSpec(spec, &j.archiveRef, c.Flags().Changed("subset")); err != nil {
					return err
				}
				j.Accept = j.loadSpec.Includes
			}
			if maxAge != "" {
				if j.retain.MaxAge, err = retention(maxAge); err != nil {
					return err
				}
			} else if j.dryRun || j.retain.Force || c.Flags().Changed("retain-limit") {
				return fault.Misuse("--dry-run, --force, --retain-limit", "need --retain", "add --retain 400d")
			}
			if os.Getenv("GOGC") == "" { // most of the heap lives until the commit, so 50 % of garbage is enough
				defer debug.SetGCPercent(debug.SetGCPercent(50))
			}
			j.KeepLast = last.keeps()
			if c.Flags().Changed("on-conflict") { // without the flag, a subset that keeps all lines still keeps all
				j.OnConflict = load.OnConflict(conflict.word)
			}
			if watch != "" {
				return e.watch(c.Context(), &j, watch, settle)
			}
			return e.load(c.Context(), &j, args)
		},
	}
	j.flags(c, e, "to")
	f := c.Flags()
	f.StringVar(&spec, "spec", "", "load the files that this load_spec (XML of METdbLoad or VxIngest) names")
	c.MarkFlagsOneRequired(engineFlag, "spec")
	f.StringVar(&watch, "watch", "", "load files as they arrive in this folder or its subfolders, until ^C or SIGTERM")
	f.DurationVar(&settle, "settle", 5*time.Second, "with --watch: load a file when it has not changed for this long")
	f.DurationVar(&j.lockTimeout, "wait", 30*time.Second, "how long to wait while another process has the archive open (barograph serve releases it within a second)")
	f.StringVar(&maxAge, "retain", "", "after the load, remove records that are older than the newest one by more than this, e.g. 400d")
	f.Float64Var(&j.retain.Limit, "retain-limit", load.DefaultLimit, "with --retain: percentage of the records that load removes without checks, at most")
	f.BoolVar(&j.retain.Force, "force", false, "with --retain: remove records even if a check fails")
	f.BoolVar(&j.dryRun, "dry-run", false, "with --retain: change nothing, and list what would be removed")
	f.BoolVar(&j.Rehash, "rehash", false, "compare the bytes of known files, and reload records that --retain removed")
	f.IntVar(&j.Workers, "workers", 0, "files parsed at once (default: one per CPU)")
	f.IntVar(&j.Window, "window", load.DefaultWindow, "records per commit, at most")
	positive(c, "window")
	f.StringVar(&j.quarantine, "quarantine", "", "write quarantined lines and conflicts to this CSV file (default: the first ten to stderr)")
	f.Var(&conflict, "on-conflict", "refuse, first, last or keep")
	last = lastLine(c)
	seldom(c, "dry-run", "force", "last-line", "rehash", "retain-limit", "settle", "wait", "window", "workers")
	e.spreadsheet(c)
	f.BoolVar(&j.verify, "verify", false, "after the load, verify the archive, as \"barograph verify\" does")
	for _, other := range []string{"spec", "quarantine", "verify", "dry-run"} {
		c.MarkFlagsMutuallyExclusive("watch", other)
	}
	return c
}

// choice is a flag whose value is one of a few words.
type choice struct {
	word    string
	options []string
}

func (c *choice) Set(word string) error {
	if !slices.Contains(c.options, word) {
		return errors.New("choose one of " + strings.Join(c.options, ", ") + fault.Meant(word, c.options))
	}
	c.word = word
	return nil
}

func (c *choice) String() string { return c.word }

// Type names the values in the help.
func (*choice) Type() string { return "string" }

const keepLine = "keep"

// keeps reports whether --last-line=keep was given. A command that lacks the flag quarantines
// the line.
func (c *choice) keeps() bool { return c != nil && c.word == keepLine }

// lastLine is the flag --last-line.
func lastLine(c *cobra.Command) *choice {
	f := &choice{"quarantine", []string{"quarantine", keepLine}}
	c.Flags().Var(f, "last-line", "what to do with a file's last line if it has no line end and so may be truncated: quarantine or keep")
	return f
}

// loadJob has the flags of a load.
type loadJob struct {
	archiveRef
	load.Options
	quarantine  string
	verify      bool
	lockTimeout time.Duration       // for other processes that have the archive open
	retain      load.Retention      // MaxAge = 0: the load removes nothing
	dryRun      bool                // print what --retain would remove, and write nothing
	loadSpec    *metviewer.LoadSpec // of --spec; nil = none
	inputs      []string            // absolute paths of the files and folders; nil = standard input or very many
}

func (e *env) load(ctx context.Context, j *loadJob, args []string) error {
	files, err := e.files(args, "--engine")
	if err != nil {
		return err
	}
	if len(args) <= 100 && !slices.Contains(args, formats.Stdin) {
		// Abs fails only without a current folder; then Expand has found no file with a relative name.
		j.inputs = lists.Map(args, func(name string) string { absolute, _ := filepath.Abs(name); return absolute })
	}
	if j.dryRun {
		return e.previewRemoval(ctx, j, files)
	}
	return e.loadFiles(ctx, j, files, func(r *load.Result) error { return e.print(r, r.Text) })
}

// open opens the archive, if the engine can do what the flags request.
func (j *loadJob) open(ctx context.Context, e *env, o engine.Options) (*openArchive, error) {
	a, err := j.archiveRef.open(ctx, e, o)
	if err == nil && j.retain.MaxAge > 0 && archive.OfferOf(a.driver).NoTrim {
		err = fault.Misuse("--retain", a.driver.Scheme+" cannot remove records from an archive", "load into a new subset from time to time")
		return nil, errors.Join(err, a.Close())
	}
	return a, err
}

// previewRemoval lists the records that --retain would remove after this load.
func (e *env) previewRemoval(ctx context.Context, j *loadJob, files []string) error {
	a, err := j.open(ctx, e, engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer a.Close() //nolint:errcheck // nothing was written
	out, err := j.retain.Preview(ctx, a, j.subset, files, j.Options)
	if err != nil {
		return err
	}
	return errors.Join(e.print(out, out.Text), out.Err())
}

// openForLoad opens the archive. If the engine is embedded, it first waits until no other process loads into it.
// created is the file or folder that openForLoad created; "" = the archive existed.
func (j *loadJob) openForLoad(ctx context.Context, e *env) (a *openArchive, created string, unlock func(), err error) {
	file := ""
	if d, u, err := e.engines.Parse(j.url); err == nil {
		file = archive.LoadingFile(d, u)
	}
	wait := lockWait{e: e, until: time.Now().Add(j.lockTimeout), limit: j.lockTimeout}
	if err = wait.call(ctx, func() (err error) { unlock, err = e.lockForLoad(file); return err }); err != nil {
		return nil, "", nil, err
	}
	created = j.absentFile(e) // after the wait: the other load may have created the file
	if err = wait.call(ctx, func() (err error) {
		if a, err = j.open(ctx, e, engine.Options{}); errors.Is(err, engine.ErrLocked) {
			err = errors.Join(err, e.requestClose(file))
		}
		return err
	}); err != nil {
		unlock()
	}
	return a, created, unlock, err
}

// lockWait limits how long a load waits for other processes that have its archive open.
type lockWait struct {
	e         *env
	until     time.Time
	limit     time.Duration
	announced bool
}

// call repeats f until the archive is not locked, or until the time limit.
func (w *lockWait) call(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || !errors.Is(err, engine.ErrLocked) || time.Now().After(w.until) {
			return err
		}
		if !w.announced {
			w.announced = true
			w.e.info(fmt.Sprintf("load waits for up to %s (--wait): %s", w.limit, fault.Text(err)))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// absentFile returns the file or folder that opening the archive will create; "" if it exists
// already, and for servers.
func (j *loadJob) absentFile(e *env) string {
	d, u, err := e.engines.Parse(j.url)
	if err == nil && d.Place == engine.Embedded {
		if _, err := os.Lstat(engine.Path(u)); errors.Is(err, fs.ErrNotExist) {
			return engine.Path(u)
		}
	}
	return ""
}

// loadFiles loads files, and calls report with the result. If the archive lacks lines of the files after the load,
// loadFiles returns an error too.
func (e *env) loadFiles(ctx context.Context, j *loadJob, files []string, report func(*load.Result) error) error {
	a, created, unlock, err := j.openForLoad(ctx, e)
	if err != nil {
		return err
	}
	defer unlock()
	empty := false
	defer func() {
		if created != "" && empty { // this load created the archive and stored nothing
			_ = os.RemoveAll(created)
		}
	}()
	defer a.Close() //nolint:errcheck // every commit is durable
	if err := e.mayWrite("--quarantine", j.quarantine, files); err != nil {
		empty = true
		return err
	}
	rejects, err := load.NewRejectList(j.quarantine, e.stderr, e.csvCell)
	if err != nil {
		empty = true
		return err
	}
	bar := newProgress(e)
	defer bar.stop()
	var totalBytes int64
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			totalBytes += st.Size()
		}
	}
	o := j.Options
	o.Log, o.Reject, o.Conflict, o.Loading = e.log(), rejects.Reject, rejects.Conflict, e.loadingProcess()
	o.Loading.Inputs = j.inputs
	o.Progress = func(p load.Progress) { bar.update(p.Step, p.Bytes, totalBytes, true) }
	o.InFlight = func(l design.Loading) bool {
		inFlight := archive.InFlight(&l)
		if inFlight {
			e.info(fmt.Sprintf("%s, subset %s, %s; the two loads take turns", fault.Redact(j.url), j.subset, loadInProgress(&l)))
		}
		return inFlight
	}
	sum, err := load.Run(ctx, a.Archive, j.subset, files, o)
	var refused int64
	if err == nil {
		refused = sum.Refused(o.OnConflict, rejects.Conflict)
	}
	if err = errors.Join(err, rejects.Close()); err != nil {
		return err
	}
	bar.finish("loading", rate(sum))
	empty = len(sum.Files)+len(sum.Skipped) == 0 && sum.Stored == 0 // an unreadable file may have stored its first records
	if err := label(ctx, a, j.subset, j.loadSpec); err != nil {
		return err
	}
	var removal *load.Removal
	if j.retain.MaxAge > 0 {
		j.retain.Before = sum.Before
		if removal, err = load.Retain(ctx, a, j.subset, j.retain); err != nil {
			return err
		}
		if sum.Catalog, err = a.Catalog(ctx, j.subset); err != nil {
			return err
		}
	}
	out, err := sum.Result(ctx, a, j.subset, design.Name(j.design))
	if err != nil {
		return err
	}
	out.Archive, out.Refused, out.Retention = fault.Redact(j.url), refused, removal
	if created != "" && empty {
		out.BytesOnDisk = 0 // the created file is removed
	}
	if removal != nil && !removal.Refused {
		out.Removed, out.RemovedBefore = removal.Records, removal.Cutoff
	}
	incompleteErr := errors.Join(sum.Incomplete(refused), removal.Err())
	if incompleteErr != nil && len(out.Failed) > 0 {
		incompleteErr = fmt.Errorf("%w; the first: %s", incompleteErr, out.Failed[0])
	}
	if err := report(out); err != nil || !j.verify {
		return errors.Join(err, incompleteErr)
	}
	v, err := load.Verify(ctx, a.Archive, j.subset)
	if err != nil {
		return err
	}
	return errors.Join(e.printVerdicts([]verdict{newVerdict(j.url, design.Name(j.design), j.subset, v)}), incompleteErr)
}

// label stores the description of the database from a load_spec in the tables that METviewer reads.
func label(ctx context.Context, a *openArchive, subset string, s *metviewer.LoadSpec) error {
	labeler, ok := a.Archive.(archive.Labeler)
	if s == nil || !ok {
		return nil
	}
	l := archive.Label{Group: s.Group, Description: s.Description, Note: s.Note}
	if s.KeepXML {
		l.XML = s.XML
	}
	if u, err := user.Current(); err == nil { // after an error the label names no user
		l.User = u.Username
	}
	return labeler.Label(ctx, subset, l)
}

// retention parses a time span such as 400d or 36h.
func retention(text string) (d time.Duration, err error) {
	d, err = time.ParseDuration(text)
	if number, inDays := strings.CutSuffix(text, "d"); inDays {
		days, notNumber := strconv.Atoi(number)
		d, err = time.Duration(min(max(days, 0), maxDays+1))*24*time.Hour, notNumber // more days may exceed a Duration
	}
	if err != nil || d <= 0 || d > maxDays*24*time.Hour {
		return 0, fault.Misuse("--retain "+text, "is not a time span", "write 400d or 36h")
	}
	return d, nil
}

// maxDays is close to the limit of time.Duration.
const maxDays = 100_000

func rate(s *load.Summary) string {
	t := s.Elapsed.Seconds()
	return fmt.Sprintf("%s, %.1f MB/s, %.0f records/s", run.CountOf(len(s.Files), "file"), float64(s.Bytes)/1e6/t, float64(s.Read)/t)
}
