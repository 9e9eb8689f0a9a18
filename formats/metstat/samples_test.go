package metstat

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// dataDir returns the folder of real data: $BAROGRAPH_DATA, or shared/data in the folder that contains
// the repository. It skips the test if there is none.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("BAROGRAPH_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "met", "stat")); err != nil {
		t.Skipf("no real data: %v; set BAROGRAPH_DATA to a folder with met/stat", err)
	}
	return dir
}

// g2g unpacks two cycles of NOAA's grid_stat output, MET 12.
func g2g(t testing.TB) string {
	t.Helper()
	archive := filepath.Join(dataDir(t), "met", "stat", "g2g_met12_20241031_00z_12z.tar.xz")
	if _, err := os.Stat(archive); err != nil {
		t.Skipf("no real data: %v", err)
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Skipf("tar cannot unpack %s: %v %s", archive, err, out)
	}
	return dir
}

// filesUnder lists the files below dir that hold MET's text, sorted.
func filesUnder(t testing.TB, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && slices.Contains([]string{".stat", ".txt", ".tcst"}, filepath.Ext(path)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// readFile reads a file to its end.
func readFile(t testing.TB, path string, o Options) []*record.Batch {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return drain(t, NewReader(f, filepath.Base(path), o))
}

// tally counts the lines of one folder.
type tally struct {
	lines, stored, rejected int
	perType                 map[string]int
	reasons                 map[string]int
	seen                    map[record.Key]record.Digest
	duplicates              map[string]int // lines with the identity and the values of an earlier line
	conflicts               map[string]int // lines with the identity of an earlier line, but different values
}

func newTally() *tally {
	return &tally{
		perType: map[string]int{}, reasons: map[string]int{}, seen: map[record.Key]record.Digest{},
		duplicates: map[string]int{}, conflicts: map[string]int{},
	}
}

func (s *tally) add(t testing.TB, path string) {
	var hash record.Hasher
	for _, b := range readFile(t, path, Options{}) {
		s.lines += b.Lines
		s.stored += b.Len()
		s.rejected += len(b.Rejects)
		for _, r := range b.Rejects {
			s.reasons[fmt.Sprintf("%s: %s", filepath.Ext(path), r.Reason)]++
		}
		if b.Type == nil {
			continue
		}
		s.perType[b.Type.Name] += b.Len()
		hash.SetBatch(b)
		for i := range b.Len() {
			key := hash.Key(i)
			digest := hash.Digest(i)
			if first, ok := s.seen[key]; ok {
				what := fmt.Sprintf("%s in %s, vx_mask %s", b.Type.Name, filepath.Base(path), b.Header(i)[record.VxMask])
				if first == digest {
					s.duplicates[what]++
				} else {
					s.conflicts[what]++
				}
			}
			s.seen[key] = digest
		}
	}
}

func (s *tally) print(w *strings.Builder, name string, files int) {
	fmt.Fprintf(w, "%s: %d files, %d lines, %d stored, %d quarantined\n", name, files, s.lines, s.stored, s.rejected)
	for _, t := range record.Types() {
		if n := s.perType[t.Name]; n > 0 {
			fmt.Fprintf(w, "  %7d %s\n", n, t.Name)
		}
	}
	for _, r := range slices.Sorted(maps.Keys(s.reasons)) {
		fmt.Fprintf(w, "  %7d quarantined, %s\n", s.reasons[r], r)
	}
	for _, l := range slices.Sorted(maps.Keys(s.duplicates)) {
		fmt.Fprintf(w, "  %7d equal to a line before: %s\n", s.duplicates[l], l)
	}
	for _, l := range slices.Sorted(maps.Keys(s.conflicts)) {
		fmt.Fprintf(w, "  %7d of the identity of a line before, with different values: %s\n", s.conflicts[l], l)
	}
}

// TestRealFiles: the reader stores every real line, or quarantines it with a reason that helps, and no
// two lines with different values have one identity. (A loader whose key is only the header kept 1,869
// of the 15,325 lines of met_regression.)
//
// One exception is MET's own: for the means over climatology bins, mask …_BIN_MEAN, it writes several
// lines with the same header, OBS_THRESH NA, for different thresholds. Only their values differ. An
// archive keeps the first one, unless --on-conflict says otherwise.
func TestRealFiles(t *testing.T) {
	root := filepath.Join(dataDir(t), "met", "stat")
	var out strings.Builder
	for _, folder := range []struct {
		name     string
		separate bool // the files are of separate test runs of MET, with equal headers
	}{{"point_stat_prob", false}, {"ensemble", false}, {"misc", false}, {"met_regression", true}, {"met_v12_newcols", true}} {
		s := newTally()
		files := filesUnder(t, filepath.Join(root, folder.name))
		for _, f := range files {
			if folder.separate {
				clear(s.seen)
			}
			s.add(t, f)
		}
		s.print(&out, folder.name, len(files))
		for l := range s.conflicts {
			if !strings.HasSuffix(l, "_BIN_MEAN") {
				t.Errorf("%s: two lines with different values share an identity: %s", folder.name, l)
			}
		}
	}
	golden(t, "samples.golden", out.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test -update rewrites it. Got:\n%s", path, got)
	}
}

// The two cycles have 128,880 lines of the four partial-sum types.
func TestRealGridStat(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of the race run: one goroutine reads it all")
	}
	s := newTally()
	files := filesUnder(t, g2g(t))
	for _, f := range files {
		s.add(t, f)
	}
	want := map[string]int{"SL1L2": 87840, "SAL1L2": 22464, "VL1L2": 12960, "VAL1L2": 5616}
	if s.lines != 128880 || s.stored != s.lines || !maps.Equal(s.perType, want) {
		t.Errorf("%d lines, %d stored: %v", s.lines, s.stored, s.perType)
	}
	if len(s.duplicates)+len(s.conflicts) > 0 {
		t.Errorf("lines that share an identity: %v %v", s.duplicates, s.conflicts)
	}
}

// The records of real files survive writing and reading.
func TestRealRoundTrip(t *testing.T) {
	root := filepath.Join(dataDir(t), "met", "stat")
	lines := 0
	for _, name := range filesUnder(t, root) {
		var hash record.Hasher
		var before, after record.Digest
		text := AppendHeader(nil)
		for _, b := range readFile(t, name, Options{}) {
			before.Add(hash.DigestOf(b))
			for i := range b.Len() {
				text = AppendLine(text, b, i)
				lines++
			}
		}
		for _, b := range drain(t, NewReader(strings.NewReader(string(text)), name, Options{})) {
			for _, r := range b.Rejects {
				t.Errorf("%s: %s: %s", filepath.Base(name), r.Reason, r.Text)
			}
			after.Add(hash.DigestOf(b))
		}
		if before != after {
			t.Errorf("%s: digest %v becomes %v", filepath.Base(name), before, after)
		}
	}
	if lines == 0 {
		t.Error("no records")
	}
}

func load(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
