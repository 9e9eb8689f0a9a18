package load

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// Options configures Run; the zero value is the default.
type Options struct {
	Workers int // files parsed at the same time; 0 = one per CPU
	Window  int // maximum number of records per commit; 0 = DefaultWindow
	// Rehash reads the bytes of all files, also if size and modification time did not change. It also
	// restores records that Retain removed.
	Rehash bool
	// KeepLast accepts a last line without a line end as complete. Files with quarantined lines are
	// then read again.
	KeepLast bool
	// Accept decides which line types are stored; nil = all. A file counts as loaded also if Accept excluded some of its
	// lines: a later load into the same subset skips it, whatever its Accept.
	Accept     func(lineType string) bool
	ParseCache *ParseCache         // batches of files that were parsed before; nil = none
	Origin     *Origin             // an archive that is copied; nil = files are loaded
	Log        *slog.Logger        // nil = discard
	Progress   func(Progress)      // called after every batch and commit, in one goroutine
	Reject     func(record.Reject) // called for every quarantined line, in order

	// Loading describes this load. Commits before the last one write it into the catalog, to show that
	// the archive is not complete; nil = nothing is written.
	Loading *design.Loading
	// InFlight reports whether the load that the catalog names is still running. If it is and has the same command, this
	// load does not write its own Loading.
	InFlight func(design.Loading) bool

	// "" = Refuse, or Keep if the subset keeps conflicts. A copy of a subset that keeps conflicts always keeps them.
	OnConflict OnConflict
	Conflict   func(design.Conflict) // called for every record to which two lines give different values
}

// DefaultWindow is the maximum number of records per commit. A window of records with many columns
// is committed earlier, at about 64 MB of memory. The next window is filled during the commit.
const DefaultWindow = 1 << 18

// Progress describes the progress of a load.
type Progress struct {
	Step            string // "loading", "counting"
	Files, AllFiles int
	Bytes           int64 // parsed bytes of the files
	Committed       int64 // of Bytes: those whose records were committed
	Read            int64 // data lines
}

// Summary describes what a load did. Read = Stored + Duplicates + Conflicts + Quarantined.
type Summary struct {
	Files   []archive.Mark // the files loaded, in order
	Skipped []string       // files that the archive already has, or that repeat another file of this load
	Failed  []error        // files that could not be read, or not to their end
	// files of which the archive lacks lines, because they are quarantined, refused or could not be
	// read
	IncompleteFiles       []string
	SkippedWithQuarantine []archive.Mark // skipped files that have quarantined lines

	Read, Stored int64
	// records whose identity already existed. Duplicates have the same values. Conflicts have different
	// values; the policy decides which are stored.
	Duplicates, Conflicts int64
	Quarantined           int64
	Kept                  int64 // of Stored: records stored in addition to others of their identity, see Keep

	ShortenedTexts map[string]int64 // see archive.CommitResult

	Bytes       int64            // size of the loaded files
	NotAccepted map[string]int64 // lines that Options.Accept excluded, by line type; Read does not include them
	// number of records with columns that no design stores; the key names line type and columns: "MPR: OBS_PRS PREP_USE"
	OmittedColumns map[string]int64
	Before         *design.Catalog // catalog of the subset before the load
	Catalog        *design.Catalog // catalog of the subset after the load
	// what the engine counted in the archive after the load; nil = nothing was counted, see check
	Counted *archive.Contents
	Commits int
	Elapsed time.Duration // from the call to the last durable commit
}

// Run loads files into one subset of an archive, in the order of their paths.
//
// It is idempotent: it skips a file whose bytes the archive knows, and a record that exists
// already. It reports a file that cannot be read in Summary.Failed and continues with the others.
// An error means that the archive did not accept records; earlier commits are complete.
func Run(ctx context.Context, a archive.Archive, subset string, paths []string, o Options) (*Summary, error) {
	start := time.Now()
	o.Log, o.Window = cmp.Or(o.Log, slog.New(slog.DiscardHandler)), cmp.Or(max(o.Window, 0), DefaultWindow)
	if err := o.checkKeep(a, subset); err != nil {
		return nil, err
	}
	r := &loadRun{
		archive: a, options: o, paths: paths, files: map[string]*archive.Mark{}, seenDigests: map[string]bool{},
		progress: Progress{Step: "loading", AllFiles: len(paths)}, release: func(*record.Batch) {}, rejects: map[string]*design.Quarantine{},
		fileCatalogs: map[string]*design.Catalog{}, located: map[string]archive.Mark{}, incompleteDigests: map[string][]string{},
	}
	r.summary.OmittedColumns, r.summary.ShortenedTexts, r.summary.NotAccepted = map[string]int64{}, map[string]int64{}, map[string]int64{}
	maxMarks := int64(len(paths)) * marksPerFile
	if o.Origin != nil {
		maxMarks = math.MaxInt64
	}
	var err error
	if r.marks, err = newMarks(ctx, a, subset, maxMarks); err != nil {
		return nil, err
	}
	if r.loader, err = a.Loader(ctx, subset); err != nil {
		return nil, err
	}
	defer r.loader.Close() //nolint:errcheck // drops what was not committed
	before, err := r.countBefore(ctx, subset)
	if err != nil {
		return nil, err
	}
	if !o.ParseCache.sharesBatches() {
		r.release = release
	}
	r.window, r.spare = newWindow(subset, r.onExisting, r.release), newWindow(subset, r.onExisting, r.release)
	err = Read(ctx, paths, r.readOptions(ctx),
		func(f *File, b *record.Batch) error { return r.addBatch(ctx, f, b) }, func(f *File) error { return r.finishFile(ctx, f) })
	if err == nil {
		r.isLastCommit = true
		err = r.commit(ctx)
	}
	if waited := r.await(ctx); err == nil { // the loader must not be in use when it is closed
		err = waited
	}
	if err != nil {
		return &r.summary, fmt.Errorf("load into %s stopped after %d complete commits; run it again to continue: %w", subset, r.summary.Commits, err)
	}
	r.summary.Elapsed = time.Since(start)
	return &r.summary, r.check(ctx, subset, before)
}

// readOptions decides what is read: the origin, unless the archive contains it, or files.
func (r *loadRun) readOptions(ctx context.Context) ReadOptions {
	o := r.options.readOptions(ctx, r.marks, r.summary.Before)
	if o.Origin = r.options.Origin; o.Origin != nil {
		contained := o.Origin.isContained(r.marks.byDigest, r.summary.Before)
		o.Skip = func(string) (bool, error) { return contained, nil }
	}
	return o
}

// readOptions decides which files are parsed, by the marks of the archive. The marks do not record
// which files contain records that Retain removed. After a removal, Rehash therefore parses all
// files. First, Last and Keep also parse the files with lines that an earlier load refused.
func (o *Options) readOptions(ctx context.Context, marks *marks, c *design.Catalog) ReadOptions {
	out := ReadOptions{Workers: o.Workers, KeepLast: o.KeepLast, ParseCache: o.ParseCache}
	reparse := o.Rehash && c.Trimmed > 0
	decides := func(one design.Conflict) bool { return one.Refused && o.OnConflict != Refuse && o.OnConflict != "" }
	refused := lists.Set(lists.Filter(c.Conflicts, decides), func(one design.Conflict) string { return one.Dropped.File })
	out.Skip = func(digest string) (bool, error) {
		m, known, err := marks.find(ctx, digest)
		return known && !reparse && !refused[m.Path] && (m.Quarantined == 0 || !o.KeepLast), err
	}
	if !o.Rehash {
		byPath := make(map[string]archive.Mark, len(marks.all))
		for _, m := range marks.all {
			byPath[m.Path] = m
		}
		out.Known = func(path string) (archive.Mark, bool) { m, ok := byPath[path]; return m, ok }
	}
	return out
}

// countBefore returns the number of records that the subset's catalog counts. Early versions of Barograph wrote
// catalogs without counts; in this case it reads all records once and rebuilds the catalog.
func (r *loadRun) countBefore(ctx context.Context, subset string) (records int64, err error) {
	c, err := intactCatalog(ctx, r.archive, subset)
	if err != nil {
		return 0, err
	}
	if err := r.options.applyPolicy(c); err != nil {
		return 0, err
	}
	if !c.Counted || !c.Sealed {
		r.options.Log.Info("the archive is from an earlier version: counting its records once", "subset", subset)
		rebuilt, err := rebuildCatalog(ctx, r.archive, subset, r.marks.all)
		if err == nil {
			_, err = r.loader.Commit(ctx, archive.Commit{Catalog: rebuilt, ReplacedCatalog: c})
		}
		if err != nil && !errors.Is(err, archive.ErrChanged) { // another load may have rebuilt it first
			return 0, err
		}
		return r.countBefore(ctx, subset)
	}
	r.summary.Before = c
	if l := c.Loading; l != nil && r.options.Loading != nil {
		inFlight := r.options.InFlight != nil && r.options.InFlight(*l)
		if r.loadingRecorded = r.options.Loading.Continues(l); r.loadingRecorded && inFlight {
			r.options.Loading = nil
		}
	}
	for _, q := range c.Quarantine {
		if q.Lines > 0 {
			r.incompleteDigests[q.File] = append(r.incompleteDigests[q.File], q.Digest)
		}
	}
	return c.LoadedRecords(), nil
}

// rebuildCatalog builds the catalog of a subset by reading all its records. marks are those of the subset.
func rebuildCatalog(ctx context.Context, a archive.Archive, subset string, marks []archive.Mark) (*design.Catalog, error) {
	c, err := archive.BuildCatalog(ctx, a, subset)
	if err != nil {
		return nil, err
	}
	contents, err := a.Contents(ctx, subset)
	c.Objects, c.Files = contents.Objects, archive.SumMarks(marks)
	return c, err
}

// loadRun is a load in progress. Its methods are called from one goroutine.
type loadRun struct {
	archive           archive.Archive
	loader            archive.Loader // only the commit in flight uses it
	options           Options
	paths             []string        // of the files to load
	window            *window         // collects the records of the next commit
	spare             *window         // empty; nil during a commit
	inFlight          *commitInFlight // nil = no commit is in flight
	summary           Summary
	marks             *marks
	seenDigests       map[string]bool               // digests of files that this load has read to their end or skipped
	files             map[string]*archive.Mark      // files with uncommitted records, and the current file
	rejects           map[string]*design.Quarantine // quarantined lines of files that were not read to their end, by path
	complete          []*archive.Mark               // files whose last record the next commit stores
	incompleteDigests map[string][]string           // by path: digests of files with quarantined lines, see supersede

	forgottenMarks   []archive.Mark // marks that the next commit removes from the archive
	committedRecords int64          // records that commits reported as new
	trimmedRecords   int64          // records of an origin that this load counts as trimmed
	loadingRecorded  bool           // the archive's catalog may name a load with this load's command
	isLastCommit     bool           // the next commit is the last one

	release func(*record.Batch) // recycles a batch that is no longer used

	fileCatalogs map[string]*design.Catalog // by digest: catalogs of files that locate has read
	located      map[string]archive.Mark    // by path: digests of these files, and of files that locate has skipped

	progress      Progress
	finishedBytes int64 // bytes of the files that were read to their end
}

// addBatch adds one parsed batch of a file.
func (r *loadRun) addBatch(ctx context.Context, f *File, b *record.Batch) error {
	if r.seenDigests[f.Digest] { // this load has already read a file with the same bytes
		r.release(b)
		return nil
	}
	if r.options.OnConflict == Keep && !b.KeepConflicts {
		marked := *b // a copy, because a cache may pass b to other loads
		marked.KeepConflicts = true
		b = &marked
	}
	m := r.mark(f)
	r.progress.Read += int64(b.Lines)
	accepted := b.Len()
	if r.options.Accept != nil && accepted > 0 && !r.options.Accept(b.Type.Name) {
		r.summary.NotAccepted[b.Type.Name] += int64(accepted)
		m.Read -= int64(accepted)
		accepted = 0
	}
	m.Read += int64(b.Lines)
	m.Stored += int64(accepted)
	m.Quarantined += int64(len(b.Rejects))
	for _, q := range b.Rejects {
		r.rejects[f.Path].Add(q.Line, q.Reason)
		if r.options.Reject != nil {
			r.options.Reject(q)
		}
	}
	if accepted == 0 {
		r.release(b)
		return nil
	}
	for columns, n := range b.OmittedColumns {
		r.summary.OmittedColumns[b.Type.Name+": "+columns] += int64(n)
	}
	r.window.add(b)
	r.progress.Bytes = r.finishedBytes + f.Offset
	r.report()
	switch {
	case r.window.rows >= r.options.Window || r.window.bytes >= maxWindowBytes:
		return r.commit(ctx)
	case r.inFlight != nil && len(r.inFlight.outcome) > 0: // the commit in flight has finished
		return r.await(ctx)
	}
	return nil
}

// mark finds or creates the mark of the current file, and the list of its quarantined lines.
func (r *loadRun) mark(f *File) *archive.Mark {
	m := r.files[f.Path]
	if m == nil {
		m = &archive.Mark{Path: f.Path, Digest: f.Digest, Bytes: f.Bytes}
		r.files[f.Path], r.rejects[f.Path] = m, &design.Quarantine{File: f.Path, Digest: f.Digest}
		r.window.catalog.Reread[f.Path] = true
	}
	return m
}

// finishFile is called after all batches of a file.
func (r *loadRun) finishFile(ctx context.Context, f *File) error {
	r.progress.Files++
	r.finishedBytes += f.Bytes
	r.progress.Bytes = r.finishedBytes
	switch {
	case f.Err != nil:
		r.summary.Failed = append(r.summary.Failed, f.Err)
		r.summary.IncompleteFiles = append(r.summary.IncompleteFiles, f.Path)
		r.options.Log.Debug("file not loaded", "file", f.Path, "error", f.Err)
	case f.skip || r.seenDigests[f.Digest]:
		r.summary.Skipped = append(r.summary.Skipped, f.Path)
		// A repetition of another file of this load is not listed, because the other file is.
		if m := r.marks.cached(f.Digest); m.Quarantined > 0 && !r.seenDigests[f.Digest] {
			r.summary.SkippedWithQuarantine = append(r.summary.SkippedWithQuarantine, m)
			r.summary.IncompleteFiles = append(r.summary.IncompleteFiles, f.Path)
		}
		r.seenDigests[f.Digest] = true
	default:
		m := r.mark(f)
		m.Loaded, m.Modified = time.Now().UTC(), f.Time.UTC()
		r.seenDigests[f.Digest] = true
		r.complete = append(r.complete, m)
		if m.Quarantined > 0 {
			r.summary.IncompleteFiles = append(r.summary.IncompleteFiles, f.Path)
		}
		if err := r.supersede(ctx, f); err != nil {
			return err
		}
		if r.options.Origin != nil {
			r.trimmedRecords = r.options.Origin.describe(r.window.catalog, r.summary.Before.Trimmed)
		}
		// an empty list replaces the one of an earlier load, which quarantined lines of this file
		if q := r.rejects[f.Path]; q.Lines > 0 || r.marks.cached(f.Digest).Quarantined > 0 {
			r.window.catalog.AddQuarantine(*q)
		}
		delete(r.rejects, f.Path)
	}
	r.report()
	return nil
}

// supersede handles a file that an earlier load read before it was complete. It removes the earlier mark and quarantine
// list if the bytes of the earlier version are the beginning of this file. The stored records stay.
func (r *loadRun) supersede(ctx context.Context, f *File) error {
	for _, digest := range r.incompleteDigests[f.Path] {
		m, known, err := r.marks.find(ctx, digest)
		if err != nil {
			return err
		}
		if known && m.Path == f.Path && m.Bytes < f.Bytes && digestOf(f.Path, m.Bytes) == m.Digest {
			r.forgottenMarks = append(r.forgottenMarks, m.Removal())
			r.window.catalog.AddQuarantine(design.Quarantine{File: m.Path, Digest: m.Digest}) // an entry without lines erases the earlier one
		}
	}
	return nil
}

// digestOf returns the digest of the first n bytes of a file; "" = they cannot be read.
func digestOf(path string, n int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // nothing was written
	h := xxh3.New()
	if _, err := io.CopyN(h, f, n); err != nil {
		return ""
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:])
}

func (r *loadRun) report() {
	if r.options.Progress != nil {
		r.options.Progress(r.progress)
	}
}

// addToSummary moves a finished file to the summary.
func (r *loadRun) addToSummary(m *archive.Mark) {
	delete(r.files, m.Path)
	r.summary.Files = append(r.summary.Files, *m)
	r.summary.Bytes += m.Bytes
	r.addToTotals(m)
}

func (r *loadRun) addToTotals(m *archive.Mark) {
	r.summary.Read += m.Read
	r.summary.Stored += m.Stored
	r.summary.Duplicates += m.Replaced - m.Conflicts
	r.summary.Conflicts += m.Conflicts
	r.summary.Quarantined += m.Quarantined
}
