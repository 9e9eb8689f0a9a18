package design

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Differences compares the records found in an archive with the catalog stored in it, with one line
// per group of series that differs: lost, additional or changed records, or records that the catalog does
// not know and for which it derives no key. onlyLost = records are lost, and nothing else differs.
func (c *Catalog) Differences(found *Catalog) (out []string, onlyLost bool) {
	lost := 0
	for _, g := range c.Groups {
		stored := cmp.Or(found.index[g.key()], &Group{PlainTimes: true})
		switch n := g.Digest.Records - stored.Digest.Records; {
		case n > 0:
			lost++
			out = append(out, fmt.Sprintf("%s: %s of %s lost", g, humanize.Comma(n),
				english.Plural(int(g.Digest.Records), "record", "")+english.PluralWord(int(n), " is", " are")))
		case n < 0:
			out = append(out, fmt.Sprintf("%s: %s than the loads stored", g, english.Plural(int(-n), "more record", "")))
		case g.Digest != stored.Digest:
			changed := "1 record has"
			if g.Digest.Records != 1 {
				changed = "some of " + humanize.Comma(g.Digest.Records) + " records have"
			}
			out = append(out, fmt.Sprintf("%s: %s different values than the loads stored", g, changed))
		}
		if unknown := g.unlistedValue(stored); unknown != "" {
			out = append(out, fmt.Sprintf("%s: the catalog does not know of %s", g, unknown))
		}
	}
	for _, stored := range found.Groups {
		if c.index[stored.key()] == nil {
			out = append(out, fmt.Sprintf("%s: the catalog does not know of its %s", stored,
				english.Plural(int(stored.Digest.Records), "record", "")))
		}
	}
	return out, lost == len(out)
}

// String names a group.
func (g *Group) String() string {
	return strings.Join([]string{g.LineType, g.Version, g.Model, g.ObType, g.FcstVar}, " ")
}

// unlistedValue is the first value of another group that this group does not list; "" = none.
func (g *Group) unlistedValue(o *Group) string {
	for _, x := range []struct {
		what       string
		mine, them []string
	}{{"vx_mask", g.Masks, o.Masks}, {"fcst_lev", g.Levels, o.Levels}, {"header", g.FurtherFields, o.FurtherFields}} {
		if i := slices.IndexFunc(x.them, func(v string) bool { return !contains(x.mine, v) }); i >= 0 {
			return x.what + " " + x.them[i]
		}
	}
	if i := slices.IndexFunc(o.Leads, func(v int32) bool { return !g.HasLead(v) }); i >= 0 {
		return fmt.Sprint("fcst_lead ", time.Duration(o.Leads[i])*time.Second)
	}
	if i := slices.IndexFunc(o.Valid, func(v int64) bool { return !g.MayContain(v) || !contains(g.Valid, v) }); i >= 0 {
		return string(AppendISO([]byte("fcst_valid_beg "), o.Valid[i]))
	}
	if g.PlainTimes && !o.PlainTimes {
		return "records with separate observation times"
	}
	return ""
}
