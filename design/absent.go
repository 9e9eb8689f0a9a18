package design

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// Absent tells which condition of a question leaves no record of the archive,
// and what there is in its place; "" where the catalog knows of none that does.
func (c *Catalog) Absent(q *question.Question) string {
	if len(c.Groups) == 0 {
		return "it holds nothing"
	}
	if len(c.matching(q)) > 0 {
		return c.absentTime(q)
	}
	every := &question.Question{Type: q.Type}
	if len(c.matching(every)) == 0 {
		var types []string
		for _, g := range c.Groups {
			types = insert(types, g.LineType)
		}
		return fmt.Sprintf("there is no %s; there is %s", q.Type.Name, some(types))
	}
	for f, asked := range q.Header {
		if len(asked) == 0 {
			continue
		}
		there := c.values(every, record.Field(f))
		if !slices.ContainsFunc(asked, func(v string) bool { return has(there, v) }) {
			return fmt.Sprintf("no %s has %s %s; there is %s", q.Type.Name, record.Field(f), strings.Join(asked, ", "), near(asked[0], there))
		}
	}
	return c.absentTogether(q)
}

// absentTogether tells which condition leaves nothing beside the others.
func (c *Catalog) absentTogether(q *question.Question) string {
	for f, asked := range q.Header {
		if len(asked) == 0 {
			continue
		}
		wider := *q
		wider.Header[f] = nil
		if there := c.values(&wider, record.Field(f)); len(there) > 0 {
			return fmt.Sprintf("beside the other conditions no %s has %s %s; there is %s", q.Type.Name, record.Field(f), strings.Join(asked, ", "), some(there))
		}
	}
	return "no series has all of these header fields"
}

// absentTime tells where the times or leads of the series that match lie.
func (c *Catalog) absentTime(q *question.Question) string {
	var valid Moments
	var leads []int32
	for _, g := range c.matching(q) {
		valid, leads = append(valid, g.Valid...), append(leads, g.Leads...)
	}
	slices.Sort(valid)
	slices.Sort(leads)
	if len(valid) > 0 && !slices.ContainsFunc(valid, func(v int64) bool { return (q.Valid.All() || q.Valid.Contains(v)) && q.Clock.AdmitsValid(v) }) {
		at := func(v int64) string { return time.Unix(v, 0).UTC().Format(time.RFC3339) }
		return fmt.Sprintf("what matches has other valid times, from %s to %s", at(valid[0]), at(valid[len(valid)-1]))
	}
	if len(q.Lead) > 0 && !slices.ContainsFunc(leads, func(l int32) bool { return slices.Contains(q.Lead, l) }) {
		span := func(l int32) string { return fmt.Sprintf("%g h", float64(l)/3600) }
		return fmt.Sprintf("what matches has other leads, from %s to %s", span(leads[0]), span(leads[len(leads)-1]))
	}
	return ""
}

// matching are the groups that have series which the header fields admit.
func (c *Catalog) matching(q *question.Question) (out []*Group) {
	for _, g := range c.Groups {
		if g.matches(q) && len(g.further(q)) > 0 && overlap(q.Header[record.VxMask], g.Masks) && overlap(q.Header[record.FcstLev], g.Levels) {
			out = append(out, g)
		}
	}
	return out
}

func overlap(asked, there []string) bool {
	return len(asked) == 0 || slices.ContainsFunc(asked, func(v string) bool { return has(there, v) })
}

// further are the headers of the group's further fields that q admits.
func (g *Group) further(q *question.Question) (out []record.Header) {
	for _, rest := range g.Further {
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar] = g.Version, g.Model, g.ObType, g.FcstVar
		levels := g.Levels // which further fields repeat where they say nothing
		if asked := q.Header[record.FcstLev]; len(asked) > 0 {
			levels = asked
		}
		for _, h[record.FcstLev] = range levels {
			if setFurther(&h, rest) == nil && furtherMatches(q, &h) {
				out = append(out, h)
			}
		}
	}
	return out
}

// values are those of a field in the series that q admits.
func (c *Catalog) values(q *question.Question, f record.Field) (out []string) {
	for _, g := range c.matching(q) {
		switch f {
		case record.VxMask:
			for _, v := range g.Masks {
				out = insert(out, v)
			}
		case record.FcstLev:
			for _, v := range g.Levels {
				out = insert(out, v)
			}
		default:
			for _, h := range g.further(q) {
				out = insert(out, h[f])
			}
		}
	}
	return out
}

// near are the values there, and the one that is nearest to a misspelt one.
func near(asked string, there []string) string {
	nearest := fault.Nearest(asked, there)
	if i := slices.IndexFunc(there, func(v string) bool { return strings.EqualFold(v, asked) }); i >= 0 {
		nearest = there[i]
	}
	if nearest == "" {
		return some(there)
	}
	return fmt.Sprintf("%s (did you mean %s?)", some(there), nearest)
}

// some are the first values of a list.
func some(values []string) string {
	const most = 12
	if len(values) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(values[:most], ", "), len(values)-most)
	}
	return strings.Join(values, ", ")
}
