package design

import (
	"iter"
	"slices"
	"time"

	"github.com/barograph/barograph/record"
)

// Loading says who loads into a subset. It stands in the catalog from a load's
// first commit to its last one, whose PID is 0: nobody does.
type Loading struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	Doing string    `json:"doing"` // the command

	Waiting bool `json:"waiting,omitempty"` // another process has the archive open, and is asked to close it
}

// Brought counts the records that loads have stored, those that were trimmed
// since among them.
func (c *Catalog) Brought() int64 { return c.Held().Records + c.Trimmed }

// Trim takes gone, the records whose fcst_valid_beg is before from, off an
// archive's catalog. They stay counted as brought.
func (c *Catalog) Trim(from int64, gone *Catalog, objects int64) {
	n := gone.Held().Records
	c.Trimmed, c.Objects, c.From = c.Trimmed+n, c.Objects-objects, max(c.From, from)
	for _, g := range gone.Groups {
		if mine := c.index[g.key()]; mine != nil {
			mine.Held.Sub(g.Held)
		}
	}
	clear(c.seen)
	c.Groups = slices.DeleteFunc(c.Groups, func(g *Group) bool {
		at, _ := slices.BinarySearch(g.Valid, from)
		if at == 0 || at < len(g.Valid) {
			if g.Valid = g.Valid[at:]; at > 0 {
				g.First = g.Valid[0]
			}
			return false
		}
		delete(c.index, g.key())
		return true
	})
}

// NewTimes yields the valid times of series that another catalog does not have.
func (c *Catalog) NewTimes(before *Catalog) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, g := range c.Groups {
			var old Moments
			if o := before.index[g.key()]; o != nil {
				old = o.Valid
			}
			for _, t := range g.Valid {
				if !has(old, t) && !yield(t) {
					return
				}
			}
		}
	}
}

// Before reports whether the archive may hold records of a line type before a
// time.
func (c *Catalog) Before(t *record.LineType, from int64) bool {
	return slices.ContainsFunc(c.Groups, func(g *Group) bool { return g.LineType == t.Name && len(g.Valid) > 0 && g.Valid[0] < from })
}
