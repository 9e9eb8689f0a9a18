package load_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// layouts opens one new archive for each layout: in memory, and as rows, documents and pairs on disk.
func layouts(t *testing.T) map[string]archive.Archive {
	t.Helper()
	out := map[string]archive.Archive{"memory": memory(t)}
	for _, x := range []struct {
		d engine.Driver
		n design.Name
	}{{sqlite.Driver(), design.Normalized}, {sqlite.Driver(), design.Document}, {pebble.Driver(), design.KeyValue}} {
		name := x.d.Scheme + " " + string(x.n)
		e, err := x.d.Open(t.Context(), &url.URL{Scheme: x.d.Scheme, Opaque: filepath.Join(t.TempDir(), "a")}, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := archive.DatabaseOf(e).Open(t.Context(), x.n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := errors.Join(a.Close(), e.Close()); err != nil {
				t.Error(name, err)
			}
		})
		out[name] = a
	}
	return out
}

// values returns the values of fbar at a lead in hours, ascending.
func values(t *testing.T, a archive.Archive, lead int32) (out []float64) {
	t.Helper()
	for b, err := range a.Dump(t.Context(), "s") {
		if err != nil {
			t.Fatal(err)
		}
		c, _ := b.Type.Column("fbar")
		for i := range b.Len() {
			if b.Lead[i] == lead*3600 {
				out = append(out, b.Num[c.Slot][i])
			}
		}
	}
	slices.Sort(out)
	return out
}

// checkIntact verifies an archive without its files, and compares it with them.
func checkIntact(t *testing.T, a archive.Archive, files ...string) {
	t.Helper()
	v, err := load.Verify(t.Context(), a, "s")
	if err != nil || len(v.Problems) > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
	if list, n, _, err := load.Compare(t.Context(), a, "s", files, false); err != nil || n > 0 {
		t.Errorf("against the files: %d misfits, %v, %v", n, list, err)
	}
}

// Keep stores all lines that give one record different values, and stores duplicates once. The
// result does not depend on the order of files, the number of workers, the commits or the layout of
// the archive.
func TestKeepStoresAll(t *testing.T) {
	want := []string{"a.vsdb:1 b.vsdb:1", "a.vsdb:1 c.vsdb:3", "a.vsdb:3 a.vsdb:4", "b.vsdb:2 c.vsdb:1"}
	var held record.Digest
	for trial := range 4 {
		for name, a := range layouts(t) {
			files := contradicting(t)
			r := rand.New(rand.NewPCG(1, uint64(trial)))
			r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			o := load.Options{OnConflict: load.Keep, Workers: 1 + trial%3, Window: []int{1, 2, 5, 100}[trial]}
			s := mustLoad(t, a, o, files...)
			if s.Read != 11 || s.Stored != 9 || s.Duplicates != 2 || s.Conflicts != 0 || s.Kept != 4 {
				t.Errorf("%s, trial %d: read %d, stored %d, same %d, other %d, kept %d; want 11 = 9 + 2, 4 kept", name, trial, s.Read, s.Stored, s.Duplicates, s.Conflicts, s.Kept)
			}
			c, err := a.Catalog(t.Context(), "s")
			if err != nil || !slices.Equal(places(c.Conflicts), want) || !c.Conflicts[0].Kept || !c.KeepsConflicts || c.Schema != 2 {
				t.Errorf("%s, trial %d: the archive reports %+v, %v", name, trial, c.Conflicts, err)
			}
			checkTexts(t, c.Conflicts)
			for lead, fbar := range map[int32][]float64{0: {1, 2, 3}, 6: {1, 2}, 12: {1, 2}, 18: {5}, 24: {6}} {
				if got := values(t, a, lead); !slices.Equal(got, fbar) {
					t.Errorf("%s, trial %d: lead %d has %v, want %v", name, trial, lead, got, fbar)
				}
			}
			checkIntact(t, a, files...)
			if d := digest(t, a); held == (record.Digest{}) {
				held = d
			} else if d != held {
				t.Errorf("%s, trial %d: digest %s, want %s", name, trial, d, held)
			}
			again := mustLoad(t, a, load.Options{}, files...)
			if len(again.Skipped) != 3 || again.Stored != 0 || digest(t, a) != held {
				t.Errorf("%s, trial %d: the second load skipped %d, stored %d", name, trial, len(again.Skipped), again.Stored)
			}
		}
	}
}

// If a load died before its marks, the next load counts the stored records as duplicates and does
// not report them again. It keeps the remaining conflicts, too.
func TestKeepIsResumed(t *testing.T) {
	for name, a := range layouts(t) {
		files := contradicting(t)
		if _, err := load.Run(t.Context(), &unmarked{a}, "s", files[:2], load.Options{OnConflict: load.Keep, Window: 3}); err != nil {
			t.Fatal(name, err)
		}
		for _, window := range []int{2, 100} {
			var reported []design.Conflict
			o := load.Options{Window: window, Conflict: func(c design.Conflict) { reported = append(reported, c) }}
			if window == 2 {
				s, err := load.Run(t.Context(), &unmarked{a}, "s", files[:2], o)
				if err != nil || s.Stored != 0 || s.Duplicates != 8 || s.Kept != 0 {
					t.Errorf("%s: run again: %+v, %v", name, s, err)
				}
				continue
			}
			s := mustLoad(t, a, o, files...)
			if s.Stored != 2 || s.Duplicates != 9 || s.Kept != 2 {
				t.Errorf("%s: stored %d, same %d, kept %d; want 2, 9, 2", name, s.Stored, s.Duplicates, s.Kept)
			}
		}
		c, err := a.Catalog(t.Context(), "s")
		if err != nil || len(c.Conflicts) != 4 {
			t.Errorf("%s: the archive reports %v, %v", name, places(c.Conflicts), err)
		}
		checkIntact(t, a, files...)
	}
}

// A load with Keep does not change the records of an earlier load without Keep. From then on the
// subset keeps all conflicts and refuses other policies.
func TestKeepBesideAnEarlierLoad(t *testing.T) {
	for name, a := range layouts(t) {
		dir := t.TempDir()
		first := write(t, dir, "b.vsdb", line(0, 0, 1)+line(6, 0, 9))
		mustLoad(t, a, load.Options{}, first)
		second := write(t, dir, "a.vsdb", line(0, 0, 2)+line(6, 0, 9)+line(12, 0, 3))
		if s := mustLoad(t, a, load.Options{OnConflict: load.Keep}, second); s.Stored != 2 || s.Duplicates != 1 || s.Kept != 1 {
			t.Errorf("%s: stored %d, same %d, kept %d; want 2, 1, 1", name, s.Stored, s.Duplicates, s.Kept)
		}
		third := write(t, dir, "c.vsdb", line(0, 0, 3)+line(0, 0, 2))
		for _, other := range []load.OnConflict{load.Refuse, load.First, load.Last} {
			if _, err := load.Run(t.Context(), a, "s", []string{third}, load.Options{OnConflict: other}); err == nil || !strings.Contains(err.Error(), "nothing was stored") {
				t.Errorf("%s, %s: %v", name, other, err)
			}
		}
		if s := mustLoad(t, a, load.Options{}, third); s.Stored != 1 || s.Duplicates != 1 || s.Kept != 1 {
			t.Errorf("%s: stored %d, same %d, kept %d; want 1, 1, 1", name, s.Stored, s.Duplicates, s.Kept)
		}
		c, err := a.Catalog(t.Context(), "s")
		if got := places(c.Conflicts); err != nil || !slices.Equal(got, []string{"a.vsdb:1 b.vsdb:1", "a.vsdb:1 c.vsdb:1", "c.vsdb:1 c.vsdb:2"}) {
			t.Errorf("%s: the archive reports %v, %v", name, got, err)
		}
		for i, want := range []string{"fbar 1, not 2", "fbar 3, not 2", "fbar 2, not 3"} {
			if what := c.Conflicts[i].What; !strings.HasSuffix(what, want) {
				t.Errorf("%s: conflict %d is %q, want %q", name, i, what, want)
			}
		}
		checkIntact(t, a, first, second, third)
	}
}

// An answer and its reference contain all kept records of one identity. An archive that is read
// instead of files passes all of them on.
func TestKeptRecordsAreAskedAndCopied(t *testing.T) {
	for name, a := range layouts(t) {
		mustLoad(t, a, load.Options{OnConflict: load.Keep}, contradicting(t)...)
		from, err := load.NewOrigin(t.Context(), a, "s", "origin")
		if err != nil {
			t.Fatal(err)
		}
		copied, q := memory(t), everyFbar(t)
		ref := answer.NewReference(q)
		read := func(_ *load.File, b *record.Batch) error { ref.Add(b); return nil }
		if err := load.Read(t.Context(), nil, load.ReadOptions{Origin: from}, read, func(*load.File) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if rows := ref.Answers()[0].Rows; rows != 9 {
			t.Errorf("%s: the reference has %d rows, want 9", name, rows)
		}
		if s, err := load.Run(t.Context(), copied, "s", nil, load.Options{Origin: from}); err != nil || s.Stored != 9 || digest(t, copied) != digest(t, a) {
			t.Errorf("%s: the copy: %+v, %v", name, s, err)
		}
		checkIntact(t, copied)
	}
}

func everyFbar(t *testing.T) *question.Question {
	t.Helper()
	typ, _ := record.TypeByName("SL1L2")
	columns, err := question.Columns(typ, "fcst_lead", "fbar")
	if err != nil {
		t.Fatal(err)
	}
	return &question.Question{Name: "all", Subset: "s", Type: typ, Columns: columns}
}

// Retain and Prune work as in any archive: Retain removes old records, and Prune finds no deleted
// ones.
func TestKeptRecordsAreRetainedAndPruned(t *testing.T) {
	for name, a := range layouts(t) {
		dir := t.TempDir()
		files := []string{
			write(t, dir, "a.vsdb", line(0, 0, 1)+line(0, 9, 1)+line(6, 9, 1)), write(t, dir, "b.vsdb", line(0, 0, 2)+line(0, 9, 2)),
		}
		mustLoad(t, a, load.Options{OnConflict: load.Keep}, files...)
		if name == "memory" {
			continue // the engine in memory cannot remove records
		}
		if removed, err := load.Retain(t.Context(), a, "s", load.Retention{MaxAge: 5 * 24 * time.Hour, Force: true}); err != nil || removed.Records != 2 {
			t.Errorf("%s: %+v removed, %v", name, removed, err)
		}
		checkIntact(t, a, files...)
		if p, err := load.Prune(t.Context(), a, "s", agree); err != nil || p.Lost != 0 || len(p.Files) != 0 {
			t.Errorf("%s: prune: %+v, %v", name, p, err)
		}
	}
}

// oneOfEach is an archive whose key is the identity of a record, which allows one record of each.
type oneOfEach struct{ archive.Archive }

func (oneOfEach) OneOfEach() string { return "a key is an identity" }

func TestKeepIsRefusedWhereItCannotBe(t *testing.T) {
	a := oneOfEach{memory(t)}
	file := write(t, t.TempDir(), "a.vsdb", line(0, 0, 1))
	_, err := load.Run(t.Context(), a, "s", []string{file}, load.Options{OnConflict: load.Keep})
	if err == nil || !strings.Contains(err.Error(), "a key is an identity") || !strings.Contains(err.Error(), "normalized") {
		t.Error(err)
	}
	if names, err := a.Subsets(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("subsets %v, %v", names, err)
	}
}

// TestKeepStrangers loads public files of MET twice. The second time the last number of each line
// differs a little; both values are kept.
func TestKeepStrangers(t *testing.T) {
	root := cmp.Or(os.Getenv("BAROGRAPH_DATA"), "../../../shared/data")
	files, err := filepath.Glob(filepath.Join(root, "met/stat/strangers/*.stat"))
	if err != nil || len(files) == 0 {
		t.Skip("NOT TESTED: the public samples are not here: set BAROGRAPH_DATA to a folder that holds met/stat/strangers")
	}
	a := memory(t)
	first := mustLoad(t, a, load.Options{OnConflict: load.Keep}, files...)
	dir, other := t.TempDir(), []string(nil)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		other = append(other, write(t, dir, filepath.Base(f), regexp.MustCompile(`(\.\d+)(\s*\n)`).ReplaceAllString(string(text), "${1}7$2")))
	}
	second := mustLoad(t, a, load.Options{}, other...)
	if second.Kept == 0 || second.Kept != second.Stored || second.Conflicts != 0 {
		t.Errorf("first %d stored, %d kept; then %d stored, %d the same, %d kept", first.Stored, first.Kept, second.Stored, second.Duplicates, second.Kept)
	}
	checkIntact(t, a, append(files, other...)...)
}
