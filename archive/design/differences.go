package design

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Differences tells, a line for each series, where what is found in an archive
// differs from the catalog that was kept of it: other records, or records that
// the catalog does not know of, for which no key would be derived.
func (c *Catalog) Differences(found *Catalog) []string {
	var out []string
	for _, g := range c.Groups {
		there := found.index[g.key()]
		if there == nil {
			there = &Group{Last: -1, Plain: true}
		}
		switch n := g.Held.Records - there.Held.Records; {
		case n > 0:
			out = append(out, fmt.Sprintf("%s: %d of %d records are lost", g, n, g.Held.Records))
		case n < 0:
			out = append(out, fmt.Sprintf("%s: %d records more than the loads stored", g, -n))
		case g.Held != there.Held:
			out = append(out, fmt.Sprintf("%s: of %d records some hold different values than were stored", g, g.Held.Records))
		}
		if unknown := g.unknown(there); unknown != "" {
			out = append(out, fmt.Sprintf("%s: the catalog does not know of %s", g, unknown))
		}
	}
	for _, there := range found.Groups {
		if c.index[there.key()] == nil {
			out = append(out, fmt.Sprintf("%s: the catalog does not know of its %d records", there, there.Held.Records))
		}
	}
	return out
}

// Fewer reports whether what is found in an archive differs from the catalog in
// nothing but records that are gone.
func (c *Catalog) Fewer(found *Catalog) bool {
	for _, there := range found.Groups {
		g := c.index[there.key()]
		if g == nil || there.Held.Records > g.Held.Records || there.Held.Records == g.Held.Records && there.Held != g.Held || g.unknown(there) != "" {
			return false
		}
	}
	return true
}

// String names the series of a group.
func (g *Group) String() string {
	return strings.Join([]string{g.LineType, g.Version, g.Model, g.ObType, g.FcstVar}, " ")
}

// unknown is what the group does not know of another one's records; "" = nothing.
func (g *Group) unknown(o *Group) string {
	for _, x := range []struct {
		what       string
		mine, them []string
	}{{"vx_mask", g.Masks, o.Masks}, {"fcst_lev", g.Levels, o.Levels}, {"header", g.Further, o.Further}} {
		if i := slices.IndexFunc(x.them, func(v string) bool { return !has(x.mine, v) }); i >= 0 {
			return x.what + " " + x.them[i]
		}
	}
	if i := slices.IndexFunc(o.Leads, func(v int32) bool { return !g.HasLead(v) }); i >= 0 {
		return fmt.Sprint("fcst_lead ", time.Duration(o.Leads[i])*time.Second)
	}
	if i := slices.IndexFunc(o.Valid, func(v int64) bool { return !g.MayHold(v) || !has(g.Valid, v) }); i >= 0 {
		return "fcst_valid_beg " + time.Unix(o.Valid[i], 0).UTC().Format(time.RFC3339)
	}
	if g.Plain && !o.Plain {
		return "records whose observation has times of its own"
	}
	return ""
}
