package cassandra

import (
	"context"
	"errors"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/barograph/barograph/engine/docengine"
)

// tables are those of one design.
type tables struct {
	*store
	*layout
}

// archive is the archive of one design.
type archive struct {
	*docengine.Archive
	*tables
}

// separator of an archive's name and what belongs to it.
const separator = "\x1f"

// scope is what tells the archives of a keyspace apart, besides their subsets.
func (a *tables) scope() string {
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
func (a *tables) head(ctx context.Context, subset string, c gocql.Consistency) (h head, err error) {
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
func (a *tables) begin(ctx context.Context, subset string) (number int64, base head, err error) {
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
func (a *tables) advance(ctx context.Context, subset string, number int64, base head, bytes int64) (won bool, err error) {
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
