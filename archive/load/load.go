package load

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// Options of Run; the zero value is the default.
type Options struct {
	Workers  int                        // files parsed at once; 0 = one per CPU
	Window   int                        // records per commit at most; 0 = DefaultWindow
	Rehash   bool                       // read the bytes of files that have size and time of change of the ones that were loaded, and load again what Retain removed
	KeepLast bool                       // a last line without a line end is whole; files with lines in quarantine are then read again
	Accept   func(lineType string) bool // which lines are stored; nil = all
	Parsed   *Parsed                    // files that were read before; nil = none
	From     *Origin                    // an archive that is copied, in place of files
	Log      *slog.Logger               // nil = discard
	Progress func(Progress)             // called after every batch and commit, from one goroutine
	Reject   func(record.Reject)        // called for every quarantined line, in order

	Loading  *design.Loading           // this load, which the catalog names until the last commit; nil = it names none
	InFlight func(design.Loading) bool // reports whether a load that stands there is under way; then Loading does not replace it

	OnConflict OnConflict            // "" = Refuse, or Keep where the subset keeps all
	Conflict   func(design.Conflict) // called for every record that two lines give different values
}

// DefaultWindow is the number of records per commit. Records of many columns
// are committed earlier, at some 64 MB of memory, and the next is filled meanwhile.
const DefaultWindow = 1 << 18

// Progress is how far a load is.
type Progress struct {
	Step            string // "loading", "counting"
	Files, AllFiles int
	Bytes           int64 // parsed of the files
	Committed       int64 // of Bytes, in commits
	Read            int64 // data lines
}

// Summary is what a load did. Read = Stored + Same + Other + Quarantined.
type Summary struct {
	Files   []archive.Mark // the files loaded, in order
	Skipped []string       // files that the archive held already, or that repeat another file of this load
	Failed  []error        // files that could not be read, or not to their end
	Lacking []string       // files of which the archive lacks lines: in quarantine, or not read
	Held    []archive.Mark // of the files skipped: those of which the archive has lines in quarantine

	Read, Stored int64
	Same, Other  int64 // records that were there already: a duplicate, or with different values, which were dropped or replaced what was there
	Quarantined  int64
	Kept         int64 // of Stored: records that stand beside others of their identity, see Keep

	Cut map[string]int64 // see archive.CommitResult

	Bytes    int64             // of the files loaded
	ByType   map[string]int64  // records read, by line type
	NotTaken map[string]int64  // lines that Options.Accept left out, by line type; they are not among Read
	LeftOut  map[string]int64  // "MPR: OBS_PRS PREP_USE": columns that no design keeps, by line type → records stored without them
	Before   *design.Catalog   // of the subset, before the load
	Catalog  *design.Catalog   // of the subset, after the load
	Counted  *archive.Contents // what was counted in the archive after the load; nil = nothing, see check
	Commits  int
	Elapsed  time.Duration // from the call to the last durable commit
}

// Run loads files into one subset of an archive.
//
// It is idempotent: a file whose bytes the archive knows is skipped, and so is a
// record that is there already. Files are taken in the order of their paths. A file that
// cannot be read is reported in Summary.Failed and the rest goes on; an error
// means that the archive did not take the records, and that what was committed
// before is whole.
func Run(ctx context.Context, a archive.Archive, subset string, paths []string, o Options) (*Summary, error) {
	start := time.Now()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := o.mayKeep(a, subset); err != nil {
		return nil, err
	}
	if o.Window <= 0 {
		o.Window = DefaultWindow
	}
	r := &run{
		archive: a, o: o, files: map[string]*archive.Mark{}, known: map[string]bool{}, at: Progress{Step: "loading", AllFiles: len(paths)},
		release: func(*record.Batch) {}, rejects: map[string]*design.Quarantine{},
		holds: map[string]*design.Catalog{}, partial: map[string][]string{},
	}
	r.sum.ByType, r.sum.LeftOut, r.sum.Cut, r.sum.NotTaken = map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
	few := int64(len(paths)) * fewFiles
	if o.From != nil {
		few = math.MaxInt64
	}
	var err error
	if r.marks, err = newMarks(ctx, a, subset, few); err != nil {
		return nil, err
	}
	if r.loader, err = a.Loader(ctx, subset); err != nil {
		return nil, err
	}
	defer r.loader.Close() //nolint:errcheck // drops what was not committed
	before, err := r.counted(ctx, subset)
	if err != nil {
		return nil, err
	}
	if !o.Parsed.IsComplete() {
		r.release = release
	}
	r.window, r.spare = newWindow(subset, r.meet, r.release), newWindow(subset, r.meet, r.release)
	reading, err := r.reading(ctx, subset)
	if err != nil {
		return nil, err
	}
	err = Read(ctx, paths, reading,
		func(f *File, b *record.Batch) error { return r.batch(ctx, f, b) }, func(f *File) error { return r.end(ctx, f) })
	if err == nil {
		r.last = true
		err = r.commit(ctx)
	}
	if waited := r.await(ctx); err == nil { // nobody else uses the loader when it is closed
		err = waited
	}
	if err != nil {
		return &r.sum, fmt.Errorf("load into %s stopped after %d commits, which are whole; run it again to go on: %w", subset, r.sum.Commits, err)
	}
	r.sum.Elapsed = time.Since(start)
	return &r.sum, r.check(ctx, subset, before)
}

// reading says which files are parsed.
func (r *run) reading(ctx context.Context, subset string) (Reading, error) {
	if o := &r.o; o.From == nil {
		return o.reading(ctx, r.marks, r.sum.Before), nil
	}
	c, err := r.archive.Catalog(ctx, subset)
	in := err == nil && r.o.From.in(r.marks.of, c)
	return Reading{
		Workers: r.o.Workers, KeepLast: r.o.KeepLast, Parsed: r.o.Parsed, From: r.o.From,
		Skip: func(string) (bool, error) { return in, nil },
	}, err
}

// reading says which files are parsed, of an archive that knows them by marks.
// Which of them have records that Retain removed is not known: with Rehash all
// are parsed then.
func (o *Options) reading(ctx context.Context, marks *marks, c *design.Catalog) Reading {
	out := Reading{Workers: o.Workers, KeepLast: o.KeepLast, Parsed: o.Parsed}
	again := o.Rehash && c.Trimmed > 0
	out.Skip = func(digest string) (bool, error) {
		m, known, err := marks.find(ctx, digest)
		return known && !again && (m.Quarantined == 0 || !o.KeepLast), err
	}
	if !o.Rehash {
		at := make(map[string]archive.Mark, len(marks.all))
		for _, m := range marks.all {
			at[m.Path] = m
		}
		out.Known = func(path string) (archive.Mark, bool) { m, ok := at[path]; return m, ok }
	}
	return out
}

// counted is what the subset's catalog counts. Archives of versions that did
// not count are walked once, and their catalog is made anew.
func (r *run) counted(ctx context.Context, subset string) (records int64, err error) {
	c, err := r.archive.Catalog(ctx, subset)
	if err != nil {
		return 0, err
	}
	if err := r.o.decide(c); err != nil {
		return 0, err
	}
	if r.noted = c.Loading != nil; r.noted && r.o.InFlight != nil && r.o.InFlight(*c.Loading) {
		r.o.Loading = nil
	}
	for _, q := range c.Quarantine {
		if q.Lines > 0 {
			r.partial[q.File] = append(r.partial[q.File], q.Digest)
		}
	}
	if r.sum.Before = c; c.Counted && c.Sealed {
		return c.Brought(), nil
	}
	r.o.Log.Info("the archive is of an earlier version: its records are counted once", "subset", subset)
	made, err := Walk(ctx, r.archive, subset)
	if err != nil {
		return 0, err
	}
	contents, err := r.archive.Contents(ctx, subset)
	if err != nil {
		return 0, err
	}
	made.Objects, made.Files = contents.Objects, archive.SumMarks(r.marks.all)
	r.sum.Before = made
	_, err = r.loader.Commit(ctx, archive.Commit{Catalog: made, ReplaceCatalog: true})
	return made.Brought(), err
}

// run is a load under way; its methods are called from one goroutine.
type run struct {
	archive archive.Archive
	loader  archive.Loader // used by the commit under way alone
	o       Options
	window  *window // which is being filled
	spare   *window // empty; nil while a commit is under way
	under   *commit // the commit under way; nil = none
	sum     Summary
	marks   *marks
	known   map[string]bool               // digests of files that this load has met to their end
	files   map[string]*archive.Mark      // files of which records are not committed yet, or that are under way
	rejects map[string]*design.Quarantine // by path, likewise
	done    []*archive.Mark               // files that are whole with the next commit
	partial map[string][]string           // by path: digests of files with lines in quarantine, see supersede

	forgotten []archive.Mark // that the next commit takes from the archive
	stored    int64          // records that commits said were new
	noted     bool           // the archive's catalog says that somebody loads
	last      bool           // the commit at hand is the last one

	release func(*record.Batch) // takes a batch that is not used any more

	holds map[string]*design.Catalog // by digest: what files hold that were read to locate a value

	at     Progress
	parsed int64 // bytes of the files that were read to their end
}

// batch takes one parsed batch of a file.
func (r *run) batch(ctx context.Context, f *File, b *record.Batch) error {
	if r.known[f.Digest] { // a copy of a file of this very load
		r.release(b)
		return nil
	}
	if r.o.OnConflict == Keep && !b.Keep {
		b.Keep = true
	}
	m := r.mark(f)
	r.at.Read += int64(b.Lines)
	taken := b.Len()
	if r.o.Accept != nil && taken > 0 && !r.o.Accept(b.Type.Name) {
		r.sum.NotTaken[b.Type.Name] += int64(taken)
		m.Read -= int64(taken)
		taken = 0
	}
	m.Read += int64(b.Lines)
	m.Stored += int64(taken)
	m.Quarantined += int64(len(b.Rejects))
	for _, q := range b.Rejects {
		r.rejected(f).Add(q.Line, q.Reason)
		if r.o.Reject != nil {
			r.o.Reject(q)
		}
	}
	if taken == 0 {
		r.release(b)
		return nil
	}
	r.sum.ByType[b.Type.Name] += int64(b.Len())
	for columns, n := range b.LeftOut {
		r.sum.LeftOut[b.Type.Name+": "+columns] += int64(n)
	}
	r.window.add(b)
	r.at.Bytes = r.parsed + f.Offset
	r.report()
	if err := r.look(ctx); err != nil {
		return err
	}
	if r.window.rows >= r.o.Window || r.window.bytes >= maxBytes {
		return r.commit(ctx)
	}
	return nil
}

// mark finds or makes the mark of a file under way.
func (r *run) mark(f *File) *archive.Mark {
	m := r.files[f.Path]
	if m == nil {
		m = &archive.Mark{Path: f.Path, Digest: f.Digest, Bytes: f.Bytes}
		r.files[f.Path] = m
	}
	return m
}

// rejected is what of a file under way could not be read.
func (r *run) rejected(f *File) *design.Quarantine {
	q := r.rejects[f.Path]
	if q == nil {
		q = &design.Quarantine{File: f.Path, Digest: f.Digest}
		r.rejects[f.Path] = q
	}
	return q
}

// end is called when all batches of a file were taken.
func (r *run) end(ctx context.Context, f *File) error {
	r.at.Files++
	r.parsed += f.Bytes
	r.at.Bytes = r.parsed
	switch {
	case f.Err != nil:
		r.sum.Failed = append(r.sum.Failed, f.Err)
		r.sum.Lacking = append(r.sum.Lacking, f.Path)
		r.o.Log.Debug("file not loaded", "file", f.Path, "error", f.Err)
	case f.skip || r.known[f.Digest]:
		r.sum.Skipped = append(r.sum.Skipped, f.Path)
		if m := r.marks.found(f.Digest); m.Quarantined > 0 && !r.known[f.Digest] { // a copy of it holds the same lines
			r.sum.Held = append(r.sum.Held, m)
			r.sum.Lacking = append(r.sum.Lacking, f.Path)
		}
		r.known[f.Digest] = true
	default:
		m := r.mark(f)
		m.Stamp(time.Now(), f.Time)
		r.known[f.Digest] = true
		r.done = append(r.done, m)
		if m.Quarantined > 0 {
			r.sum.Lacking = append(r.sum.Lacking, f.Path)
		}
		if err := r.supersede(ctx, f); err != nil {
			return err
		}
		if r.o.From != nil {
			r.o.From.describe(r.window.catalog)
		}
		if r.rejects[f.Path] != nil || r.marks.found(f.Digest).Quarantined > 0 {
			r.window.catalog.Reject(*r.rejected(f))
			delete(r.rejects, f.Path)
		}
	}
	r.report()
	return nil
}

// supersede forgets what was loaded of a file before it was complete: of marks
// with lines in quarantine under this path, those whose bytes are its beginning.
func (r *run) supersede(ctx context.Context, f *File) error {
	for _, digest := range r.partial[f.Path] {
		m, known, err := r.marks.find(ctx, digest)
		if err != nil {
			return err
		}
		if known && m.Path == f.Path && m.Bytes < f.Bytes && digestOf(f.Path, m.Bytes) == m.Digest {
			r.forgotten = append(r.forgotten, m.Removal())
			r.window.catalog.Reject(design.Quarantine{File: m.Path, Digest: m.Digest})
		}
	}
	return nil
}

// digestOf is that of the first bytes of a file; "" = they cannot be read.
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

func (r *run) report() {
	if r.o.Progress != nil {
		r.o.Progress(r.at)
	}
}

// account moves a finished file from "under way" to the summary.
func (r *run) account(m *archive.Mark) {
	delete(r.files, m.Path)
	r.sum.Files = append(r.sum.Files, *m)
	r.sum.Bytes += m.Bytes
	r.total(m)
}

func (r *run) total(m *archive.Mark) {
	r.sum.Read += m.Read
	r.sum.Stored += m.Stored
	r.sum.Same += m.Replaced - m.Conflicts
	r.sum.Other += m.Conflicts
	r.sum.Quarantined += m.Quarantined
}

// Walk makes the catalog of everything that a subset holds, by reading it.
func Walk(ctx context.Context, a archive.Archive, subset string) (*design.Catalog, error) {
	c := design.NewCatalog(subset)
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return nil, err
		}
		c.Add(b)
	}
	return c, nil
}

// Digest computes the digest of everything a subset holds.
func Digest(ctx context.Context, a archive.Archive, subset string) (record.Digest, error) {
	var d record.Digest
	var h record.Hasher
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return d, err
		}
		d.Add(h.Sum(b))
	}
	return d, nil
}
