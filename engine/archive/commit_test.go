package archive

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/record"
)

// sl1l2 returns a batch of SL1L2 records of one model, one hour after the other, each with one value in all columns.
func sl1l2(t *testing.T, file string, values ...float64) *record.Batch {
	t.Helper()
	lt, ok := record.TypeByName("SL1L2")
	if !ok {
		t.Fatal("no SL1L2")
	}
	b := &record.Batch{}
	b.Reset(lt, file)
	head := b.AddHeader(record.Header{record.Model: "GFS", record.Version: "V12.0"})
	for i, v := range values {
		b.AppendTimes(head, 0, int64(i)*3600, uint32(i+1))
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], v)
		}
	}
	return b
}

func catalogOf(batches ...*record.Batch) *design.Catalog {
	c := design.NewCatalog("s")
	for _, b := range batches {
		c.Add(b)
	}
	return c
}

// TestReplacedRecords: a commit that replaces records counts them by file, reports those with different values, and leaves
// the archive's catalog with the digest of the records that it contains then.
func TestReplacedRecords(t *testing.T) {
	stored, fresh := sl1l2(t, "old.stat", 1, 2, 3), sl1l2(t, "new.stat", 1, 5)
	fresh.AppendTimes(0, 0, 9*3600, 3)
	for k := range fresh.Num {
		fresh.Num[k] = append(fresh.Num[k], 7)
	}
	s := CommitResult{New: 3, Replaced: map[string]int64{}}
	if rows := s.ResolveSome(stored, NewRecordIndex([]*record.Batch{fresh})); !slices.Equal(rows, []int{0, 1}) {
		t.Errorf("rows %d", rows)
	}
	if s.New != 1 || s.Replaced["new.stat"] != 2 || len(s.Replaced) != 1 || len(s.Existing) != 1 {
		t.Fatalf("%+v", s)
	}
	e := s.Existing[0]
	if e.IsDuplicate() || e.Difference != "total 5, not 2" {
		t.Errorf("%+v", e)
	}
	var h record.Hasher
	h.SetBatch(stored)
	if e.Key != h.Key(1) || e.Stored != h.Digest(1) {
		t.Error("the existing record is another one")
	}
	h.SetBatch(fresh)
	if e.Incoming != h.Digest(1) {
		t.Error("the incoming record is another one")
	}
	mark := Mark{Path: "new.stat", Digest: "ab", Read: 3, Stored: 3, Loaded: time.Unix(9, 0)}
	mark.CountReplaced(s)
	catalog := catalogOf(stored)
	earlier := []Mark{{Path: "old.stat", Digest: "cd", Loaded: time.Unix(5, 0)}, {Path: "new.stat", Digest: "ab", Loaded: time.Unix(6, 0)}}
	catalog.Files, catalog.Objects = SumMarks(earlier), 3
	c := Commit{Catalog: catalogOf(fresh)}
	c.UpdateCatalog(catalog, design.Wide, &s, []Mark{mark}, earlier[1:])
	want := catalogOf(sl1l2(t, "", 1, 5, 3)).Digest()
	h.SetBatch(fresh)
	want.Add(h.Digest(2))
	if got := catalog.Digest(); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
	if catalog.Objects != 4 || s.Objects != 1 || catalog.Design != design.Wide || catalog.Schema != 1 {
		t.Errorf("%d objects, %+v", catalog.Objects, s)
	}
	if wanted := SumMarks([]Mark{earlier[0], mark}); catalog.Files != wanted || wanted.Records != 2 {
		t.Errorf("files %s, want %s", catalog.Files, wanted)
	}
	replaced := Commit{Catalog: catalogOf(fresh), ReplacedCatalog: catalog}
	replaced.UpdateCatalog(catalog, design.Document, &CommitResult{Objects: 2}, nil, nil)
	if catalog.Digest() != catalogOf(fresh).Digest() || catalog.Objects != 2 || catalog.Files.Records != 0 {
		t.Errorf("a replaced catalog: %s, %d objects, %d files", catalog.Digest(), catalog.Objects, catalog.Files.Records)
	}
}

// TestKeptConflicts: in a subset that keeps conflicts an existing record stays, and both a duplicate and a conflict are
// reported.
func TestKeptConflicts(t *testing.T) {
	stored, fresh := sl1l2(t, "old.stat", 1, 2), sl1l2(t, "new.stat", 1, 5)
	fresh.KeepConflicts = true
	s := CommitResult{New: 2, Replaced: map[string]int64{}}
	s.ResolveSome(stored, NewRecordIndex([]*record.Batch{fresh}))
	if s.New != 2 || len(s.Replaced) != 0 || s.Removed != nil || len(s.Existing) != 2 {
		t.Fatalf("%+v", s)
	}
	if !s.Existing[0].IsDuplicate() || s.Existing[0].Difference != "" || s.Existing[1].IsDuplicate() {
		t.Errorf("%+v", s.Existing)
	}
	// The archive must not store the duplicate twice, and the conflict only if it is not protected.
	for _, c := range []struct {
		isProtected func(ExistingRecord) bool
		existing    []ExistingRecord
		refused     int
	}{
		{nil, nil, 0},
		{nil, s.Existing, 1},
		{nil, s.Existing[1:], 0},
		{func(ExistingRecord) bool { return true }, s.Existing, 2},
		{func(ExistingRecord) bool { return false }, s.Existing[1:], 0},
	} {
		err := (&Commit{IsProtected: c.isProtected}).Check(&CommitResult{Existing: c.existing}, design.NewCatalog("s"))
		refused, isConflict := errors.AsType[*ConflictError](err)
		if isConflict != (c.refused > 0) || isConflict && len(refused.Records) != c.refused {
			t.Errorf("%d of %d records are refused: %v", c.refused, len(c.existing), err)
		}
	}
}

// TestCommitForAnotherArchive: a commit that replaces the catalog is refused if the stored catalog has other records or
// files. A commit of records that do not keep conflicts is refused if the archive keeps them.
func TestCommitForAnotherArchive(t *testing.T) {
	one := func() *design.Catalog { return catalogOf(sl1l2(t, "a", 1)) }
	otherFiles, keeping, noRecords := one(), one(), design.NewCatalog("s")
	otherFiles.Files, keeping.KeepsConflicts = SumMarks([]Mark{{Path: "a", Loaded: time.Unix(1, 0)}}), true
	for name, c := range map[string]struct {
		commit  Commit
		stored  *design.Catalog
		refused bool
	}{
		"the replaced catalog":                {Commit{Catalog: one(), ReplacedCatalog: one()}, one(), false},
		"other records":                       {Commit{Catalog: one(), ReplacedCatalog: one()}, catalogOf(sl1l2(t, "a", 2)), true},
		"other files":                         {Commit{Catalog: one(), ReplacedCatalog: one()}, otherFiles, true},
		"the replaced catalog keeps":          {Commit{Catalog: one(), ReplacedCatalog: keeping}, keeping, false},
		"a subset that keeps":                 {Commit{Catalog: one()}, keeping, true},
		"a commit that also keeps":            {Commit{Catalog: keeping}, keeping, false},
		"the first commit that keeps":         {Commit{Catalog: keeping}, one(), false},
		"a commit without records":            {Commit{Catalog: noRecords}, keeping, false},
		"a commit without a catalog":          {Commit{}, keeping, false},
		"records of a subset without keeping": {Commit{Catalog: one()}, one(), false},
	} {
		if err := c.commit.Check(&CommitResult{}, c.stored); errors.Is(err, ErrChanged) != c.refused || err != nil && !c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestResolver: every record of the dump must be one of the commit. An error of the dump ends it.
func TestResolver(t *testing.T) {
	fresh, broken := sl1l2(t, "new.stat", 1, 2), errors.New("broken")
	dump := func(err error, batches ...*record.Batch) iter.Seq2[*record.Batch, error] {
		return func(yield func(*record.Batch, error) bool) {
			for _, b := range batches {
				if !yield(b, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
			}
		}
	}
	s := CommitResult{New: 2, Replaced: map[string]int64{}}
	resolve := s.Resolver([]*record.Batch{fresh})
	if err := resolve(dump(nil, sl1l2(t, "", 9), sl1l2(t, "", 1))); err != nil || s.Replaced["new.stat"] != 2 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := resolve(dump(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := resolve(dump(nil, sl1l2(t, "", 1, 2, 3))); err == nil || !strings.Contains(err.Error(), "SL1L2 record whose identity is not in the commit") {
		t.Errorf("%v", err)
	}
}

// TestDump: a dump yields full batches and a last one, never an empty one. A caller who stops causes no error.
func TestDump(t *testing.T) {
	broken := errors.New("broken")
	walk := func(rows int, end error) func(*Dumper) error {
		return func(d *Dumper) error {
			b := sl1l2(t, "")
			for i := range rows {
				if emptied, err := d.YieldFull(b); err != nil {
					return err
				} else if emptied {
					b.AddHeader(record.Header{})
				}
				b.AppendTimes(0, 0, int64(i), 1)
				for k := range b.Num {
					b.Num[k] = append(b.Num[k], 1)
				}
			}
			return errors.Join(d.Yield(b), end)
		}
	}
	for _, c := range []struct {
		rows int
		end  error
		want []int
	}{
		{0, nil, nil},
		{1, nil, []int{1}},
		{DumpRows - 1, nil, []int{DumpRows - 1}},
		{DumpRows, nil, []int{DumpRows}},
		{DumpRows + 1, nil, []int{DumpRows, 1}},
		{2, broken, []int{2, -1}},
	} {
		var got []int
		for b, err := range Dump(walk(c.rows, c.end)) {
			if err != nil {
				got = append(got, -1)
				continue
			}
			got = append(got, b.Len())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d rows, %v: batches of %d, want %d", c.rows, c.end, got, c.want)
		}
	}
	canceled := func(d *Dumper) error { // as the drivers of engines do after a cancellation
		if walk(3*DumpRows, nil)(d) != nil {
			return context.Canceled
		}
		return nil
	}
	for name, w := range map[string]func(*Dumper) error{"the error of the Dumper": walk(3*DumpRows, nil), "another error": canceled} {
		n := 0
		for _, err := range Dump(w) {
			if n++; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			break
		}
		if n != 1 {
			t.Errorf("%s: %d batches", name, n)
		}
	}
}

// TestMarkTimes: the times of a mark are read as they were written. A file is unchanged if size and time are.
func TestMarkTimes(t *testing.T) {
	modified, loaded := time.Date(2024, 5, 6, 7, 8, 9, 10, time.UTC), time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, m := range []Mark{{Loaded: loaded}, {Loaded: loaded, Modified: modified, Bytes: 7}} {
		var got Mark
		if err := got.SetTimes(m.Times()); err != nil || !got.Loaded.Equal(m.Loaded) || !got.Modified.Equal(m.Modified) {
			t.Errorf("%s: %+v, %v", m.Times(), got, err)
		}
		if m.Unchanged(7, modified) != !m.Modified.IsZero() || m.Unchanged(8, modified) || m.Unchanged(7, loaded) {
			t.Errorf("%+v: Unchanged is wrong", m)
		}
	}
	for _, bad := range []string{"", "yesterday", "yesterday/2025-01-02T03:04:05Z", "2025-01-02T03:04:05Z/today"} {
		if err := new(Mark).SetTimes(bad); err == nil {
			t.Errorf("%q is a time", bad)
		}
	}
}

// TestRemovedMarks: a removal is not a mark of a file: it has no digest of its own and is not listed.
func TestRemovedMarks(t *testing.T) {
	a, b := Mark{Path: "a", Digest: "1", Read: 3, Loaded: time.Unix(1, 0)}, Mark{Path: "b", Digest: "2", Loaded: time.Unix(1, 0)}
	if SumMarks([]Mark{a, b.Removal()}) != SumMarks([]Mark{a}) || SumMarks([]Mark{b.Removal(), a}) != SumMarks([]Mark{a}) || SumMarks([]Mark{a, b}) != SumMarks([]Mark{b, a}) {
		t.Error("the digest of marks counts a removal, or depends on their order")
	}
	if n := SumMarks([]Mark{a, b}).Records; n != 2 {
		t.Errorf("%d marks", n)
	}
	if got := WithoutRemovals([]Mark{a.Removal(), b}); !slices.Equal(got, []Mark{b}) {
		t.Errorf("%+v", got)
	}
	if got := SameFiles([]Mark{a, b}, []Mark{{Path: "c", Digest: "2"}}); !slices.Equal(got, []Mark{b}) {
		t.Errorf("%+v", got)
	}
}

// TestShortTexts: shortened texts are counted by column.
func TestShortTexts(t *testing.T) {
	var s CommitResult
	for _, column := range []string{"model", "descr", "model"} {
		s.CountShortText(column)
	}
	if s.ShortTexts["model"] != 2 || s.ShortTexts["descr"] != 1 {
		t.Errorf("%v", s.ShortTexts)
	}
}

// TestReadLoading: a load is in flight while its process exists, and always on another host. A process that started
// after the load is another one.
func TestReadLoading(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip("NOT TESTED: this machine has no host name")
	}
	now, pid := time.Now(), os.Getpid()
	for name, c := range map[string]struct {
		load design.Loading
		want bool
	}{
		"this process":                 {design.Loading{PID: pid, Host: host, Since: now}, true},
		"a process that started later": {design.Loading{PID: pid, Host: host, Since: now.Add(-240 * time.Hour)}, false},
		"no process":                   {design.Loading{PID: 1 << 30, Host: host, Since: now}, false},
		"another host":                 {design.Loading{PID: 1 << 30, Host: host + "x", Since: now}, true},
	} {
		if got := InFlight(&c.load); got != c.want {
			t.Errorf("%s: in flight %t", name, got)
		}
	}
	dir := t.TempDir()
	for text, want := range map[string]bool{
		`{"pid": 7, "host": "` + host + `x", "doing": "load"}`: true, `{"pid": 1073741824, "host": "` + host + `"}`: false, "{": false,
	} {
		file := filepath.Join(dir, "x.loading")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if l := ReadLoading(file); (l != nil) != want || want && (l.PID != 7 || l.Command != "load") {
			t.Errorf("%s: %+v", text, l)
		}
	}
	for _, file := range []string{dir, filepath.Join(dir, "missing")} {
		if l := ReadLoading(file); l != nil {
			t.Errorf("%s: %+v", file, l)
		}
	}
}
