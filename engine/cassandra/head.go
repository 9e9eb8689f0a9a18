package cassandra

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"barograph/design"
	"barograph/engine"
)

// archive is the archive of one design.
type archive struct {
	*store
	*layout
}

func (a *archive) Close() error { return nil }

// separator of an archive's name and what belongs to it.
const separator = "\x1f"

// scope is what tells the archives of a keyspace apart, besides their subsets.
func (a *archive) scope() string {
	if a.name == "" {
		return string(a.design)
	}
	return string(a.design) + separator + a.name
}

// kept is a derived id, or the key of a series, as it is kept.
func (s *store) kept(id string) string {
	if s.name == "" {
		return id
	}
	return s.name + separator + id
}

// derived is the inverse of kept.
func (s *store) derived(kept string) string {
	_, id, ok := strings.Cut(kept, separator)
	if s.name == "" || !ok {
		return kept
	}
	return id
}

func (a *archive) cacheKey(subset string) string { return string(a.design) + separator + subset }

// head is the state of a subset; its zero value that of one that does not exist.
type head struct {
	next    int64   // the last number that was given to a commit
	version int64   // number of the last commit that counts
	bad     []int64 // numbers below it that do not count, ascending
	catalog int64   // number of the commit that brought the catalog
	bytes   int64   // that commits have written
}

// counts reports whether what a commit brought is to be seen.
func (h *head) counts(number int64) bool {
	if number > h.version {
		return false
	}
	_, bad := slices.BinarySearch(h.bad, number)
	return !bad
}

const headColumns = "SELECT next, version, bad, catalog, bytes FROM heads WHERE design = ? AND subset = ?"

// head reads the state at a consistency. A reader's quorum sees every commit
// that has returned; Serial also settles one that is under way.
func (a *archive) head(ctx context.Context, subset string, c gocql.Consistency) (h head, err error) {
	if a.bare {
		return h, nil
	}
	err = a.session.Query(headColumns, a.scope(), subset).Consistency(c).ScanContext(ctx, &h.next, &h.version, &h.bad, &h.catalog, &h.bytes)
	if errors.Is(err, gocql.ErrNotFound) {
		return h, nil
	}
	slices.Sort(h.bad)
	return h, failed(ctx, err)
}

// begin gives a commit its number, which no other commit has or had. Where a
// reply is lost, the number is, too: the update that is sent again does not
// apply.
func (a *archive) begin(ctx context.Context, subset string) (number int64, base head, err error) {
	for {
		if base, err = a.head(ctx, subset, a.serial()); err != nil {
			return 0, base, err
		}
		q := a.session.Query("UPDATE heads SET next = ? WHERE design = ? AND subset = ? IF next = ?", base.next+1, a.scope(), subset, base.next)
		if base.next == 0 {
			q = a.session.Query("INSERT INTO heads (next, version, catalog, bytes, design, subset) VALUES (1, 0, 0, 0, ?, ?) IF NOT EXISTS", a.scope(), subset)
		}
		won, err := q.MapScanCASContext(ctx, map[string]any{})
		if err != nil {
			return 0, base, failed(ctx, err)
		}
		if won {
			return base.next + 1, base, nil
		}
	}
}

func (s *store) serial() gocql.Consistency {
	if s.consistency == gocql.LocalQuorum {
		return gocql.LocalSerial
	}
	return gocql.Serial
}

// advance makes a commit count, if none has since the base. All numbers
// between never will.
func (a *archive) advance(ctx context.Context, subset string, number int64, base head, bytes int64) (won bool, err error) {
	bad := []int64{}
	for n := base.version + 1; n < number; n++ {
		bad = append(bad, n)
	}
	q := a.session.Query("UPDATE heads SET version = ?, catalog = ?, bytes = ?, bad = bad + ? WHERE design = ? AND subset = ? IF version = ?",
		number, number, base.bytes+bytes, bad, a.scope(), subset, base.version)
	if won, err = q.MapScanCASContext(ctx, map[string]any{}); won {
		return true, nil
	}
	// The reply may be lost, to the driver too, which sent the update again: the
	// commit may count all the same.
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer stop()
	h, unknown := a.head(after, subset, a.serial())
	if unknown == nil && h.version >= number && h.counts(number) {
		return true, nil
	}
	return false, failed(ctx, errors.Join(err, unknown))
}

// turn waits for the right to commit to a subset among the loaders of this
// process, which would only make one another begin anew.
func (a *archive) turn(ctx context.Context, subset string) (done func(), err error) {
	a.mu.Lock()
	turn := a.turning[a.cacheKey(subset)]
	if turn == nil {
		turn = make(chan struct{}, 1)
		a.turning[a.cacheKey(subset)] = turn
	}
	a.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// known is a catalog and the commit that brought it; it is never changed.
type known struct {
	number  int64
	catalog *design.Catalog
}

// described returns the state of a subset and its catalog, which must not be
// changed. The commit after that of a catalog takes it away, so that it may be
// gone between the two reads.
func (a *archive) described(ctx context.Context, subset string) (head, *design.Catalog, error) {
	for {
		h, err := a.head(ctx, subset, a.consistency)
		if err != nil {
			return h, nil, err
		}
		c, err := a.catalog(ctx, subset, h)
		if !errors.Is(err, gocql.ErrNotFound) {
			return h, c, err
		}
		select {
		case <-ctx.Done():
			return h, nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func (a *archive) catalog(ctx context.Context, subset string, h head) (*design.Catalog, error) {
	if h.catalog == 0 {
		return design.NewCatalog(subset), ctx.Err()
	}
	a.mu.Lock()
	k := a.known[a.cacheKey(subset)]
	a.mu.Unlock()
	if k.catalog != nil && k.number == h.catalog {
		return k.catalog, nil
	}
	var text string
	err := a.session.Query("SELECT catalog FROM catalogs WHERE design = ? AND subset = ? AND commit_number = ?", a.scope(), subset, h.catalog).ScanContext(ctx, &text)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if k.catalog, err = design.ParseCatalog([]byte(text)); err != nil {
		return nil, fmt.Errorf("catalog of subset %q: %w", subset, err)
	}
	k.number = h.catalog
	a.mu.Lock()
	a.known[a.cacheKey(subset)] = k
	a.mu.Unlock()
	return k.catalog, nil
}

// Catalog returns a copy of the subset's catalog.
func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	_, c, err := a.described(ctx, subset)
	if err != nil {
		return nil, err
	}
	out := design.NewCatalog(subset)
	out.Merge(c)
	return out, nil
}

// Subsets lists the subsets that have a commit.
func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	if a.bare {
		return nil, nil
	}
	iter := a.session.Query("SELECT design, subset, version FROM heads").IterContext(ctx)
	var names []string
	var d, name string
	var version int64
	for iter.Scan(&d, &name, &version) {
		if d == a.scope() && version > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, failed(ctx, iter.Close())
}

// Marks lists the loaded files.
func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	h, err := a.head(ctx, subset, a.consistency)
	if err != nil || h.version == 0 {
		return nil, err
	}
	iter := a.session.Query("SELECT commit_number, mark FROM marks WHERE design = ? AND subset = ?", a.scope(), subset).IterContext(ctx)
	var marks []engine.Mark
	var number int64
	var text string
	var wrong error
	for iter.Scan(&number, &text) {
		if !h.counts(number) {
			continue
		}
		var m engine.Mark
		wrong = errors.Join(wrong, json.Unmarshal([]byte(text), &m))
		marks = slices.DeleteFunc(marks, func(o engine.Mark) bool { return o.Digest == m.Digest })
		marks = append(marks, m)
	}
	return marks, errors.Join(failed(ctx, iter.Close()), wrong)
}

// Size is what the tables take on the disks of the node that answers; where
// nothing has left its memory yet, or it does not tell, the bytes that commits
// wrote. CQL has no word to have memory written.
func (a *archive) Size(ctx context.Context) (int64, error) {
	var onDisk, written int64
	iter := a.session.Query("SELECT table_name, mebibytes FROM system_views.disk_usage WHERE keyspace_name = ?", a.keyspace).IterContext(ctx)
	var table string
	var mebibytes int64
	for iter.Scan(&table, &mebibytes) {
		if len(table) > len(a.prefix) && table[:len(a.prefix)] == a.prefix {
			onDisk += mebibytes << 20
		}
	}
	if err := iter.Close(); err != nil && ctx.Err() != nil { // ScyllaDB has no such table
		return 0, ctx.Err()
	}
	if a.bare {
		return onDisk, nil
	}
	iter = a.session.Query("SELECT design, bytes FROM heads").IterContext(ctx)
	var d string
	var bytes int64
	for iter.Scan(&d, &bytes) {
		if d == a.scope() {
			written += bytes
		}
	}
	if err := iter.Close(); err != nil {
		return 0, failed(ctx, err)
	}
	return max(onDisk, written), nil
}
