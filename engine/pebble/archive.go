package pebble

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/record"
)

// The ids of what is no document. A subset's name is escaped, as ids may hold
// other parts behind it.
const (
	catalogPrefix = "BG::catalog::"
	markPrefix    = "BG::mark::"
)

func catalogKey(subset string) []byte { return []byte(catalogPrefix + url.QueryEscape(subset)) }

func markKey(subset, digest string) []byte {
	return []byte(markPrefix + url.QueryEscape(subset) + "::" + digest)
}

// after is the least key above all that begin with prefix.
func after(prefix []byte) []byte {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // no prefix of ours ends in 0xff
	return end
}

// archive is the keyvalue archive of a store.
type archive struct {
	*docengine.Archive
	*store
}

// scan calls each for every pair whose key begins with prefix. Key and value
// are valid until each returns.
func (s *store) scan(ctx context.Context, prefix []byte, each func(key, value []byte) error) error {
	return s.between(ctx, prefix, after(prefix), each)
}

func (s *store) between(ctx context.Context, from, to []byte, each func(key, value []byte) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	defer closing(&err, it)
	n := 0
	for valid := it.First(); valid; valid = it.Next() {
		if n++; n%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := each(it.Key(), value); err != nil {
			return err
		}
	}
	return it.Error()
}

// walk walks the documents of a subset in the order of their keys.
func (a *archive) walk(ctx context.Context, subset string) docengine.Walk {
	return func(t *record.LineType, each func(id string, doc []byte) error) error {
		prefixes, err := a.Prefixes(ctx, subset, t)
		for _, prefix := range prefixes {
			if err == nil {
				err = a.scan(ctx, []byte(prefix), func(key, value []byte) error { return each(string(key), value) })
			}
		}
		return err
	}
}

// Contents counts pairs, and the records that each says it holds.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	return a.CountPayloads(ctx, subset, a.walk(ctx, subset))
}

// Dump walks all pairs of the subset.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, a.walk(ctx, subset))
}

// Size is the size of the folder after what is in memory was written.
func (a *archive) Size(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !a.readOnly {
		if err := a.write(a.db.Flush); err != nil {
			return 0, err
		}
	}
	var total int64
	err := filepath.WalkDir(a.dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return ignoreGone(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreGone(err)
		}
		total += info.Size()
		return nil
	})
	return total, err
}

// ignoreGone forgives a file that Pebble removed while the folder was walked.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Check compares the checksum of every block of every table: reading the pairs
// looks at those of data alone.
func (a *archive) Check(ctx context.Context, _ string) (problems []string, err error) {
	names, err := filepath.Glob(filepath.Join(a.dir, "*.sst"))
	for _, name := range names {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			break
		}
		if err := checkTable(ctx, name); err != nil {
			problems = append(problems, filepath.Base(name)+": "+err.Error())
		}
	}
	return problems, err
}

func checkTable(ctx context.Context, name string) error {
	f, err := vfs.Default.Open(name)
	if err != nil {
		return err
	}
	in, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return err
	}
	r, err := sstable.NewReader(ctx, in, sstable.ReaderOptions{})
	if err != nil {
		return err
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}
