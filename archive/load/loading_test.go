package load_test

import (
	"context"
	"fmt"
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
