package enginetest

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// flippedBit flips bits of a stored archive, one at a time. A read must then return the stored records, or an
// error with place and cure, and never anything else.
func (s *suite) flippedBit(t *testing.T) {
	raw, files := s.URL(t), crashFiles()
	h := s.open(t, raw, engine.Options{})
	mustStore(t, h, "a", files, 6)
	if _, err := h.Size(t.Context()); err != nil { // writes what is in memory
		t.Fatal(err)
	}
	h.close(t)
	path, want := databasePath(t, raw), expect(files)
	rng, caught := newRand(uint64(setting(t, EnvSeed))), 0
	rounds := s.repetitions(t, 4, 2)
	for range rounds {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
		copyURL := filepath.Join(dir, filepath.Base(path))
		where := flipBit(t, rng, copyURL)
		got, err := s.reread(t.Context(), s.Driver.Scheme+":"+copyURL, rng.IntN(2) == 0)
		switch {
		case err != nil && !hasCure(err):
			t.Errorf("%s: the error has no cure: %v", where, err)
		case err != nil:
			caught++
		case got != want:
			t.Errorf("%s: the digest is %s, want %s, and there is no error", where, got, want)
		}
	}
	t.Logf("%d of %d damages were detected", caught, rounds)
}

// fullDisk fills a disk of a size. The load that fills it must return an error with place and cure, and
// everything that was committed must be intact once the disk has more space. Sizes are those of mount.
func (s *suite) fullDisk(t *testing.T, size, more string) {
	attack := s.attacked(t, "full disk of "+size)
	raw := s.URL(t)
	disk := filepath.Dir(databasePath(t, raw))
	smallDisk(t, disk, size)
	out, err := s.child(t, job{URL: raw, Design: s.design, Fill: true}).Output()
	_, outcome, full := strings.Cut(string(out), diskIsFull)
	if err != nil || !full {
		t.Fatalf("the load that fills the disk: %v\n%s", err, out)
	}
	outcome, _, _ = strings.Cut(outcome, "\n")
	attack.Count(outcome)
	if err := mount(t, "-o", "remount,size="+more, "tmpfs", disk); err != nil {
		t.Fatal(err)
	}
	s.undamaged(t, raw)
	s.refill(t, raw, attack)
}

// smallDisk mounts a file system of a size until the test ends.
func smallDisk(t *testing.T, disk, size string) {
	t.Helper()
	if err := mount(t, "-t", "tmpfs", "-o", "size="+size, "tmpfs", disk); err != nil {
		t.Skipf("NOT TESTED: a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := exec.CommandContext(context.WithoutCancel(t.Context()), "umount", "--lazy", disk).Run(); err != nil {
			t.Error(err)
		}
	})
}

func mount(t *testing.T, args ...string) error {
	t.Helper()
	text, err := exec.CommandContext(context.WithoutCancel(t.Context()), "mount", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// refill loads, after the disk has more space, the rest of the subsets that the full disk interrupted, and one more.
func (s *suite) refill(t *testing.T, raw string, attack *Attack) {
	t.Helper()
	h := s.open(t, raw, engine.Options{})
	names, err := h.Subsets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	files := crashFiles()
	attack.Note += fmt.Sprintf("; %d subsets were complete or in flight", len(names))
	for i := max(len(names)-2, 0); i <= len(names); i++ { // the last one may be incomplete
		rest := s.checkWholeFiles(t, h, fillSubset(i), files)
		t.Logf("subset %d: %d of %d files are loaded", i+1, len(files)-len(rest), len(files))
		mustStore(t, h, fillSubset(i), rest, len(files))
		checkDigest(t, h, fillSubset(i), expect(files))
	}
	h.close(t)
}

const (
	fillSubsets = 5000 // more than a disk of 30 MB has space for
	diskIsFull  = "enginetest: the disk is full: "
)

func fillSubset(i int) string { return "s" + strconv.Itoa(i) }

// fill loads until an error, which must have a cure.
func (s *suite) fill(t *testing.T, raw string) {
	h := s.open(t, raw, engine.Options{})
	h.closed = true // closing need not be possible any more
	for i := range fillSubsets {
		_, err := store(t.Context(), h, fillSubset(i), crashFiles(), 12)
		if err == nil {
			continue
		}
		fmt.Println(diskIsFull + Refusal(t, err, databasePath(t, raw))) //nolint:forbidigo // the parent reads it
		_, _ = h.Close(), h.engine.Close()
		return
	}
}

// reread opens a database and returns the digest of its subset a.
func (s *suite) reread(ctx context.Context, raw string, readOnly bool) (d record.Digest, err error) {
	e, err := engine.Registry{s.Driver}.Open(ctx, raw, engine.Options{ReadOnly: readOnly})
	if err != nil {
		return d, err
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(ctx, s.design)
	if err != nil {
		return d, err
	}
	defer a.Close()
	return dump(ctx, a, "a")
}

// databasePath returns the file or folder of an embedded engine's URL.
func databasePath(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Path(u)
}

// flipBit flips one bit of a file, or of a file in a folder. Each byte has the same probability.
func flipBit(t *testing.T, rng *rand.Rand, path string) (where string) {
	t.Helper()
	var names []string
	var sizes []int64
	var all int64
	err := filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			names, sizes, all = append(names, name), append(sizes, info.Size()), all+info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	offset, i := rng.Int64N(all), 0
	for ; offset >= sizes[i]; i++ {
		offset -= sizes[i]
	}
	text, err := os.ReadFile(names[i])
	if err != nil {
		t.Fatal(err)
	}
	text[offset] ^= 1 << rng.IntN(8)
	if err := os.WriteFile(names[i], text, 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Base(names[i]) + " at byte " + strconv.FormatInt(offset, 10)
}
