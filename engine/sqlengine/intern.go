package sqlengine

import "github.com/barograph/barograph/record"

// Interner numbers headers or files: 1, 2, 3 … in the order of first sight,
// after those that the archive holds already. Numbers given since the last
// Keep are forgotten by Drop, as a transaction that is rolled back forgets
// their rows.
type Interner[K comparable] struct {
	ids   map[K]int64
	last  int64
	fresh []K
}

// NewInterner returns an empty one.
func NewInterner[K comparable]() *Interner[K] { return &Interner[K]{ids: map[K]int64{}} }

// Have notes what the archive holds.
func (n *Interner[K]) Have(k K, id int64) {
	n.ids[k] = id
	n.last = max(n.last, id)
}

// ID returns the number of k; fresh reports that k has no row in the archive
// as of the last Keep.
func (n *Interner[K]) ID(k K) (id int64, fresh bool) {
	if id, ok := n.ids[k]; ok {
		return id, id > n.last-int64(len(n.fresh))
	}
	n.last++
	n.ids[k] = n.last
	n.fresh = append(n.fresh, k)
	return n.last, true
}

// Fresh lists what was numbered since the last Keep; the first has the number first.
func (n *Interner[K]) Fresh() (keys []K, first int64) {
	return n.fresh, n.last - int64(len(n.fresh)) + 1
}

// Keep says that the rows of Fresh are in the archive.
func (n *Interner[K]) Keep() { n.fresh = n.fresh[:0] }

// Drop forgets what was numbered since the last Keep.
func (n *Interner[K]) Drop() {
	for _, k := range n.fresh {
		delete(n.ids, k)
	}
	n.last -= int64(len(n.fresh))
	n.fresh = n.fresh[:0]
}

// HeaderKey is the part of h that stat_header holds: all but cov_thresh and
// alpha, which stand in the line tables.
func HeaderKey(h record.Header) record.Header {
	h[record.CovThresh], h[record.Alpha] = "", ""
	return h
}
