package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// VerifyResult is what Verify found. The archive is intact if Problems is empty.
type VerifyResult struct {
	Expected record.Digest // records that the catalog counts
	Found    record.Digest // records in the archive
	Marks    int           // files that are completely loaded
	Problems []string      // one line each, about a group of series, a mark or the catalog
}

// Verify proves the integrity of an archive without the files. It reads every record and compares each group of series
// with the recorded counts and digests. It checks that the marks agree with the catalog. If it finds a problem, but a
// load has changed the subset meanwhile, it returns an error with the status fault.Incomplete.
func Verify(ctx context.Context, a archive.Archive, subset string) (*VerifyResult, error) {
	v := &VerifyResult{}
	o, err := NewOrigin(ctx, a, subset, "")
	if fault.Code(err) == fault.Differs { // the archive is damaged; Check may find more
		v.problem("%s", err)
		err = nil
	} else if err == nil {
		var found *design.Catalog
		found, err = archive.BuildCatalog(ctx, a, subset)
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, engine.ErrReadOnly) || errors.Is(err, engine.ErrUnreachable)):
			return nil, err // neither an interrupted load nor a lost server is a damage
		case err != nil:
			v.Expected, v.Marks = o.Catalog.Digest(), len(o.Marks)
			v.problem("the records cannot be read to their end: %s", err)
			err = nil
		default:
			v, err = o.Verify(ctx, found)
		}
	}
	if c, can := a.(archive.Checker); can && err == nil {
		var damages []string
		damages, err = c.Check(ctx, subset)
		v.Problems = append(v.Problems, damages...)
	}
	return v, err
}

// Verify does the same as the function Verify, for a caller that has already read every record; found is the catalog of
// these records. Its error has the status fault.Incomplete if a load has changed the subset since NewOrigin.
func (o *Origin) Verify(ctx context.Context, found *design.Catalog) (*VerifyResult, error) {
	catalog, marks := o.Catalog, o.Marks
	contents, err := o.Archive.Contents(ctx, o.Subset)
	if err != nil {
		return nil, err
	}
	v := &VerifyResult{Expected: catalog.Digest(), Found: found.Digest(), Marks: len(marks)}
	if !catalog.Counted {
		v.problem("the archive is from an earlier version, which did not count what it stored; load into it once, and then verify it")
		return v, nil
	}
	v.Problems, _ = catalog.Differences(found)
	if !catalog.Intact() {
		v.problem("the catalog differs from what the last load wrote")
	}
	if catalog.Objects != contents.Objects {
		v.problem("the archive has %s %s, but the loads stored %s", humanize.Comma(contents.Objects), contents.Object, humanize.Comma(catalog.Objects))
	}
	if files := archive.SumMarks(marks); catalog.Sealed && files != catalog.Files {
		v.problem("the archive has marks of %s, which differ from the marks of %s that the loads wrote",
			english.Plural(int(files.Records), "file", ""), english.Plural(int(catalog.Files.Records), "file", ""))
	}
	v.marks(marks, catalog.LoadedRecords())
	if len(v.Problems) > 0 {
		err = o.checkUnchanged(ctx)
	}
	return v, err
}

func (v *VerifyResult) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// marks checks that the numbers of each mark add up, and that all marks together do not report more
// records than were loaded.
func (v *VerifyResult) marks(marks []archive.Mark, loadedRecords int64) {
	var stored int64
	for _, m := range marks {
		stored += m.Stored
		if m.Read != m.Stored+m.Replaced+m.Quarantined || min(m.Stored, m.Replaced, m.Quarantined) < 0 {
			v.problem("the mark of %s does not add up: %s read, %s stored, %s existing, %s quarantined", m.Path,
				english.Plural(int(m.Read), "line", ""), humanize.Comma(m.Stored), humanize.Comma(m.Replaced), humanize.Comma(m.Quarantined))
		}
	}
	if stored > loadedRecords {
		v.problem("the marks of %s report %s, the catalog reports %s",
			english.Plural(len(marks), "file", ""), english.Plural(int(stored), "record", ""), humanize.Comma(loadedRecords))
	}
}

// Difference is a record in which an archive differs from the files.
type Difference struct {
	Line    design.Line // the line that contains it
	Record  string      // line type, header and times
	Missing bool        // true = the archive lacks the record; false = its values differ
}

// MaxDifferences is the maximum number of records that Compare lists.
const MaxDifferences = 100

// Compare compares every record of the files with the archive's. It lists those that are missing or
// have different values, by file and line; n counts all of them. If several lines give a record
// different values, the archive may have any of these. Compare reads files and archive in several
// passes, to bound its memory for the records of the archive; for each record that differs it needs about 500 bytes.
// It lists files that cannot be read to their end in failed and continues with the others. If records differ, but a load
// has changed the subset meanwhile, it returns an error with the status fault.Incomplete.
func Compare(ctx context.Context, a archive.Archive, subset string, paths []string, keepLast bool) (list []Difference, n int64, failed []error, err error) {
	o, err := NewOrigin(ctx, a, subset, "")
	if err != nil {
		return nil, 0, nil, err
	}
	end := func(f *File) error {
		if f.Err != nil && !slices.ContainsFunc(failed, func(err error) bool { return err.Error() == f.Err.Error() }) {
			failed = append(failed, f.Err)
		}
		return nil // the error is in failed
	}
	err = o.pair(ctx, paths, keepLast, end, func(p *pairing) {
		n += int64(len(p.different))
		list = slices.AppendSeq(list, maps.Values(p.different))
		slices.SortFunc(list, func(a, b Difference) int { return a.Line.Compare(b.Line) })
		list = list[:min(len(list), MaxDifferences)]
	})
	if err == nil && n > 0 {
		err = o.checkUnchanged(ctx)
	}
	return list, n, failed, err
}

// pairing compares the records of one pass by their identity.
type pairing struct {
	pass, passes uint64
	catalog      *design.Catalog
	hash         record.Hasher
	archived     map[record.Key]record.Digest // records of the archive
	equal        map[record.Key]struct{}      // records for which some line has the archive's values
	different    map[record.Key]Difference    // records for which no line has them
	lacking      map[string]bool              // paths of files with records that the archive may have lost
}

// each calls f for the records of a batch that belong to this pass.
func (p *pairing) each(b *record.Batch, f func(i int, k record.Key)) {
	p.hash.SetBatch(b)
	for i := range b.Len() {
		if k := p.hash.RecordKey(i, p.catalog.KeepsConflicts); k.Lo%p.passes == p.pass {
			f(i, k)
		}
	}
}

func newPairing(pass, passes uint64, c *design.Catalog) *pairing {
	return &pairing{
		pass: pass, passes: passes, catalog: c, archived: map[record.Key]record.Digest{}, equal: map[record.Key]struct{}{},
		different: map[record.Key]Difference{}, lacking: map[string]bool{},
	}
}

func (p *pairing) read(ctx context.Context, o *Origin, paths []string, keepLast bool, end func(*File) error) error {
	for b, err := range o.Archive.Dump(ctx, o.Subset) {
		if err != nil {
			return err
		}
		p.each(b, func(i int, k record.Key) { p.archived[k] = p.hash.Digest(i) })
	}
	return Read(ctx, paths, ReadOptions{KeepLast: keepLast}, func(_ *File, b *record.Batch) error {
		p.each(b, func(i int, k record.Key) { p.compare(b, i, k) })
		release(b)
		return nil
	}, end)
}

func (p *pairing) compare(b *record.Batch, i int, k record.Key) {
	digest, ok := p.archived[k]
	if ok && digest == p.hash.Digest(i) {
		p.equal[k] = struct{}{}
		delete(p.different, k)
		return
	}
	isTrimmed := !ok && b.Valid[i] < p.catalog.TrimmedBefore
	// A removal deletes the times of its records from the catalog. If the catalog lists this time, a later load has stored
	// records of it, and this record may be lost.
	if !ok && !p.lacking[b.File] && (!isTrimmed || p.catalog.GroupFor(b.Type, b.Header(i)).HasTime(b.Valid[i])) {
		p.lacking[strings.Clone(b.File)] = true
	}
	_, isEqual := p.equal[k]
	if _, known := p.different[k]; isEqual || known || isTrimmed {
		return
	}
	at := archive.Position{Batch: b, I: i}
	line := lineOf(at)
	line.File = strings.Clone(line.File)
	p.different[k] = Difference{Line: line, Record: describe(at), Missing: !ok}
}
