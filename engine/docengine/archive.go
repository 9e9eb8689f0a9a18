package docengine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// Options of an Archive.
type Options struct {
	Shown    string        // the URL without its password, for errors
	ReadOnly bool          // nothing is changed
	Lease    time.Duration // of NewLocked: how long a loader gives no sign of life before it counts as dead
	Writers  int           // requests that write documents at a time; 0 = they are read and written as they come, and no Body lives longer
	Apart    bool          // records are stored one by one: of a document only those are written that a commit brings
	Design   design.Name
	List     bool         // of NewLocked: keep lists of all ids, for a store that cannot list what it holds: see IDs
	Log      *slog.Logger // nil = discard
}

// Archive is the part of an archive that every store of documents shares:
// subsets, catalog, marks, loading. The engine adds Phrase, Ask and the rest.
type Archive struct {
	store Store
	o     Options

	mu      sync.Mutex
	known   map[string]known         // catalogs as last read, by subset
	turning map[string]chan struct{} // by subset: taken by the loader of this process that commits
	batches sync.Pool                // of *record.Batch, used again by Answer
}

// known is a catalog and the commit that brought it; it is never changed.
type known struct {
	version int64
	catalog *design.Catalog
}

// New returns the archive in a store.
func New(s Store, o Options) *Archive {
	return &Archive{store: s, o: o, known: map[string]known{}, turning: map[string]chan struct{}{}}
}

// Close has nothing to give up.
func (a *Archive) Close() error { return nil }

// Subsets lists the subsets, sorted.
func (a *Archive) Subsets(ctx context.Context) ([]string, error) {
	names, err := a.store.Subsets(ctx)
	slices.Sort(names)
	return names, err
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
	k := a.last(subset)
	version, text, err := a.store.Describe(ctx, subset, k.version)
	if err != nil || version == 0 {
		return design.NewCatalog(subset), err
	}
	if k.catalog != nil && version == k.version {
		return k.catalog, nil
	}
	c, err := design.ParseCatalog(text)
	if err != nil {
		return nil, fmt.Errorf("catalog of subset %q: %w", subset, err)
	}
	a.keep(subset, known{version, c})
	return c, nil
}

func (a *Archive) last(subset string) known {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[subset]
}

func (a *Archive) keep(subset string, k known) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[subset] = k
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

// Marks lists the loaded files.
func (a *Archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	return a.store.Marks(ctx, subset)
}

// Marked is a mark as stores keep it that keep each for itself: with its place
// in the order of loading.
type Marked struct {
	Version int64       `json:"version,omitempty"` // of its commit
	Number  int64       `json:"number"`
	Mark    engine.Mark `json:"mark"`
}

// ParseMarks reads the texts of Marked and puts them into the order of loading.
func ParseMarks(texts []string) ([]engine.Mark, error) {
	all := make([]Marked, len(texts))
	for i := range texts {
		if err := json.Unmarshal([]byte(texts[i]), &all[i]); err != nil {
			return nil, fmt.Errorf("mark %q: %w", texts[i], err)
		}
	}
	slices.SortFunc(all, func(x, y Marked) int {
		return cmp.Or(cmp.Compare(x.Version, y.Version), cmp.Compare(x.Number, y.Number))
	})
	marks := make([]engine.Mark, len(all))
	for i := range all {
		marks[i] = all[i].Mark
	}
	return Latest(marks), nil
}

// Latest drops marks of files that were loaded again later.
func Latest(all []engine.Mark) []engine.Mark {
	seen := map[string]bool{}
	out := make([]engine.Mark, 0, len(all))
	for _, m := range slices.Backward(all) {
		if !seen[m.Digest] {
			seen[m.Digest] = true
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return engine.Known(out)
}
