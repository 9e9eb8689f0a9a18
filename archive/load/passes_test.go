package load

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// TestTwinsInPasses: several passes with limited memory find the same twins as one pass.
func TestTwinsInPasses(t *testing.T) {
	b := datedRows("a", 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 5, 5)
	var want []record.Key
	var h record.Hasher
	h.SetBatch(b)
	for i := range b.Len() {
		if i > 8 && i < 12 {
			want = append(want, h.Key(i))
		}
	}
	for _, records := range []int64{0, 13, twinRecords - 1, twinRecords, 4 * twinRecords} {
		a := &scripted{dumps: [][]*record.Batch{{b}}}
		r := &loadRun{archive: a}
		twins, err := r.twins(t.Context(), "s", records)
		if err != nil || len(twins) != 3 || a.looks != int(records/twinRecords)+1 {
			t.Errorf("%d records: %d twins in %d passes, %v", records, len(twins), a.looks, err)
		}
		for _, k := range want {
			if _, ok := twins[k]; !ok {
				t.Errorf("%d records: %v is no twin", records, k)
			}
		}
	}
	// With Keep, records with different values are no twins.
	other := datedRows("b", 0, 2, 1, 1)
	for on, n := range map[OnConflict]int{Refuse: 3, Keep: 4} {
		r := &loadRun{archive: &scripted{dumps: [][]*record.Batch{{b, other}}}, options: Options{OnConflict: on}}
		if twins, err := r.twins(t.Context(), "s", 15); err != nil || len(twins) != n {
			t.Errorf("%s: %d twins, %v; want %d", on, len(twins), err, n)
		}
	}
}

// TestOtherLoadersRecordsAreLogged: the log has the number of other loaders' records, from the
// catalog or from the count.
func TestOtherLoadersRecordsAreLogged(t *testing.T) {
	for want, x := range map[string]scripted{
		"records=1": {marks: 13, holds: 13}, "records=3": {marks: 15, holds: 15}, "records=2": {marks: 12, holds: 12, lost: -2},
	} {
		var log bytes.Buffer
		x.dumps = [][]*record.Batch{{datedRows("a", 0, 1, 1, 2)}}
		m := archive.Mark{Path: "a", Read: 7, Stored: 7}
		r := &loadRun{archive: &x, marks: &marks{}, loader: countingLoader{of: &x}, options: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, files: map[string]*archive.Mark{}, committedRecords: 7}
		r.addToSummary(&m)
		if err := r.check(t.Context(), "s", 5); err != nil || !strings.Contains(log.String(), want) {
			t.Errorf("%v, %q, want %s", err, log.String(), want)
		}
	}
}

// TestFingerprintSpills: above its limit it keeps no records in memory; up to the limit it writes
// none to files.
func TestFingerprintSpills(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for most, spilled := range map[int]bool{0: false, 4: false, 3: true} {
		f := Fingerprint{MaxInMemory: most}
		f.Add(datedRows("a", 0, 1, 1, 2, 3))
		f.Add(datedRows("b", 0, 2, 2)) // the fourth record has different values
		if got := len(f.first) == 0 && len(f.conflicting) == 0; got != spilled || (len(f.files) == spillParts) != spilled {
			t.Errorf("at most %d records: %d and %d in memory, %d files", most, len(f.first), len(f.conflicting), len(f.files))
		}
		d, byType, err := f.Sum()
		if err != nil || d.Records != 3 || byType["SL1L2"] != 3 || f.Conflicts() != 1 || (len(f.files) > 0) != spilled {
			t.Errorf("at most %d records: %v, %v, %v, %d others, %d files", most, d, byType, err, f.Conflicts(), len(f.files))
		}
	}
	t.Setenv("TMPDIR", t.TempDir()+"/none")
	f := Fingerprint{MaxInMemory: 1}
	f.Add(datedRows("a", 0, 1, 1, 2))
	f.Add(datedRows("a", 0, 1, 3))
	f.Add(datedRows("a", 0, 1, 4, 5, 6))
	if len(f.first) > 3 {
		t.Errorf("%d records are in memory after the failure", len(f.first))
	}
	if _, _, err := f.Sum(); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("no folder for temporary files: %v", err)
	}
	var none Fingerprint
	none.Add(&record.Batch{})
	if d, byType, err := none.Sum(); err != nil || d.Records != 0 || len(byType) != 0 {
		t.Errorf("%v, %v, %v", d, byType, err)
	}
}

// newRun returns a load in progress without an archive. It counts the released batches.
func newRun(o Options, released *int) *loadRun {
	r := &loadRun{
		options: o, files: map[string]*archive.Mark{}, seenDigests: map[string]bool{}, rejects: map[string]*design.Quarantine{}, marks: &marks{all: []archive.Mark{}, byDigest: map[string]archive.Mark{}},
		release: func(*record.Batch) { *released++ }, incompleteDigests: map[string][]string{},
	}
	r.summary.OmittedColumns, r.summary.NotAccepted = map[string]int64{}, map[string]int64{}
	r.window = newWindow("s", r.onExisting, r.release)
	return r
}

// TestBatchesAreCounted: a batch adds its counts to the mark of its file and to the sums. Batches
// that are not needed are released.
func TestBatchesAreCounted(t *testing.T) {
	released, calls := 0, []uint32(nil)
	var at []Progress
	r := newRun(Options{
		Window: 100, OnConflict: First, Accept: func(lt string) bool { return lt == "SL1L2" },
		Reject: func(q record.Reject) { calls = append(calls, q.Line) }, Progress: func(p Progress) { at = append(at, p) },
	}, &released)
	f := &File{Path: "a", Digest: "d", Bytes: 50, Offset: 20}
	b := datedRows("a", 0, 1, 1, 2, 3)
	b.Lines = 5
	b.Reject("a", 4, "why", nil)
	b.Reject("a", 5, "why", nil)
	b.OmittedColumns = map[string]int{"X": 2}
	r.finishedBytes = 1000
	if err := r.addBatch(t.Context(), f, b); err != nil {
		t.Fatal(err)
	}
	other := datedRows("a", 0, 1, 9)
	other.Type, _ = record.TypeByName("SAL1L2")
	other.Lines = 1
	empty := &record.Batch{Lines: 1}
	empty.Reject("a", 7, "why", nil)
	r.seenDigests["copy"] = true
	for _, x := range []struct {
		f        *File
		b        *record.Batch
		released int
	}{{f, other, 1}, {f, empty, 2}, {&File{Path: "b", Digest: "copy"}, datedRows("b", 0, 1, 1), 3}} {
		if err := r.addBatch(t.Context(), x.f, x.b); err != nil || released != x.released {
			t.Errorf("%v: %d batches are released, want %d", err, released, x.released)
		}
	}
	m := r.files["a"]
	if m.Read != 6 || m.Stored != 3 || m.Quarantined != 3 || m.Replaced != 0 || m.Bytes != 50 || m.Digest != "d" || len(r.files) != 1 {
		t.Errorf("%+v", m)
	}
	if !slices.Equal(calls, []uint32{4, 5, 7}) || r.rejects["a"].Lines != 3 {
		t.Errorf("lines %v in quarantine, %+v", calls, r.rejects["a"])
	}
	if !maps.Equal(r.summary.NotAccepted, map[string]int64{"SAL1L2": 1}) || !maps.Equal(r.summary.OmittedColumns, map[string]int64{"SL1L2: X": 2}) {
		t.Errorf("%v, %v", r.summary.NotAccepted, r.summary.OmittedColumns)
	}
	if len(at) != 1 || at[0].Bytes != 1020 || at[0].Read != 5 || r.progress.Read != 7 {
		t.Errorf("%+v, %+v", at, r.progress)
	}
	if err := r.finishFile(t.Context(), f); err != nil || r.finishedBytes != 1050 || r.progress.Files != 1 || r.progress.Bytes != 1050 || len(r.complete) != 1 || !slices.Equal(r.summary.IncompleteFiles, []string{"a"}) || len(r.rejects) != 0 || len(at) != 2 {
		t.Errorf("%v, %+v, lacking %v", err, r.progress, r.summary.IncompleteFiles)
	}
	if q := r.window.catalog.Quarantine; len(q) != 1 || q[0].Lines != 3 {
		t.Errorf("%+v", q)
	}
}

// TestConflictsInOneWindow: two lines of one window contain the same record.
func TestConflictsInOneWindow(t *testing.T) {
	for on, x := range map[OnConflict]struct {
		value                               float64 // of the later line; the earlier has 1
		stored, duplicates, conflicts, kept int64
		incomplete, reported, remaining     int // remaining is the sum of the line numbers that remain in the window
	}{
		Refuse: {2, 1, 0, 1, 0, 1, 1, 1}, First: {2, 1, 0, 1, 0, 0, 1, 1}, Last: {2, 1, 0, 1, 0, 0, 1, 2}, Keep: {2, 2, 0, 0, 1, 0, 1, 3},
		"the same": {1, 1, 1, 0, 0, 0, 0, 1},
	} {
		released := 0
		var reported []design.Conflict
		r := newRun(Options{Window: 100, OnConflict: on, Conflict: func(c design.Conflict) { reported = append(reported, c) }}, &released)
		for i, value := range []float64{1, x.value} {
			b := datedRows("a", 0, value, 1)
			b.Lines, b.Line[0] = 1, uint32(i+1) //nolint:gosec // few
			if err := r.addBatch(t.Context(), &File{Path: "a", Digest: "d"}, b); err != nil {
				t.Fatal(err)
			}
		}
		m, remaining := *r.files["a"], 0
		for b := range r.window.withoutDropped {
			remaining += int(b.Line[0])
		}
		r.addToTotals(&m)
		if r.summary.Read != 2 || r.summary.Stored != x.stored || r.summary.Duplicates != x.duplicates || r.summary.Conflicts != x.conflicts || r.summary.Kept != x.kept || remaining != x.remaining ||
			len(r.summary.IncompleteFiles) != x.incomplete || len(reported) != x.reported || len(r.window.catalog.Conflicts) != x.reported {
			t.Errorf("%s: %+v, line %d remains, %d conflicts", on, r.summary, remaining, len(reported))
		}
		if len(reported) > 0 && (reported[0].Refused != (on == Refuse) || reported[0].Kept != (on == Keep) || on != Keep && int(reported[0].Existing.Line) != remaining) {
			t.Errorf("%s: %+v", on, reported[0])
		}
	}
}
