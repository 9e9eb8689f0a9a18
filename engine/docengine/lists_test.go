package docengine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// hourly returns SL1L2 records with one value at each hour from first on; each is a document.
func hourly(file string, first, n int, value float64) *record.Batch {
	lt, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(lt, file)
	h := record.DefaultHeader()
	h[record.Model] = "GFS"
	head := b.AddHeader(h)
	for i := range n {
		b.AppendTimes(head, 3600, 1546300800+int64(first+i)*3600, 1)
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], value)
		}
	}
	return b
}

// commit stores a batch and the mark of its file.
func commit(t *testing.T, a *Archive, b *record.Batch) archive.CommitResult {
	t.Helper()
	l, err := a.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	n := int64(b.Len())
	c := archive.Commit{Catalog: design.NewCatalog("a"), Complete: []archive.Mark{{Path: b.File, Digest: b.File, Read: n, Stored: n, Loaded: time.Unix(1546300800, 0)}}}
	c.Catalog.Add(b)
	if err := l.Add(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s, err := l.Commit(t.Context(), c)
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if m := c.Complete[0]; m.Stored != s.New || m.Replaced != n-s.New {
		t.Errorf("%s: mark %+v, result %+v", b.File, m, s)
	}
	return s
}

// TestListedDocuments: an archive in a store that cannot list its documents keeps lists of their ids. Commits and a
// removal leave the listed documents, their size, the records and the catalog as they must be, also for other clients.
func TestListedDocuments(t *testing.T) {
	for _, writers := range []int{1, 3} {
		o, shared := Options{Lease: time.Minute, Writers: writers, Design: design.KeyValue, List: true}, newContent()
		lt, _ := record.TypeByName("SL1L2")
		open := func() (*Archive, *LockedStore) {
			s := NewLocked(&memory{content: shared}, o)
			return New(s, o), s
		}
		a, _ := open()
		other, store := open()
		check := func(step string, want *design.Catalog, marks ...string) {
			t.Helper()
			ids, err := store.IDs(t.Context(), "a")
			if err != nil || len(ids[lt.Name]) != len(shared.docs) || len(ids) > 1 || !slices.IsSorted(ids[lt.Name]) {
				t.Errorf("%s: %d of %d documents are listed, %v", step, len(ids[lt.Name]), len(shared.docs), err)
			}
			size := int64(0)
			for id, doc := range shared.docs {
				size += int64(len(id) + len(doc))
			}
			if n, known, err := store.Bytes(t.Context(), "a"); n != size || !known || err != nil {
				t.Errorf("%s: %d bytes, known %t, %v; want %d", step, n, known, err, size)
			}
			walk := func(_ *record.LineType, each func(id string, doc []byte) error) error {
				for _, id := range ids[lt.Name] {
					if err := each(id, shared.docs[id]); err != nil {
						return err
					}
				}
				return nil
			}
			found := design.NewCatalog("a")
			for b, err := range other.Dump(t.Context(), "a", walk) {
				if err != nil {
					t.Fatal(err)
				}
				found.Add(b)
			}
			c, err := other.Catalog(t.Context(), "a")
			if err != nil || c.Digest() != want.Digest() || found.Digest() != want.Digest() || c.Objects != int64(len(shared.docs)) {
				t.Errorf("%s: catalog %s of %d objects, found %s, want %s of %d; %v", step, c.Digest(), c.Objects, found.Digest(), want.Digest(), len(shared.docs), err)
			}
			contents, err := other.CountPayloads(t.Context(), "a", walk)
			if err != nil || contents.Objects != int64(len(shared.docs)) || contents.Records[lt.Name] != want.Digest().Records || contents.Object != "pairs" {
				t.Errorf("%s: %+v, %v", step, contents, err)
			}
			listed, err := other.Marks(t.Context(), "a")
			var names []string
			for _, m := range listed {
				names = append(names, m.Path)
			}
			if err != nil || !slices.Equal(names, marks) {
				t.Errorf("%s: marks %q, %v; want %q", step, names, err, marks)
			}
		}
		catalog := func(batches ...*record.Batch) *design.Catalog {
			c := design.NewCatalog("a")
			for _, b := range batches {
				c.Add(b)
			}
			return c
		}
		const many = chunkDocs + idsPerRequest/2 // more than one request
		if s := commit(t, a, hourly("one", 0, many, 1)); s.New != many || s.Objects != many || len(s.Replaced) > 0 {
			t.Errorf("first commit: %+v", s)
		}
		check("one", catalog(hourly("", 0, many, 1)), "one")
		// The second client replaces ten records and adds five.
		if s := commit(t, other, hourly("two", many-10, 15, 2)); s.New != 5 || s.Objects != 5 || s.Replaced["two"] != 10 || len(s.Existing) != 10 {
			t.Errorf("second commit: %d new, %d objects, %v", s.New, s.Objects, s.Replaced)
		}
		check("two", catalog(hourly("", 0, many-10, 1), hourly("", many-10, 15, 2)), "one", "two")
		// The first client loads its last file again, without knowing the catalog of the second.
		if s := commit(t, a, hourly("two", many-10, 15, 2)); s.New != 0 || s.Objects != 0 || s.Replaced["two"] != 15 || len(s.Existing) != 0 {
			t.Errorf("third commit: %d new, %d objects, %v", s.New, s.Objects, s.Replaced)
		}
		check("again", catalog(hourly("", 0, many-10, 1), hourly("", many-10, 15, 2)), "one", "two")
		for name, want := range map[string]bool{"SL1L2": true, "CTC": false} {
			lt, _ := record.TypeByName(name)
			if has, err := other.HasType(t.Context(), "a", lt); has != want || err != nil {
				t.Errorf("%s: %t, %v", name, has, err)
			}
		}
		if prefixes, err := other.Prefixes(t.Context(), "a", lt); err != nil || len(prefixes) != 1 || !strings.Contains(prefixes[0], "a") {
			t.Errorf("prefixes %q, %v", prefixes, err)
		}
		l, err := a.Loader(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		trim := func(hours int64) error { return archive.Trim(t.Context(), l, 1546300800+hours*3600) }
		if err := trim(many - 20); err != nil {
			t.Fatal(err)
		}
		check("trimmed", catalog(hourly("", many-20, 10, 1), hourly("", many-10, 15, 2)), "one", "two")
		if c, err := other.Catalog(t.Context(), "a"); err != nil || c.Trimmed != many-20 {
			t.Errorf("%d trimmed, %v", c.Trimmed, err)
		}
		if err := errors.Join(trim(many-20), l.Close()); err != nil {
			t.Errorf("trimmed again: %v", err)
		}
		check("trimmed again", catalog(hourly("", many-20, 10, 1), hourly("", many-10, 15, 2)), "one", "two")
		if undo := slices.DeleteFunc(names(shared), func(n string) bool { return !strings.HasPrefix(n, "undo") }); len(undo) > 0 {
			t.Errorf("undo documents remain: %q", undo)
		}
		if subsets, err := other.Subsets(t.Context()); err != nil || !slices.Equal(subsets, []string{"a"}) {
			t.Errorf("%q, %v", subsets, err)
		}
	}
}

// names lists the names of the stored texts.
func names(c *content) (all []string) {
	for name := range c.texts {
		all = append(all, name)
	}
	return all
}

// TestFailedWrites: a commit of which a request fails stores nothing, and the next one succeeds. If the server also refuses
// the rollback, the next call completes it.
func TestFailedWrites(t *testing.T) {
	o, shared := Options{Lease: time.Minute, Writers: 2, Design: design.KeyValue, List: true}, newContent()
	broken := errors.New("broken")
	store := &brokenWrites{memory: &memory{content: shared}, err: broken}
	a := New(NewLocked(store, o), o)
	l, err := a.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	b := hourly("one", 0, 3*chunkDocs, 1)
	c := archive.Commit{Catalog: design.NewCatalog("a"), Complete: []archive.Mark{{Path: "one", Digest: "1", Loaded: time.Unix(1, 0)}}}
	c.Catalog.Add(b)
	for _, allowed := range []int{0, 1, 2} {
		store.allowed = allowed
		if err := l.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Commit(t.Context(), c); !errors.Is(err, broken) {
			t.Errorf("%d writes: %v", allowed, err)
		}
		store.allowed = 1000 // the server is up again
		found, err := a.Catalog(t.Context(), "a")
		if err != nil {
			t.Fatal(allowed, err)
		}
		if found.Digest().Records != 0 || len(shared.docs) != 0 {
			t.Errorf("%d writes: %d records, %d documents, %v", allowed, found.Digest().Records, len(shared.docs), err)
		}
	}
	if s := commit(t, a, b); s.New != 3*chunkDocs || len(shared.docs) != 3*chunkDocs {
		t.Errorf("%+v, %d documents", s, len(shared.docs))
	}
}

// brokenWrites fails after some writes.
type brokenWrites struct {
	*memory
	allowed int
	err     error
}

func (s *brokenWrites) Write(ctx context.Context, subset string, t *record.LineType, docs []Document) error {
	s.mu.Lock()
	s.allowed--
	fails := s.allowed < 0
	s.mu.Unlock()
	if fails {
		return s.err
	}
	return s.memory.Write(ctx, subset, t, docs)
}

// TestWalkedTypes: a caller of Types may stop, and an unknown line type is omitted.
func TestWalkedTypes(t *testing.T) {
	c := design.NewCatalog("a")
	c.Groups = []*design.Group{{LineType: "CTC"}, {LineType: "FUTURE"}, {LineType: "SL1L2"}, {LineType: "SL1L2", Model: "NAM"}, {LineType: "VL1L2"}}
	var all []string
	for lt := range Types(c) {
		all = append(all, lt.Name)
	}
	if !slices.Equal(all, []string{"CTC", "SL1L2", "VL1L2"}) {
		t.Errorf("%q", all)
	}
	next, stop := iter.Pull(Types(c))
	if lt, ok := next(); !ok || lt.Name != "CTC" {
		t.Errorf("%v", lt)
	}
	stop()
}
