package design

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// Loading identifies the process that loads into a subset. The catalog contains it from a load's first
// commit to its last one. The last commit sets the PID to 0: no process loads. A load that does not continue it leaves it
// as it is; hence an interrupted load is named until its files have been loaded.
type Loading struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Since   time.Time `json:"since"`
	Command string    `json:"doing"`            // the command
	Inputs  []string  `json:"inputs,omitempty"` // absolute paths of the files and folders that it loads; nil = not known

	Waiting bool `json:"waiting,omitempty"` // another process has the archive open, and was asked to close it
}

// Continues reports whether a load completes an earlier one that was interrupted: it loads all inputs of the earlier one.
// The inputs decide because the same command in another folder can have other inputs. If those of one of the loads are
// not known, Continues compares the commands.
func (l *Loading) Continues(earlier *Loading) bool {
	isMissing := func(input string) bool {
		return !slices.ContainsFunc(l.Inputs, func(mine string) bool { return input == mine || strings.HasPrefix(input, mine+"/") })
	}
	isKnown := len(l.Inputs) > 0 && len(earlier.Inputs) > 0
	return isKnown && !slices.ContainsFunc(earlier.Inputs, isMissing) || !isKnown && l.Command == earlier.Command
}

// LoadedRecords counts all records that loads have stored, including those that were trimmed later.
func (c *Catalog) LoadedRecords() int64 { return c.Digest().Records + c.Trimmed }

// Trim subtracts the removed records, all with fcst_valid_beg before cutoff, from the catalog of an
// archive. LoadedRecords still counts them.
func (c *Catalog) Trim(cutoff int64, removed *Catalog, objects int64) {
	n := removed.Digest().Records
	c.Trimmed, c.Objects, c.TrimmedBefore = c.Trimmed+n, c.Objects-objects, max(c.TrimmedBefore, cutoff)
	for _, g := range removed.Groups {
		if existing := c.index[g.key()]; existing != nil {
			existing.Digest.Sub(g.Digest)
		}
	}
	clear(c.headerGroups)
	c.Groups = slices.DeleteFunc(c.Groups, func(g *Group) bool {
		at, _ := slices.BinarySearch(g.Valid, cutoff)
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

// NewTimes yields, for each group, the valid times that another catalog does not list for it.
func (c *Catalog) NewTimes(before *Catalog) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for _, g := range c.Groups {
			var old Moments
			if o := before.index[g.key()]; o != nil {
				old = o.Valid
			}
			for _, t := range g.Valid {
				if !contains(old, t) && !yield(t) {
					return
				}
			}
		}
	}
}

// HasRecordsBefore reports whether the archive may have records of a line type before a time.
func (c *Catalog) HasRecordsBefore(t *record.LineType, from int64) bool {
	return slices.ContainsFunc(c.Groups, func(g *Group) bool { return g.LineType == t.Name && len(g.Valid) > 0 && g.Valid[0] < from })
}
