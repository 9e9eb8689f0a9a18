package docengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"barograph/design"
	"barograph/engine"
	"barograph/fault"
	"barograph/record"
)

// Options of an Archive.
type Options struct {
	Shown    string        // the URL without its password, for errors
	ReadOnly bool          // nothing is changed
	Lease    time.Duration // how long a loader gives no sign of life before it counts as dead
	Writers  int           // requests that write documents at a time
	List     bool          // keep lists of all ids, for a store that cannot list what it holds: see IDs
	Log      *slog.Logger  // nil = discard
}

// Archive is the part of an archive that every store of documents shares:
// subsets, catalog, marks, loading. The engine adds Phrase, Ask and the rest.
type Archive struct {
	store Store
	o     Options
	seen  sync.Map // subsets in which nothing is left of a commit that died

	mu     sync.Mutex
	parsed map[string]parsed // catalogs as last read
}

type parsed struct {
	rev     int64
	catalog *design.Catalog
}

// New returns the archive in a store.
func New(s Store, o Options) *Archive {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Archive{store: s, o: o, parsed: map[string]parsed{}}
}

// state of a subset. It changes by Swap alone.
type state struct {
	Version int64           `json:"version"` // number of the last commit
	By      string          `json:"by"`      // who wrote this state
	Catalog json.RawMessage `json:"catalog"`
	Marked  []int64         `json:"marked,omitempty"` // commits that brought marks
	Listed  []int64         `json:"listed,omitempty"` // commits that brought documents, where ids are listed
	Pending *pending        `json:"pending,omitempty"`
}

// pending is a commit under way, or what is left of one that died.
type pending struct {
	Commit int64  `json:"commit"`
	Parts  int    `json:"parts"` // number of undo documents
	By     string `json:"by"`
}

// Names of texts. A subset's name is escaped, as others follow it.
const subsetsName = "subsets"

func stateName(subset string) string { return "state::" + url.QueryEscape(subset) }
func lockName(subset string) string  { return "lock::" + url.QueryEscape(subset) }

func marksName(subset string, commit int64) string {
	return "marks::" + url.QueryEscape(subset) + "::" + strconv.FormatInt(commit, 10)
}

func undoName(subset string, p pending, part int) string {
	return fmt.Sprintf("undo::%s::%d::%d", url.QueryEscape(subset), p.Commit, part)
}

// loadState reads the state of a subset; rev is 0 where it does not exist.
func (a *Archive) loadState(ctx context.Context, subset string) (*state, int64, error) {
	text, rev, err := a.store.Load(ctx, stateName(subset))
	if err != nil || rev == 0 {
		return &state{}, rev, err
	}
	s := &state{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, rev, fmt.Errorf("state of subset %q: %w", subset, err)
	}
	return s, rev, nil
}

// Ready waits, once for each subset, until no commit that this archive has not
// seen begin is under way, and takes back what a commit that died has left.
func (a *Archive) Ready(ctx context.Context, subset string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, ok := a.seen.Load(subset); ok {
		return nil
	}
	s, rev, err := a.loadState(ctx, subset)
	if err != nil || rev == 0 {
		return err
	}
	if s.Pending != nil {
		if a.o.ReadOnly {
			err = a.outwait(ctx, subset)
		} else {
			err = a.locked(ctx, subset, func(ctx context.Context) error {
				_, _, err := a.recover(ctx, subset)
				return err
			})
		}
	}
	if err == nil {
		a.seen.Store(subset, true)
	}
	return err
}

// outwait waits until a commit that another one has begun is done. Where that
// one is dead, nobody may repair the subset here.
func (a *Archive) outwait(ctx context.Context, subset string) error {
	var w watch
	for {
		s, _, err := a.loadState(ctx, subset)
		if err != nil || s.Pending == nil {
			return err
		}
		now, _, err := loadLock(ctx, a.store, lockName(subset))
		if err != nil {
			return err
		}
		if now.Owner == "" || w.dead(now, a.o.Lease) {
			return &fault.Error{Setting: a.o.Shown + ", subset " + strconv.Quote(subset), Problem: "a load was broken off and left something behind", Err: engine.ErrReadOnly,
				Cure: "open it once without --read-only"}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
}

// locked runs do under the subset's lock; its context ends when the lock is lost.
func (a *Archive) locked(ctx context.Context, subset string, do func(ctx context.Context) error) error {
	held, l, err := acquire(ctx, a.store, lockName(subset), a.o.Lease)
	if err != nil {
		return err
	}
	defer l.release(context.WithoutCancel(ctx))
	err = do(held)
	if cause := context.Cause(held); errors.Is(cause, errLost) {
		return errors.Join(err, cause)
	}
	return err
}

// recover puts back what a commit that died has changed. The lock is held.
func (a *Archive) recover(ctx context.Context, subset string) (*state, int64, error) {
	s, rev, err := a.loadState(ctx, subset)
	if err != nil || s.Pending == nil {
		return s, rev, err
	}
	p := *s.Pending
	for k := range p.Parts {
		if err := a.restore(ctx, subset, undoName(subset, p, k)); err != nil {
			return s, rev, err
		}
	}
	s.Pending, s.By = nil, ""
	if rev, err = a.swapState(ctx, subset, s, rev); err != nil {
		return s, rev, err
	}
	a.o.Log.Info("a load that was broken off was taken back", "subset", subset, "commit", p.Commit)
	a.forget(ctx, subset, p)
	return s, rev, nil
}

func (a *Archive) swapState(ctx context.Context, subset string, s *state, rev int64) (int64, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return rev, err
	}
	return swapWhole(ctx, a.store, stateName(subset), text, rev)
}

// undo is an undo document: what a commit is about to change of a line type.
type undo struct {
	Type string   `json:"line_type"`
	New  []string `json:"new,omitempty"` // ids that have no document
	Old  []oldDoc `json:"old,omitempty"`
	size int
}

type oldDoc struct {
	ID   string `json:"id"`
	Body []byte `json:"body"`
}

func (a *Archive) restore(ctx context.Context, subset, name string) error {
	texts, err := a.store.Get(ctx, []string{name})
	if err != nil {
		return err
	}
	text, ok := texts[name]
	if !ok {
		return fmt.Errorf("subset %q: %s is missing: a load was broken off and cannot be taken back", subset, name)
	}
	var u undo
	if err := json.Unmarshal(text, &u); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	t, ok := record.TypeByName(u.Type)
	if !ok {
		return fmt.Errorf("%s names no line type: %q", name, u.Type)
	}
	docs := make([]Document, len(u.Old))
	for i, o := range u.Old {
		docs[i] = Document{ID: o.ID, Body: o.Body}
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(a.store.Remove(ctx, subset, t, u.New), a.store.Write(ctx, subset, t, docs))
}

// forget removes undo documents that are of no use any more. Those that stay
// are overwritten by a later commit of their number.
func (a *Archive) forget(ctx context.Context, subset string, p pending) {
	names := make([]string, p.Parts)
	for k := range names {
		names[k] = undoName(subset, p, k)
	}
	if err := a.store.Delete(context.WithoutCancel(ctx), names); err != nil {
		a.o.Log.Debug("undo documents stay", "subset", subset, "error", err)
	}
}

func idsName(subset string, commit int64) string {
	return "ids::" + url.QueryEscape(subset) + "::" + strconv.FormatInt(commit, 10)
}

// IDs lists the ids of all documents of a subset, by line type; see Options.List.
func (a *Archive) IDs(ctx context.Context, subset string) (map[string][]string, error) {
	if err := a.Ready(ctx, subset); err != nil {
		return nil, err
	}
	s, _, err := a.loadState(ctx, subset)
	if err != nil || len(s.Listed) == 0 {
		return nil, err
	}
	all := map[string][]string{}
	for _, commit := range s.Listed {
		name := idsName(subset, commit)
		texts, err := a.store.Get(ctx, []string{name})
		if err != nil {
			return nil, err
		}
		var some map[string][]string
		if err := json.Unmarshal(texts[name], &some); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for t, ids := range some {
			all[t] = append(all[t], ids...)
		}
	}
	return all, nil
}

// Subsets lists the subsets, sorted.
func (a *Archive) Subsets(ctx context.Context) ([]string, error) {
	names, _, err := a.subsets(ctx)
	return names, err
}

func (a *Archive) subsets(ctx context.Context) ([]string, int64, error) {
	names := []string{}
	text, rev, err := a.store.Load(ctx, subsetsName)
	if err != nil || rev == 0 {
		return names, rev, err
	}
	err = json.Unmarshal(text, &names)
	return names, rev, err
}

// Catalog is the subset's metadata; that of an empty subset if it does not exist.
func (a *Archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	c, err := a.Known(ctx, subset)
	if err != nil {
		return nil, err
	}
	own := design.NewCatalog(subset)
	own.Merge(c)
	return own, nil
}

// Known is Catalog without a copy: it must not be changed.
func (a *Archive) Known(ctx context.Context, subset string) (*design.Catalog, error) {
	if err := a.Ready(ctx, subset); err != nil {
		return nil, err
	}
	s, rev, err := a.loadState(ctx, subset)
	if err != nil {
		return nil, err
	}
	if rev == 0 {
		return design.NewCatalog(subset), nil
	}
	return a.catalog(s, rev, subset)
}

// Holds reports whether a subset has documents of a line type.
func (a *Archive) Holds(ctx context.Context, subset string, t *record.LineType) (bool, error) {
	c, err := a.Known(ctx, subset)
	if err != nil {
		return false, err
	}
	for held := range Types(c) {
		if held == t {
			return true, nil
		}
	}
	return false, nil
}

// catalog parses the catalog of a state, unless it is the one that was parsed last.
func (a *Archive) catalog(s *state, rev int64, subset string) (*design.Catalog, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p, ok := a.parsed[subset]; ok && p.rev == rev {
		return p.catalog, nil
	}
	c, err := design.ParseCatalog(s.Catalog)
	if err != nil {
		return nil, fmt.Errorf("catalog of subset %q: %w", subset, err)
	}
	a.parsed[subset] = parsed{rev, c}
	return c, nil
}

// Marks lists the loaded files.
func (a *Archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	if err := a.Ready(ctx, subset); err != nil {
		return nil, err
	}
	s, _, err := a.loadState(ctx, subset)
	if err != nil || len(s.Marked) == 0 {
		return nil, err
	}
	names := make([]string, len(s.Marked))
	for i, commit := range s.Marked {
		names[i] = marksName(subset, commit)
	}
	texts, err := a.store.Get(ctx, names)
	if err != nil {
		return nil, err
	}
	var all []engine.Mark
	for _, n := range names {
		var some []engine.Mark
		if err := json.Unmarshal(texts[n], &some); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		all = append(all, some...)
	}
	return latest(all), nil
}

// latest drops marks of files that were loaded again later.
func latest(all []engine.Mark) []engine.Mark {
	seen := map[string]bool{}
	out := make([]engine.Mark, 0, len(all))
	for _, m := range slices.Backward(all) {
		if !seen[m.Digest] {
			seen[m.Digest] = true
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

// Types walks the line types that a subset has documents of.
func Types(c *design.Catalog) iter.Seq[*record.LineType] {
	return func(yield func(*record.LineType) bool) {
		last := ""
		for _, g := range c.Groups { // ordered by line type
			t, ok := record.TypeByName(g.LineType)
			if ok && g.LineType != last && !yield(t) {
				return
			}
			last = g.LineType
		}
	}
}
