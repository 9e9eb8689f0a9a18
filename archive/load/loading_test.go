package load_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/archive"
)

// noting records the load that the catalog of each commit names.
type noting struct {
	archive.Archive
	pids []int // by commit; −1 = the commit does not mention a load
}

type notingLoader struct {
	archive.Loader
	a *noting
}

func (a *noting) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := a.Archive.Loader(ctx, subset)
	return &notingLoader{l, a}, err
}

func (l *notingLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	pid := -1
	if c.Catalog != nil && c.Catalog.Loading != nil {
		pid = c.Catalog.Loading.PID
	}
	l.a.pids = append(l.a.pids, pid)
	return l.Loader.Commit(ctx, c)
}

// Every commit but the last names the load in the catalog. The last commit removes the name. A load
// without a name and a load of one commit write no name.
func TestLoadIsNamedUntilItsLastCommit(t *testing.T) {
	var files []string
	dir := t.TempDir()
	for i := range 6 {
		files = append(files, write(t, dir, fmt.Sprintf("f%d.vsdb", i), line(0, i, 1)+line(6, i, 2)))
	}
	by := &design.Loading{PID: 7, Host: "here", Since: time.Unix(0, 0)}
	for _, c := range []struct {
		by     *design.Loading
		window int
		named  bool
	}{{by, 3, true}, {nil, 3, false}, {by, 1000, false}} {
		a := &noting{Archive: memory(t)}
		if _, err := load.Run(t.Context(), a, "s", files, load.Options{Window: c.window, Loading: c.by}); err != nil {
			t.Fatal(err)
		}
		for i, pid := range a.pids {
			want := -1
			switch {
			case c.named && i == len(a.pids)-1:
				want = 0
			case c.named:
				want = 7
			}
			if pid != want {
				t.Errorf("window %d, by %v: commits name %v, commit %d is not %d", c.window, c.by != nil, a.pids, i, want)
			}
		}
		if c.named && len(a.pids) < 3 {
			t.Errorf("%d commits", len(a.pids))
		}
		catalog, err := a.Catalog(t.Context(), "s")
		if err != nil || catalog.Loading != nil {
			t.Errorf("the catalog names a load that ended: %+v, %v", catalog.Loading, err)
		}
	}
}

// A load removes the name of an interrupted load from the catalog, even if it stores nothing else. It
// does not change the name of a load that is still running. A load without a name changes none.
func TestLoadRemovesOnlyTheNameOfAnInterruptedLoad(t *testing.T) {
	dir := t.TempDir()
	old := []string{write(t, dir, "old.vsdb", line(0, 0, 1))}
	more := append(slices.Clone(old), write(t, dir, "new1.vsdb", line(0, 1, 1)), write(t, dir, "new2.vsdb", line(0, 2, 1)))
	by, other := &design.Loading{PID: 7}, &design.Loading{PID: 8}
	always := func(running bool) func(design.Loading) bool {
		return func(l design.Loading) bool { return running && l.PID == other.PID }
	}
	for name, c := range map[string]struct {
		by       *design.Loading
		inFlight func(design.Loading) bool
		removed  bool
	}{
		"the other load was interrupted": {by, always(false), true},
		"nobody knows the other load":    {by, nil, true},
		"the other load is running":      {by, always(true), false},
		"this load has no name":          {nil, always(false), false},
	} {
		for what, files := range map[string][]string{"nothing new": old, "two new files": more} {
			a := &noting{Archive: memory(t)}
			if _, err := load.Run(t.Context(), a, "s", old, load.Options{}); err != nil {
				t.Fatal(err)
			}
			l, err := a.Loader(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			named := design.NewCatalog("s")
			named.Loading = other
			_, err = l.Commit(t.Context(), archive.Commit{Catalog: named})
			if err = errors.Join(err, l.Close()); err != nil {
				t.Fatal(err)
			}
			a.pids = nil
			options := load.Options{Window: 1, Loading: c.by, InFlight: c.inFlight}
			if _, err := load.Run(t.Context(), a, "s", files, options); err != nil {
				t.Fatal(err)
			}
			catalog, err := a.Catalog(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			if removed := catalog.Loading == nil; removed != c.removed || !removed && catalog.Loading.PID != other.PID {
				t.Errorf("%s, %s: the catalog names %+v", name, what, catalog.Loading)
			}
			if i := slices.IndexFunc(a.pids, func(pid int) bool { return pid >= 0 }); !c.removed && i >= 0 {
				t.Errorf("%s, %s: the commits name %v", name, what, a.pids)
			}
		}
	}
}
