package load

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// commitInFlight is a commit in progress. A goroutine of its own (the commit goroutine) uses the loader; nothing else
// does. Meanwhile the load goroutine fills the next window. The load goroutine also receives the outcome, and only it
// changes marks, totals and progress. At most one commit is in flight, and commits keep the order of the files.
type commitInFlight struct {
	window    *window
	complete  []*archive.Mark // files whose last record is in this commit
	forgotten []archive.Mark  // marks that it removes from the archive
	// files whose marks the archive does not have yet, although it may have some of their records; see locate
	openFiles map[string]*archive.Mark
	bytes     int64 // parsed bytes, up to the commit's last record
	// existing records, by identity, that the commit replaces, or keeps in addition to the new ones
	decisions map[record.Key][]record.Digest
	outcome   chan outcome
}

type outcome struct {
	stored archive.CommitResult
	err    error
}

// commit starts to store the window and the marks of complete files. It first waits for the
// previous commit.
func (r *loadRun) commit(ctx context.Context) error {
	if err := r.await(ctx); err != nil {
		return err
	}
	clearLoading := r.isLastCommit && r.loadingRecorded && r.options.Loading != nil
	if r.window.rows == 0 && len(r.complete) == 0 && !clearLoading {
		return nil
	}
	switch {
	case clearLoading:
		r.window.catalog.Loading = &design.Loading{Command: r.options.Loading.Command, Inputs: r.options.Loading.Inputs}
	case r.options.Loading != nil && !r.isLastCommit:
		r.window.catalog.Loading, r.loadingRecorded = r.options.Loading, true
	}
	c := &commitInFlight{window: r.window, complete: r.complete, forgotten: r.forgottenMarks, openFiles: maps.Clone(r.files)}
	c.bytes, c.decisions, c.outcome = r.progress.Bytes, map[record.Key][]record.Digest{}, make(chan outcome, 1)
	r.inFlight, r.window, r.spare, r.complete, r.forgottenMarks = c, r.spare, nil, nil, nil
	request := r.commitOf(c)
	go func() {
		stored, err := c.store(ctx, r.loader, request)
		c.outcome <- outcome{stored, err}
	}()
	return nil
}

// await waits until no commit is in flight. If the archive has records with different values, await
// resolves these conflicts and repeats the commit.
func (r *loadRun) await(ctx context.Context) error {
	c := r.inFlight
	if c == nil {
		return nil
	}
	o := <-c.outcome
	for conflict, ok := errors.AsType[*archive.ConflictError](o.err); ok; conflict, ok = errors.AsType[*archive.ConflictError](o.err) {
		if o.err = r.resolve(ctx, c, conflict.Records); o.err == nil {
			o.stored, o.err = c.store(ctx, r.loader, r.commitOf(c))
		}
	}
	r.inFlight = nil
	if o.err != nil {
		return o.err
	}
	r.committed(c, o.stored)
	return nil
}

// committed adds what a commit stored to the marks and the summary.
func (r *loadRun) committed(c *commitInFlight, stored archive.CommitResult) {
	r.summary.Commits++
	r.committedRecords += stored.New
	for file, n := range stored.Replaced {
		r.files[file].Stored -= n
		r.files[file].Replaced += n
	}
	for _, replaced := range stored.Existing {
		if fresh, _ := c.window.index.First(replaced.Key); r.options.OnConflict != Keep {
			r.files[fresh.Batch.File].Conflicts++
		}
	}
	for column, n := range stored.ShortTexts {
		r.summary.ShortenedTexts[column] += n
	}
	for _, m := range c.complete {
		r.addToSummary(m)
	}
	c.window.reset()
	r.spare = c.window
	r.progress.Committed = c.bytes
	r.report()
}

// commitOf returns a commit without its records. It copies the marks as they are now, because resolve changes them
// before a commit is repeated.
func (r *loadRun) commitOf(c *commitInFlight) archive.Commit {
	request := archive.Commit{Catalog: c.window.catalog, IsProtected: func(o archive.ExistingRecord) bool { return !slices.Contains(c.decisions[o.Key], o.Stored) }}
	request.Complete = append(lists.Map(c.complete, func(m *archive.Mark) archive.Mark { return *m }), c.forgotten...)
	if r.options.Origin != nil && len(c.complete) > 0 {
		request.Complete = slices.Clone(r.options.Origin.Marks) // the marks of the original files, not of the origin
	}
	return request
}

// store passes the window to the engine and checks the numbers that the engine reports.
func (c *commitInFlight) store(ctx context.Context, l archive.Loader, request archive.Commit) (archive.CommitResult, error) {
	var added int64
	for b := range c.window.withoutDropped {
		if err := l.Add(ctx, b); err != nil {
			return archive.CommitResult{}, err
		}
		added += int64(b.Len())
	}
	stored, err := l.Commit(ctx, request)
	if err != nil {
		return stored, err
	}
	return stored, checkCommit(added, stored)
}
