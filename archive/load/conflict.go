package load

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"
)

// OnConflict chooses which values to store if two lines give the same record different values.
// Lines are ordered by the path of their file, as given, and then by their number. Hence neither
// the order of files nor the number of workers changes the result.
type OnConflict string

// The policies.
const (
	// keeps the existing record or, within one load, the first line; the load is then incomplete
	Refuse OnConflict = "refuse"
	First  OnConflict = "first" // the first line by path and number wins
	Last   OnConflict = "last"  // the last line by path and number wins
	Keep   OnConflict = "keep"  // stores all, as METdbLoad does; later loads into the subset do the same
)

// checkKeep chooses Keep for a copy of a subset that keeps conflicts. It returns an error if the policy is Keep and the
// archive can store only one record of each identity.
func (o *Options) checkKeep(a archive.Archive, subset string) error {
	if o.Origin != nil && o.Origin.Catalog.KeepsConflicts {
		o.OnConflict = Keep
	}
	why := archive.OneOfEach(a)
	if o.OnConflict != Keep || why == "" {
		return nil
	}
	return &fault.Error{
		Setting: "--on-conflict keep, subset " + subset, Problem: "this engine and design store one record of each identity (" + why + "); nothing was stored",
		Cure: "load with --on-conflict refuse, first or last, or into METviewer's tables (--design normalized) of mariadb, postgres, sqlite or duckdb",
	}
}

// applyPolicy sets the default policy: Keep for a subset that keeps conflicts, otherwise Refuse.
func (o *Options) applyPolicy(c *design.Catalog) error {
	switch {
	case !c.KeepsConflicts:
		o.OnConflict = cmp.Or(o.OnConflict, Refuse)
	case o.OnConflict == "":
		o.OnConflict = Keep
	case o.OnConflict != Keep:
		return &fault.Error{
			Setting: "--on-conflict " + string(o.OnConflict), Problem: "cannot be used: subset " + c.Subset + " was loaded with keep and has several records of one identity; nothing was stored",
			Cure: "omit --on-conflict, or load into another --subset",
		}
	}
	return nil
}

// lineOf is the line from which a row came.
func lineOf(r archive.Position) design.Line {
	return design.Line{File: r.Batch.File, Line: r.Batch.Line[r.I]}
}

// replaces reports whether the values of a line replace those of an existing line. The file of the
// existing line is "" if it is no longer known.
func (o OnConflict) replaces(fresh, old design.Line) bool {
	switch o {
	case Last:
		return old.File == "" || fresh.Compare(old) >= 0
	case First:
		return old.File != "" && fresh.Compare(old) < 0
	}
	return false
}

// onExisting resolves two lines of one window that contain the same record. It reports whether the new values replace
// the existing ones.
func (r *loadRun) onExisting(old, fresh archive.Position) bool {
	if old.Batch.EqualValues(old.I, fresh.Batch, fresh.I) {
		r.countExisting(fresh.Batch.File, false)
		return false
	}
	if r.options.OnConflict == Keep {
		r.addKept(r.window, lineOf(old), fresh, fresh.Batch.Difference(fresh.I, old.Batch, old.I), old.Batch.Difference(old.I, fresh.Batch, fresh.I))
		return true
	}
	replaces := r.options.OnConflict.replaces(lineOf(fresh), lineOf(old))
	stored, dropped := old, fresh
	if replaces {
		stored, dropped = fresh, old
	}
	what := dropped.Batch.Difference(dropped.I, stored.Batch, stored.I)
	r.countExisting(dropped.Batch.File, true)
	r.addConflict(r.window, design.Conflict{Existing: lineOf(stored), Dropped: lineOf(dropped), What: describe(dropped) + ": " + what})
	return replaces
}

// addKept records that a record is stored in addition to one of another line. difference describes how the fresh record
// differs from the existing one, and reverse how the existing one differs from the fresh one.
func (r *loadRun) addKept(w *window, existing design.Line, fresh archive.Position, difference, reverse string) {
	r.summary.Kept++
	conflict := design.Conflict{Existing: existing, Dropped: lineOf(fresh), What: describe(fresh) + ": " + difference, Kept: true}
	if existing.File != "" && existing.Compare(conflict.Dropped) > 0 {
		conflict.Existing, conflict.Dropped, conflict.What = conflict.Dropped, conflict.Existing, describe(fresh)+": "+reverse
	}
	r.addConflict(w, conflict)
}

// countExisting counts a record of a file as existing instead of stored.
func (r *loadRun) countExisting(file string, isConflict bool) {
	m := r.files[file]
	m.Stored--
	m.Replaced++
	if isConflict {
		m.Conflicts++
	}
}

// addConflict adds a conflict to the list in the archive's catalog.
func (r *loadRun) addConflict(w *window, c design.Conflict) {
	c.Refused = r.options.OnConflict == Refuse
	w.catalog.AddConflict(c)
	if c.Refused {
		r.summary.IncompleteFiles = append(r.summary.IncompleteFiles, c.Dropped.File)
	}
	if r.options.Conflict != nil {
		r.options.Conflict(c)
	}
}

// resolve decides about records that the archive has with different values. Losing records are
// dropped from the window. The others are added to c.decisions, which allows the commit to replace
// the existing record or to store both.
func (r *loadRun) resolve(ctx context.Context, c *commitInFlight, found []archive.ExistingRecord) error {
	if r.options.OnConflict == Keep {
		if found = r.dropDuplicates(c, found); len(found) == 0 {
			return nil
		}
	}
	lines, err := r.locate(ctx, c, found)
	if err != nil {
		return err
	}
	if r.options.OnConflict == Keep {
		r.resolveKept(c, found, lines)
		return nil
	}
	for _, f := range found {
		fresh, _ := c.window.index.First(f.Key)
		conflict := design.Conflict{Existing: lines[f.Stored], Dropped: lineOf(fresh), What: describe(fresh) + ": " + f.Difference}
		if r.options.OnConflict.replaces(conflict.Dropped, conflict.Existing) {
			conflict.Existing, conflict.Dropped, conflict.What = conflict.Dropped, conflict.Existing, describe(fresh)+": "+f.Reverse
			c.decisions[f.Key] = append(c.decisions[f.Key], f.Stored)
		} else {
			c.window.dropRow(fresh)
			r.countExisting(fresh.Batch.File, true)
		}
		r.addConflict(c.window, conflict)
	}
	return nil
}

// dropDuplicates drops records from the window that the archive has with the same values, and
// returns the remaining conflicts.
func (r *loadRun) dropDuplicates(c *commitInFlight, found []archive.ExistingRecord) []archive.ExistingRecord {
	exists := map[record.Digest]bool{}
	for _, f := range found {
		if f.IsDuplicate() && !exists[f.Incoming] {
			exists[f.Incoming] = true
			fresh, isAdditional := c.window.incomingRow(f)
			c.window.dropRow(fresh)
			r.countExisting(fresh.Batch.File, false)
			if isAdditional || len(c.decisions[f.Key]) > 0 { // onExisting or resolveKept has counted it as kept
				r.summary.Kept--
			}
		}
	}
	return lists.Filter(found, func(f archive.ExistingRecord) bool { return !exists[f.Incoming] })
}

// resolveKept lets the commit store records in addition to archive records of the same identity. It reports one
// conflict for each new record: with the archive record of the first line. It does not report a record that also
// conflicts with another one of the window, because onExisting has reported it, nor one that an earlier call reported.
func (r *loadRun) resolveKept(c *commitInFlight, found []archive.ExistingRecord, lines map[record.Digest]design.Line) {
	first := map[record.Digest]archive.ExistingRecord{}
	for _, f := range found {
		if one, ok := first[f.Incoming]; c.decisions[f.Key] == nil && (!ok || lines[f.Stored].Compare(lines[one.Stored]) < 0) {
			first[f.Incoming] = f
		}
	}
	for _, f := range found {
		c.decisions[f.Key] = append(c.decisions[f.Key], f.Stored)
		if first[f.Incoming] != f {
			continue
		}
		delete(first, f.Incoming)
		if fresh, isAdditional := c.window.incomingRow(f); !isAdditional {
			r.addKept(c.window, lines[f.Stored], fresh, f.Difference, f.Reverse)
		}
	}
}

// locate finds the lines of the archive's existing values by reading loaded files again, if they
// are still at their path and unchanged. It keeps the digest and a catalog of each file. Hence the
// next search skips files without the wanted records, and does not read their bytes. If several
// lines have the same values, it returns the first one or, with Last, the last one. A load that was
// interrupted may have stored a value of a file that this load has not read yet; First therefore
// also searches these files.
func (r *loadRun) locate(ctx context.Context, c *commitInFlight, found []archive.ExistingRecord) (map[record.Digest]design.Line, error) {
	wanted := lists.Set(found, func(f archive.ExistingRecord) record.Digest { return f.Stored })
	var paths []string
	digests := map[string]bool{}
	before, err := r.marks.list(ctx)
	if err != nil {
		return nil, err
	}
	openFiles := lists.Map(slices.Collect(maps.Values(c.openFiles)), func(m *archive.Mark) archive.Mark { return *m })
	for _, m := range slices.Concat(r.summary.Files, before, openFiles) {
		if !digests[m.Digest] && r.mayContain(m.Digest, c.window, found) {
			digests[m.Digest] = true
			paths = append(paths, m.Path)
		}
	}
	lines, h := map[record.Digest]design.Line{}, record.Hasher{}
	each := func(f *File, b *record.Batch) error {
		defer release(b)
		if b.Len() == 0 {
			return nil
		}
		if r.fileCatalogs[f.Digest] == nil {
			r.fileCatalogs[f.Digest] = design.NewCatalog("")
		}
		r.fileCatalogs[f.Digest].Add(b)
		h.SetBatch(b)
		for i := range b.Len() {
			if digest := h.Digest(i); wanted[digest] && (lines[digest].File == "" || r.options.OnConflict == Last) {
				lines[digest] = lineOf(archive.Position{Batch: b, I: i})
			}
		}
		return nil
	}
	known := maps.Clone(r.located) // a copy, because end changes r.located while parsers look up files
	end := func(f *File) error {
		r.located[f.Path] = archive.Mark{Digest: f.Digest, Bytes: f.Bytes, Modified: f.Time}
		return nil
	}
	o := ReadOptions{Workers: r.options.Workers, KeepLast: r.options.KeepLast, Skip: func(d string) (bool, error) { return !digests[d], nil }}
	o.Known = func(path string) (archive.Mark, bool) { m, ok := known[path]; return m, ok }
	if err = Read(ctx, paths, o, each, end); err == nil && r.options.OnConflict == First && len(lines) < len(wanted) {
		// Read all files of this load except those that were searched, and those that cannot contain a record.
		for d := range r.fileCatalogs {
			digests[d] = digests[d] || !r.mayContain(d, c.window, found)
		}
		o.Skip = func(d string) (bool, error) { return digests[d], nil }
		err = Read(ctx, r.paths, o, each, end)
	}
	return lines, err
}

// mayContain reports whether a loaded file may contain one of the records.
func (r *loadRun) mayContain(digest string, w *window, found []archive.ExistingRecord) bool {
	c := r.fileCatalogs[digest]
	return c == nil || slices.ContainsFunc(found, func(f archive.ExistingRecord) bool {
		at, _ := w.index.First(f.Key)
		g := c.GroupFor(at.Batch.Type, at.Batch.Header(at.I))
		return g.MayContain(at.Batch.Valid[at.I]) && g.HasLead(at.Batch.Lead[at.I])
	})
}
