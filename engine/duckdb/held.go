package duckdb

import (
	"slices"

	"barograph/design"
	"barograph/record"
)

// held tells, from the catalog alone, which records an archive may hold
// already. Most of what a loader brings is certainly new, and is appended
// without a look at the tables.
type held struct {
	groups []*design.Group // by header of the pending records; nil = no record of that header is there
	leads  bool            // records of other leads do not count
}

func newHeld(stored *design.Catalog, p *pending, leads bool) *held {
	h := &held{groups: make([]*design.Group, len(p.heads)), leads: leads}
	for i := range p.heads {
		h.groups[i] = groupOf(stored, p.t, &p.heads[i])
	}
	return h
}

// groupOf finds the group that may hold records of a header.
func groupOf(c *design.Catalog, t *record.LineType, h *record.Header) *design.Group {
	for _, g := range c.Groups {
		if g.LineType == t.Name && g.Version == h[record.Version] && g.Model == h[record.Model] &&
			g.ObType == h[record.ObType] && g.FcstVar == h[record.FcstVar] {
			if has(g.Masks, h[record.VxMask]) && has(g.Levels, h[record.FcstLev]) && has(g.Further, design.Further(h)) {
				return g
			}
			return nil
		}
	}
	return nil
}

func has[T string | int32](sorted []T, v T) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}

// rows selects the rows of p that the archive may hold.
func (h *held) rows(p *pending) []row {
	var out []row
	for _, r := range p.rows {
		if h.may(r) {
			out = append(out, r)
		}
	}
	return out
}

func (h *held) may(r row) bool {
	g := h.groups[r.head]
	if g == nil || r.valid < g.First || r.valid > g.Last {
		return false
	}
	if g.Step > 0 && (r.valid-g.First)%g.Step != 0 {
		return false
	}
	return !h.leads || has(g.Leads, r.lead)
}
