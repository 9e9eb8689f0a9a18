package river

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// TestLongNames: Done moves files with the longest possible names, also if done/ and failed/ contain such files
// already.
func TestLongNames(t *testing.T) {
	s, err := OpenSpool(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, strings.Repeat("a", 255))
	for _, failure := range []string{"", "", "no product", "no product"} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Done(&Waiting{Path: path, Received: info.ModTime(), Size: 1, failure: failure}); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]int{"done/*/a*": 2, "failed/a*": 4} {
		if found, err := filepath.Glob(filepath.Join(s.Dir, pattern)); err != nil || len(found) != want {
			t.Errorf("%s: %d files, %v", pattern, len(found), err)
		}
	}
}

// TestFreePath: freePath returns an error that concerns every number, instead of trying all numbers.
func TestFreePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := freePath(file, "x", "."); err == nil {
		t.Errorf("a path in a file: %s", path)
	}
}

// TestFeedFilesNamedWhy: a file of the feed whose name ends like that of a reason is neither overwritten nor forgotten.
func TestFeedFilesNamedWhy(t *testing.T) {
	s, err := OpenSpool(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.why", "a", "b", "b.why"} {
		path := filepath.Join(s.Dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Done(&Waiting{Path: path, Received: info.ModTime(), Size: info.Size(), failure: "no product"}); err != nil {
			t.Fatal(err)
		}
	}
	back, err := s.Retry(nil)
	if err != nil || len(back) != 4 {
		t.Errorf("%q: %v", back, err)
	}
	contents := map[string]bool{}
	for _, path := range back {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		contents[string(text)] = true
	}
	if len(contents) != 4 || contents["no product\n"] {
		t.Errorf("%v", contents)
	}
}

// TestNewestProduct: the newest issue time stays when an older product is posted, and a time in the future does not
// count.
func TestNewestProduct(t *testing.T) {
	t.Parallel()
	m, now := NewMetrics(prometheus.NewRegistry()), time.Now()
	for _, after := range []time.Duration{-time.Hour, -5 * time.Hour, 24 * time.Hour} {
		p := &pendingProduct{&Product{ID: "KLCHRR1LCH", Issued: now.Add(after)}, &Waiting{Received: now}}
		m.countProduct(p, Tally{})
	}
	if newest := testutil.ToFloat64(m.newest); newest != float64(now.Add(-time.Hour).Unix()) {
		t.Errorf("newest is %v h from now", (newest-float64(now.Unix()))/3600)
	}
}
