package couchbase

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

// TestRemovedIdsAreNotListed removes records. The lists of ids must not contain the removed ids any more, and ids
// that are loaded again only once. The size that the commits count must be that of the documents.
func TestRemovedIdsAreNotListed(t *testing.T) {
	where, err := url.Parse(fresh(enginetest.Lab(t, Driver(), lab.Options{}), "")(t))
	if err != nil {
		t.Fatal(err)
	}
	e, err := native().Open(t.Context(), where, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	opened, err := archive.DatabaseOf(e).Open(t.Context(), design.Document)
	if err != nil {
		t.Fatal(err)
	}
	a := opened.(nativeArchive).Archive.(*openArchive)
	store := func(name string, lead int, days ...int) {
		text := ""
		for _, day := range days {
			text += fmt.Sprintf("V01 GFS %d 201901%02d00 GFS G2 SL1L2 HGT P500 = 3600 1 2 3 4 5\n", lead, day)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := load.Run(t.Context(), a, "a", []string{path}, load.Options{}); err != nil || s.Stored != int64(len(days)) {
			t.Fatal(s, err)
		}
	}
	listed := func(want int) {
		t.Helper()
		if ids, err := a.locked.IDs(t.Context(), "a"); err != nil || len(ids["SL1L2"]) != want {
			t.Errorf("the lists contain %q, %v; want %d ids", ids, err, want)
		}
		if v, err := load.Verify(t.Context(), a, "a"); err != nil || len(v.Problems) > 0 || v.Found.Records != int64(want) {
			t.Errorf("%+v, %v; want %d records", v, err, want)
		}
	}
	checkSize := func() {
		t.Helper()
		stored, err := a.measure(t.Context(), "a")
		if counted, failed := a.Size(t.Context()); err != nil || failed != nil || counted != stored || stored == 0 {
			t.Errorf("%d bytes are counted, %v; %d are stored, %v", counted, failed, stored, err)
		}
	}
	store("first.vsdb", 24, 1, 2, 3, 4)
	store("second.vsdb", 24, 5, 6)
	listed(6)
	if removed, err := load.Retain(t.Context(), a, "a", load.Retention{MaxAge: 2 * 24 * time.Hour, Force: true}); err != nil || removed.Records != 3 {
		t.Fatal(removed, err)
	}
	listed(3)
	checkSize()
	store("late.vsdb", 24, 2)
	listed(4)
	store("lead.vsdb", 48, 2)
	checkSize()
}
