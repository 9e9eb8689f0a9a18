package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// Verified is what Verify found: an archive is whole where Problems is empty.
type Verified struct {
	Kept     record.Digest // that the loads have counted
	Found    record.Digest // of the records that are there
	Objects  int64         // documents, pairs or rows that are there
	Marks    int           // files that are loaded whole
	Problems []string      // one line each, about a series, a mark or the catalog
}

// Verify proves an archive as it stands, without the files: it reads every
// record, and holds what it finds, series by series, against what the loads
// have counted, and the marks against both.
func Verify(ctx context.Context, a archive.Archive, subset string) (*Verified, error) {
	v := &Verified{}
	o, err := NewOrigin(ctx, a, subset, "")
	if fault.Code(err) == fault.Differs { // it is damaged; Check may find more
		v.problem("%s", err)
		err = nil
	} else if err == nil {
		var found *design.Catalog
		found, err = Walk(ctx, a, subset)
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, engine.ErrReadOnly)): // a load that was broken off is no damage
			return nil, err
		case err != nil:
			v.Kept, v.Marks = o.Catalog.Held(), len(o.Marks)
			v.problem("the records cannot be read to their end: %s", err)
			err = nil
		default:
			v, err = o.Verify(ctx, found)
		}
	}
	if err != nil {
		return nil, err
	}
	if c, can := a.(archive.Checker); can {
		below, err := c.Check(ctx, subset)
		v.Problems = append(v.Problems, below...)
		return v, err
	}
	return v, err
}

// Verify is the function Verify for a caller that has read every record: found is their catalog.
func (o *Origin) Verify(ctx context.Context, found *design.Catalog) (*Verified, error) {
	kept, marks := o.Catalog, o.Marks
	contents, err := o.Archive.Contents(ctx, o.Subset)
	if err != nil {
		return nil, err
	}
	v := &Verified{Kept: kept.Held(), Found: found.Held(), Objects: contents.Objects, Marks: len(marks)}
	if !kept.Counted {
		v.problem("the archive is of an earlier version, which did not count what it stored: the next load counts it, and then it can be verified")
		return v, nil
	}
	if !kept.Intact() {
		v.problem("the catalog is not as the last load wrote it")
	}
	for _, d := range kept.Differences(found) {
		v.problem("%s", d)
	}
	if kept.Objects != contents.Objects {
		v.problem("there are %d %s, of which the loads stored %d", contents.Objects, contents.Object, kept.Objects)
	}
	if files := archive.SumMarks(marks); kept.Sealed && files != kept.Files {
		v.problem("there are marks of %d files, which are not those that the loads wrote of %d", files.Records, kept.Files.Records)
	}
	v.marks(marks, kept.Brought())
	return v, nil
}

func (v *Verified) problem(format string, args ...any) {
	v.Problems = append(v.Problems, fmt.Sprintf(format, args...))
}

// marks checks that each adds up, and that they speak of no more than was brought.
func (v *Verified) marks(marks []archive.Mark, brought int64) {
	var stored int64
	for _, m := range marks {
		stored += m.Stored
		if m.Read != m.Stored+m.Replaced+m.Quarantined || min(m.Stored, m.Replaced, m.Quarantined) < 0 {
			v.problem("the mark of %s does not add up: %d lines read, %d stored, %d there already, %d quarantined", m.Path, m.Read, m.Stored, m.Replaced, m.Quarantined)
		}
	}
	if stored > brought {
		v.problem("the marks of %d files speak of %d records, the catalog of %d", len(marks), stored, brought)
	}
}

// Difference is a record in which an archive differs from the files.
type Difference struct {
	Line   design.Line // that has it
	Record string      // its line type, header and times
	Lost   bool        // the archive does not hold it; else it holds different values
}

// MaxDifferences is the number of records that Compare lists.
const MaxDifferences = 100

// Compare compares every record of the files with the archive's, and lists
// those that are lost or have different values, by file and line; n counts all of
// them. Of records to which files give different values any may stand. Records
// are compared in as many passes over files and archive as keep the memory small.
func Compare(ctx context.Context, a archive.Archive, subset string, paths []string, keepLast bool) (list []Difference, n int64, err error) {
	o, err := NewOrigin(ctx, a, subset, "")
	if err != nil {
		return nil, 0, err
	}
	err = o.pair(ctx, paths, keepLast, func(f *File) error { return f.Err }, func(p *pairing) {
		n += int64(len(p.wrong))
		for _, m := range p.wrong {
			list = append(list, m)
		}
		slices.SortFunc(list, func(a, b Difference) int { return a.Line.Compare(b.Line) })
		list = list[:min(len(list), MaxDifferences)]
	})
	return list, n, err
}

// pairing pairs the records of one pass by their identity.
type pairing struct {
	pass, passes uint64
	keeps        bool  // see design.Catalog
	from         int64 // records before it were trimmed
	hash         record.Hasher
	held         map[record.Key]record.Digest // of the archive
	right        map[record.Key]struct{}      // of which some line has the archive's values
	wrong        map[record.Key]Difference    // of which no line has
}

// each calls f with the records of a batch that are this pass's.
func (p *pairing) each(b *record.Batch, f func(i int, k record.Key)) {
	p.hash.Use(b)
	for i := range b.Len() {
		if k := p.hash.Record(i, p.keeps); k.Lo%p.passes == p.pass {
			f(i, k)
		}
	}
}

func newPairing(pass, passes uint64) *pairing {
	return &pairing{pass: pass, passes: passes, held: map[record.Key]record.Digest{}, right: map[record.Key]struct{}{}, wrong: map[record.Key]Difference{}}
}

func (p *pairing) read(ctx context.Context, o *Origin, paths []string, keepLast bool, end func(*File) error) error {
	p.from, p.keeps = o.Catalog.From, o.Catalog.Keeps
	for b, err := range o.Archive.Dump(ctx, o.Subset) {
		if err != nil {
			return err
		}
		p.each(b, func(i int, k record.Key) { p.held[k] = p.hash.Digest(i) })
	}
	return Read(ctx, paths, Reading{KeepLast: keepLast}, func(_ *File, b *record.Batch) error {
		p.each(b, func(i int, k record.Key) { p.compare(b, i, k) })
		release(b)
		return nil
	}, end)
}

func (p *pairing) compare(b *record.Batch, i int, k record.Key) {
	held, ok := p.held[k]
	if ok && held == p.hash.Digest(i) {
		p.right[k] = struct{}{}
		delete(p.wrong, k)
		return
	}
	_, right := p.right[k]
	if _, known := p.wrong[k]; right || known || !ok && b.Valid[i] < p.from {
		return
	}
	at := archive.Position{Batch: b, I: i}
	line := lineOf(at)
	line.File = strings.Clone(line.File)
	p.wrong[k] = Difference{Line: line, Record: describe(at), Lost: !ok}
}
