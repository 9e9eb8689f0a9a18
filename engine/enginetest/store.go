package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/record"
)

// store loads files into a subset, with perCommit files in each commit, and checks the counts of all records. The
// files of one commit must not contain an identity twice.
func store(ctx context.Context, a archive.Archive, subset string, files []File, perCommit int) (archive.CommitResult, error) {
	total := archive.CommitResult{Replaced: map[string]int64{}}
	l, err := a.Loader(ctx, subset)
	if err != nil {
		return total, err
	}
	for from := 0; from < len(files); from += perCommit {
		s, err := commit(ctx, l, subset, files[from:min(from+perCommit, len(files))])
		if err != nil {
			return total, errors.Join(err, l.Close())
		}
		total.New += s.New
		for path, n := range s.Replaced {
			total.Replaced[path] += n
		}
		total.Existing = append(total.Existing, s.Existing...)
	}
	return total, l.Close()
}

// commit stores complete files in one commit and checks the counts.
func commit(ctx context.Context, l archive.Loader, subset string, files []File) (archive.CommitResult, error) {
	return commitIf(ctx, l, subset, files, nil)
}

// commitIf is commit with a condition for records that it must not replace.
func commitIf(
	ctx context.Context, l archive.Loader, subset string, files []File, isProtected func(archive.ExistingRecord) bool,
) (archive.CommitResult, error) {
	c := archive.Commit{Catalog: design.NewCatalog(subset), IsProtected: isProtected}
	var given int64
	for i := range files {
		for _, b := range files[i].Batches {
			if err := l.Add(ctx, b); err != nil {
				return archive.CommitResult{}, err
			}
			c.Catalog.Add(b)
		}
		given += files[i].Records()
		c.Complete = append(c.Complete, files[i].Mark())
	}
	s, err := l.Commit(ctx, c)
	if err != nil {
		return s, err
	}
	replaced := int64(0)
	for _, n := range s.Replaced {
		replaced += n
	}
	if s.New+replaced != given {
		return s, fmt.Errorf("of %d records %d are reported as new and %d as replacing others", given, s.New, replaced)
	}
	for _, m := range c.Complete {
		if m.Stored+m.Replaced+m.Quarantined != m.Read || m.Replaced != s.Replaced[m.Path] {
			return s, fmt.Errorf("the counts of the mark are wrong: %+v, replaced %d", m, s.Replaced[m.Path])
		}
	}
	return s, nil
}

// mustStore is store; an error ends the test.
func mustStore(t *testing.T, a archive.Archive, subset string, files []File, perCommit int) archive.CommitResult {
	t.Helper()
	s, err := store(t.Context(), a, subset, files, perCommit)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return s
}

// dump computes the digest of a subset.
func dump(ctx context.Context, a archive.Archive, subset string) (record.Digest, error) {
	sum, _, err := dumpTypes(ctx, a, subset)
	return sum, err
}

// dumpTypes computes the digest of a subset and counts its records by line type.
func dumpTypes(ctx context.Context, a archive.Archive, subset string) (sum record.Digest, counts map[string]int64, err error) {
	var h record.Hasher
	counts = map[string]int64{}
	for b, err := range a.Dump(ctx, subset) {
		if err != nil {
			return sum, counts, err
		}
		sum.Add(h.DigestOf(b))
		counts[b.Type.Name] += int64(b.Len())
	}
	return sum, counts, nil
}

// replacedRecords returns the records of files that a later record of the same identity replaces.
func replacedRecords(files []File) []archive.Position {
	var out []archive.Position
	last := map[record.Key]archive.Position{}
	var h record.Hasher
	for i := range files {
		for _, b := range files[i].Batches {
			h.SetBatch(b)
			for j := range b.Len() {
				k := h.RecordKey(j, b.KeepConflicts)
				if earlier, ok := last[k]; ok {
					out = append(out, earlier)
				}
				last[k] = archive.Position{Batch: b, I: j}
			}
		}
	}
	return out
}

// expect computes the digest of an archive after loads of the files in this order: a later record replaces an earlier
// one of the same identity.
func expect(files []File) record.Digest {
	var sum record.Digest
	for _, d := range digests(files) {
		sum.Add(d)
	}
	return sum
}

// checkDigest compares the dump of a subset with a digest, and catalog and counts with the dump.
func checkDigest(t testing.TB, a archive.Archive, subset string, want record.Digest) {
	t.Helper()
	got, counts, err := dumpTypes(t.Context(), a, subset)
	if err != nil {
		t.Fatalf("dump: %v", err)
	}
	if got != want {
		t.Errorf("the archive's digest is %s, want %s", got, want)
	}
	catalog, err := a.Catalog(t.Context(), subset)
	if err != nil {
		t.Fatalf("catalog: %v", err)
	}
	if stored := catalog.Digest(); stored != want || !catalog.Counted {
		t.Errorf("the catalog has the digest %s, want %s (counted %t)", stored, want, catalog.Counted)
	}
	c, err := a.Contents(t.Context(), subset)
	if err != nil {
		t.Fatalf("contents: %v", err)
	}
	counted := maps.Clone(c.Records)
	maps.DeleteFunc(counted, func(_ string, n int64) bool { return n == 0 })
	if !maps.Equal(counted, counts) {
		t.Errorf("contents count %v records, the dump has %v", counted, counts)
	}
	if c.Objects != catalog.Objects {
		t.Errorf("the catalog counts %d %s, the archive has %d", catalog.Objects, c.Object, c.Objects)
	}
	if want.Records > 0 && (c.Objects < 1 || c.Objects > want.Records || c.Object == "") {
		t.Errorf("contents count %d %q for %d records", c.Objects, c.Object, want.Records)
	}
}

// checkMarks checks that every file has one mark, and that there are no other marks.
func checkMarks(t testing.TB, a archive.Archive, subset string, files []File) {
	t.Helper()
	marks, err := a.Marks(t.Context(), subset)
	if err != nil {
		t.Fatalf("marks: %v", err)
	}
	want := map[string]archive.Mark{}
	for i := range files {
		m := files[i].Mark()
		want[m.Digest] = m
	}
	for _, m := range marks {
		w, ok := want[m.Digest]
		delete(want, m.Digest)
		ok = ok && m.Path == w.Path && m.Bytes == w.Bytes && m.Loaded.Equal(w.Loaded)
		if !ok || m.Read != w.Read || m.Stored+m.Replaced != w.Read {
			t.Errorf("mark %+v, want %+v", m, w)
		}
	}
	for _, m := range want {
		t.Errorf("%s has no mark", m.Path)
	}
	checkMarksOf(t, a, subset, marks)
}

// checkMarkOrder checks that the marks are in the order in which the files were loaded.
func checkMarkOrder(t testing.TB, a archive.Archive, subset string, files []File) {
	t.Helper()
	marks, err := a.Marks(t.Context(), subset)
	if err != nil {
		t.Fatalf("marks: %v", err)
	}
	if !slices.EqualFunc(marks, files, func(m archive.Mark, f File) bool { return m.Path == f.Path }) {
		t.Errorf("the marks are not in the order of loading: %+v", marks)
	}
}

// checkMarksOf checks that an archive that finds marks by digests finds those that it lists, and no others.
func checkMarksOf(t testing.TB, a archive.Archive, subset string, marks []archive.Mark) {
	t.Helper()
	some := []archive.Mark{{Digest: strings.Repeat("0", 32)}}
	for i := 0; i < len(marks); i += 2 {
		some = append(some, archive.Mark{Digest: marks[i].Digest})
	}
	got, err := archive.MarksOf(t.Context(), a, subset, some)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if want := archive.SameFiles(marks, some); err != nil || archive.SumMarks(got) != archive.SumMarks(want) || len(got) != len(want) {
		t.Errorf("%d marks are found by %d digests: %v, %v; want %v", len(got), len(some), got, err, want)
	}
}

// checkCatalog compares the subset's catalog with the catalog of the files.
func checkCatalog(t testing.TB, a archive.Archive, subset string, files []File) {
	t.Helper()
	got, err := a.Catalog(t.Context(), subset)
	if err != nil {
		t.Fatalf("catalog: %v", err)
	}
	want := design.NewCatalog(subset)
	for i := range files {
		for _, b := range files[i].Batches {
			want.Add(b)
		}
	}
	for _, r := range replacedRecords(files) {
		want.Drop(r.Batch, r.I)
	}
	marks, err := a.Marks(t.Context(), subset)
	if err != nil {
		t.Fatal(err)
	}
	want.Files = archive.SumMarks(marks)
	if len(files) > 0 && (got.Design == "" || got.Program == "" || got.Schema != got.RequiredSchema()) {
		t.Errorf("the catalog is of design %q, program %q, schema %d", got.Design, got.Program, got.Schema)
	}
	// These depend on the design and the program; checkDigest compares the number of objects.
	want.Objects, want.Design, want.Program, want.Schema = got.Objects, got.Design, got.Program, got.Schema
	w, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	g, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(g) != string(w) {
		t.Errorf("the catalog is\n%s\nwant\n%s", g, w)
	}
}

// keys is the set of the files' identities.
func keys(files []File) map[record.Key]struct{} {
	out := map[record.Key]struct{}{}
	var h record.Hasher
	for _, f := range files {
		for _, b := range f.Batches {
			h.SetBatch(b)
			for i := range b.Len() {
				out[h.RecordKey(i, b.KeepConflicts)] = struct{}{}
			}
		}
	}
	return out
}
