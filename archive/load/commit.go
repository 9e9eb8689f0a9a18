package load

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// commit is one that is under way, in a goroutine of its own: it alone uses the
// loader. The run fills the next window meanwhile, and learns of the outcome when it
// looks, so that marks, sums and progress stay with one goroutine. There is never
// more than one, and they follow one another in the order of the files.
type commit struct {
	window  *window
	done    []*archive.Mark          // files that are whole with it
	forgets []archive.Mark           // that it takes from the archive
	opened  map[string]*archive.Mark // files of which records are in it, or in an earlier one
	bytes   int64                    // parsed, up to its last record
	decided map[decision]bool        // which different values of the archive are replaced, or stand beside the new ones
	outcome chan outcome
}

// decision is about values that the archive holds of a record.
type decision struct {
	key  record.Key
	held record.Digest
}

type outcome struct {
	stored archive.CommitResult
	err    error
}

// commit begins to store the window and the marks of the files that are whole
// with it, once the commit before has ended.
func (r *run) commit(ctx context.Context) error {
	if err := r.await(ctx); err != nil {
		return err
	}
	tidy := r.last && r.noted && r.o.Loading != nil
	if r.window.rows == 0 && len(r.done) == 0 && !tidy {
		return nil
	}
	switch {
	case tidy:
		r.window.catalog.Loading = &design.Loading{}
	case r.o.Loading != nil && !r.last:
		r.window.catalog.Loading, r.noted = r.o.Loading, true
	}
	c := &commit{window: r.window, done: r.done, forgets: r.forgotten, opened: maps.Clone(r.files), bytes: r.at.Bytes, decided: map[decision]bool{}, outcome: make(chan outcome, 1)}
	r.under, r.window, r.spare, r.done, r.forgotten = c, r.spare, nil, nil, nil
	given := r.given(c)
	go func() {
		stored, err := c.store(ctx, r.loader, given)
		c.outcome <- outcome{stored, err}
	}()
	return nil
}

// look takes the outcome of the commit under way if it has ended.
func (r *run) look(ctx context.Context) error {
	if r.under == nil || len(r.under.outcome) == 0 {
		return nil
	}
	return r.await(ctx)
}

// await waits until no commit is under way. Where the archive holds different values it
// is decided whose stand, and the commit begins anew.
func (r *run) await(ctx context.Context) error {
	c := r.under
	if c == nil {
		return nil
	}
	o := <-c.outcome
	for contradicted, ok := errors.AsType[*archive.ConflictError](o.err); ok; contradicted, ok = errors.AsType[*archive.ConflictError](o.err) {
		if o.err = r.settle(ctx, c, contradicted.Records); o.err == nil {
			o.stored, o.err = c.store(ctx, r.loader, r.given(c))
		}
	}
	r.under = nil
	if o.err != nil {
		return o.err
	}
	r.committed(c, o.stored)
	return nil
}

// committed counts what a commit stored.
func (r *run) committed(c *commit, stored archive.CommitResult) {
	r.sum.Commits++
	r.stored += stored.New
	for file, n := range stored.Replaced {
		r.files[file].Stored -= n
		r.files[file].Replaced += n
	}
	for column, n := range stored.ShortTexts {
		r.sum.Cut[column] += n
	}
	for _, m := range c.done {
		r.account(m)
	}
	c.window.reset()
	r.spare = c.window
	r.at.Committed = c.bytes
	r.report()
}

// given is what a commit brings besides records: the marks as they are now.
func (r *run) given(c *commit) archive.Commit {
	given := archive.Commit{Catalog: c.window.catalog, Refuse: func(o archive.ExistingRecord) bool { return !c.decided[decision{o.Key, o.Stored}] }}
	for _, m := range c.done {
		given.Complete = append(given.Complete, *m)
	}
	given.Complete = append(given.Complete, c.forgets...)
	if r.o.From != nil && len(c.done) > 0 {
		given.Complete = slices.Clone(r.o.From.Marks) // the copy knows the files
	}
	return given
}

// store hands the window to the engine and checks what it says of it.
func (c *commit) store(ctx context.Context, l archive.Loader, what archive.Commit) (archive.CommitResult, error) {
	var given int64
	for b := range c.window.live {
		if err := l.Add(ctx, b); err != nil {
			return archive.CommitResult{}, err
		}
		given += int64(b.Len())
	}
	stored, err := l.Commit(ctx, what)
	if err != nil {
		return stored, err
	}
	return stored, checkCommit(given, stored)
}
