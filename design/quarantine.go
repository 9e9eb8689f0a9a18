package design

import (
	"cmp"
	"slices"
)

// Quarantine is what of one file could not be read.
type Quarantine struct {
	File    string   `json:"file"`
	Digest  string   `json:"digest"` // of the file's bytes, see engine.Mark
	Lines   int64    `json:"lines"`
	Reasons []Reason `json:"reasons"` // the first MaxReasons, in the order of the file
}

// Reason is why lines could not be read.
type Reason struct {
	Text  string `json:"reason"`
	Lines int64  `json:"lines"`
	First uint32 `json:"first_line"`
}

// MaxReasons and MaxQuarantines bound what a catalog keeps: the reasons of a
// file, and files.
const (
	MaxReasons     = 20
	MaxQuarantines = 1000
)

// Add counts a line.
func (q *Quarantine) Add(line uint32, reason string) {
	q.Lines++
	i := slices.IndexFunc(q.Reasons, func(r Reason) bool { return r.Text == reason })
	switch {
	case i >= 0:
		q.Reasons[i].Lines++
	case len(q.Reasons) < MaxReasons:
		q.Reasons = append(q.Reasons, Reason{reason, 1, line})
	}
}

// Reject notes what of a file that is loaded whole could not be read. It takes
// the place of what was noted of the same bytes; no lines = there is nothing any more.
func (c *Catalog) Reject(q Quarantine) {
	c.Quarantine = slices.DeleteFunc(c.Quarantine, func(o Quarantine) bool { return o.Digest == q.Digest })
	at, _ := slices.BinarySearchFunc(c.Quarantine, q, func(a, b Quarantine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Digest, b.Digest))
	})
	c.Quarantine = slices.Insert(c.Quarantine, at, q)
	c.Quarantine = c.Quarantine[:min(len(c.Quarantine), MaxQuarantines)]
}
