package pebble

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"barograph/design"
	"barograph/engine"
	"barograph/record"
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
type archive struct{ *store }

func (a *archive) Close() error { return nil }

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

// numbered is a mark as it is kept: with its place in the order of loading.
type numbered struct {
	Number int64       `json:"number"`
	Mark   engine.Mark `json:"mark"`
}

func (s *store) marks(ctx context.Context, subset string) ([]numbered, error) {
	var all []numbered
	err := s.scan(ctx, markKey(subset, ""), func(_, value []byte) error {
		var m numbered
		if err := json.Unmarshal(value, &m); err != nil {
			return fmt.Errorf("mark of subset %q: %w", subset, err)
		}
		all = append(all, m)
		return nil
	})
	slices.SortFunc(all, func(x, y numbered) int { return cmp.Compare(x.Number, y.Number) })
	return all, err
}

// Marks lists the loaded files.
func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	all, err := a.marks(ctx, subset)
	marks := make([]engine.Mark, len(all))
	for i := range all {
		marks[i] = all[i].Mark
	}
	return marks, err
}

// catalog returns the subset's catalog, which must not be changed; nil where
// the subset does not exist.
func (s *store) catalog(subset string) (*design.Catalog, error) {
	s.mu.RLock()
	c := s.catalogs[subset]
	s.mu.RUnlock()
	if c != nil {
		return c, nil
	}
	s.mu.Lock() // a commit that replaces the catalog waits, or is done
	defer s.mu.Unlock()
	if c = s.catalogs[subset]; c != nil {
		return c, nil
	}
	text, ok, err := s.get(catalogKey(subset))
	if err != nil || !ok {
		return nil, err
	}
	if c, err = design.ParseCatalog(text); err != nil {
		return nil, fmt.Errorf("catalog of subset %q: %w", subset, err)
	}
	s.catalogs[subset] = c
	return c, nil
}

// Catalog returns a copy of the subset's catalog.
func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	own := design.NewCatalog(subset)
	c, err := a.catalog(subset)
	if err != nil {
		return nil, err
	}
	if c != nil {
		own.Merge(c)
	}
	return own, ctx.Err()
}

// Subsets lists the subsets that have a catalog.
func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	var names []string
	err := a.scan(ctx, []byte(catalogPrefix), func(key, _ []byte) error {
		name, err := url.QueryUnescape(string(key[len(catalogPrefix):]))
		names = append(names, name)
		return err
	})
	slices.Sort(names)
	return names, err
}

// parts walks the line types and versions of a subset: what its keys begin with.
func (s *store) parts(subset string, each func(t *record.LineType, prefix []byte) error) error {
	c, err := s.catalog(subset)
	if err != nil || c == nil {
		return err
	}
	var before []byte
	for _, g := range c.Groups { // groups are ordered by line type and version
		prefix := design.AppendSubset(nil, g.Version, g.LineType, subset)
		if bytes.Equal(prefix, before) {
			continue
		}
		before = prefix
		t, ok := record.TypeByName(g.LineType)
		if !ok {
			return fmt.Errorf("catalog of subset %q: line type %q is not known", subset, g.LineType)
		}
		if err := each(t, prefix); err != nil {
			return err
		}
	}
	return nil
}

// Contents counts pairs, and the records that each says it holds.
func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "pairs"}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	err := a.parts(subset, func(t *record.LineType, prefix []byte) error {
		return a.scan(ctx, prefix, func(key, value []byte) error {
			n, width := binary.Uvarint(value[min(1, len(value)):]) // the count follows the layout's version
			if width <= 0 {
				return damaged(key, nil)
			}
			c.Objects++
			c.Records[t.Name] += int64(n)
			return nil
		})
	})
	return c, err
}

func damaged(key []byte, err error) error {
	if err == nil {
		err = errDamaged
	}
	return fmt.Errorf("pair %q: %w: %w", key, pebble.ErrCorruption, err)
}

// Dump walks all pairs of the subset.
func (a *archive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return engine.Dump(func(to *engine.Dumper) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var b record.Batch
		return a.parts(subset, func(t *record.LineType, prefix []byte) error {
			d := decoder{b: &b}
			b.Reset(t, "")
			err := a.scan(ctx, prefix, func(key, value []byte) error {
				if err := d.pair(key, value); err != nil {
					return err
				}
				emptied, err := to.Full(&b)
				if emptied {
					d.series = d.series[:0]
				}
				return err
			})
			if err != nil {
				return err
			}
			return to.Rest(&b)
		})
	})
}

// decoder decodes pairs in the order of their keys into a batch.
type decoder struct {
	b      *record.Batch
	series []byte // the key of the last header, without the epoch
	head   uint32
}

func (d *decoder) pair(key, value []byte) error {
	cut := bytes.LastIndex(key, []byte("::")) + 2
	valid, err := epoch(key[cut:])
	if err != nil {
		return damaged(key, err)
	}
	if !bytes.Equal(d.series, key[:cut]) {
		_, _, h, _, err := design.ParseKey(string(key))
		if err != nil {
			return err
		}
		d.head = d.b.AddHeader(h)
		d.series = append(d.series[:0], key[:cut]...)
	}
	if err := design.DecodePayload(value, d.b, d.head, valid); err != nil {
		return damaged(key, err)
	}
	return nil
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
