package load_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/formats/metstat"
	"github.com/barograph/barograph/formats/vsdb"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// memory is an archive without a database.
func memory(t *testing.T) archive.Archive {
	t.Helper()
	d := dry.Driver()
	e, err := d.Open(t.Context(), &url.URL{Scheme: "dry"}, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(a.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// line returns an SL1L2 line of VSDB with a lead in hours, a day after 2019-01-01, and the value of
// every mean.
func line(lead, day int, value float64) string {
	h := record.DefaultHeader()
	h[record.Version], h[record.Model], h[record.ObType], h[record.VxMask] = "V01", "GFS", "GFS", "G2"
	h[record.FcstVar], h[record.FcstLev] = "HGT", "P500"
	return string(vsdb.AppendLine(nil, &h, lead, 1546300800+int64(day)*86400, "SL1L2", []float64{3600, value, value, value, value, value}))
}

// write makes a file and returns its path.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// mustLoad loads files and checks conservation.
func mustLoad(t *testing.T, a archive.Archive, o load.Options, files ...string) *load.Summary {
	t.Helper()
	s, err := load.Run(t.Context(), a, "s", files, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Read != s.Stored+s.Duplicates+s.Conflicts+s.Quarantined {
		t.Errorf("read %d ≠ stored %d + same %d + other %d + quarantined %d", s.Read, s.Stored, s.Duplicates, s.Conflicts, s.Quarantined)
	}
	return s
}

func digest(t *testing.T, a archive.Archive) record.Digest {
	t.Helper()
	c, err := archive.BuildCatalog(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	return c.Digest()
}

func TestEveryLineIsAccountedFor(t *testing.T) {
	dir := t.TempDir()
	first := write(t, dir, "a.vsdb", line(0, 0, 1)+"V01 GFS 2x nonsense\n"+line(6, 0, 2)+"\n"+line(12, 0, 3))
	second := write(t, dir, "b.vsdb", line(12, 0, 3)+line(6, 0, 9)+line(18, 0, 4)) // a duplicate, a conflict, a new lead
	for _, window := range []int{1, 2, 100} {
		a := memory(t)
		var rejects []record.Reject
		s := mustLoad(t, a, load.Options{Window: window, Reject: func(r record.Reject) { rejects = append(rejects, r) }}, first, second)
		if s.Read != 7 || s.Stored != 4 || s.Duplicates != 1 || s.Conflicts != 1 || s.Quarantined != 1 {
			t.Errorf("window %d: read %d, stored %d, same %d, other %d, quarantined %d; want 7 = 4 + 1 + 1 + 1", window, s.Read, s.Stored, s.Duplicates, s.Conflicts, s.Quarantined)
		}
		if len(rejects) != 1 || rejects[0].File != first || rejects[0].Line != 2 || rejects[0].Reason == "" {
			t.Errorf("window %d: rejects %+v; want line 2 of %s with a reason", window, rejects, first)
		}
		if again := mustLoad(t, a, load.Options{}, first, second); again.Read != 0 || len(again.Skipped) != 2 {
			t.Errorf("window %d: loading again read %d lines and skipped %d files; want 0 and 2", window, again.Read, len(again.Skipped))
		}
	}
}

// METdbLoad: a batch of 101 files that are already loaded makes it skip the next batch (it never
// read 101 of 404 new files).
func TestMETdbLoadBatchAfterLoadedFilesIsRead(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 505 {
		files = append(files, write(t, dir, fmt.Sprintf("f%03d.vsdb", i), line(i%65*6, i, float64(i))))
	}
	a := memory(t)
	mustLoad(t, a, load.Options{}, files[:101]...)
	s := mustLoad(t, a, load.Options{}, files...)
	if len(s.Files) != 404 || len(s.Skipped) != 101 || s.Stored != 404 {
		t.Errorf("%d files loaded, %d skipped, %d records; want 404, 101, 404", len(s.Files), len(s.Skipped), s.Stored)
	}
	if s.Commits != 1 {
		t.Errorf("%d commits, want 1 of a few records", s.Commits)
	}
	clean := memory(t)
	mustLoad(t, clean, load.Options{}, files...)
	if digest(t, a) != digest(t, clean) {
		t.Error("the archive differs from one loaded at once")
	}
}

// failing is an archive whose n-th commit fails.
type failing struct {
	archive.Archive
	n int
}

type failingLoader struct {
	archive.Loader
	a *failing
}

var errDisk = errors.New("no space left on device")

func (f *failing) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	l, err := f.Archive.Loader(ctx, subset)
	return &failingLoader{l, f}, err
}

func (l *failingLoader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	if l.a.n--; l.a.n == 0 {
		return archive.CommitResult{}, errDisk
	}
	return l.Loader.Commit(ctx, c)
}

// METdbLoad logs a write error and exits with status 0. It also marks a file as loaded before it
// stores the lines. Here Run returns the error, marks only complete files, and the next load
// resumes.
func TestMETdbLoadFailedWriteIsAnErrorAndResumes(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 40 {
		files = append(files, write(t, dir, fmt.Sprintf("f%02d.vsdb", i), line(0, i, 1)+line(6, i, 2)+line(12, i, 3)))
	}
	clean := memory(t)
	mustLoad(t, clean, load.Options{}, files...)
	for _, n := range []int{1, 2, 5, 11} {
		a := memory(t)
		_, err := load.Run(t.Context(), &failing{a, n}, "s", files, load.Options{Window: 7})
		if !errors.Is(err, errDisk) {
			t.Fatalf("commit %d failed, Run returned %v", n, err)
		}
		marks, err := a.Marks(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		contents, err := a.Contents(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		var marked int64
		for _, m := range marks {
			marked += m.Stored
		}
		if marked > contents.Total() {
			t.Errorf("commit %d failed: marks speak of %d records, the archive holds %d", n, marked, contents.Total())
		}
		mustLoad(t, a, load.Options{}, files...)
		if digest(t, a) != digest(t, clean) {
			t.Errorf("commit %d failed: the resumed archive differs from a clean one", n)
		}
	}
}

// VxIngest F2: the leads of a later file replaced those of an earlier one. Here the order of files
// does not matter.
func TestVxIngestF2AnyOrderOfFilesGivesOneDigest(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for cycle := range 8 {
		text := ""
		for lead := cycle; lead < 64; lead += 8 {
			text += line(lead, 0, float64(lead)) + line(lead, 1, float64(100+lead))
		}
		files = append(files, write(t, dir, fmt.Sprintf("c%d.vsdb", cycle), text))
	}
	var want record.Digest
	r := rand.New(rand.NewPCG(1, 1))
	for trial := range 6 {
		a := memory(t)
		mustLoad(t, a, load.Options{Window: 1 + r.IntN(50), Workers: 1 + r.IntN(4)}, files...)
		switch d := digest(t, a); {
		case trial == 0:
			want = d
		case d != want:
			t.Fatalf("trial %d: digest %v, want %v", trial, d, want)
		}
		r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	}
	if want.Records != 128 {
		t.Errorf("%d records, want 128", want.Records)
	}
}

// METplus#1608, MET#659: loading both .stat and .txt, or one file under two names, stored every
// record twice.
func TestMETplus1608TwinsAreStoredOnce(t *testing.T) {
	dir := t.TempDir()
	sl1l2, _ := record.TypeByName("SL1L2")
	b := &record.Batch{}
	b.Reset(sl1l2, "")
	h := record.DefaultHeader()
	h[record.Version], h[record.Model] = "V12.0.0", "GFS"
	b.AddHeader(h)
	for i := range 5 {
		b.AppendTimes(0, int32(i)*3600, 1546300800, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(i+k))
		}
	}
	stat, twin := metstat.AppendHeader(nil), []byte(nil)
	for i := range b.Len() {
		stat = metstat.AppendLine(stat, b, i)
	}
	twin = slices.Concat([]byte("\n"), stat) // other bytes, the same records
	files := []string{write(t, dir, "x.stat", string(stat)), write(t, dir, "x_sl1l2.txt", string(twin)), write(t, dir, "y.stat", string(stat))}
	a := memory(t)
	s := mustLoad(t, a, load.Options{}, files...)
	if d := digest(t, a); d.Records != 5 || s.Stored != 5 || s.Duplicates != 5 || len(s.Skipped) != 1 {
		t.Errorf("%d records, stored %d, duplicates %d, %d skipped; want 5, 5, 5 (the twin), 1 (the copy)", d.Records, s.Stored, s.Duplicates, len(s.Skipped))
	}
}

func TestUnreadableFileIsReportedAndTheRestGoesOn(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "good.vsdb", line(0, 0, 1))
	cut := write(t, dir, "cut.vsdb.gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03cut")
	a := memory(t)
	s := mustLoad(t, a, load.Options{}, filepath.Join(dir, "absent.vsdb"), cut, good)
	if len(s.Failed) != 2 || s.Stored != 1 {
		t.Fatalf("failed %v, stored %d; want two failures and one record", s.Failed, s.Stored)
	}
	for _, err := range s.Failed {
		if !strings.Contains(err.Error(), dir) {
			t.Errorf("%v does not name the file", err)
		}
	}
	marks, err := a.Marks(t.Context(), "s")
	if err != nil || len(marks) != 1 {
		t.Errorf("marks %v, %v; want that of %s alone", marks, err, good)
	}
}

func TestCancelledLoadEndsSoonAndResumes(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i := range 50 {
		files = append(files, write(t, dir, fmt.Sprintf("f%02d.vsdb", i), line(0, i, 1)))
	}
	a := memory(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := load.Run(ctx, a, "s", files, load.Options{Window: 3, Progress: func(p load.Progress) {
		if p.Files == 20 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("Run returned %v", err)
	}
	mustLoad(t, a, load.Options{}, files...)
	if d := digest(t, a); d.Records != 50 {
		t.Errorf("%d records after resuming, want 50", d.Records)
	}
}

func TestFingerprintIsTheDigestOfTheArchive(t *testing.T) {
	dir := t.TempDir()
	files := []string{
		write(t, dir, "a.vsdb", line(0, 0, 1)+line(6, 0, 2)+line(0, 0, 7)),
		write(t, dir, "b.vsdb", line(6, 0, 3)+line(12, 0, 4)+line(0, 0, 1)+line(0, 0, 7)+line(6, 0, 3)+line(12, 0, 4)),
	}
	a := memory(t)
	mustLoad(t, a, load.Options{}, files...)
	for _, most := range []int{0, 1, 2, 3, 4} { // in memory, and in temporary files
		f := load.Fingerprint{MaxInMemory: most}
		err := load.Read(t.Context(), files, load.ReadOptions{}, func(_ *load.File, b *record.Batch) error { f.Add(b); return nil }, func(f *load.File) error { return f.Err })
		if err != nil {
			t.Fatal(err)
		}
		got, byType, err := f.Sum()
		if want := digest(t, a); err != nil || got != want || byType["SL1L2"] != 3 {
			t.Errorf("fingerprint %v, %v, %v; archive %v", got, byType, err, want)
		}
		if f.Conflicts() != 4 { // twice 7 and 3
			t.Errorf("%d records contradict others", f.Conflicts())
		}
	}
}

// The load counts the lines that a load_spec excludes separately, and marks the file as loaded.
func TestLinesThatAreNotTaken(t *testing.T) {
	a := memory(t)
	other := strings.Replace(line(12, 0, 1), "SL1L2", "SAL1L2", 1)
	file := write(t, t.TempDir(), "a.vsdb", line(24, 0, 1)+other+line(48, 0, 1))
	o := load.Options{Accept: func(lineType string) bool { return lineType != "SAL1L2" }}
	if s := mustLoad(t, a, o, file); s.Read != 2 || s.Stored != 2 || s.NotAccepted["SAL1L2"] != 1 || len(s.Files) != 1 {
		t.Errorf("%+v", s)
	}
	if s := mustLoad(t, a, o, file); len(s.Skipped) != 1 {
		t.Errorf("%+v", s)
	}
}

// finding is an archive that looks up marks. It counts these lookups, and how often it lists all
// marks.
type finding struct {
	archive.Archive
	listed, found int
}

func (f *finding) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	f.listed++
	return f.Archive.Marks(ctx, subset)
}

func (f *finding) MarksOf(ctx context.Context, subset string, files []archive.Mark) ([]archive.Mark, error) {
	f.found += len(files)
	marks, err := f.Archive.Marks(ctx, subset)
	return archive.SameFiles(marks, files), err
}

// TestFewFilesAreLookedUp: if an archive knows many files, a load of few files only looks up their
// marks. It reports known files, new files and conflicts as usual.
func TestFewFilesAreLookedUp(t *testing.T) {
	dir := t.TempDir()
	var many []string
	for i := range 120 {
		many = append(many, write(t, dir, fmt.Sprintf("f%03d.vsdb", i), line(0, i, 1)+line(6, i, 2)))
	}
	bad := write(t, dir, "g.vsdb", line(0, 200, 1)+"V01 no line\n")
	a := &finding{Archive: memory(t)}
	mustLoad(t, a, load.Options{}, append(many, bad)...)
	a.listed = 0
	text, err := os.ReadFile(many[3])
	if err != nil {
		t.Fatal(err)
	}
	copied, fresh := write(t, dir, "copy.vsdb", string(text)), write(t, dir, "new.vsdb", line(0, 300, 1))
	s := mustLoad(t, a, load.Options{}, many[7], copied, bad, fresh)
	if len(s.Skipped) != 3 || len(s.SkippedWithQuarantine) != 1 || s.Stored != 1 || a.listed != 0 || a.found != 4 {
		t.Errorf("%d skipped, %d with lines in quarantine, %d stored; marks were listed %d times, and %d looked for; want 3, 1, 1, 0, 4",
			len(s.Skipped), len(s.SkippedWithQuarantine), s.Stored, a.listed, a.found)
	}
	other := write(t, dir, "other.vsdb", line(0, 5, 9))
	var met []design.Conflict
	mustLoad(t, a, load.Options{Conflict: func(c design.Conflict) { met = append(met, c) }}, other)
	if len(met) != 1 || met[0].Existing.File != many[5] {
		t.Errorf("conflicts %v, want one with a line of %s", met, many[5])
	}
}

// TestLimitOfListedMarks: a load of one file lists up to 16 marks, and looks up its own mark if there are more.
func TestLimitOfListedMarks(t *testing.T) {
	for known, lookedUp := range map[int]int{16: 0, 17: 1} {
		dir, files := t.TempDir(), []string(nil)
		for i := range known {
			files = append(files, write(t, dir, fmt.Sprintf("f%02d.vsdb", i), line(0, i, 1)))
		}
		a := &finding{Archive: memory(t)}
		mustLoad(t, a, load.Options{}, files...)
		if mustLoad(t, a, load.Options{}, write(t, dir, "new.vsdb", line(0, 50, 1))); a.found != lookedUp {
			t.Errorf("%d known files: %d marks were looked up, want %d", known, a.found, lookedUp)
		}
	}
}

// ending is an archive whose records cannot be read.
type ending struct{ archive.Archive }

func (e ending) Dump(context.Context, string) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) { yield(nil, errors.New("page 7 is damaged")) }
}

// TestCopyOfADamagedArchive: the error names the archive, and the cure is `barograph verify`.
func TestCopyOfADamagedArchive(t *testing.T) {
	a := memory(t)
	mustLoad(t, a, load.Options{}, write(t, t.TempDir(), "a.vsdb", line(0, 0, 1)))
	o, err := load.NewOrigin(t.Context(), ending{a}, "s", "duckdb:a.db")
	if err != nil {
		t.Fatal(err)
	}
	s, err := load.Run(t.Context(), memory(t), "s", nil, load.Options{Origin: o})
	if err != nil || len(s.Failed) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	said := s.Failed[0].Error()
	if cure, ok := errors.AsType[*fault.Error](s.Failed[0]); !ok || cure.Setting != "duckdb:a.db" || !strings.Contains(cure.Cure, "barograph verify") || !strings.Contains(said, "page 7") {
		t.Errorf("%s: %+v", said, cure)
	}
}

// canceling is an archive that cancels the context when Dump starts.
type canceling struct {
	ending
	cancel func()
}

func (c canceling) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	c.cancel()
	return c.ending.Dump(ctx, subset)
}

// TestVerifyOfADamagedArchive: Verify lists unreadable records as a problem of the archive. If it
// is canceled, it returns an error.
func TestVerifyOfADamagedArchive(t *testing.T) {
	a := memory(t)
	mustLoad(t, a, load.Options{}, write(t, t.TempDir(), "a.vsdb", line(0, 0, 1)))
	v, err := load.Verify(t.Context(), ending{a}, "s")
	if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "page 7 is damaged") || v.Expected.Records != 1 || v.Marks != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if v, err := load.Verify(ctx, canceling{ending{a}, cancel}, "s"); err == nil {
		t.Errorf("%+v, want an error", v)
	}
}
