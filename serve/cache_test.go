package serve

import (
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"weak"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/query/answer"
)

// TestCacheFreesRows: the cache keeps no memory of rows that it removed, and stores rows of one key once.
func TestCacheFreesRows(t *testing.T) {
	c := &answerCache{}
	removed := func() weak.Pointer[answer.Answer] {
		rows := &answer.Answer{Rows: 1}
		c.put("removed", rows)
		return weak.Make(rows)
	}()
	for i := range maxCached {
		c.put(strconv.Itoa(i), &answer.Answer{Rows: i})
		c.put(strconv.Itoa(i), &answer.Answer{Rows: i})
	}
	runtime.GC()
	if removed.Value() != nil {
		t.Error("the cache keeps the memory of removed rows")
	}
	if c.get("0") == nil || c.get("removed") != nil || len(c.entries) != maxCached {
		t.Errorf("the cache has %d entries, want %d", len(c.entries), maxCached)
	}
	runtime.KeepAlive(c)
}

// TestBetterScores: a scorecard knows the direction of each statistic.
func TestBetterScores(t *testing.T) {
	for _, c := range []struct {
		lineType, stat      string
		candidate, baseline float64
		want                int
	}{
		{"CTC", "CSI", 0.6, 0.5, 1},
		{"CTC", "FAR", 0.6, 0.5, -1},
		{"CTC", "FBIAS", 1.3, 0.9, -1},
		{"CTC", "FBIAS", 1.1, 0.8, 1},
		{"CTC", "ODDS", 9, 2, 1},
		{"CTC", "BASER", 0.6, 0.5, 0},
		{"SL1L2", "RMSE", 2, 3, 1},
		{"SL1L2", "ME", 0.1, -0.2, 1},
		{"SL1L2", "ME", 0.2, -0.2, 0},
		{"SL1L2", "FBAR", 9, 2, 0},
		{"SAL1L2", "ANOM_CORR", 0.9, 0.8, 1},
		{"ECNT", "CRPS", 2, 3, 1},
		{"ECNT", "CRPS_EMP", 2, 3, 1},
		{"ECNT", "CRPSS", 0.2, 0.1, 1},
		{"ECNT", "IGN", -2, -1, 1},
		{"PCT", "BRIER", 0.2, 0.1, -1},
		{"PCT", "ROC_AUC", 0.8, 0.7, 1},
		{"RPS", "RPS", 0.2, 0.1, -1},
		{"GRAD", "S1", 30, 40, 1},
		{"VL1L2", "SPEED_ABSERR", 1, 2, 1},
		{"VL1L2", "VDIFF_SPEED", 1, 2, 1},
		{"SL1L2", "RMSE", math.NaN(), 3, 0},
	} {
		if got := compareScores(c.lineType, c.stat, c.candidate, c.baseline); got != c.want {
			t.Errorf("%s %s: %v against %v is %d, want %d", c.lineType, c.stat, c.candidate, c.baseline, got, c.want)
		}
	}
}

// TestSharedRegions: pairs of groups that differ in their versions give one series with all regions. Those that differ in
// their observations give one series each.
func TestSharedRegions(t *testing.T) {
	catalog := &design.Catalog{}
	for _, model := range []string{"A", "B"} {
		for _, group := range [][3]string{{"V01", "ADPUPA", "EAST"}, {"V02", "ADPUPA", "WEST"}, {"V01", "ADPSFC", "WEST"}} {
			catalog.Groups = append(catalog.Groups, &design.Group{
				LineType: "SL1L2", Version: group[0], Model: model, ObType: group[1], FcstVar: "TMP", Levels: []string{"P500"}, Masks: []string{group[2]},
			})
		}
	}
	all := contest{"model", "A", "B"}.shared(catalog, "SL1L2")
	if len(all) != 2 || !slices.Equal(all[0].regions, []string{"EAST", "WEST"}) || !slices.Equal(all[1].regions, []string{"WEST"}) {
		t.Errorf("%+v, want a series with two regions and one with one", all)
	}
}

// TestOrderOfAlternatives: the fastest alternative is the first, and those without a time are the last.
func TestOrderOfAlternatives(t *testing.T) {
	all := []*Alternative{{Archive: "failed", Problem: "x"}, {Archive: "slow", MS: 0.0009}, {Archive: "fast", MS: 0.0001}}
	slices.SortStableFunc(all, compareAlternatives)
	if all[0].Archive != "fast" || all[1].Archive != "slow" || all[2].Archive != "failed" {
		t.Errorf("%s, %s, %s", all[0].Archive, all[1].Archive, all[2].Archive)
	}
}

// TestFailureAfterTheStart: a response that fails after its beginning does not look complete. One that fails
// before has the error, and no header of the file that it would have been.
func TestFailureAfterTheStart(t *testing.T) {
	started := false
	server := httptest.NewServer(handler(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Disposition", "attachment")
		w.Header().Set("ETag", `"x"`)
		if started {
			if _, err := io.WriteString(w, strings.Repeat("1,2\n", 1<<16)); err != nil {
				return err
			}
		}
		return errors.New("the disk failed")
	}))
	defer server.Close()
	for _, started = range []bool{false, true} {
		r, err := server.Client().Get(server.URL) //nolint:noctx // the server is this test's
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r.Body)
		r.Body.Close()
		switch {
		case started && err == nil:
			t.Errorf("an incomplete file arrives as a complete one of %d bytes; its end is %q", len(text), text[len(text)-40:])
		case !started && (err != nil || r.StatusCode != http.StatusInternalServerError || !strings.Contains(string(text), "disk failed")):
			t.Errorf("%s, %v: %s", r.Status, err, text)
		case !started && (r.Header.Get("ETag") != "" || r.Header.Get("Content-Disposition") != ""):
			t.Errorf("an error with the header of a file: %v", r.Header)
		}
	}
}

// TestStampOfALinkedFolder: the page notices changes of an archive that it opened by a symbolic link.
func TestStampOfALinkedFolder(t *testing.T) {
	dir, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("NOT TESTED: no symbolic links: ", err)
	}
	file := filepath.Join(dir, "1.sst")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link, file} {
		a := &servedArchive{path: path}
		before, err := a.stamp(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err = errors.Join(err, os.WriteFile(file, append(text, 'x'), 0o600)); err != nil {
			t.Fatal(err)
		}
		if after, err := a.stamp(t.Context(), "", ""); err != nil || after == before {
			t.Errorf("%s: a change was not noticed, %v", path, err)
		}
	}
}
