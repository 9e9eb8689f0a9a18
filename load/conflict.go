package load

import (
	"context"
	"slices"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/record"
)

// OnConflict says whose values stand where two lines give one record different
// ones. Lines are ordered by the path of their file, as it was given, and then
// by their number, so that neither the order of files nor the number of workers
// matters.
type OnConflict string

// The choices.
const (
	Refuse OnConflict = "refuse" // what is in the archive stands, and of two lines of one load the first: the load is not complete
	First  OnConflict = "first"
	Last   OnConflict = "last"
)

// lineOf is where a row came from.
func lineOf(r engine.At) design.Line {
	return design.Line{File: r.Batch.File, Line: r.Batch.Line[r.I]}
}

// stands reports whether the values of a line stand against those of an
// earlier one, whose file is not known any more where it is "".
func (o OnConflict) stands(fresh, old design.Line) bool {
	switch o {
	case Last:
		return old.File == "" || fresh.Compare(old) >= 0
	case First:
		return old.File != "" && fresh.Compare(old) < 0
	}
	return false
}

// meet settles a record that two lines of one window bring.
func (r *run) meet(old, fresh engine.At) bool {
	if old.Batch.Same(old.I, fresh.Batch, fresh.I) {
		r.again(fresh.Batch.File, false)
		return false
	}
	stands := r.o.OnConflict.stands(lineOf(fresh), lineOf(old))
	what := fresh.Batch.Difference(fresh.I, old.Batch, old.I)
	if stands {
		what = old.Batch.Difference(old.I, fresh.Batch, fresh.I)
		old, fresh = fresh, old
	}
	r.again(fresh.Batch.File, true)
	r.note(r.window, design.Conflict{Stands: lineOf(old), Dropped: lineOf(fresh), What: describe(fresh) + ": " + what})
	return stands
}

// again counts a record of a file as one that was there already.
func (r *run) again(file string, other bool) {
	m := r.files[file]
	m.Stored--
	m.Replaced++
	if other {
		m.Other++
	}
}

// note puts a conflict into the report that stays with the archive.
func (r *run) note(w *window, c design.Conflict) {
	c.Refused = r.o.OnConflict == Refuse
	w.catalog.Note(c)
	if r.o.Conflict != nil {
		r.o.Conflict(c)
	}
}

// settle decides about records of which the archive holds other values: those
// that do not stand leave the window; the others are known, and may replace
// what is there.
func (r *run) settle(ctx context.Context, c *commit, found []engine.Contradiction) error {
	lines, err := r.locate(ctx, c, found)
	if err != nil {
		return err
	}
	for _, f := range found {
		fresh := c.window.at[f.Key]
		met := design.Conflict{Stands: lines[f.Held], Dropped: lineOf(fresh), What: describe(fresh) + ": " + f.What}
		if r.o.OnConflict.stands(met.Dropped, met.Stands) {
			met.Stands, met.Dropped = met.Dropped, met.Stands
			r.files[fresh.Batch.File].Other++ // the commit counts it as replaced
			c.decided[f.Key] = true
		} else {
			c.window.kill(fresh)
			delete(c.window.at, f.Key)
			r.again(fresh.Batch.File, true)
		}
		r.note(c.window, met)
	}
	return nil
}

// locate finds the lines that values of the archive came from, by reading the
// loaded files once more, as far as they are where they were and unchanged.
// What it learns of a file spares it the next search, if it holds none of what
// is looked for. Where several lines say the same, the first is found, or the
// last where the last stands.
func (r *run) locate(ctx context.Context, c *commit, found []engine.Contradiction) (map[record.Digest]design.Line, error) {
	wanted := map[record.Key]record.Digest{}
	for _, f := range found {
		wanted[f.Key] = f.Held
	}
	var paths []string
	digests := map[string]bool{}
	before, err := r.marks.every(ctx)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(r.sum.Files), before...)
	for _, m := range c.begun {
		all = append(all, *m)
	}
	for _, m := range all {
		if !digests[m.Digest] && r.mayHold(m.Digest, c.window, found) {
			digests[m.Digest] = true
			paths = append(paths, m.Path)
		}
	}
	lines := map[record.Digest]design.Line{}
	var h record.Hasher
	each := func(f *File, b *record.Batch) error {
		defer release(b)
		if b.Len() == 0 {
			return nil
		}
		if r.holds[f.Digest] == nil {
			r.holds[f.Digest] = design.NewCatalog("")
		}
		r.holds[f.Digest].Add(b)
		h.Use(b)
		for i := range b.Len() {
			held, ok := wanted[h.Key(i)]
			if !ok || h.Digest(i) != held {
				continue
			}
			if line := lineOf(engine.At{Batch: b, I: i}); lines[held].File == "" || r.o.OnConflict == Last {
				lines[held] = line
			}
		}
		return nil
	}
	skip := func(d string) (bool, error) { return !digests[d], nil }
	err = Read(ctx, paths, Reading{Workers: r.o.Workers, KeepLast: r.o.KeepLast, Skip: skip}, each, func(*File) error { return nil })
	return lines, err
}

// mayHold reports whether a loaded file may hold one of the records.
func (r *run) mayHold(digest string, w *window, found []engine.Contradiction) bool {
	c := r.holds[digest]
	return c == nil || slices.ContainsFunc(found, func(f engine.Contradiction) bool {
		at := w.at[f.Key]
		g := c.Holding(at.Batch.Type, at.Batch.Header(at.I))
		return g.MayHold(at.Batch.Valid[at.I]) && g.HasLead(at.Batch.Lead[at.I])
	})
}
