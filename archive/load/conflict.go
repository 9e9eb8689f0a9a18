package load

import (
	"cmp"
	"context"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
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
	Keep   OnConflict = "keep" // all stand beside each other, as METdbLoad has it; a subset that keeps all goes on so
)

// mayKeep refuses to keep all in an archive that cannot.
func (o *Options) mayKeep(a archive.Archive, subset string) error {
	if o.From != nil && o.From.Catalog.Keeps && o.OnConflict == "" {
		o.OnConflict = Keep
	}
	why := archive.OneOfEach(a)
	if o.OnConflict != Keep || why == "" {
		return nil
	}
	return &fault.Error{
		Setting: "--on-conflict keep, subset " + subset, Problem: "this engine and design hold one record of each identity (" + why + "); nothing was stored",
		Cure: "load with --on-conflict refuse, first or last, or into METviewer's tables (--design normalized) of mariadb, postgres, sqlite or duckdb",
	}
}

// decide settles who decides: a subset that keeps all goes on so.
func (o *Options) decide(c *design.Catalog) error {
	switch {
	case !c.Keeps:
		o.OnConflict = cmp.Or(o.OnConflict, Refuse)
	case o.OnConflict == "":
		o.OnConflict = Keep
	case o.OnConflict != Keep:
		return &fault.Error{
			Setting: "--on-conflict " + string(o.OnConflict) + ", subset " + c.Subset, Problem: "was loaded with keep, so that records have several values, none of which stands alone; nothing was stored",
			Cure: "leave it out, or load into another --subset",
		}
	}
	return nil
}

// lineOf is where a row came from.
func lineOf(r archive.Position) design.Line {
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
func (r *run) meet(old, fresh archive.Position) bool {
	if old.Batch.Same(old.I, fresh.Batch, fresh.I) {
		r.again(fresh.Batch.File, false)
		return false
	}
	if r.o.OnConflict == Keep {
		r.keep(r.window, lineOf(old), fresh, fresh.Batch.Difference(fresh.I, old.Batch, old.I))
		return true
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

// keep notes a record that stands beside one of another line.
func (r *run) keep(w *window, beside design.Line, fresh archive.Position, what string) {
	r.sum.Kept++
	met := design.Conflict{Stands: beside, Dropped: lineOf(fresh), What: describe(fresh) + ": " + what, Kept: true}
	if beside.File != "" && beside.Compare(met.Dropped) > 0 {
		met.Stands, met.Dropped = met.Dropped, met.Stands
	}
	r.note(w, met)
}

// again counts a record of a file as one that was there already.
func (r *run) again(file string, other bool) {
	m := r.files[file]
	m.Stored--
	m.Replaced++
	if other {
		m.Conflicts++
	}
}

// note puts a conflict into the report that stays with the archive.
func (r *run) note(w *window, c design.Conflict) {
	c.Refused = r.o.OnConflict == Refuse
	w.catalog.Note(c)
	if c.Refused {
		r.sum.Lacking = append(r.sum.Lacking, c.Dropped.File)
	}
	if r.o.Conflict != nil {
		r.o.Conflict(c)
	}
}

// settle decides about records of which the archive holds different values: those
// that do not stand leave the window; the others are known, and may replace
// what is there, or stand next to it.
func (r *run) settle(ctx context.Context, c *commit, found []archive.ExistingRecord) error {
	if r.o.OnConflict == Keep {
		if found = r.drop(c, found); len(found) == 0 {
			return nil
		}
	}
	lines, err := r.locate(ctx, c, found)
	if err != nil {
		return err
	}
	if r.o.OnConflict == Keep {
		r.settleKept(c, found, lines)
		return nil
	}
	for _, f := range found {
		fresh, _ := c.window.at.First(f.Key)
		met := design.Conflict{Stands: lines[f.Stored], Dropped: lineOf(fresh), What: describe(fresh) + ": " + f.Difference}
		if r.o.OnConflict.stands(met.Dropped, met.Stands) {
			met.Stands, met.Dropped = met.Dropped, met.Stands
			r.files[fresh.Batch.File].Conflicts++ // the commit counts it as replaced
			c.decided[decision{f.Key, f.Stored}] = true
		} else {
			c.window.kill(fresh)
			r.again(fresh.Batch.File, true)
		}
		r.note(c.window, met)
	}
	return nil
}

// drop takes the records out of the window that the archive holds just so, and
// returns what contradicts the others.
func (r *run) drop(c *commit, found []archive.ExistingRecord) (rest []archive.ExistingRecord) {
	there := map[record.Digest]bool{}
	for _, f := range found {
		if f.IsDuplicate() && !there[f.Incoming] {
			there[f.Incoming] = true
			fresh, beside := c.window.brought(f)
			c.window.kill(fresh)
			r.again(fresh.Batch.File, false)
			if beside { // it was reported when it met the one before
				r.sum.Kept--
			}
		}
	}
	for _, f := range found {
		if !there[f.Incoming] {
			rest = append(rest, f)
		}
	}
	return rest
}

// settleKept notes the records that will stand beside others of the archive,
// each with the first line of those. Those that met another one in the window
// were noted there.
func (r *run) settleKept(c *commit, found []archive.ExistingRecord, lines map[record.Digest]design.Line) {
	first := map[record.Digest]archive.ExistingRecord{}
	for _, f := range found {
		c.decided[decision{f.Key, f.Stored}] = true
		if one, ok := first[f.Incoming]; !ok || lines[f.Stored].Compare(lines[one.Stored]) < 0 {
			first[f.Incoming] = f
		}
	}
	for _, f := range found {
		if first[f.Incoming] != f {
			continue
		}
		delete(first, f.Incoming)
		if fresh, beside := c.window.brought(f); !beside {
			r.keep(c.window, lines[f.Stored], fresh, f.Difference)
		}
	}
}

// locate finds the lines that values of the archive came from, by reading the
// loaded files once more, as far as they are where they were and unchanged.
// What it learns of a file spares it the next search, if it holds none of what
// is looked for. Where several lines say the same, the first is found, or the
// last where the last stands.
func (r *run) locate(ctx context.Context, c *commit, found []archive.ExistingRecord) (map[record.Digest]design.Line, error) {
	wanted := map[record.Digest]bool{}
	for _, f := range found {
		wanted[f.Stored] = true
	}
	var paths []string
	digests := map[string]bool{}
	before, err := r.marks.every(ctx)
	if err != nil {
		return nil, err
	}
	all := append(slices.Clone(r.sum.Files), before...)
	for _, m := range c.opened {
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
			held := h.Digest(i)
			if !wanted[held] {
				continue
			}
			if line := lineOf(archive.Position{Batch: b, I: i}); lines[held].File == "" || r.o.OnConflict == Last {
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
func (r *run) mayHold(digest string, w *window, found []archive.ExistingRecord) bool {
	c := r.holds[digest]
	return c == nil || slices.ContainsFunc(found, func(f archive.ExistingRecord) bool {
		at, _ := w.at.First(f.Key)
		g := c.Holding(at.Batch.Type, at.Batch.Header(at.I))
		return g.MayHold(at.Batch.Valid[at.I]) && g.HasLead(at.Batch.Lead[at.I])
	})
}
