package duckdb

import "barograph/design"

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
		h.groups[i] = stored.Holding(p.t, &p.heads[i])
	}
	return h
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
	return g.MayHold(r.valid) && (!h.leads || g.HasLead(r.lead))
}
